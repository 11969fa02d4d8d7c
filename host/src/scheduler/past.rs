//! A decision with the inventory that it was made on.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::{Decision, ExplainError, MadeOn, Recorded, Scheduler};
use crate::chain::{Chain, Decided, Explanation, Refusal, Runner};
use crate::inventory::Inventory;

/// A decision, and a copy of the inventory that it was made on: it can be made again,
/// and explained, beside the scheduler's work.
pub struct PastDecision {
    decision: Decision,
    inventory: Inventory,
    limit: Duration,
}

/// A host that came after the chosen one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunnerUp {
    /// Its id.
    pub host: Arc<str>,
    /// The sums of its weighted costs, tier by tier; null = infinite.
    pub costs: Vec<f64>,
}

impl Scheduler {
    /// A decision that is remembered, with the inventory of then.
    ///
    /// # Errors
    /// If the decision, or the inventory's version of then, is no longer remembered.
    pub fn past(&self, number: u64) -> Result<PastDecision, ExplainError> {
        let Recorded { decision, made_on } = self
            .recorded
            .iter()
            .find(|recorded| recorded.decision.number == number)
            .ok_or(ExplainError::Forgotten(number))?;
        let inventory = match made_on {
            MadeOn::Inventory => Some(&self.inventory),
            MadeOn::Copy(copy) => Some(&**copy),
            MadeOn::Gone => None,
        };
        let inventory = inventory
            .and_then(|inventory| inventory.at_version(decision.inventory_version))
            .ok_or(ExplainError::TooLongAgo(number))?;
        Ok(PastDecision {
            decision: decision.clone(),
            inventory,
            limit: self.options.chain_limit,
        })
    }
}

impl PastDecision {
    /// What was decided.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// Explain it by running its chain again.
    ///
    /// # Errors
    /// If a unit fails.
    pub fn explain(&self) -> Result<Explanation, Refusal> {
        let Decision { request, draw, .. } = &self.decision;
        let (_, explanation) = self.runner().explain(&self.inventory, request, *draw)?;
        Ok(explanation)
    }

    /// Explain how another chain, resolved for the scheduler's inventory, would have
    /// decided.
    ///
    /// # Errors
    /// If a unit fails.
    pub fn explain_by(&self, chain: Arc<Chain>) -> Result<Explanation, Refusal> {
        let Decision { request, draw, .. } = &self.decision;
        let mut runner = Runner::new(chain, self.limit);
        let (_, explanation) = runner.explain(&self.inventory, request, *draw)?;
        Ok(explanation)
    }

    /// The hosts that would have been chosen next, best first, at most so many: its
    /// chain is run again. None where selections decide, whose shares the decision
    /// tells, or where the request forced a host.
    ///
    /// # Errors
    /// If a unit fails.
    pub fn runners_up(&self, most: usize) -> Result<Vec<RunnerUp>, Refusal> {
        let Decision { request, draw, .. } = &self.decision;
        let ranked = self
            .runner()
            .rank(&self.inventory, request, *draw, most.saturating_add(1))?;
        let shown = ranked.into_iter().skip(1).filter_map(|(slot, costs)| {
            let host = self.inventory.host(slot)?.id.clone();
            Some(RunnerUp { host, costs })
        });
        Ok(shown.collect())
    }

    /// Run its chain again.
    ///
    /// # Errors
    /// If a unit fails.
    pub fn decide_again(&self) -> Result<Decided, Refusal> {
        let Decision { request, draw, .. } = &self.decision;
        self.runner().decide(&self.inventory, request, *draw)
    }

    fn runner(&self) -> Runner {
        Runner::new(self.decision.chain.clone(), self.limit)
    }
}
