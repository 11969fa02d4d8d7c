//! CPU: keeps the hosts that have a CPU for each core of the widest VM beside the
//! CPUs that VMs have for themselves, and that have not promised too much if there
//! is a limit; prefers those of which the smallest share is promised.
//!
//! However many VMs share the CPUs of a host, none of them may be wider than what
//! is shared: two of its cores would have to run on one CPU at a time.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;
use placewright_sdk::row_wise::Together;

/// What is read of each VM to be placed.
#[derive(Row)]
struct Vm {
    sockets: i64,
    cores: i64,
    vcpus: i64,
    exclusive: bool,
    cpu: Millicores,
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
    #[column("cpu.sockets")]
    sockets: Option<i64>,
    #[column("cpu.cores")]
    cores: Option<i64>,
    #[column("cpu.threads")]
    threads: Option<i64>,
    #[column("cpu.total")]
    total: Millicores,
    #[column("cpu.overcommit")]
    overcommit: Option<f64>,
    #[column("cpu.committed")]
    committed: Millicores,
    #[column("cpu.pending")]
    pending: Millicores,
    #[column("cpu.exclusive")]
    exclusive: i64,
    #[column("vms.widest")]
    widest: i64,
    #[table("current")]
    current: Rows<Current>,
}

impl Host {
    fn has_topology(&self) -> bool {
        self.sockets.is_some() && self.cores.is_some() && self.threads.is_some()
    }

    /// Where the topology is not known, its whole cores' worth of CPU.
    #[inline(always)]
    fn cpus(&self, threads_as_cores: bool) -> i64 {
        let known = if threads_as_cores {
            self.threads
        } else {
            self.cores
        };
        known.unwrap_or(self.total.0 / 1000)
    }

    /// Cores of the widest VM that shares CPUs here, once the VMs have what they ask for: one that
    /// is to have CPUs of its own instead shares none any more.
    fn widest_with(&self, need: &Need) -> i64 {
        let beside = self.current.iter().map(|row| row.others_widest).min();
        match beside {
            Some(beside) if need.all_exclusive => beside,
            _ => self.widest,
        }
    }
}

/// A member that runs on the host now, and what it holds there.
#[derive(Row)]
struct Current {
    member: i64,
    sockets: i64,
    cores: i64,
    vcpus: i64,
    exclusive: bool,
    cpu: Millicores,
    #[column("others.widest")]
    others_widest: i64,
}

#[derive(Settings)]
struct Settings {
    /// Whether each thread of a host counts as a CPU, rather than each core.
    #[setting(default = false)]
    count_threads_as_cores: bool,
    /// Whether hosts are left out whose sockets, cores or threads are not known;
    /// else such a host has a CPU for each whole core of its CPU total.
    #[setting(default = false)]
    require_topology: bool,
    /// How much of a host's CPU may be promised, 1 = all of it once, where the host
    /// does not say so itself (cpu.overcommit); any amount, if neither does.
    #[setting(least = 0.0, measure = "fraction")]
    overcommit: Option<f64>,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// has no known CPU topology
    UnknownTopology,
    /// has too few CPUs
    TooFewCpus,
    /// has too little CPU left to promise
    TooLittleToPromise,
    /// has too little CPU left to promise while places on it are reserved
    #[reason(passing)]
    TooLittleToPromiseWhilePending,
}

/// What VMs take of a host.
#[derive(Clone, Copy, Default)]
struct Needed {
    /// Millicores.
    cpu: i64,
    /// CPUs of their own, less those that they give back to be shared.
    exclusive: i64,
    /// Cores of the widest VM that shares CPUs.
    widest: i64,
}

impl Needed {
    fn by(vm: &Vm) -> Self {
        let width = vm.sockets.saturating_mul(vm.cores);
        let (exclusive, widest) = if vm.exclusive {
            (vm.vcpus, 0)
        } else {
            (0, width)
        };
        Self {
            cpu: vm.cpu.0,
            exclusive,
            widest,
        }
    }

    fn held(row: Current) -> (i64, Self) {
        let vm = Vm {
            sockets: row.sockets,
            cores: row.cores,
            vcpus: row.vcpus,
            exclusive: row.exclusive,
            cpu: row.cpu,
        };
        (row.member, Self::by(&vm))
    }

