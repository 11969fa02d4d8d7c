//! Virtual NUMA nodes, and host nodes that they could be put on.

use std::collections::HashSet;

use placewright_sdk::prelude::*;

/// A virtual NUMA node: a row of `members/numa-nodes`.
#[derive(Row)]
pub struct VmNode {
    /// Number of the node.
    pub index: i64,
    /// Memory of the node.
    pub memory: Bytes,
    /// `strict`, `interleave` or `preferred`.
    pub mode: Option<Text>,
    /// The host's nodes that it is pinned to.
    #[table("host-nodes")]
    pub host_nodes: Rows<PinnedTo>,
}

/// A node of the host that a virtual node is pinned to.
#[derive(Row)]
pub struct PinnedTo {
    /// Number of the host's node.
    pub index: i64,
}

/// A NUMA node of a host: a row of `hosts/numa-nodes`.
#[derive(Row)]
pub struct NodeOfHost {
    /// Number of the node.
    pub index: i64,
    /// Memory of the node.
    #[column("memory.total")]
    pub total: Bytes,
    /// Free memory of the node; all of it where that was not measured.
    #[column("memory.free")]
    pub free: Option<Bytes>,
}

impl NodeOfHost {
    /// What is free as far as is known.
    pub fn free(&self) -> Bytes {
        self.free.unwrap_or(self.total)
    }
}

/// Huge pages of a host's node: a row of `hosts/attribute.numa-huge-pages`, which
/// the operator defines.
#[derive(Row)]
pub struct PagesOfNode {
    /// Number of the node.
    pub node: Option<i64>,
    /// Size of a page.
    pub size: Option<Bytes>,
    /// Free pages.
    pub free: Option<i64>,
}

/// What a virtual node takes of the host's node that it is put on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// Ordinary memory.
    Memory(Bytes),
    /// Huge pages.
    Pages {
        /// Size of a page.
        size: Bytes,
        /// How many.
        count: i64,
    },
}

impl Take {
    /// What a node of this memory takes: pages if its VM has them.
    pub fn of(memory: Bytes, page: Option<Bytes>) -> Self {
        match page {
            Some(size) if size.0 > 0 => Self::Pages {
                size,
                // Whole pages; rounded up, should the memory be no multiple.
                count: memory.0 / size.0 + i64::from(memory.0 % size.0 > 0),
            },
            _ => Self::Memory(memory),
        }
    }
}

/// A virtual node for which a place is sought.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it takes.
    pub takes: Take,
    /// The host's nodes that it may be put on. None: it is not pinned, and nothing
    /// can be said of where it will be.
    pub allowed: Vec<i64>,
    /// For each of its vCPUs that is pinned and counts, the CPUs it is pinned to.
    pub pins: Vec<Vec<i64>>,
}

impl Node {
    /// The virtual nodes of a VM with huge pages of this size, if any; its CPU pins
    /// do not count.
    pub fn of_vm(nodes: &Rows<VmNode>, page: Option<Bytes>) -> Vec<Self> {
        let node = |node: VmNode| Self {
            takes: Take::of(node.memory, page),
            allowed: node.host_nodes.iter().map(|to| to.index).collect(),
            pins: Vec::new(),
        };
        nodes.iter().map(node).collect()
    }

    /// Can every pinned vCPU of the node run on some CPU of the host's node?
    fn runs_on(&self, place: &Place) -> bool {
        let mut pins = self.pins.iter();
        pins.all(|cpus| cpus.iter().any(|cpu| place.cpus.contains(cpu)))
    }
}

/// The vCPUs of the n-th of so many virtual nodes, where nothing else is said: all
/// nodes get the same number, in order, the first ones one more.
pub fn vcpus_of_node(node: i64, nodes: i64, vcpus: i64) -> std::ops::Range<i64> {
    let nodes = nodes.max(1);
    let (each, more) = (vcpus / nodes, vcpus % nodes);
    let begin = |node: i64| node.saturating_mul(each).saturating_add(node.min(more));
    begin(node)..begin(node.saturating_add(1))
}

/// What is free on a node of a host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// Number of the node.
    pub index: i64,
    /// Free memory.
    pub free: Bytes,
    /// Free huge pages: size and number.
    pub pages: Vec<(Bytes, i64)>,
    /// Its CPUs, where CPU pins count.
    pub cpus: Vec<i64>,
}

impl Place {
    /// The nodes of a host, of which CPUs are not looked at.
    pub fn of_host(nodes: &Rows<NodeOfHost>, pages: &Rows<PagesOfNode>) -> Vec<Self> {
        let place = |node: NodeOfHost| {
            let here = pages.iter().filter(|row| row.node == Some(node.index));
            Self {
                index: node.index,
                free: node.free(),
                pages: here
                    .filter_map(|row| Some((row.size?, row.free?)))
                    .collect(),
                cpus: Vec::new(),
            }
        };
        nodes.iter().map(place).collect()
    }

