//! Why a resource stays stopped: the explanation of its turn must say it of every node.

use std::collections::BTreeSet;

use placewright_chain::{Explanation, FactShown};
use placewright_model::Value;

use super::case::{Case, Resource, STOPPED};
use super::plan::{Difference, Planned};

/// What the report calls it.
pub(super) const KIND: &str = "primitive, why some stay stopped";

/// What is missing in the reasons of the resources that stay stopped, as is expected of
/// them; None if there are none.
///
/// # Errors
/// If a decision cannot be explained.
pub(super) fn compare(case: &Case, planned: &Planned) -> Result<Option<Vec<Difference>>, String> {
    let mut found = None;
    for resource in &case.resources {
        let decision = planned.decision(&resource.id)?;
        let expected = case.expect.get(&resource.id);
        if decision.host.is_some() || expected.is_none_or(|place| place != STOPPED) {
            continue;
        }
        let differences: &mut Vec<Difference> = found.get_or_insert_default();
        let explanation = planned.scheduler().explain(decision.number);
        let explanation = explanation.map_err(|error| error.to_string())?;
        for node in &case.nodes {
            if let Err(got) = reason(resource, &node.name, &explanation) {
                let what = format!("why {} is not on {}", resource.id, node.name);
                differences.push((what, "a reason".to_owned(), got));
            }
        }
    }
    Ok(found)
}

/// Accepts what is said of a node: that no resource may run there at all, or who removed
/// it; and if there was too little of something, of what.
fn reason(resource: &Resource, node: &str, explanation: &Explanation) -> Result<(), String> {
    let mut not_considered = explanation.not_considered.iter();
    if not_considered.any(|other| *other.host == *node) {
        return Ok(());
    }
    let mut hosts = explanation.stages.iter().flat_map(|stage| &stage.hosts);
    let host = hosts.find(|host| *host.host == *node);
    let host = host.ok_or("the node is not in the explanation")?;
    let removed = host.removed.as_ref().ok_or("the node was not removed")?;
    match removed.unit.as_str() {
        "utilization" => shortage(resource, node, explanation),
        _ => Ok(()),
    }
}

/// Accepts the facts on what a node has too little of.
fn shortage(resource: &Resource, node: &str, explanation: &Explanation) -> Result<(), String> {
    let is_of_node = |fact: &&FactShown| {
        let about = fact.about.as_ref();
        about.is_some_and(|(table, host)| table == "hosts" && host == node)
    };
    let facts = explanation.stages.iter().flat_map(|stage| &stage.facts);
    let mut short = BTreeSet::new();
    for fact in facts.filter(is_of_node) {
        let Some(name) = fact.name.strip_prefix("short of ") else {
            continue;
        };
        let need = resource.needs.get(name).map_or(0, |need| need.0);
        match fact.value {
            Value::Integer(missing) if (1..=need).contains(&missing) => short.insert(name),
            _ => return Err(format!("short of {name} by {}, of {need}", fact.value)),
        };
    }
    match short.is_empty() {
        true => Err("removed, but short of nothing".to_owned()),
        false => Ok(()),
    }
}
