//! CPUs of NUMA nodes that VMs have for themselves.

use std::collections::BTreeMap;

use crate::nested::{CPUS, NUMA_NODES};
use crate::{HostEntry, VmEntry};

/// The CPUs of a node, and who has them, as far as they are known by number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct NodeCpus {
    /// How many are online; None: it is not known.
    pub(super) all: Option<i64>,
    /// Those that VMs which run have for themselves.
    pub(super) promised: i64,
    /// Those of VMs that have a place reserved.
    pub(super) pending: i64,
    /// Those that the host says are some VM's own, and that no known VM which runs is pinned to:
    /// they are taken for those of the VMs that run there.
    pub(super) reported: i64,
}

impl NodeCpus {
    /// How many nobody has for itself, where VMs that run may have so many of those that are
    /// reported; many where it is not known how many there are.
    pub(super) fn left(&self, may_be_theirs: i64) -> i64 {
        let others = self.reported.saturating_sub(may_be_theirs).max(0);
        self.all
            .unwrap_or(i64::MAX)
            .saturating_sub(self.promised)
            .saturating_sub(self.pending)
            .saturating_sub(others)
    }
}

/// The CPUs of each node of a host, a row for each: a CPU that a VM is pinned to counts on its
/// node.
pub(super) fn by_number(host: &HostEntry, vms: &[Option<VmEntry>]) -> Vec<NodeCpus> {
    let rows = host.facts.rows(NUMA_NODES);
    let mut nodes = vec![NodeCpus::default(); rows.len()];
    // By number: the place of its node, and whether it is said to be some VM's own.
    let mut cpus: BTreeMap<i64, (usize, bool)> = BTreeMap::new();
    for cpu in host.facts.rows(CPUS) {
        let (Some(number), Some(numa)) = (cpu.integer("cpu"), cpu.integer("numa")) else {
            continue;
        };
        let is_offline = cpu.get("online").is_some() && !cpu.is("online");
        let mut known = rows.iter();
        let place = known.position(|node| node.integer("index") == Some(numa));
        if let Some(place) = place.filter(|_| !is_offline) {
            let all = &mut nodes[place].all;
            *all = Some(all.unwrap_or(0).saturating_add(1));
            cpus.insert(number, (place, cpu.is("exclusive")));
        }
    }
    let entries = host.vms.iter().flat_map(|index| &vms[*index as usize]);
    let entries: Vec<&VmEntry> = entries.filter(|entry| entry.takes_node_cpus()).collect();
    let numbers = |pending: bool| {
        let entries = entries.iter().filter(move |entry| entry.pending == pending);
        entries.flat_map(|entry| entry.own_cpus())
    };
    for number in numbers(false) {
        if let Some((place, _)) = cpus.remove(&number) {
            nodes[place].promised = nodes[place].promised.saturating_add(1);
        }
    }
    for (place, is_own) in cpus.values() {
        nodes[*place].reported += i64::from(*is_own);
    }
    for number in numbers(true) {
        if let Some((place, _)) = cpus.remove(&number) {
            nodes[place].pending = nodes[place].pending.saturating_add(1);
        }
    }
    nodes
}

#[cfg(test)]
mod tests;
