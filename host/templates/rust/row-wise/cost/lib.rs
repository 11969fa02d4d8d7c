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
    /// Those of the VMs that run here already. What they have is promised to them.
    #[table("current")]
    current: Rows<Current>,
}

/// A VM to be placed that runs on the host now.
#[derive(Row)]
struct Current {
    /// Which of the VMs.
    member: i64,
    memory: Bytes,
}

/// What the admin of a cluster may set.
#[derive(Settings)]
struct Settings {
    /// Memory that no VM gets, on every host: it counts as promised.
    #[setting(default = "1 GiB", least = 0)]
    headroom: Bytes,
}

/// What VMs need of a host.
struct Need {
    /// What each of them asks for.
    memory: Vec<Bytes>,
    headroom: Bytes,
}

struct LeastPromised;

impl RowWise for LeastPromised {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = ();
    type Need = Need;

    /// Worked out once, before any host is looked at.
    fn prepare(request: &Request, settings: &Settings) -> Result<Need, Problem> {
        Ok(Need {
            memory: request.vms.iter().map(|vm| vm.memory).collect(),
            headroom: settings.headroom,
        })
    }
}

impl Need {
    /// What they take of a host: what each asks for, less what it has there if it runs there.
    fn on(&self, host: &Host) -> Bytes {
        let has = |vm: i64| -> Bytes {
            let here = host.current.iter().filter(|row| row.member == vm);
            here.map(|row| row.memory).sum()
        };
        let vms = (0..).zip(&self.memory);
        vms.map(|(vm, asked)| (*asked - has(vm)).max(Bytes(0)))
            .sum()
    }
}

impl RowCost for LeastPromised {
    const RANGE: Option<(f64, f64)> = Some((0.0, 1.0));

    /// The share of the host's memory that would be promised; lower is better.
    fn cost(need: &Need, host: &Host) -> f64 {
        if host.total <= Bytes(0) {
            return 1.0;
        }
        let promised = host.committed + host.pending + need.on(host) + need.headroom;
        (promised.0 as f64 / host.total.0 as f64).clamp(0.0, 1.0)
    }
}

placewright_sdk::export!(LeastPromised: cost_function);

#[cfg(test)]
mod tests {
    use super::*;

    /// What a host costs of which so much is promised, for a VM of 3 GiB that has so much there.
    fn cost(total: Bytes, committed: Bytes, has: Option<Bytes>) -> f64 {
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
            current: has
                .map(|memory| Current { member: 0, memory })
                .into_iter()
                .collect(),
        };
        LeastPromised::cost(&need, &host)
    }

    #[test]
    fn a_host_costs_the_share_of_its_memory_that_would_be_promised() {
        assert_eq!(cost(Bytes::gib(16), Bytes::gib(4), None), 0.5);
        assert_eq!(cost(Bytes::gib(16), Bytes::gib(16), None), 1.0);
        assert_eq!(cost(Bytes(0), Bytes(0), None), 1.0);
    }

    #[test]
    fn a_vm_takes_what_it_asks_for_less_what_it_has_where_it_runs() {
        let on = |has| cost(Bytes::gib(16), Bytes::gib(6), Some(Bytes::gib(has)));
        assert_eq!(on(3), 0.4375);
        assert_eq!(on(2), 0.5);
    }
}
