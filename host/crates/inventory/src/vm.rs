//! A VM that has a place.

use std::iter;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Shape;
use super::growth;
use super::nested::{GPUS, HUGE_PAGES, NUMA_NODES, PINS};
use super::unmeasured::Unmeasured;
use super::writes::Step;
use placewright_model::{Facts, Vm};

/// Amounts that are columns of hosts, by the names under which they are reserved.
pub(super) const MEMORY: &str = "memory";
pub(super) const CPU: &str = "cpu";

/// A VM that runs on a host, or has a place reserved on it.
#[derive(Debug, Clone)]
pub struct VmEntry {
    /// The VM.
    pub vm: Arc<Vm>,
    /// What it needs.
    pub shape: Shape,
    /// The slot of its host.
    pub slot: u32,
    /// Its place is reserved and it does not run there yet.
    pub pending: bool,
    /// Second after which a reservation ends by itself; None: it does not.
    pub expires: Option<i64>,
    /// Second in which the place was reserved; None: it is not reserved.
    pub since: Option<i64>,
    /// Number of the decision that reserved the place; None: no decision did.
    pub decision: Option<u64>,
    /// What it takes that no measurement of its host shows yet.
    pub(super) unmeasured: Option<Unmeasured>,
    /// Few VMs have any of it.
    pub(super) stay: Option<Box<Stay>>,
}

/// On what terms a place is reserved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Terms {
    /// Second after which the reservation ends by itself; None: it does not.
    pub expires: Option<i64>,
    /// Number of the decision that makes it, if one does.
    pub decision: Option<u64>,
}

/// A reservation whose time is up: the place is free again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expired {
    /// Id of the VM.
    pub vm: Arc<str>,
    /// Id of the host.
    pub host: Arc<str>,
    /// Second after which it ended.
    pub expires: i64,
    /// Number of the decision that had made it, if one had.
    pub decision: Option<u64>,
}

/// What belongs to a VM's stay on its host, and ends with it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Stay {
    /// Rows of tables below `hosts/vms`.
    pub(super) rows: Facts,
    /// What it takes of the host beyond what the VM needs.
    pub(super) reserved: Vec<(Arc<str>, i64)>,
    /// What is written when the VM runs.
    pub(super) waiting: Vec<Step>,
}

impl VmEntry {
    /// The rows of a table below `hosts/vms` that belong to its stay on the host.
    #[inline]
    pub fn placed_rows(&self, table: &str) -> &[Facts] {
        self.stay.as_ref().map_or(&[], |stay| stay.rows.rows(table))
    }

    /// All rows that belong to its stay on the host, if there are any.
    pub fn placed(&self) -> Option<&Facts> {
        self.stay.as_ref().map(|stay| &stay.rows)
    }

    /// What its place takes of the host beyond what the VM needs, by the names of
    /// the amounts.
    pub fn reserved(&self) -> &[(Arc<str>, i64)] {
        self.stay.as_ref().map_or(&[], |stay| &stay.reserved)
    }

    /// What its place takes of one amount beyond what the VM needs.
    pub(super) fn reserved_of(&self, amount: &str) -> i64 {
        let reserved = self.reserved().iter();
        reserved
            .filter(|(name, _)| **name == *amount)
            .map(|(_, value)| *value)
            .sum()
    }

    /// What the VM itself needs of the amounts with names of the operator's choice.
    pub(super) fn needed_amounts(&self) -> impl Iterator<Item = (&str, i64)> {
        let rows = self.vm.facts.rows("amounts").iter();
        rows.filter_map(|row| Some((row.text("name")?, row.integer("need")?)))
    }

    /// What it takes of the amounts with names of the operator's choice.
    pub(super) fn amounts(&self) -> impl Iterator<Item = (&str, i64)> {
        let needed = self.vm.facts.rows("amounts").iter();
        let rows = needed.chain(self.placed_rows("amounts"));
        let reserved = self.reserved().iter();
        rows.filter_map(|row| Some((row.text("name")?, row.integer("need")?)))
            .chain(
                reserved
                    .map(|(name, value)| (&**name, *value))
                    .filter(|(name, _)| ![MEMORY, CPU].contains(name)),
            )
    }

