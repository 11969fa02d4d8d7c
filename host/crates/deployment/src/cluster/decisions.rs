//! Decisions that were made, and questions about them and about others.
//!
//! Questions are asked of a copy that a turn hands out, so that the cluster does not
//! wait for their answers.

use std::sync::Arc;

use super::ClusterState;
use crate::DeploymentError;
use placewright_chain::{Chain, Explanation};
use placewright_engine::generation::Generation;
use placewright_engine::unit::Fault;
use placewright_inventory::Inventory;
use placewright_policy::Policy;
use placewright_scheduler::questions::{Situation, Why};
use placewright_scheduler::{
    Cancel, ExplainError, PastDecision, PlaceError, Remembered, RunnerUp, SchedulerOptions,
};

/// A decision and the inventory that it was made on.
pub struct Past(PastDecision);

impl Past {
    pub(crate) fn of(past: PastDecision) -> Self {
        Self(past)
    }

    /// The chain that decided.
    pub fn chain(&self) -> &Arc<Chain> {
        self.0.chain()
    }

    /// Explain it by running its chain again.
    ///
    /// # Errors
    /// If a unit fails.
    pub fn explain(&self) -> Result<Explanation, DeploymentError> {
        Ok(self.0.explain().map_err(PlaceError::from)?)
    }

    /// Why its VMs did not go to that host, and the smallest changes that would have let it
    /// through.
    ///
    /// # Errors
    /// If there was no such host, a unit fails, or the question's time is up.
    pub fn why(&self, host: &str, cancel: &Cancel) -> Result<Why, DeploymentError> {
        Ok(self.0.why(host, cancel)?)
    }

    /// The host that its chain chooses, if there is one, or how a unit failed; and the calls of
    /// units that gave no answer now and did when the decision was made.
    pub fn host_and_faults(&self) -> (placewright_scheduler::HostOrError, Vec<Arc<Fault>>) {
        self.0.host_and_faults()
    }

    /// The hosts that would have been chosen next, best first, at most so many.
    ///
    /// # Errors
    /// If a unit fails.
    pub fn runners_up(&self, most: usize) -> Result<Vec<RunnerUp>, DeploymentError> {
        Ok(self.0.runners_up(most).map_err(PlaceError::from)?)
    }

    /// Decide it again by what decided then, and say whether the same comes out.
    ///
    /// # Errors
    /// If a unit fails.
    pub fn replay(&self) -> Result<bool, DeploymentError> {
        Ok(self.0.comes_out_the_same().map_err(PlaceError::from)?)
    }
}

/// A decision that is remembered, and a copy of the cluster that can be taken back to then.
pub struct RememberedPast(Remembered);

impl RememberedPast {
    /// The decision with the inventory of then. It takes as long as what has changed since is
    /// much; no turn is needed for it.
    ///
    /// # Errors
    /// If the inventory of then is remembered no more.
    pub fn past(self) -> Result<Past, ExplainError> {
        self.0.past().map(Past)
    }
}

/// A copy of a cluster that questions can be asked of.
#[derive(Debug, Clone)]
pub struct Kept {
    inventory: Inventory,
    policy: Arc<Policy>,
    generation: Arc<Generation>,
    options: SchedulerOptions,
}

impl Kept {
    /// What questions are about.
    pub fn situation(&self) -> Situation<'_> {
        self.situation_by(&self.options)
    }

    /// The same, with decisions made in another way.
    pub fn situation_by<'a>(&'a self, options: &'a SchedulerOptions) -> Situation<'a> {
        Situation {
            inventory: &self.inventory,
            policy: &self.policy,
            generation: &self.generation,
            options,
        }
    }

    /// How decisions are made, for questions that end early when `cancel` says so.
    pub fn options(&self, cancel: Cancel) -> SchedulerOptions {
        SchedulerOptions {
            cancel,
            ..self.options.clone()
        }
    }

    /// The cluster as it was.
    pub fn inventory(&self) -> &Inventory {
        &self.inventory
    }
}

impl ClusterState {
    /// A copy of the cluster as it is, for questions.
    ///
    /// # Errors
    /// If no policy can run.
    pub fn copy(&mut self) -> Result<Kept, DeploymentError> {
        self.must_decide()?;
        self.advance();
        Ok(self.kept())
    }

    /// The same, at whatever time and whether or not a policy can run.
    pub(super) fn kept(&self) -> Kept {
        Kept {
            inventory: self.inventory().clone(),
            policy: self.policy.clone(),
            generation: self.generation.clone(),
            options: self.scheduler.options().clone(),
        }
    }

    /// A decision that is remembered, if it and the inventory of then are.
    pub fn remembered(&self, number: u64) -> Option<RememberedPast> {
        self.scheduler.remembered(number).ok().map(RememberedPast)
    }

    /// A decision with the inventory of then.
    ///
    /// # Errors
    /// If one of the two is remembered no more.
    pub fn past(&self, number: u64) -> Result<Past, ExplainError> {
        self.scheduler.past(number).map(Past)
    }
}
