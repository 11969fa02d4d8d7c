//! CPU threads for VMs that want them for themselves.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use placewright_sdk::prelude::*;

use crate::nodes::{NodeOfHost, VmNode, vcpus_of_node};
use crate::pinning::Pinning;
use crate::topology::Topology;

/// What a VM wants for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// Is it a whole core for each vCPU, rather than a thread?
    pub whole_cores: bool,
    /// Virtual sockets; each must fit in a socket of the host.
    pub sockets: i64,
    /// Cores of each virtual socket.
    pub cores: i64,
    /// Threads of each virtual core; these must fit in a core of the host.
    pub threads: i64,
    /// If it has virtual NUMA nodes: how many, and the memory of the first, which
    /// stands for all.
    pub nodes: Option<(i64, Bytes)>,
    /// If its virtual NUMA nodes are pinned, on which nodes of the host the vCPUs of each are to
    /// be; otherwise empty.
    pub pinned: Vec<VcpusOfNode>,
}

/// The vCPUs of a virtual NUMA node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VcpusOfNode {
    /// How many.
    pub vcpus: usize,
    /// The host's nodes that they may be on; empty: on any.
    pub host_nodes: Vec<i64>,
}

impl Wish {
    /// What a VM that is pinned so, with this virtual topology, wants; none if it
    /// shares its CPUs.
    pub fn of(pinning: Pinning, sockets: i64, cores: i64, threads: i64) -> Option<Self> {
        pinning.is_exclusive().then_some(Self {
            whole_cores: pinning == Pinning::IsolateThreads,
            sockets: sockets.max(1),
            cores: cores.max(1),
            threads: threads.max(1),
            nodes: None,
            pinned: Vec::new(),
        })
    }

    /// The same for a VM with these virtual NUMA nodes, to which its vCPUs are shared out.
    pub fn on(self, nodes: &Rows<VmNode>) -> Self {
        let Ok(count) = i64::try_from(nodes.len()) else {
            return self;
        };
        let prefers = |node: VmNode| node.mode.as_deref() == Some("preferred");
        let is_pinned = nodes.iter().any(|node| !node.host_nodes.is_empty());
        let vcpus = self.sockets.saturating_mul(self.cores);
        let vcpus = vcpus.saturating_mul(self.threads);
        let of_node = |(number, node): (i64, VmNode)| {
            let vcpus = vcpus_of_node(number, count, vcpus);
            VcpusOfNode {
                vcpus: usize::try_from(vcpus.end.saturating_sub(vcpus.start)).unwrap_or(0),
                host_nodes: node.host_nodes.iter().map(|to| to.index).collect(),
            }
        };
        let pinned = match is_pinned && !nodes.iter().any(prefers) {
            true => (0..).zip(nodes).map(of_node).collect(),
            false => Vec::new(),
        };
        Self {
            nodes: nodes.get(0).map(|first| (count, first.memory)),
            pinned,
            ..self
        }
    }

    fn vcpus_per_socket(&self) -> usize {
        let vcpus = self.cores.saturating_mul(self.threads);
        usize::try_from(vcpus).unwrap_or(usize::MAX).max(1)
    }

    /// How many virtual sockets the memory of a socket's NUMA nodes allows.
    fn sockets_by_memory(&self, free: Option<Bytes>) -> usize {
        let (Some((nodes, memory)), Some(free)) = (self.nodes, free) else {
            return usize::MAX;
        };
        if nodes <= 0 || memory.0 <= 0 {
            return usize::MAX;
        }
        let nodes_per_socket = nodes / self.sockets + i64::from(nodes % self.sockets > 0);
        let sockets = free.0.max(0) / memory.0 / nodes_per_socket;
        usize::try_from(sockets).unwrap_or(usize::MAX)
    }
}

/// What one vCPU gets: the places of its threads in [`Topology::threads`].
pub type Lot = Vec<usize>;

/// Lets a VM have CPUs for itself: a lot for each of its vCPUs, in order. None, and
/// nothing is taken, if it cannot have all of them.
///
/// Sockets with the most free threads come first. Each takes as many whole virtual
/// sockets as its free cores and the memory of its NUMA nodes allow. Where virtual NUMA nodes are
/// pinned, and the host tells of the nodes of its threads, each gets its vCPUs on one of the
/// host's nodes that it is pinned to.
pub fn allot(topology: &mut Topology, wish: &Wish, nodes: &Rows<NodeOfHost>) -> Option<Vec<Lot>> {
    let mut sockets = topology.sockets();
    sockets.sort_by_key(|&socket| Reverse(topology.free_in_socket(socket)));
    let is_known = topology
        .threads()
        .iter()
        .all(|thread| thread.numa.is_some());
    let lots = match is_known && !wish.pinned.is_empty() {
        true => by_nodes(topology, wish, &sockets)?,
        false => by_sockets(topology, wish, (&sockets, nodes))?,
    };
    for place in lots.iter().flatten() {
        topology.take(*place);
    }
    Some(lots)
}

