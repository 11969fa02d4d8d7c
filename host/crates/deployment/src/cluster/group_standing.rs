//! Whether groups are kept, and by whom they are broken.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use utoipa::ToSchema;

use super::Snapshot;
use placewright_inventory::{GroupEntry, Inventory};
use placewright_model::GroupRule;

/// Whether a group is kept.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct GroupStanding {
    /// Its id.
    #[schema(value_type = String)]
    pub id: Arc<str>,
    /// What it is called, if it has a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub name: Option<Arc<str>>,
    /// What it wants of its VMs: `together` or `apart`; absent: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vms_wanted: Option<&'static str>,
    /// What it wants of its VMs and its hosts: `on-hosts` or `off-hosts`; absent: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts_wanted: Option<&'static str>,
    /// Whether a rule of it must be kept.
    pub hard: bool,
    /// Whether every rule of it is kept by where its VMs are.
    pub kept: bool,
    /// How many VMs are in it, with a place or not.
    pub members: usize,
    /// Where its VMs are: those with a place, running or reserved, by id.
    pub places: Vec<GroupPlace>,
    /// Why it is not kept, a sentence for each host that is concerned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub broken_by: Vec<GroupBreak>,
}

/// Where a VM of a group is.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct GroupPlace {
    /// Id of the VM.
    #[schema(value_type = String)]
    pub vm: Arc<str>,
    /// Id of the host.
    #[schema(value_type = String)]
    pub host: Arc<str>,
}

/// VMs that break a rule of a group together.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct GroupBreak {
    /// Their ids.
    #[schema(value_type = Vec<String>)]
    pub vms: Vec<Arc<str>>,
    /// The hosts where they are.
    #[schema(value_type = Vec<String>)]
    pub hosts: Vec<Arc<str>>,
    /// Whether the rule must be kept.
    pub hard: bool,
    /// A sentence for people.
    pub why: String,
}

impl Snapshot {
    /// Of all groups, by id, whether they are kept and by whom they are broken.
    pub fn group_standings(&self) -> Vec<GroupStanding> {
        let inventory = self.inventory();
        inventory
            .groups()
            .map(|entry| standing(inventory, entry))
            .collect()
    }
}

/// The VMs of a group that are on a host, by the id of the host.
type Places = BTreeMap<Arc<str>, (u32, Vec<Arc<str>>)>;

fn places(inventory: &Inventory, entry: &GroupEntry) -> Places {
    let mut members: Vec<&Arc<str>> = entry.group.vms.iter().collect();
    members.sort_unstable();
    members.dedup();
    let mut places = Places::new();
    for vm in members {
        let placed = inventory.pending(vm).or_else(|| inventory.running(vm));
        let Some(placed) = placed else { continue };
        if let Some(host) = inventory.host(placed.slot) {
            let on_host = places.entry(host.id.clone());
            on_host
                .or_insert_with(|| (placed.slot, Vec::new()))
                .1
                .push(vm.clone());
        }
    }
    places
}

fn standing(inventory: &Inventory, entry: &GroupEntry) -> GroupStanding {
    let group = &entry.group;
    let places = places(inventory, entry);
    let mut broken_by = of_vm_rule(group.vm_rule, &places);
    broken_by.extend(of_host_rule(group.host_rule, entry, &places));
    let is_hard = |rule: Option<GroupRule>| {
        matches!(
            rule,
            Some(GroupRule::Positive { hard: true } | GroupRule::Negative { hard: true })
        )
    };
    let mut at: Vec<GroupPlace> = places
        .iter()
        .flat_map(|(host, (_, vms))| {
            vms.iter().map(|vm| GroupPlace {
                vm: vm.clone(),
                host: host.clone(),
            })
        })
        .collect();
    at.sort_by(|a, b| a.vm.cmp(&b.vm));
    GroupStanding {
        id: group.id.clone(),
        name: group.name.clone(),
        vms_wanted: group.vm_rule.map(|rule| match rule {
            GroupRule::Positive { .. } => "together",
            GroupRule::Negative { .. } => "apart",
        }),
        hosts_wanted: group.host_rule.map(|rule| match rule {
            GroupRule::Positive { .. } => "on-hosts",
            GroupRule::Negative { .. } => "off-hosts",
        }),
        hard: is_hard(group.vm_rule) || is_hard(group.host_rule),
        kept: broken_by.is_empty(),
        members: group.vms.len(),
        places: at,
        broken_by,
    }
}

fn of_vm_rule(rule: Option<GroupRule>, places: &Places) -> Vec<GroupBreak> {
    match rule {
        Some(GroupRule::Positive { hard }) if places.len() > 1 => {
            let hosts: Vec<Arc<str>> = places.keys().cloned().collect();
            let vms = places.values().flat_map(|(_, vms)| vms.iter().cloned());
            let vms: Vec<Arc<str>> = vms.collect();
            let why = format!(
                "{} belong on one host and are on {}",
                named(&vms),
                named(&hosts)
            );
            vec![GroupBreak {
                vms,
                hosts,
                hard,
                why,
            }]
        }
        Some(GroupRule::Negative { hard }) => {
            let crowded = places.iter().filter(|(_, (_, vms))| vms.len() > 1);
            let broken = crowded.map(|(host, (_, vms))| GroupBreak {
                vms: vms.clone(),
                hosts: vec![host.clone()],
                hard,
                why: format!("{} must be apart and are all on {host}", named(vms)),
            });
            broken.collect()
        }
        _ => Vec::new(),
    }
}

fn of_host_rule(rule: Option<GroupRule>, entry: &GroupEntry, places: &Places) -> Vec<GroupBreak> {
    let (is_wanted, hard) = match rule {
        Some(GroupRule::Positive { hard }) => (true, hard),
        Some(GroupRule::Negative { hard }) => (false, hard),
        None => return Vec::new(),
    };
    let wrong = places.iter().filter(|(_, (slot, _))| {
        let is_of_group = entry.hosts.binary_search(slot).is_ok();
        is_of_group != is_wanted
    });
    let broken = wrong.map(|(host, (_, vms))| {
        let verb = if vms.len() == 1 { "is" } else { "are" };
        let why = match is_wanted {
            true => format!(
                "{} {verb} on {host}, which is none of the hosts of the group",
                named(vms)
            ),
            false => format!(
                "{} {verb} on {host}, from which the group keeps them away",
                named(vms)
            ),
        };
        GroupBreak {
            vms: vms.clone(),
            hosts: vec![host.clone()],
            hard,
            why,
        }
    });
    broken.collect()
}

/// Of more, the rest is counted.
const NAMED: usize = 5;

/// Names in a sentence.
fn named(names: &[Arc<str>]) -> String {
    match names {
        [] => "none".to_owned(),
        [only] => only.to_string(),
        [first @ .., last] if names.len() <= NAMED => {
            format!("{} and {last}", first.join(", "))
        }
        _ => format!(
            "{} and {} more",
            names[..NAMED].join(", "),
            names.len() - NAMED
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_as_a_sentence() {
        let names = |count: usize| -> Vec<Arc<str>> {
            (1..=count).map(|it| format!("v{it}").into()).collect()
        };
        assert_eq!(named(&names(1)), "v1");
        assert_eq!(named(&names(2)), "v1 and v2");
        assert_eq!(named(&names(3)), "v1, v2 and v3");
        assert_eq!(named(&names(7)), "v1, v2, v3, v4, v5 and 2 more");
    }
}
