//! CPU threads for VMs that want them for themselves.

use std::cmp::Reverse;

use placewright_sdk::prelude::*;

use crate::nodes::NodeOfHost;
use crate::pinning::Pinning;
use crate::topology::Topology;

/// What a VM wants for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
        })
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
/// sockets as its free cores and the memory of its NUMA nodes allow.
pub fn allot(topology: &mut Topology, wish: &Wish, nodes: &Rows<NodeOfHost>) -> Option<Vec<Lot>> {
    let mut sockets = topology.sockets();
    sockets.sort_by_key(|&socket| Reverse(topology.free_in_socket(socket)));
    let mut sockets_left = usize::try_from(wish.sockets).unwrap_or(usize::MAX);
    let mut lots = Vec::new();
    for socket in sockets {
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
    if sockets_left > 0 {
        return None;
    }
    for place in lots.iter().flatten() {
        topology.take(*place);
    }
    Some(lots)
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
