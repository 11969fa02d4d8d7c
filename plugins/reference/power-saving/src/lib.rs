//! Power saving: a host costs the less, the busier its CPUs would be, up to a
//! limit; of a cluster that runs, VMs are moved away from hosts with too much to do
//! and from hosts with so little that they could be empty; and if it is allowed to,
//! it switches empty hosts off and others on.

#![forbid(unsafe_code)]

mod balance;
mod cost;
mod power;

use host_load::cpu::Counting;
use host_load::moving::Limits;
use placewright_sdk::prelude::*;

#[derive(Settings)]
struct Settings {
    /// CPU load that hosts are filled up to: one above it costs most of all, and none
    /// to which a VM is moved may exceed it. If not set, costs have no such limit, and
    /// that of moves is 75 percent.
    #[setting(least = 0, measure = "percent")]
    high_utilization: Option<f64>,
    /// CPU load below which a host is emptied.
    #[setting(default = 20, least = 0, measure = "percent")]
    low_utilization: f64,
    /// How long a load must have lasted before VMs are moved, counted from when the
    /// condition that the policy watches as cpu-over began to hold.
    #[setting(default = "2 min", least = 0)]
    over_commit_duration: Seconds,
    /// A host with less memory left to promise than this is over-utilised, and none
    /// to which a VM is moved may be left with so little.
    #[setting(default = 0, least = 0)]
    low_memory: Bytes,
    /// A host with more memory left to promise than this is emptied; none, if not
    /// set.
    #[setting(least = 0)]
    high_memory: Option<Bytes>,
    /// Load that is assumed for one vCPU of which none was measured.
    #[setting(default = 10, range = 0..=100, measure = "percent")]
    assumed_load: f64,
    /// Whether each thread of a host counts as a CPU, rather than each core.
    #[setting(default = false)]
    count_threads_as_cores: bool,
    /// How many hosts stay up without VMs.
    #[setting(default = 0, least = 0)]
    hosts_in_reserve: i64,
    /// Whether hosts may be switched off, and on again.
    #[setting(default = false)]
    enable_host_power_management: bool,
}

/// The limit of moves if none is set, as in oVirt's engine.
const HIGH_UTILIZATION: f64 = 75.0;

impl Settings {
    fn high_utilization(&self) -> f64 {
        self.high_utilization.unwrap_or(HIGH_UTILIZATION)
    }

    fn counting(&self) -> Counting {
        Counting {
            threads_as_cores: self.count_threads_as_cores,
            assumed_load: self.assumed_load,
        }
    }

    fn limits(&self) -> Limits {
        Limits {
            counting: self.counting(),
            high_utilization: self.high_utilization(),
            duration: self.over_commit_duration,
            vcpu_ratio: 0.0,
            low_memory: self.low_memory,
        }
    }
}

struct PowerSaving;

impl CheckSettings for PowerSaving {
    type Settings = Settings;

    fn check(settings: &Settings) -> Result<(), String> {
        if settings.low_utilization >= settings.high_utilization() {
            return Err("low-utilization must be below high-utilization".into());
        }
        if settings
            .high_memory
            .is_some_and(|high| high < settings.low_memory)
        {
            return Err("high-memory must not be below low-memory".into());
        }
        Ok(())
    }
}

placewright_sdk::export!(
    PowerSaving: cost_function, balance, settings,
    aliases = [
        "736999d0-1023-46a4-9a75-1316ed50e15b",
        "736999d0-1023-46a4-9a75-1316ed50e151",
    ]
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_must_be_in_order() {
        let defaults = || Settings::defaults().expect("all have defaults");
        assert_eq!(PowerSaving::check(&defaults()), Ok(()));
        let utilization = Settings {
            low_utilization: 75.0,
            ..defaults()
        };
        assert!(PowerSaving::check(&utilization).is_err());
        let memory = Settings {
            low_memory: Bytes::gib(2),
            high_memory: Some(Bytes::gib(1)),
            ..defaults()
        };
        assert!(PowerSaving::check(&memory).is_err());
    }
}
