//! NUMA pinning: hosts on which the virtual NUMA nodes of the VMs cannot lie where they
//! are pinned to, together with the vCPUs that are pinned, cost more.
//!
//! VMs that would only rather have their nodes there (mode `preferred`) do not count.

#![forbid(unsafe_code)]

use numa_fit::nodes::{
    Current, HeldNodes, Node, NodeOfHost, PagesOfNode, Place, PromisedPages, VmNode, VmPages,
    assign, vcpus_of_node,
};
use placewright_sdk::prelude::*;

/// What is read of each VM to be placed.
#[derive(Row)]
struct Vm {
    vcpus: i64,
    exclusive: bool,
    #[table("numa-nodes")]
    nodes: Rows<VmNode>,
    #[table("huge-pages")]
    pages: Rows<VmPages>,
    #[table("pins")]
    pins: Rows<Pin>,
}

/// A vCPU that is pinned.
#[derive(Row)]
struct Pin {
    vcpu: i64,
    cpu: i64,
}

impl Vm {
    /// Its nodes, if all of them must lie where they are pinned to.
    fn strict_nodes(&self) -> Vec<Node> {
        let is_preferred = |node: VmNode| node.mode.as_deref() == Some("preferred");
        if self.nodes.iter().any(is_preferred) {
            return Vec::new();
        }
        let mut nodes = Node::of_vm(&self.nodes, &self.pages, (self.vcpus, self.exclusive));
        let count = i64::try_from(nodes.len()).unwrap_or(i64::MAX);
        for (number, node) in (0..).zip(&mut nodes) {
            node.pins = self.pins_of(vcpus_of_node(number, count, self.vcpus));
        }
        nodes
    }

    /// For each of these vCPUs that is pinned, its CPUs.
    fn pins_of(&self, vcpus: std::ops::Range<i64>) -> Vec<Vec<i64>> {
        let mut pins: Vec<(i64, Vec<i64>)> = Vec::new();
        for pin in self.pins.iter().filter(|pin| vcpus.contains(&pin.vcpu)) {
            match pins.iter_mut().find(|(vcpu, _)| *vcpu == pin.vcpu) {
                Some((_, cpus)) => cpus.push(pin.cpu),
                None => pins.push((pin.vcpu, vec![pin.cpu])),
            }
        }
        pins.into_iter().map(|(_, cpus)| cpus).collect()
    }
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
    #[table("cpus")]
    cpus: Rows<Cpu>,
    #[table("current")]
    current: Rows<Current>,
}

/// A CPU thread of a host.
#[derive(Row)]
struct Cpu {
    cpu: i64,
    numa: Option<i64>,
}

impl Host {
    fn places(&self) -> Vec<Place> {
        let mut places = Place::of_host(&self.nodes, &self.pages, &self.promised_pages);
        for place in &mut places {
            let here = self.cpus.iter().filter(|cpu| cpu.numa == Some(place.index));
            place.cpus = here.map(|cpu| cpu.cpu).collect();
        }
        places
    }
}

const FITS: f64 = 1.0;
const DOES_NOT_FIT: f64 = 1000.0;

/// The numbers of the members whose nodes count, and the nodes; no members if no node
/// is pinned.
struct Need(Vec<(i64, Vec<Node>)>);

struct NumaPinning;

impl RowWise for NumaPinning {
    type Request = Request;
    type Host = Host;
    type Settings = ();
    type Reason = ();
    type Need = Need;

    fn prepare(request: &Request, (): &()) -> Result<Need, Problem> {
        let members = (0..).zip(&request.vms);
        let nodes = members.map(|(member, vm)| (member, vm.strict_nodes()));
        let mut need: Vec<_> = nodes.filter(|(_, nodes)| !nodes.is_empty()).collect();
        let mut all = need.iter().flat_map(|(_, nodes)| nodes);
        if all.all(|node| node.allowed.is_empty()) {
            need.clear();
        }
        Ok(Need(need))
    }
}

impl RowCost for NumaPinning {
    const RANGE: Option<(f64, f64)> = Some((FITS, DOES_NOT_FIT));

    fn cost(Need(need): &Need, host: &Host) -> f64 {
        if need.is_empty() {
            return FITS;
        }
        if host.nodes.is_empty() {
            return DOES_NOT_FIT;
        }
        let held = HeldNodes::of(&host.current);
        let others = || {
            need.iter()
                .filter(|(member, nodes)| !held.are(*member, nodes))
        };
        let nodes: Vec<Node> = others().flat_map(|(_, nodes)| nodes).cloned().collect();
        let mut places = host.places();
        held.give_back(&mut places, |member| {
            others().any(|(other, _)| *other == member)
        });
        if nodes.is_empty() || assign(&nodes, places).is_some() {
            FITS
        } else {
            DOES_NOT_FIT
        }
    }
}

placewright_sdk::export!(
    NumaPinning: cost_function,
    aliases = [
        "CPU and NUMA pinning compatibility",
        "1b14ac11-20e9-4593-a149-2eb83c60a330",
    ]
);

#[cfg(test)]
mod tests;
