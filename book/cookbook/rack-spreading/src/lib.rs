//! Rack-aware spreading: the VMs of a group that are to be kept apart are spread
//! evenly over racks, so that one that fails takes few of them along.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use placewright_sdk::prelude::*;

#[derive(Request)]
struct Request {
    groups: Rows<Group>,
}

/// A group of the VMs to be placed.
#[derive(Row)]
struct Group {
    rule: Option<Text>,
    hard: bool,
    /// How many of the VMs to be placed are in it.
    here: i64,
}

#[derive(Row)]
struct Host {
    #[column("attribute.rack")]
    rack: Option<Text>,
    #[table("group-members")]
    members: Rows<Members>,
}

/// How many other VMs of a group run on the host or have a place there.
#[derive(Row)]
struct Members {
    group: i64,
    vms: i64,
}

#[derive(Settings)]
struct Settings {
    /// How many more VMs of a group that must be kept apart a rack may have than the
    /// rack with the fewest.
    #[setting(default = 1, least = 1)]
    max_skew: i64,
    /// What becomes of hosts of which no rack is known: each counts as a rack of its
    /// own, or takes no VM of such a group.
    #[setting(default = "own-rack", choices = ["own-rack", "left-out"])]
    unknown_rack: Text,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// is in a rack with too many VMs of the group
    TooMany,
    /// is in no known rack
    UnknownRack,
}

/// The racks of the hosts, and how many VMs of each group are in each.
struct Racks {
    /// The rack of each host.
    of_host: Vec<usize>,
    /// By rack and group.
    vms: Vec<Vec<i64>>,
}

impl Racks {
    fn of(hosts: &Rows<Host>, groups: usize) -> Self {
        let mut racks = Self {
            of_host: Vec::new(),
            vms: Vec::new(),
        };
        let mut known: BTreeMap<Text, usize> = BTreeMap::new();
        for host in hosts {
            let new = racks.vms.len();
            let rack = host
                .rack
                .map_or(new, |name| *known.entry(name).or_insert(new));
            if rack == new {
                racks.vms.push(vec![0; groups]);
            }
            for row in &host.members {
                let group = usize::try_from(row.group).unwrap_or(usize::MAX);
                if let Some(vms) = racks.vms[rack].get_mut(group) {
                    *vms += row.vms;
                }
            }
            racks.of_host.push(rack);
        }
        racks
    }

    fn fewest(&self, group: usize) -> i64 {
        self.vms.iter().map(|vms| vms[group]).min().unwrap_or(0)
    }
}

/// The groups whose VMs are to be kept apart, with their numbers.
fn apart(request: &Request) -> impl Iterator<Item = (usize, Group)> {
    let groups = request.groups.iter().enumerate();
    groups.filter(|(_, group)| group.rule.as_ref().is_some_and(|rule| *rule == "negative"))
}

struct RackSpreading;

impl WholeTable for RackSpreading {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
}

impl TableFilter for RackSpreading {
    fn keep(
        request: &Request,
        hosts: &Rows<Host>,
        settings: &Settings,
    ) -> Result<Vec<Verdict<Reason>>, Problem> {
        let racks = Racks::of(hosts, request.groups.len());
        let hard = apart(request).filter(|(_, group)| group.hard);
        let limits: Vec<(usize, i64)> = hard
            .map(|(number, group)| {
                let limit = racks.fewest(number) + settings.max_skew - group.here;
                (number, limit)
            })
            .collect();
        let leave_out = settings.unknown_rack == "left-out" && !limits.is_empty();
        let verdict = |(host, rack): (Host, &usize)| {
            let known = host.rack.is_some() || !leave_out;
            let within = limits
                .iter()
                .all(|(group, limit)| racks.vms[*rack][*group] <= *limit);
            Verdict::keep_if(known, Reason::UnknownRack)
                .and(|| Verdict::keep_if(within, Reason::TooMany))
        };
        Ok(hosts.iter().zip(&racks.of_host).map(verdict).collect())
    }
}

impl TableCost for RackSpreading {
    /// How many VMs of the groups the host's rack has.
    fn cost(request: &Request, hosts: &Rows<Host>, _: &Settings) -> Result<Vec<f64>, Problem> {
        let racks = Racks::of(hosts, request.groups.len());
        let cost = |rack: &usize| {
            let vms = apart(request).map(|(number, _)| racks.vms[*rack][number]);
            vms.sum::<i64>() as f64
        };
        Ok(racks.of_host.iter().map(cost).collect())
    }
}

placewright_sdk::export!(RackSpreading: table_filter, table_cost_function);

#[cfg(test)]
mod tests;
