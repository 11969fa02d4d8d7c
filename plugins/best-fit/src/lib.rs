//! Best fit: packs. Of the hosts with enough free CPU and memory it prefers the
//! one on which the least stays free, as shares of the host's totals.
//!
//! CPU and memory are counted in whole steps, so that with the usual steps the
//! products below stay under 2^53 and costs are exact. They are worked out in
//! 128 bits; beyond 2^53 the cost is the nearest float, and rounding never swaps
//! two hosts, it can only make them equal.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of each VM to be placed.
#[derive(Row)]
struct Vm {
    cpu: Millicores,
    memory: Bytes,
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
    #[column("cpu.total")]
    cpu: Millicores,
    #[column("cpu.committed")]
    cpu_committed: Millicores,
    #[column("cpu.pending")]
    cpu_pending: Millicores,
    #[column("memory.total")]
    memory: Bytes,
    #[column("memory.committed")]
    memory_committed: Bytes,
    #[column("memory.pending")]
    memory_pending: Bytes,
}

impl Host {
    fn free_cpu(&self) -> Millicores {
        self.cpu - self.cpu_committed - self.cpu_pending
    }

    fn free_memory(&self) -> Bytes {
        self.memory - self.memory_committed - self.memory_pending
    }
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// has too little free CPU
    TooLittleCpu,
    /// has too little free memory
    TooLittleMemory,
}

#[derive(Settings)]
struct Settings {
    /// The step in which CPU is counted when costs are compared.
    #[setting(default = "10m", least = 1)]
    cpu_step: Millicores,
    /// The step in which memory is counted when costs are compared.
    #[setting(default = "256 MiB", least = 1)]
    memory_step: Bytes,
}

/// The VMs together, and the steps to count in.
struct Need {
    cpu: Millicores,
    memory: Bytes,
    cpu_step: i64,
    memory_step: i64,
}

impl Need {
    fn cpu_steps(&self, cpu: Millicores) -> i128 {
        i128::from(cpu.0.div_euclid(self.cpu_step))
    }

    fn memory_steps(&self, memory: Bytes) -> i128 {
        i128::from(memory.0.div_euclid(self.memory_step))
    }
}

struct BestFit;

impl RowWise for BestFit {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    type Need = Need;

    fn prepare(request: &Request, settings: &Settings) -> Result<Need, Problem> {
        Ok(Need {
            cpu: request.vms.iter().map(|vm| vm.cpu).sum(),
            memory: request.vms.iter().map(|vm| vm.memory).sum(),
            cpu_step: settings.cpu_step.0.max(1),
            memory_step: settings.memory_step.0.max(1),
        })
    }
}

impl RowFilter for BestFit {
    fn keep(need: &Need, host: &Host) -> Verdict<Reason> {
        if host.free_cpu() < need.cpu {
            Verdict::Remove(Reason::TooLittleCpu)
        } else {
            Verdict::keep_if(host.free_memory() >= need.memory, Reason::TooLittleMemory)
        }
    }
}

impl RowCost for BestFit {
    /// What stays free: `cpu_left / cpu + memory_left / memory`, times both totals.
    fn cost(need: &Need, host: &Host) -> f64 {
        let (cpu, memory) = (need.cpu_steps(host.cpu), need.memory_steps(host.memory));
        let cpu_left = need.cpu_steps(host.free_cpu()) - need.cpu_steps(need.cpu);
        let memory_left = need.memory_steps(host.free_memory()) - need.memory_steps(need.memory);
        (cpu_left * memory + memory_left * cpu) as f64
    }
}

placewright_sdk::export!(BestFit: filter, cost_function);

#[cfg(test)]
mod tests {
    use super::*;

    fn host(cpu: i64, cpu_used: i64, gib: i64, gib_used: i64) -> Host {
        Host {
            cpu: Millicores::cores(cpu),
            cpu_committed: Millicores::cores(cpu_used),
            cpu_pending: Millicores(0),
            memory: Bytes::gib(gib),
            memory_committed: Bytes(0),
            memory_pending: Bytes::gib(gib_used),
        }
    }

    fn need(cpu: i64, gib: i64) -> Need {
        let vms = Rows::from(vec![Vm {
            cpu: Millicores::cores(cpu),
            memory: Bytes::gib(gib),
        }]);
        let settings = Settings::defaults().expect("all have defaults");
        BestFit::prepare(&Request { vms }, &settings).expect("nothing is refused")
    }

    #[test]
    fn keeps_hosts_with_enough_of_both() {
        let keep = |host| BestFit::keep(&need(2, 4), &host);
        assert_eq!(keep(host(8, 6, 16, 12)), Verdict::Keep);
        assert_eq!(
            keep(host(8, 7, 16, 0)),
            Verdict::Remove(Reason::TooLittleCpu)
        );
        assert_eq!(
            keep(host(8, 0, 16, 13)),
            Verdict::Remove(Reason::TooLittleMemory)
        );
    }

    #[test]
    fn prefers_the_host_that_is_fuller_afterwards() {
        // In steps: (200 - 100) * 64 + (32 - 16) * 800, and (800 - 100) * 64 + (64 - 16) * 800.
        assert_eq!(BestFit::cost(&need(1, 4), &host(8, 6, 16, 8)), 19_200.0);
        assert_eq!(BestFit::cost(&need(1, 4), &host(8, 0, 16, 0)), 83_200.0);
    }

    #[test]
    fn costs_are_total() {
        let whole = 1 << 52;
        let absurd = Host {
            cpu: Millicores(whole),
            cpu_committed: Millicores(-whole),
            cpu_pending: Millicores(0),
            memory: Bytes(whole),
            memory_committed: Bytes(whole),
            memory_pending: Bytes(whole),
        };
        let need = Need {
            cpu: Millicores(whole),
            memory: Bytes(whole),
            cpu_step: 1,
            memory_step: 1,
        };
        assert!(BestFit::cost(&need, &absurd).is_finite());
        assert!(BestFit::cost(&self::need(9, 99), &host(8, 9, 16, 17)).is_finite());
    }
}
