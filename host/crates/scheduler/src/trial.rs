//! Recorded decisions, made again by another policy or other units.

mod sequence;

use std::sync::Arc;
use std::time::{Duration, Instant};

pub use sequence::{Homes, Sequence};

use super::{Cancel, Decision, MadeOn, PlaceError, Scheduler, place, zone};
use placewright_chain::{
    Chain, ChainError, Decided, DecisionError, Explanation, LeftOut, Reuse, Runner, Weighing,
};
use placewright_engine::generation::Generation;
use placewright_engine::unit::Fault;
use placewright_inventory::Inventory;
use placewright_model::Request;
use placewright_policy::Policy;

/// Decisions that a scheduler remembers, and a copy of its inventory that can be taken
/// back to each of them.
pub struct Trial {
    inventory: Inventory,
    /// Newest first.
    decisions: Vec<Arc<Decision>>,
    limit: Duration,
    cancel: Cancel,
    /// None: units are asked everything anew.
    reuse: Option<Reuse>,
    /// What the decisions are compared with; None: with what was recorded.
    baseline: Option<Baseline>,
}

/// A policy and units by which decisions are made again, too, to compare with.
pub type Baseline = (Arc<Policy>, Arc<Generation>);

/// A decision that was made again.
#[derive(Debug)]
pub struct MadeAgain {
    /// Its number.
    pub number: u64,
    /// What was asked for.
    pub request: Arc<Request>,
    /// The host that was chosen, if there was one; or that the baseline chooses.
    pub before: Option<Arc<str>>,
    /// The host that would have been chosen, if there is one; or why there is no
    /// decision.
    pub host: Result<Option<Arc<str>>, PlaceError>,
    /// Calls of units that gave no answer now and did then: what they were asked is not at
    /// fault, nor is the time that was left.
    pub faults: Vec<Arc<Fault>>,
    /// Of some that differ: how it came to be, and how it would have, as far as the two hosts are
    /// concerned that were and would be chosen.
    pub explained: Option<Box<(Explanation, Explanation)>>,
}

impl MadeAgain {
    /// Whether it comes out differently; one that fails counts as one that finds no
    /// host.
    pub fn differs(&self) -> bool {
        self.before.as_ref() != self.after()
    }

    /// The host that would have been chosen; None: there is none, or no decision.
    pub fn after(&self) -> Option<&Arc<str>> {
        self.host.as_ref().ok()?.as_ref()
    }

    /// Make a decision again on that inventory.
    fn new(decision: &Decision, runner: &mut Runner, inventory: &Inventory) -> Self {
        let decided = runner.decide(inventory, &decision.request, decision.draw);
        let faults = faults(decision, &decided);
        let host = decided.map(|decided| chosen(inventory, &decided));
        Self {
            number: decision.number,
            request: decision.request.clone(),
            before: decision.host.clone(),
            host: host.map_err(PlaceError::from),
            faults,
            explained: None,
        }
    }
}

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
        zone::agree(&mut request)?;
        let draw = place::draw(&self.options, &request, self.next_number)?;
        Ok(runner.weigh(&self.inventory, &request, draw, &[])?)
    }

    /// The host that another chain would choose for the request that is about to be
    /// placed. Nothing is changed, but for the time up to which the inventory is brought.
    ///
    /// # Errors
    /// As for [`Scheduler::place`].
    pub fn decide_by(
        &mut self,
        runner: &mut Runner,
        request: &Request,
    ) -> Result<Option<Arc<str>>, PlaceError> {
        let mut request = request.clone();
        place::take_in(&mut self.inventory, &mut request)?;
        zone::agree(&mut request)?;
        let draw = place::draw(&self.options, &request, self.next_number)?;
        let decided = runner.decide(&self.inventory, &request, draw)?;
        Ok(chosen(&self.inventory, &decided))
    }

    /// The last decisions, at most so many, to be made again.
    pub fn trial(&self, most: usize) -> Trial {
        let remembered = |version| self.inventory.oldest_version() <= version;
        let recorded = self.recorded.iter().rev().filter(|recorded| {
            let decision = &recorded.decision;
            matches!(recorded.made_on, MadeOn::Inventory)
                && decision.request.forced.is_none()
                && !decision.request.dry_run
                && decision.refused.is_none()
                && remembered(decision.inventory_version)
        });
        let decisions: Vec<Arc<Decision>> = recorded
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
            cancel: self.options.cancel.clone(),
            reuse: None,
            baseline: None,
        }
    }
}

