//! What of oVirt's scheduler goes by other names here, or is not here at all.
//!
//! The units themselves are not listed: each knows by its aliases for which of oVirt's
//! units it stands. Names, ids, expressions and defaults are those of oVirt's engine.

use super::source::Kind;

/// A parameter of a policy.
#[derive(Debug)]
pub(crate) struct Parameter {
    /// Its name in oVirt.
    pub name: &'static str,
    /// What the whole of a value must match.
    pub expression: &'static str,
    /// In what it is measured.
    pub amount: Amount,
    /// The setting of the units here.
    pub setting: &'static str,
}

/// In what a parameter is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Amount {
    Percent,
    Mebibytes,
    Minutes,
    /// A whole number, or one with a fraction.
    Number,
    /// True or false.
    Switch,
}

const fn parameter(
    name: &'static str,
    expression: &'static str,
    amount: Amount,
    setting: &'static str,
) -> Parameter {
    Parameter {
        name,
        expression,
        amount,
        setting,
    }
}

/// The parameters of oVirt's units that have a unit here.
#[rustfmt::skip]
pub(crate) const PARAMETERS: &[Parameter] = {
    use Amount::{Mebibytes, Minutes, Number, Percent, Switch};
    &[
        parameter(HIGH_UTILIZATION, "[5-9][0-9]", Percent, "high-utilization"),
        parameter(LOW_UTILIZATION, "[0-9]|[1-4][0-9]", Percent, "low-utilization"),
        parameter("CpuOverCommitDurationMinutes", "[1-9][0-9]*", Minutes, "over-commit-duration"),
        parameter("VCpuToPhysicalCpuRatio", r"[0-2](\.[0-9]+)?", Number, "vcpu-to-cpu-ratio"),
        // The two names read backwards: a host with less memory than the first says
        // is over-utilised, one with more than the second is under-utilised.
        parameter("MaxFreeMemoryForOverUtilized", "[1-9][0-9]*", Mebibytes, "low-memory"),
        parameter("MinFreeMemoryForUnderUtilized", "[1-9][0-9]*", Mebibytes, "high-memory"),
        parameter("SpmVmGrace", "[0-9]|[1-9][0-9]+", Number, "spm-vm-grace"),
        parameter("HighVmCount", "[0-9]|[1-9][0-9]+", Number, "high-vm-count"),
        parameter("MigrationThreshold", "[2-9]|[1-9][0-9]+", Number, "migration-threshold"),
        parameter("ScaleDown", "100|[1-9]|[1-9][0-9]", Number, "scale-down"),
        parameter("MaximumAllowedSwapUsage", "1?[0-9]?[0-9]", Percent, "maximum-allowed-swap-usage"),
        parameter("HostsInReserve", "[0-9]+", Number, "hosts-in-reserve"),
        parameter(
            "EnableAutomaticHostPowerManagement",
            "true|false",
            Switch,
            "enable-host-power-management",
        ),
    ]
};

/// Attributes of the element `thresholds`, which was how version 3 wrote three of the
/// parameters: the attribute, the parameter, and how many of the one make one of the
/// other.
pub(crate) const THRESHOLDS: &[(&str, &str, i64)] = &[
    ("high", HIGH_UTILIZATION, 1),
    ("low", LOW_UTILIZATION, 1),
    // Seconds.
    ("duration", "CpuOverCommitDurationMinutes", 60),
];

const HIGH_UTILIZATION: &str = "HighUtilization";
const LOW_UTILIZATION: &str = "LowUtilization";

/// A condition of which units read since when it holds, with parameters, in percent,
/// as its limits.
#[derive(Debug)]
pub(crate) struct Watch {
    pub name: &'static str,
    pub column: &'static str,
    /// It holds from this value on, and up to the other: the parameters and what they
    /// are if the policy has none.
    pub at_least: (&'static str, &'static str),
    pub at_most: (&'static str, &'static str),
}

/// The conditions that oVirt's engine keeps the time of by itself.
pub(crate) const WATCHES: &[Watch] = &[Watch {
    name: "cpu-over",
    column: "cpu.usage",
    at_least: (HIGH_UTILIZATION, "75"),
    at_most: (LOW_UTILIZATION, "0"),
}];

/// One of oVirt's units.
#[derive(Debug)]
pub struct Known {
    pub kind: Kind,
    pub id: &'static str,
    pub name: &'static str,
    pub what: What,
}

