//! Free CPU, memory and GPUs of hosts, beside what VMs need: what the units for
//! clusters of GPUs have in common.
//!
//! Of a GPU, a VM takes all or some thousandths; of several, the same share of each.

#![forbid(unsafe_code)]

mod give;
mod share;
mod want;

pub use give::{ChosenGpu, Current, Gift, give};
pub use share::{HeldShares, Largest, Node, Shares};
pub use want::{Asked, GpuVm, Model, Size, Vm, WHOLE, Want};

use std::borrow::Cow;

use placewright_sdk::prelude::*;

/// All VMs that are to be placed together on one host.
#[derive(Request)]
pub struct Request {
    /// They need room together.
    #[table("members")]
    pub vms: Rows<Vm>,
}

/// A GPU of a host.
#[derive(Clone, Row)]
pub struct Gpu {
    /// Thousandths that nobody has; less than 0 where more was given than there is.
    pub free: i64,
}

/// What is read of a host.
#[derive(Row)]
pub struct Host {
    /// All its CPU.
    #[column("cpu.total")]
    pub cpu: Millicores,
    /// How much of it may be promised; all of it once, if not given.
    #[column("cpu.overcommit")]
    pub cpu_overcommit: Option<f64>,
    /// Promised to VMs that run.
    #[column("cpu.committed")]
    pub cpu_committed: Millicores,
    /// Promised to VMs that have a place reserved.
    #[column("cpu.pending")]
    pub cpu_pending: Millicores,
    /// All its memory.
    #[column("memory.total")]
    pub memory: Bytes,
    /// What the host keeps of it for itself.
    #[column("memory.reserved")]
    pub memory_reserved: Bytes,
    /// How much of it may be promised.
    #[column("memory.overcommit")]
    pub memory_overcommit: f64,
    /// Promised to VMs that run.
    #[column("memory.committed")]
    pub memory_committed: Bytes,
    /// Promised to VMs that have a place reserved.
    #[column("memory.pending")]
    pub memory_pending: Bytes,
    /// The model of all its GPUs.
    #[column("gpu.model")]
    pub model: Option<Text>,
    /// Its GPUs.
    #[table("gpus")]
    pub gpus: Rows<Gpu>,
    /// Which of the VMs run here now.
    #[table("current")]
    pub current: Rows<Held>,
}

/// A VM to be placed that runs on the host now, and what it holds there.
#[derive(Clone, Row)]
pub struct Held {
    /// Row number in `members`.
    pub member: i64,
    /// Promised CPU.
    pub cpu: Millicores,
    /// Promised memory.
    pub memory: Bytes,
    /// How many GPUs.
    #[column("gpu.count")]
    pub count: Option<i64>,
    /// Thousandths of each.
    #[column("gpu.share")]
    pub share: Option<i64>,
}

impl Host {
    /// CPU that nobody was promised, in millicores.
    #[inline]
    pub fn free_cpu(&self) -> i64 {
        (promisable_cpu(self.cpu, self.cpu_overcommit) - self.cpu_committed - self.cpu_pending).0
    }

    fn free_memory(&self) -> Bytes {
        Bytes(times(self.memory.0, self.memory_overcommit))
            - self.memory_reserved
            - self.memory_committed
            - self.memory_pending
    }
}

/// CPU of a host that may be promised, to all VMs together.
#[inline]
pub fn promisable_cpu(total: Millicores, overcommit: Option<f64>) -> Millicores {
    Millicores(times(total.0, overcommit.unwrap_or(1.0)))
}

/// An amount with its overcommit, rounded down.
#[inline]
fn times(amount: i64, overcommit: f64) -> i64 {
    match overcommit == 1.0 {
        true => amount,
        false => (amount as f64 * overcommit) as i64,
    }
}

/// Why a host is removed.
#[derive(Reason, Debug, PartialEq)]
pub enum Reason {
    /// has too little free CPU
    TooLittleCpu,
    /// has too little free memory
    TooLittleMemory,
    /// has no GPUs of a model that the VM accepts
    WrongModel,
    /// has too few GPUs with enough free
    TooFewGpus,
}

/// CPU and memory that VMs take.
#[derive(Clone, Copy, Default)]
struct Needed {
    cpu: i64,
    memory: Bytes,
}

impl Resources for Needed {
    fn add(&mut self, other: &Self) {
        self.cpu = self.cpu.saturating_add(other.cpu);
        self.memory += other.memory;
    }

