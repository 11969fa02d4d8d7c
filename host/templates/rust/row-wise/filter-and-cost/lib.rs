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

/// What VMs need of a host.
struct Need {
    /// What each of them asks for.
    memory: Vec<Bytes>,
    headroom: Bytes,
}

struct Memory;

impl RowWise for Memory {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    type Need = Need;

    /// Worked out once, before any host is looked at.
    fn prepare(request: &Request, settings: &Settings) -> Result<Need, Problem> {
        Ok(Need {
            memory: request.vms.iter().map(|vm| vm.memory).collect(),
            headroom: settings.headroom,
        })
    }
}

impl RowFilter for Memory {
    fn keep(need: &Need, host: &Host) -> Verdict<Reason> {
        let takes = need.on(host);
        let left = host.total - host.committed - host.pending;
        // Who takes nothing more may stay, however little is left.
        let fits = takes == Bytes(0) || left >= takes + need.headroom;
        Verdict::keep_if(fits, Reason::TooLittleMemory)
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

impl RowCost for Memory {
    const RANGE: Option<(f64, f64)> = Some((0.0, 1.0));

    /// The share of the host's memory that would be promised, the headroom included; lower
    /// is better.
    fn cost(need: &Need, host: &Host) -> f64 {
        // Asked of every host, also of those that the filter leaves out.
        if host.total <= Bytes(0) {
            return 1.0;
        }
        let promised = host.committed + host.pending + need.on(host) + need.headroom;
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
            current: Rows::default(),
        }
    }

    /// What a VM of that memory and the default headroom need.
    fn need(memory: Bytes) -> Need {
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

    #[test]
    fn a_vm_takes_what_it_asks_for_less_what_it_has_where_it_runs() {
        let on = |asked: i64, left: i64| {
            let request = Request {
                vms: [Vm {
                    memory: Bytes::gib(asked),
                }]
                .into_iter()
                .collect(),
            };
            let settings = Settings::defaults().expect("all settings have defaults");
            let need = Memory::prepare(&request, &settings).expect("nothing is refused");
            let own = Current {
                member: 0,
                memory: Bytes::gib(10),
            };
            let host = Host {
                total: Bytes::gib(10 + left),
                committed: Bytes::gib(10),
                pending: Bytes(0),
                current: [own].into_iter().collect(),
            };
            Memory::keep(&need, &host)
        };
        assert_eq!(on(10, 0), Verdict::Keep);
        assert_eq!(on(8, 0), Verdict::Keep);
        assert_eq!(on(11, 2), Verdict::Keep);
        assert_eq!(on(12, 2), Verdict::Remove(Reason::TooLittleMemory));
    }
}
