//! Many VMs, one turn after the other: each turn sees the ones before it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::search::{Search, Tried};
use super::{Decision, PlaceError, Recorded, Scheduler, SchedulerOptions, order, place};
use crate::chain::Runner;
use crate::inventory::Inventory;
use crate::model::{Facts, Request, Vm};
use crate::policy;

/// VMs that are to be placed in turns, in the order that the policy gives.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Batch {
    pub members: Vec<Vm>,
    /// Columns of the table `request`, the same in every turn.
    pub facts: Facts,
    /// Seconds since 1970-01-01 UTC at which the decisions are made.
    pub now: i64,
    /// The draw of every turn; None: one is derived for each.
    pub draw: Option<f64>,
    /// Plan as if none of the members had a place: those that run may be moved, or
    /// find no host any more. `hosts/current` still says where they run.
    pub from_nothing: bool,
    /// Decide, but change nothing.
    pub dry_run: bool,
    /// In which order members have their turns.
    pub order: BatchOrder,
    /// Reserve nothing unless every member finds a host.
    pub all_or_nothing: bool,
    /// If members are left out, search for a plan that leaves out less, greater
    /// priorities first, with at most so many decisions more. None: no search.
    pub search: Option<usize>,
}

/// In which order the members of a batch have their turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BatchOrder {
    /// As the policy's order unit says. Without one: by priority, then those that run
    /// by their current score, then by size, then as listed.
    #[default]
    Policy,
    /// As listed, whatever the policy says.
    Listed,
}

/// How many decisions a search may make where nobody says: at some 20 µs each, this
/// is a fraction of a second.
pub const SEARCH_DECISIONS: usize = 10_000;

/// What came of a batch.
#[derive(Debug, Clone)]
pub struct Plan {
    /// In the order in which they were decided.
    pub turns: Vec<Turn>,
    /// Ids of the members that the policy's order unit gave no turn.
    pub without_turn: Vec<Arc<str>>,
    /// Whether the places are reserved: not after a dry run, and not if all or nothing
    /// was asked for and somebody is left out.
    pub reserved: bool,
    /// What a search has come to; none if there was no need of one.
    pub searched: Option<Searched>,
}

/// What a search for a better plan has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Searched {
    /// How many VMs first-come order leaves out.
    pub first_come: usize,
    /// How many VMs the plan leaves out.
    pub left_out: usize,
    /// How many decisions it took.
    pub decisions: usize,
    /// Whether it ended at its bound: one with a greater bound may find more.
    pub bounded: bool,
}

/// One turn of a batch.
#[derive(Debug, Clone)]
pub struct Turn {
    /// Ids of the VMs that were to be placed together.
    pub members: Vec<Arc<str>>,
    /// Where they go, or why there is no decision. Other turns are made all the
    /// same.
    pub outcome: Result<Decision, PlaceError>,
}

impl Turn {
    /// The host of its members; None: they get none.
    pub fn host(&self) -> Option<&Arc<str>> {
        self.outcome.as_ref().ok()?.host.as_ref()
    }
}

impl Plan {
    /// The members that get no host, those without a turn included.
    pub fn left_out(&self) -> impl Iterator<Item = &Arc<str>> {
        let turns = self.turns.iter().filter(|turn| turn.host().is_none());
        turns
            .flat_map(|turn| &turn.members)
            .chain(&self.without_turn)
    }

    /// The host of a member; None: it gets none.
    pub fn host(&self, member: &str) -> Option<&Arc<str>> {
        let turn = self.turns.iter().find(|turn| {
            let mut members = turn.members.iter();
            members.any(|known| **known == *member)
        })?;
        turn.outcome.as_ref().ok()?.host.as_ref()
    }
}

impl Scheduler {
    /// Place VMs in turns. A turn that comes to no decision or finds no host does not
    /// stop the others. Who runs and finds no host in a plan from nothing goes on
    /// running until somebody stops it.
    ///
    /// # Errors
    /// If the batch is at fault, the policy forbids the search that it asks for, or the
    /// order unit fails; then nothing changes.
    pub fn place_batch(&mut self, batch: Batch) -> Result<Plan, PlaceError> {
        if batch.members.is_empty() {
            return Err(PlaceError::NoMembers);
        }
        let policy = self.chain().policy().clone();
        if batch.search.is_some() && policy.search == policy::Search::Forbidden {
            return Err(PlaceError::SearchForbidden(policy.name.clone()));
        }
        self.inventory.advance(batch.now);
        let mut members = batch.members;
        for member in &mut members {
            self.inventory.check_member(member)?;
            place::known(&self.inventory, member);
        }
        if let Some(twice) = place::twice(&members) {
            return Err(PlaceError::MemberTwice(twice));
        }
        let everyone = Request {
            members,
            facts: batch.facts,
            now: batch.now,
            draw: batch.draw,
            ..Request::default()
        };
        // What is only tried is tried on a copy.
        let apart =
            batch.dry_run || batch.from_nothing || batch.all_or_nothing || batch.search.is_some();
        let mut world = apart.then(|| self.inventory.clone());
        if let (Some(world), true) = (&mut world, batch.from_nothing) {
            vacate(world, &everyone.members)?;
        }
        let inventory = world.as_mut().unwrap_or(&mut self.inventory);
        let number = self.next_number;
        let draw = place::draw(&self.options, &everyone, number)?;
        let chain = self.runner.chain().clone();
        let members = &everyone.members;
        let order = match batch.order {
            BatchOrder::Policy if policy.order.is_none() => {
                order::by_importance(inventory, members)
            }
            BatchOrder::Policy => {
                chain.turns(inventory, &everyone, draw, self.options.chain_limit)?
            }
            BatchOrder::Listed => (0..members.len()).map(|member| vec![member]).collect(),
        };
        let requests: Vec<Request> = order.iter().map(|turn| of_turn(&everyone, turn)).collect();
        inventory.reset_batch();
        let start = batch.search.map(|_| inventory.clone());
        let mut turns = Vec::with_capacity(requests.len());
        for request in &requests {
            let turn = settle_turn(
                inventory,
                &mut self.runner,
                &self.options,
                self.next_number,
                request.clone(),
            );
            self.next_number += u64::from(turn.outcome.is_ok());
            turns.push(turn);
        }
        let mut searched = None;
        if let (Some(bound), Some(start)) = (batch.search, start)
            && let (true, Some(first_come)) = (left_out(&turns) > 0, world.take())
        {
            let from = (&start, number);
            let (better, found) = self.search(from, &requests, (turns, first_come), bound);
            turns = better.turns;
            world = Some(better.world);
            searched = Some(found);
        }
        world.as_mut().unwrap_or(&mut self.inventory).reset_batch();
        let turned: BTreeSet<usize> = order.into_iter().flatten().collect();
        let without_turn = (0..everyone.members.len()).filter(|member| !turned.contains(member));
        let without_turn: Vec<Arc<str>> = without_turn
            .map(|member| everyone.members[member].id.clone())
            .collect();
        let complete = without_turn.is_empty() && turns.iter().all(|turn| turn.host().is_some());
        let reserved = !batch.dry_run && (complete || !batch.all_or_nothing);
        if reserved && apart {
            self.adopt(&turns)?;
        }
        let world = world.map(Arc::new);
        for decision in turns.iter().filter_map(|turn| turn.outcome.as_ref().ok()) {
            self.record(Recorded {
                decision: decision.clone(),
                world: world.clone(),
            });
        }
        Ok(Plan {
            turns,
            without_turn,
            reserved,
            searched,
        })
    }

