//! What the VMs to be placed need of a host.

use std::borrow::Cow;

use placewright_sdk::prelude::*;

use crate::Settings;
use crate::huge_pages::{HostPages, Pages, VmPages};

/// What is read of each VM to be placed.
#[derive(Row)]
pub struct Vm {
    pub memory: Bytes,
    pub vcpus: i64,
    #[column("memory.video")]
    pub video: Option<Bytes>,
    pub io_threads: Option<i64>,
    pub state: Option<Text>,
    pub running: bool,
    #[table("huge-pages")]
    pub pages: Rows<VmPages>,
}

/// A member that runs on the host now, and what it holds there.
#[derive(Row)]
pub struct Current {
    pub member: i64,
    pub holds: bool,
    pub memory: Bytes,
    pub vcpus: i64,
    #[column("memory.video")]
    pub video: Option<Bytes>,
    pub io_threads: Option<i64>,
    #[table("huge-pages")]
    pub pages: Rows<VmPages>,
}

/// What VMs take beside their own memory.
#[derive(Clone)]
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
        // Of most hosts nothing is pending.
        if memory | vms == 0 {
            return 0;
        }
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
    /// The same with the overhead that there may come to be.
    promised: i64,
    pages: Pages,
}

impl Needed {
    /// A paused VM that runs on no host is not about to take its memory: it needs nothing. Where one
    /// runs it has its memory already, and takes it along to any other host.
    fn by(vm: &Vm, overhead: &Overhead) -> Self {
        if vm.state.as_deref() == Some("paused") && !vm.running {
            return Self::default();
        }
        let pages = Pages::of(&vm.pages);
        let ordinary = vm.memory.0.saturating_sub(pages.bytes()).max(0);
        let at_start = ordinary.saturating_add(overhead.of(vm.memory.0, 1));
        Self {
            at_start,
            promised: at_start.saturating_add(overhead.possible(vm)),
            pages,
        }
    }

    /// What is held by a VM that runs.
    fn held(row: &Current, overhead: &Overhead) -> Self {
        if !row.holds {
            return Self::default();
        }
        let vm = Vm {
            memory: row.memory,
            vcpus: row.vcpus,
            video: row.video,
            io_threads: row.io_threads,
            state: None,
            running: true,
            pages: row.pages.clone(),
        };
        Self::by(&vm, overhead)
    }

    /// Is there nothing to be found a place for?
    #[inline(always)]
    pub fn is_nothing(&self) -> bool {
        self.at_start == 0 && self.promised == 0 && self.pages.is_empty()
    }

    /// Ordinary memory that is taken when the VMs start.
    #[inline(always)]
    pub fn at_start(&self) -> i64 {
        self.at_start
    }

    /// Ordinary memory that they may come to take in all.
    #[inline(always)]
    pub fn promised(&self) -> i64 {
        self.promised
    }

    /// Is it so little that no sum with amounts of a host can leave i64?
    #[inline(always)]
    pub fn is_moderate(&self) -> bool {
        is_moderate(self.at_start) && is_moderate(self.promised)
    }

    /// Memory of huge pages that a host with these pages would have to make.
    #[inline(always)]
    pub fn dynamic_pages(&self, host: &Rows<HostPages>) -> i64 {
        self.pages.lacking(host)
    }
}

impl Resources for Needed {
    fn add(&mut self, other: &Self) {
        self.at_start = self.at_start.saturating_add(other.at_start);
        self.promised = self.promised.saturating_add(other.promised);
        self.pages.add(&other.pages);
    }

    fn less(&mut self, held: &Self) {
        self.at_start = self.at_start.saturating_sub(held.at_start).max(0);
        // What is promised is of one kind: memory that a VM gives back pays for its vCPUs.
        self.promised = self.promised.saturating_sub(held.promised).max(0);
        self.pages.less(&held.pages);
    }
}

/// What the VMs need, one by one and together.
pub struct Demand {
    takes: Takes<Needed>,
    overhead: Overhead,
}

impl Demand {
    pub fn of(vms: &Rows<Vm>, overhead: &Overhead) -> Self {
        let each = vms.iter().map(|vm| Needed::by(&vm, overhead));
        Self {
            takes: Takes::of(each),
            overhead: overhead.clone(),
        }
    }

    /// What they take of a host on which some of them may run already.
    #[inline(always)]
    pub fn on(&self, current: &Rows<Current>) -> Cow<'_, Needed> {
        let held = |row: Current| (row.member, Needed::held(&row, &self.overhead));
        self.takes.on(current, held)
    }
}

/// A sum of a dozen such amounts cannot leave i64. The integers that a unit is given are
/// below 2^53; beyond 2^59, half a million TiB, is only what absurd settings lead to.
#[inline(always)]
pub fn is_moderate(amount: i64) -> bool {
    const BOUND: i64 = 1 << 59;
    (-BOUND..BOUND).contains(&amount)
}
