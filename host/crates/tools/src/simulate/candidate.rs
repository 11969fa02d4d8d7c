//! Other units beside those that decide in a replay: they decide on the same fleet, and
//! nothing follows from it.

use std::sync::Arc;

use super::Observer;
use placewright_chain::{Chain, ChainError, Reuse, Runner};
use placewright_engine::generation::Generation;
use placewright_model::Request;
use placewright_policy::Policy;
use placewright_scheduler::questions::Replayed;
use placewright_scheduler::{Decision, MadeAgain, PlaceError, Scheduler};

/// A policy with other units, which is asked about every VM of a replay before it is
/// placed.
pub struct Candidate<'a> {
    policy: Arc<Policy>,
    generation: &'a Generation,
    /// How many decisions are still to be explained.
    examples: usize,
    /// Made when the first VM comes.
    runner: Option<Runner>,
    /// Why there is none.
    error: Option<ChainError>,
    /// The host that it would choose for the VM that is about to be placed.
    chosen: Option<Result<Option<Arc<str>>, PlaceError>>,
    replayed: Replayed,
    /// Who follows the replay besides.
    observer: &'a mut dyn Observer,
}

impl<'a> Candidate<'a> {
    /// This policy, checked against these units. Of the decisions that differ, at most so
    /// many are explained.
    pub fn new(
        policy: Arc<Policy>,
        generation: &'a Generation,
        examples: usize,
        observer: &'a mut dyn Observer,
    ) -> Self {
        Self {
            policy,
            generation,
            examples,
            runner: None,
            error: None,
            chosen: None,
            replayed: Replayed::default(),
            observer,
        }
    }

    /// What it would have decided.
    ///
    /// # Errors
    /// If the policy cannot run with these units.
    pub fn replayed(self) -> Result<Replayed, ChainError> {
        match self.error {
            None => Ok(self.replayed),
            Some(error) => Err(error),
        }
    }

    /// What runs its chain on the fleet of this replay.
    fn runner(&mut self, scheduler: &mut Scheduler) -> Option<&mut Runner> {
        if self.runner.is_none() && self.error.is_none() {
            let limit = scheduler.options().chain_limit;
            let inventory = scheduler.inventory_mut();
            match Chain::resolve(self.policy.clone(), self.generation, inventory) {
                Ok(chain) => {
                    let runner = Runner::reusing(Arc::new(chain), limit, Reuse::default());
                    self.runner = Some(runner);
                }
                Err(error) => self.error = Some(error),
            }
        }
        self.runner.as_mut()
    }
}

impl Observer for Candidate<'_> {
    fn deciding(&mut self, scheduler: &mut Scheduler, request: &Request) {
        let runner = self.runner(scheduler);
        let chosen = runner.map(|runner| scheduler.decide_by(runner, request));
        self.chosen = chosen;
        self.observer.deciding(scheduler, request);
    }

    fn decided(&mut self, scheduler: &Scheduler, decision: &Decision) {
        self.observer.decided(scheduler, decision);
        let (Some(host), Some(runner)) = (self.chosen.take(), &self.runner) else {
            return;
        };
        let mut made = MadeAgain {
            number: decision.number,
            request: decision.request.clone(),
            before: decision.host.clone(),
            host,
            faults: Vec::new(),
            explained: None,
        };
        if self.examples > 0
            && made.differs()
            && let Ok(past) = scheduler.past(decision.number)
            && let Ok(before) = past.explain()
            && let Ok(after) = past.explain_by(runner.chain().clone())
        {
            self.examples -= 1;
            made.explained = Some(Box::new((before, after)));
        }
        self.replayed.add(&made);
    }

    fn progressed(&mut self, done: usize, of: usize) {
        self.observer.progressed(done, of);
    }
}
