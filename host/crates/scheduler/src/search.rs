//! A search for a plan that leaves out less than first-come order does.
//!
//! Two ways are gone, one after the other, each as far as the bound on decisions
//! allows. *Turns in another order*: largest first, then whoever was left out is moved
//! to the front, again and again (D. Joslin, D. Clements, "Squeaky Wheel
//! Optimization", JAIR 10, 1999). *Ejection*: who was left out is put in the place of
//! one or two others, and these are placed elsewhere.
//!
//! All is tried on a copy of the cluster, and whatever comes out was decided by the
//! chain, turn by turn, each on what stood before it. Where a turn is to go to a host
//! that the chain would not choose, the request allows this host alone, so that no
//! filter is passed by.

mod eject;
mod reorder;

use std::sync::Arc;

use super::SchedulerOptions;
use super::batch::{Turn, settle_turn};
use super::order::{self, Totals};
use placewright_chain::Runner;
use placewright_inventory::Inventory;
use placewright_model::Request;

/// One turn of a plan that is tried.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    /// The place of its request.
    request: usize,
    /// The host that it is to go to; None: where the chain sends it.
    to: Option<Arc<str>>,
}

/// A plan: turns one on top of the other.
pub(super) struct Tried {
    steps: Vec<Step>,
    pub(super) turns: Vec<Turn>,
    /// How many VMs are left out, the greatest priority first: the less, the better,
    /// compared one after the other.
    left_out: Vec<usize>,
    /// The cluster after them.
    pub(super) world: Inventory,
}

impl Tried {
    /// How many VMs are left out.
    pub(super) fn left_out(&self) -> usize {
        self.left_out.iter().sum()
    }
}

/// The places of the requests that find no host, in the order of their turns. Where
/// there is no decision, another plan would not help.
fn squeaky(steps: &[Step], turns: &[Turn]) -> Vec<usize> {
    let turns = steps.iter().zip(turns);
    let left_out = turns.filter(|(_, turn)| turn.finds_no_host());
    left_out.map(|(step, _)| step.request).collect()
}

/// A search over plans.
pub(super) struct Search<'a> {
    /// The cluster as the batch finds it.
    start: &'a Inventory,
    /// What each turn asks, in first-come order.
    requests: &'a [Request],
    options: &'a SchedulerOptions,
    /// The number of the first decision.
    number: u64,
    runner: Runner,
    /// How many decisions may be made, and how many were.
    bound: usize,
    pub(super) decisions: usize,
    /// The priorities that occur, greatest first.
    priorities: Vec<i64>,
    /// How large the VMs of each request are.
    sizes: Vec<f64>,
    /// The copy that is tried on.
    world: Inventory,
}

impl<'a> Search<'a> {
    /// A search that makes at most `bound` decisions. The runner is the search's own:
    /// what is kept for real decisions stays out of it.
    pub(super) fn new(
        start: &'a Inventory,
        requests: &'a [Request],
        options: &'a SchedulerOptions,
        number: u64,
        runner: Runner,
        bound: usize,
    ) -> Self {
        let members = || requests.iter().flat_map(|request| &request.members);
        let mut priorities: Vec<i64> = members().map(order::priority).collect();
        priorities.sort_unstable_by(|a, b| b.cmp(a));
        priorities.dedup();
        let totals = Totals::of(start);
        let size = |request: &Request| request.members.iter().map(|vm| totals.size(vm)).sum();
        Self {
            sizes: requests.iter().map(size).collect(),
            world: start.clone(),
            start,
            requests,
            options,
            number,
            runner,
            bound,
            decisions: 0,
            priorities,
        }
    }

    /// The first-come plan that was made already, or a better one.
    pub(super) fn better_than(&mut self, turns: Vec<Turn>, world: Inventory) -> Tried {
        let steps: Vec<Step> = (0..self.requests.len()).map(free).collect();
        let left_out = self.left_out(&steps, &turns);
        let mut best = Tried {
            steps,
            turns,
            left_out,
            world,
        };
        // Half of the decisions, so that ejections have their turn.
        let whole = std::mem::replace(&mut self.bound, 0);
        self.bound = whole / 2;
        self.reorder(&mut best);
        self.bound = whole;
        while best.left_out() > 0 && self.eject_once(&mut best) {}
        best
    }

    /// Whether the bound ended the search, or the time that it may take.
    pub(super) fn is_bounded(&self) -> bool {
        self.decisions >= self.bound || self.options.cancel.check().is_err()
    }

    fn priority(&self, request: usize) -> i64 {
        let members = self.requests[request].members.iter();
        members.map(order::priority).max().unwrap_or(0)
    }

    fn left_out(&self, steps: &[Step], turns: &[Turn]) -> Vec<usize> {
        let mut left_out = vec![0; self.priorities.len()];
        let without = steps.iter().zip(turns);
        let without = without.filter(|(_, turn)| turn.host().is_none());
        for vm in without.flat_map(|(step, _)| &self.requests[step.request].members) {
            let priority = order::priority(vm);
            if let Some(place) = self.priorities.iter().position(|it| *it == priority) {
                left_out[place] += 1;
            }
        }
        left_out
    }

    /// Make a plan, which is the best from now on if it leaves out less. The requests
    /// that it leaves out; None if the bound comes before its end.
    fn attempt(&mut self, steps: Vec<Step>, best: &mut Tried) -> Option<Vec<usize>> {
        if !self.world.take_back(self.start.version()) {
            // More was changed than an inventory remembers.
            self.world = self.start.clone();
        }
        let mut turns = Vec::with_capacity(steps.len());
        let mut number = self.number;
        for step in &steps {
            let turn = self.turn(step, number)?;
            number += u64::from(turn.outcome.is_ok());
            turns.push(turn);
        }
        let squeaky = squeaky(&steps, &turns);
        let left_out = self.left_out(&steps, &turns);
        if left_out < best.left_out {
            *best = Tried {
                steps,
                turns,
                left_out,
                world: self.world.clone(),
            };
        }
        Some(squeaky)
    }

    /// Make one turn on top of what stands. Who is to go to a host is sent there only
    /// if the chain does not choose it by itself.
    fn turn(&mut self, step: &Step, number: u64) -> Option<Turn> {
        let request = &self.requests[step.request];
        let Some(host) = &step.to else {
            return self.decide(request.clone(), number);
        };
        let transaction = self.world.begin();
        let turn = self.decide(request.clone(), number);
        if turn.as_ref().is_none_or(|turn| turn.host() == Some(host)) {
            self.world.commit(transaction);
            return turn;
        }
        self.world.roll_back(transaction);
        let directed = Request {
            allowed: vec![host.clone()],
            ..request.clone()
        };
        self.decide(directed, number)
    }

    fn decide(&mut self, request: Request, number: u64) -> Option<Turn> {
        if self.is_bounded() {
            return None;
        }
        self.decisions += 1;
        let (world, runner) = (&mut self.world, &mut self.runner);
        Some(settle_turn(world, runner, self.options, number, request))
    }
}

fn free(request: usize) -> Step {
    Step { request, to: None }
}