    /// Whether there is a CPU to be found for any of them.
    fn has_cpus(&self) -> bool {
        self.exclusive > 0 || self.widest > 0
    }
}

impl Resources for Needed {
    fn add(&mut self, other: &Self) {
        self.cpu = self.cpu.saturating_add(other.cpu);
        self.exclusive = self.exclusive.saturating_add(other.exclusive);
        self.widest = self.widest.max(other.widest);
    }

    /// A VM that is no wider than it is has its CPUs.
    fn less(&mut self, held: &Self) {
        self.cpu = self.cpu.saturating_sub(held.cpu).max(0);
        // What a VM gives back is shared from then on, by itself as well.
        self.exclusive = self.exclusive.saturating_sub(held.exclusive);
        if self.widest <= held.widest {
            self.widest = 0;
        }
    }
}

/// What the VMs need, one by one and together, and how CPU is counted.
struct Need {
    takes: Takes<Needed>,
    /// Whether all of them are to have CPUs of their own.
    all_exclusive: bool,
    threads_as_cores: bool,
    require_topology: bool,
    /// For hosts that have none of their own.
    overcommit: Option<f64>,
}

struct Cpu;

impl RowWise for Cpu {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    type Need = Need;

    fn prepare(request: &Request, settings: &Settings) -> Result<Need, Problem> {
        Ok(Need {
            takes: Takes::of(request.vms.iter().map(|vm| Needed::by(&vm))),
            all_exclusive: request.vms.iter().all(|vm| vm.exclusive),
            threads_as_cores: settings.count_threads_as_cores,
            require_topology: settings.require_topology,
            overcommit: settings.overcommit,
        })
    }
}

impl RowFilter for Cpu {
    const TOGETHER: Option<Together<Self>> = Some(keep_and_cost);

    #[inline(always)]
    fn keep(need: &Need, host: &Host) -> Verdict<Reason> {
        use crate::Reason::*;
        if need.require_topology && !host.has_topology() {
            return Verdict::Remove(UnknownTopology);
        }
        let needed = need.takes.on(&host.current, Needed::held);
        let shared =
            (host.cpus(need.threads_as_cores) - host.exclusive).saturating_sub(needed.exclusive);
        // One CPU stays shared even if no VM shares it yet.
        let widest = || needed.widest.max(host.widest_with(need)).max(1);
        let fits = !needed.has_cpus() || shared >= widest();
        Verdict::keep_if(fits, TooFewCpus).and(|| {
            if needed.cpu == 0 {
                return Verdict::Keep;
            }
            let Some(overcommit) = host.overcommit.or(need.overcommit) else {
                return Verdict::Keep;
            };
            let limit = (host.total.0 as f64 * overcommit) as i64;
            let promised = host.committed.0.saturating_add(needed.cpu);
            let with_pending = promised.saturating_add(host.pending.0);
            Verdict::keep_if(promised <= limit, TooLittleToPromise)
                .and(|| Verdict::keep_if(with_pending <= limit, TooLittleToPromiseWhilePending))
        })
    }
}

impl RowCost for Cpu {
    /// The share of the CPU that the host may promise which is promised when the VMs
    /// are placed; of all its CPU, where the host does not say how much it may promise.
    #[inline(always)]
    fn cost(need: &Need, host: &Host) -> f64 {
        let promisable = host.total.0 as f64 * host.overcommit.unwrap_or(1.0);
        if promisable <= 0.0 {
            return f64::INFINITY;
        }
        let needed = need.takes.on(&host.current, Needed::held);
        let promised = (host.committed.0 + host.pending.0).saturating_add(needed.cpu);
        promised as f64 / promisable
    }
}

/// Both: most hosts have none of the VMs, and a loop over those alone works out once what the VMs
/// take.
#[inline(always)]
fn keep_and_cost(need: &Need, host: &Host) -> Option<(Verdict<Reason>, f64)> {
    Some((Cpu::keep(need, host), Cpu::cost(need, host)))
}

placewright_sdk::export!(
    Cpu: filter, cost_function,
    aliases = ["6d636bf6-a35c-4f9d-b68d-0731f720cddc"]
);

#[cfg(test)]
mod tests;
