//! Policies made at random, and some that are not.

use std::fmt::Write;

use super::life::Life;

/// Costs and filters that depend on one host after the other.
pub(super) const ONE_BY_ONE: &str = r"
tie-rule = ['fewest-vms', 'id']
[[filters]]
unit = 'memory'
[[filters]]
unit = 'cpu'
settings = { overcommit = 2.0 }
[[filters]]
unit = 'affinity'
[[costs]]
unit = 'affinity'
[[costs]]
unit = 'memory'
[[costs]]
unit = 'even-distribution'
factor = 2
";

/// What reads only how much memory a VM needs.
pub(super) const BY_MEMORY: &str = r"
[[filters]]
unit = 'memory'
[[costs]]
unit = 'memory'
";

/// Units that filter, with their settings.
const FILTERS: [&str; 12] = [
    "unit = 'memory'",
    "unit = 'cpu'\nsettings = { overcommit = 2.0 }",
    "unit = 'affinity'",
    "unit = 'network'",
    "unit = 'utilization'",
    "unit = 'swap'",
    "unit = 'pin-to-host'",
    "unit = 'cpu-overloaded'\nsettings = { high-utilization = 60, over-commit-duration = '1 min' }",
    "unit = 'cluster-in-maintenance'",
    "unit = 'migration'",
    "unit = 'misbehaving'\non-failure = 'leave-out'\nsettings = { how = 'fails' }",
    "unit = 'availability-zone'",
];

/// Units that give costs, with their settings.
const COSTS: [&str; 12] = [
    "unit = 'memory'",
    "unit = 'even-distribution'",
    "unit = 'power-saving'",
    "unit = 'even-guest-distribution'",
    "unit = 'affinity'",
    "unit = 'preferred-hosts'",
    "unit = 'ha-reservation'",
    "unit = 'host-score'",
    "unit = 'placement-strategy'\nsettings = { strategy = 'balanced' }",
    "unit = 'vm-count'",
    "unit = 'current-host'",
    "unit = 'misbehaving'\nsettings = { how = 'answers-infinity' }",
];

const SCALINGS: [&str; 8] = [
    "none",
    "none",
    "none",
    "none",
    "min-max",
    "rank",
    "stretch",
    "stretched-rank",
];

/// Filters whose answers are no part of a class, as they read nothing of hosts that
/// changes with their VMs.
const SKIPPED: [&str; 8] = [
    "unit = 'network'",
    "unit = 'pin-to-host'",
    "unit = 'availability-zone'",
    "unit = 'utilization'",
    "unit = 'migration'",
    "unit = 'affinity'",
    "unit = 'cpu-overloaded'\nsettings = { high-utilization = 60, over-commit-duration = '1 min' }",
    "unit = 'cluster-in-maintenance'",
];

/// A policy of one or more stages, each with filters of which most are no part of a
/// class, in any order.
pub(super) fn skipping(life: &mut Life, stages: usize) -> String {
    let ties = life.one_of(&["['fewest-vms', 'id']", "['id']", "['draw']"]);
    let mut policy = format!("tie-rule = {ties}\n");
    policy.push_str("[[watches]]\nname = 'cpu-over'\ncolumn = 'cpu.usage'\nat-least = 0.5\n");
    for number in 0..stages {
        let keep = match number + 1 < stages {
            true => life.one_of(&["keep = 'all'", "keep = 'best'"]),
            false => "",
        };
        write!(policy, "[[stages]]\nname = 's{number}'\n{keep}\n").expect("a string takes all");
        for entry in 0..2 + life.below(3) {
            let filter = match life.once_in(3) {
                true => life.one_of(&FILTERS[..2]),
                false => life.one_of(&SKIPPED),
            };
            write!(
                policy,
                "[[stages.filters]]\nname = 'f{number}{entry}'\n{filter}\n"
            )
            .expect("a string takes all");
        }
        for entry in 0..1 + life.below(3) {
            let cost = life.one_of(&COSTS[..5]);
            let tier = 1 + life.below(4) / 2;
            write!(
                policy,
                "[[stages.costs]]\nname = 'c{number}{entry}'\n{cost}\ntier = {tier}\n"
            )
            .expect("a string takes all");
        }
    }
    policy
}

/// The units that such policies name.
pub(super) const ON_FUEL: [&str; 13] = [
    "memory",
    "cpu",
    "network",
    "pin-to-host",
    "availability-zone",
    "utilization",
    "migration",
    "affinity",
    "cpu-overloaded",
    "cluster-in-maintenance",
    "even-distribution",
    "power-saving",
    "even-guest-distribution",
];

/// One more filter of the last stage, which never comes to an end.
pub(super) const ENDLESS: &str = r"
[[stages.filters]]
name = 'endless'
unit = 'misbehaving'
on-failure = 'leave-out'
settings = { how = 'loops-forever' }
";

/// What reads the networks of a VM, and how much memory it needs.
pub(super) const BY_NETWORK: &str = r"
tie-rule = ['fewest-vms', 'id']
[[filters]]
unit = 'network'
[[filters]]
unit = 'memory'
[[costs]]
unit = 'memory'
[[costs]]
unit = 'even-distribution'
";

/// Any policy.
pub(super) fn any(life: &mut Life) -> String {
    let ties = life.one_of(&[
        "['fewest-vms', 'id']",
        "['id']",
        "['listed']",
        "['draw']",
        "['fewest-vms', 'draw']",
    ]);
    let mut policy = format!("tie-rule = {ties}\n");
    policy.push_str("[[watches]]\nname = 'cpu-over'\ncolumn = 'cpu.usage'\nat-least = 0.5\n");
    let scalings = match life.once_in(2) {
        true => &SCALINGS[..1],
        false => &SCALINGS[..],
    };
    let stages = 1 + usize::from(life.once_in(4));
    for number in 0..stages {
        policy.push_str("[[stages]]\n");
        writeln!(policy, "name = 's{number}'").expect("a string takes all");
        if number + 1 < stages {
            let keep = life.one_of(&["all", "best"]);
            writeln!(policy, "keep = '{keep}'").expect("a string takes all");
        }
        for entry in 0..life.below(4) {
            let filter = life.one_of(&FILTERS);
            write!(
                policy,
                "[[stages.filters]]\nname = 'f{number}{entry}'\n{filter}\n"
            )
            .expect("a string takes all");
        }
        for entry in 0..life.below(5) {
            let cost = life.one_of(&COSTS);
            let scaling = life.one_of(scalings);
            let factor = life.one_of(&["1", "2.5", "-1", "0"]);
            let tier = 1 + life.below(4) / 2;
            write!(
                policy,
                "[[stages.costs]]\nname = 'c{number}{entry}'\n{cost}\nscaling = '{scaling}'\nfactor = {factor}\ntier = {tier}\n"
            )
            .expect("a string takes all");
        }
    }
    policy
}
