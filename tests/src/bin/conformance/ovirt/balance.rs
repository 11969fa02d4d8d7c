//! Load balancing and power management: a policy with the one balance unit, and what it
//! proposes for the cluster as it runs.

use placewright_chain::Proposed;
use serde::Deserialize;
use toml::Table;

use super::document::{Document, Entry};
use super::input::Input;
use super::outcome::{Ids, Outcome, listed};
use super::vector::{UnitNamed, Vector};
use crate::units::Units;

/// The parameters of balances, each with the settings of the engine that stand in for it.
const EVEN_DISTRIBUTION: &[(&str, &str)] = &[
    ("HighUtilization", "HighUtilizationForEvenlyDistribute"),
    (
        "CpuOverCommitDurationMinutes",
        "CpuOverCommitDurationMinutes",
    ),
    ("VCpuToPhysicalCpuRatio", ""),
    ("MaxFreeMemoryForOverUtilized", ""),
    ("MinFreeMemoryForUnderUtilized", ""),
];
const POWER_SAVING: &[(&str, &str)] = &[
    ("HighUtilization", "HighUtilizationForPowerSave"),
    ("LowUtilization", "LowUtilizationForPowerSave"),
    (
        "CpuOverCommitDurationMinutes",
        "CpuOverCommitDurationMinutes",
    ),
    ("MaxFreeMemoryForOverUtilized", ""),
    ("MinFreeMemoryForUnderUtilized", ""),
    ("HostsInReserve", "HostsInReserve"),
    (
        "EnableAutomaticHostPowerManagement",
        "EnableAutomaticHostPowerManagement",
    ),
];
const EVEN_GUESTS: &[(&str, &str)] = &[
    ("HighUtilization", "HighUtilizationForEvenlyDistribute"),
    ("SpmVmGrace", "SpmVmGraceForEvenGuestDistribute"),
    ("HighVmCount", "HighVmCountForEvenGuestDistribute"),
    (
        "MigrationThreshold",
        "MigrationThresholdForEvenGuestDistribute",
    ),
    ("MaxFreeMemoryForOverUtilized", ""),
];

/// A balance of oVirt, which is a unit under its id here.
struct Balance {
    id: &'static str,
    parameters: &'static [(&'static str, &'static str)],
    /// Whether it counts the threads of hosts where the cluster says so: others count
    /// cores whatever it says.
    counts_threads: bool,
}

const BALANCES: &[Balance] = &[
    Balance {
        id: "7db4ab05-81ab-42e8-868a-aee2df483ed2",
        parameters: EVEN_DISTRIBUTION,
        counts_threads: true,
    },
    Balance {
        id: "736999d0-1023-46a4-9a75-1316ed50e151",
        parameters: POWER_SAVING,
        counts_threads: false,
    },
    Balance {
        id: "d58c8e32-44e1-418f-9222-52cd887bf9e0",
        parameters: EVEN_GUESTS,
        counts_threads: false,
    },
];

/// The share of the high limit up to which hosts are filled, in percent.
const TARGET: f64 = 80.0;

/// What is expected of load balancing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Migrations {
    /// In order.
    migrations: Vec<Migration>,
}

/// A VM, and the hosts that it may go to or stay on.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Migration {
    vm: String,
    hosts: Ids,
}

/// What is expected of power management.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Power {
    #[serde(deserialize_with = "Option::deserialize")]
    action: Option<Action>,
}

/// A host and the state that it is to be brought to.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Action {
    host: String,
    to: String,
}

/// Run a vector of load balancing.
///
/// # Errors
/// Why it cannot be run.
pub(super) fn run(unit: &UnitNamed, vector: &Vector, units: &Units) -> Result<Outcome, String> {
    let expect: Migrations = vector.expect()?;
    let proposed = proposed(unit, &vector.input()?, units)?;
    let expected = expect
        .migrations
        .iter()
        .map(|it| (it.vm.as_str(), it.hosts.clone()));
    let moves = proposed.iter().filter_map(|proposal| match proposal {
        Proposed::Move { vm, among, .. } => Some((&**vm, ids(among))),
        _ => None,
    });
    let mut outcome = Outcome::default();
    let (expected, got) = (Vec::from_iter(expected), Vec::from_iter(moves));
    outcome.check("migrations", expected == got, shown(&expected), shown(&got));
    Ok(outcome)
}

/// Run a vector of power management.
///
/// # Errors
/// Why it cannot be run.
pub(super) fn run_power(
    unit: &UnitNamed,
    vector: &Vector,
    units: &Units,
) -> Result<Outcome, String> {
    let expect: Power = vector.expect()?;
    let proposed = proposed(unit, &vector.input()?, units)?;
    let action = expect
        .action
        .map(|action| format!("{} to {}", action.host, action.to));
    let expected = Vec::from_iter(action);
    let got = proposed.iter().filter_map(|proposal| match proposal {
        Proposed::HostState { host, state, .. } => Some(format!("{host} to {state}")),
        _ => None,
    });
    let got = Vec::from_iter(got);
    let shown = |actions: &[String]| match actions {
        [] => "none".to_owned(),
        actions => actions.join(", "),
    };
    let mut outcome = Outcome::default();
    outcome.check("action", expected == got, shown(&expected), shown(&got));
    Ok(outcome)
}

fn proposed(unit: &UnitNamed, input: &Input, units: &Units) -> Result<Vec<Proposed>, String> {
    let policy = Document {
        balance: Some(balance(unit, input)?),
        ..Document::default()
    };
    let mut scheduler = units.scheduler(input.inventory()?, &policy.text()?)?;
    let proposed = scheduler.balance(input.now()?);
    proposed.map_err(|error| error.to_string())
}

/// The balance as an entry of a policy, with the settings of the vector.
fn balance(unit: &UnitNamed, input: &Input) -> Result<Entry, String> {
    let id = unit.alias()?;
    let balance = BALANCES.iter().find(|balance| balance.id == id);
    let balance = balance.ok_or_else(|| format!("field unit.id: no balance {id} is known"))?;
    let mut settings: Table = input.settings(balance.parameters);
    if let Some(load) = input.assumed_load()? {
        settings.insert("assumed-load".to_owned(), load.into());
    }
    if let Some(threads) = input
        .cluster
        .threads_as_cores
        .filter(|_| balance.counts_threads)
    {
        settings.insert("count-threads-as-cores".to_owned(), threads.into());
    }
    input.check_config("UtilizationThresholdInPercent", TARGET)?;
    Ok(Entry::new(id, settings))
}

/// Ids as a set.
pub(super) fn ids(ids: &[std::sync::Arc<str>]) -> Ids {
    ids.iter().map(|id| id.to_string()).collect()
}

fn shown(migrations: &[(&str, Ids)]) -> String {
    let one = |(vm, hosts): &(&str, Ids)| format!("{vm} among {}", listed(hosts));
    match migrations {
        [] => "none".to_owned(),
        some => Vec::from_iter(some.iter().map(one)).join("; "),
    }
}