    fn less(&mut self, held: &Self) {
        self.cpu = self.cpu.saturating_sub(held.cpu).max(0);
        self.memory = (self.memory - held.memory).max(Bytes(0));
    }
}

/// What the VMs need together.
pub struct Need {
    takes: Takes<Needed>,
    /// What each of them wants, in the order of the members.
    pub wants: Vec<Want>,
}

impl Need {
    /// What these VMs need.
    pub fn of(request: &Request) -> Self {
        let needed = |vm: Vm| Needed {
            cpu: vm.cpu.0,
            memory: vm.memory,
        };
        Self {
            takes: Takes::of(request.vms.iter().map(needed)),
            wants: request.vms.iter().map(|vm| Want::of(&vm)).collect(),
        }
    }

    /// Keeps hosts with enough of everything. Who takes nothing of one kind stays, even where
    /// too much of it is promised.
    #[inline]
    pub fn keep(&self, host: &Host) -> Verdict<Reason> {
        let held = |row: Held| {
            let needed = Needed {
                cpu: row.cpu.0,
                memory: row.memory,
            };
            (row.member, needed)
        };
        let takes = self.takes.on(&host.current, held);
        let has_cpu = takes.cpu == 0 || host.free_cpu() >= takes.cpu;
        Verdict::keep_if(has_cpu, Reason::TooLittleCpu)
            .and(|| {
                let has_memory = takes.memory.0 == 0 || host.free_memory() >= takes.memory;
                Verdict::keep_if(has_memory, Reason::TooLittleMemory)
            })
            .and(|| {
                let wants = self.wants_on(host);
                let mut wants = wants.iter().filter(|want| want.count > 0);
                let accepted = wants.all(|want| want.accepts(host.model.as_ref()));
                Verdict::keep_if(accepted, Reason::WrongModel)
            })
            .and(|| Verdict::keep_if(self.has_gpus(host), Reason::TooFewGpus))
    }

    /// What each of them wants of a host beyond what it holds there: nothing of what it has.
    #[inline]
    pub fn wants_on(&self, host: &Host) -> Cow<'_, [Want]> {
        match host.current.is_empty() {
            true => Cow::Borrowed(&self.wants),
            false => Cow::Owned(self.beyond_held(host)),
        }
    }

    #[inline(never)]
    fn beyond_held(&self, host: &Host) -> Vec<Want> {
        let held = |row: Held| Current {
            member: row.member,
            count: row.count,
            share: row.share,
        };
        let current: Rows<Current> = host.current.iter().map(held).collect();
        let wants = (0..).zip(&self.wants);
        let wants = wants.map(|(vm, want)| {
            let held: i64 = (host.current.iter().filter(|row| row.member == vm))
                .map(|row| row.cpu.0)
                .sum();
            let mut beyond = want.beyond_held(vm, &current);
            beyond.cpu = want.cpu.saturating_sub(held).max(0);
            beyond
        });
        wants.collect()
    }

    #[inline]
    fn has_gpus(&self, host: &Host) -> bool {
        fits(&self.wants_on(host), &host.gpus)
    }
}

/// Is there room on these GPUs for all that is wanted, together?
#[inline]
pub fn fits(wants: &[Want], gpus: &Rows<Gpu>) -> bool {
    match wants {
        [want] => want.count <= 0 || want.fitting(gpus.iter().map(|gpu| gpu.free)) >= want.count,
        wants => {
            let mut free: Vec<i64> = gpus.iter().map(|gpu| gpu.free).collect();
            wants.iter().all(|want| want.take(&mut free).is_some())
        }
    }
}

