//! Decides for one cluster, one request after the other: places, reserves,
//! remembers, explains.
//!
//! A decision and its reservation are one step, so the next decision sees it. Many
//! clusters are many schedulers.

mod balance;
mod batch;
mod decision;
mod draw;
mod error;
mod place;

pub use balance::{BalanceError, BalanceOptions, BalancePlan, Because, PlannedMove, RefusedMove};
pub use batch::{Batch, Plan, Turn};
pub use decision::Decision;
pub use error::{ExplainError, PlaceError};

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::chain::{Chain, ChainError, Explanation, Runner, UnitTime};
use crate::inventory::{HostWatch, Inventory};
use crate::library::Generation;
use crate::model::Request;
use crate::policy::Policy;

/// How a scheduler goes about its work.
#[derive(Debug, Clone, PartialEq)]
pub struct SchedulerOptions {
    /// Wall time that one decision's chain may take.
    pub chain_limit: Duration,
    /// Seconds after which a reservation ends if nobody confirms it; None: never.
    pub reservation: Option<i64>,
    /// What draws are derived from where a request brings none of its own.
    pub seed: u64,
    /// How many decisions are remembered, so that they can be explained.
    pub recorded: usize,
}

impl Default for SchedulerOptions {
    fn default() -> Self {
        Self {
            chain_limit: Duration::from_secs(1),
            reservation: Some(300),
            seed: 0,
            recorded: 1000,
        }
    }
}

/// A decision that is remembered.
struct Recorded {
    decision: Decision,
    /// The copy of the inventory that it was made on, if it was made on one.
    world: Option<Arc<Inventory>>,
}

/// The scheduler of one cluster.
pub struct Scheduler {
    inventory: Inventory,
    runner: Runner,
    options: SchedulerOptions,
    recorded: VecDeque<Recorded>,
    next_number: u64,
    cool_down: balance::CoolDown,
}

impl Scheduler {
    /// A scheduler for the cluster in `inventory`, under a policy that was checked
    /// against `generation`.
    ///
    /// # Errors
    /// If the generation lacks a unit of the policy.
    pub fn new(
        mut inventory: Inventory,
        policy: Arc<Policy>,
        generation: &Generation,
        options: SchedulerOptions,
    ) -> Result<Self, ChainError> {
        let watches = policy.watches.iter().map(|watch| HostWatch {
            name: watch.name.clone(),
            column: watch.column.clone(),
            at_least: watch.at_least,
            at_most: watch.at_most,
        });
        inventory.set_watches(watches.collect());
        let chain = Arc::new(Chain::resolve(policy, generation, &mut inventory)?);
        Ok(Self {
            inventory,
            runner: Runner::new(chain, options.chain_limit),
            options,
            recorded: VecDeque::new(),
            next_number: 1,
            cool_down: balance::CoolDown::default(),
        })
    }

    /// The cluster as it is now.
    pub fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    /// The cluster, to be changed: hosts and VMs that come, go and report.
    pub fn inventory_mut(&mut self) -> &mut Inventory {
        &mut self.inventory
    }

    /// The chain that decides.
    pub fn chain(&self) -> &Arc<Chain> {
        self.runner.chain()
    }

    /// What each call of the chain has cost so far.
    pub fn times(&self) -> impl Iterator<Item = &UnitTime> {
        self.runner.times()
    }

    /// Decide where the request's VMs run, and reserve their places there. A VM that
    /// runs already is moved; for one of which the request tells nothing but the id,
    /// what the inventory knows is taken. Without a host that may run them nothing
    /// changes, and the decision says why.
    ///
    /// # Errors
    /// If the request is at fault, a unit fails that the policy cannot do without,
    /// or the time limit is reached; then nothing changes.
    pub fn place(&mut self, request: Request) -> Result<Decision, PlaceError> {
        let decision = place::place(
            &mut self.inventory,
            &mut self.runner,
            &self.options,
            self.next_number,
            request,
        )?;
        self.next_number += 1;
        self.record(Recorded {
            decision: decision.clone(),
            world: None,
        });
        Ok(decision)
    }

    fn record(&mut self, recorded: Recorded) {
        if self.options.recorded == 0 {
            return;
        }
        if self.recorded.len() == self.options.recorded {
            self.recorded.pop_front();
        }
        self.recorded.push_back(recorded);
    }

    /// The decisions that are remembered, oldest first.
    pub fn decisions(&self) -> impl Iterator<Item = &Decision> {
        self.recorded.iter().map(|recorded| &recorded.decision)
    }

    /// Explain a decision by running its chain again on the inventory as it was.
    ///
    /// # Errors
    /// If the decision, or the inventory's version of then, is no longer remembered,
    /// or a unit fails.
    pub fn explain(&self, number: u64) -> Result<Explanation, ExplainError> {
        let Recorded { decision, world } = self
            .recorded
            .iter()
            .find(|recorded| recorded.decision.number == number)
            .ok_or(ExplainError::Forgotten(number))?;
        let past = world
            .as_deref()
            .unwrap_or(&self.inventory)
            .at_version(decision.inventory_version)
            .ok_or(ExplainError::TooLongAgo(number))?;
        let mut runner = Runner::new(decision.chain.clone(), self.options.chain_limit);
        let (_, explanation) = runner.explain(&past, &decision.request, decision.draw)?;
        Ok(explanation)
    }
}
