//! Failover reserve: of the CPU and the memory that each host may promise, a share is
//! kept free for VMs that have to be restarted because their host failed.
//!
//! Where `n` hosts of about one size are to survive the failure of one, that share is
//! `1 / n`.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of each VM to be placed.
#[derive(Row)]
struct Vm {
    cpu: Millicores,
    memory: Bytes,
}

/// What is read of the request.
#[derive(Row)]
struct Asked {
    kind: Text,
}

/// All VMs that are to be placed together on one host.
#[derive(Request)]
struct Request {
    request: Asked,
    #[table("members")]
    vms: Rows<Vm>,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[column("cpu.total")]
    cpu: Millicores,
    #[column("cpu.overcommit")]
    cpu_overcommit: Option<f64>,
    #[column("cpu.committed")]
    cpu_committed: Millicores,
    #[column("cpu.pending")]
    cpu_pending: Millicores,
    #[column("memory.total")]
    memory: Bytes,
    #[column("memory.reserved")]
    memory_reserved: Bytes,
    #[column("memory.overcommit")]
    memory_overcommit: f64,
    #[column("memory.committed")]
    memory_committed: Bytes,
    #[column("memory.pending")]
    memory_pending: Bytes,
    #[table("current")]
    current: Rows<Current>,
}

/// A member that runs on the host now.
#[derive(Row)]
struct Current {
    member: i64,
}

#[derive(Settings)]
struct Settings {
    /// The share of each host's CPU and memory that is kept free for VMs of hosts that
    /// fail; 0 = none. Requests of the kind restart may take it.
    #[setting(default = 0, range = 0.0..=1.0, measure = "fraction")]
    reserve: f64,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// would have too little CPU left for the VMs of hosts that fail
    CpuReserve,
    /// would have too little memory left for the VMs of hosts that fail
    MemoryReserve,
}

/// The kind of the requests for which the reserve is kept.
const RESTART: &str = "restart";

/// What each VM takes, and what share of a host VMs may take all together; none if the
/// whole host is theirs.
struct Need {
    each: Vec<(i64, i64)>,
    share: Option<f64>,
}

impl Need {
    /// CPU and memory of the VMs that do not run on the host yet.
    fn of_newcomers(&self, current: &Rows<Current>) -> (i64, i64) {
        let runs_here = |vm: i64| current.iter().any(|row| row.member == vm);
        let newcomers = (0..).zip(&self.each).filter(|(vm, _)| !runs_here(*vm));
        newcomers.fold((0, 0), |(cpu, memory), (_, needed)| {
            (
                i64::saturating_add(cpu, needed.0),
                i64::saturating_add(memory, needed.1),
            )
        })
    }
}

struct FailoverReserve;

impl RowWise for FailoverReserve {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    type Need = Need;

    fn prepare(request: &Request, settings: &Settings) -> Result<Need, Problem> {
        let is_kept = settings.reserve > 0.0 && request.request.kind != RESTART;
        Ok(Need {
            each: (request.vms.iter())
                .map(|vm| (vm.cpu.0, vm.memory.0))
                .collect(),
            share: is_kept.then_some(1.0 - settings.reserve),
        })
    }
}

impl RowFilter for FailoverReserve {
    fn keep(need: &Need, host: &Host) -> Verdict<Reason> {
        let Some(share) = need.share else {
            return Verdict::Keep;
        };
        let (cpu, memory) = need.of_newcomers(&host.current);
        let cpu_limit = host.cpu.0 as f64 * host.cpu_overcommit.unwrap_or(1.0) * share;
        let memory_limit =
            (host.memory.0 as f64 * host.memory_overcommit - host.memory_reserved.0 as f64) * share;
        let cpu_then = cpu as f64 + (host.cpu_committed + host.cpu_pending).0 as f64;
        let memory_then = memory as f64 + (host.memory_committed + host.memory_pending).0 as f64;
        // What takes nothing more does not break into the reserve.
        Verdict::keep_if(cpu == 0 || cpu_then <= cpu_limit, Reason::CpuReserve).and(|| {
            Verdict::keep_if(
                memory == 0 || memory_then <= memory_limit,
                Reason::MemoryReserve,
            )
        })
    }
}

placewright_sdk::export!(FailoverReserve: filter);

#[cfg(test)]
mod tests {
    use super::*;

    fn host(cores: i64, gib: i64) -> Host {
        Host {
            cpu: Millicores::cores(10),
            cpu_overcommit: Some(2.0),
            cpu_committed: Millicores::cores(cores),
            cpu_pending: Millicores(0),
            memory: Bytes::gib(110),
            memory_reserved: Bytes::gib(10),
            memory_overcommit: 1.0,
            memory_committed: Bytes(0),
            memory_pending: Bytes::gib(gib),
            current: Rows::default(),
        }
    }

    fn keep(reserve: f64, kind: &str, host: &Host) -> Verdict<Reason> {
        let vm = Vm {
            cpu: Millicores::cores(2),
            memory: Bytes::gib(5),
        };
        let request = Request {
            request: Asked { kind: kind.into() },
            vms: vec![vm].into(),
        };
        let need = FailoverReserve::prepare(&request, &Settings { reserve });
        FailoverReserve::keep(&need.expect("nothing is refused"), host)
    }

    #[test]
    fn a_share_of_cpu_and_of_memory_stays_free() {
        assert_eq!(keep(0.25, "place", &host(13, 70)), Verdict::Keep);
        let cpu = Verdict::Remove(Reason::CpuReserve);
        assert_eq!(keep(0.25, "place", &host(14, 0)), cpu);
        let memory = Verdict::Remove(Reason::MemoryReserve);
        assert_eq!(keep(0.25, "place", &host(0, 71)), memory);
    }

    #[test]
    fn restarts_may_take_it_and_without_a_share_there_is_none() {
        assert_eq!(keep(0.25, "restart", &host(19, 95)), Verdict::Keep);
        assert_eq!(keep(0.0, "place", &host(19, 95)), Verdict::Keep);
    }

    #[test]
    fn a_vm_that_runs_there_takes_nothing_more() {
        let own = Host {
            current: vec![Current { member: 0 }].into(),
            ..host(20, 100)
        };
        assert_eq!(keep(0.25, "migrate", &own), Verdict::Keep);
    }
}
