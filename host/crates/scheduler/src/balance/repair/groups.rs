//! Hard groups that are broken by where VMs run.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Misplaced;
use crate::balance::Cause;
use crate::balance::relocate::Leaving;
use crate::order::Totals;
use placewright_inventory::{GroupEntry, Inventory, VmEntry};
use placewright_model::GroupRule;

/// The groups that can be broken. Where there are none, nothing else is looked at.
fn hard(world: &Inventory) -> impl Iterator<Item = &GroupEntry> {
    let is_hard = |rule| {
        use GroupRule::{Negative, Positive};
        matches!(
            rule,
            Some(Positive { hard: true } | Negative { hard: true })
        )
    };
    let groups = world.groups();
    groups.filter(move |entry| is_hard(entry.group.vm_rule) || is_hard(entry.group.host_rule))
}

/// The members of a group that have a place on a host that is not lost, by the slot of the host where they are, or are
/// to be, if they move.
type Places<'w> = BTreeMap<u32, Vec<&'w VmEntry>>;

fn places<'w>(world: &'w Inventory, entry: &GroupEntry) -> Places<'w> {
    let mut members: Vec<&Arc<str>> = entry.group.vms.iter().collect();
    members.sort_unstable();
    members.dedup();
    let mut places = Places::new();
    for vm in members {
        let placed = world.pending(vm).or_else(|| world.running(vm));
        // Who lies on a host that is lost is nowhere: repairs place it anew.
        if let Some(placed) = placed.filter(|it| !world.is_lost(it.slot)) {
            places.entry(placed.slot).or_default().push(placed);
        }
    }
    places
}

/// A hard group of VMs that belong together and are apart.
pub(super) struct Apart {
    pub(super) group: Arc<str>,
    /// The VMs that have a place, the smallest first, each with the slot.
    pub(super) vms: Vec<(Arc<str>, u32)>,
    /// The slots of hosts that are up and have some of them, those with most first, then in
    /// the order of ids.
    pub(super) targets: Vec<u32>,
}

/// The hard groups whose VMs belong together and are apart, by id.
pub(super) fn apart(world: &Inventory) -> Vec<Apart> {
    let mut totals = None;
    let together =
        |entry: &&GroupEntry| entry.group.vm_rule == Some(GroupRule::Positive { hard: true });
    let mut apart = Vec::new();
    for entry in hard(world).filter(together) {
        let places = places(world, entry);
        if places.len() < 2 {
            continue;
        }
        let totals = totals.get_or_insert_with(|| Totals::of(world));
        let mut vms: Vec<&VmEntry> = places.values().flatten().copied().collect();
        vms.sort_by(|a, b| totals.size(&a.vm).total_cmp(&totals.size(&b.vm)));
        let up = places.keys().copied().filter(|slot| world.is_up(*slot));
        let mut targets: Vec<u32> = up.collect();
        targets.sort_by_key(|slot| {
            let rank = world.ranks()[*slot as usize];
            (std::cmp::Reverse(places[slot].len()), rank)
        });
        apart.push(Apart {
            group: entry.group.id.clone(),
            vms: vms.iter().map(|it| (it.vm.id.clone(), it.slot)).collect(),
            targets,
        });
    }
    apart
}

/// How many VMs would have to move so that no hard group is broken.
pub(super) fn wrong(world: &Inventory) -> i128 {
    let broken = hard(world).map(|entry| {
        let places = places(world, entry);
        let all: usize = places.values().map(Vec::len).sum();
        let on_hosts = places.iter().filter(|(slot, _)| entry.hosts.contains(slot));
        let on_hosts: usize = on_hosts.map(|(_, vms)| vms.len()).sum();
        let of_vms = match entry.group.vm_rule {
            Some(GroupRule::Positive { hard: true }) => {
                all - places.values().map(Vec::len).max().unwrap_or(0)
            }
            Some(GroupRule::Negative { hard: true }) => all - places.len(),
            _ => 0,
        };
        let of_hosts = match entry.group.host_rule {
            Some(GroupRule::Positive { hard: true }) => all - on_hosts,
            Some(GroupRule::Negative { hard: true }) => on_hosts,
            _ => 0,
        };
        (of_vms + of_hosts) as i128
    });
    broken.sum()
}

/// The VMs that break a hard group where they run, those apart who belong together left out:
/// group by group, the smallest first.
pub(super) fn misplaced(world: &Inventory) -> Vec<Misplaced> {
    let mut totals = None;
    let mut misplaced = Vec::new();
    for entry in hard(world) {
        let mut of_group = of_vm_rule(world, entry);
        of_group.extend(of_host_rule(world, entry));
        if of_group.is_empty() {
            continue;
        }
        let totals = totals.get_or_insert_with(|| Totals::of(world));
        let size = |it: &Misplaced| {
            let running = world.running(&it.vm);
            running.map_or(0.0, |entry| totals.size(&entry.vm))
        };
        of_group.sort_by(|a, b| size(a).total_cmp(&size(b)));
        misplaced.append(&mut of_group);
    }
    misplaced
}

