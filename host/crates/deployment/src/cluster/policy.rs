//! Another policy, or other units, decide from the next turn on.

use std::sync::Arc;

use super::durable;
use super::{Attached, ClusterSettings, ClusterState};
use crate::enforce::because;
use crate::in_force::InForce;
use crate::rules::{rule, unit_digests_differ};
use crate::start::no_rule;
use crate::{DeploymentError, EventKind};
use placewright_engine::generation::Generation;
use placewright_policy::Policy;
use placewright_sync::atomic::Ordering;

/// What a cluster is to decide by.
#[derive(Debug, Clone)]
pub struct Rule {
    /// With what is different in this cluster, checked against the generation.
    pub policy: Arc<Policy>,
    /// The policy's name and revision.
    pub attached: Attached,
    /// The units that decide.
    pub generation: Arc<Generation>,
}

impl ClusterState {
    /// Take over what is in force by now. Where neither the policy nor a unit of it has
    /// changed, what decides goes on, with all that it keeps. A policy that cannot run any
    /// more decides nothing until one is in force that can.
    pub(super) fn take_over(&mut self) {
        let in_force = self.in_force.load_full();
        if Arc::ptr_eq(&in_force, &self.adopted) {
            return;
        }
        self.adopted = in_force.clone();
        match self.is_ruled_by(&in_force) {
            true => self.generation = in_force.generation.clone(),
            false => {
                let ruled = self.rule(&in_force).and_then(|rule| self.rule_by(rule));
                if let Err(error) = ruled {
                    // First, so that nothing is decided though the next step should fail.
                    self.break_off(because(&error, &in_force.distrusted));
                    self.ask_nothing(&in_force);
                }
            }
        }
        self.adopted_number
            .store(in_force.number, Ordering::Release);
    }

    /// Have the policy that asks no unit in the place of the one before, and go on deciding
    /// nothing: what is not in force any more is not called or kept.
    fn ask_nothing(&mut self, in_force: &InForce) {
        self.generation = in_force.generation.clone();
        let broken = self.broken.take();
        let schema = self.inventory().schema().clone();
        let rule = no_rule(&self.settings, &schema, &in_force.generation);
        if let Err(error) = rule.and_then(|rule| self.rule_by(rule)) {
            tracing::error!(cluster = &*self.name, %error, "units that are no longer in force cannot be released");
        }
        self.broken = broken;
        self.ruling.store(None);
        self.publish_health();
    }

    /// Whether the same decides as decides now, if this is in force.
    fn is_ruled_by(&self, in_force: &InForce) -> bool {
        let record = in_force.policies.find(&self.settings.policy);
        let is_attached = record.is_some_and(|record| {
            record.name == self.attached.policy && record.revision == self.attached.revision
        });
        is_attached
            && self.broken.is_none()
            && !unit_digests_differ(&self.policy, &self.generation, &in_force.generation)
    }

    /// What decides here if this is in force.
    fn rule(&self, in_force: &InForce) -> Result<Rule, DeploymentError> {
        let record = in_force.policies.get(&self.settings.policy)?;
        let schema = self.inventory().schema();
        rule(
            record,
            &self.settings.overrides,
            schema,
            &in_force.generation,
        )
    }

    /// Decide by another policy or other units from now on. What is remembered of
    /// decisions stays.
    ///
    /// # Errors
    /// If the policy cannot run; then the one before goes on.
    fn rule_by(&mut self, rule: Rule) -> Result<(), DeploymentError> {
        self.scheduler
            .set_policy(rule.policy.clone(), &rule.generation)?;
        self.policy = rule.policy;
        self.ruling.store(Some(self.policy.clone()));
        self.forget_faults();
        // It stood beside what was.
        self.shadow = None;
        self.generation = rule.generation;
        self.attached = rule.attached;
        self.broken = None;
        self.publish_health();
        Ok(())
    }

    /// Have these settings from now on, and decide by their policy. If a revision is given,
    /// it must be that of the settings until now.
    ///
    /// # Errors
    /// If the policy cannot run here, or the settings have another revision; then
    /// everything stays as it was.
    pub(crate) fn attach(
        &mut self,
        settings: ClusterSettings,
        revision: Option<u64>,
    ) -> Result<ClusterSettings, DeploymentError> {
        let current = self.settings.revision;
        if let Some(given) = revision.filter(|given| *given != current) {
            return Err(DeploymentError::Revision {
                what: format!("the settings of cluster \"{}\"", self.name),
                given,
                current,
            });
        }
        let settings = ClusterSettings {
            revision: current + 1,
            ..settings
        };
        let before = std::mem::replace(&mut self.settings, settings);
        let in_force = self.adopted.clone();
        let ruled = self.rule(&in_force).and_then(|rule| self.rule_by(rule));
        if let Err(error) = ruled {
            self.settings = before;
            return Err(error);
        }
        self.settings
            .time_measurements(self.scheduler.inventory_mut());
        self.restarts_are_set(before.restart);
        self.changes.push(durable::Rows::now(self).itself());
        self.publish_health();
        Ok(self.settings.clone())
    }

    /// The number of what is in force by which this turn decides.
    pub(crate) fn in_force_number(&self) -> u64 {
        self.adopted.number
    }

    /// Decide nothing, for want of a policy that can run.
    pub fn break_off(&mut self, why: String) {
        self.tell(
            EventKind::ClusterWithoutPolicy,
            format!("nothing is decided: {why}"),
        );
        self.ruling.store(None);
        self.broken = Some(why);
        self.publish_health();
    }
}
