//! Recorded decisions, made again by another policy or other units.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Decision, MadeOn, PlaceError, Scheduler, place};
use crate::chain::{Chain, ChainError, Runner, Weighing};
use crate::inventory::Inventory;
use crate::library::Generation;
use crate::model::Request;
use crate::policy::Policy;

/// Decisions that a scheduler remembers, and a copy of its inventory that can be taken
/// back to each of them.
pub struct Trial {
    inventory: Inventory,
    /// Newest first.
    decisions: Vec<Decision>,
    limit: Duration,
}

/// A decision's number, the host that was chosen, and the one that would have been.
pub type Compared = (u64, Option<Arc<str>>, Option<Arc<str>>);

impl Scheduler {
    /// What the request that is about to be placed would cost on every host by another
    /// chain. Nothing is changed, but for the time up to which the inventory is brought.
    ///
    /// # Errors
    /// As for [`Scheduler::place`].
    pub fn weigh_by(
        &mut self,
        runner: &mut Runner,
        request: &Request,
    ) -> Result<Weighing, PlaceError> {
        let mut request = request.clone();
        place::take_in(&mut self.inventory, &mut request)?;
        let draw = place::draw(&self.options, &request, self.next_number)?;
        Ok(runner.weigh(&self.inventory, &request, draw, &[])?)
    }

    /// The last decisions, at most so many, to be made again.
    pub fn trial(&self, most: usize) -> Trial {
        let remembered = |version| self.inventory.oldest_version() <= version;
        let recorded = self.recorded.iter().rev().filter(|recorded| {
            let decision = &recorded.decision;
            matches!(recorded.made_on, MadeOn::Inventory)
                && decision.request.forced.is_none()
                && remembered(decision.inventory_version)
        });
        let decisions: Vec<Decision> = recorded
            .take(most)
            .map(|recorded| recorded.decision.clone())
            .collect();
        let inventory = match decisions.is_empty() {
            true => Inventory::new("nothing", self.inventory.schema().clone()),
            false => self.inventory.clone(),
        };
        Trial {
            inventory,
            decisions,
            limit: self.options.chain_limit,
        }
    }
}

impl Trial {
    /// Make the decisions again, the newest first, each on the inventory of then: one,
    /// and more until `time` is up. One that fails counts as one that finds no host.
    ///
    /// # Errors
    /// If the policy cannot run with these units.
    pub fn run(
        mut self,
        policy: Arc<Policy>,
        generation: &Generation,
        time: Duration,
    ) -> Result<Vec<Compared>, ChainError> {
        let until = Instant::now() + time;
        let chain = Arc::new(Chain::resolve(policy, generation, &mut self.inventory)?);
        let mut runner = Runner::new(chain, self.limit);
        let mut compared = Vec::new();
        for decision in self.decisions {
            let out_of_time = !compared.is_empty() && Instant::now() >= until;
            if out_of_time || !self.inventory.take_back(decision.inventory_version) {
                break;
            }
            let again = runner.decide(&self.inventory, &decision.request, decision.draw);
            let chosen = again.ok().and_then(|decided| decided.chosen);
            let host = chosen.and_then(|chosen| self.inventory.host(chosen.slot));
            let after = host.map(|host| host.id.clone());
            compared.push((decision.number, decision.host, after));
        }
        Ok(compared)
    }
}
