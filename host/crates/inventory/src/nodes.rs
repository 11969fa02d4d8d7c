//! What VMs take of the NUMA nodes of their host: memory, huge pages, and CPUs of their own.
//!
//! A virtual node that is pinned to one node of the host takes of that. Those that may be put on
//! several count so that all find a node with enough of everything, if they can; of several such
//! nodes, where the most is left, the lower number first.

mod cpus;

use super::assign::{self, Need, Place, Preference};
use super::nested::{NODE_PAGES, NUMA_NODES};
use super::{HostEntry, VmEntry, growth};
use cpus::NodeCpus;

/// What VMs take of one node of a host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) memory: TakenMemory,
    pub(super) cpus: TakenCpus,
}

/// Ordinary memory of a node, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TakenMemory {
    /// Of VMs that run.
    pub(super) promised: i64,
    /// Of VMs that have a place reserved.
    pub(super) pending: i64,
    /// Of those that run, what no measurement shows yet.
    pub(super) unshown: i64,
}

/// CPUs of a node that VMs have for themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TakenCpus {
    /// How many are online; None: it is not known.
    pub(super) all: Option<i64>,
    /// Those of VMs that run.
    pub(super) promised: i64,
    /// Those of VMs that have a place reserved.
    pub(super) pending: i64,
    /// Virtual nodes on it whose VMs share CPUs.
    pub(super) sharers: i64,
}

/// Huge pages of a node that are promised and that no measurement shows yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PromisedPages {
    /// Number of the node.
    pub(super) node: i64,
    /// Size of a page in bytes.
    pub(super) size: i64,
    /// How many.
    pub(super) count: i64,
}

/// What a virtual node takes of one of the host's.
struct Taken {
    /// Which row of the host's nodes it counts on.
    row: usize,
    /// Whether its VM has a place reserved and does not run there with that yet.
    pending: bool,
    need: Need,
}

/// What VMs take of the nodes of a host, besides what is given of each: a row for each.
pub(super) fn of_host(host: &HostEntry, vms: &[Option<VmEntry>]) -> Vec<Node> {
    let numbered = cpus::by_number(host, vms);
    let taken = taken(host, vms, &numbered);
    let mut nodes = vec![Node::default(); numbered.len()];
    for Taken { row, pending, need } in taken {
        let [memory, unshown, cpus] = need.amounts;
        let node = &mut nodes[row];
        node.cpus.sharers += i64::from(need.shares);
        let (of_memory, of_cpus) = match pending {
            true => (&mut node.memory.pending, &mut node.cpus.pending),
            false => {
                let sum = &mut node.memory.unshown;
                *sum = sum.saturating_add(unshown);
                (&mut node.memory.promised, &mut node.cpus.promised)
            }
        };
        *of_memory = of_memory.saturating_add(memory);
        *of_cpus = of_cpus.saturating_add(cpus);
    }
    for (node, numbered) in nodes.iter_mut().zip(numbered) {
        let by_need = node.cpus.promised;
        let others = numbered.reported.saturating_sub(by_need).max(0);
        node.cpus = TakenCpus {
            all: numbered.all,
            promised: by_need
                .saturating_add(numbered.promised)
                .saturating_add(others),
            pending: node.cpus.pending.saturating_add(numbered.pending),
            sharers: node.cpus.sharers,
        };
    }
    nodes
}

/// The huge pages of the nodes of a host that are promised and that no measurement shows yet, by
/// node and size.
pub(super) fn promised_pages(host: &HostEntry, vms: &[Option<VmEntry>]) -> Vec<PromisedPages> {
    let entries = host.vms.iter().flat_map(|index| &vms[*index as usize]);
    let mut entries = entries.filter(|entry| entry.takes_node_pages());
    if entries.next().is_none() {
        return Vec::new();
    }
    let rows = host.facts.rows(NUMA_NODES);
    let mut promised: Vec<PromisedPages> = Vec::new();
    for taken in taken(host, vms, &cpus::by_number(host, vms)) {
        let Some(node) = rows.get(taken.row).and_then(|row| row.integer("index")) else {
            continue;
        };
        for (size, count) in taken.need.pages {
            let known = promised
                .iter_mut()
                .find(|known| (known.node, known.size) == (node, size));
            match known {
                Some(known) => known.count = known.count.saturating_add(count),
                None => promised.push(PromisedPages { node, size, count }),
            }
        }
    }
    promised.sort_unstable_by_key(|pages| (pages.node, pages.size));
    promised
}

/// What each virtual node of the host's VMs takes, where these have CPUs that are known by
/// number.
fn taken(host: &HostEntry, vms: &[Option<VmEntry>], numbered: &[NodeCpus]) -> Vec<Taken> {
    let entries = growth::with_held(host, vms);
    let mut entries = entries
        .filter(|(entry, _)| entry.takes_numa_nodes())
        .peekable();
    if entries.peek().is_none() {
        return Vec::new();
    }
    let mut places = places(host);
    let (mut needs, mut pending) = (Vec::new(), Vec::new());
    for (entry, held) in entries {
        needs.extend(needs_of(entry, held, &places));
        pending.resize(needs.len(), entry.pending);
    }
    for (number, (place, cpus)) in places.iter_mut().zip(numbered).enumerate() {
        let of_running = needs.iter().zip(&pending).filter(|(_, pending)| !**pending);
        let here = of_running.filter(|(need, _)| need.allowed.contains(&number));
        let may_be_theirs = here.fold(0, |sum: i64, (need, _)| sum.saturating_add(need.amounts[2]));
        place.left[2] = place.left[2].saturating_add(cpus.left(may_be_theirs));
    }
    let found = assign::assign(&needs, &places, Preference::MostLeft);
    let found = needs.into_iter().zip(pending).zip(found);
    found
        .filter_map(|((need, pending), row)| {
            let row = row?;
            Some(Taken { row, pending, need })
        })
        .collect()
}

