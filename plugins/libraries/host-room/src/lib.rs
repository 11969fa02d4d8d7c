//! Free CPU and memory of hosts, beside what VMs need: what `first-fit`,
//! `best-fit`, `worst-fit` and `dot-product` have in common. They differ in one
//! formula each.
//!
//! For formulas, CPU and memory are counted in whole steps, so that with the usual
//! steps products stay under 2^53 and costs are exact. Products are worked out in
//! 128 bits; beyond 2^53 the cost is the nearest float, and rounding never swaps
//! two hosts, it can only make them equal.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of each VM to be placed.
#[derive(Row)]
pub struct Vm {
    /// Promised CPU.
    pub cpu: Millicores,
    /// Promised memory.
    pub memory: Bytes,
}

/// All VMs that are to be placed together on one host.
#[derive(Request)]
pub struct Request {
    /// They need room together.
    #[table("members")]
    pub vms: Rows<Vm>,
}

/// What is read of a host.
#[derive(Row)]
pub struct Host {
    /// All its CPU.
    #[column("cpu.total")]
    pub cpu: Millicores,
    /// How much of it may be promised; all of it once, if not given.
    #[column("cpu.overcommit")]
    pub cpu_overcommit: Option<f64>,
    /// Promised to VMs that run.
    #[column("cpu.committed")]
    pub cpu_committed: Millicores,
    /// Promised to VMs that have a place reserved.
    #[column("cpu.pending")]
    pub cpu_pending: Millicores,
    /// All its memory.
    #[column("memory.total")]
    pub memory: Bytes,
    /// What the host keeps of it for itself.
    #[column("memory.reserved")]
    pub memory_reserved: Bytes,
    /// How much of it may be promised.
    #[column("memory.overcommit")]
    pub memory_overcommit: f64,
    /// Promised to VMs that run.
    #[column("memory.committed")]
    pub memory_committed: Bytes,
    /// Promised to VMs that have a place reserved.
    #[column("memory.pending")]
    pub memory_pending: Bytes,
}

impl Host {
    /// CPU that may be promised, to all VMs together.
    fn promisable_cpu(&self) -> Millicores {
        Millicores(times(self.cpu.0, self.cpu_overcommit.unwrap_or(1.0)))
    }

    /// Memory that may be promised, to all VMs together.
    fn promisable_memory(&self) -> Bytes {
        Bytes(times(self.memory.0, self.memory_overcommit)) - self.memory_reserved
    }

    fn free_cpu(&self) -> Millicores {
        self.promisable_cpu() - self.cpu_committed - self.cpu_pending
    }

    fn free_memory(&self) -> Bytes {
        self.promisable_memory() - self.memory_committed - self.memory_pending
    }
}

/// An amount with its overcommit, rounded down.
#[inline]
fn times(amount: i64, overcommit: f64) -> i64 {
    match overcommit == 1.0 {
        true => amount,
        false => (amount as f64 * overcommit) as i64,
    }
}

/// Why a host is removed.
#[derive(Reason, Debug, PartialEq)]
pub enum Reason {
    /// has too little free CPU
    TooLittleCpu,
    /// has too little free memory
    TooLittleMemory,
}

/// In what CPU and memory are counted.
#[derive(Settings)]
pub struct Settings {
    /// The step in which CPU is counted when costs are compared.
    #[setting(default = "10m", least = 1)]
    pub cpu_step: Millicores,
    /// The step in which memory is counted when costs are compared.
    #[setting(default = "256 MiB", least = 1)]
    pub memory_step: Bytes,
}

/// What the VMs need together.
pub struct Need {
    cpu: Millicores,
    memory: Bytes,
}

impl Need {
    /// The sum over the VMs.
    pub fn of(request: &Request) -> Self {
        Self {
            cpu: request.vms.iter().map(|vm| vm.cpu).sum(),
            memory: request.vms.iter().map(|vm| vm.memory).sum(),
        }
    }

    /// Keeps hosts that have as much of both.
    pub fn keep(&self, host: &Host) -> Verdict<Reason> {
        Verdict::keep_if(host.free_cpu() >= self.cpu, Reason::TooLittleCpu)
            .and(|| Verdict::keep_if(host.free_memory() >= self.memory, Reason::TooLittleMemory))
    }
}

/// What the VMs need, and the steps to count in.
pub struct Steps {
    need: Need,
    cpu: i64,
    memory: i64,
}

impl Steps {
    /// The need of the VMs, to be counted in the steps of the settings.
    pub fn new(request: &Request, settings: &Settings) -> Self {
        Self {
            need: Need::of(request),
            cpu: settings.cpu_step.0.max(1),
            memory: settings.memory_step.0.max(1),
        }
    }

    /// As [`Need::keep`]: steps do not matter there.
    pub fn keep(&self, host: &Host) -> Verdict<Reason> {
        self.need.keep(host)
    }

