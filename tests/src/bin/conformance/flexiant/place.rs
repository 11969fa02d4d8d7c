//! Cases of kind `place`: one VM, what every stage makes of the nodes, and where it
//! may go.

use std::collections::BTreeMap;

use placewright_chain::Explanation;
use placewright_model::Vm;
use placewright_scheduler::Scheduler;
use serde::Deserialize;
use serde_json::Value;

use super::compared::Compared;
use super::form::{Case, Config, Mebibytes, Node, Resources, nullable};
use super::shown::{self, CUSTOMER_KEYS, ROUNDS, SYSTEM_KEYS};
use super::{policy, world};
use crate::units::Units;
use crate::vectors::read;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    cfg: Config,
    nodes: Vec<Node>,
    vm: PlaceVm,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlaceVm {
    ram_mb: Mebibytes,
    vcpus: i64,
    res: Resources,
    /// Where its first disk is, if storage is local.
    disk_node: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Placed {
    #[serde(deserialize_with = "nullable")]
    fail: Option<String>,
    constraint: Vec<String>,
    system_scores: BTreeMap<String, f64>,
    #[serde(deserialize_with = "nullable")]
    round: Option<i64>,
    #[serde(deserialize_with = "nullable")]
    threshold: Option<f64>,
    system: Vec<String>,
    customer_scores: BTreeMap<String, f64>,
    acceptable: Vec<String>,
}

/// What comes out where storage is local.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bypassed {
    #[serde(deserialize_with = "nullable")]
    fail: Option<String>,
    bypass: bool,
    acceptable: Vec<String>,
}

impl PlaceVm {
    fn vm(&self) -> Vm {
        world::made_of(world::machine("vm", self.ram_mb, self.vcpus), &self.res)
    }
}

/// Run a case.
pub(super) fn compare(case: &Value, units: &Units) -> Result<Compared, String> {
    let local = case.pointer("/in/cfg/local_storage");
    match local.and_then(Value::as_bool) {
        Some(true) => on_local_storage(read(case)?, units),
        _ => in_stages(read(case)?, units),
    }
}

fn in_stages(case: Case<Place, Placed>, units: &Units) -> Result<Compared, String> {
    let Place { cfg, nodes, vm } = case.given;
    if vm.disk_node.is_some() {
        return Err("field in.vm.disk_node: no disk is bound to a node, since in.cfg.local_storage is not true".to_owned());
    }
    let mut scheduler = units.scheduler(world::inventory(&nodes)?, &policy::of(&cfg)?)?;
    let Outcome {
        fail,
        acceptable,
        explanation,
    } = ask(&mut scheduler, &vm.vm(), &nodes)?;
    let [first, second] = [0, 1].map(|number| shown::stage(&explanation, number));
    let (first, second) = (first?, second?);
    let round = shown::integer_named(&explanation, ROUNDS, "round")?;
    let threshold = shown::number_named(&explanation, ROUNDS, "threshold")?;
    let mut compared = Compared::default();
    compared.same("fail", &case.out.fail, &fail);
    compared.same(
        "constraint",
        &case.out.constraint,
        &shown::left_by_filters(first, &nodes),
    );
    compared.same_entries(
        "system_scores of",
        &case.out.system_scores,
        &shown::scores(first, SYSTEM_KEYS),
    );
    compared.same("round", &case.out.round, &round);
    compared.same("threshold", &case.out.threshold, &threshold);
    compared.same(
        "system",
        &case.out.system,
        &shown::considered(second, &nodes),
    );
    compared.same_entries(
        "customer_scores of",
        &case.out.customer_scores,
        &shown::scores(second, CUSTOMER_KEYS),
    );
    compared.same("acceptable", &case.out.acceptable, &acceptable);
    Ok(compared)
}

fn on_local_storage(case: Case<Place, Bypassed>, units: &Units) -> Result<Compared, String> {
    let Place { nodes, vm, .. } = case.given;
    let Some(disk_node) = &vm.disk_node else {
        return Err("field in.vm.disk_node: missing, though in.cfg.local_storage is true".into());
    };
    if nodes.iter().all(|node| node.id != *disk_node) {
        return Err(format!(
            "field in.vm.disk_node: there is no node {disk_node}"
        ));
    }
    let mut pinned = vm.vm();
    pinned.pinning.pinned.push(disk_node.as_str().into());
    let mut scheduler = units.scheduler(world::inventory(&nodes)?, &policy::local_storage()?)?;
    let outcome = ask(&mut scheduler, &pinned, &nodes)?;
    let stages = &outcome.explanation.stages;
    // Neither scores nor rounds: one stage of filters.
    let mut hosts = stages.iter().flat_map(|stage| &stage.hosts);
    let bypass = stages.len() == 1
        && stages.iter().all(|stage| stage.selections.is_empty())
        && hosts.all(|host| host.costs.is_empty());
    let mut compared = Compared::default();
    compared.same("fail", &case.out.fail, &outcome.fail);
    compared.same("bypass", &case.out.bypass, &bypass);
    compared.same("acceptable", &case.out.acceptable, &outcome.acceptable);
    Ok(compared)
}

/// What would become of a VM.
pub(super) struct Outcome {
    /// The stage that left no node; none if a node was chosen.
    pub fail: Option<String>,
    /// The nodes of which one is chosen at random, by id.
    pub acceptable: Vec<String>,
    pub explanation: Explanation,
}

/// Try to place a VM, with as many draws as there are nodes to choose from.
///
/// # Errors
/// If there is no decision, or no explanation of it.
pub(super) fn ask(scheduler: &mut Scheduler, vm: &Vm, nodes: &[Node]) -> Result<Outcome, String> {
    let (_, explanation) = shown::tried(scheduler, vm.clone(), 0.0)?;
    let mut acceptable = Vec::new();
    for number in 0..explanation.tied {
        // The middle of each node's part of what may be drawn.
        let draw = (number as f64 + 0.5) / explanation.tied as f64;
        let (decision, _) = shown::tried(scheduler, vm.clone(), draw)?;
        acceptable.extend(decision.host.as_ref().map(|host| host.to_string()));
    }
    acceptable.sort();
    let fail = match explanation.chosen {
        Some(_) => None,
        None if shown::left_by_filters(shown::stage(&explanation, 0)?, nodes).is_empty() => {
            Some("constraint".to_owned())
        }
        None => Some("system".to_owned()),
    };
    Ok(Outcome {
        fail,
        acceptable,
        explanation,
    })
}