/// Whether each virtual node of a VM comes to share CPUs: not so if it shares them there already, by
/// what is held where the VM is to grow. None does of a VM that has its own.
fn comes_to_share(entry: &VmEntry, held: Option<&VmEntry>) -> Vec<bool> {
    if entry.shape.exclusive {
        return Vec::new();
    }
    let held = held.filter(|held| !held.shape.exclusive);
    let held = held.into_iter().flat_map(VmEntry::numa_nodes);
    let mut held: Vec<Vec<i64>> = held.map(|(allowed, _)| allowed).collect();
    let comes = |(allowed, _): (Vec<i64>, i64)| {
        let same = held.iter().position(|held| *held == allowed);
        same.map(|place| held.swap_remove(place)).is_none()
    };
    entry.numa_nodes().map(comes).collect()
}

/// The nodes of a host, with what is left of them beside its VMs; of CPUs, less what is given as
/// promised.
fn places(host: &HostEntry) -> Vec<Place> {
    let pages = host.facts.rows(NODE_PAGES);
    let nodes = host.facts.rows(NUMA_NODES).iter();
    nodes
        .map(|node| {
            let given = |column| node.integer(column).unwrap_or(0);
            let unpromised = given("memory.total")
                .saturating_sub(given("memory.promised"))
                .saturating_sub(given("memory.pending"));
            let number = node.integer("index");
            let here = pages
                .iter()
                .filter(|row| number.is_some() && row.integer("node") == number);
            Place {
                number,
                left: [
                    unpromised,
                    node.integer("memory.free").unwrap_or(i64::MAX),
                    0_i64
                        .saturating_sub(given("cpus.promised"))
                        .saturating_sub(given("cpus.pending")),
                ],
                pages: here
                    .filter_map(|row| Some((row.integer("size")?, row.integer("free")?)))
                    .collect(),
                sharers: 0,
            }
        })
        .collect()
}

/// What each virtual node of a VM takes, beyond what is held there where it is to grow.
fn needs_of(entry: &VmEntry, held: Option<&VmEntry>, places: &[Place]) -> Vec<Need> {
    let mut cpus = entry.node_cpus();
    let asked = entry.numa_nodes().zip(entry.node_pages());
    let mut asked: Vec<Asked> = asked
        .map(|((allowed, memory), (_, pages))| Asked {
            allowed,
            memory,
            cpus: cpus.next().map_or(0, |(_, cpus)| cpus),
            pages,
        })
        .collect();
    if let Some(held) = held {
        let beyond = beyond(entry, held);
        for (asked, beyond) in asked.iter_mut().zip(beyond) {
            // Where a node is that may be on several is not known. One that grows may have to be
            // on another than before, with all that it asks for.
            if asked.allowed.len() < 2 || beyond.is_nothing() {
                *asked = beyond;
            }
        }
    }
    let shares = comes_to_share(entry, held);
    let unshown = match entry.has_unmeasured_nodes() {
        true => entry.unmeasured_nodes(),
        false => Vec::new(),
    };
    let mut unshown_pages = entry.unmeasured_node_pages().into_iter();
    let need = |(number, asked): (usize, Asked)| {
        let is_allowed = |place: &usize| {
            let number = places[*place].number;
            number.is_some_and(|number| asked.allowed.contains(&number))
        };
        let (unshown, pages) = match entry.pending {
            true => (asked.memory, asked.pages),
            false => (
                unshown.get(number).copied().unwrap_or(0),
                unshown_pages.next().unwrap_or_default(),
            ),
        };
        Need {
            allowed: (0..places.len()).filter(is_allowed).collect(),
            amounts: [asked.memory, unshown, asked.cpus],
            pages,
            shares: shares.get(number).copied().unwrap_or(false),
            distinct: None,
        }
    };
    asked.into_iter().enumerate().map(need).collect()
}

/// What a virtual node asks for.
struct Asked {
    /// The host's nodes that it may be put on.
    allowed: Vec<i64>,
    /// Ordinary memory, bytes.
    memory: i64,
    /// CPUs for itself, of which the numbers are not known.
    cpus: i64,
    /// Huge pages: their size in bytes, and how many.
    pages: Vec<(i64, i64)>,
}

impl Asked {
    fn is_nothing(&self) -> bool {
        self.memory == 0 && self.cpus == 0 && self.pages.is_empty()
    }
}

/// What the virtual nodes of a VM ask for beyond those that it holds, one by one.
fn beyond(entry: &VmEntry, held: &VmEntry) -> Vec<Asked> {
    let memory = growth::each_node_beyond(entry.numa_nodes(), held.numa_nodes().collect());
    let mut cpus = growth::each_node_beyond(entry.node_cpus(), held.node_cpus().collect());
    let pages = growth::each_pages_beyond(entry.node_pages(), held.node_pages().collect());
    let asked = memory.zip(pages).map(|((allowed, memory), pages)| Asked {
        allowed,
        memory,
        cpus: cpus.next().map_or(0, |(_, cpus)| cpus),
        pages,
    });
    asked.collect()
}

#[cfg(test)]
mod tests;
