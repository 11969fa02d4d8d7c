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
#[derive(Default, Row)]
pub struct NodeOfHost {
    /// Number of the node.
    pub index: i64,
    /// Memory of the node.
    #[column("memory.total")]
    pub total: Bytes,
    /// Free memory of the node; all of it where that was not measured.
    #[column("memory.free")]
    pub free: Option<Bytes>,
    /// Promised to VMs that run.
    #[column("memory.promised")]
    pub promised: Bytes,
    /// Promised to VMs that have a place reserved.
    #[column("memory.pending")]
    pub pending: Bytes,
    /// Its CPUs that are online, if that is known.
    pub cpus: Option<i64>,
    /// Those that VMs which run there have for themselves.
    #[column("cpus.promised")]
    pub cpus_promised: i64,
    /// Those of VMs that have a place reserved.
    #[column("cpus.pending")]
    pub cpus_pending: i64,
    /// Virtual nodes on it whose VMs share CPUs.
    #[column("cpus.sharers")]
    pub sharers: i64,
}

impl NodeOfHost {
    /// What is free as far as is known and not promised to anybody.
    pub fn free(&self) -> Bytes {
        let unpromised = self.total - self.promised;
        self.free.map_or(unpromised, |free| free.min(unpromised)) - self.pending
    }

    /// CPUs that no VM has for itself, if it is known how many there are.
    pub fn free_cpus(&self) -> Option<i64> {
        let taken = self.cpus_promised.saturating_add(self.cpus_pending);
        Some(self.cpus?.saturating_sub(taken))
    }
}

/// A member that runs on the host now, and its virtual nodes there: a row of
/// `hosts/current`.
#[derive(Row)]
pub struct Current {
    /// Its number among the members.
    pub member: i64,
    /// Whether it holds a place there.
    pub holds: bool,
    /// All its vCPUs there.
    pub vcpus: i64,
    /// Whether it has CPUs for itself.
    pub exclusive: bool,
    /// Its virtual nodes.
    #[table("numa-nodes")]
    pub nodes: Rows<VmNode>,
    /// Huge pages that it has memory in.
    #[table("huge-pages")]
    pub pages: Rows<VmPages>,
}

/// Huge pages that a VM has memory in: a row of `members/huge-pages`.
#[derive(Row)]
pub struct VmPages {
    /// Size of a page.
    pub size: Bytes,
    /// How many.
    pub count: i64,
}

impl Current {
    /// Whether anything of the host's nodes is its own: not so if it only prefers nodes.
    fn has_nodes(&self) -> bool {
        let prefers = |node: VmNode| node.mode.as_deref() == Some("preferred");
        self.holds && !self.nodes.iter().any(prefers)
    }

    /// What its nodes take of the host's, in order.
    fn takes(&self) -> Vec<Take> {
        Take::of_nodes(self.nodes.iter().map(|node| node.memory), &self.pages)
    }

    /// CPUs that it has for itself, those of the n-th of its nodes.
    fn own_cpus(&self, node: i64) -> i64 {
        own_cpus_of_node(node, self.nodes.len(), self.vcpus, self.exclusive)
    }
}

/// How many CPUs the n-th of so many virtual nodes needs for itself, of a VM that has CPUs of
/// its own or not.
pub fn own_cpus_of_node(node: i64, nodes: usize, vcpus: i64, exclusive: bool) -> i64 {
    if !exclusive {
        return 0;
    }
    let nodes = i64::try_from(nodes).unwrap_or(i64::MAX);
    let vcpus = vcpus_of_node(node, nodes, vcpus);
    vcpus.end.saturating_sub(vcpus.start)
}

/// What members hold on a host.
pub struct HeldNodes(Rows<Current>);

impl HeldNodes {
    /// By the rows of `hosts/current`.
    pub fn of(current: &Rows<Current>) -> Self {
        Self(current.clone())
    }

    /// Whether a member holds just these nodes there.
    pub fn are(&self, member: i64, nodes: &[Node]) -> bool {
        let mut here = self
            .0
            .iter()
            .filter(|row| row.member == member && row.has_nodes());
        here.any(|row| {
            if row.nodes.len() != nodes.len() {
                return false;
            }
            let same = |(((number, held), takes), asked): (((i64, VmNode), Take), &Node)| {
                let (mut on, mut to) = (numbers(&held.host_nodes), asked.allowed.clone());
                on.sort_unstable();
                to.sort_unstable();
                on == to && asked.takes.is_within(&takes) && asked.own_cpus <= row.own_cpus(number)
            };
            let held = (0..).zip(&row.nodes).zip(row.takes());
            held.zip(nodes).all(same)
        })
    }

