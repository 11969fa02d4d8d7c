//! What VMs to be placed would add to the load of a host.

use placewright_sdk::prelude::*;

use crate::cpu::{Counting, Cpu, Shared};
use crate::load::{Load, count};

/// What is read of each VM to be placed.
#[derive(Row)]
pub struct Vm {
    /// All its vCPUs.
    pub vcpus: i64,
    /// Measured share of its vCPUs in use.
    #[column("cpu.usage")]
    pub usage: Option<f64>,
    /// Whether it has CPUs of its own.
    pub exclusive: bool,
    /// Whether it runs on a host now.
    pub running: bool,
}

/// A member that runs on the host now, and what it holds there: a row of `hosts/current`.
#[derive(Row)]
pub struct Current {
    /// Row number in `members`.
    pub member: i64,
    /// All its vCPUs there; 0 if it holds nothing.
    pub vcpus: i64,
    /// Whether these are CPUs of its own.
    pub exclusive: bool,
}

/// What is known of VMs that have a place reserved on a host: the columns of the
/// same names.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pending {
    /// `load.pending`
    pub load: Millicores,
    /// `vcpus.unmeasured`
    pub unmeasured_vcpus: i64,
}

/// What VMs add to a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Load on the CPUs that are shared.
    pub load: Load,
    /// vCPUs on the CPUs that are shared.
    pub vcpus: u64,
    /// CPUs of their own.
    pub exclusive: u64,
}

impl Added {
    /// The measured load of a VM that runs, an assumed one of any other.
    fn by(vm: &Vm, counting: &Counting) -> Self {
        let vcpus = count(vm.vcpus);
        if vm.exclusive {
            return Self {
                exclusive: vcpus,
                ..Self::default()
            };
        }
        let load = match vm.usage {
            Some(usage) if vm.running => Load::share(usage, vcpus),
            _ => counting.assumed(vcpus),
        };
        Self {
            load,
            vcpus,
            exclusive: 0,
        }
    }

    fn and(self, other: &Self) -> Self {
        Self {
            load: self.load.and(other.load),
            vcpus: self.vcpus.saturating_add(other.vcpus),
            exclusive: self.exclusive.saturating_add(other.exclusive),
        }
    }

    /// The same of a VM that holds so many CPUs there, of its own or not: load goes with the
    /// vCPUs that are added.
    fn beyond(&self, held: &Current, vm: &Vm, counting: &Counting) -> Self {
        let held_vcpus = if held.exclusive { 0 } else { count(held.vcpus) };
        let held_own = if held.exclusive { count(held.vcpus) } else { 0 };
        let vcpus = self.vcpus.saturating_sub(held_vcpus);
        let more = Vm {
            vcpus: i64::try_from(vcpus).unwrap_or(i64::MAX),
            ..*vm
        };
        let load = match self.exclusive {
            0 => Self::by(&more, counting).load,
            _ => Load::default(),
        };
        Self {
            load,
            vcpus,
            exclusive: self.exclusive.saturating_sub(held_own),
        }
    }
}

/// The VMs to be placed, one by one and together.
pub struct Newcomers {
    each: Vec<(Vm, Added)>,
    all: Added,
    counting: Counting,
}

impl Newcomers {
    /// Works out what they add to a host where none of them runs.
    pub fn new(vms: &Rows<Vm>, counting: Counting) -> Self {
        let added = |vm: Vm| {
            let added = Added::by(&vm, &counting);
            (vm, added)
        };
        let each: Vec<_> = vms.iter().map(added).collect();
        let all = each.iter().map(|(_, added)| added);
        Self {
            all: all.fold(Added::default(), Added::and),
            each,
            counting,
        }
    }

    /// What they add to a host where these of them run already: what each asks for, less what
    /// it holds there.
    #[inline]
    pub fn added(&self, current: &Rows<Current>) -> Added {
        // Few hosts have any.
        match current.is_empty() {
            true => self.all,
            false => self.beyond_held(current),
        }
    }

