//! What came out of a case.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::moves::MoveOutcome;
use placewright_chain::{Explanation, HostShown, LeftOutShown, StageShown};
use placewright_policy::Policy;

/// What came out of a case.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Outcome {
    /// The host that was chosen.
    pub chosen: Option<Arc<str>>,
    /// What the unit's balance proposes to move, if the case expects anything of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves: Option<Vec<MoveOutcome>>,
    /// Why there is no decision, or why an entry was left out of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// What became of each host; none if there is no decision.
    pub hosts: BTreeMap<Arc<str>, HostOutcome>,
    /// All that can be told of the decision, if there is one.
    #[serde(skip)]
    pub explanation: Option<Explanation>,
}

/// What became of one host.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct HostOutcome {
    /// Whether all filters left it.
    pub keep: bool,
    /// Why it was removed, or why no unit was asked about it; completes "host ...".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the reason will pass by itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub passing: bool,
    /// The entry of the policy that removed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Arc<str>>,
    /// What the tested unit said that it costs; null = infinite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// What each entry of the policy said that it costs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub costs: BTreeMap<Arc<str>, f64>,
    /// The sums of its weighted costs, tier by tier, in the last stage that it came to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sum: Vec<f64>,
    /// The group that the selections put it in, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<i64>,
    /// Its share of chance in its group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
}

impl Outcome {
    /// There is no decision.
    pub(super) fn error(error: impl std::fmt::Display) -> Self {
        Self {
            errors: vec![error.to_string()],
            ..Self::default()
        }
    }

    /// What came out of a decision, of which `unit` is the one that is tested.
    pub(super) fn of(explanation: Explanation, policy: &Policy, unit: &str) -> Self {
        let costs = policy.stages.iter().flat_map(|stage| &stage.costs);
        let mut own = costs.filter(|cost| *cost.unit.name == *unit);
        let own = own.next().map(|cost| cost.name.clone());
        let mut hosts: BTreeMap<Arc<str>, HostOutcome> = BTreeMap::new();
        for not_asked in &explanation.not_considered {
            let outcome = HostOutcome {
                reason: Some(not_asked.reason.clone()),
                ..HostOutcome::default()
            };
            hosts.insert(not_asked.host.clone(), outcome);
        }
        for stage in &explanation.stages {
            for shown in &stage.hosts {
                let outcome = hosts.entry(shown.host.clone()).or_default();
                outcome.take(shown, stage, own.as_ref());
            }
        }
        let errors = explanation.left_out.iter();
        let errors = errors.map(|left_out| {
            let LeftOutShown { entry, fault } = left_out;
            format!("\"{entry}\" was left out: {fault}")
        });
        Self {
            chosen: explanation.chosen.clone(),
            moves: None,
            errors: errors.collect(),
            hosts,
            explanation: Some(explanation),
        }
    }
}

impl HostOutcome {
    /// Take in what became of the host in one stage more.
    fn take(&mut self, shown: &HostShown, stage: &StageShown, own: Option<&Arc<str>>) {
        self.keep = shown.removed.is_none();
        if let Some(removed) = &shown.removed {
            self.reason = Some(removed.reason.clone());
            self.passing = removed.passing;
            self.by = Some(removed.filter.clone());
        }
        for cost in &shown.costs {
            if Some(&cost.name) == own {
                self.cost = Some(cost.raw);
            }
            self.costs.insert(cost.name.clone(), cost.raw);
        }
        self.sum.clone_from(&shown.sums);
        let groups = stage.selections.last().map(|selection| &selection.groups);
        for (number, group) in (1..).zip(groups.into_iter().flatten()) {
            if let Some(member) = group.iter().find(|member| member.host == shown.host) {
                (self.group, self.share) = (Some(number), Some(member.share));
            }
        }
    }
}
