//! Free CPU, memory and GPUs of hosts, beside what VMs need: what the units for
//! clusters of GPUs have in common.
//!
//! Of a GPU, a VM takes all or some thousandths; of several, the same share of each.

#![forbid(unsafe_code)]

mod give;
mod held;
mod pack;
mod share;
mod want;

pub use give::{ChosenGpu, Gift, give};
pub use held::{Beyond, Current, HeldGpu};
pub use share::{HeldShares, Largest, Node, Shares};
pub use want::{Asked, GpuVm, Model, Size, Vm, WHOLE, Want};

use placewright_sdk::prelude::*;

use pack::pack;

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
    pub gpus: Rows<ChosenGpu>,
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
    /// Those of which the numbers are known.
    #[table("gpus")]
    pub gpus: Rows<HeldGpu>,
    /// Models that it has asked for.
    #[table("gpu-models")]
    pub models: Rows<Model>,
}

impl Host {
    /// What members hold of its GPUs.
    fn held(&self) -> Rows<Current> {
        let held = |row: Held| Current {
            member: row.member,
            count: row.count,
            share: row.share,
            gpus: row.gpus,
            models: row.models,
        };
        self.current.iter().map(held).collect()
    }

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
        match host.current.is_empty() {
            true => self.keep_without_held(host),
            false => self.keep_beyond_held(host),
        }
    }

    /// As [`keep`](Self::keep), where none of them runs.
    #[inline]
    fn keep_without_held(&self, host: &Host) -> Verdict<Reason> {
        Self::keep_with(host, self.takes.asked())
            .and(|| {
                let accepted = (self.wants.iter())
                    .all(|want| want.count <= 0 || want.accepts(host.model.as_ref()));
                Verdict::keep_if(accepted, Reason::WrongModel)
            })
            .and(|| {
                let has_gpus = match &self.wants[..] {
                    [want] => want.fits(&host.gpus),
                    wants => fits(wants, &Rows::default(), &host.gpus),
                };
                Verdict::keep_if(has_gpus, Reason::TooFewGpus)
            })
    }

    /// As [`keep`](Self::keep), where some of them run: few hosts, so that it is compiled once
    /// and no part of the loops over all of them.
    #[cold]
    #[inline(never)]
    fn keep_beyond_held(&self, host: &Host) -> Verdict<Reason> {
        let held = |row: Held| {
            let needed = Needed {
                cpu: row.cpu.0,
                memory: row.memory,
            };
            (row.member, needed)
        };
        let takes = self.takes.on(&host.current, held);
        let held = host.held();
        Self::keep_with(host, &takes)
            .and(|| {
                let model = host.model.as_ref();
                let accepted = have_models(&self.wants, &held, &host.gpus, model);
                Verdict::keep_if(accepted, Reason::WrongModel)
            })
            .and(|| {
                let has_gpus = fits(&self.wants, &held, &host.gpus);
                Verdict::keep_if(has_gpus, Reason::TooFewGpus)
            })
    }

    /// Keeps hosts with CPU and memory for this.
    #[inline(always)]
    fn keep_with(host: &Host, takes: &Needed) -> Verdict<Reason> {
        let has_cpu = takes.cpu == 0 || host.free_cpu() >= takes.cpu;
        Verdict::keep_if(has_cpu, Reason::TooLittleCpu).and(|| {
            let has_memory = takes.memory.0 == 0 || host.free_memory() >= takes.memory;
            Verdict::keep_if(has_memory, Reason::TooLittleMemory)
        })
    }

    /// What each of them takes of a host where some run already, beyond what these hold there,
    /// and what is free of its GPUs for that.
    #[cold]
    #[inline(never)]
    pub fn beyond_held(&self, host: &Host) -> (Vec<Want>, Vec<i64>) {
        let held = host.held();
        let (beyond, mut free, _) = all_beyond(&self.wants, &held, &host.gpus);
        for place in beyond.iter().flat_map(|beyond| &beyond.own) {
            free[*place] = 0;
        }
        let wants = (0..).zip(&self.wants).zip(beyond);
        let wants = wants.map(|((vm, want), beyond)| {
            let held: i64 = (host.current.iter().filter(|row| row.member == vm))
                .map(|row| row.cpu.0)
                .sum();
            let cpu = want.cpu.saturating_sub(held).max(0);
            let mut more = beyond.more;
            more.cpu = cpu;
            more
        });
        (wants.collect(), free)
    }
}