    /// The huge pages that it needs: their size, and how many.
    pub(super) fn huge_pages(&self) -> impl Iterator<Item = (i64, i64)> {
        self.asked_pages()
            .chain(pages(self.placed_rows(HUGE_PAGES)))
    }

    /// The same without those that were added to its needs when it was placed: a part of its
    /// memory.
    pub(super) fn asked_pages(&self) -> impl Iterator<Item = (i64, i64)> {
        pages(self.vm.facts.rows(HUGE_PAGES))
    }

    /// Its virtual NUMA nodes that are pinned to the host's: the host's nodes that each may be
    /// put on, and its ordinary memory, which is not in huge pages. None, if it only prefers
    /// nodes.
    pub(super) fn numa_nodes(&self) -> impl Iterator<Item = (Vec<i64>, i64)> {
        self.pinned_nodes()
            .map(|(allowed, memory, _)| (allowed, memory))
    }

    /// The same nodes with the huge pages of each: their size, and how many.
    pub(super) fn node_pages(&self) -> impl Iterator<Item = (Vec<i64>, Vec<(i64, i64)>)> {
        self.pinned_nodes()
            .map(|(allowed, _, pages)| (allowed, pages))
    }

    /// The VM's huge pages are shared out to its nodes in order: each has as much of its memory
    /// in them as there are pages left.
    fn pinned_nodes(&self) -> impl Iterator<Item = (Vec<i64>, i64, Vec<(i64, i64)>)> {
        let facts = &self.vm.facts;
        let (nodes, pages) = match self.takes_numa_nodes() {
            true => (facts.rows(NUMA_NODES), facts.rows(HUGE_PAGES)),
            false => (&[][..], &[][..]),
        };
        let count = |row: &Facts| Some((row.integer("size")?, row.integer("count")?));
        let mut left: Vec<(i64, i64)> = pages.iter().filter_map(count).collect();
        nodes.iter().filter_map(move |node| {
            let memory = node.integer("memory").unwrap_or(0);
            let (memory, pages) = in_pages(memory, &mut left);
            let to = node.rows("host-nodes").iter();
            let to: Vec<i64> = to.filter_map(|to| to.integer("index")).collect();
            (!to.is_empty()).then_some((to, memory, pages))
        })
    }

    /// Whether it takes memory or huge pages of nodes of its host.
    pub(super) fn takes_numa_nodes(&self) -> bool {
        let nodes = self.vm.facts.rows(NUMA_NODES);
        let prefers = |node: &Facts| node.text("mode") == Some("preferred");
        !nodes.is_empty() && !nodes.iter().any(prefers)
    }

    /// Whether it takes huge pages of nodes of its host.
    pub(super) fn takes_node_pages(&self) -> bool {
        !self.vm.facts.rows(HUGE_PAGES).is_empty() && self.takes_numa_nodes()
    }

    /// Whether it takes memory, huge pages or CPUs of nodes of its host.
    pub(super) fn takes_of_nodes(&self) -> bool {
        self.takes_numa_nodes() || self.takes_node_cpus()
    }

    /// Whether it has CPUs for itself on nodes of its host, as far as is known.
    pub(super) fn takes_node_cpus(&self) -> bool {
        self.shape.exclusive && (self.takes_numa_nodes() || self.own_cpus().next().is_some())
    }

    /// The CPUs that it has for itself, by number; none where only their number is known.
    pub(super) fn own_cpus(&self) -> impl Iterator<Item = i64> {
        let rows = match self.shape.exclusive {
            true => [self.vm.facts.rows(PINS), self.placed_rows(PINS)],
            false => [&[][..]; 2],
        };
        (rows.into_iter().flatten()).filter_map(|pin| pin.integer("cpu"))
    }

