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

struct EnoughMemory;

impl RowWise for EnoughMemory {
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

impl RowFilter for EnoughMemory {
    fn keep(need: &Bytes, host: &Host) -> Verdict<Reason> {
        let left = host.total - host.committed - host.pending;
        Verdict::keep_if(left >= *need, Reason::TooLittleMemory)
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
        };
        EnoughMemory::keep(&need, &host)
    }

    #[test]
    fn a_host_is_kept_while_the_headroom_is_left() {
        assert_eq!(verdict(Bytes::gib(7)), Verdict::Keep);
        let too_little = Verdict::Remove(Reason::TooLittleMemory);
        assert_eq!(verdict(Bytes::mib(7 * 1024 + 1)), too_little);
    }
}
