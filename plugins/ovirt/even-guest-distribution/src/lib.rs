//! Even guest distribution: a host costs the more, the more VMs it has; and of a
//! cluster that runs, VMs are moved from the hosts with the most to hosts with clearly
//! fewer.
//!
//! VMs are counted in slots: a host that manages a pool of storage has some of them
//! taken already.

#![forbid(unsafe_code)]

mod balance;

use host_load::cpu::Counting;
use host_load::moving::Limits;
use placewright_sdk::prelude::*;

#[derive(Settings)]
struct Settings {
    /// How many VMs a host must have for VMs to be moved away from the hosts with the
    /// most.
    #[setting(default = 10, least = 0)]
    high_vm_count: i64,
    /// By how many VMs a host must lie below those with the most to be given some.
    #[setting(default = 5, least = 2)]
    migration_threshold: i64,
    /// How many VMs it counts for that a host manages a pool of storage.
    #[setting(default = 5, least = 0)]
    spm_vm_grace: i64,
    /// CPU load that no host to which a VM is moved may exceed.
    #[setting(default = 75, least = 0, measure = "percent")]
    high_utilization: f64,
    /// No host to which a VM is moved may be left with so little memory to promise.
    #[setting(default = 0, least = 0)]
    low_memory: Bytes,
    /// What managing a storage pool adds to the CPU load of a host, as one vCPU.
    #[setting(default = 10, range = 0..=100, measure = "percent")]
    assumed_load: f64,
    /// Whether each thread of a host counts as a CPU, rather than each core.
    #[setting(default = false)]
    count_threads_as_cores: bool,
}

impl Settings {
    fn slots(&self) -> Slots {
        Slots {
            grace: self.spm_vm_grace,
        }
    }

    fn limits(&self) -> Limits {
        Limits {
            counting: Counting {
                threads_as_cores: self.count_threads_as_cores,
                assumed_load: self.assumed_load,
            },
            high_utilization: self.high_utilization,
            // How long a load has lasted does not matter here.
            duration: Seconds(0),
            vcpu_ratio: 0.0,
            low_memory: self.low_memory,
        }
    }
}

/// How VMs are counted.
struct Slots {
    /// What a host takes for itself that manages a pool of storage.
    grace: i64,
}

impl Slots {
    /// Those that are taken on a host with so many VMs.
    fn taken(&self, vms: i64, manages_storage: bool) -> i64 {
        let grace = if manages_storage { self.grace } else { 0 };
        vms.saturating_add(grace)
    }
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[column("vms.count")]
    vms: i64,
    #[column("vms.pending")]
    pending: i64,
    #[column("attribute.spm")]
    spm: Option<bool>,
}

struct EvenGuestDistribution;

impl RowWise for EvenGuestDistribution {
    type Request = ();
    type Host = Host;
    type Settings = Settings;
    type Reason = ();
    type Need = Slots;

    fn prepare((): &(), settings: &Settings) -> Result<Slots, Problem> {
        Ok(settings.slots())
    }
}

impl RowCost for EvenGuestDistribution {
    /// The slots that are taken, those of pending VMs included.
    fn cost(slots: &Slots, host: &Host) -> f64 {
        let vms = host.vms.saturating_add(host.pending);
        slots.taken(vms, host.spm == Some(true)).max(0) as f64
    }
}

placewright_sdk::export!(
    EvenGuestDistribution: cost_function, balance,
    aliases = [
        "OptimalForEvenGuestDistribution",
        "3ba8c988-f779-42c0-90ce-caa8243edee7",
        "d58c8e32-44e1-418f-9222-52cd887bf9e0",
    ]
);

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(vms: i64, pending: i64, spm: Option<bool>, spm_vm_grace: i64) -> f64 {
        let settings = Settings {
            spm_vm_grace,
            ..Settings::defaults().expect("all have defaults")
        };
        let need = EvenGuestDistribution::prepare(&(), &settings).expect("nothing is refused");
        EvenGuestDistribution::cost(&need, &Host { vms, pending, spm })
    }

    #[test]
    fn the_cost_is_the_number_of_vms_pending_ones_included() {
        assert_eq!(cost(3, 0, None, 5), 3.0);
        assert_eq!(cost(2, 1, Some(false), 5), 3.0);
    }

    #[test]
    fn managing_storage_counts_as_some_vms() {
        assert_eq!(cost(1, 0, Some(true), 5), 6.0);
        assert_eq!(cost(0, 0, Some(true), 0), 0.0);
    }
}
