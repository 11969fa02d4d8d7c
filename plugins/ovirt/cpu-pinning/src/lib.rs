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
use numa_fit::nodes::{NodeOfHost, VmNode};
use numa_fit::topology::{CpuOfHost, HeldPin, Hold, Thread, Topology, VmOnHost};
use placewright_sdk::prelude::*;

use request::{Asked, Divided, Layout, Pin, Pinned, Vm};

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

/// A member that runs on the host now, and the CPUs that it holds there.
#[derive(Row)]
struct Current {
    member: i64,
    holds: bool,
    sockets: i64,
    cores: i64,
    threads: i64,
    vcpus: i64,
    exclusive: bool,
    pinning: Option<Text>,
    #[table("pins")]
    pins: Rows<Pin>,
    #[table("numa-nodes")]
    nodes: Rows<VmNode>,
}

impl Current {
    /// Has the VM all CPUs here that it asks for, and as it asks for them?
    fn has_cpus_of(&self, vm: &Pinned) -> bool {
        let is_pinned_to = |cpu: &i64| self.pins.iter().any(|pin| pin.cpu == *cpu);
        self.holds
            && vm.vcpus <= self.vcpus
            && (self.exclusive || !vm.exclusive)
            && (vm.wish.is_none() || self.grants(vm))
            && vm.cpus.iter().all(is_pinned_to)
    }

    /// What it has of nodes here, if it is pinned to no CPUs of its own.
    fn divided(&self) -> Option<Divided> {
        let is_numbered = self.exclusive && !self.pins.is_empty();
        match self.holds && !is_numbered {
            true => Divided::of(self.member, self.exclusive, self.vcpus, &self.nodes),
            false => None,
        }
    }

    /// Are the CPUs that the VM was given for itself where it wants them by now: on the cores,
    /// sockets and nodes that suit it? The server ends the old ones by the same rule.
    fn grants(&self, vm: &Pinned) -> bool {
        let layout = Layout::of(self.sockets, self.threads, &self.nodes);
        // Other numbers of vCPUs are shared out to several nodes otherwise.
        let is_shared_out_alike = layout.nodes.len() < 2 || vm.vcpus == self.vcpus;
        vm.pinning == self.pinning && vm.layout == layout && is_shared_out_alike
    }
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// has no known CPUs
    UnknownCpus,
    /// has not all CPUs online and unclaimed that the VM is pinned to
    PinnedCpuMissing,
    /// has other VMs on CPUs that the VM is pinned to and is to have for itself
    PinnedCpuShared,
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
    type Need = Asked;

    fn prepare(request: &Request, (): &()) -> Result<Asked, Problem> {
        Ok(request::asked(&request.vms))
    }
}

