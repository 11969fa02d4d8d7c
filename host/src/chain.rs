//! A policy made runnable over one inventory: filters, costs, choice.
//!
//! Pure: the same inventory version, request, units and draw give the same
//! decision, bit for bit. No clock (limits on calls apart), no files, no order by
//! hash. A [`Chain`] is made once from a policy, a generation of units and an
//! inventory ([`resolve`](Chain::resolve)), and run by a [`Runner`], which holds the
//! instances and buffers.

mod balance;
mod choose;
mod decode;
mod encode;
mod explain;
#[cfg(test)]
mod paper;
mod plan;
mod resolve;
mod run;
mod scale;
mod subject;

pub use balance::Proposed;
pub use explain::{
    CostShown, Explanation, HostShown, NotConsidered, RemovalShown, StageShown, UnitShown,
    ValueShown,
};
pub use resolve::ChainError;
pub use run::{Chosen, Decided, LeftOut, Refusal, Removed, Runner, UnitTime};

use std::sync::Arc;

use crate::contract::{Answers, Evaluation};
use crate::policy::{OnFailure, Policy, Scaling, Settings};
use crate::unit::Unit;
use plan::ReadPlan;

/// A policy with its units, ready to run over the inventory it was resolved for.
#[derive(Debug)]
pub struct Chain {
    policy: Arc<Policy>,
    stages: Vec<Stage>,
    balance: Option<BalanceStep>,
}

#[derive(Debug)]
struct Stage {
    name: Arc<str>,
    /// The calls, in order: filters (with the costs that the same call gives), then
    /// costs alone.
    steps: Vec<Step>,
    /// Cost entries in policy order.
    costs: Vec<Cost>,
    /// The tiers that occur, ascending.
    tiers: Vec<u32>,
}

/// One call of a judge.
#[derive(Debug)]
struct Step {
    unit: Arc<Unit>,
    plan: ReadPlan,
    settings: Settings,
    evaluation: Evaluation,
    want: Answers,
    /// The filter entry that the verdicts are for.
    filter: Option<Filter>,
    /// The cost entries that the costs are for.
    costs: Vec<usize>,
    /// Where its instance and buffers are in a runner.
    place: usize,
}

#[derive(Debug)]
struct Filter {
    name: Arc<str>,
    on_failure: OnFailure,
}

#[derive(Debug)]
struct Cost {
    name: Arc<str>,
    factor: f64,
    scaling: Scaling,
    /// What the unit declares as its least and greatest cost.
    range: Option<(f64, f64)>,
    /// The place of its tier among the stage's tiers.
    tier: usize,
    on_failure: OnFailure,
}

#[derive(Debug)]
struct BalanceStep {
    unit: Arc<Unit>,
    plan: ReadPlan,
    settings: Settings,
}

impl Chain {
    /// The policy that this chain runs.
    pub fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// The units that it calls, each once, in the order of their first use.
    pub fn units(&self) -> Vec<&Arc<Unit>> {
        let mut units: Vec<&Arc<Unit>> = Vec::new();
        let steps = self.stages.iter().flat_map(|stage| &stage.steps);
        let balance = self.balance.iter().map(|step| &step.unit);
        for unit in steps.map(|step| &step.unit).chain(balance) {
            if !units.iter().any(|known| known.digest() == unit.digest()) {
                units.push(unit);
            }
        }
        units
    }

    fn step_count(&self) -> usize {
        self.stages.iter().map(|stage| stage.steps.len()).sum()
    }
}
