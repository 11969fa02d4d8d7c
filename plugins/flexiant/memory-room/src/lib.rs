//! Memory room: a host must have more memory than the VMs to be started and an
//! overhead take, and that twice: of the memory that was measured as free there, and
//! of what may be promised of it. A host with exactly as much has too little.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of each VM to be placed.
#[derive(Row)]
struct Vm {
    memory: Bytes,
}

/// All VMs that are to be placed together on one host.
#[derive(Request)]
struct Request {
    #[table("members")]
    vms: Rows<Vm>,
}

/// What is read of a host. One that was not measured is not looked at.
#[derive(Row)]
struct Host {
    #[column("memory.total")]
    total: Bytes,
    #[column("memory.free")]
    free: Bytes,
    #[column("memory.overcommit")]
    overcommit: f64,
    #[column("memory.committed")]
    committed: Bytes,
    #[column("memory.pending")]
    pending: Bytes,
}

#[derive(Settings)]
struct Settings {
    /// What a host needs for itself beside the VMs, and as a margin for error.
    #[setting(default = "1 GiB", least = 0)]
    overhead: Bytes,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// has too little free memory
    Contended,
    /// has too little memory left to promise
    Promised,
    /// has too little memory while places on it are reserved
    #[reason(passing)]
    Reserved,
}

struct MemoryRoom;

impl RowWise for MemoryRoom {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    type Need = f64;

    /// Bytes of the VMs and the overhead; below 2^53, floats are exact.
    fn prepare(request: &Request, settings: &Settings) -> Result<f64, Problem> {
        let memory = request.vms.iter().map(|vm| vm.memory.0 as f64);
        Ok(memory.sum::<f64>() + settings.overhead.0 as f64)
    }
}

impl RowFilter for MemoryRoom {
    fn keep(need: &f64, host: &Host) -> Verdict<Reason> {
        use crate::Reason::*;
        let pending = host.pending.0 as f64;
        let free = host.free.0 as f64;
        let promisable = host.total.0 as f64 * host.overcommit - host.committed.0 as f64;
        Verdict::keep_if(free > *need, Contended)
            .and(|| Verdict::keep_if(promisable > *need, Promised))
            .and(|| {
                let left = free.min(promisable) - pending;
                Verdict::keep_if(left > *need, Reserved)
            })
    }
}

placewright_sdk::export!(MemoryRoom: filter);

#[cfg(test)]
mod tests;