/// The lots of a VM whose virtual nodes are pinned. Those that may be on the fewest nodes of the
/// host come first, each on the node that has the most left.
fn by_nodes(topology: &Topology, wish: &Wish, sockets: &[i64]) -> Option<Vec<Lot>> {
    let mut left: BTreeMap<i64, VecDeque<Lot>> = BTreeMap::new();
    for lot in (sockets.iter()).flat_map(|&socket| offered(topology, socket, wish)) {
        let mut nodes = lot.iter().map(|&place| topology.threads()[place].numa);
        if let Some(Some(node)) = nodes.next()
            && nodes.all(|other| other == Some(node))
        {
            left.entry(node).or_default().push_back(lot);
        }
    }
    let mut order: Vec<usize> = (0..wish.pinned.len()).collect();
    order.sort_by_key(|&number| match wish.pinned[number].host_nodes.len() {
        0 => usize::MAX,
        nodes => nodes,
    });
    let mut lots = vec![Vec::new(); wish.pinned.len()];
    for number in order {
        let VcpusOfNode { vcpus, host_nodes } = &wish.pinned[number];
        let may = |node: &i64| host_nodes.is_empty() || host_nodes.contains(node);
        let may_have = left.iter_mut().filter(|(node, _)| may(node));
        // Of as many the first.
        let most = may_have.rev().max_by_key(|(_, lots)| lots.len());
        match most.filter(|(_, lots)| lots.len() >= *vcpus) {
            Some((_, rest)) => lots[number] = rest.drain(..*vcpus).collect(),
            // Those of a node that may be anywhere need not be together.
            None if host_nodes.is_empty() => {
                let mut rest = left.values_mut();
                while lots[number].len() < *vcpus {
                    let rest = rest.next()?;
                    let most = rest.len().min(*vcpus - lots[number].len());
                    lots[number].extend(rest.drain(..most));
                }
            }
            None => return None,
        }
    }
    Some(lots.into_iter().flatten().collect())
}

fn by_sockets(
    topology: &Topology,
    wish: &Wish,
    (sockets, nodes): (&[i64], &Rows<NodeOfHost>),
) -> Option<Vec<Lot>> {
    let mut sockets_left = usize::try_from(wish.sockets).unwrap_or(usize::MAX);
    let mut lots = Vec::new();
    for &socket in sockets {
        let offered = offered(topology, socket, wish);
        let by_memory = wish.sockets_by_memory(free_memory(topology, socket, nodes));
        let per_socket = wish.vcpus_per_socket();
        let taken = (offered.len() / per_socket)
            .min(by_memory)
            .min(sockets_left);
        lots.extend(offered.into_iter().take(taken * per_socket));
        sockets_left -= taken;
        if sockets_left == 0 {
            break;
        }
    }
    (sockets_left == 0).then_some(lots)
}

/// The lots that a socket has, core after core. In every core of which the threads
/// are shared out, whole virtual cores are.
fn offered(topology: &Topology, socket: i64, wish: &Wish) -> Vec<Lot> {
    let threads = usize::try_from(wish.threads).unwrap_or(usize::MAX);
    let mut lots = Vec::new();
    for core in topology.cores(socket) {
        let all: Lot = topology.in_core(socket, core).collect();
        let free: Lot = all
            .iter()
            .copied()
            .filter(|&place| topology.is_free(place))
            .collect();
        if !wish.whole_cores {
            let whole = free.len() / threads * threads;
            lots.extend(free[..whole].iter().map(|&place| vec![place]));
        } else if free.len() == all.len() {
            lots.push(all);
        }
    }
    lots
}

/// Free memory of the NUMA nodes of a socket; none if the host tells of no nodes.
fn free_memory(topology: &Topology, socket: i64, nodes: &Rows<NodeOfHost>) -> Option<Bytes> {
    if nodes.is_empty() {
        return None;
    }
    let here = (nodes.iter()).filter(|node| topology.socket_has_node(socket, node.index));
    let free = here.fold(0_i64, |sum, node| sum.saturating_add(node.free().0));
    Some(Bytes(free))
}

/// How many sockets of the host, and how many cores, these lots lie in.
pub fn sockets_and_cores(topology: &Topology, lots: &[Lot]) -> (usize, usize) {
    let threads = topology.threads();
    let places = lots.iter().flatten();
    let mut cores: Vec<_> = places
        .filter_map(|&place| threads.get(place))
        .map(|thread| (thread.socket, thread.core))
        .collect();
    cores.sort_unstable();
    cores.dedup();
    let mut sockets: Vec<_> = cores.iter().map(|(socket, _)| *socket).collect();
    sockets.dedup();
    (sockets.len(), cores.len())
}

#[cfg(test)]
mod tests;