    /// A host's room, counted in steps.
    pub fn room(&self, host: &Host) -> Room {
        let cpu = |amount: Millicores| i128::from(amount.0.div_euclid(self.cpu));
        let memory = |amount: Bytes| i128::from(amount.0.div_euclid(self.memory));
        Room {
            cpu: cpu(host.promisable_cpu()),
            cpu_free: cpu(host.free_cpu()),
            cpu_need: cpu(self.need.cpu),
            memory: memory(host.promisable_memory()),
            memory_free: memory(host.free_memory()),
            memory_need: memory(self.need.memory),
        }
    }
}

/// The room of one host, in steps of CPU and of memory.
pub struct Room {
    /// All CPU that may be promised.
    pub cpu: i128,
    /// CPU that is free before placing; negative on a host that promised too much.
    pub cpu_free: i128,
    /// CPU that the VMs need.
    pub cpu_need: i128,
    /// All memory that may be promised.
    pub memory: i128,
    /// Memory that is free before placing.
    pub memory_free: i128,
    /// Memory that the VMs need.
    pub memory_need: i128,
}

impl Room {
    /// The share of CPU plus the share of memory that stay free when the VMs are
    /// placed, times both totals.
    pub fn left(&self) -> i128 {
        (self.cpu_free - self.cpu_need) * self.memory
            + (self.memory_free - self.memory_need) * self.cpu
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(cpu: i64, cpu_used: i64, gib: i64, gib_used: i64) -> Host {
        Host {
            cpu: Millicores::cores(cpu),
            cpu_overcommit: None,
            cpu_committed: Millicores::cores(cpu_used),
            cpu_pending: Millicores(0),
            memory: Bytes::gib(gib),
            memory_reserved: Bytes(0),
            memory_overcommit: 1.0,
            memory_committed: Bytes(0),
            memory_pending: Bytes::gib(gib_used),
        }
    }

    fn need(cpu: i64, gib: i64) -> Steps {
        let vms = Rows::from(vec![Vm {
            cpu: Millicores::cores(cpu),
            memory: Bytes::gib(gib),
        }]);
        let settings = Settings::defaults().expect("all have defaults");
        Steps::new(&Request { vms }, &settings)
    }

    #[test]
    fn keeps_hosts_with_enough_of_both() {
        let keep = |host| need(2, 4).keep(&host);
        assert_eq!(keep(host(8, 6, 16, 12)), Verdict::Keep);
        let too_little_cpu = Verdict::Remove(Reason::TooLittleCpu);
        assert_eq!(keep(host(8, 7, 16, 0)), too_little_cpu);
        let too_little_memory = Verdict::Remove(Reason::TooLittleMemory);
        assert_eq!(keep(host(8, 0, 16, 13)), too_little_memory);
    }

    #[test]
    fn what_a_host_may_promise_is_its_own_to_say() {
        let crowded = host(8, 8, 16, 16);
        assert!(need(2, 4).keep(&crowded) != Verdict::Keep);
        let overcommitted = Host {
            cpu_overcommit: Some(1.25),
            memory_overcommit: 1.5,
            memory_reserved: Bytes::gib(4),
            ..crowded
        };
        assert_eq!(need(2, 4).keep(&overcommitted), Verdict::Keep);
        assert!(need(3, 4).keep(&overcommitted) != Verdict::Keep);
        assert!(need(2, 5).keep(&overcommitted) != Verdict::Keep);
    }

    #[test]
    fn several_vms_need_room_together() {
        let vm = || Vm {
            cpu: Millicores::cores(2),
            memory: Bytes::gib(4),
        };
        let request = Request {
            vms: vec![vm(), vm()].into(),
        };
        let need = Need::of(&request);
        assert_eq!(need.keep(&host(4, 0, 8, 0)), Verdict::Keep);
        assert!(need.keep(&host(3, 0, 8, 0)) != Verdict::Keep);
    }

    #[test]
    fn what_is_left_is_counted_in_steps() {
        // (200 - 100) * 64 + (32 - 16) * 800
        assert_eq!(need(1, 4).room(&host(8, 6, 16, 8)).left(), 19_200);
    }

    #[test]
    fn room_is_total() {
        let whole = (1 << 53) - 1;
        let absurd = Host {
            cpu: Millicores(whole),
            cpu_overcommit: None,
            cpu_committed: Millicores(-whole),
            cpu_pending: Millicores(0),
            memory: Bytes(whole),
            memory_reserved: Bytes(0),
            memory_overcommit: 1.0,
            memory_committed: Bytes(whole),
            memory_pending: Bytes(whole),
        };
        let steps = Steps {
            need: Need {
                cpu: Millicores(whole),
                memory: Bytes(whole),
            },
            cpu: 1,
            memory: 1,
        };
        assert!(steps.room(&absurd).left() < 0);
    }
}
