//! A decision with the inventory that it was made on.

use std::time::Duration;

use super::{Decision, ExplainError, MadeOn, Recorded, Scheduler};
use crate::chain::{Decided, Explanation, Refusal, Runner};
use crate::inventory::Inventory;

/// A decision, and a copy of the inventory that it was made on: it can be made again,
/// and explained, beside the scheduler's work.
pub struct PastDecision {
    decision: Decision,
    inventory: Inventory,
    limit: Duration,
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