impl RowFilter for CpuPinning {
    fn keep(asked: &Asked, host: &Host) -> Verdict<Reason> {
        match host.pin(asked) {
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

fn count(of: usize) -> i64 {
    i64::try_from(of).unwrap_or(i64::MAX)
}

impl Host {
    /// The CPUs that these members are pinned to where they run here.
    fn held_by(&self, members: impl Fn(i64) -> bool) -> Vec<HeldPin> {
        let here = self.current.iter();
        let here = here.filter(|row| row.holds && members(row.member));
        let pins = here.flat_map(|row| {
            let pin = |pin: Pin| HeldPin {
                cpu: pin.cpu,
                exclusive: row.exclusive,
            };
            row.pins.iter().map(pin).collect::<Vec<_>>()
        });
        pins.collect()
    }

    /// The nodes on which VMs share CPUs, and on which there are some: others than these members,
    /// and those that are to be placed with them.
    fn nodes_to_share(
        &self,
        topology: &Topology,
        divided: &[Divided],
        members: impl Fn(i64) -> bool,
    ) -> Vec<i64> {
        let here = self.current.iter().filter(|row| members(row.member));
        let here = here.filter_map(|row| row.divided());
        let here: Vec<Divided> = here.filter(|vm| !vm.exclusive).collect();
        let of_members: Vec<i64> = here
            .iter()
            .flat_map(Divided::alone)
            .map(|it| it.0)
            .collect();
        let to_come = divided.iter().filter(|vm| !vm.exclusive);
        let to_come: Vec<i64> = to_come.flat_map(Divided::alone).map(|it| it.0).collect();
        let is_shared = |node: &NodeOfHost| {
            let own = of_members.iter().filter(|own| **own == node.index).count();
            to_come.contains(&node.index)
                || usize::try_from(node.sharers).is_ok_and(|sharers| sharers > own)
        };
        let shared = self.nodes.iter().filter(is_shared).map(|node| node.index);
        shared
            .filter(|node| topology.has_cpus_to_share(*node))
            .collect()
    }

    /// Of each node, how many CPUs VMs have for themselves of which the numbers are not known:
    /// others than these members, and those that are to be placed with them.
    fn unnumbered(
        &self,
        topology: &Topology,
        divided: &[Divided],
        members: impl Fn(i64) -> bool,
    ) -> Vec<(i64, usize)> {
        let here: Vec<Divided> = self
            .current
            .iter()
            .filter_map(|row| row.divided())
            .collect();
        let mut of_nodes: Vec<(i64, i64)> = Vec::new();
        for node in &self.nodes {
            let taken = node.cpus_promised.saturating_add(node.cpus_pending);
            // On most hosts nobody has CPUs for itself.
            if taken == 0 {
                of_nodes.push((node.index, 0));
                continue;
            }
            let on_node = |cpu: i64| topology.node_of(cpu) == Some(node.index);
            let owners = self.vms.iter().filter(|vm| vm.exclusive);
            let pins = owners.flat_map(|vm| vm.pins.iter().collect::<Vec<_>>());
            let numbered: Vec<i64> = pins
                .map(|pin| pin.cpu)
                .filter(|cpu| on_node(*cpu))
                .collect();
            // CPUs of which it is said that VMs have them for themselves, and not which ones.
            let owned = self.cpus.iter().filter(|cpu| cpu.exclusive == Some(true));
            let owned = owned.filter(|cpu| on_node(cpu.cpu) && !numbered.contains(&cpu.cpu));
            let owned = count(owned.count()).min(node.cpus_promised);
            let held = here.iter().filter(|vm| vm.exclusive && members(vm.member));
            let held = held.flat_map(Divided::alone);
            let held = held.filter(|(on, _)| *on == node.index);
            let held: i64 = held.map(|(_, vcpus)| vcpus).sum();
            let known = [count(numbered.len()), owned, held];
            let left = known
                .iter()
                .fold(taken, |left, known| left.saturating_sub(*known));
            of_nodes.push((node.index, left.max(0)));
        }
        for vm in divided.iter().filter(|vm| vm.exclusive) {
            let mut own = here
                .iter()
                .filter(|own| own.member == vm.member && own.exclusive);
            let own = own.next().map_or(&[][..], |own| &own.nodes[..]);
            for (number, (to, vcpus)) in vm.nodes.iter().enumerate() {
                let held = own.get(number).filter(|(on, _)| on == to);
                let more = vcpus.saturating_sub(held.map_or(0, |(_, vcpus)| *vcpus));
                let room =
                    |node: &(i64, i64)| count(topology.free_on(node.0)).saturating_sub(node.1);
                let nodes = of_nodes.iter_mut().filter(|(node, _)| to.contains(node));
                if let Some(node) = nodes.max_by_key(|node| room(node)) {
                    node.1 = node.1.saturating_add(more.max(0));
                }
            }
        }
        let counts = of_nodes.into_iter();
        counts
            .map(|(node, cpus)| (node, usize::try_from(cpus).unwrap_or(usize::MAX)))
            .filter(|(_, cpus)| *cpus > 0)
            .collect()
    }

    /// Pins those of the VMs that do not run here yet with as many CPUs.
    fn pin(&self, Asked { pinned, divided }: &Asked) -> Result<Allotted, Reason> {
        let has_cpus = |vm: &Pinned| {
            let mut here = self.current.iter().filter(|row| row.member == vm.member);
            here.any(|row| row.has_cpus_of(vm))
        };
        let newcomers = || pinned.iter().filter(|vm| !has_cpus(vm));
        let is_new = |member: i64| newcomers().any(|vm| vm.member == member);
        let mut topology = Topology::without(&self.cpus, &self.vms, self.held_by(is_new));
        let (to_share, unnumbered) = match newcomers().any(|vm| vm.exclusive) {
            true => (
                self.nodes_to_share(&topology, divided, is_new),
                self.unnumbered(&topology, divided, is_new),
            ),
            false => Default::default(),
        };
        // CPUs that VMs were pinned to by name go first: they cannot be others.
        for vm in newcomers() {
            let hold = match vm.exclusive {
                true => Hold::Exclusive,
                false => Hold::Shared,
            };
            if !vm.cpus.iter().all(|cpu| topology.can_be_shared(*cpu)) {
                return Err(Reason::PinnedCpuMissing);
            }
            if vm.exclusive && !vm.cpus.iter().all(|cpu| topology.can_be_own(*cpu)) {
                return Err(Reason::PinnedCpuShared);
            }
            for cpu in &vm.cpus {
                topology.hold(*cpu, hold);
            }
        }
        let mut to_share = to_share.into_iter();
        if !to_share.all(|node| topology.leave_to_share(node)) {
            return Err(Reason::PinnedCpuShared);
        }
        let named = newcomers().filter(|vm| vm.exclusive);
        let named: Vec<i64> = named.flat_map(|vm| vm.cpus.iter().copied()).collect();
        for (node, cpus) in unnumbered {
            let has_enough = topology.leave_to_owners(node, cpus);
            // Where there are too few without the VM, it takes none of them.
            let mut named = named.iter().map(|cpu| topology.node_of(*cpu));
            if !has_enough && named.any(|on| on == Some(node)) {
                return Err(Reason::PinnedCpuShared);
            }
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
