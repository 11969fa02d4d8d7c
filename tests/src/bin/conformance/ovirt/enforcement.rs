//! Enforcement of affinity: which VMs are moved for the sake of their groups, and one of
//! them for each cluster in a round.

use std::collections::BTreeSet;

use placewright::chain::Proposed;
use placewright::model::{Request, Vm};
use placewright::scheduler::Scheduler;
use serde::Deserialize;
use toml::Table;

use super::document::{Document, Entry};
use super::input::{GroupInput, HostInput, Input, Rule, VmInput};
use super::outcome::{Ids, Outcome, listed};
use super::vector::Vector;
use crate::units::Units;

const UNIT: &str = "affinity-enforcement";

/// The policy under which clusters are upgraded: it enforces nothing.
const UPGRADE: &str = "8d5d7bec-68de-4a67-b53e-0ac54686d586";

/// What is expected of the enforcer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Order {
    /// Those of the first set come first, in any order among themselves, and so on.
    order: Vec<Ids>,
}

/// A round over some clusters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Round {
    clusters: Vec<Cluster>,
}

/// A cluster, and the VMs that are best moved, in order; null: none.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cluster {
    id: String,
    candidates: Option<Vec<String>>,
    /// Id of a policy; any that enforces affinity, if not given.
    policy: Option<String>,
}

/// What is expected of a round.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Migrated {
    migrated: Vec<String>,
}

/// Run a vector of the enforcer.
///
/// # Errors
/// Why it cannot be run.
pub fn run(vector: &Vector, units: &Units) -> Result<Outcome, String> {
    let expect: Order = vector.expect()?;
    let input: Input = vector.input()?;
    let policy = Document {
        // Which hosts can take a VM is given: each has the machine types of the VMs
        // that it can take.
        filters: vec![Entry::new("emulated-machine", Table::new())],
        ..enforcing()
    };
    let mut scheduler = units.scheduler(with_machines(input.clone()).inventory()?, &policy.text()?)?;
    let now = input.now()?;
    let proposed = scheduler.balance(now).map_err(|error| error.to_string())?;
    let mut moved = Vec::new();
    for proposal in &proposed {
        moved.extend(chosen(proposal, &mut scheduler, now, true)?);
    }
    let mut outcome = Outcome::default();
    let got = grouped(&moved, &expect.order);
    outcome.check("order", got == expect.order, shown(&expect.order), shown(&got));
    Ok(outcome)
}

/// Run a vector of a round.
///
/// # Errors
/// Why it cannot be run.
pub fn run_round(vector: &Vector, units: &Units) -> Result<Outcome, String> {
    let expect: Migrated = vector.expect()?;
    let round: Round = vector.input()?;
    let mut migrated = Vec::new();
    for cluster in &round.clusters {
        migrated.extend(cluster.migrated(units)?);
    }
    let mut outcome = Outcome::default();
    let same = expect.migrated == migrated;
    outcome.check("migrated", same, expect.migrated.join(", "), migrated.join(", "));
    Ok(outcome)
}

/// A policy that enforces affinity.
fn enforcing() -> Document {
    Document {
        balance: Some(Entry::new(UNIT, Table::new())),
        ..Document::default()
    }
}

/// The VM that a proposal moves, if the scheduler finds a host for it that will do.
fn chosen(
    proposal: &Proposed,
    scheduler: &mut Scheduler,
    now: i64,
    dry_run: bool,
) -> Result<Option<String>, String> {
    let Proposed::Move { vm, among, accept, .. } = proposal else {
        return Ok(None);
    };
    let decision = scheduler.place(Request {
        members: vec![Vm::new(vm.clone())],
        allowed: among.clone(),
        now,
        dry_run,
        ..Request::default()
    });
    let decision = decision.map_err(|error| error.to_string())?;
    let will_do = |host| accept.is_empty() || accept.contains(host);
    Ok(decision.host.as_ref().filter(|host| will_do(host)).map(|_| vm.to_string()))
}