/// What is to be known of one of oVirt's units.
#[derive(Debug)]
pub enum What {
    /// It stands before all others in every policy, where no policy lists it.
    Mandatory,
    /// It shares a unit with others here and is told apart by settings: the name of
    /// the entry, and what is set.
    Shares(&'static str, &'static [(&'static str, &'static str)]),
    /// It is there for the sake of something that there is not here.
    NotWanted(&'static str),
    /// The same, and mandatory.
    MandatoryNotWanted(&'static str),
    /// It stands for nothing, which leaves room for [`ENFORCEMENT`].
    Nothing,
}

const fn known(kind: Kind, id: &'static str, name: &'static str, what: What) -> Known {
    Known {
        kind,
        id,
        name,
        what,
    }
}

const ENGINE: &str = "is about the VM that runs oVirt's engine, and there is none here";
const UPGRADE: &str = "is for the time in which a cluster's hosts change their operating system";
const TSC: &str = "compares time stamp counters, of which nothing is known here";
const MEDIATED: &str = "is about mediated devices, of which nothing is known here";

/// The alias of the balance that does what oVirt's engine does beside that of a policy.
pub(crate) const ENFORCEMENT: &str = "AffinityRulesEnforcement";

/// Affinity between VMs alone, and between VMs and hosts alone.
const VMS: What = What::Shares("affinity-vms", &[("vms", "true"), ("hosts", "false")]);
const HOSTS: What = What::Shares("affinity-hosts", &[("vms", "false"), ("hosts", "true")]);

/// Units of oVirt of which more is to be known than their aliases tell.
#[rustfmt::skip]
pub(crate) const KNOWN: &[Known] = {
    use Kind::{Balance, Filter, Weight};
    use What::{Mandatory, MandatoryNotWanted, NotWanted, Nothing};
    &[
        known(Filter, "3e4a7d54-9e7f-11e5-8994-feff819cdc9f", "Compatibility-Version", Mandatory),
        known(Filter, "438b052c-90ab-40e8-9be0-a22560202ea6", "CPU-Level", Mandatory),
        known(Filter, "35c2f1a5-8928-48e9-81ac-4c49eb49d60e", "CPUTopology", Mandatory),
        known(Filter, "6d636bf6-a35c-4f9d-b68d-0731f731cddc", "CpuPinning", Mandatory),
        known(Filter, "728a21f1-f97e-4d32-bc3e-b3cc49756abb", "HostDevice", Mandatory),
        known(Filter, "12262ab6-9690-4bc3-a2b3-35573b172d54", "PinToHost", Mandatory),
        known(Filter, "b454ae40-f767-45b1-949a-7e5bd04d83ab", "VM leases ready", Mandatory),
        known(Filter, "aa604ea6-f758-4d28-8e05-bf5f4a0818bd", "MDevice", MandatoryNotWanted(MEDIATED)),
        known(Filter, "84e6ddee-ab0d-42dd-82f0-c297779db566", "VmAffinityGroups", VMS),
        known(Filter, "e69808a9-8a41-40f1-94ba-dd5d385d82d8", "VmToHostsAffinityGroups", HOSTS),
        known(Weight, "84e6ddee-ab0d-42dd-82f0-c297779db567", "VmAffinityGroups", VMS),
        known(Weight, "427aed70-dae3-48ba-8fe9-a902a9d563c8", "VmToHostsAffinityGroups", HOSTS),
        known(Filter, "e659c871-0bf1-4ccc-b748-f28f5d08dffd", "HA", NotWanted(ENGINE)),
        known(Weight, "98e92667-6161-41fb-b3fa-34f820ccbc4b", "HA", NotWanted(ENGINE)),
        known(Filter, "53bff075-8306-446f-a53b-9c872a29d197", "HostedEngineSpares", NotWanted(ENGINE)),
        known(Filter, "84e6ddee-ab0d-42dd-82f0-c298889db567", "InClusterUpgrade", NotWanted(UPGRADE)),
        known(Weight, "84e6ddee-ab0d-42dd-82f0-c298889db568", "InClusterUpgrade", NotWanted(UPGRADE)),
        known(Filter, "47ea3cd0-8a2f-438d-9f63-49534178882a", "Migration-Tsc-Frequency", NotWanted(TSC)),
        known(Balance, "38440000-8cf0-14bd-c43e-10b96e4ef00a", "None", Nothing),
    ]
};

/// How a unit here comes to do as oVirt's does.
#[derive(Debug)]
pub(crate) struct Manner {
    /// The unit's name here.
    pub unit: &'static str,
    /// What is set wherever the unit stands, if it has such a setting.
    pub settings: &'static [(&'static str, &'static str)],
    /// What oVirt's unit does with its costs by itself.
    pub scaled: Scaled,
}

/// What a unit of oVirt does with its costs before they are added up or ranked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Scaled {
    Not,
    Stretched,
    Ranked,
}

impl Scaled {
    /// The scaling that does the same here, and ranks the costs if places count.
    pub(crate) fn scaling(self, ranks: bool) -> Option<&'static str> {
        match (self, ranks) {
            (Scaled::Not, false) => None,
            (Scaled::Stretched, false) => Some("stretch"),
            (Scaled::Stretched, true) => Some("stretched-rank"),
            (Scaled::Ranked, _) | (Scaled::Not, true) => Some("rank"),
        }
    }
}

/// The units that do otherwise if nothing is said.
pub(crate) const MANNERS: &[Manner] = &[
    Manner {
        unit: "cpu",
        settings: &[("require-topology", "true")],
        scaled: Scaled::Not,
    },
    Manner {
        unit: "memory",
        settings: &[("require-measured", "true")],
        scaled: Scaled::Not,
    },
    Manner {
        unit: "affinity",
        settings: &[],
        scaled: Scaled::Ranked,
    },
    Manner {
        unit: "even-distribution",
        settings: &[],
        scaled: Scaled::Stretched,
    },
    Manner {
        unit: "power-saving",
        settings: &[],
        scaled: Scaled::Stretched,
    },
    Manner {
        unit: "high-performance-cpu",
        settings: &[],
        scaled: Scaled::Stretched,
    },
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_parameter_and_unit_stands_here_once() {
        let names: HashSet<_> = PARAMETERS.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), PARAMETERS.len());
        let ids: HashSet<_> = KNOWN.iter().map(|row| row.id).collect();
        let names: HashSet<_> = KNOWN.iter().map(|row| (row.kind, row.name)).collect();
        assert_eq!((ids.len(), names.len()), (KNOWN.len(), KNOWN.len()));
    }

    #[test]
    fn thresholds_and_watches_name_parameters() {
        let thresholds = THRESHOLDS.iter().map(|(_, parameter, _)| *parameter);
        let watches = WATCHES.iter();
        let watches = watches.flat_map(|watch| [watch.at_least.0, watch.at_most.0]);
        for name in thresholds.chain(watches) {
            assert!(PARAMETERS.iter().any(|row| row.name == name), "{name}");
        }
    }
}
