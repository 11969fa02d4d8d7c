//! Even distribution: a host costs the more, the busier its CPUs would be; and of
//! a cluster that runs, VMs are moved from hosts with too much load or too little
//! memory to others.

#![forbid(unsafe_code)]

mod balance;
mod cost;

use host_load::cpu::Counting;
use host_load::moving::Limits;
use placewright_sdk::prelude::*;

#[derive(Settings)]
struct Settings {
    /// CPU load from which a host is over-utilised, and that no host to which a VM
    /// is moved may exceed.
    #[setting(default = 75, least = 0, measure = "percent")]
    high_utilization: f64,
    /// How long a load must have lasted before VMs are moved, counted from when the
    /// condition that the policy watches as cpu-over began to hold.
    #[setting(default = "2 min", least = 0)]
    over_commit_duration: Seconds,
    /// A host with less memory left to promise than this is over-utilised, and none
    /// to which a VM is moved may be left with so little.
    #[setting(default = 0, least = 0)]
    low_memory: Bytes,
    /// To hosts with more memory left to promise than this, VMs are moved from hosts
    /// with too little.
    #[setting(default = 0, least = 0)]
    high_memory: Bytes,
    /// vCPUs for each CPU from which a host costs a thousand times as much and is
    /// over-utilised; 0 = any number is fine.
    #[setting(default = 0, least = 0)]
    vcpu_to_cpu_ratio: f64,
    /// Load that is assumed for one vCPU of which none was measured.
    #[setting(default = 10, range = 0..=100, measure = "percent")]
    assumed_load: f64,
    /// Whether each thread of a host counts as a CPU, rather than each core.
    #[setting(default = false)]
    count_threads_as_cores: bool,
}

impl Settings {
    fn counting(&self) -> Counting {
        Counting {
            threads_as_cores: self.count_threads_as_cores,
            assumed_load: self.assumed_load,
        }
    }

    fn limits(&self) -> Limits {
        Limits {
            counting: self.counting(),
            high_utilization: self.high_utilization,
            duration: self.over_commit_duration,
            vcpu_ratio: self.vcpu_to_cpu_ratio,
            low_memory: self.low_memory,
        }
    }
}

struct EvenDistribution;

placewright_sdk::export!(
    EvenDistribution: cost_function, balance,
    aliases = [
        "7db4ab05-81ab-42e8-868a-aee2df483edb",
        "7db4ab05-81ab-42e8-868a-aee2df483ed2",
    ]
);