    #[inline(never)]
    fn beyond_held(&self, current: &Rows<Current>) -> Added {
        let added = (0..).zip(&self.each).map(|(number, (vm, added))| {
            let held = current.iter().find(|row| row.member == number);
            match held {
                Some(held) => added.beyond(&held, vm, &self.counting),
                None => *added,
            }
        });
        added.fold(Added::default(), |sum, added| sum.and(&added))
    }

    /// The shared CPUs of a host as they will be when pending VMs have started.
    #[inline]
    pub fn before(&self, cpu: &Cpu, pending: &Pending) -> Option<Shared> {
        let unmeasured = self.counting.assumed(count(pending.unmeasured_vcpus));
        let load = Load::millicores(pending.load).and(unmeasured);
        self.counting.shared(cpu)?.with(load, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTING: Counting = Counting {
        threads_as_cores: false,
        assumed_load: 10.0,
    };

    fn vm(usage: Option<f64>, running: bool) -> Vm {
        Vm {
            vcpus: 2,
            usage,
            exclusive: false,
            running,
        }
    }

    fn load(percent: i64) -> Load {
        Load::millicores(Millicores(percent * 10))
    }

    #[test]
    fn running_vms_add_what_was_measured_and_others_what_is_assumed() {
        let added = |vm| Newcomers::new(&vec![vm].into(), COUNTING).added(&Rows::default());
        assert_eq!(added(vm(Some(0.4), true)).load, load(80));
        assert_eq!(added(vm(Some(0.4), false)).load, load(20));
        assert_eq!(added(vm(None, true)).load, load(20));
    }

    #[test]
    fn exclusive_vms_take_cpus_and_add_no_load() {
        let exclusive = Vm {
            exclusive: true,
            ..vm(Some(0.4), true)
        };
        let added = Newcomers::new(&vec![exclusive].into(), COUNTING).added(&Rows::default());
        assert_eq!((added.load, added.vcpus, added.exclusive), (load(0), 0, 2));
    }

    #[test]
    fn a_vm_that_runs_on_the_host_adds_nothing() {
        let vms = Newcomers::new(&vec![vm(Some(0.4), true), vm(None, false)].into(), COUNTING);
        let with = |member| vms.added(&vec![held(member, 2, false)].into()).load;
        assert_eq!(with(0), load(20));
        assert_eq!(with(1), load(80));
    }

    fn held(member: i64, vcpus: i64, exclusive: bool) -> Current {
        Current {
            member,
            vcpus,
            exclusive,
        }
    }

    #[test]
    fn a_vm_that_grows_where_it_runs_adds_its_growth_and_one_that_holds_nothing_adds_all() {
        let added = |vm, held| {
            let added = Newcomers::new(&vec![vm].into(), COUNTING).added(&vec![held].into());
            (added.load, added.vcpus, added.exclusive)
        };
        let shared = || vm(Some(0.4), true);
        assert_eq!(added(shared(), held(0, 1, false)), (load(40), 1, 0));
        assert_eq!(added(shared(), held(0, 9, false)), (load(0), 0, 0));
        assert_eq!(added(shared(), held(0, 0, false)), (load(80), 2, 0));
        let own = || Vm {
            exclusive: true,
            ..shared()
        };
        assert_eq!(added(own(), held(0, 1, true)), (load(0), 0, 1));
        assert_eq!(added(own(), held(0, 2, false)), (load(0), 0, 2));
        assert_eq!(added(shared(), held(0, 2, true)), (load(80), 2, 0));
    }

    #[test]
    fn pending_vms_count_before_the_new_ones() {
        let vms = Newcomers::new(&Rows::default(), COUNTING);
        let cpu = Cpu {
            cores: Some(10),
            threads: None,
            total: Millicores(0),
            usage: Some(0.3),
            exclusive: 0,
            spm: None,
        };
        let pending = Pending {
            load: Millicores(1500),
            unmeasured_vcpus: 5,
        };
        let before = vms.before(&cpu, &pending).expect("known");
        assert_eq!(before.percent(), 30 + 15 + 5);
    }
}
