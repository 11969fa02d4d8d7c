//! CPUs of NUMA nodes that VMs have for themselves.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::nested::CPUS;
use super::{HostEntry, VmEntry, growth};

/// The CPUs of a node, and who has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct NodeCpus {
    /// Number of the node.
    pub(super) index: Option<i64>,
    /// How many are online; None: it is not known.
    pub(super) all: Option<i64>,
    /// Those that VMs which run have for themselves.
    pub(super) promised: i64,
    /// Those of VMs that have a place reserved.
    pub(super) pending: i64,
}

impl NodeCpus {
    /// How many nobody has for itself; many where it is not known how many there are.
    fn left(&self) -> i64 {
        self.all
            .unwrap_or(i64::MAX)
            .saturating_sub(self.promised)
            .saturating_sub(self.pending)
    }
}

/// Count the CPUs of these nodes of a host, and those that its VMs have for themselves.
///
/// A CPU that a VM is pinned to counts on its node. Of a VM whose CPUs are not known by number,
/// each virtual node counts on the node that it is pinned to; if it may be put on several, on
/// the one with most CPUs left, the lower number first. CPUs that the host says are some VM's
/// own, and that no known VM is pinned to, are taken for those of the VMs that run there.
pub(super) fn count(nodes: &mut [NodeCpus], host: &HostEntry, vms: &[Option<VmEntry>]) {
    // By number: the place of its node, and whether it is said to be some VM's own.
    let mut cpus: BTreeMap<i64, (usize, bool)> = BTreeMap::new();
    for cpu in host.facts.rows(CPUS) {
        let (Some(number), Some(numa)) = (cpu.integer("cpu"), cpu.integer("numa")) else {
            continue;
        };
        let is_offline = cpu.get("online").is_some() && !cpu.is("online");
        let place = nodes.iter().position(|node| node.index == Some(numa));
        if let Some(place) = place.filter(|_| !is_offline) {
            let all = &mut nodes[place].all;
            *all = Some(all.unwrap_or(0).saturating_add(1));
            cpus.insert(number, (place, cpu.is("exclusive")));
        }
    }
    let entries = host.vms.iter().flat_map(|index| &vms[*index as usize]);
    let entries: Vec<&VmEntry> = entries.filter(|entry| entry.takes_node_cpus()).collect();
    let running = || entries.iter().filter(|entry| !entry.pending);
    let waiting = || entries.iter().filter(|entry| entry.pending);
    for number in running().flat_map(|entry| entry.own_cpus()) {
        if let Some((place, _)) = cpus.remove(&number) {
            nodes[place].promised = nodes[place].promised.saturating_add(1);
        }
    }
    let mut reported = vec![0_i64; nodes.len()];
    for (place, is_own) in cpus.values() {
        reported[*place] += i64::from(*is_own);
    }
    let mut by_need = vec![0_i64; nodes.len()];
    for (allowed, count) in running().flat_map(|entry| entry.node_cpus()) {
        if let Some(place) = roomiest(nodes, &allowed) {
            nodes[place].promised = nodes[place].promised.saturating_add(count);
            by_need[place] = by_need[place].saturating_add(count);
        }
    }
    for ((node, reported), by_need) in nodes.iter_mut().zip(reported).zip(by_need) {
        let others = reported.saturating_sub(by_need).max(0);
        node.promised = node.promised.saturating_add(others);
    }
    for number in waiting().flat_map(|entry| entry.own_cpus()) {
        if let Some((place, _)) = cpus.remove(&number) {
            nodes[place].pending = nodes[place].pending.saturating_add(1);
        }
    }
    for entry in waiting() {
        let held = growth::held(host, vms, entry);
        let held = held.map_or_else(Vec::new, |held| held.node_cpus().collect());
        for (allowed, count) in growth::nodes_beyond(entry.node_cpus(), held) {
            if let Some(place) = roomiest(nodes, &allowed) {
                nodes[place].pending = nodes[place].pending.saturating_add(count);
            }
        }
    }
}

/// The place of the node with most CPUs left among these.
fn roomiest(nodes: &[NodeCpus], allowed: &[i64]) -> Option<usize> {
    let places = 0..nodes.len();
    let is_allowed = |place: &usize| nodes[*place].index.is_some_and(|it| allowed.contains(&it));
    let allowed = places.filter(is_allowed);
    allowed.min_by_key(|place| (Reverse(nodes[*place].left()), nodes[*place].index))
}

#[cfg(test)]
mod tests;