    /// The CPUs that it has for itself on nodes of its host, of which the numbers are not known:
    /// the host's nodes that each of its virtual nodes may be put on, and how many CPUs that
    /// needs. Its vCPUs are shared out to its nodes in order, the first ones get one more.
    pub(super) fn node_cpus(&self) -> impl Iterator<Item = (Vec<i64>, i64)> {
        let is_known = self.own_cpus().next().is_some();
        let nodes = match self.shape.exclusive && self.takes_numa_nodes() && !is_known {
            true => self.vm.facts.rows(NUMA_NODES),
            false => &[],
        };
        let count = i64::try_from(nodes.len()).unwrap_or(i64::MAX).max(1);
        let vcpus = self.shape.vcpus();
        (0..).zip(nodes).filter_map(move |(number, node)| {
            let to = node.rows("host-nodes").iter();
            let to: Vec<i64> = to.filter_map(|to| to.integer("index")).collect();
            let cpus = vcpus / count + i64::from(number < vcpus % count);
            (!to.is_empty()).then_some((to, cpus))
        })
    }

    /// The virtual functions that its network cards need: the network of each, and how many.
    pub(super) fn functions(&self) -> Vec<(Arc<str>, i64)> {
        let networks = self.function_networks();
        growth::beyond(networks.map(|network| (network.into(), 1)), iter::empty())
    }

    fn function_networks(&self) -> impl Iterator<Item = &str> {
        let cards = self.vm.facts.rows("nics").iter();
        let passing = cards.filter(|card| card.is("passthrough"));
        // One of which it is not said is plugged.
        let plugged = passing.filter(|card| card.get("plugged").is_none() || card.is("plugged"));
        plugged.filter_map(|card| card.text("network"))
    }

    /// Whether virtual functions are set apart for it, which it does not have yet, or which no
    /// measurement shows yet.
    pub(super) fn waits_for_functions(&self) -> bool {
        (self.pending || self.has_unmeasured_functions())
            && self.function_networks().next().is_some()
    }

    /// The GPUs of its host that it was given: the number of each, and the
    /// thousandths that it takes of it.
    pub(super) fn gpus(&self) -> impl Iterator<Item = (i64, i64)> {
        let rows = self.placed_rows(GPUS).iter();
        rows.filter_map(|row| Some((row.integer("index")?, row.integer("share")?)))
    }

    /// The thousandths of each GPU that it needs besides those that it is known to have been
    /// given.
    pub(super) fn gpus_unsaid(&self) -> impl Iterator<Item = i64> {
        let (needed, share) = (self.shape.gpus, self.shape.gpu_share);
        let said = match needed {
            0 => 0,
            _ => i64::try_from(self.placed_rows(GPUS).len()).unwrap_or(i64::MAX),
        };
        (said..needed).map(move |_| share)
    }

    /// Whether it takes GPUs of its host.
    pub(super) fn takes_gpus(&self) -> bool {
        self.gpus().next().is_some() || self.gpus_unsaid().next().is_some()
    }

    /// Whether pages are set apart for it, which it does not have yet, or which no measurement
    /// shows yet.
    pub(super) fn waits_for_pages(&self) -> bool {
        (self.pending || self.has_unmeasured_pages()) && self.huge_pages().next().is_some()
    }

    pub(super) fn stay_mut(&mut self) -> &mut Stay {
        self.stay.get_or_insert_default()
    }
}

/// Rows of huge pages: their size, and how many.
fn pages(rows: &[Facts]) -> impl Iterator<Item = (i64, i64)> {
    let rows = rows.iter();
    rows.filter_map(|row| Some((row.integer("size")?, row.integer("count")?)))
}

/// What of a node's memory is in huge pages, of which so many are left: the memory that is not,
/// and the pages, which are taken of those that are left.
fn in_pages(memory: i64, left: &mut [(i64, i64)]) -> (i64, Vec<(i64, i64)>) {
    let mut memory = memory.max(0);
    let mut taken = Vec::new();
    for (size, left) in left.iter_mut().filter(|(size, _)| *size > 0) {
        let needed = memory / *size + i64::from(memory % *size > 0);
        let count = needed.min(*left);
        if count > 0 {
            *left -= count;
            memory = memory.saturating_sub(size.saturating_mul(count)).max(0);
            taken.push((*size, count));
        }
    }
    (memory, taken)
}

impl Stay {
    pub(super) fn reserve(&mut self, amount: &Arc<str>, by: i64) {
        match self.reserved.iter_mut().find(|(name, _)| name == amount) {
            Some((_, value)) => *value = value.saturating_add(by),
            None => self.reserved.push((amount.clone(), by)),
        }
        self.reserved.retain(|(_, value)| *value != 0);
    }
}
