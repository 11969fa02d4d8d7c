//! The plan of a case: where its resources would go.

use std::sync::Arc;

use placewright_plugins as plugins;
use placewright_scheduler::{Decision, Plan, Scheduler};

use super::case::{Case, STOPPED};
use super::cluster;
use crate::units::Units;

/// What differs: what, expected, got.
pub(super) type Difference = (String, String, String);

/// A plan that was made, with the scheduler that made it.
pub(super) struct Planned {
    scheduler: Scheduler,
    plan: Plan,
}

impl Planned {
    /// Make the plan of a case.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn of(case: &Case, units: &Units) -> Result<Self, String> {
        let name = case.strategy.policy();
        let policy = plugins::policy(name).ok_or_else(|| {
            format!("field strategy: no policy \"{name}\" comes with the program")
        })?;
        let mut scheduler = units.scheduler(cluster::inventory(case)?, policy.text)?;
        let plan = scheduler.place_batch(cluster::batch(case));
        let plan = plan.map_err(|error| error.to_string())?;
        Ok(Self { scheduler, plan })
    }

    /// The scheduler, which remembers the decisions.
    pub(super) fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// The decision of a resource's turn, which may be that it gets no node.
    ///
    /// # Errors
    /// If it had no turn, or its turn came to no decision.
    pub(super) fn decision(&self, resource: &str) -> Result<&Decision, String> {
        let is_of = |members: &[Arc<str>]| members.iter().any(|id| **id == *resource);
        let turn = self.plan.turns.iter().find(|turn| is_of(&turn.members));
        let turn = turn.ok_or_else(|| format!("\"{resource}\" had no turn"))?;
        let decision = turn.outcome.as_ref();
        let decision = decision.map_err(|error| format!("the turn of \"{resource}\": {error}"))?;
        match decision.decided.left_out.first() {
            Some(left_out) => Err(format!(
                "the entry \"{}\" of the policy was left out: {}",
                left_out.entry, left_out.fault
            )),
            None => Ok(decision),
        }
    }

    /// Compare the place of every resource.
    ///
    /// # Errors
    /// If one of them has no decision.
    pub(super) fn compare(&self, case: &Case) -> Result<Vec<Difference>, String> {
        let mut differences = Vec::new();
        for (resource, expected) in &case.expect {
            let decision = self.decision(resource)?;
            let got = decision.host.as_deref().unwrap_or(STOPPED);
            if got != expected {
                differences.push((
                    format!("place of {resource}"),
                    expected.clone(),
                    format!("{got}{}", removals(decision)),
                ));
            }
        }
        Ok(differences)
    }
}

/// Who removed how many nodes and why, where none was left.
fn removals(decision: &Decision) -> String {
    if decision.host.is_some() {
        return String::new();
    }
    let removed = decision.decided.removed.iter();
    let shown: Vec<String> = removed
        .map(|it| format!("{} of {}: {}", it.hosts, it.filter, it.reason))
        .collect();
    format!(" ({})", shown.join("; "))
}