    fn free_of(&mut self, takes: Take) -> Option<(&mut i64, i64)> {
        match takes {
            Take::Memory(memory) => Some((&mut self.free.0, memory.0)),
            Take::Pages { size, count } => {
                let pages = self.pages.iter_mut().find(|(known, _)| *known == size);
                pages.map(|(_, free)| (free, count))
            }
        }
    }

    /// Takes it, if there is enough.
    fn take(&mut self, takes: Take) -> bool {
        match self.free_of(takes) {
            Some((free, needed)) if *free >= needed => {
                *free -= needed;
                true
            }
            _ => false,
        }
    }

    fn give_back(&mut self, takes: Take) {
        if let Some((free, needed)) = self.free_of(takes) {
            *free = free.saturating_add(needed);
        }
    }

    /// What is free, as numbers.
    fn left(&self) -> impl Iterator<Item = i64> {
        std::iter::once(self.free.0).chain(self.pages.iter().map(|(_, free)| *free))
    }
}

/// For each virtual node, in order, the number of the host's node that it could be
/// put on (none for one that is not pinned), so that all of them fit. None if there
/// is no such assignment, if any is pinned to a node that the host does not have,
/// or if there are no virtual nodes.
pub fn assign(nodes: &[Node], host: Vec<Place>) -> Option<Vec<Option<i64>>> {
    let exists = |index: &i64| host.iter().any(|place| place.index == *index);
    if nodes.is_empty() || !nodes.iter().flat_map(|node| &node.allowed).all(exists) {
        return None;
    }
    let pinned: Vec<&Node> = (nodes.iter())
        .filter(|node| !node.allowed.is_empty())
        .collect();
    let mut found = Search::new(pinned, host).run()?.into_iter();
    let of_node = |node: &Node| {
        if node.allowed.is_empty() {
            None
        } else {
            found.next()
        }
    };
    Some(nodes.iter().map(of_node).collect())
}

/// Puts one node after the other on the last host node that it names, and where
/// that does not work out, on the one before. Not recursive: how many nodes a VM
/// has is up to whoever describes it.
struct Search<'a> {
    nodes: Vec<&'a Node>,
    host: Vec<Place>,
    /// For each node that is placed, which of its `allowed` it is on.
    chosen: Vec<usize>,
    /// What was left where the nodes after the first so many could not be placed:
    /// the reason why like nodes do not take exponential time.
    hopeless: HashSet<(usize, Vec<i64>)>,
}

impl<'a> Search<'a> {
    fn new(nodes: Vec<&'a Node>, host: Vec<Place>) -> Self {
        Self {
            nodes,
            host,
            chosen: Vec::new(),
            hopeless: HashSet::new(),
        }
    }

    fn run(mut self) -> Option<Vec<i64>> {
        let mut limit = self.choices();
        while self.chosen.len() < self.nodes.len() {
            match self.next_below(limit) {
                Some(choice) => {
                    self.chosen.push(choice);
                    limit = self.choices();
                }
                None => {
                    self.hopeless.insert(self.state());
                    let last = self.chosen.pop()?;
                    let node = self.nodes[self.chosen.len()];
                    self.place(node.allowed[last])?.give_back(node.takes);
                    limit = last;
                }
            }
        }
        let chosen = self.nodes.iter().zip(&self.chosen);
        Some(chosen.map(|(node, &choice)| node.allowed[choice]).collect())
    }

    /// How many choices the next node has; none if it is known that none works.
    fn choices(&self) -> usize {
        let next = self.nodes.get(self.chosen.len());
        let known = self.hopeless.contains(&self.state());
        next.filter(|_| !known).map_or(0, |node| node.allowed.len())
    }

    /// Puts the next node on the last host node before this one of its choices that
    /// has room for it.
    fn next_below(&mut self, limit: usize) -> Option<usize> {
        let node = self.nodes[self.chosen.len()];
        (0..limit).rev().find(|&choice| {
            let place = self.place(node.allowed[choice]);
            place.is_some_and(|place| node.runs_on(place) && place.take(node.takes))
        })
    }

    fn place(&mut self, index: i64) -> Option<&mut Place> {
        self.host.iter_mut().find(|place| place.index == index)
    }

    fn state(&self) -> (usize, Vec<i64>) {
        let left = self.host.iter().flat_map(Place::left);
        (self.chosen.len(), left.collect())
    }
}

#[cfg(test)]
mod tests;
