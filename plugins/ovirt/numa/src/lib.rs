//! NUMA: keeps the hosts on whose NUMA nodes all pinned virtual nodes of the VMs
//! find memory and huge pages at the same time.
//!
//! Nodes in the mode `interleave` are treated like strict ones.

#![forbid(unsafe_code)]

mod facts;

use numa_fit::nodes::{
    self, Current, HeldNodes, Node, NodeOfHost, PagesOfNode, Place, PromisedPages, VmNode, VmPages,
};
use numa_fit::pinning::Pinning;
use placewright_sdk::prelude::*;

/// What is read of each VM to be placed.
#[derive(Row)]
struct Vm {
    pinning: Option<Text>,
    vcpus: i64,
    exclusive: bool,
    #[table("numa-nodes")]
    nodes: Rows<VmNode>,
    #[table("huge-pages")]
    pages: Rows<VmPages>,
}

/// All VMs that are to be placed together on one host.
#[derive(Request)]
struct Request {
    #[table("members")]
    vms: Rows<Vm>,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[table("numa-nodes")]
    nodes: Rows<NodeOfHost>,
    #[table("attribute.numa-huge-pages")]
    pages: Rows<PagesOfNode>,
    #[table("numa-huge-pages")]
    promised_pages: Rows<PromisedPages>,
    #[table("current")]
    current: Rows<Current>,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// has no NUMA nodes
    NoNodes,
    /// has too little memory on the NUMA nodes that the VM is pinned to
    TooLittleMemory,
    /// has too few CPUs, which no VM has for itself, on the NUMA nodes that the VM is pinned to
    TooFewCpus,
}

/// A VM with virtual nodes.
struct Divided {
    /// Its number among the members.
    member: i64,
    /// The nodes that a place is sought for, each with its number: none, if the VM
    /// only prefers the nodes that it is pinned to, or is given nodes once its host
    /// is known.
    nodes: Vec<(i64, Node)>,
    /// Whether it is given nodes once its host is known.
    is_resized: bool,
}

impl Divided {
    fn of(member: i64, vm: &Vm) -> Option<Self> {
        if vm.nodes.is_empty() && !is_resized(vm) {
            return None;
        }
        let prefers = |node: VmNode| node.mode.as_deref() == Some("preferred");
        let nodes = if vm.nodes.iter().any(prefers) {
            Vec::new()
        } else {
            let numbers = vm.nodes.iter().map(|node| node.index);
            numbers
                .zip(Node::of_vm(&vm.nodes, &vm.pages, (vm.vcpus, vm.exclusive)))
                .collect()
        };
        Some(Self {
            member,
            nodes,
            is_resized: is_resized(vm),
        })
    }
}

fn is_resized(vm: &Vm) -> bool {
    Pinning::named(vm.pinning.as_deref()) == Some(Pinning::ResizeAndPin)
}

/// The VMs with virtual nodes; empty if none of these is pinned.
struct Need(Vec<Divided>);

struct Numa;

impl RowWise for Numa {
    type Request = Request;
    type Host = Host;
    type Settings = ();
    type Reason = Reason;
    type Need = Need;

    fn prepare(request: &Request, (): &()) -> Result<Need, Problem> {
        Ok(need(&request.vms))
    }
}

fn need(vms: &Rows<Vm>) -> Need {
    let is_pinned = |vm: Vm| {
        let mut nodes = vm.nodes.iter();
        is_resized(&vm) || nodes.any(|node| !node.host_nodes.is_empty())
    };
    if !vms.iter().any(is_pinned) {
        return Need(Vec::new());
    }
    let numbered = (0..).zip(vms);
    let divided = numbered.filter_map(|(member, vm)| Divided::of(member, &vm));
    Need(divided.collect())
}

impl RowFilter for Numa {
    fn keep(need: &Need, host: &Host) -> Verdict<Reason> {
        match host.assign(need) {
            Ok(_) => Verdict::Keep,
            Err(reason) => Verdict::Remove(reason),
        }
    }
}

/// Where a virtual node would be put.
struct Assigned {
    /// The VM's number among the members.
    member: i64,
    /// Number of the virtual node.
    node: i64,
    /// Number of the host's node.
    host_node: i64,
}

impl Host {
    /// Finds nodes for those of the VMs that do not hold theirs here yet.
    fn assign(&self, need: &Need) -> Result<Vec<Assigned>, Reason> {
        let held = HeldNodes::of(&self.current);
        let has_nodes = |vm: &Divided| {
            let nodes = vm.nodes.iter().map(|(_, node)| node.clone());
            // Who only prefers nodes, or is resized, had to find some here to come as it is.
            let stays = |row: Current| {
                let is_divided = vm.is_resized || !row.nodes.is_empty();
                row.member == vm.member && row.holds && is_divided
            };
            match vm.nodes.is_empty() {
                true => self.current.iter().any(stays),
                false => held.are(vm.member, &nodes.collect::<Vec<_>>()),
            }
        };
        let newcomers: Vec<&Divided> = need.0.iter().filter(|vm| !has_nodes(vm)).collect();
        let newcomers = || newcomers.iter().copied();
        if newcomers().next().is_none() {
            return Ok(Vec::new());
        }
        if self.nodes.is_empty() {
            return Err(Reason::NoNodes);
        }
        let all = newcomers().flat_map(|vm| vm.nodes.iter().map(|node| (vm.member, node)));
        let wanted: Vec<Node> = all.clone().map(|(_, (_, node))| node.clone()).collect();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let mut places = Place::of_host(&self.nodes, &self.pages, &self.promised_pages);
        held.give_back(&mut places, |member| {
            newcomers().any(|vm| vm.member == member)
        });
        let found = match nodes::assign(&wanted, places.clone()) {
            Some(found) => found,
            None => return Err(why_not(&wanted, places)),
        };
        let assigned = |((member, (node, _)), host_node): ((i64, &(i64, Node)), Option<i64>)| {
            Some(Assigned {
                member,
                node: *node,
                host_node: host_node?,
            })
        };
        Ok(all.zip(found).filter_map(assigned).collect())
    }
}

/// What the nodes lack that the virtual ones cannot be put on.
fn why_not(wanted: &[Node], mut places: Vec<Place>) -> Reason {
    for place in &mut places {
        place.free_cpus = None;
    }
    match nodes::assign(wanted, places) {
        Some(_) => Reason::TooFewCpus,
        None => Reason::TooLittleMemory,
    }
}

placewright_sdk::export!(
    Numa: filter, explain,
    aliases = ["NUMA", "fcbfe4b1-b83e-4428-b9d3-b3d348b93be6"]
);

#[cfg(test)]
mod tests;