    /// Give back what these members hold on nodes, for they are to be put there anew: memory,
    /// CPUs of their own, and the CPUs that they share.
    pub fn give_back(&self, places: &mut [Place], members: impl Fn(i64) -> bool) {
        for row in (self.0.iter()).filter(|row| row.has_nodes() && members(row.member)) {
            for ((number, node), takes) in (0..).zip(&row.nodes).zip(row.takes()) {
                let [on] = numbers(&node.host_nodes)[..] else {
                    continue;
                };
                if let Some(place) = places.iter_mut().find(|place| place.index == on) {
                    place.give_back(&takes, row.own_cpus(number));
                    if !row.exclusive {
                        place.sharers = place.sharers.saturating_sub(1);
                        place.is_shared_by_members = true;
                    }
                }
            }
        }
    }
}

fn numbers(nodes: &Rows<PinnedTo>) -> Vec<i64> {
    nodes.iter().map(|to| to.index).collect()
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

/// Huge pages of a host's node that are promised and in no measurement: a row of
/// `hosts/numa-huge-pages`.
#[derive(Row)]
pub struct PromisedPages {
    /// Number of the node.
    pub node: i64,
    /// Size of a page.
    pub size: Bytes,
    /// How many are not free, whatever is measured.
    pub pending: i64,
}

/// What a virtual node takes of the host's node that it is put on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Take {
    /// Ordinary memory.
    pub memory: Bytes,
    /// Huge pages: size and number.
    pub pages: Vec<(Bytes, i64)>,
}

impl Take {
    /// Whether it is no more than that, of every kind.
    fn is_within(&self, held: &Self) -> bool {
        let has = |(size, count): &(Bytes, i64)| {
            let mut held = held.pages.iter();
            held.any(|(own, held)| own == size && count <= held)
        };
        self.memory <= held.memory && self.pages.iter().all(has)
    }

    /// What the nodes of a VM take, of this memory each. The VM's huge pages are shared out to
    /// them in order: each has as much of its memory in them as there are pages left.
    pub fn of_nodes(memory: impl Iterator<Item = Bytes>, pages: &Rows<VmPages>) -> Vec<Self> {
        let left = pages.iter().map(|row| (row.size, row.count));
        let mut left: Vec<(Bytes, i64)> = left.filter(|(size, _)| size.0 > 0).collect();
        memory.map(|memory| Self::of(memory, &mut left)).collect()
    }

