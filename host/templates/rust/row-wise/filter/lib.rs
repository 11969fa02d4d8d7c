//! Keeps hosts that have enough memory left to promise.

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

struct EnoughMemory;

impl RowWise for EnoughMemory {
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

impl RowFilter for EnoughMemory {
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

placewright_sdk::export!(EnoughMemory: filter);

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of a host with 8 GiB left, for a VM of that memory.
    fn verdict(memory: Bytes) -> Verdict<Reason> {
        let request = Request {
            vms: [Vm { memory }].into_iter().collect(),
        };
        let settings = Settings::defaults().expect("all settings have defaults");
        let need = EnoughMemory::prepare(&request, &settings).expect("nothing is refused");
        let host = Host {
            total: Bytes::gib(16),
            committed: Bytes::gib(6),
            pending: Bytes::gib(2),
            current: Rows::default(),
        };
        EnoughMemory::keep(&need, &host)
    }

    #[test]
    fn a_host_is_kept_while_the_headroom_is_left() {
        assert_eq!(verdict(Bytes::gib(7)), Verdict::Keep);
        let too_little = Verdict::Remove(Reason::TooLittleMemory);
        assert_eq!(verdict(Bytes::mib(7 * 1024 + 1)), too_little);
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
            let need = EnoughMemory::prepare(&request, &settings).expect("nothing is refused");
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
            EnoughMemory::keep(&need, &host)
        };
        assert_eq!(on(10, 0), Verdict::Keep);
        assert_eq!(on(8, 0), Verdict::Keep);
        assert_eq!(on(11, 2), Verdict::Keep);
        assert_eq!(on(12, 2), Verdict::Remove(Reason::TooLittleMemory));
    }
}
