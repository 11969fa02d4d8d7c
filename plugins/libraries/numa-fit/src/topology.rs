//! The CPU threads of a host, and which of them are held by VMs.

use placewright_sdk::prelude::*;

/// A CPU thread of a host: a row of `hosts/cpus`.
#[derive(Row)]
pub struct CpuOfHost {
    /// Number of the thread.
    pub cpu: i64,
    /// Number of its socket.
    pub socket: Option<i64>,
    /// Number of its core in the socket.
    pub core: Option<i64>,
    /// Number of its NUMA node.
    pub numa: Option<i64>,
    /// Whether it is online; so, if that is not known.
    pub online: Option<bool>,
    /// Whether a VM has it for itself.
    pub exclusive: Option<bool>,
}

/// A VM that runs on the host or has a place reserved there: a row of `hosts/vms`.
#[derive(Row)]
pub struct VmOnHost {
    /// Whether it has CPUs of its own.
    pub exclusive: bool,
    /// The CPUs that it is pinned to.
    #[table("pins")]
    pub pins: Rows<PinOnHost>,
}

/// A CPU that a VM on the host is pinned to.
#[derive(Row)]
pub struct PinOnHost {
    /// Number of the thread.
    pub cpu: i64,
}

/// A CPU that a VM to be placed is pinned to on the host where it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldPin {
    /// Number of the thread.
    pub cpu: i64,
    /// Whether the VM has it for itself.
    pub exclusive: bool,
}

/// Who holds a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hold {
    /// Nobody in particular: all that is not pinned runs on it.
    #[default]
    Free,
    /// VMs are pinned to it, and others run on it too.
    Shared,
    /// A VM has it for itself.
    Exclusive,
}

/// A thread that is online.
#[derive(Clone, Debug, PartialEq)]
pub struct Thread {
    /// Row number in `hosts/cpus`.
    pub row: u32,
    /// Its number.
    pub cpu: i64,
    /// Number of its socket.
    pub socket: i64,
    /// Number of its core in the socket.
    pub core: i64,
    /// Number of its NUMA node, if known.
    pub numa: Option<i64>,
    /// Who holds it.
    pub hold: Hold,
}

/// The threads of a host that are online, in the order in which they are listed.
///
/// Threads are told apart by their place in that order: it is what
/// [`Topology::threads`] is indexed by.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology(Vec<Thread>);

impl Topology {
    /// The threads of a host, held by the VMs there, pending ones included.
    pub fn of_host(cpus: &Rows<CpuOfHost>, vms: &Rows<VmOnHost>) -> Self {
        Self::without(cpus, vms, Vec::new())
    }

    /// The same without what VMs to be placed hold there: that is theirs to be given out anew.
    pub fn without(cpus: &Rows<CpuOfHost>, vms: &Rows<VmOnHost>, mut held: Vec<HeldPin>) -> Self {
        let is_held = |cpu: i64| held.iter().any(|pin| pin.exclusive && pin.cpu == cpu);
        let online = cpus.numbered().filter(|(_, cpu)| cpu.online != Some(false));
        let thread = |(row, cpu): (u32, CpuOfHost)| Thread {
            row,
            cpu: cpu.cpu,
            socket: cpu.socket.unwrap_or(0),
            // Where cores are not known, each thread counts as one.
            core: cpu.core.unwrap_or(cpu.cpu),
            numa: cpu.numa,
            hold: match cpu.exclusive {
                Some(true) if !is_held(cpu.cpu) => Hold::Exclusive,
                _ => Hold::Free,
            },
        };
        let mut topology = Self(online.map(thread).collect());
        for vm in vms {
            let hold = if vm.exclusive {
                Hold::Exclusive
            } else {
                Hold::Shared
            };
            for pin in &vm.pins {
                let pin = HeldPin {
                    cpu: pin.cpu,
                    exclusive: vm.exclusive,
                };
                match held.iter().position(|known| *known == pin) {
                    Some(place) => drop(held.swap_remove(place)),
                    None => topology.hold(pin.cpu, hold),
                }
            }
        }
        topology
    }

    /// The threads.
    pub fn threads(&self) -> &[Thread] {
        &self.0
    }

    /// Is nothing known of the host's threads?
    pub fn is_unknown(&self) -> bool {
        self.0.is_empty()
    }

