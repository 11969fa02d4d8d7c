//! Another policy, or other units, decide from the next turn on.

use std::sync::Arc;

use super::durable;
use super::{Attached, ClusterSettings, ClusterState};
use crate::deployment::{DeploymentError, EventKind};
use crate::library::Generation;
use crate::policy::Policy;

/// What a cluster is to decide by.
#[derive(Debug, Clone)]
pub struct Rule {
    /// With what is different in this cluster, checked against the generation.
    pub policy: Arc<Policy>,
    pub attached: Attached,
    pub generation: Arc<Generation>,
}

impl ClusterState {
    /// Decide by another policy or other units from now on. What is remembered of
    /// decisions stays.
    ///
    /// # Errors
    /// If the policy cannot run; then the one before goes on.
    pub fn rule_by(&mut self, rule: Rule) -> Result<(), DeploymentError> {
        self.scheduler
            .set_policy(rule.policy.clone(), &rule.generation)?;
        self.policy = rule.policy;
        self.forget_faults();
        // It stood beside what was.
        self.shadow = None;
        self.generation = rule.generation;
        self.attached = rule.attached;
        self.broken = None;
        Ok(())
    }

    /// These units are in force, and none of those that the policy uses has changed.
    pub fn know(&mut self, generation: Arc<Generation>) {
        self.generation = generation;
    }

    /// The settings of the cluster are these from now on.
    pub fn set(&mut self, settings: ClusterSettings) {
        let inventory = self.scheduler.inventory_mut();
        inventory.set_statistics_max_age(settings.statistics_max_age);
        self.settings = settings;
        self.changes.push(durable::Rows::now(self).itself());
    }

    /// Decide nothing, for want of a policy that can run.
    pub fn break_off(&mut self, why: String) {
        self.tell(
            EventKind::ClusterWithoutPolicy,
            format!("nothing is decided: {why}"),
        );
        self.broken = Some(why);
    }
}