    /// Look for a plan that leaves out less than this first-come one does. Made are its
    /// decisions from the cluster and the number on that the batch began with.
    fn search(
        &mut self,
        (start, number): (&Inventory, u64),
        requests: &[Request],
        (turns, world): (Vec<Turn>, Inventory),
        bound: usize,
    ) -> (Tried, Searched) {
        let runner = Runner::new(self.chain().clone(), self.options.chain_limit);
        let mut search = Search::new(start, requests, &self.options, number, runner, bound);
        let first_come = left_out(&turns);
        let better = search.better_than(turns, world);
        let searched = Searched {
            first_come,
            left_out: better.left_out(),
            decisions: search.decisions,
            bounded: better.left_out() > 0 && search.is_bounded(),
        };
        let decided = better.turns.iter().filter(|turn| turn.outcome.is_ok());
        self.next_number = number + decided.count() as u64;
        (better, searched)
    }

    /// Reserve for real what was decided on a copy: all of it or nothing.
    fn adopt(&mut self, turns: &[Turn]) -> Result<(), PlaceError> {
        let before = self.inventory.version();
        let adopted = self.adopt_each(turns);
        if adopted.is_err() {
            self.inventory.take_back(before);
        }
        adopted
    }

    fn adopt_each(&mut self, turns: &[Turn]) -> Result<(), PlaceError> {
        for decision in turns.iter().filter_map(|turn| turn.outcome.as_ref().ok()) {
            for member in &decision.request.members {
                if self.inventory.pending(&member.id).is_some() {
                    self.inventory.cancel_vm(&member.id)?;
                }
            }
            if let Some(host) = &decision.host {
                place::settle(
                    &mut self.inventory,
                    &self.options,
                    &decision.request,
                    host,
                    &decision.followed,
                )?;
            }
        }
        Ok(())
    }
}

/// What one turn of a batch asks. Its tenant is that of its members, if the batch names
/// none.
fn of_turn(batch: &Request, turn: &[usize]) -> Request {
    let members: Vec<Vm> = turn
        .iter()
        .map(|place| batch.members[*place].clone())
        .collect();
    let mut facts = batch.facts.clone();
    if facts.get("tenant").is_none() {
        let mut tenants = members.iter().map(|member| member.facts.get("tenant"));
        if let Some(Some(first)) = tenants.next()
            && tenants.all(|tenant| tenant == Some(first))
        {
            facts.set("tenant", first.clone());
        }
    }
    Request {
        members,
        facts,
        now: batch.now,
        draw: batch.draw,
        ..Request::default()
    }
}

/// Decide one turn and reserve its places in `inventory`, as one of a batch.
pub(super) fn settle_turn(
    inventory: &mut Inventory,
    runner: &mut Runner,
    options: &SchedulerOptions,
    number: u64,
    request: Request,
) -> Turn {
    let ids = request.members.iter().map(|member| member.id.clone());
    let members = ids.collect();
    let outcome = place::place(inventory, runner, options, number, request);
    if let Ok(decision) = &outcome
        && let Some(slot) = decision.slot(inventory)
    {
        inventory.count_in_batch(slot, decision.request.members.len());
    }
    Turn { members, outcome }
}

/// How many VMs find no host.
fn left_out(turns: &[Turn]) -> usize {
    let without = turns.iter().filter(|turn| turn.host().is_none());
    without.map(|turn| turn.members.len()).sum()
}

/// Take away the places of those who have one.
fn vacate(world: &mut Inventory, members: &[Vm]) -> Result<(), PlaceError> {
    for member in members {
        if world.pending(&member.id).is_some() {
            world.cancel_vm(&member.id)?;
        }
        if world.running(&member.id).is_some() {
            world.vacate(&member.id)?;
        }
    }
    Ok(())
}
