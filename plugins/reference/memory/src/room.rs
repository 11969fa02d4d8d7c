//! What a host has left for the VMs, and whether that is enough.

use std::num::Saturating;
use std::ops::{Add, Sub};

use placewright_sdk::prelude::*;

use crate::huge_pages::{free_bytes, pending_bytes};
use crate::need::{Needed, is_moderate};
use crate::{Host, Need, Reason};

/// Bytes of memory: `i64` where no sum can leave it, else one that stays at its ends,
/// which takes several times as long in WebAssembly.
pub trait Amount: Copy + Ord + Add<Output = Self> + Sub<Output = Self> {
    fn of(bytes: i64) -> Self;
    fn bytes(self) -> i64;
}

impl Amount for i64 {
    #[inline(always)]
    fn of(bytes: i64) -> Self {
        bytes
    }

    #[inline(always)]
    fn bytes(self) -> i64 {
        self
    }
}

impl Amount for Saturating<i64> {
    #[inline(always)]
    fn of(bytes: i64) -> Self {
        Self(bytes)
    }

    #[inline(always)]
    fn bytes(self) -> i64 {
        self.0
    }
}

/// The amounts of a host that are not read but worked out, and so may be any.
pub struct Counted {
    /// What may be promised in all.
    limit: i64,
    /// What the VMs that run here take beside their own memory, and what pending ones take.
    overhead: i64,
    pending_overhead: i64,
    /// What of the memory of pending VMs comes from free huge pages: no part of free memory.
    /// Negative where VMs give pages back for ordinary memory.
    pending_in_pages: i64,
    /// What VMs that free memory does not show yet take beside their memory, by which it is less
    /// already.
    unmeasured_overhead: i64,
    /// Memory of the huge pages that it would have to make.
    dynamic_pages: i64,
}

impl Counted {
    #[inline(always)]
    pub fn of(need: &Need, host: &Host, demand: &Needed) -> Self {
        let overhead = |memory: Bytes, vms| {
            let overhead = need.overhead.as_ref();
            overhead.map_or(0, |overhead| overhead.of(memory.0, vms))
        };
        let in_pages = match need.reserve_huge_pages {
            true => free_bytes(host.pages.clone()),
            false => 0,
        };
        // Few hosts have huge pages.
        let pending_in_pages = match host.pages.is_empty() {
            false => pending_bytes(host.pages.clone()).min(host.pending.0.max(0)),
            true => 0,
        };
        Self {
            limit: (host.total.0.saturating_sub(in_pages) as f64 * host.overcommit) as i64,
            overhead: overhead(host.committed, host.vms),
            pending_overhead: overhead(host.pending, host.vms_pending),
            pending_in_pages,
            unmeasured_overhead: overhead(host.unmeasured, host.vms_unmeasured),
            dynamic_pages: demand.dynamic_pages(&host.pages),
        }
    }

    /// Is each so far within i64 that the sums of `Room` are, too? What is read is always.
    #[inline(always)]
    pub fn is_moderate(&self) -> bool {
        is_moderate(self.limit)
            && is_moderate(self.overhead)
            && is_moderate(self.pending_overhead)
            && is_moderate(self.unmeasured_overhead)
            && is_moderate(self.dynamic_pages)
    }
}

/// What a host has left for the VMs.
pub struct Room<A> {
    /// Beside the headroom and dynamic huge pages; none where it was not measured.
    free: Option<A>,
    swap_free: A,
    /// What is left to promise, pending VMs not counted; negative where more was
    /// promised than may be.
    promisable: A,
    headroom: A,
    /// What pending VMs take.
    pending: A,
    /// What they take of free memory when they start.
    pending_at_start: A,
    dynamic_pages: A,
}

impl<A: Amount> Room<A> {
    #[inline(always)]
    pub fn of(need: &Need, host: &Host, counted: &Counted) -> Self {
        let headroom = A::of(need.headroom);
        let dynamic_pages = A::of(counted.dynamic_pages);
        let placed = A::of(host.committed.0) + A::of(counted.overhead);
        let pending = A::of(host.pending.0) + A::of(counted.pending_overhead);
        Self {
            free: (host.free).map(|free| {
                A::of(free.0) - A::of(counted.unmeasured_overhead) - headroom - dynamic_pages
            }),
            swap_free: A::of(host.swap_free.map_or(0, |swap| swap.0.max(0))),
            promisable: A::of(counted.limit) - placed - A::of(host.reserved.0.max(0)),
            headroom,
            pending,
            pending_at_start: pending - A::of(counted.pending_in_pages),
            dynamic_pages,
        }
    }

    /// May the VMs run here?
    #[inline(always)]
    pub fn verdict(&self, need: &Need, demand: &Needed) -> Verdict<Reason> {
        use crate::Reason::*;
        if demand.is_nothing() {
            return Verdict::Keep;
        }
        if need.require_measured && self.free.is_none() {
            return Verdict::Remove(Unmeasured);
        }
        let none = A::of(0);
        Verdict::keep_if(self.is_free(demand, none), TooLittleFree)
            .and(|| Verdict::keep_if(self.is_promisable(demand, none), TooLittleToPromise))
            .and(|| {
                let is_free = self.is_free(demand, self.pending_at_start);
                Verdict::keep_if(is_free, TooLittleFreeWhilePending)
            })
            .and(|| {
                let is_promisable = self.is_promisable(demand, self.pending);
                Verdict::keep_if(is_promisable, TooLittleToPromiseWhilePending)
            })
    }

    /// Minus the bytes that are left to promise when the VMs are placed.
    #[inline(always)]
    pub fn cost(&self, demand: &Needed) -> f64 {
        let left = self.promisable - self.pending;
        (self.promised(demand) - left.max(A::of(0))).bytes() as f64
    }

    /// Is there memory for the VMs to start, if so much of it is pending? Swap helps
    /// only where memory is not short without them.
    #[inline(always)]
    fn is_free(&self, demand: &Needed, pending: A) -> bool {
        self.free.is_none_or(|free| {
            let left = free - pending;
            left >= A::of(0) && A::of(demand.at_start()) <= left + self.swap_free
        })
    }

    /// May as much be promised as the VMs may come to take, if so much is pending?
    #[inline(always)]
    fn is_promisable(&self, demand: &Needed, pending: A) -> bool {
        let left = self.promisable - self.headroom - pending;
        self.promised(demand) <= left.max(A::of(0))
    }

    /// What the VMs may come to take on the host.
    #[inline(always)]
    fn promised(&self, demand: &Needed) -> A {
        A::of(demand.promised()) + self.dynamic_pages
    }
}
