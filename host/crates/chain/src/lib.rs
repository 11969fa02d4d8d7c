//! A policy made runnable over one inventory: filters, costs, choice.
//!
//! Pure: the same inventory version, request, units and draw give the same
//! decision, bit for bit. No clock (limits on calls apart), no files, no order by
//! hash. A [`Chain`] is made once from a policy, a generation of units and an
//! inventory ([`resolve`](Chain::resolve)), and run by a [`Runner`], which holds the
//! instances and buffers.
//!
//! Read [`Chain`], [`Runner`] and [`Explanation`] first.

#![forbid(unsafe_code)]

mod alike;
mod balance;
mod candidates;
mod choose;
mod decode;
mod effects;
mod encode;
mod explain;
mod facts;
mod needs;
#[cfg(feature = "openapi")]
pub mod openapi;
mod order;
mod overcommit;
#[cfg(test)]
mod paper;
mod part;
mod plan;
mod query;
mod resolve;
mod reuse;
mod run;
mod scale;
mod subject;
mod warm;
mod weigh;

pub use balance::{Balancing, Proposed};
pub use effects::Followed;
pub use explain::{
    CostShown, Explanation, HostShown, LeftOutShown, NotConsidered, RemovalShown, SelectionShown,
    ShareShown, StageShown, UnitShown, ValueShown,
};
pub use facts::FactShown;
pub use needs::{Unchecked, UnheededInCluster, UnheededNeed};
pub use query::{
    Answered, ColumnSeen, HostSaid, Prepared, Query, RowSeen, Said, TableSeen, WriteSaid,
};
pub use resolve::ChainError;
pub use reuse::{Quarantined, Reuse, ReuseCounts, UnitReuse};
pub use run::{Chosen, Decided, DecisionError, Durations, LeftOut, Removed, Runner, UnitTime};
pub use weigh::Weighing;

use std::sync::Arc;

use placewright_engine::Clock;
use placewright_engine::contract::{Answers, Evaluation, Part};
use placewright_engine::unit::Unit;
use placewright_policy::{Keep, OnFailure, Policy, Scaling, Settings};
use plan::ReadPlan;

/// A policy with its units, ready to run over the inventory it was resolved for.
#[derive(Debug)]
pub struct Chain {
    policy: Arc<Policy>,
    stages: Vec<Stage>,
    effects: Vec<PartStep>,
    order: Option<PartStep>,
    balance: Option<PartStep>,
    /// Needs that no filter of the stages checks.
    unchecked: Vec<Unchecked>,
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
    /// The place of the first tier whose costs are asked only about the hosts that
    /// the tiers before leave equal; beyond the last tier if there is none.
    late_tier: usize,
    selections: Vec<Selection>,
    keep: Keep,
    /// Units of the stage that can explain, each with each of its settings once.
    explains: Vec<PartStep>,
}

/// A unit that refines the candidates.
#[derive(Debug)]
struct Selection {
    step: PartStep,
    on_failure: OnFailure,
}

/// A part of a unit that is asked once in a decision or a batch, not host by host.
#[derive(Debug, Clone)]
struct PartStep {
    /// The policy's name for the entry.
    name: Arc<str>,
    part: Part,
    unit: Arc<Unit>,
    plan: ReadPlan,
    settings: Settings,
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
    /// Whether costs of it are ranked.
    is_ranked: bool,
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

impl Chain {
    /// The policy that this chain runs.
    pub fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// Whether it decides as that one whatever is asked: by an equal policy with the same units.
    pub fn decides_as(&self, other: &Self) -> bool {
        let digests = |chain: &Self| -> Vec<_> {
            let units = chain.units().into_iter();
            units.map(|unit| unit.digest()).collect()
        };
        self.policy == other.policy && digests(self) == digests(other)
    }

    /// The units that it calls, each once, in the order of their first use.
    pub fn units(&self) -> Vec<&Arc<Unit>> {
        let mut units: Vec<&Arc<Unit>> = Vec::new();
        let of_stages = self.stages.iter().flat_map(|stage| {
            let selections = stage
                .selections
                .iter()
                .map(|selection| &selection.step.unit);
            stage.steps.iter().map(|step| &step.unit).chain(selections)
        });
        let parts = self.effects.iter().chain(&self.order).chain(&self.balance);
        for unit in of_stages.chain(parts.map(|step| &step.unit)) {
            if !units.iter().any(|known| known.digest() == unit.digest()) {
                units.push(unit);
            }
        }
        units
    }

    /// The clock by which its runs are limited.
    fn clock(&self) -> Clock {
        let unit = self.units().into_iter().next();
        unit.map_or_else(Clock::default, |unit| unit.engine().clock().clone())
    }

    fn step_count(&self) -> usize {
        self.stages.iter().map(|stage| stage.steps.len()).sum()
    }
}
