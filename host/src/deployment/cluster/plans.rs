//! Plans of moves: made, looked at, begun step by step, or cancelled.

use std::collections::BTreeMap;

use serde::Serialize;

use super::ClusterState;
use crate::deployment::DeploymentError;
use crate::scheduler::{BalanceOptions, BalancePlan};

/// How many plans of a cluster are remembered.
const REMEMBERED: usize = 32;

/// The plans of a cluster. They end with the process: a plan is about the cluster as
/// it is.
#[derive(Debug, Default)]
pub(super) struct Plans {
    next: u64,
    plans: BTreeMap<u64, Begun>,
}

#[derive(Debug)]
struct Begun {
    plan: BalancePlan,
    /// How many steps were begun.
    begun: usize,
    cancelled: bool,
}

/// A plan, and how far it is.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct PlanShown {
    /// Counts up from 1 in each cluster.
    pub number: u64,
    /// How many of its moves were begun, in order.
    pub begun: usize,
    pub cancelled: bool,
    #[schema(value_type = Object)]
    pub plan: BalancePlan,
}

/// How far a plan was brought by what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Step {
    /// How many moves were begun so far.
    pub begun: usize,
    /// How many moves the plan has.
    pub moves: usize,
}

impl ClusterState {
    /// What the policy's balance unit would move, held against the chain. Nothing is
    /// begun. The copy is planned on by the caller's thread, so that the cluster
    /// goes on deciding.
    ///
    /// # Errors
    /// If no policy can run.
    pub fn planner(&mut self) -> Result<Planner, DeploymentError> {
        self.must_decide()?;
        let now = self.advance();
        Ok(Planner {
            scheduler: self.scheduler.copy(),
            now,
        })
    }

    /// Remember a plan, to be begun or cancelled.
    pub fn remember_plan(&mut self, plan: BalancePlan) -> PlanShown {
        let plans = &mut self.plans;
        plans.next += 1;
        let begun = Begun {
            plan,
            begun: 0,
            cancelled: false,
        };
        plans.plans.insert(plans.next, begun);
        while plans.plans.len() > REMEMBERED {
            plans.plans.pop_first();
        }
        shown(plans.next, &plans.plans[&plans.next])
    }

    /// The plans that are remembered, oldest first.
    pub fn plans(&self) -> Vec<PlanShown> {
        let plans = self.plans.plans.iter();
        plans.map(|(number, begun)| shown(*number, begun)).collect()
    }

    /// Begin the next moves of a plan, as many as are legal while those before are
    /// under way.
    ///
    /// # Errors
    /// If there is no such plan, it was cancelled, or not one move can be begun.
    pub fn begin_plan(&mut self, number: u64) -> Result<Step, DeploymentError> {
        self.must_decide()?;
        let now = self.advance();
        let Some(entry) = self.plans.plans.get_mut(&number) else {
            return Err(no_plan(number));
        };
        if entry.cancelled {
            return Err(DeploymentError::Refused(format!(
                "plan {number} was cancelled: plan again"
            )));
        }
        if entry.begun < entry.plan.moves.len() {
            entry.begun = self
                .scheduler
                .apply_balance(&entry.plan, entry.begun, now)?;
        }
        Ok(Step {
            begun: entry.begun,
            moves: entry.plan.moves.len(),
        })
    }

    /// Give back the places of the moves that were begun and are not confirmed. Gives
    /// how many.
    ///
    /// # Errors
    /// If there is no such plan.
    pub fn cancel_plan(&mut self, number: u64) -> Result<usize, DeploymentError> {
        self.advance();
        let Some(entry) = self.plans.plans.get_mut(&number) else {
            return Err(no_plan(number));
        };
        entry.cancelled = true;
        Ok(self.scheduler.cancel_balance(&entry.plan))
    }
}

/// Makes a plan on a copy of a cluster.
pub struct Planner {
    scheduler: crate::scheduler::Scheduler,
    now: i64,
}

impl Planner {
    /// Make the plan.
    ///
    /// # Errors
    /// If a unit refuses or fails that the policy cannot do without.
    pub fn plan(mut self, options: &BalanceOptions) -> Result<BalancePlan, DeploymentError> {
        Ok(self.scheduler.plan_balance(self.now, options)?)
    }
}

fn no_plan(number: u64) -> DeploymentError {
    DeploymentError::unknown("plan", &number.to_string(), [])
}

fn shown(number: u64, begun: &Begun) -> PlanShown {
    PlanShown {
        number,
        begun: begun.begun,
        cancelled: begun.cancelled,
        plan: begun.plan.clone(),
    }
}
