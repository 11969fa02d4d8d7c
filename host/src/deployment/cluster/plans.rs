//! Plans of moves: made, looked at, begun step by step, or cancelled.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ClusterState, durable};
use crate::deployment::DeploymentError;
use crate::scheduler::{BalanceOptions, BalancePlan, SavedPlan};
use crate::store::Change;

/// How many plans of a cluster are remembered.
const REMEMBERED: usize = 32;

/// The plans of a cluster.
#[derive(Debug, Default)]
pub(super) struct Plans {
    /// The number of the last one; 0 before the first.
    last: u64,
    plans: BTreeMap<u64, Begun>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Begun {
    #[serde(with = "saved")]
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
        plans.last += 1;
        let number = plans.last;
        let begun = Begun {
            plan,
            begun: 0,
            cancelled: false,
        };
        let told = shown(number, &begun);
        plans.plans.insert(number, begun);
        while plans.plans.len() > REMEMBERED
            && let Some((number, _)) = plans.plans.pop_first()
        {
            self.changes.push(Change::RemovePlan {
                cluster: self.name.to_string(),
                number,
            });
        }
        self.keep_plan(number);
        told
    }

    /// Have a plan kept as it is now.
    fn keep_plan(&mut self, number: u64) {
        if let Some(begun) = self.plans.plans.get(&number) {
            self.changes.push(Change::PutPlan {
                cluster: self.name.to_string(),
                number,
                body: durable::json(begun),
            });
        }
    }

    /// Have all plans kept.
    pub(super) fn keep_plans(&mut self) {
        let numbers: Vec<u64> = self.plans.plans.keys().copied().collect();
        for number in numbers {
            self.keep_plan(number);
        }
    }

    /// A plan as it was kept.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(in crate::deployment) fn restore_plan(
        &mut self,
        number: u64,
        body: &str,
    ) -> serde_json::Result<()> {
        self.plans.plans.insert(number, serde_json::from_str(body)?);
        Ok(())
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
        let step = Step {
            begun: entry.begun,
            moves: entry.plan.moves.len(),
        };
        self.keep_plan(number);
        Ok(step)
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
        let places = self.scheduler.cancel_balance(&entry.plan);
        self.keep_plan(number);
        Ok(places)
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

impl Plans {
    /// The number that the next plan has.
    pub(super) fn next(&self) -> u64 {
        self.last + 1
    }

    /// The next plan has this number.
    pub(super) fn resume(&mut self, next: u64) {
        self.last = next.saturating_sub(1);
    }
}

/// The plan of one that is kept.
mod saved {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{BalancePlan, SavedPlan};

    pub fn serialize<S: Serializer>(plan: &BalancePlan, to: S) -> Result<S::Ok, S::Error> {
        SavedPlan::from(plan).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<BalancePlan, D::Error> {
        SavedPlan::deserialize(from).map(BalancePlan::from)
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
