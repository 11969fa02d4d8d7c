//! The weights of oVirt, and how each is had here.

use std::collections::BTreeMap;

use placewright_chain::HostShown;
use toml::Table;

use crate::ovirt::document::Entry;
use crate::ovirt::input::Input;
use crate::ovirt::vector::UnitNamed;

/// How a weight of oVirt is had here: a unit under its id, scaled as oVirt's unit scales
/// by itself.
pub(super) struct Weight {
    id: &'static str,
    scaling: &'static str,
    /// What is added to our costs: oVirt counts ranks from 1.
    counts_from: f64,
    /// Parameters of oVirt that are settings, each with the setting of the engine that
    /// stands in for it.
    parameters: &'static [(&'static str, &'static str)],
    settings: &'static [(&'static str, bool)],
    /// Whether the load of a vCPU is assumed that was not measured.
    assumes_load: bool,
}

const PLAIN: Weight = Weight {
    id: "",
    scaling: "none",
    counts_from: 0.0,
    parameters: &[],
    settings: &[],
    assumes_load: false,
};

/// Of the parameters with no setting of the engine beside them, absent means none.
const WEIGHTS: &[Weight] = &[
    // OptimalForCpuEvenDistribution.
    Weight {
        id: "7db4ab05-81ab-42e8-868a-aee2df483edb",
        scaling: "stretch",
        parameters: &[("VCpuToPhysicalCpuRatio", "")],
        assumes_load: true,
        ..PLAIN
    },
    // OptimalForMemoryEvenDistribution.
    Weight {
        id: "4134247a-9c58-4b9a-8593-530bb9e37c59",
        ..PLAIN
    },
    // OptimalForEvenGuestDistribution.
    Weight {
        id: "3ba8c988-f779-42c0-90ce-caa8243edee7",
        parameters: &[("SpmVmGrace", "SpmVmGraceForEvenGuestDistribute")],
        ..PLAIN
    },
    // OptimalForHaReservation.
    Weight {
        id: "7f262d70-6cac-11e3-981f-0800200c9a66",
        parameters: &[("ScaleDown", "ScaleDownForHaReservation")],
        ..PLAIN
    },
    // Fit VM to single host NUMA node.
    Weight {
        id: "f58c1cb9-d91f-48a6-a196-c6d22fb10c4e",
        ..PLAIN
    },
    // OptimalForCpuPowerSaving.
    Weight {
        id: "736999d0-1023-46a4-9a75-1316ed50e15b",
        scaling: "stretch",
        parameters: &[("HighUtilization", "")],
        assumes_load: true,
        ..PLAIN
    },
    // OptimalForMemoryPowerSaving.
    Weight {
        id: "9dfe6086-646d-43b8-8eef-4d94de8472c8",
        parameters: &[
            ("MaxFreeMemoryForOverUtilized", ""),
            ("MinFreeMemoryForUnderUtilized", ""),
        ],
        ..PLAIN
    },
    // PreferredHosts.
    Weight {
        id: "591cdb81-ba67-45b4-9642-e28f61a97d57",
        ..PLAIN
    },
    // VmAffinityGroups.
    Weight {
        id: "84e6ddee-ab0d-42dd-82f0-c297779db567",
        scaling: "rank",
        counts_from: 1.0,
        settings: &[("vms", true), ("hosts", false)],
        ..PLAIN
    },
    // VmToHostsAffinityGroups.
    Weight {
        id: "427aed70-dae3-48ba-8fe9-a902a9d563c8",
        scaling: "rank",
        counts_from: 1.0,
        settings: &[("vms", false), ("hosts", true)],
        ..PLAIN
    },
    // CPU for high performance VMs.
    Weight {
        id: "71931e14-f0e6-4f91-a7c8-d494a26e3a09",
        scaling: "stretch",
        ..PLAIN
    },
    // CPU and NUMA pinning compatibility.
    Weight {
        id: "1b14ac11-20e9-4593-a149-2eb83c60a330",
        ..PLAIN
    },
];

/// The worst weight of oVirt's scales, which is not to be set here.
const WORST: f64 = 1000.0;

impl Weight {
    /// The one that a file is about.
    ///
    /// # Errors
    /// If it is not known.
    pub(super) fn of(unit: &UnitNamed) -> Result<&'static Self, String> {
        let id = unit.alias()?;
        let weight = WEIGHTS.iter().find(|weight| weight.id == id);
        weight.ok_or_else(|| format!("field unit.id: no weight {id} is known"))
    }

    /// It as an entry of a policy, with the settings of the vector.
    ///
    /// # Errors
    /// Which setting of oVirt's engine is not what it is here.
    pub(super) fn entry(&self, input: &Input) -> Result<Entry, String> {
        let mut settings = input.settings(self.parameters);
        let fixed = self.settings.iter();
        settings.extend(fixed.map(|(name, on)| ((*name).to_owned(), (*on).into())));
        if self.assumes_load {
            assume_load(input, &mut settings)?;
        }
        input.check_config("MaxSchedulerWeight", WORST)?;
        Ok(Entry {
            scaling: Some(self.scaling),
            ..Entry::new(self.id, settings)
        })
    }

    /// The score of each host.
    ///
    /// # Errors
    /// If a host has not one cost.
    pub(super) fn scores(&self, hosts: &[HostShown]) -> Result<BTreeMap<String, f64>, String> {
        let score = |host: &HostShown| match host.costs.as_slice() {
            [cost] => Ok((host.host.to_string(), cost.scaled + self.counts_from)),
            costs => Err(format!(
                "host {} has {} costs, not one",
                host.host,
                costs.len()
            )),
        };
        hosts.iter().map(score).collect()
    }
}

/// Managing a pool of storage counts as one vCPU of which no load was measured.
fn assume_load(input: &Input, settings: &mut Table) -> Result<(), String> {
    input.check_config("SpmVCpuConsumption", 1.0)?;
    if let Some(load) = input.config_number("VcpuConsumptionPercentage")? {
        settings.insert("assumed-load".to_owned(), load.into());
    }
    let threads = input.cluster.threads_as_cores.unwrap_or(false);
    settings.insert("count-threads-as-cores".to_owned(), threads.into());
    Ok(())
}
