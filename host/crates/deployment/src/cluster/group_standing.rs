//! Whether groups are kept, and by whom they are broken.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use utoipa::ToSchema;

use super::Snapshot;
use placewright_inventory::{GroupEntry, Inventory};
use placewright_model::{Group, GroupRule};

/// Whether a group is kept.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct GroupStanding {
    /// Its id.
    #[schema(value_type = String, example = "web-apart")]
    pub id: Arc<str>,
    /// What it is called, if it has a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "Web servers apart")]
    pub name: Option<Arc<str>>,
    /// What it wants of its VMs: `together` or `apart`; absent: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "apart")]
    pub vms_wanted: Option<&'static str>,
    /// What it wants of its VMs and its hosts: `on-hosts` or `off-hosts`; absent: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "on-hosts")]
    pub hosts_wanted: Option<&'static str>,
    /// Whether a rule of it must be kept.
    pub hard: bool,
    /// Whether every rule of it is kept by where its VMs are.
    pub kept: bool,
    /// How many VMs are in it, with a place or not.
    #[schema(example = 3)]
    pub members: usize,
    /// How many of its VMs have a place, running or reserved.
    #[schema(example = 14)]
    pub placed: usize,
    /// Where the first eight of those are, by id. `vms?group=` lists all of them.
    pub places: Vec<GroupPlace>,
    /// How many hosts or sets of VMs break it: of more than eight, `broken-by` has the first ones.
    #[schema(example = 0)]
    pub breaks: usize,
    /// Why it is not kept, a sentence for each host that is concerned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub broken_by: Vec<GroupBreak>,
}

/// Places of a group that are told, and what breaks it.
const TOLD: usize = 8;

/// Ids of VMs and of hosts that are told of what breaks a group.
const IDS: usize = 100;

/// Which groups are wanted: all that fit everything that is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WantedStandings {
    /// Whether they are kept.
    pub kept: Option<bool>,
    /// Whether a rule of theirs must be kept.
    pub hard: Option<bool>,
    /// Id of a VM that is in them.
    pub vm: Option<String>,
    /// Part of their ids or names, in letters of either case.
    pub text: Option<String>,
}

/// Where a VM of a group is.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct GroupPlace {
    /// Id of the VM.
    #[schema(value_type = String, example = "web-3")]
    pub vm: Arc<str>,
    /// Id of the host.
    #[schema(value_type = String, example = "h1")]
    pub host: Arc<str>,
}

/// VMs that break a rule of a group together.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct GroupBreak {
    /// Their ids; of more than a hundred, the first ones.
    #[schema(value_type = Vec<String>, example = json!(["web-3"]))]
    pub vms: Vec<Arc<str>>,
    /// The hosts where they are; of more than a hundred, the first ones.
    #[schema(value_type = Vec<String>, example = json!(["h1", "h2"]))]
    pub hosts: Vec<Arc<str>>,
    /// Whether the rule must be kept.
    pub hard: bool,
    /// A sentence for people.
    #[schema(example = "web-1 and web-2 are on h1")]
    pub why: String,
}

impl Snapshot {
    /// Of the groups that are wanted, by id from the one after `after` on, whether they are kept
    /// and by whom they are broken. Each is worked out when it is asked for.
    pub fn group_standings(
        &self,
        wanted: WantedStandings,
        after: Option<&str>,
    ) -> impl Iterator<Item = GroupStanding> {
        let inventory = self.inventory();
        let text = wanted.text.map(|text| text.to_lowercase());
        let has = move |text: &str, of: &str| of.to_lowercase().contains(text);
        let groups = inventory
            .groups()
            .filter(move |entry| after.is_none_or(|after| *entry.group.id > *after))
            .filter(move |entry| {
                let name = entry.group.name.as_deref().unwrap_or_default();
                let text = text.as_deref();
                text.is_none_or(|text| has(text, &entry.group.id) || has(text, name))
            })
            .filter(move |entry| {
                let vm = wanted.vm.as_deref();
                vm.is_none_or(|vm| entry.group.vms.iter().any(|it| **it == *vm))
            })
            .filter(move |entry| wanted.hard.is_none_or(|hard| is_hard(&entry.group) == hard));
        groups
            .map(|entry| standing(inventory, entry))
            .filter(move |group| wanted.kept.is_none_or(|kept| group.kept == kept))
    }
}

/// Whether a rule of the group must be kept.
fn is_hard(group: &Group) -> bool {
    let is_hard = |rule: Option<GroupRule>| {
        matches!(
            rule,
            Some(GroupRule::Positive { hard: true } | GroupRule::Negative { hard: true })
        )
    };
    is_hard(group.vm_rule) || is_hard(group.host_rule)
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
    let breaks = broken_by.len();
    broken_by.truncate(TOLD);
    for by in &mut broken_by {
        by.vms.truncate(IDS);
        by.hosts.truncate(IDS);
    }
    let mut at: Vec<(&Arc<str>, &Arc<str>)> = places
        .iter()
        .flat_map(|(host, (_, vms))| vms.iter().map(move |vm| (vm, host)))
        .collect();
    at.sort_unstable();
    let placed = at.len();
    let first = at.into_iter().take(TOLD);
    let first = first.map(|(vm, host)| GroupPlace {
        vm: vm.clone(),
        host: host.clone(),
    });
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
        hard: is_hard(group),
        kept: breaks == 0,
        members: group.vms.len(),
        placed,
        places: first.collect(),
        breaks,
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