    /// What of this memory is in the pages that are left, which become fewer by that.
    fn of(memory: Bytes, left: &mut [(Bytes, i64)]) -> Self {
        let mut memory = memory.0.max(0);
        let mut pages = Vec::new();
        for (size, left) in left {
            // Whole pages; rounded up, should the memory be no multiple.
            let needed = memory / size.0 + i64::from(memory % size.0 > 0);
            let count = needed.min(*left);
            if count > 0 {
                *left -= count;
                memory = memory.saturating_sub(size.0.saturating_mul(count)).max(0);
                pages.push((*size, count));
            }
        }
        Self {
            memory: Bytes(memory),
            pages,
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
    /// CPUs that it needs for itself.
    pub own_cpus: i64,
    /// Whether it shares CPUs with others, so that one of its node must be shared.
    pub shares_cpus: bool,
}

impl Node {
    /// The virtual nodes of a VM with these huge pages; its CPU pins do not count. Its vCPUs
    /// are shared out to the nodes, and so are its pages.
    pub fn of_vm(
        nodes: &Rows<VmNode>,
        pages: &Rows<VmPages>,
        (vcpus, exclusive): (i64, bool),
    ) -> Vec<Self> {
        let takes = Take::of_nodes(nodes.iter().map(|node| node.memory), pages);
        let node = |((number, node), takes): ((i64, VmNode), Take)| Self {
            takes,
            allowed: node.host_nodes.iter().map(|to| to.index).collect(),
            pins: Vec::new(),
            own_cpus: own_cpus_of_node(number, nodes.len(), vcpus, exclusive),
            shares_cpus: !exclusive,
        };
        (0..).zip(nodes).zip(takes).map(node).collect()
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
    /// Free huge pages that nobody is promised: size and number.
    pub pages: Vec<(Bytes, i64)>,
    /// Its CPUs, where CPU pins count.
    pub cpus: Vec<i64>,
    /// How many CPUs no VM has for itself; None: it is not known how many there are.
    pub free_cpus: Option<i64>,
    /// Virtual nodes on it whose VMs share CPUs: one must be left for them.
    pub sharers: i64,
    /// Whether VMs that are put there anew share its CPUs already: they need none more for that.
    pub is_shared_by_members: bool,
}

impl Place {
    /// The nodes of a host, of which CPUs are not looked at.
    pub fn of_host(
        nodes: &Rows<NodeOfHost>,
        pages: &Rows<PagesOfNode>,
        promised: &Rows<PromisedPages>,
    ) -> Vec<Self> {
        let promised = |node: i64, size: Bytes| {
            let rows = promised.iter();
            let rows = rows.filter(|row| row.node == node && row.size == size);
            rows.fold(0_i64, |sum, row| sum.saturating_add(row.pending))
        };
        let place = |node: NodeOfHost| {
            let here = pages.iter().filter(|row| row.node == Some(node.index));
            Self {
                index: node.index,
                free: node.free(),
                pages: here
                    .filter_map(|row| Some((row.size?, row.free?)))
                    .map(|(size, free)| (size, free.saturating_sub(promised(node.index, size))))
                    .collect(),
                cpus: Vec::new(),
                free_cpus: node.free_cpus(),
                sharers: node.sharers,
                is_shared_by_members: false,
            }
        };
        nodes.iter().map(place).collect()
    }

    /// Whether there is the memory, and are the pages, that a virtual node takes. One that has
    /// all its memory in pages needs no other.
    fn has(&self, takes: &Take) -> bool {
        let has_pages = |(size, count): &(Bytes, i64)| {
            let mut pages = self.pages.iter();
            pages.any(|(known, free)| known == size && free >= count)
        };
        let needs_memory = takes.memory > Bytes(0) || takes.pages.is_empty();
        (!needs_memory || self.free >= takes.memory) && takes.pages.iter().all(has_pages)
    }

    /// The free pages of each size that is taken, and how many are.
    fn pages_of<'a>(
        &'a mut self,
        takes: &'a Take,
    ) -> impl Iterator<Item = (&'a mut i64, i64)> + 'a {
        self.pages.iter_mut().filter_map(move |(size, free)| {
            let taken = takes.pages.iter().find(|(known, _)| known == size);
            taken.map(|(_, count)| (free, *count))
        })
    }

    /// Whether there are the CPUs that a virtual node needs: one that is shared, or those for
    /// itself beside one that is left to whoever shares CPUs here.
    fn has_cpus(&self, node: &Node) -> bool {
        let needed = match node.shares_cpus {
            true => i64::from(!self.is_shared_by_members),
            false if node.own_cpus > 0 => {
                let left_to_share = i64::from(self.sharers > 0);
                node.own_cpus.saturating_add(left_to_share)
            }
            false => 0,
        };
        self.free_cpus.is_none_or(|free| free >= needed)
    }

    /// Takes what a virtual node needs, if there is enough.
    fn take(&mut self, node: &Node) -> bool {
        if !self.has_cpus(node) || !self.has(&node.takes) {
            return false;
        }
        self.free.0 = self.free.0.saturating_sub(node.takes.memory.0);
        for (free, count) in self.pages_of(&node.takes) {
            *free = free.saturating_sub(count);
        }
        self.free_cpus = self.free_cpus.map(|free| free - node.own_cpus);
        self.sharers = self.sharers.saturating_add(i64::from(node.shares_cpus));
        true
    }

    /// The reverse of [`take`](Self::take).
    fn take_back(&mut self, node: &Node) {
        self.give_back(&node.takes, node.own_cpus);
        self.sharers = self.sharers.saturating_sub(i64::from(node.shares_cpus));
    }

    fn give_back(&mut self, takes: &Take, own_cpus: i64) {
        self.free_cpus = self.free_cpus.map(|free| free.saturating_add(own_cpus));
        self.free.0 = self.free.0.saturating_add(takes.memory.0);
        for (free, count) in self.pages_of(takes) {
            *free = free.saturating_add(count);
        }
    }

    /// What is free, as numbers.
    fn left(&self) -> impl Iterator<Item = i64> {
        let pages = self.pages.iter().map(|(_, free)| *free);
        let cpus = self.free_cpus.unwrap_or_default();
        [self.free.0, cpus, i64::from(self.sharers > 0)]
            .into_iter()
            .chain(pages)
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
                    self.place(node.allowed[last])?.take_back(node);
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
            place.is_some_and(|place| node.runs_on(place) && place.take(node))
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
