//! The hosts of a cluster as the map and the table need them.

use serde_json::Value;

use crate::ask::Ask;
use crate::parts::Measure;
use placewright_http::Problem;

/// The columns that are asked for.
const COLUMNS: &str = "id,state,zone,cpu.total,cpu.overcommit,cpu.usage,cpu.committed,cpu.pending,\
memory.total,memory.free,memory.reserved,memory.overcommit,memory.committed,memory.pending,\
vms.count,vms.pending";

/// A host in a line.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostRow {
    pub(crate) id: String,
    pub(crate) state: String,
    pub(crate) zone: Option<String>,
    /// What hosts are grouped by besides.
    pub(crate) group: Option<String>,
    /// Attributes that a filter names, without `attribute.`, with their values.
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) vms: usize,
    pub(crate) pending: usize,
    /// In cores.
    pub(crate) cpu: Measure,
    /// In bytes.
    pub(crate) memory: Measure,
}

/// What the cells of the map are coloured by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    Cpu,
    CpuUsed,
    Memory,
    MemoryUsed,
}

impl Colour {
    pub(crate) const WORDS: &[(&str, &str)] = &[
        ("cpu", "CPU promised"),
        ("cpu-used", "CPU used"),
        ("memory", "memory promised"),
        ("memory-used", "memory used"),
    ];

    pub(crate) fn named(name: Option<&str>) -> Self {
        match name {
            Some("cpu-used") => Self::CpuUsed,
            Some("memory") => Self::Memory,
            Some("memory-used") => Self::MemoryUsed,
            _ => Self::Cpu,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        Self::WORDS[self as usize].0
    }

    pub(crate) fn text(self) -> &'static str {
        Self::WORDS[self as usize].1
    }
}

impl HostRow {
    /// The share by which it is coloured; None: not known.
    pub(crate) fn share(&self, colour: Colour) -> Option<f64> {
        let used = |measure: &Measure| {
            let used = measure.used?;
            (measure.total > 0.0).then(|| used / measure.total)
        };
        match colour {
            Colour::Cpu => Some(self.cpu.share()),
            Colour::Memory => Some(self.memory.share()),
            Colour::CpuUsed => used(&self.cpu),
            Colour::MemoryUsed => used(&self.memory),
        }
    }

    /// Whether all words of a filter fit: a part of the id, `state:up`, `zone:z1`, `vms>10`,
    /// `cpu>80` (in percent), and attributes by their names, as in `rack:r07`.
    fn fits(&self, filter: &str) -> bool {
        filter.split_whitespace().all(|word| {
            let is = |given: Option<&str>, wanted: &str| given.is_some_and(|it| it == wanted);
            if let Some((name, wanted)) = word.split_once(':') {
                return match name {
                    "state" if wanted == "not-up" => self.state != "up",
                    "state" => self.state == wanted,
                    "zone" => is(self.zone.as_deref(), wanted),
                    _ => self
                        .attributes
                        .iter()
                        .any(|(known, value)| known == name && value == wanted),
                };
            }
            if let Some(at) = word.find(['<', '>']) {
                let (name, rest) = word.split_at(at);
                let Ok(bound) = rest[1..].trim_end_matches('%').parse::<f64>() else {
                    return false;
                };
                let value = match name {
                    "vms" => self.vms as f64,
                    "cpu" => self.cpu.share() * 100.0,
                    "memory" => self.memory.share() * 100.0,
                    _ => return false,
                };
                return if rest.starts_with('<') {
                    value < bound
                } else {
                    value > bound
                };
            }
            self.id.to_lowercase().contains(&word.to_lowercase())
        })
    }
}

/// The hosts of a cluster.
pub(crate) struct Fleet {
    /// By id.
    pub(crate) hosts: Vec<HostRow>,
    /// Attributes that hosts can be grouped by.
    pub(crate) attributes: Vec<String>,
    /// Names in the filter that no host has, as it is written.
    pub(crate) unknown: Vec<String>,
}

impl Fleet {
    /// Ask for the hosts; `api` is the path of the cluster.
    pub(crate) async fn read(ask: &Ask, api: &str) -> Result<Self, Problem> {
        let first = ask.get(&format!("{api}/hosts?limit=1")).await?;
        let mut attributes = attributes(&first["items"][0]);
        let group = ask.param("group").map(str::to_owned);
        let group = group.filter(|name| attributes.contains(name));
        let mut path = format!("{api}/host-columns?columns={COLUMNS}");
        if let Some(group) = &group {
            path.push(',');
            path.push_str(&crate::url::segment(group));
        }
        let (mut named, mut unknown) = (Vec::new(), Vec::new());
        let words = ask.param("filter").unwrap_or_default().split_whitespace();
        for (name, _) in words.filter_map(|word| word.split_once(':')) {
            let column = format!("attribute.{name}");
            match attributes.contains(&column) {
                true if named.contains(&name) => {}
                true => {
                    named.push(name);
                    path.push(',');
                    path.push_str(&crate::url::segment(&column));
                }
                false if matches!(name, "state" | "zone") => {}
                false => unknown.push(name.to_owned()),
            }
        }
        let shown = ask.get(&path).await?;
        let hosts = rows(&shown["columns"], group.as_deref(), &named);
        attributes.sort();
        Ok(Self {
            hosts,
            attributes,
            unknown,
        })
    }