    /// Is the CPU of this number online, and may several VMs run on it?
    pub fn can_be_shared(&self, cpu: i64) -> bool {
        let mut threads = self.0.iter();
        threads.any(|thread| thread.cpu == cpu && thread.hold != Hold::Exclusive)
    }

    /// Is the CPU of this number online, and nobody pinned to it?
    pub fn can_be_own(&self, cpu: i64) -> bool {
        let mut threads = self.0.iter();
        threads.any(|thread| thread.cpu == cpu && thread.hold == Hold::Free)
    }

    /// How many threads VMs have for themselves.
    pub fn exclusive_threads(&self) -> usize {
        let held = self.0.iter();
        held.filter(|thread| thread.hold == Hold::Exclusive).count()
    }

    /// How many CPUs are not to be had by VMs that share: threads if these count as
    /// CPUs, else cores of which no thread can be shared.
    pub fn unshared_cpus(&self, threads_as_cores: bool) -> usize {
        if threads_as_cores {
            return self.exclusive_threads();
        }
        let cores = self.sockets().into_iter().flat_map(|socket| {
            let cores = self.cores(socket).into_iter();
            cores.map(move |core| (socket, core))
        });
        let taken = |&(socket, core): &(i64, i64)| {
            let mut threads = self.in_core(socket, core);
            threads.all(|place| self.0[place].hold == Hold::Exclusive)
        };
        cores.filter(taken).count()
    }

    /// Lets the CPU of this number be held so; who has it exclusively keeps it.
    pub fn hold(&mut self, cpu: i64, hold: Hold) {
        for thread in self.0.iter_mut().filter(|thread| thread.cpu == cpu) {
            thread.hold = thread.hold.max(hold);
        }
    }

    /// Whether this NUMA node has threads that no VM has for itself.
    pub fn has_cpus_to_share(&self, node: i64) -> bool {
        let mut threads = self.0.iter();
        threads.any(|thread| thread.numa == Some(node) && thread.hold != Hold::Exclusive)
    }

    /// Leaves a thread of this NUMA node to VMs that share CPUs there: one that is shared by now,
    /// or else the last free one, of a core with the fewest of these. Whether there is one.
    pub fn leave_to_share(&mut self, node: i64) -> bool {
        let mut here = self.0.iter().filter(|thread| thread.numa == Some(node));
        here.any(|thread| thread.hold == Hold::Shared) || self.leave(node, Hold::Shared)
    }

    /// Leaves so many threads of this NUMA node to VMs that have CPUs of it for themselves, of
    /// which the numbers are not known. Whether there are as many.
    pub fn leave_to_owners(&mut self, node: i64, count: usize) -> bool {
        (0..count).all(|_| self.leave(node, Hold::Exclusive))
    }

    /// Leaves the last free thread of this NUMA node, of a core with the fewest of these. Whether
    /// there is one.
    fn leave(&mut self, node: i64, hold: Hold) -> bool {
        let free_in_core = |place: &usize| {
            let thread = &self.0[*place];
            let threads = self.in_core(thread.socket, thread.core);
            threads.filter(|place| self.is_free(*place)).count()
        };
        let here = |place: &usize| self.0[*place].numa == Some(node) && self.is_free(*place);
        let free = (0..self.0.len()).rev().filter(here);
        let found = free.min_by_key(free_in_core);
        if let Some(place) = found {
            self.0[place].hold = hold;
        }
        found.is_some()
    }

    /// Free threads of this NUMA node.
    pub fn free_on(&self, node: i64) -> usize {
        let here = self.0.iter().filter(|thread| thread.numa == Some(node));
        here.filter(|thread| thread.hold == Hold::Free).count()
    }

    /// The NUMA node of the CPU of this number, if it is online and the node is known.
    pub fn node_of(&self, cpu: i64) -> Option<i64> {
        self.0.iter().find(|thread| thread.cpu == cpu)?.numa
    }

    /// Lets a VM have this thread for itself.
    pub(crate) fn take(&mut self, place: usize) {
        if let Some(thread) = self.0.get_mut(place) {
            thread.hold = Hold::Exclusive;
        }
    }

    /// The sockets, in the order of their first threads.
    pub fn sockets(&self) -> Vec<i64> {
        in_order(self.0.iter().map(|thread| thread.socket))
    }

