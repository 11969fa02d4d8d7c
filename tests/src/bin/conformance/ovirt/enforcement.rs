//! Enforcement of affinity: which VMs are moved for the sake of their groups, and one of
//! them for each cluster in a round.

use std::sync::Arc;

use placewright_chain::Proposed;
use placewright_model::{Request, Vm};
use placewright_scheduler::Scheduler;
use serde::Deserialize;
use toml::Table;

use super::document::{Document, Entry};
use super::input::{GroupInput, HostInput, Input, Rule, VmInput};
use super::outcome::{Ids, Outcome, listed};
use super::vector::Vector;
use crate::units::Units;

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
pub(super) fn run(vector: &Vector, units: &Units) -> Result<Outcome, String> {
    let expect: Order = vector.expect()?;
    let input: Input = vector.input()?;
    let mut scheduler = units.scheduler(input.inventory()?, &enforcing(true).text()?)?;
    let now = input.now()?;
    let mut moved = Vec::new();
    for proposal in scheduler.balance(now).map_err(|error| error.to_string())? {
        let Proposed::Move {
            vm, among, accept, ..
        } = proposal
        else {
            continue;
        };
        let request = Request {
            members: vec![Vm::new(vm.clone())],
            allowed: among,
            excluded: input.impossible_hosts(&vm),
            now,
            dry_run: true,
            ..Request::default()
        };
        if is_placed(&mut scheduler, request, &accept)? {
            moved.push(vm.to_string());
        }
    }
    let mut outcome = Outcome::default();
    let got = grouped(&moved, &expect.order);
    outcome.check(
        "order",
        got == expect.order,
        shown(&expect.order),
        shown(&got),
    );
    Ok(outcome)
}

/// Run a vector of a round.
///
/// # Errors
/// Why it cannot be run.
pub(super) fn run_round(vector: &Vector, units: &Units) -> Result<Outcome, String> {
    let expect: Migrated = vector.expect()?;
    let round: Round = vector.input()?;
    let mut migrated = Vec::new();
    for cluster in &round.clusters {
        migrated.extend(cluster.migrated(units)?);
    }
    let mut outcome = Outcome::default();
    let same = expect.migrated == migrated;
    outcome.check(
        "migrated",
        same,
        expect.migrated.join(", "),
        migrated.join(", "),
    );
    Ok(outcome)
}

/// A policy that enforces affinity, or does not.
fn enforcing(enforces: bool) -> Document {
    Document {
        balance: enforces.then(|| Entry::new("affinity-enforcement", Table::new())),
        ..Document::default()
    }
}

/// Whether the scheduler finds a host, and one that will do.
fn is_placed(
    scheduler: &mut Scheduler,
    request: Request,
    accept: &[Arc<str>],
) -> Result<bool, String> {
    let decision = scheduler
        .place(request)
        .map_err(|error| error.to_string())?;
    let will_do = |host: &Arc<str>| accept.is_empty() || accept.contains(host);
    Ok(decision.host.as_ref().is_some_and(will_do))
}

impl Input {
    /// The hosts that cannot take a VM. Of a VM of which nothing is said all can.
    fn impossible_hosts(&self, vm: &str) -> Vec<Arc<str>> {
        let Some(possible) = self.possible_hosts.get(vm) else {
            return Vec::new();
        };
        let hosts = self
            .hosts
            .iter()
            .filter(|host| !possible.contains(&host.id));
        hosts.map(|host| host.id.as_str().into()).collect()
    }
}

/// The VMs in their order, in groups as large as those that are expected; what is more
/// stands in a group of its own.
fn grouped(vms: &[String], expected: &[Ids]) -> Vec<Ids> {
    let mut rest = vms.iter().cloned();
    let groups = expected
        .iter()
        .map(|group| rest.by_ref().take(group.len()).collect());
    let mut groups: Vec<Ids> = groups.collect();
    groups.push(rest.collect());
    groups.retain(|group| !group.is_empty());
    groups
}

fn shown(order: &[Ids]) -> String {
    match order {
        [] => "none".to_owned(),
        groups => Vec::from_iter(groups.iter().map(listed)).join("; then "),
    }
}

impl Cluster {
    /// The VM that is moved in a round, if there is one.
    fn migrated(&self, units: &Units) -> Result<Option<String>, String> {
        let enforces = self.policy.as_deref() != Some(UPGRADE);
        let inventory = self.input().inventory()?;
        let mut scheduler = units.scheduler(inventory, &enforcing(enforces).text()?)?;
        for proposal in scheduler.balance(0).map_err(|error| error.to_string())? {
            let Proposed::Move {
                vm, among, accept, ..
            } = proposal
            else {
                continue;
            };
            let request = Request {
                members: vec![Vm::new(vm.clone())],
                allowed: among,
                ..Request::default()
            };
            if is_placed(&mut scheduler, request, &accept)? {
                return Ok(Some(vm.to_string()));
            }
        }
        Ok(None)
    }

    /// A cluster in which these are the VMs that are best moved, in this order: all run
    /// on a host where they must not be, the first by one rule, the next by two, and so
    /// on, since those that break the fewest come first.
    fn input(&self) -> Input {
        let mut input = Input::default();
        input.cluster.id = Some(self.id.clone());
        let host = |id: &str| HostInput {
            id: id.to_owned(),
            ..HostInput::default()
        };
        input.hosts = ["wrong", "right"].map(host).into();
        for (place, candidate) in self.candidates.iter().flatten().enumerate() {
            input.vms.push(VmInput {
                id: candidate.clone(),
                run_on: Some("wrong".to_owned()),
                ..VmInput::default()
            });
            let rules = (0..=place).map(|rule| GroupInput {
                id: format!("{candidate}-{rule}"),
                host_rule: Some(Rule::Positive),
                host_enforcing: Some(true),
                vms: vec![candidate.clone()],
                hosts: vec!["right".to_owned()],
                ..GroupInput::default()
            });
            input.affinity_groups.extend(rules);
        }
        input
    }
}
