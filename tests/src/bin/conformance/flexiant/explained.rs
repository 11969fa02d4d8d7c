//! Kinds of cases that ask for a part of the algorithm: what the explanation of a
//! trial tells of it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::compared::Compared;
use super::form::{Case, Mebibytes, Node, Resources, Rounds, State};
use super::shown::{self, CUSTOMER_KEYS, ROUNDS, SYSTEM_KEYS};
use super::{policy, world};
use crate::units::Units;
use crate::vectors::read;

const VM: &str = "vm";

/// A VM of which nothing matters.
const LITTLE: Mebibytes = Mebibytes::ONE;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Compile {
    res: Resources,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Compiled {
    system: BTreeMap<String, [f64; 2]>,
    customer: BTreeMap<String, [f64; 2]>,
}

/// Which keys of a VM's resources count, and with which value and weight.
pub(super) fn compile(case: &Value, units: &Units) -> Result<Compared, String> {
    let case: Case<Compile, Compiled> = read(case)?;
    let mut scheduler = units.scheduler(world::inventory([&roomy()])?, &policy::flexiant()?)?;
    let vm = world::made_of(world::machine(VM, LITTLE, 1), &case.given.res);
    let (_, explanation) = shown::tried(&mut scheduler, vm, 0.0)?;
    let mut compared = Compared::default();
    for (what, unit, expected) in [
        ("system key", SYSTEM_KEYS, case.out.system),
        ("customer key", CUSTOMER_KEYS, case.out.customer),
    ] {
        let got = shown::compiled(&explanation, unit, VM)?;
        compared.same_entries(what, &expected, &got);
    }
    Ok(compared)
}

/// A node that takes any VM that is not refused by its keys.
fn roomy() -> Node {
    Node {
        id: "node".to_owned(),
        state: State::Running,
        ram_mb: Mebibytes::MUCH,
        ram_ratio: 1.0,
        free_ram_mb: Mebibytes::MUCH,
        pcpus: 1,
        cpu_ratio: 1.0,
        load: 0.0,
        keys: BTreeMap::new(),
        vms: Vec::new(),
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Special {
    node: Node,
}

/// How contended and loaded a node is.
pub(super) fn special(case: &Value, units: &Units) -> Result<Compared, String> {
    let case: Case<Special, BTreeMap<String, f64>> = read(case)?;
    let node = case.given.node;
    let mut scheduler = units.scheduler(world::inventory([&node])?, &policy::flexiant()?)?;
    let vm = world::machine(VM, LITTLE, 1);
    let (_, explanation) = shown::tried(&mut scheduler, vm, 0.0)?;
    let facts = shown::facts(&explanation, SYSTEM_KEYS);
    let facts = facts.filter(|fact| shown::is_about(fact, "hosts", &node.id));
    let got = facts
        .map(|fact| Ok((fact.name.clone(), shown::number(fact)?)))
        .collect::<Result<_, String>>()?;
    let mut compared = Compared::default();
    compared.same_entries("key", &case.out, &got);
    Ok(compared)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfRounds {
    cfg: Rounds,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Thresholds {
    thresholds: Vec<f64>,
}

/// The thresholds of all rounds.
pub(super) fn thresholds(case: &Value, units: &Units) -> Result<Compared, String> {
    let case: Case<OfRounds, Thresholds> = read(case)?;
    let policy = policy::of_rounds(&case.given.cfg)?;
    let mut scheduler = units.scheduler(world::inventory([&roomy()])?, &policy)?;
    let vm = world::machine(VM, LITTLE, 1);
    let (_, explanation) = shown::tried(&mut scheduler, vm, 0.0)?;
    let mut got = BTreeMap::new();
    for fact in shown::facts(&explanation, ROUNDS) {
        if let Some(number) = fact.name.strip_prefix("threshold.") {
            let number: usize = number.parse().map_err(|_| fact.name.clone())?;
            got.insert(format!("of round {number}"), shown::number(fact)?);
        }
    }
    let expected = case.out.thresholds.iter().enumerate();
    let expected = expected
        .map(|(number, threshold)| (format!("of round {number}"), *threshold))
        .collect();
    let mut compared = Compared::default();
    compared.same_entries("threshold", &expected, &got);
    Ok(compared)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Constraint {
    nodes: Vec<Node>,
    vm_ram_mb: Mebibytes,
    overhead_mb: Mebibytes,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Passed {
    pass: Vec<String>,
}

/// Which nodes have room.
pub(super) fn constraint(case: &Value, units: &Units) -> Result<Compared, String> {
    let case: Case<Constraint, Passed> = read(case)?;
    let Constraint {
        nodes,
        vm_ram_mb,
        overhead_mb,
    } = case.given;
    let policy = policy::of_overhead(overhead_mb)?;
    let mut scheduler = units.scheduler(world::inventory(&nodes)?, &policy)?;
    let vm = world::machine(VM, vm_ram_mb, 1);
    let (_, explanation) = shown::tried(&mut scheduler, vm, 0.0)?;
    let got = shown::left_by_filters(shown::stage(&explanation, 0)?, &nodes);
    let mut compared = Compared::default();
    compared.same("pass", &case.out.pass, &got);
    Ok(compared)
}
