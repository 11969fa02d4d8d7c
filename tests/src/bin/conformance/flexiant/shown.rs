//! What an explanation says of the stages of the policy `flexiant`.

use std::collections::BTreeMap;
use std::sync::Arc;

use placewright_chain::{Explanation, FactShown, HostShown, LeftOutShown, StageShown};
use placewright_model::{Request, Value, Vm};
use placewright_scheduler::{Decision, Scheduler};

use super::form::Node;

/// Units of the policy whose scores and facts are looked at.
pub(super) const SYSTEM_KEYS: &str = "placement-keys";
pub(super) const CUSTOMER_KEYS: &str = "customer-keys";
pub(super) const ROUNDS: &str = "score-rounds";

/// Decide where a VM would go without placing it, and explain that.
///
/// # Errors
/// If there is no decision, or no explanation of it.
pub(super) fn tried(
    scheduler: &mut Scheduler,
    vm: Vm,
    draw: f64,
) -> Result<(Arc<Decision>, Explanation), String> {
    let request = Request {
        members: vec![vm],
        draw: Some(draw),
        dry_run: true,
        ..Request::default()
    };
    let decision = scheduler.place(request).map_err(|it| it.to_string())?;
    let explanation = scheduler
        .explain(decision.number)
        .map_err(|error| error.to_string())?;
    if let Some(LeftOutShown { entry, fault }) = explanation.left_out.first() {
        return Err(format!("the entry {entry} was left out: {fault}"));
    }
    if explanation.chosen != decision.host {
        return Err(format!(
            "the explanation says {:?} and the decision {:?}",
            explanation.chosen, decision.host
        ));
    }
    Ok((decision, explanation))
}

/// The stage of that number, from 0.
pub(super) fn stage(explanation: &Explanation, number: usize) -> Result<&StageShown, String> {
    let stage = explanation.stages.get(number);
    stage.ok_or_else(|| format!("the explanation has no stage {number}"))
}

/// Ids of the hosts of a stage that its filters left, in the order of the nodes.
pub(super) fn left_by_filters(stage: &StageShown, nodes: &[Node]) -> Vec<String> {
    let by_selection = |host: &HostShown| {
        let removed = host.removed.as_ref();
        removed.is_none_or(|removed| {
            let mut selections = stage.selections.iter();
            selections.any(|selection| selection.name == removed.filter)
        })
    };
    let left = stage.hosts.iter().filter(|host| by_selection(host));
    in_order(left, nodes)
}

/// Ids of the hosts that came to a stage, in the order of the nodes.
pub(super) fn considered(stage: &StageShown, nodes: &[Node]) -> Vec<String> {
    in_order(stage.hosts.iter(), nodes)
}

fn in_order<'a>(hosts: impl Iterator<Item = &'a HostShown>, nodes: &[Node]) -> Vec<String> {
    let ids: Vec<&str> = hosts.map(|host| &*host.host).collect();
    let nodes = nodes.iter().map(|node| node.id.clone());
    nodes.filter(|id| ids.contains(&id.as_str())).collect()
}

/// The scores that the entry of a unit gave in a stage: minus its costs, as they are.
pub(super) fn scores(stage: &StageShown, entry: &str) -> BTreeMap<String, f64> {
    let score = |host: &HostShown| {
        let cost = host.costs.iter().find(|cost| *cost.name == *entry)?;
        Some((host.host.to_string(), 0.0 - cost.raw))
    };
    stage.hosts.iter().filter_map(score).collect()
}

/// The facts that a unit tells in an explanation.
pub(super) fn facts<'a>(
    explanation: &'a Explanation,
    unit: &'a str,
) -> impl Iterator<Item = &'a FactShown> {
    let facts = explanation.stages.iter().flat_map(|stage| &stage.facts);
    facts.filter(move |fact| fact.unit == unit)
}

/// The compiled keys of the only VM: value and weight by name.
///
/// # Errors
/// If a fact is no number or about something else.
pub(super) fn compiled(
    explanation: &Explanation,
    unit: &str,
    vm: &str,
) -> Result<BTreeMap<String, [f64; 2]>, String> {
    let mut keys = BTreeMap::new();
    for (place, prefix) in ["value.", "weight."].into_iter().enumerate() {
        for fact in facts(explanation, unit) {
            let Some(name) = fact.name.strip_prefix(prefix) else {
                continue;
            };
            if !is_about(fact, "members", vm) {
                return Err(format!("{} of {unit} is not about VM {vm}", fact.name));
            }
            keys.entry(name.to_owned()).or_insert([f64::NAN; 2])[place] = number(fact)?;
        }
    }
    Ok(keys)
}

/// Whether a fact is about the row of that id in that table.
pub(super) fn is_about(fact: &FactShown, table: &str, id: &str) -> bool {
    let about = fact.about.as_ref();
    about.is_some_and(|about| about.0 == table && about.1 == id)
}

/// The value of a fact.
///
/// # Errors
/// If it is no number.
pub(super) fn number(fact: &FactShown) -> Result<f64, String> {
    match fact.value {
        Value::Number(number) => Ok(number),
        _ => Err(format!("{} of {} is no number", fact.name, fact.unit)),
    }
}

/// The value of the fact of that name.
///
/// # Errors
/// If it is there and no integer.
pub(super) fn integer_named(
    explanation: &Explanation,
    unit: &str,
    name: &str,
) -> Result<Option<i64>, String> {
    let mut facts = facts(explanation, unit).filter(|fact| fact.name == name);
    let fact = facts.next();
    fact.map(|fact| match fact.value {
        Value::Integer(number) => Ok(number),
        _ => Err(format!("{name} of {unit} is no integer")),
    })
    .transpose()
}

/// The value of the fact of that name.
///
/// # Errors
/// If it is there and no number.
pub(super) fn number_named(
    explanation: &Explanation,
    unit: &str,
    name: &str,
) -> Result<Option<f64>, String> {
    let mut facts = facts(explanation, unit).filter(|fact| fact.name == name);
    facts.next().map(number).transpose()
}
