//! What the VMs to be placed need of a host.

use std::borrow::Cow;

use placewright_sdk::prelude::*;

use crate::huge_pages::{HostPages, Pages, VmPages};
use crate::{Current, Settings};

/// What is read of each VM to be placed.
#[derive(Row)]
pub struct Vm {
    pub memory: Bytes,
    pub vcpus: i64,
    #[column("memory.video")]
    pub video: Option<Bytes>,
    pub io_threads: Option<i64>,
    pub state: Option<Text>,
    #[table("huge-pages")]
    pub pages: Rows<VmPages>,
}

/// What VMs take beside their own memory.
pub struct Overhead {
    each: i64,
    share: f64,
    per_vcpu: i64,
    per_io_thread: i64,
}

impl Overhead {
    pub fn of_settings(settings: &Settings) -> Self {
        Self {
            each: settings.overhead.0,
            share: settings.overhead_share,
            per_vcpu: settings.overhead_per_vcpu.0,
            per_io_thread: settings.overhead_per_io_thread.0,
        }
    }

    /// What so many VMs with so much memory in sum take in any case.
    #[inline(always)]
    pub fn of(&self, memory: i64, vms: i64) -> i64 {
        let by_size = (memory as f64 * self.share) as i64;
        // Exact below 2^53 as the integers are, never beyond i64, and in WebAssembly
        // far cheaper than a product of integers that saturates.
        let by_number = (vms as f64 * self.each as f64) as i64;
        by_number.saturating_add(by_size)
    }

    /// What a VM may come to take in addition.
    fn possible(&self, vm: &Vm) -> i64 {
        let video = vm.video.map_or(0, |video| video.0);
        let threads = vm.io_threads.unwrap_or(0);
        video
            .saturating_add(vm.vcpus.saturating_mul(self.per_vcpu))
            .saturating_add(threads.saturating_mul(self.per_io_thread))
    }
}

/// What one VM needs, or several together.
#[derive(Clone, Default)]
pub struct Needed {
    /// Without the memory in huge pages, with the overhead there is in any case.
    at_start: i64,
    /// Overhead that there may come to be.
    possible: i64,
    pages: Pages,
}

impl Needed {
    /// A paused VM has its memory already, or is not about to take it: it needs
    /// nothing.
    fn by(vm: &Vm, overhead: &Overhead) -> Self {
        if vm.state.as_deref() == Some("paused") {
            return Self::default();
        }
        let pages = Pages::of(&vm.pages);
        let ordinary = vm.memory.0.saturating_sub(pages.bytes()).max(0);
        Self {
            at_start: ordinary.saturating_add(overhead.of(vm.memory.0, 1)),
            possible: overhead.possible(vm),
            pages,
        }
    }

    fn add(&mut self, other: &Self) {
        self.at_start = self.at_start.saturating_add(other.at_start);
        self.possible = self.possible.saturating_add(other.possible);
        self.pages.add(&other.pages);
    }

    /// Is there nothing to be found a place for?
    #[inline(always)]
    pub fn is_nothing(&self) -> bool {
        self.at_start == 0 && self.possible == 0 && self.pages.is_empty()
    }

    /// Ordinary memory that is taken when the VMs start.
    #[inline(always)]
    pub fn at_start(&self) -> i64 {
        self.at_start
    }

    /// Ordinary memory that they may come to take in addition.
    #[inline(always)]
    pub fn possible(&self) -> i64 {
        self.possible
    }

    /// Is it so little that no sum with amounts of a host can leave i64?
    #[inline(always)]
    pub fn is_moderate(&self) -> bool {
        is_moderate(self.at_start) && is_moderate(self.possible)
    }

    /// Memory of huge pages that a host with these pages would have to make.
    #[inline(always)]
    pub fn dynamic_pages(&self, host: &Rows<HostPages>) -> i64 {
        self.pages.lacking(host)
    }
}

/// What the VMs need, one by one and together.
pub struct Demand {
    each: Vec<Needed>,
    all: Needed,
}

impl Demand {
    pub fn of(vms: &Rows<Vm>, overhead: &Overhead) -> Self {
        let each: Vec<_> = vms.iter().map(|vm| Needed::by(&vm, overhead)).collect();
        let all = sum(&each);
        Self { each, all }
    }

    /// What they need of a host on which some of them may run already.
    #[inline(always)]
    pub fn on(&self, current: &Rows<Current>) -> Cow<'_, Needed> {
        // A copy, as for huge pages.
        match current.is_empty() {
            true => Cow::Borrowed(&self.all),
            false => Cow::Owned(self.but_for(current.clone())),
        }
    }

    /// What those need that do not run there.
    #[inline(never)]
    fn but_for(&self, current: Rows<Current>) -> Needed {
        let runs_here = |vm: i64| current.iter().any(|row| row.member == vm);
        let others = (0..).zip(&self.each).filter(|(vm, _)| !runs_here(*vm));
        sum(others.map(|(_, needed)| needed))
    }
}

/// A sum of a dozen such amounts cannot leave i64. The integers that a unit is given are
/// below 2^53; beyond 2^59, half a million TiB, is only what absurd settings lead to.
#[inline(always)]
pub fn is_moderate(amount: i64) -> bool {
    const BOUND: i64 = 1 << 59;
    (-BOUND..BOUND).contains(&amount)
}

fn sum<'a>(needs: impl IntoIterator<Item = &'a Needed>) -> Needed {
    needs
        .into_iter()
        .fold(Needed::default(), |mut sum, needed| {
            sum.add(needed);
            sum
        })
}