    /// The hosts that fit the filters of the page, as they are to be sorted.
    pub(crate) fn wanted(&self, ask: &Ask) -> Vec<&HostRow> {
        let filter = ask.param("filter").unwrap_or_default();
        let state = ask.param("state").map(|state| format!("state:{state}"));
        let state = state.unwrap_or_default();
        let hosts = self.hosts.iter();
        let mut wanted: Vec<&HostRow> = hosts
            .filter(|it| it.fits(filter) && it.fits(&state))
            .collect();
        let sorted = ask.param("sort").unwrap_or_default();
        let (by, descends) = match sorted.strip_prefix('-') {
            Some(by) => (by, true),
            None => (sorted, false),
        };
        wanted.sort_by(|a, b| {
            let order = match by {
                "state" => a.state.cmp(&b.state),
                "zone" => a.zone.cmp(&b.zone),
                "group" => a.group.cmp(&b.group),
                "vms" => a.vms.cmp(&b.vms),
                "cpu" => a.cpu.share().total_cmp(&b.cpu.share()),
                "memory" => a.memory.share().total_cmp(&b.memory.share()),
                "left-cpu" => left(&a.cpu).total_cmp(&left(&b.cpu)),
                "left-memory" => left(&a.memory).total_cmp(&left(&b.memory)),
                _ => a.id.cmp(&b.id),
            };
            let order = if descends { order.reverse() } else { order };
            order.then_with(|| a.id.cmp(&b.id))
        });
        wanted
    }
}

/// What may still be promised.
pub(crate) fn left(measure: &Measure) -> f64 {
    measure.promisable - measure.committed - measure.reserved
}

/// The names of attributes that a host has as texts.
fn attributes(host: &Value) -> Vec<String> {
    let columns = host.as_object().into_iter().flatten();
    let named = columns.filter(|(name, value)| name.starts_with("attribute.") && value.is_string());
    let mut names: Vec<String> = named.map(|(name, _)| name.clone()).collect();
    // As documents may write them, too.
    let nested = host["attribute"].as_object().into_iter().flatten();
    let nested = nested.filter(|(_, value)| value.is_string());
    names.extend(nested.map(|(name, _)| format!("attribute.{name}")));
    names
}

fn rows(columns: &Value, group: Option<&str>, named: &[&str]) -> Vec<HostRow> {
    let ids = columns["id"].as_array().map_or(0, Vec::len);
    let number = |name: &str, row: usize| columns[name][row].as_f64();
    let text = |name: &str, row: usize| columns[name][row].as_str().map(str::to_owned);
    let count = |name: &str, row: usize| {
        let count = columns[name][row].as_u64().unwrap_or_default();
        usize::try_from(count).unwrap_or(usize::MAX)
    };
    let rows = (0..ids).map(|row| {
        let zero = |name| number(name, row).unwrap_or_default();
        let (cpu, memory) = (zero("cpu.total"), zero("memory.total"));
        HostRow {
            id: text("id", row).unwrap_or_default(),
            state: text("state", row).unwrap_or_else(|| "up".to_owned()),
            zone: text("zone", row),
            group: group.and_then(|group| text(group, row)),
            attributes: named
                .iter()
                .filter_map(|name| {
                    let value = text(&format!("attribute.{name}"), row)?;
                    Some(((*name).to_owned(), value))
                })
                .collect(),
            vms: count("vms.count", row),
            pending: count("vms.pending", row),
            cpu: Measure {
                committed: zero("cpu.committed"),
                reserved: zero("cpu.pending"),
                used: number("cpu.usage", row).map(|share| share * cpu),
                promisable: cpu * number("cpu.overcommit", row).unwrap_or(1.0),
                total: cpu,
            },
            memory: Measure {
                committed: zero("memory.committed"),
                reserved: zero("memory.pending"),
                used: number("memory.free", row).map(|free| (memory - free).max(0.0)),
                promisable: (memory - zero("memory.reserved")).max(0.0)
                    * number("memory.overcommit", row).unwrap_or(1.0),
                total: memory,
            },
        }
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_filtered_by_words_that_all_fit() {
        let host = HostRow {
            id: "N1-03".to_owned(),
            state: "maintenance".to_owned(),
            zone: Some("z1".to_owned()),
            attributes: vec![("rack".to_owned(), "r07".to_owned())],
            vms: 12,
            cpu: Measure {
                committed: 30.0,
                promisable: 40.0,
                ..Measure::default()
            },
            ..HostRow::default()
        };
        for fits in [
            "",
            "n1",
            "state:not-up zone:z1",
            "rack:r07",
            "vms>10 cpu>70%",
            "cpu<76",
        ] {
            assert!(host.fits(fits), "{fits}");
        }
        for fails in [
            "n2", "state:up", "zone:z2", "rack:r08", "row:r07", "vms>12", "cpu>x", "n1 vms<3",
            "a>1",
        ] {
            assert!(!host.fits(fails), "{fails}");
        }
    }
}
