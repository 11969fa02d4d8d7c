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

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::SchedulerOptions;
use super::batch::{Turn, settle_turn};
use super::order::{self, Totals};
use crate::chain::Runner;
use crate::inventory::Inventory;
use crate::model::Request;

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

/// The places of the requests that are left out, in the order of their turns.
fn squeaky(steps: &[Step], turns: &[Turn]) -> Vec<usize> {
    let turns = steps.iter().zip(turns);
    let left_out = turns.filter(|(_, turn)| turn.host().is_none());
    left_out.map(|(step, _)| step.request).collect()
}

/// How far those who were left out are moved to the front.
#[derive(Debug, Clone, Copy)]
enum Front {
    /// Before all others of their priority.
    OfTheirPriority,
    /// Before all others.
    OfAll,
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

    /// Whether the bound ended the search.
    pub(super) fn is_bounded(&self) -> bool {
        self.decisions >= self.bound
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
        let before = self.world.version();
        let request = &self.requests[step.request];
        let turn = self.decide(request.clone(), number)?;
        let Some(host) = &step.to else {
            return Some(turn);
        };
        if turn.host() == Some(host) || !self.world.take_back(before) {
            return Some(turn);
        }
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

    // Turns in another order.

    fn reorder(&mut self, best: &mut Tried) {
        let mut seen: BTreeSet<Vec<Step>> = BTreeSet::new();
        seen.insert(best.steps.clone());
        let mut largest_first: Vec<usize> = (0..self.requests.len()).collect();
        largest_first.sort_by(|a, b| {
            let by_priority = self.priority(*b).cmp(&self.priority(*a));
            by_priority.then(self.sizes[*b].total_cmp(&self.sizes[*a]))
        });
        let largest_first = largest_first.into_iter().map(free).collect();
        let first_come = (best.steps.clone(), squeaky(&best.steps, &best.turns));
        self.try_new(largest_first, &mut seen, best);
        for front in [Front::OfTheirPriority, Front::OfAll] {
            let (mut steps, mut squeaky) = first_come.clone();
            while best.left_out() > 0 {
                let next = self.moved_to_front(&steps, &squeaky, front);
                let Some(left) = self.try_new(next.clone(), &mut seen, best) else {
                    break;
                };
                (steps, squeaky) = (next, left);
            }
        }
    }

    /// Try a plan, unless it was tried before; the requests that it leaves out.
    fn try_new(
        &mut self,
        steps: Vec<Step>,
        seen: &mut BTreeSet<Vec<Step>>,
        best: &mut Tried,
    ) -> Option<Vec<usize>> {
        if best.left_out() == 0 || !seen.insert(steps.clone()) {
            return None;
        }
        self.attempt(steps, best)
    }

    fn moved_to_front(&self, steps: &[Step], squeaky: &[usize], front: Front) -> Vec<Step> {
        let mut moved = steps.to_vec();
        // Stable: within each part the order stays.
        moved.sort_by_key(|step| {
            let stays = !squeaky.contains(&step.request);
            match front {
                Front::OfTheirPriority => (-i128::from(self.priority(step.request)), stays),
                Front::OfAll => (0, stays),
            }
        });
        moved
    }

    // Ejection.

    /// Put somebody who is left out in the place of one or two others, if these find
    /// another. Whether there is a better plan now.
    fn eject_once(&mut self, best: &mut Tried) -> bool {
        let mut squeaky = squeaky(&best.steps, &best.turns);
        squeaky.sort_by_key(|request| Reverse(self.priority(*request)));
        let hosts = self.ejectable(best);
        let left_out = best.left_out.clone();
        self.world.clone_from(&best.world);
        for how_many in [1, 2] {
            for (request, (host, here)) in pairs(&squeaky, &hosts) {
                for out in ejections(here, how_many) {
                    if self.is_bounded() {
                        return false;
                    }
                    let Some(steps) = self.ejecting(best, request, host, &out) else {
                        continue;
                    };
                    self.attempt(steps, best);
                    if best.left_out < left_out {
                        return true;
                    }
                    self.world.clone_from(&best.world);
                }
            }
        }
        false
    }

    /// By the id of the host, the requests that the plan has sent there and whose
    /// places can be given back, the smallest first.
    fn ejectable(&self, best: &Tried) -> BTreeMap<Arc<str>, Vec<usize>> {
        let mut hosts: BTreeMap<Arc<str>, Vec<usize>> = BTreeMap::new();
        for (step, turn) in best.steps.iter().zip(&best.turns) {
            let mut members = turn.members.iter();
            // Who stays where it runs has no place reserved.
            if let Some(host) = turn.host()
                && members.all(|id| best.world.pending(id).is_some())
            {
                hosts.entry(host.clone()).or_default().push(step.request);
            }
        }
        for here in hosts.values_mut() {
            here.sort_by(|a, b| self.sizes[*a].total_cmp(&self.sizes[*b]));
        }
        hosts
    }

    /// The steps of a plan in which a request takes the place of others on a host, if
    /// on top of the best plan it can, and the others find a host each.
    fn ejecting(
        &mut self,
        best: &Tried,
        request: usize,
        host: &Arc<str>,
        out: &[usize],
    ) -> Option<Vec<Step>> {
        // Back to where the best plan ended.
        if !self.world.take_back(best.world.version()) {
            self.world.clone_from(&best.world);
        }
        let number = self.number + best.turns.len() as u64;
        for ejected in out {
            for member in &self.requests[*ejected].members {
                self.world.cancel_vm(&member.id).ok()?;
            }
        }
        let directed = Request {
            allowed: vec![host.clone()],
            ..self.requests[request].clone()
        };
        self.decide(directed, number)?.host()?;
        for ejected in out {
            self.decide(self.requests[*ejected].clone(), number)?
                .host()?;
        }
        let moves = |step: &Step| step.request == request || out.contains(&step.request);
        let first = best.steps.iter().position(|step| moves(step))?;
        let mut steps: Vec<Step> = best.steps[..first].to_vec();
        let (mut stay, mut left_out) = (Vec::new(), Vec::new());
        for (step, turn) in best.steps.iter().zip(&best.turns).skip(first) {
            match turn.host() {
                _ if moves(step) => {}
                Some(host) => stay.push(Step {
                    to: Some(host.clone()),
                    ..step.clone()
                }),
                None => left_out.push(free(step.request)),
            }
        }
        steps.append(&mut stay);
        steps.push(Step {
            request,
            to: Some(host.clone()),
        });
        steps.extend(out.iter().map(|ejected| free(*ejected)));
        steps.append(&mut left_out);
        Some(steps)
    }
}

/// Each request with each host.
fn pairs<'p, H>(
    requests: &'p [usize],
    hosts: &'p BTreeMap<Arc<str>, H>,
) -> impl Iterator<Item = (usize, (&'p Arc<str>, &'p H))> {
    let requests = requests.iter();
    requests.flat_map(move |request| hosts.iter().map(move |host| (*request, host)))
}

/// Each of these, or each pair of them with the greater one first: small ones soonest.
fn ejections(here: &[usize], how_many: usize) -> Vec<Vec<usize>> {
    match how_many {
        1 => here.iter().map(|one| vec![*one]).collect(),
        _ => {
            let second = (0..here.len()).flat_map(|second| {
                let first = 0..second;
                first.map(move |first| vec![here[second], here[first]])
            });
            second.collect()
        }
    }
}

fn free(request: usize) -> Step {
    Step { request, to: None }
}
