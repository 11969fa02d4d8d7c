//! CPUs of NUMA nodes that VMs have for themselves.

use std::collections::BTreeMap;

use super::assign::{self, Need, Place, Preference};
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
/// each virtual node counts on the node that it is pinned to; those that may be put on several
/// count so that each is on one with enough CPUs, if they can be, else on that with most CPUs
/// left, the lower number first. CPUs that the host says are some VM's
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
    let needed = running().flat_map(|entry| entry.node_cpus()).collect();
    for (place, count) in placed(nodes, needed) {
        nodes[place].promised = nodes[place].promised.saturating_add(count);
        by_need[place] = by_need[place].saturating_add(count);
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
    let beyond = waiting().flat_map(|entry| {
        let held = growth::held(host, vms, entry);
        let held = held.map_or_else(Vec::new, |held| held.node_cpus().collect());
        growth::nodes_beyond(entry.node_cpus(), held)
    });
    for (place, count) in placed(nodes, beyond.collect()) {
        nodes[place].pending = nodes[place].pending.saturating_add(count);
    }
}

/// The places of the nodes on which virtual nodes count: the host's nodes that each may be put
/// on, and how many CPUs it needs.
fn placed(nodes: &[NodeCpus], needed: Vec<(Vec<i64>, i64)>) -> Vec<(usize, i64)> {
    let place = |node: &NodeCpus| Place {
        number: node.index,
        left: [node.left(), i64::MAX],
    };
    let places: Vec<Place> = nodes.iter().map(place).collect();
    let need = |(allowed, count): (Vec<i64>, i64)| Need {
        allowed: (0..nodes.len())
            .filter(|place| nodes[*place].index.is_some_and(|it| allowed.contains(&it)))
            .collect(),
        amounts: [count, 0],
        distinct: None,
    };
    let needs: Vec<Need> = needed.into_iter().map(need).collect();
    let found = assign::assign(&needs, &places, Preference::MostLeft);
    let counts = needs.iter().map(|need| need.amounts[0]);
    found
        .into_iter()
        .zip(counts)
        .filter_map(|(place, count)| Some((place?, count)))
        .collect()
}

#[cfg(test)]
mod tests;