fn host_id(world: &Inventory, slot: u32) -> Arc<str> {
    let host = world.host(slot);
    host.map_or_else(|| "".into(), |host| host.id.clone())
}

/// Why none of these VMs breaks the hard rule of that group where it runs any more: a
/// sentence without its full stop. None: one of them does. Without a group it is asked about
/// all of them.
pub(in crate::balance) fn why_kept(
    world: &Inventory,
    group: Option<&Arc<str>>,
    vms: &[&Arc<str>],
) -> Option<String> {
    let breaks = |entry: &GroupEntry| {
        let mut misplaced = of_vm_rule(world, entry);
        misplaced.extend(of_host_rule(world, entry));
        let is_meant = |it: &Misplaced| vms.contains(&&it.vm);
        misplaced.iter().any(is_meant) || is_apart(world, entry, vms)
    };
    let Some(id) = group else {
        let broken = hard(world).any(breaks);
        return (!broken).then(|| "no hard group is broken by it any more".to_owned());
    };
    let Some(entry) = world.group(id) else {
        return Some(format!("group {id} is gone"));
    };
    let is_hard = hard(world).any(|other| other.group.id == *id);
    match is_hard && breaks(entry) {
        true => None,
        false if is_hard => Some(format!("the rule of group {id} is satisfied by now")),
        false => Some(format!("group {id} is not hard any more")),
    }
}

/// Whether one of these VMs runs where not all members of a group are that belong together.
fn is_apart(world: &Inventory, entry: &GroupEntry, vms: &[&Arc<str>]) -> bool {
    let together = entry.group.vm_rule == Some(GroupRule::Positive { hard: true });
    let places = places(world, entry);
    let runs = |vm: &Arc<str>| world.running(vm).is_some() && entry.group.vms.contains(vm);
    together && places.len() > 1 && vms.iter().any(|vm| runs(vm))
}

fn leave(
    group: &Arc<str>,
    reason: String,
    allowed: Vec<Arc<str>>,
    excluded: Vec<Arc<str>>,
) -> Leaving {
    Leaving {
        cause: Cause::HardGroup,
        group: Some(group.clone()),
        reason,
        allowed,
        excluded,
    }
}

fn of_vm_rule(world: &Inventory, entry: &GroupEntry) -> Vec<Misplaced> {
    let (places, group) = (places(world, entry), &entry.group.id);
    let mut misplaced = Vec::new();
    if entry.group.vm_rule != Some(GroupRule::Negative { hard: true }) {
        return misplaced;
    }
    let taken: Vec<Arc<str>> = places.keys().map(|slot| host_id(world, *slot)).collect();
    for (slot, here) in places.iter().filter(|(_, here)| here.len() > 1) {
        for entry in here.iter().filter(|entry| !entry.pending) {
            let vm = entry.vm.id.clone();
            let other = here.iter().find(|other| other.vm.id != vm);
            let other = other.map_or("", |other| &*other.vm.id);
            let reason = format!(
                "group {group} keeps VM {vm} apart from VM {other}, and both are on host {}",
                host_id(world, *slot)
            );
            misplaced.push(Misplaced {
                vm,
                leaving: leave(group, reason, Vec::new(), taken.clone()),
            });
        }
    }
    misplaced
}

fn of_host_rule(world: &Inventory, entry: &GroupEntry) -> Vec<Misplaced> {
    let (places, group) = (places(world, entry), &entry.group);
    let on = match group.host_rule {
        Some(GroupRule::Positive { hard: true }) => true,
        Some(GroupRule::Negative { hard: true }) => false,
        _ => return Vec::new(),
    };
    let wrong = places
        .iter()
        .filter(|(slot, _)| entry.hosts.contains(slot) != on);
    let vms = wrong.flat_map(|(slot, vms)| vms.iter().map(move |entry| (*slot, entry)));
    let running = vms.filter(|(_, entry)| !entry.pending);
    let misplaced = running.map(|(slot, entry)| {
        let (vm, host) = (entry.vm.id.clone(), host_id(world, slot));
        let leaving = match on {
            true => leave(
                &group.id,
                format!(
                    "group {} keeps VM {vm} on its hosts, and {host} is none of them",
                    group.id
                ),
                group.hosts.clone(),
                Vec::new(),
            ),
            false => leave(
                &group.id,
                format!("group {} keeps VM {vm} off host {host}", group.id),
                Vec::new(),
                group.hosts.clone(),
            ),
        };
        Misplaced { vm, leaving }
    });
    misplaced.collect()
}
