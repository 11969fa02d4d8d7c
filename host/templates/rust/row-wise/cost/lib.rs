//! Prefers hosts of which the smallest share of the memory would be promised.

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
    /// Memory that no VM gets, on every host: it counts as promised.
    #[setting(default = "1 GiB", least = 0)]
    headroom: Bytes,
}

struct LeastPromised;

impl RowWise for LeastPromised {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = ();
    /// What would be promised beyond what is promised now.
    type Need = Bytes;

    /// Worked out once, before any host is looked at.
    fn prepare(request: &Request, settings: &Settings) -> Result<Bytes, Problem> {
        let memory: Bytes = request.vms.iter().map(|vm| vm.memory).sum();
        Ok(memory + settings.headroom)
    }
}

impl RowCost for LeastPromised {
    const RANGE: Option<(f64, f64)> = Some((0.0, 1.0));

    /// The share of the host's memory that would be promised; lower is better.
    fn cost(need: &Bytes, host: &Host) -> f64 {
        if host.total <= Bytes(0) {
            return 1.0;
        }
        let promised = host.committed + host.pending + *need;
        (promised.0 as f64 / host.total.0 as f64).clamp(0.0, 1.0)
    }
}

placewright_sdk::export!(LeastPromised: cost_function);

#[cfg(test)]
mod tests {
    use super::*;

    /// What a host costs of which so much is promised, for a VM of 3 GiB.
    fn cost(total: Bytes, committed: Bytes) -> f64 {
        let memory = Bytes::gib(3);
        let request = Request {
            vms: [Vm { memory }].into_iter().collect(),
        };
        let settings = Settings::defaults().expect("all settings have defaults");
        let need = LeastPromised::prepare(&request, &settings).expect("nothing is refused");
        let host = Host {
            total,
            committed,
            pending: Bytes(0),
        };
        LeastPromised::cost(&need, &host)
    }

    #[test]
    fn a_host_costs_the_share_of_its_memory_that_would_be_promised() {
        assert_eq!(cost(Bytes::gib(16), Bytes::gib(4)), 0.5);
        assert_eq!(cost(Bytes::gib(16), Bytes::gib(16)), 1.0);
        assert_eq!(cost(Bytes(0), Bytes(0)), 1.0);
    }
}