impl Trial {
    /// End early, as if its time were up, when `cancel` says so.
    #[must_use]
    pub fn unless(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Use units' answers again from one decision to the next, as a cluster does that decides:
    /// between two of them few hosts change. Without it, each unit is asked everything in every
    /// decision, which shows more of a unit that is to be judged.
    #[must_use]
    pub fn reusing(mut self, reuse: Option<Reuse>) -> Self {
        self.reuse = reuse;
        self
    }

    /// Compare the decisions with what that policy and these units come to, where they were made by
    /// others: what has changed since is not put down to whoever is tried. One that cannot be made
    /// again so is compared with what was recorded.
    #[must_use]
    pub fn against(mut self, baseline: Option<Baseline>) -> Self {
        self.baseline = baseline;
        self
    }

    fn runner(&self, chain: Arc<Chain>) -> Runner {
        match self.reuse {
            None => Runner::new(chain, self.limit),
            Some(reuse) => Runner::reusing(chain, self.limit, reuse),
        }
    }

    /// How many decisions there are to make again.
    pub fn decisions(&self) -> usize {
        self.decisions.len()
    }

    /// The number of the oldest of them, if there is one.
    pub fn oldest(&self) -> Option<u64> {
        self.decisions.last().map(|decision| decision.number)
    }

    /// Make the decisions again, the newest first, each on the inventory of then: one, and
    /// more until the time is up. Where there is no time for all, those that are made again lie
    /// evenly among them. One that fails counts as one that finds no host. The first that
    /// differ, at most so many, are explained.
    ///
    /// # Errors
    /// If the policy cannot run with these units.
    pub fn run(
        mut self,
        policy: Arc<Policy>,
        generation: &Generation,
        until: Instant,
        mut examples: usize,
    ) -> Result<Vec<MadeAgain>, ChainError> {
        let chain = Arc::new(Chain::resolve(policy, generation, &mut self.inventory)?);
        let mut runner = self.runner(chain);
        let baseline = self.baseline.take().and_then(|(policy, generation)| {
            let chain = Chain::resolve(policy, &generation, &mut self.inventory).ok()?;
            Some(Arc::new(chain))
        });
        let mut baseline = baseline.map(|chain| (self.runner(chain.clone()), chain));
        let (mut again, mut then) = (Vec::new(), None);
        // The first one takes longer than others, as its chain runs for the first time.
        let (mut first_made, mut next) = (None, 0);
        while let Some(decision) = self.decisions.get(next) {
            let is_over = Instant::now() >= until || self.cancel.check().is_err();
            let out_of_time = !again.is_empty() && is_over;
            if out_of_time || !self.inventory.take_back(decision.inventory_version) {
                break;
            }
            let mut made = MadeAgain::new(decision, &mut runner, &self.inventory);
            let made_otherwise = baseline
                .as_mut()
                .filter(|(_, chain)| !decision.chain.decides_as(chain));
            if let Some((baseline, _)) = made_otherwise
                && let Ok(decided) =
                    baseline.decide(&self.inventory, &decision.request, decision.draw)
            {
                made.before = chosen(&self.inventory, &decided);
            } else if examples > 0 && made.differs() {
                examples -= 1;
                made.explained =
                    explained(decision, &made, (&mut then, &mut runner), &self.inventory);
            }
            again.push(made);
            let now = Instant::now();
            next += match first_made {
                None => {
                    first_made = Some(now);
                    1
                }
                Some(begin) => {
                    let others = u32::try_from(again.len() - 1).unwrap_or(u32::MAX);
                    let each = now.duration_since(begin) / others.max(1);
                    let rest = self.decisions.len() - next;
                    stride(rest, each, until.saturating_duration_since(now))
                }
            };
        }
        Ok(again)
    }
}

impl Trial {
    /// Make the decisions again, the oldest first, each on what those before it have come to, in
    /// this trial and in what is known of earlier ones: one, and more until the time is up.
    /// The newest is given first. None is explained.
    ///
    /// # Errors
    /// If the policy cannot run with these units.
    pub fn run_in_sequence(
        mut self,
        policy: Arc<Policy>,
        generation: &Generation,
        until: Instant,
        sequence: &mut Sequence,
    ) -> Result<Vec<MadeAgain>, ChainError> {
        let chain = Arc::new(Chain::resolve(policy, generation, &mut self.inventory)?);
        let mut runner = Runner::new(chain, self.limit);
        if let Some(oldest) = self.decisions.last() {
            self.inventory.forget_before(oldest.inventory_version);
        }
        let mut again = Vec::new();
        for decision in self.decisions.iter().rev() {
            let is_over = Instant::now() >= until || self.cancel.check().is_err();
            if is_over && !again.is_empty() {
                break;
            }
            let Some(mut world) = self.inventory.at_version(decision.inventory_version) else {
                continue;
            };
            let homes = sequence.enter(&mut world, &decision.request);
            let made = MadeAgain::new(decision, &mut runner, &world);
            sequence.decided(homes, &made);
            again.push(made);
        }
        again.reverse();
        Ok(again)
    }
}

/// How many decisions further the next one is that is made again, of so many that are left,
/// where each takes so long and there is so much time: what can be made again lies evenly.
fn stride(rest: usize, each: Duration, left: Duration) -> usize {
    let affordable = left.as_nanos() / each.as_nanos().max(1);
    match usize::try_from(affordable).unwrap_or(usize::MAX) {
        0 => 1,
        affordable => rest.div_ceil(affordable).max(1),
    }
}

/// The calls that gave no answer, of units that gave one when the decision was made.
fn faults(decision: &Decision, decided: &Result<Decided, DecisionError>) -> Vec<Arc<Fault>> {
    let then = &decision.decided.left_out;
    failed_calls(decided, |now| {
        then.iter()
            .any(|it| it.fault.unit.name == now.fault.unit.name)
    })
}

/// The calls that gave no answer, but for those that gave none when the decision was made
/// either. What is asked wrongly, and a lack of time or memory, is no fault of a unit.
pub(super) fn failed_calls(
    decided: &Result<Decided, DecisionError>,
    failed_then: impl Fn(&LeftOut) -> bool,
) -> Vec<Arc<Fault>> {
    let faults: Vec<Arc<Fault>> = match decided {
        Ok(decided) => {
            let new = decided.left_out.iter().filter(|it| !failed_then(it));
            new.map(|it| it.fault.clone()).collect()
        }
        Err(DecisionError::Failed { fault, .. }) => vec![fault.clone()],
        Err(DecisionError::OutOfTime { stopped, .. }) => stopped.iter().cloned().collect(),
        Err(_) => Vec::new(),
    };
    let counts = |fault: &Arc<Fault>| !fault.is_refusal() && !fault.cause.is_shortage();
    faults.into_iter().filter(counts).collect()
}

fn chosen(inventory: &Inventory, decided: &Decided) -> Option<Arc<str>> {
    let slot = decided.chosen.as_ref()?.slot;
    Some(inventory.host(slot)?.id.clone())
}

/// How the decision came to be, and how it would have by another chain; None if either
/// cannot be told. `then` ran the chain of the decision before it, which is most often the same.
fn explained(
    decision: &Decision,
    made: &MadeAgain,
    (then, candidate): (&mut Option<Runner>, &mut Runner),
    inventory: &Inventory,
) -> Option<Box<(Explanation, Explanation)>> {
    let hosts = decision.host.iter().chain(made.after());
    let slots: Vec<u32> = hosts.filter_map(|host| inventory.slot(host)).collect();
    let explain = |runner: &mut Runner| {
        let (request, draw) = (&decision.request, decision.draw);
        runner.explain_hosts(inventory, request, draw, &slots).ok()
    };
    if (then.as_ref()).is_none_or(|then| !Arc::ptr_eq(then.chain(), &decision.chain)) {
        *then = Some(Runner::new(decision.chain.clone(), candidate.limit()));
    }
    Some(Box::new((explain(then.as_mut()?)?, explain(candidate)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_time_for_lies_evenly() {
        let each = Duration::from_millis(1);
        for (decisions, time, made) in [(1000, 10, 9), (1000, 300, 250), (200, 5, 4), (7, 100, 7)] {
            let (mut next, mut left) = (0, Duration::from_millis(time));
            let mut places = Vec::new();
            while next < decisions && !left.is_zero() {
                places.push(next);
                left -= each;
                next += stride(decisions - next, each, left);
            }
            let last = *places.last().unwrap();
            assert!(places.len() >= made, "{decisions} {time}: {}", places.len());
            assert!(last * 10 >= decisions * 7, "{decisions} {time}: {last}");
        }
    }
}