/// The cost of a score: minus its whole points. The published rules are for a
/// scheduler whose scores are whole numbers; what rounding makes equal, the tie rule
/// decides.
#[inline]
pub fn cost_of(score: f64) -> f64 {
    // 0 and -0 are one cost.
    0.0 - score.floor()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vm(gpus: i64, share: i64, models: &[&str]) -> Vm {
        Vm {
            cpu: Millicores::cores(4),
            memory: Bytes::gib(8),
            count: Some(gpus),
            share: Some(share),
            models: models
                .iter()
                .map(|model| Model {
                    model: (*model).into(),
                })
                .collect(),
        }
    }

    fn host(cores: i64, gib: i64, free: &[i64]) -> Host {
        Host {
            cpu: Millicores::cores(64),
            cpu_overcommit: None,
            cpu_committed: Millicores::cores(60 - cores),
            cpu_pending: Millicores::cores(4),
            memory: Bytes::gib(256),
            memory_reserved: Bytes(0),
            memory_overcommit: 1.0,
            memory_committed: Bytes::gib(256 - gib),
            memory_pending: Bytes(0),
            model: Some("T4".into()),
            gpus: free.iter().map(|free| Gpu { free: *free }).collect(),
            current: Rows::default(),
        }
    }

    #[test]
    fn a_vm_that_runs_there_takes_what_it_asks_for_less_what_it_holds() {
        let own = |cores, gib, free: &[i64]| Host {
            current: vec![Held {
                member: 0,
                cpu: Millicores::cores(4),
                memory: Bytes::gib(8),
                count: Some(1),
                share: Some(1000),
            }]
            .into(),
            ..host(cores, gib, free)
        };
        assert_eq!(kept(vec![vm(1, 1000, &[])], &own(-1, -1, &[0])), Ok(()));
        assert_eq!(kept(vec![vm(2, 1000, &[])], &own(0, 0, &[0, 1000])), Ok(()));
        let too_few = Err(Reason::TooFewGpus);
        assert_eq!(kept(vec![vm(2, 1000, &[])], &own(0, 0, &[0, 900])), too_few);
    }

    fn kept(vms: Vec<Vm>, host: &Host) -> Result<(), Reason> {
        match Need::of(&Request { vms: vms.into() }).keep(host) {
            Verdict::Keep => Ok(()),
            Verdict::Remove(reason) => Err(reason),
        }
    }

    #[test]
    fn a_host_needs_cpu_memory_and_gpus_of_an_accepted_model() {
        let one = || vec![vm(1, 500, &[])];
        assert_eq!(kept(one(), &host(4, 8, &[400, 500])), Ok(()));
        assert_eq!(kept(one(), &host(3, 8, &[500])), Err(Reason::TooLittleCpu));
        assert_eq!(
            kept(one(), &host(4, 7, &[500])),
            Err(Reason::TooLittleMemory)
        );
        assert_eq!(
            kept(one(), &host(4, 8, &[400, 499])),
            Err(Reason::TooFewGpus)
        );
        let only = |models: &[&str]| kept(vec![vm(1, 500, models)], &host(4, 8, &[1000]));
        assert_eq!(only(&["A10", "T4"]), Ok(()));
        assert_eq!(only(&["A10"]), Err(Reason::WrongModel));
    }

    #[test]
    fn what_a_host_may_promise_is_its_own_to_say() {
        let overcommitted = || Host {
            cpu_overcommit: Some(65.0 / 64.0),
            memory_reserved: Bytes::gib(256),
            memory_overcommit: 2.0,
            ..host(3, 8, &[500])
        };
        assert_eq!(kept(vec![vm(1, 500, &[])], &overcommitted()), Ok(()));
        let reserved = Host {
            memory_overcommit: 1.0,
            ..overcommitted()
        };
        assert_eq!(
            kept(vec![vm(1, 500, &[])], &reserved),
            Err(Reason::TooLittleMemory)
        );
    }

    #[test]
    fn several_gpus_have_the_share_free_each() {
        let two = || vec![vm(2, 1000, &[])];
        assert_eq!(kept(two(), &host(4, 8, &[1000, 999, 1000])), Ok(()));
        assert_eq!(
            kept(two(), &host(4, 8, &[1000, 999])),
            Err(Reason::TooFewGpus)
        );
    }

    #[test]
    fn who_wants_no_gpu_needs_none() {
        assert_eq!(kept(vec![vm(0, 0, &["A10"])], &host(4, 8, &[])), Ok(()));
    }

    #[test]
    fn vms_that_are_placed_together_do_not_share_one_room() {
        let both = || vec![vm(1, 600, &[]), vm(1, 600, &[])];
        assert_eq!(kept(both(), &host(8, 16, &[600, 600])), Ok(()));
        assert_eq!(kept(both(), &host(8, 16, &[1000])), Err(Reason::TooFewGpus));
        assert_eq!(
            kept(both(), &host(7, 16, &[600, 600])),
            Err(Reason::TooLittleCpu)
        );
    }

    #[test]
    fn costs_are_minus_whole_points() {
        assert_eq!((cost_of(71.9), cost_of(-0.5)), (-71.0, 1.0));
        assert!(cost_of(0.3).is_sign_positive());
    }
}
