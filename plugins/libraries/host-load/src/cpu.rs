//! The CPUs that the VMs of a host share, and how busy they are.

use std::num::NonZeroU64;

use placewright_sdk::prelude::*;

use crate::load::{Load, count};

/// What is known of a host's CPU: the columns of the same names.
#[derive(Clone, Copy, Debug)]
pub struct Cpu {
    /// `cpu.cores`
    pub cores: Option<i64>,
    /// `cpu.threads`
    pub threads: Option<i64>,
    /// `cpu.total`
    pub total: Millicores,
    /// `cpu.usage`
    pub usage: Option<f64>,
    /// `cpu.exclusive`
    pub exclusive: i64,
    /// `attribute.spm`: whether the host manages a pool of storage, which takes the
    /// load that is assumed for one vCPU and is not measured.
    pub spm: Option<bool>,
}

/// How load is counted.
#[derive(Clone, Copy, Debug)]
pub struct Counting {
    /// Does each thread count as a CPU, rather than each core?
    pub threads_as_cores: bool,
    /// The load that is assumed for a vCPU that was not measured, in percent.
    pub assumed_load: f64,
}

impl Counting {
    /// The load that is assumed for so many vCPUs.
    #[inline]
    pub fn assumed(&self, vcpus: u64) -> Load {
        Load::share(self.assumed_load / 100.0, vcpus)
    }

    /// The shared CPUs of a host and their load; none if its usage was not
    /// measured, or if it has no CPUs that are shared.
    ///
    /// Usage is measured for the host as a whole, so the load of CPUs that VMs have
    /// for themselves is in it.
    #[inline]
    pub fn shared(&self, cpu: &Cpu) -> Option<Shared> {
        let cpus = self.cpus(cpu);
        let extra = self.assumed(u64::from(cpu.spm == Some(true)));
        Some(Shared {
            load: Load::share(cpu.usage?, cpus).and(extra),
            cpus: less(cpus, count(cpu.exclusive))?,
        })
    }

    /// All CPUs of a host. Where the topology is not known, it has one for each whole
    /// core of its total.
    #[inline]
    pub fn cpus(&self, cpu: &Cpu) -> u64 {
        let known = if self.threads_as_cores {
            cpu.threads
        } else {
            cpu.cores
        };
        count(known.unwrap_or(cpu.total.0 / 1000))
    }
}

/// The CPUs that the VMs of a host share.
#[derive(Clone, Copy, Debug)]
pub struct Shared {
    load: Load,
    cpus: NonZeroU64,
}

impl Shared {
    /// With more load, and some of the CPUs taken away; none if no CPU is left.
    #[inline]
    pub fn with(self, load: Load, exclusive: u64) -> Option<Self> {
        Some(Self {
            load: self.load.and(load),
            cpus: less(self.cpus.get(), exclusive)?,
        })
    }

    /// Their load in percent, rounded up: what is compared with limits.
    #[inline]
    pub fn percent(&self) -> u64 {
        self.load.percent_rounded_up(self.cpus)
    }

    /// Their load times a factor in percent, rounded half up: what is compared
    /// among hosts.
    #[inline]
    pub fn cost(&self, factor: u64) -> f64 {
        self.load.times(factor).percent_rounded(self.cpus) as f64
    }

    /// Are there at least so many of these vCPUs for each CPU? 0 = the limit is off.
    #[inline]
    pub fn is_crowded(&self, vcpus: u64, limit: f64) -> bool {
        limit > 0.0 && vcpus as f64 / self.cpus.get() as f64 >= limit
    }
}

#[inline]
fn less(cpus: u64, exclusive: u64) -> Option<NonZeroU64> {
    NonZeroU64::new(cpus.checked_sub(exclusive)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTING: Counting = Counting {
        threads_as_cores: false,
        assumed_load: 10.0,
    };

    fn cpu(usage: f64) -> Cpu {
        Cpu {
            cores: Some(4),
            threads: Some(8),
            total: Millicores::cores(4),
            usage: Some(usage),
            exclusive: 0,
            spm: None,
        }
    }

    fn percent(counting: Counting, cpu: Cpu) -> Option<u64> {
        Some(counting.shared(&cpu)?.percent())
    }

    #[test]
    fn load_is_the_measured_share_and_the_work_of_managing_storage() {
        assert_eq!(percent(COUNTING, cpu(0.79)), Some(79));
        let managing = Cpu {
            spm: Some(true),
            ..cpu(0.79)
        };
        // 316 and 10 percent of one CPU, on four: 81.5.
        assert_eq!(percent(COUNTING, managing), Some(82));
        let threads = Counting {
            threads_as_cores: true,
            ..COUNTING
        };
        // 632 and 10, on eight: 80.25.
        assert_eq!(percent(threads, managing), Some(81));
    }

    #[test]
    fn without_usage_or_shared_cpus_no_load_is_known() {
        let unmeasured = Cpu {
            usage: None,
            ..cpu(0.0)
        };
        assert_eq!(percent(COUNTING, unmeasured), None);
        for exclusive in [4, 5] {
            let taken = Cpu {
                exclusive,
                ..cpu(0.5)
            };
            assert_eq!(percent(COUNTING, taken), None);
        }
    }

    #[test]
    fn without_a_topology_the_total_counts() {
        let plain = Cpu {
            cores: None,
            threads: None,
            exclusive: 2,
            ..cpu(0.25)
        };
        assert_eq!(percent(COUNTING, plain), Some(50));
    }

    #[test]
    fn a_ratio_of_0_crowds_no_host() {
        let shared = COUNTING.shared(&cpu(0.5)).expect("known");
        assert!(!shared.is_crowded(1_000, 0.0));
        assert!(shared.is_crowded(8, 2.0) && !shared.is_crowded(7, 2.0));
    }
}
