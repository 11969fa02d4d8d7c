//! Decisions that come out differently with other units: which, and why.

use std::sync::Arc;

use serde::Serialize;

use super::Fate;
use super::comparison::fate;
use crate::MadeAgain;
use placewright_chain::{CostShown, Explanation};

/// What became of decisions that were made again.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ReplayedDecisions))]
#[serde(rename_all = "kebab-case")]
pub struct Replayed {
    /// How many were made again.
    #[cfg_attr(feature = "openapi", schema(example = 200))]
    pub tried: usize,
    /// Those of them that come out differently.
    #[cfg_attr(feature = "openapi", schema(example = 3))]
    pub differing: usize,
    /// Those of these in which there is no decision, because a unit gives no answer.
    #[cfg_attr(feature = "openapi", schema(example = 0))]
    pub failing: usize,
    /// Some that come out differently.
    pub examples: Vec<ChangedDecision>,
}

/// A decision that comes out differently.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub struct ChangedDecision {
    /// Its number.
    #[cfg_attr(feature = "openapi", schema(example = 17))]
    pub decision: u64,
    /// The VMs that were to be placed.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>, example = json!(["web-3"])))]
    pub vms: Vec<Arc<str>>,
    /// The host that was chosen, if there was one.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, required = true, example = "h1"))]
    pub before: Option<Arc<str>>,
    /// The host that would be, if there is one.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, required = true, example = "h2"))]
    pub after: Option<Arc<str>>,
    /// Why there is no decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "the unit ran out of time"))]
    pub failure: Option<String>,
    /// What becomes of these two hosts, before and after.
    pub hosts: Vec<HostChanged>,
}

/// What becomes of a host before and after.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ChangedHost))]
#[serde(rename_all = "kebab-case")]
pub struct HostChanged {
    /// Its id.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "h1"))]
    pub host: Arc<str>,
    /// Before the change.
    pub before: Fate,
    /// After the change.
    pub after: Fate,
    /// Entries of the policy whose weighted costs there are others than before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<CostChanged>,
}

/// A weighted cost that has changed; none where the entry was not asked.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ChangedCost))]
#[serde(rename_all = "kebab-case")]
pub struct CostChanged {
    /// The policy's entry.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "spread"))]
    pub entry: Arc<str>,
    /// Before the change.
    #[cfg_attr(feature = "openapi", schema(required = true, example = 0.8))]
    pub before: Option<f64>,
    /// After the change.
    #[cfg_attr(feature = "openapi", schema(required = true, example = 0.4))]
    pub after: Option<f64>,
}

impl Replayed {
    /// The share of decisions that come out the same; 1 if none was made again.
    pub fn agreement(&self) -> f64 {
        match self.tried {
            0 => 1.0,
            tried => (tried - self.differing) as f64 / tried as f64,
        }
    }

    /// Count decisions that were made again; those that were explained are examples.
    pub fn of(again: &[MadeAgain]) -> Self {
        let mut replayed = Self::default();
        again.iter().for_each(|made| replayed.add(made));
        replayed
    }

    /// Count one more.
    pub fn add(&mut self, made: &MadeAgain) {
        self.tried += 1;
        if !made.differs() {
            return;
        }
        self.differing += 1;
        let failure = made.host.as_ref().err().map(ToString::to_string);
        self.failing += usize::from(failure.is_some());
        let explained = made.explained.as_deref();
        if explained.is_none() && (failure.is_none() || self.failing > 1) {
            return;
        }
        let after = made.after().cloned();
        self.examples.push(ChangedDecision {
            hosts: explained.map_or_else(Vec::new, |(before, with)| {
                hosts(made, after.as_ref(), before, with)
            }),
            decision: made.number,
            vms: (made.request.members.iter())
                .map(|vm| vm.id.clone())
                .collect(),
            before: made.before.clone(),
            after,
            failure,
        });
    }
}

fn hosts(
    made: &MadeAgain,
    chosen_after: Option<&Arc<str>>,
    before: &Explanation,
    after: &Explanation,
) -> Vec<HostChanged> {
    let concerned = made.before.iter().chain(chosen_after);
    let changed = concerned.map(|host| HostChanged {
        before: fate(before, host),
        after: fate(after, host),
        costs: costs(host, before, after),
        host: host.clone(),
    });
    changed.collect()
}

fn costs(host: &Arc<str>, before: &Explanation, after: &Explanation) -> Vec<CostChanged> {
    let (before, after) = (costs_of(host, before), costs_of(host, after));
    let weighted = |of: &[&CostShown], entry: &Arc<str>| {
        let found = of.iter().find(|cost| cost.name == *entry);
        found.map(|cost| cost.weighted)
    };
    let mut entries: Vec<&Arc<str>> = before.iter().map(|cost| &cost.name).collect();
    let more = after.iter().map(|cost| &cost.name);
    let more: Vec<_> = more.filter(|name| !entries.contains(name)).collect();
    entries.extend(more);
    let changed = entries.into_iter().map(|entry| CostChanged {
        entry: entry.clone(),
        before: weighted(&before, entry),
        after: weighted(&after, entry),
    });
    let same = |cost: &CostChanged| cost.before.map(f64::to_bits) == cost.after.map(f64::to_bits);
    changed.filter(|cost| !same(cost)).collect()
}

fn costs_of<'e>(host: &Arc<str>, explanation: &'e Explanation) -> Vec<&'e CostShown> {
    let hosts = explanation.stages.iter().flat_map(|stage| &stage.hosts);
    hosts
        .filter(|shown| shown.host == *host)
        .flat_map(|shown| &shown.costs)
        .collect()
}
