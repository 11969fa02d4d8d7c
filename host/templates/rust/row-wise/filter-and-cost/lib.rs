//! Keeps hosts that have enough memory left to promise, and prefers those of which the
//! smallest share would be promised.

use placewright_sdk::prelude::*;

/// What is read of each VM to be placed.
#[derive(Row)]
struct Vm {
    memory: Bytes,
}

/// All VMs that are to be placed together on one host, usually one.
#[derive(Request)]
struct Request {
    #[table("members")]
    vms: Rows<Vm>,
}

/// What is read of a host: these columns and no others. `placewright columns` lists all.
#[derive(Row)]
struct Host {
    #[column("memory.total")]
    total: Bytes,
    /// Promised to the VMs that run here.
    #[column("memory.committed")]
    committed: Bytes,
    /// Promised to the VMs that have a place reserved here.
    #[column("memory.pending")]
    pending: Bytes,
}

/// What the admin of a cluster may set.
#[derive(Settings)]
struct Settings {
    /// Memory that no VM gets, on every host.
    #[setting(default = "1 GiB", least = 0)]
    headroom: Bytes,
}

/// Why a host is left out: each completes the sentence "host h1 ...".
#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// has too little memory left
    TooLittleMemory,
}

struct Memory;

impl RowWise for Memory {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    /// What a host must have left.
    type Need = Bytes;

    /// Worked out once, before any host is looked at.
    fn prepare(request: &Request, settings: &Settings) -> Result<Bytes, Problem> {
        let memory: Bytes = request.vms.iter().map(|vm| vm.memory).sum();
        Ok(memory + settings.headroom)
    }
}

impl RowFilter for Memory {
    fn keep(need: &Bytes, host: &Host) -> Verdict<Reason> {
        let left = host.total - host.committed - host.pending;
        Verdict::keep_if(left >= *need, Reason::TooLittleMemory)
    }
}

impl RowCost for Memory {
    const RANGE: Option<(f64, f64)> = Some((0.0, 1.0));

    /// The share of the host's memory that would be promised, the headroom included; lower
    /// is better.
    fn cost(need: &Bytes, host: &Host) -> f64 {
        // Asked of every host, also of those that the filter leaves out.
        if host.total <= Bytes(0) {
            return 1.0;
        }
        let promised = host.committed + host.pending + *need;
        (promised.0 as f64 / host.total.0 as f64).clamp(0.0, 1.0)
    }
}

placewright_sdk::export!(Memory: filter, cost_function);

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 16 GiB, 8 are left.
    fn host() -> Host {
        Host {
            total: Bytes::gib(16),
            committed: Bytes::gib(6),
            pending: Bytes::gib(2),
        }
    }

    /// What a VM of that memory and the default headroom need.
    fn need(memory: Bytes) -> Bytes {
        let request = Request {
            vms: [Vm { memory }].into_iter().collect(),
        };
        let settings = Settings::defaults().expect("all settings have defaults");
        Memory::prepare(&request, &settings).expect("nothing is refused")
    }

    #[test]
    fn a_host_is_kept_while_the_headroom_is_left() {
        let verdict = |memory| Memory::keep(&need(memory), &host());
        assert_eq!(verdict(Bytes::gib(7)), Verdict::Keep);
        let too_little = Verdict::Remove(Reason::TooLittleMemory);
        assert_eq!(verdict(Bytes::mib(7 * 1024 + 1)), too_little);
    }

    #[test]
    fn a_host_costs_the_share_of_its_memory_that_would_be_promised() {
        let cost = |memory| Memory::cost(&need(memory), &host());
        assert_eq!(cost(Bytes::gib(3)), 0.75);
        assert_eq!(cost(Bytes::gib(30)), 1.0);
    }
}