/// May the GPUs of all of these members be of the host's model?
pub fn have_models(
    wants: &[Want],
    current: &Rows<Current>,
    gpus: &Rows<ChosenGpu>,
    model: Option<&Text>,
) -> bool {
    let mut wants = (0..).zip(wants);
    wants.all(|(member, want)| want.has_model(member, current, gpus, model))
}

/// What each of the members takes beyond what it holds, what is free of the GPUs for those that
/// they are to be given, and whether the host has as many as any of them has then.
fn all_beyond(
    wants: &[Want],
    current: &Rows<Current>,
    gpus: &Rows<ChosenGpu>,
) -> (Vec<Beyond>, Vec<i64>, bool) {
    let indices: Vec<i64> = gpus.iter().map(|gpu| gpu.index).collect();
    let mut free: Vec<i64> = gpus.iter().map(|gpu| gpu.free).collect();
    let mut has_as_many = true;
    let beyond = (0..).zip(wants).map(|(member, want)| {
        let beyond = want.beyond_held(member, current, &indices, &free);
        has_as_many &= beyond.grow(&mut free);
        beyond
    });
    let beyond = beyond.collect();
    (beyond, free, has_as_many)
}

/// Is there room on these GPUs for all that the members want beyond what they hold, together?
#[inline]
pub fn fits(wants: &[Want], current: &Rows<Current>, gpus: &Rows<ChosenGpu>) -> bool {
    match wants {
        [want] if current.is_empty() => want.fits(gpus),
        wants => {
            let (beyond, free, has_as_many) = all_beyond(wants, current, gpus);
            has_as_many && pack(&beyond, &free).is_some()
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

    fn gpus(free: &[i64]) -> Rows<ChosenGpu> {
        let gpu = |(index, free): (i64, &i64)| ChosenGpu { index, free: *free };
        (0..).zip(free).map(gpu).collect()
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
            gpus: gpus(free),
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
                gpus: Rows::default(),
                models: Rows::default(),
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

    /// A VM that holds these GPUs, each by this share, with so much free of each of the host's.
    fn on_own_host(asked: (i64, i64), own: &[i64], share: i64, free: &[i64]) -> bool {
        let (count, wanted) = asked;
        let held = Current {
            member: 0,
            count: i64::try_from(own.len()).ok(),
            share: Some(share),
            gpus: own.iter().map(|&index| HeldGpu { index, share }).collect(),
            models: Rows::default(),
        };
        let wants = [Want::of(&vm(count, wanted, &[]))];
        fits(&wants, &vec![held].into(), &gpus(free))
    }

    #[test]
    fn a_vm_goes_on_having_its_own_gpus_and_is_given_none_of_them_twice() {
        assert!(!on_own_host((2, 400), &[0], 400, &[600]));
        assert!(on_own_host((2, 400), &[0], 400, &[600, 400]));
        assert!(!on_own_host((2, 400), &[0], 400, &[600, 300]));
        assert!(on_own_host((1, 400), &[0, 1], 400, &[-200, -200]));
    }

    #[test]
    fn another_share_is_what_is_asked_for_less_what_is_held() {
        for share in [500, 600, 700, 1000] {
            assert!(on_own_host((1, share), &[0], 600, &[400]), "{share}");
        }
        assert!(on_own_host((1, 500), &[0], 600, &[-100]), "it shrinks");
        assert!(!on_own_host((1, 700), &[0], 600, &[50]));
        assert!(on_own_host((1, 700), &[0], 600, &[50, 700]), "another GPU");
        assert!(on_own_host((2, 700), &[0], 600, &[100, 700]));
        assert!(!on_own_host((2, 700), &[0], 600, &[100, 699]));
    }

    #[test]
    fn a_vm_that_asks_for_another_model_does_not_have_it() {
        let held = |models: &[&str]| Current {
            member: 0,
            count: Some(1),
            share: None,
            gpus: Rows::default(),
            models: vm(1, 1000, models).models,
        };
        let wants = |models: &[&str]| [Want::of(&vm(1, 1000, models))];
        let t4 = Text::from("T4");
        let has = |asked: &[&str], known: &[&str]| {
            let current = vec![held(known)].into();
            have_models(&wants(asked), &current, &gpus(&[0]), Some(&t4))
        };
        assert!(has(&["T4"], &[]) && has(&["A100"], &["A100"]));
        assert!(!has(&["A100"], &[]) && !has(&["A100"], &["T4"]));
    }

    /// Does a host of T4s with so much free of each keep a VM that accepts A100s alone, asks for
    /// so many GPUs by this share, and holds these of the host by 400 each?
    fn stays_on_t4s(asked: (i64, i64), own: &[i64], free: &[i64]) -> Result<(), Reason> {
        let (count, share) = asked;
        let wanted = vm(count, share, &["A100"]);
        let held = Held {
            member: 0,
            cpu: wanted.cpu,
            memory: wanted.memory,
            count: i64::try_from(own.len()).ok(),
            share: Some(400),
            gpus: (own.iter())
                .map(|&index| HeldGpu { index, share: 400 })
                .collect(),
            models: wanted.models.clone(),
        };
        let host = Host {
            current: vec![held].into(),
            ..host(0, 0, free)
        };
        kept(vec![wanted], &host)
    }

    #[test]
    fn a_vm_stays_on_gpus_of_a_model_that_it_does_not_accept() {
        assert_eq!(stays_on_t4s((1, 400), &[0], &[0, 0]), Ok(()));
        assert_eq!(stays_on_t4s((2, 400), &[0, 1], &[-200, 600]), Ok(()));
        assert_eq!(stays_on_t4s((1, 300), &[0, 1], &[0, 0]), Ok(()));
        assert_eq!(stays_on_t4s((0, 400), &[0], &[600]), Ok(()));
    }

    #[test]
    fn a_vm_is_given_no_gpu_and_no_share_of_a_model_that_it_does_not_accept() {
        let wrong = Err(Reason::WrongModel);
        let another_gpu = stays_on_t4s((2, 400), &[0], &[600, 1000]);
        assert_eq!(another_gpu, wrong);
        let more_of_its_own = stays_on_t4s((1, 500), &[0], &[600, 0]);
        assert_eq!(more_of_its_own, wrong);
        let another_instead = stays_on_t4s((1, 500), &[0], &[0, 1000]);
        assert_eq!(another_instead, wrong);
        let more_of_fewer = stays_on_t4s((1, 500), &[0, 1], &[600, 600]);
        assert_eq!(more_of_fewer, wrong);
    }

    #[test]
    fn a_vm_whose_gpus_have_no_known_numbers_is_given_no_more_of_a_model_that_it_does_not_accept() {
        let asks = |share: i64| {
            let wanted = vm(1, share, &["A100"]);
            let held = Current {
                member: 0,
                count: Some(1),
                share: Some(400),
                gpus: Rows::default(),
                models: wanted.models.clone(),
            };
            let t4 = Text::from("T4");
            let current = vec![held].into();
            have_models(&[Want::of(&wanted)], &current, &gpus(&[600]), Some(&t4))
        };
        assert!(asks(400) && asks(300));
        assert!(!asks(401));
    }

    #[test]
    fn gpus_for_several_vms_are_found_wherever_there_are_enough() {
        let of = |share: i64| vm(1, share, &[]);
        let together = |shares: &[i64], free: &[i64]| {
            let vms = shares.iter().map(|share| of(*share)).collect();
            kept(
                vms,
                &host(4 * shares.len() as i64, 8 * shares.len() as i64, free),
            )
        };
        assert_eq!(together(&[300, 300, 400], &[600, 400]), Ok(()));
        let too_few = Err(Reason::TooFewGpus);
        assert_eq!(together(&[300, 300, 500], &[600, 400]), too_few);
        let many = together(&[334; 14], &[1000; 5]);
        assert_eq!(many, too_few, "and it ends");
    }

    #[test]
    fn costs_are_minus_whole_points() {
        assert_eq!((cost_of(71.9), cost_of(-0.5)), (-71.0, 1.0));
        assert!(cost_of(0.3).is_sign_positive());
    }
}
