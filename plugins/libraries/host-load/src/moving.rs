//! VMs that are better moved to another host.
//!
//! A [`Cluster`] holds the hosts that may give or take VMs, with their loads. A
//! unit chooses sources and destinations among them, by load and by memory, and
//! [`Cluster::moves`] finds the VMs.

use placewright_sdk::prelude::*;

use crate::cpu::{Counting, Cpu, Shared};
use crate::load::{Load, count};

/// What is read of the request: balancing has nothing but the time.
#[derive(Row)]
pub struct Now {
    /// When the proposals are made.
    pub now: Seconds,
}

/// What is read of a host.
#[derive(Row)]
pub struct Host {
    /// `up`, or another state, in which it has no part in moves.
    pub state: Text,
    /// CPU cores of all sockets.
    #[column("cpu.cores")]
    pub cores: Option<i64>,
    /// CPU threads of all cores.
    #[column("cpu.threads")]
    pub threads: Option<i64>,
    /// CPU that it has.
    #[column("cpu.total")]
    pub cpu: Millicores,
    /// Measured share of its CPU in use.
    #[column("cpu.usage")]
    pub usage: Option<f64>,
    /// CPUs that VMs here have for themselves.
    #[column("cpu.exclusive")]
    pub exclusive: i64,
    /// vCPUs of the VMs here that share CPUs.
    pub vcpus: i64,
    /// Physical memory.
    #[column("memory.total")]
    pub memory: Bytes,
    /// Memory that the host keeps for itself.
    #[column("memory.reserved")]
    pub memory_reserved: Bytes,
    /// How much of its memory may be promised.
    #[column("memory.overcommit")]
    pub memory_overcommit: f64,
    /// Memory promised to the VMs here.
    #[column("memory.committed")]
    pub memory_committed: Bytes,
    /// VMs that run here.
    #[column("vms.count")]
    pub vms_count: i64,
    /// VMs that have a place reserved here.
    #[column("vms.pending")]
    pub vms_pending: i64,
    /// VMs on the move, to or from here.
    #[column("vms.migrating")]
    pub vms_migrating: i64,
    /// Since when its CPU has been very busy, or has had very little to do: the
    /// condition that the policy watches as `cpu-over`.
    #[column("watch.cpu-over.since")]
    pub since: Option<Seconds>,
    /// Whether it manages a pool of storage.
    #[column("attribute.spm")]
    pub spm: Option<bool>,
    /// The VMs that run here.
    #[table("vms")]
    pub vms: Rows<Vm>,
}

/// What is read of a VM.
#[derive(Row)]
pub struct Vm {
    /// All its vCPUs.
    pub vcpus: i64,
    /// Memory that it was promised.
    pub memory: Bytes,
    /// Measured share of its vCPUs in use.
    #[column("cpu.usage")]
    pub usage: Option<f64>,
    /// Whether it has CPUs of its own.
    pub exclusive: bool,
    /// Whether it may be moved.
    pub migratable: bool,
}

impl Host {
    /// Is it up, and is nothing under way that its load does not show yet?
    fn is_settled(&self) -> bool {
        self.state == "up" && self.vms_pending == 0 && self.vms_migrating == 0
    }

    fn cpu(&self) -> Cpu {
        Cpu {
            cores: self.cores,
            threads: self.threads,
            total: self.cpu,
            usage: self.usage,
            exclusive: self.exclusive,
            spm: self.spm,
        }
    }

    /// Memory left to promise; none where more was promised than may be.
    fn memory_left(&self) -> Bytes {
        let limit = (self.memory.0 as f64 * self.memory_overcommit) as i64;
        let left = limit
            .saturating_sub(self.memory_committed.0)
            .saturating_sub(self.memory_reserved.0.max(0));
        Bytes(left.max(0))
    }
}

/// What decides whether a host is over- or under-utilised, and what a destination
/// must keep to.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How load is counted.
    pub counting: Counting,
    /// Load in percent that no destination may exceed.
    pub high_utilization: f64,
    /// How long a load must have lasted.
    pub duration: Seconds,
    /// vCPUs for each CPU from which a host is over-utilised; 0 = any number.
    pub vcpu_ratio: f64,
    /// Memory that a destination must have more than, with the VM.
    pub low_memory: Bytes,
}

impl Limits {
    /// The load in percent that hosts are brought to, a margin below the high one:
    /// four fifths of it (as in oVirt's engine), but lower by at least the load that
    /// is assumed for one vCPU.
    pub fn target(&self) -> f64 {
        let high = self.high_utilization;
        let four_fifths = (80.0 * high / 100.0).trunc();
        four_fifths.min((high - self.counting.assumed_load).trunc())
    }
}

/// A host that may give or take VMs.
pub struct Place {
    /// Row number in `hosts`.
    row: u32,
    host: Host,
    /// Unknown where usage was not measured.
    shared: Option<Shared>,
    /// Has its load been what it is for long enough? Unknown if nothing says since
    /// when.
    lasting: Option<bool>,
}

impl Place {
    /// Its load in percent, if it is known.
    pub fn percent(&self) -> Option<u64> {
        self.shared.map(|shared| shared.percent())
    }