    /// The cores of a socket, in the order of their first threads.
    pub(crate) fn cores(&self, socket: i64) -> Vec<i64> {
        let threads = self.0.iter().filter(|thread| thread.socket == socket);
        in_order(threads.map(|thread| thread.core))
    }

    /// The places of the threads of a core.
    pub(crate) fn in_core(&self, socket: i64, core: i64) -> impl Iterator<Item = usize> {
        let threads = (0..).zip(&self.0);
        threads
            .filter(move |(_, thread)| thread.socket == socket && thread.core == core)
            .map(|(place, _)| place)
    }

    /// Is nobody pinned to the thread of this place?
    pub(crate) fn is_free(&self, place: usize) -> bool {
        self.0[place].hold == Hold::Free
    }

    /// How many threads of a socket nobody is pinned to.
    pub(crate) fn free_in_socket(&self, socket: i64) -> usize {
        let threads = self.0.iter().filter(|thread| thread.socket == socket);
        threads.filter(|thread| thread.hold == Hold::Free).count()
    }

    /// Does the socket have threads in this NUMA node?
    pub(crate) fn socket_has_node(&self, socket: i64, node: i64) -> bool {
        let mut threads = self.0.iter();
        threads.any(|thread| thread.socket == socket && thread.numa == Some(node))
    }
}

/// Each value once, in the order in which they first come.
fn in_order(values: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut once = Vec::new();
    for value in values {
        if !once.contains(&value) {
            once.push(value);
        }
    }
    once
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two threads in each of so many cores of one socket, numbered in order.
    fn cpus(cores: i64) -> Rows<CpuOfHost> {
        let cpu = |cpu| CpuOfHost {
            cpu,
            socket: Some(0),
            core: Some(cpu / 2),
            numa: Some(0),
            online: None,
            exclusive: None,
        };
        (0..2 * cores).map(cpu).collect()
    }

    fn vm(exclusive: bool, cpus: &[i64]) -> VmOnHost {
        VmOnHost {
            exclusive,
            pins: cpus.iter().map(|&cpu| PinOnHost { cpu }).collect(),
        }
    }

    #[test]
    fn vms_hold_the_threads_that_they_are_pinned_to() {
        let vms = vec![vm(false, &[0, 1]), vm(true, &[1, 2])].into();
        let topology = Topology::of_host(&cpus(2), &vms);
        let holds: Vec<_> = topology.threads().iter().map(|it| it.hold).collect();
        use Hold::{Exclusive, Free, Shared};
        assert_eq!(holds, [Shared, Exclusive, Exclusive, Free]);
        assert!(topology.can_be_shared(0) && !topology.can_be_shared(1));
    }

    #[test]
    fn what_a_vm_to_be_placed_holds_is_not_held_by_others() {
        let vms = vec![vm(true, &[0, 1]), vm(false, &[2]), vm(false, &[2])].into();
        let held = [(0, true), (1, true), (2, false)];
        let held = held.map(|(cpu, exclusive)| HeldPin { cpu, exclusive });
        let own = |cpu: CpuOfHost| CpuOfHost {
            exclusive: Some(cpu.cpu < 2),
            ..cpu
        };
        let topology = Topology::without(&cpus(2).iter().map(own).collect(), &vms, held.into());
        let holds: Vec<_> = topology.threads().iter().map(|it| it.hold).collect();
        use Hold::{Free, Shared};
        assert_eq!(holds, [Free, Free, Shared, Free]);
        assert!(topology.can_be_own(0) && !topology.can_be_own(2));
    }

    #[test]
    fn threads_that_are_offline_are_not_there() {
        let second_only = |cpu: CpuOfHost| CpuOfHost {
            online: Some(cpu.cpu == 1),
            ..cpu
        };
        let cpus = cpus(1).iter().map(second_only).collect();
        let topology = Topology::of_host(&cpus, &Rows::default());
        assert!(topology.can_be_shared(1) && !topology.can_be_shared(0));
        assert_eq!(topology.threads()[0].row, 1);
    }

    #[test]
    fn a_core_counts_as_taken_when_all_its_threads_are() {
        let vms = vec![vm(true, &[0, 1, 2])].into();
        let topology = Topology::of_host(&cpus(4), &vms);
        assert_eq!(topology.unshared_cpus(true), 3);
        assert_eq!(topology.unshared_cpus(false), 1);
    }
}
