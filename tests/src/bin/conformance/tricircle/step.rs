//! What vectors say of a request, read from its decision and explanation.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use placewright_chain::{Explanation, StageShown};
use placewright_inventory::Inventory;
use placewright_scheduler::Decision;
use serde_json::{Value, json};

use super::replay::Bound;

/// A filter of the case.
pub(super) struct Filter {
    pub word: &'static str,
    /// The policy's entry. None: it passes everything and has none.
    pub entry: Option<String>,
}

/// Places of pods in their table.
pub(super) struct Listed(BTreeMap<Arc<str>, i64>);

impl Listed {
    /// As they are listed now.
    pub(super) fn of(inventory: &Inventory) -> Self {
        let hosts = inventory.hosts();
        Self(
            hosts
                .map(|(_, host)| (host.id.clone(), host.listed))
                .collect(),
        )
    }

    /// Explanations list hosts by id, vectors in the order of the table.
    fn sort(&self, pods: &mut [&Arc<str>]) {
        pods.sort_by_key(|pod| self.0.get(*pod).copied());
    }
}

/// The step of a request.
///
/// # Errors
/// If the policy's stages are not those of Tricircle, or the explanation tells of
/// another pod than the decision.
pub(super) fn of_request(
    decision: &Decision,
    bound: &Bound,
    explanation: &Explanation,
    listed: &Listed,
    filters: &[Filter],
) -> Result<Value, String> {
    let [filtered, weighed] = &explanation.stages[..] else {
        return Err("the policy has other stages than \"bound\" and \"heaviest\"".to_owned());
    };
    if explanation.chosen != decision.host {
        return Err(format!(
            "the decision is for {:?}, and its explanation for {:?}",
            decision.host, explanation.chosen
        ));
    }
    let chosen_anew = matches!(bound.action, "bind" | "rebind");
    Ok(json!({
        "filters": left(filtered, filters, listed),
        "action": bound.action,
        "pod": decision.host,
        "weights": chosen_anew.then(|| weights(weighed)),
        "tie": chosen_anew && explanation.tied > 1,
        "closed": bound.closed,
    }))
}

/// The pods left after each filter.
fn left(stage: &StageShown, filters: &[Filter], listed: &Listed) -> Vec<Value> {
    let mut asked = BTreeSet::new();
    let mut left = Vec::with_capacity(filters.len());
    for filter in filters {
        asked.extend(filter.entry.as_deref());
        let is_left = |removed_by: Option<&str>| removed_by.is_none_or(|by| !asked.contains(by));
        let mut pods: Vec<&Arc<str>> = (stage.hosts.iter())
            .filter(|host| is_left(host.removed.as_ref().map(|removed| &*removed.filter)))
            .map(|host| &host.host)
            .collect();
        listed.sort(&mut pods);
        left.push(json!([filter.word, pods]));
    }
    left
}

/// The weight of each pod. A cost is a raw weight with the other sign, so the heaviest
/// pod is the one that is furthest below the worst place on the scales.
fn weights(stage: &StageShown) -> BTreeMap<&Arc<str>, f64> {
    let entries = stage.hosts.first().map_or(0, |host| host.costs.len());
    let worst: f64 = (0..entries).map(|entry| worst(stage, entry)).sum();
    let weight = |sums: &[f64]| worst - sums.iter().sum::<f64>();
    let hosts = stage.hosts.iter();
    hosts.map(|host| (&host.host, weight(&host.sums))).collect()
}

/// What an entry's cost comes to at the worst place of its scale, 1; where all pods
/// are equal nobody is there, and it comes to 0.
fn worst(stage: &StageShown, entry: usize) -> f64 {
    let costs = stage.hosts.iter().filter_map(|host| host.costs.get(entry));
    let mut worst = costs.filter(|cost| cost.scaled == 1.0);
    worst.next().map_or(0.0, |cost| cost.weighted)
}