    /// Memory left to promise.
    pub fn memory_left(&self) -> Bytes {
        self.host.memory_left()
    }

    /// VMs that run here.
    pub fn vms(&self) -> i64 {
        self.host.vms_count
    }

    /// Does it manage a pool of storage?
    pub fn manages_storage(&self) -> bool {
        self.host.spm == Some(true)
    }

    /// Could it take the VM and stay within the limits?
    fn can_take(&self, vm: &Movable, limits: &Limits) -> bool {
        let shared = self
            .shared
            .and_then(|shared| shared.with(vm.adds, vm.takes));
        shared.is_some_and(|shared| shared.percent() as f64 <= limits.high_utilization)
            && self.memory_left().0.saturating_sub(vm.memory.0) > limits.low_memory.0
    }
}

/// The hosts that may give or take VMs, in the order of the call.
pub struct Cluster {
    places: Vec<Place>,
    limits: Limits,
}

impl Cluster {
    /// The hosts that are up and on which nothing is under way.
    pub fn new(now: &Now, hosts: &Rows<Host>, limits: Limits) -> Self {
        let settled = hosts.numbered().filter(|(_, host)| host.is_settled());
        let place = |(row, host): (u32, Host)| Place {
            row,
            shared: limits.counting.shared(&host.cpu()),
            lasting: (host.since).map(|since| has_lasted(since, now.now, limits.duration)),
            host,
        };
        Self {
            places: settled.map(place).collect(),
            limits,
        }
    }

    /// The hosts for which this holds.
    pub fn hosts(&self, holds: impl Fn(&Place) -> bool) -> Vec<&Place> {
        self.places.iter().filter(|place| holds(place)).collect()
    }

    /// Has a host with VMs had at least this load for long enough, or has it too
    /// many vCPUs?
    pub fn is_over(&self, place: &Place, percent: f64) -> bool {
        let Some(shared) = place.shared else {
            return false;
        };
        let busy = shared.percent() as f64 >= percent && place.lasting == Some(true);
        busy && place.vms() > 0
            || shared.is_crowded(count(place.host.vcpus), self.limits.vcpu_ratio)
    }

    /// Has a host with at least so many VMs had less than this load, and if anything
    /// says since when, for long enough?
    pub fn is_under(&self, place: &Place, percent: f64, vms: i64) -> bool {
        let idle = place.percent().is_some_and(|load| (load as f64) < percent);
        idle && place.lasting != Some(false) && place.vms() >= vms
    }

    /// For each source in order, its VMs with the least load first: each with the
    /// destinations that could take it, and then its own host, so that the chain
    /// may decide that it stays. VMs that no destination could take are left out.
    pub fn moves<R: Copy>(
        &self,
        sources: &[&Place],
        destinations: &[&Place],
        reason: R,
    ) -> Vec<Proposal<R>> {
        let mut proposals = Vec::new();
        for source in sources {
            for vm in movable(&source.host.vms) {
                let others = destinations.iter().filter(|place| place.row != source.row);
                let fitting = others.filter(|place| place.can_take(&vm, &self.limits));
                let mut among: Vec<u32> = fitting.map(|place| place.row).collect();
                if among.is_empty() {
                    continue;
                }
                among.push(source.row);
                proposals.push(Proposal::Move {
                    vm: vm.row,
                    among,
                    accept: Vec::new(),
                    changes: Changes::new(),
                    reason,
                });
            }
        }
        proposals
    }
}

/// Puts the hosts with the least load first; equal ones stay in order.
pub fn least_load_first(places: &mut [&Place]) {
    places.sort_by_key(|place| place.percent());
}

/// Puts the hosts with the most load first; equal ones stay in order.
pub fn most_load_first(places: &mut [&Place]) {
    places.sort_by_key(|place| std::cmp::Reverse(place.percent()));
}

/// Has what began then lasted this long now?
pub fn has_lasted(since: Seconds, now: Seconds, duration: Seconds) -> bool {
    now - since >= duration
}

/// A VM that may be moved.
struct Movable {
    /// Row number in `hosts/vms`.
    row: u32,
    load: Load,
    /// Load that it adds to the shared CPUs of a destination.
    adds: Load,
    /// CPUs that it takes for itself there.
    takes: u64,
    memory: Bytes,
}

/// The VMs that may be moved and whose load is known, the least load first.
fn movable(vms: &Rows<Vm>) -> Vec<Movable> {
    let migratable = vms.numbered().filter(|(_, vm)| vm.migratable);
    let mut movable: Vec<_> = migratable
        .filter_map(|(row, vm)| {
            let vcpus = count(vm.vcpus);
            let load = Load::share(vm.usage?, vcpus);
            let (adds, takes) = if vm.exclusive {
                (Load::default(), vcpus)
            } else {
                (load, 0)
            };
            Some(Movable {
                row,
                load,
                adds,
                takes,
                memory: vm.memory,
            })
        })
        .collect();
    movable.sort_by_key(|vm| vm.load);
    movable
}

#[cfg(test)]
mod tests;
