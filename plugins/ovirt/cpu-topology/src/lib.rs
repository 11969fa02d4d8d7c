//! CPU topology: keeps the hosts whose sockets, cores and threads are known and suit
//! VMs that are pinned.

#![forbid(unsafe_code)]

use numa_fit::pinning::Pinning;
use placewright_sdk::prelude::*;

/// What is read of the VM to be placed.
#[derive(Row)]
struct Vm {
    pinning: Option<Text>,
    threads: i64,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[column("cpu.sockets")]
    sockets: Option<i64>,
    #[column("cpu.cores")]
    cores: Option<i64>,
    #[column("cpu.threads")]
    threads: Option<i64>,
    #[table("numa-nodes")]
    nodes: Rows<Node>,
}

/// A NUMA node; only how many there are is of interest.
#[derive(Row)]
struct Node {
    index: i64,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// has no known CPU topology
    Unknown,
    /// has a single core in each socket, and a VM that is resized and pinned needs more
    SingleCores,
    /// has not as many NUMA nodes as sockets, which a VM that is resized and pinned needs
    NodesUnlikeSockets,
    /// has fewer threads in a core than the VM with CPUs of its own
    TooFewThreads,
}

/// What the VM needs of a topology.
#[derive(Clone, Copy)]
struct Need {
    pinning: Option<Pinning>,
    threads: i64,
}

struct CpuTopology;

impl RowWise for CpuTopology {
    type Request = Vm;
    type Host = Host;
    type Settings = ();
    type Reason = Reason;
    type Need = Need;

    fn prepare(vm: &Vm, (): &()) -> Result<Need, Problem> {
        Ok(Need {
            pinning: Pinning::named(vm.pinning.as_deref()),
            threads: vm.threads,
        })
    }
}

impl RowFilter for CpuTopology {
    fn keep(need: &Need, host: &Host) -> Verdict<Reason> {
        let (Some(sockets), Some(cores), Some(threads)) = (host.sockets, host.cores, host.threads)
        else {
            return Verdict::Remove(Reason::Unknown);
        };
        match need.pinning {
            Some(Pinning::ResizeAndPin) => {
                let several = cores.checked_div(sockets).unwrap_or(0) > 1;
                let nodes = i64::try_from(host.nodes.len()).unwrap_or(i64::MAX);
                Verdict::keep_if(several, Reason::SingleCores)
                    .and(|| Verdict::keep_if(sockets == nodes, Reason::NodesUnlikeSockets))
            }
            Some(Pinning::Dedicated) => {
                let in_core = threads.checked_div(cores).unwrap_or(0);
                Verdict::keep_if(in_core >= need.threads, Reason::TooFewThreads)
            }
            _ => Verdict::Keep,
        }
    }
}

placewright_sdk::export!(
    CpuTopology: filter,
    aliases = ["CPUTopology", "35c2f1a5-8928-48e9-81ac-4c49eb49d60e"]
);

#[cfg(test)]
mod tests {
    use super::*;

    fn host(sockets: i64, cores: i64, threads: i64, nodes: i64) -> Host {
        Host {
            sockets: Some(sockets),
            cores: Some(cores),
            threads: Some(threads),
            nodes: (0..nodes).map(|index| Node { index }).collect(),
        }
    }

    fn keep(pinning: Option<&str>, threads: i64, host: &Host) -> Verdict<Reason> {
        let vm = Vm {
            pinning: pinning.map(Text::from),
            threads,
        };
        CpuTopology::keep(&CpuTopology::prepare(&vm, &()).expect("fine"), host)
    }

    #[test]
    fn all_of_the_topology_must_be_known() {
        let known = host(1, 4, 8, 1);
        assert_eq!(keep(None, 4, &known), Verdict::Keep);
        for unknown in [
            Host {
                sockets: None,
                ..host(1, 4, 8, 1)
            },
            Host {
                cores: None,
                ..host(1, 4, 8, 1)
            },
            Host {
                threads: None,
                ..host(1, 4, 8, 1)
            },
        ] {
            assert_eq!(keep(None, 1, &unknown), Verdict::Remove(Reason::Unknown));
        }
    }

    #[test]
    fn resized_vms_need_several_cores_and_a_node_in_each_socket() {
        let keep = |host| keep(Some("resize-and-pin"), 1, &host);
        assert_eq!(keep(host(2, 4, 8, 2)), Verdict::Keep);
        let single = Verdict::Remove(Reason::SingleCores);
        assert_eq!(keep(host(2, 2, 4, 2)), single);
        assert_eq!(keep(host(2, 3, 3, 2)), single);
        assert_eq!(keep(host(0, 0, 0, 0)), single);
        let unlike = Verdict::Remove(Reason::NodesUnlikeSockets);
        assert_eq!(keep(host(2, 4, 8, 1)), unlike);
    }

    #[test]
    fn a_dedicated_core_has_as_many_threads_as_the_virtual_one() {
        let keep = |threads, host| keep(Some("dedicated"), threads, &host);
        assert_eq!(keep(2, host(1, 4, 8, 1)), Verdict::Keep);
        let too_few = Verdict::Remove(Reason::TooFewThreads);
        assert_eq!(keep(2, host(1, 4, 4, 1)), too_few);
        assert_eq!(keep(1, host(1, 0, 0, 1)), too_few);
    }

    #[test]
    fn isolated_threads_have_cores_enough_in_any_topology() {
        assert_eq!(
            keep(Some("isolate-threads"), 2, &host(1, 4, 4, 1)),
            Verdict::Keep
        );
    }
}
