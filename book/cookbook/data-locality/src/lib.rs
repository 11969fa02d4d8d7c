//! Data locality: a host costs the more, the more bytes its VMs would have to fetch
//! from elsewhere, and from how far.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use placewright_sdk::prelude::*;

#[derive(Request)]
struct Request {
    #[table("members")]
    vms: Rows<Vm>,
}

#[derive(Row)]
struct Vm {
    #[table("attribute.datasets")]
    datasets: Rows<Wanted>,
}

/// Data that a VM reads.
#[derive(Row)]
struct Wanted {
    name: Option<Text>,
    size: Option<Bytes>,
    /// A zone in which a copy can be read.
    zone: Option<Text>,
}

#[derive(Row)]
struct Host {
    zone: Option<Text>,
    #[table("attribute.datasets")]
    datasets: Rows<Held>,
}

/// Data of which the host holds a copy.
#[derive(Row)]
struct Held {
    name: Option<Text>,
}

#[derive(Settings)]
struct Settings {
    /// What a byte from the host's own zone costs, if one from further away costs 1.
    #[setting(default = 0.1, range = 0.0..=1.0, measure = "fraction")]
    near: f64,
    /// Assumed of data of unknown size.
    #[setting(default = "1 GiB", least = 0)]
    assumed_size: Bytes,
    /// Whether VMs that are placed together fetch the same data only once.
    #[setting(default = true)]
    fetch_once: bool,
}

struct Need {
    /// Name, zone, size.
    wanted: Vec<(Text, Option<Text>, i64)>,
    near: f64,
}

struct DataLocality;

impl RowWise for DataLocality {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = ();
    type Need = Need;

    fn prepare(request: &Request, settings: &Settings) -> Result<Need, Problem> {
        let mut wanted: BTreeMap<(Text, Option<Text>), i64> = BTreeMap::new();
        for row in request
            .vms
            .iter()
            .flat_map(|vm| Vec::from_iter(&vm.datasets))
        {
            let Some(name) = row.name else { continue };
            let size = row.size.unwrap_or(settings.assumed_size).0;
            let sum = wanted.entry((name, row.zone)).or_default();
            *sum = match settings.fetch_once {
                true => size.max(*sum),
                false => size.saturating_add(*sum),
            };
        }
        Ok(Need {
            wanted: (wanted.into_iter())
                .map(|((name, zone), size)| (name, zone, size))
                .collect(),
            near: settings.near,
        })
    }
}

impl RowCost for DataLocality {
    /// The bytes to fetch; those from the host's own zone count less.
    fn cost(need: &Need, host: &Host) -> f64 {
        let (mut near, mut far) = (0_i64, 0_i64);
        for (name, zone, size) in &need.wanted {
            if host
                .datasets
                .iter()
                .any(|held| held.name.as_ref() == Some(name))
            {
                continue;
            }
            let sum = match zone.is_some() && *zone == host.zone {
                true => &mut near,
                false => &mut far,
            };
            *sum = sum.saturating_add(*size);
        }
        far as f64 + near as f64 * need.near
    }
}

placewright_sdk::export!(DataLocality: cost_function);

#[cfg(test)]
mod tests;
