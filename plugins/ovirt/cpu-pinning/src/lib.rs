//! CPU pinning: keeps the hosts that have the CPUs that VMs are pinned to, and CPUs
//! to spare for VMs that want them for themselves.
//!
//! Which CPUs a VM gets for itself is decided with its place (`pins`), and can be
//! asked about beforehand (`facts`).

#![forbid(unsafe_code)]

mod facts;
mod pins;
mod request;

use numa_fit::exclusive::{self, Lot};
use numa_fit::nodes::NodeOfHost;
use numa_fit::topology::{CpuOfHost, Hold, Thread, Topology, VmOnHost};
use placewright_sdk::prelude::*;

use request::{Pinned, Vm};

/// All VMs that are to be placed together on one host.
#[derive(Request)]
struct Request {
    #[table("members")]
    vms: Rows<Vm>,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[table("cpus")]
    cpus: Rows<CpuOfHost>,
    #[table("numa-nodes")]
    nodes: Rows<NodeOfHost>,
    #[table("vms")]
    vms: Rows<VmOnHost>,
    #[table("current")]
    current: Rows<Current>,
}

/// A member that runs on the host now.
#[derive(Row)]
struct Current {
    member: i64,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// has no known CPUs
    UnknownCpus,
    /// has not all CPUs online and unclaimed that the VM is pinned to
    PinnedCpuMissing,
    /// has too few CPUs left that the VM could have for itself
    TooFewToSpare,
    /// has CPUs that VMs have for themselves, which a VM that is resized and pinned cannot spare
    ResizedBesideExclusive,
}

struct CpuPinning;

impl RowWise for CpuPinning {
    type Request = Request;
    type Host = Host;
    type Settings = ();
    type Reason = Reason;
    type Need = Vec<Pinned>;

    fn prepare(request: &Request, (): &()) -> Result<Vec<Pinned>, Problem> {
        Ok(request::pinned(&request.vms))
    }
}

impl RowFilter for CpuPinning {
    fn keep(pinned: &Vec<Pinned>, host: &Host) -> Verdict<Reason> {
        match host.pin(pinned) {
            Ok(_) => Verdict::Keep,
            Err(reason) => Verdict::Remove(reason),
        }
    }
}

/// CPUs that VMs get for themselves.
struct Allotted {
    topology: Topology,
    /// Each VM by its number among the members, with a lot for each of its vCPUs.
    lots: Vec<(i64, Vec<Lot>)>,
}

/// A thread that a VM gets for itself.
struct Own<'a> {
    /// The VM's number among the members.
    member: i64,
    vcpu: i64,
    thread: &'a Thread,
}

impl Allotted {
    /// The threads, VM by VM and vCPU by vCPU.
    fn own_cpus(&self) -> impl Iterator<Item = Own<'_>> {
        let of_vm = |(member, lots): &'_ (i64, Vec<Lot>)| {
            let member = *member;
            let vcpus = (0..).zip(lots.clone());
            vcpus.flat_map(move |(vcpu, lot)| {
                lot.into_iter().map(move |place| (member, vcpu, place))
            })
        };
        let places = self.lots.iter().flat_map(of_vm);
        places.filter_map(|(member, vcpu, place)| {
            let thread = self.topology.threads().get(place)?;
            Some(Own {
                member,
                vcpu,
                thread,
            })
        })
    }
}

impl Host {
    /// Pins those of the VMs that do not run here yet.
    fn pin(&self, pinned: &[Pinned]) -> Result<Allotted, Reason> {
        let runs_here = |vm: i64| self.current.iter().any(|row| row.member == vm);
        let newcomers = || pinned.iter().filter(|vm| !runs_here(vm.member));
        let mut topology = Topology::of_host(&self.cpus, &self.vms);
        // CPUs that VMs were pinned to by name go first: they cannot be others.
        for cpu in newcomers().flat_map(|vm| &vm.cpus) {
            if !topology.can_be_shared(*cpu) {
                return Err(Reason::PinnedCpuMissing);
            }
            topology.hold(*cpu, Hold::Shared);
        }
        let mut lots = Vec::new();
        for vm in newcomers() {
            let Some(wish) = &vm.wish else { continue };
            if topology.is_unknown() {
                return Err(Reason::UnknownCpus);
            }
            let allotted = exclusive::allot(&mut topology, wish, &self.nodes);
            lots.push((vm.member, allotted.ok_or(Reason::TooFewToSpare)?));
        }
        if newcomers().any(|vm| vm.resized) && topology.exclusive_threads() > 0 {
            return Err(Reason::ResizedBesideExclusive);
        }
        Ok(Allotted { topology, lots })
    }
}

placewright_sdk::export!(
    CpuPinning: filter, effects, explain,
    aliases = ["CpuPinning", "6d636bf6-a35c-4f9d-b68d-0731f731cddc"]
);

#[cfg(test)]
mod tests;
