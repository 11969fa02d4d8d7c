//! Recorded decisions, made again with a candidate that does not come into force.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::past::Wanted;
use super::{Deployment, DeploymentError};
use placewright_library::stage::{Candidate, Staging};
use placewright_scheduler::questions::Replayed;
use placewright_scheduler::{Cancel, PlaceError};

/// How long decisions of one cluster are made again.
const TIME: Duration = Duration::from_secs(10);

/// What of the recorded decisions is made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayWanted {
    /// The newest of each cluster, at most so many.
    pub decisions: usize,
    /// Of each cluster's that differ, at most so many are explained.
    pub examples: usize,
}

/// What would change with a candidate.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct UnitReplayed {
    /// What was found out about it, step by step.
    pub staging: Staging,
    /// What would become of recorded decisions, by the names of the clusters that use the
    /// unit; none if it was not let in as far as it alone is concerned.
    pub clusters: BTreeMap<String, Replayed>,
}

impl Deployment {
    /// Make recorded decisions again with a candidate, in all clusters that use the unit
    /// of its name, each on the inventory of then. Nothing is changed, and no cluster
    /// waits: the decisions are made again on copies.
    ///
    /// # Errors
    /// If a policy cannot run with the candidate, or `cancel` ends it between two clusters.
    pub fn replay_unit(
        &self,
        candidate: &Candidate,
        by: &str,
        wanted: ReplayWanted,
        cancel: &Cancel,
    ) -> Result<UnitReplayed, DeploymentError> {
        let (staging, unit) = self.library.admit(candidate, by);
        let mut clusters = BTreeMap::new();
        let Some(unit) = unit else {
            return Ok(UnitReplayed { staging, clusters });
        };
        let generation = Arc::new(self.generation().with(unit.clone()));
        for cluster in self.clusters() {
            if !cluster.uses(unit.name()) {
                continue;
            }
            let rule = self.rule_of(&cluster.settings(), &cluster.schema(), &generation)?;
            cancel.check().map_err(PlaceError::from)?;
            let wanted = Wanted {
                decisions: wanted.decisions,
                examples: wanted.examples,
                until: Instant::now() + TIME,
                patience: self.options.wait,
                cancel: cancel.clone(),
                // The more a candidate is asked, the more is seen of it.
                reuse: None,
                baseline: self.baseline_of(&cluster),
            };
            let again = self.made_again(&cluster, (&rule.policy, &generation), wanted)?;
            clusters.insert(cluster.name().to_string(), Replayed::of(&again.made));
        }
        Ok(UnitReplayed { staging, clusters })
    }
}
