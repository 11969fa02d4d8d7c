//! Memory: keeps the hosts on which the VMs find memory now and on which the
//! promises made stay within the limit; prefers those with the most left to
//! promise.
//!
//! Here is what is read of a host; what it has left is worked out and judged in
//! `room`, what the VMs need of it in `need`, and what of that is huge pages in
//! `huge_pages`.

#![forbid(unsafe_code)]

mod huge_pages;
mod need;
mod room;

use std::num::Saturating;

use placewright_sdk::prelude::*;
use placewright_sdk::row_wise::Together;

use huge_pages::HostPages;
use need::{Current, Demand, Overhead, Vm};
use room::{Counted, Room};

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
    #[column("memory.unmeasured")]
    unmeasured: Bytes,
    #[column("swap.free")]
    swap_free: Option<Bytes>,
    #[column("vms.count")]
    vms: i64,
    #[column("vms.pending")]
    vms_pending: i64,
    #[column("vms.unmeasured")]
    vms_unmeasured: i64,
    #[table("current")]
    current: Rows<Current>,
    #[table("huge-pages")]
    pages: Rows<HostPages>,
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
    /// Whether memory in free huge pages of a host is kept for VMs that ask for huge
    /// pages; not so if `memory.reserved` contains it, or `memory.total` does not.
    #[setting(default = false)]
    reserve_huge_pages: bool,
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
    /// Whether free huge pages are none of the memory of other VMs.
    reserve_huge_pages: bool,
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
            reserve_huge_pages: settings.reserve_huge_pages,
        })
    }
}

impl RowFilter for Memory {
    const TOGETHER: Option<Together<Self>> = Some(keep_and_cost);

    #[inline(always)]
    fn keep(need: &Need, host: &Host) -> Verdict<Reason> {
        let demand = need.demand.on(&host.current);
        let counted = Counted::of(need, host, &demand);
        Room::<Saturating<i64>>::of(need, host, &counted).verdict(need, &demand)
    }
}

impl RowCost for Memory {
    /// Minus the bytes that are left to promise when the VMs are placed.
    #[inline(always)]
    fn cost(need: &Need, host: &Host) -> f64 {
        let demand = need.demand.on(&host.current);
        let counted = Counted::of(need, host, &demand);
        Room::<Saturating<i64>>::of(need, host, &counted).cost(&demand)
    }
}

/// Both, if all amounts are such that none of their sums can leave i64.
#[inline(always)]
fn keep_and_cost(need: &Need, host: &Host) -> Option<(Verdict<Reason>, f64)> {
    let demand = need.demand.on(&host.current);
    let counted = Counted::of(need, host, &demand);
    if !counted.is_moderate() || !demand.is_moderate() {
        return None;
    }
    let room = Room::<i64>::of(need, host, &counted);
    Some((room.verdict(need, &demand), room.cost(&demand)))
}

placewright_sdk::export!(
    Memory: filter, cost_function,
    aliases = ["c9ddbb34-0e1d-4061-a8d7-b0893fa80932"]
);

#[cfg(test)]
mod tests;
