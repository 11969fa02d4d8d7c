//! Memory: keeps the hosts on which the VMs find memory now and on which the
//! promises made stay within the limit; prefers those with the most left to
//! promise.
//!
//! Here is what is read of a host and how it is judged; what the VMs need of it
//! is worked out in `need`, and what of that is huge pages in `huge_pages`.

#![forbid(unsafe_code)]

mod huge_pages;
mod need;

use placewright_sdk::prelude::*;

use huge_pages::HostPages;
use need::{Demand, Needed, Overhead, Vm};

/// All VMs that are to be placed together on one host.
#[derive(Request)]
struct Request {
    #[table("members")]
    vms: Rows<Vm>,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[column("memory.total")]
    total: Bytes,
    #[column("memory.free")]
    free: Option<Bytes>,
    #[column("memory.reserved")]
    reserved: Bytes,
    #[column("memory.overcommit")]
    overcommit: f64,
    #[column("memory.committed")]
    committed: Bytes,
    #[column("memory.pending")]
    pending: Bytes,
    #[column("swap.free")]
    swap_free: Option<Bytes>,
    #[column("vms.count")]
    vms: i64,
    #[column("vms.pending")]
    vms_pending: i64,
    #[table("current")]
    current: Rows<Current>,
    #[table("huge-pages")]
    pages: Rows<HostPages>,
}

/// A member that runs on the host now.
#[derive(Row)]
struct Current {
    member: i64,
}

#[derive(Settings)]
struct Settings {
    /// Memory kept free on every host, measured and to promise.
    #[setting(default = 0, least = 0)]
    headroom: Bytes,
    /// Whether hosts whose free memory is not measured are left out.
    #[setting(default = false)]
    require_measured: bool,
    /// What a VM takes beside its own memory, whatever its size.
    #[setting(default = "64 MiB", least = 0)]
    overhead: Bytes,
    /// What a VM takes in addition, as a share of its memory (1/512 if not set).
    #[setting(default = 0.001953125, range = 0.0..=1.0, measure = "fraction")]
    overhead_share: f64,
    /// What a VM may come to take for each of its vCPUs.
    #[setting(default = "8 MiB", least = 0)]
    overhead_per_vcpu: Bytes,
    /// What a VM may come to take for each of its I/O threads.
    #[setting(default = "8 MiB", least = 0)]
    overhead_per_io_thread: Bytes,
    /// Whether the VMs that are on a host already, or have a place there, take their
    /// overhead too; not so if their memory is given with it.
    #[setting(default = true)]
    placed_overhead: bool,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// has no measured free memory
    Unmeasured,
    /// has too little free memory
    TooLittleFree,
    /// has too little memory left to promise
    TooLittleToPromise,
    /// has too little free memory until pending VMs have started
    #[reason(passing)]
    TooLittleFreeWhilePending,
    /// has too little memory left to promise while places on it are reserved
    #[reason(passing)]
    TooLittleToPromiseWhilePending,
}

/// What the VMs need, and how the memory of hosts is counted.
struct Need {
    demand: Demand,
    headroom: i64,
    require_measured: bool,
    /// Of the VMs that are placed already.
    overhead: Option<Overhead>,
}

impl Need {
    /// Memory that VMs of a host take, their overhead included.
    #[inline(always)]
    fn taken(&self, memory: Bytes, vms: i64) -> i64 {
        let overhead = self.overhead.as_ref();
        let overhead = overhead.map_or(0, |overhead| overhead.of(memory.0, vms));
        memory.0.saturating_add(overhead)
    }

    #[inline(always)]
    fn pending(&self, host: &Host) -> i64 {
        self.taken(host.pending, host.vms_pending)
    }

    /// What is left to promise on a host, pending VMs not counted; negative where
    /// more was promised than may be.
    #[inline(always)]
    fn promisable(&self, host: &Host) -> i64 {
        let limit = (host.total.0 as f64 * host.overcommit) as i64;
        limit
            .saturating_sub(self.taken(host.committed, host.vms))
            .saturating_sub(host.reserved.0.max(0))
    }
}

struct Memory;

impl RowWise for Memory {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    type Need = Need;

    fn prepare(request: &Request, settings: &Settings) -> Result<Need, Problem> {
        let overhead = Overhead::of_settings(settings);
        Ok(Need {
            demand: Demand::of(&request.vms, &overhead),
            headroom: settings.headroom.0,
            require_measured: settings.require_measured,
            overhead: settings.placed_overhead.then_some(overhead),
        })
    }
}

impl RowFilter for Memory {
    #[inline(always)]
    fn keep(need: &Need, host: &Host) -> Verdict<Reason> {
        use crate::Reason::*;
        let demand = need.demand.on(&host.current);
        if demand.is_nothing() {
            return Verdict::Keep;
        }
        if need.require_measured && host.free.is_none() {
            return Verdict::Remove(Unmeasured);
        }
        let pending = need.pending(host);
        let room = Room::of(need, host, &demand);
        Verdict::keep_if(room.is_free(&demand, 0), TooLittleFree)
            .and(|| Verdict::keep_if(room.is_promisable(&demand, 0), TooLittleToPromise))
            .and(|| Verdict::keep_if(room.is_free(&demand, pending), TooLittleFreeWhilePending))
            .and(|| {
                let promisable = room.is_promisable(&demand, pending);
                Verdict::keep_if(promisable, TooLittleToPromiseWhilePending)
            })
    }
}

/// What a host has left beside its headroom and the huge pages that it would have
/// to make; pending VMs are not counted yet.
struct Room {
    /// None where it was not measured.
    free: Option<i64>,
    swap_free: i64,
    promisable: i64,
    dynamic_pages: i64,
}

impl Room {
    #[inline(always)]
    fn of(need: &Need, host: &Host, demand: &Needed) -> Self {
        let dynamic_pages = demand.dynamic_pages(&host.pages);
        let free = |free: Bytes| (free.0 - need.headroom).saturating_sub(dynamic_pages);
        Self {
            free: host.free.map(free),
            swap_free: host.swap_free.map_or(0, |swap| swap.0.max(0)),
            promisable: need.promisable(host).saturating_sub(need.headroom),
            dynamic_pages,
        }
    }

    /// Is there memory for the VMs to start, if so much of it is pending? Swap helps
    /// only where memory is not short without them.
    #[inline(always)]
    fn is_free(&self, demand: &Needed, pending: i64) -> bool {
        self.free.is_none_or(|free| {
            let left = free.saturating_sub(pending);
            left >= 0 && demand.at_start() <= left.saturating_add(self.swap_free)
        })
    }

    /// May as much be promised as the VMs may come to take, if so much is pending?
    #[inline(always)]
    fn is_promisable(&self, demand: &Needed, pending: i64) -> bool {
        let left = self.promisable.saturating_sub(pending);
        demand.at_most().saturating_add(self.dynamic_pages) <= left.max(0)
    }
}

impl RowCost for Memory {
    /// Minus the bytes that are left to promise when the VMs are placed.
    #[inline(always)]
    fn cost(need: &Need, host: &Host) -> f64 {
        let demand = need.demand.on(&host.current);
        let needed = (demand.at_most()).saturating_add(demand.dynamic_pages(&host.pages));
        let left = need.promisable(host).saturating_sub(need.pending(host));
        needed.saturating_sub(left.max(0)) as f64
    }
}

placewright_sdk::export!(
    Memory: filter, cost_function,
    aliases = ["c9ddbb34-0e1d-4061-a8d7-b0893fa80932"]
);

#[cfg(test)]
mod tests;
