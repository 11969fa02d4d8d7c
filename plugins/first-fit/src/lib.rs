//! First fit: keeps the hosts with enough free CPU and memory, all at the same
//! cost, so that whatever breaks ties decides.

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

/// The VMs together.
struct Need {
    cpu: Millicores,
    memory: Bytes,
}

struct FirstFit;

impl RowWise for FirstFit {
    type Request = Request;
    type Host = Host;
    type Settings = ();
    type Reason = Reason;
    type Need = Need;

    fn prepare(request: &Request, (): &()) -> Result<Need, Problem> {
        Ok(Need {
            cpu: request.vms.iter().map(|vm| vm.cpu).sum(),
            memory: request.vms.iter().map(|vm| vm.memory).sum(),
        })
    }
}

impl RowFilter for FirstFit {
    fn keep(need: &Need, host: &Host) -> Verdict<Reason> {
        if host.free_cpu() < need.cpu {
            Verdict::Remove(Reason::TooLittleCpu)
        } else {
            Verdict::keep_if(host.free_memory() >= need.memory, Reason::TooLittleMemory)
        }
    }
}

impl RowCost for FirstFit {
    const RANGE: Option<(f64, f64)> = Some((0.0, 0.0));

    fn cost(_: &Need, _: &Host) -> f64 {
        0.0
    }
}

placewright_sdk::export!(FirstFit: filter, cost_function);

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
        FirstFit::prepare(&Request { vms }, &()).expect("first fit refuses nothing")
    }

    #[test]
    fn keeps_hosts_with_enough_of_both() {
        let keep = |host| FirstFit::keep(&need(2, 4), &host);
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
    fn costs_are_equal() {
        let costs =
            [host(8, 0, 16, 0), host(8, 7, 16, 15)].map(|host| FirstFit::cost(&need(1, 1), &host));
        assert_eq!(costs, [0.0, 0.0]);
    }
}
