//! NUMA node fit: a VM without NUMA nodes of its own runs best inside one node of its
//! host, so hosts of which no node has room for all of it cost more.
//!
//! Room means that the VM would fit if the node were empty: what runs there now will
//! not be there for good.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of each VM to be placed.
#[derive(Row)]
struct Vm {
    memory: Bytes,
    vcpus: i64,
    #[table("numa-nodes")]
    nodes: Rows<VmNode>,
}

/// A virtual NUMA node of the VM.
#[derive(Row)]
struct VmNode {}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[table("numa-nodes")]
    nodes: Rows<HostNode>,
    #[table("cpus")]
    cpus: Rows<Cpu>,
}

/// A NUMA node of a host.
#[derive(Row)]
struct HostNode {
    index: i64,
    #[column("memory.total")]
    memory: Bytes,
}

/// A CPU thread of a host.
#[derive(Row)]
struct Cpu {
    numa: Option<i64>,
}

impl Host {
    fn cpus_of(&self, node: i64) -> i64 {
        let cpus = self.cpus.iter().filter(|cpu| cpu.numa == Some(node));
        cpus.count() as i64
    }
}

const FITS: f64 = 1.0;
const DOES_NOT_FIT: f64 = 1000.0;

/// The memory and CPUs that one node must have; none if the VM has nodes itself.
struct Need(Option<(Bytes, i64)>);

struct NumaNodeFit;

impl RowWise for NumaNodeFit {
    type Request = Vm;
    type Host = Host;
    type Settings = ();
    type Reason = ();
    type Need = Need;

    fn prepare(vm: &Vm, (): &()) -> Result<Need, Problem> {
        Ok(Need(vm.nodes.is_empty().then_some((vm.memory, vm.vcpus))))
    }
}

impl RowCost for NumaNodeFit {
    fn cost(Need(need): &Need, host: &Host) -> f64 {
        let Some((memory, vcpus)) = need else {
            return FITS;
        };
        let has_room =
            |node: HostNode| node.memory >= *memory && host.cpus_of(node.index) >= *vcpus;
        if host.nodes.is_empty() || host.nodes.iter().any(has_room) {
            FITS
        } else {
            DOES_NOT_FIT
        }
    }
}

placewright_sdk::export!(
    NumaNodeFit: cost_function,
    aliases = [
        "Fit VM to single host NUMA node",
        "f58c1cb9-d91f-48a6-a196-c6d22fb10c4e",
    ]
);

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes are (memory in GiB, CPUs).
    fn cost(own_nodes: usize, nodes: &[(i64, i64)]) -> f64 {
        let vm = Vm {
            memory: Bytes::gib(4),
            vcpus: 2,
            nodes: (0..own_nodes).map(|_| VmNode {}).collect(),
        };
        let numbered = || (0..).zip(nodes);
        let node = |(index, (gib, _)): (i64, &(i64, i64))| HostNode {
            index,
            memory: Bytes::gib(*gib),
        };
        let cpus = |(index, (_, cpus)): (i64, &(i64, i64))| {
            let cpu = move |_| Cpu { numa: Some(index) };
            (0..*cpus).map(cpu)
        };
        let host = Host {
            nodes: numbered().map(node).collect(),
            cpus: numbered().flat_map(cpus).collect(),
        };
        let need = NumaNodeFit::prepare(&vm, &()).expect("nothing is refused");
        NumaNodeFit::cost(&need, &host)
    }

    #[test]
    fn one_node_must_have_the_memory_and_the_cpus() {
        assert_eq!(cost(0, &[(1, 1), (4, 2)]), 1.0);
        assert_eq!(cost(0, &[(4, 1), (3, 2)]), 1000.0);
    }

    #[test]
    fn hosts_without_nodes_and_vms_with_nodes_fit() {
        assert_eq!(cost(0, &[]), 1.0);
        assert_eq!(cost(2, &[(1, 1)]), 1.0);
    }
}
