//! Many VMs, one turn after the other: each turn sees the ones before it.

use std::sync::Arc;

use super::{Decision, MadeOn, PlaceError, Recorded, Scheduler, place};
use crate::inventory::Inventory;
use crate::model::{Facts, Request, Vm};

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
}

/// What came of a batch.
#[derive(Debug, Clone)]
pub struct Plan {
    /// In the order in which they were decided.
    pub turns: Vec<Turn>,
    /// Ids of the members that the policy's order unit gave no turn.
    pub without_turn: Vec<Arc<str>>,
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

impl Plan {
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
    /// Place VMs in turns, by the policy's order unit or else as they are listed. A
    /// turn that comes to no decision or finds no host does not stop the others.
    /// Who runs and finds no host in a plan from nothing goes on running until
    /// somebody stops it.
    ///
    /// # Errors
    /// If the batch is at fault or the order unit fails; then nothing changes.
    pub fn place_batch(&mut self, batch: Batch) -> Result<Plan, PlaceError> {
        let mut everyone = Request {
            members: batch.members,
            facts: batch.facts,
            now: batch.now,
            draw: batch.draw,
            ..Request::default()
        };
        place::take_in(&mut self.inventory, &mut everyone)?;
        // What is only tried is tried on a copy.
        let apart = batch.dry_run || batch.from_nothing;
        let mut world = apart.then(|| self.inventory.clone());
        if let (Some(world), true) = (&mut world, batch.from_nothing) {
            vacate(world, &everyone.members)?;
        }
        let inventory = world.as_mut().unwrap_or(&mut self.inventory);
        let number = self.next_number;
        let draw = place::draw(&self.options, &everyone, number)?;
        let chain = self.runner.chain().clone();
        let order = chain.turns(inventory, &everyone, draw, self.options.chain_limit)?;
        let mut waiting: Vec<Option<Vm>> = everyone.members.into_iter().map(Some).collect();
        let mut turns = Vec::with_capacity(order.len());
        for places in order {
            let members = places
                .iter()
                .filter_map(|place| waiting.get_mut(*place)?.take());
            let request = Request {
                members: members.collect(),
                facts: everyone.facts.clone(),
                now: everyone.now,
                draw: everyone.draw,
                ..Request::default()
            };
            let ids = request.members.iter().map(|member| member.id.clone());
            let members = ids.collect();
            let outcome = place::place(
                inventory,
                &mut self.runner,
                &self.options,
                self.next_number,
                request,
            );
            if let Ok(decision) = &outcome {
                self.next_number += 1;
                if let Some(slot) = decision.slot(inventory) {
                    inventory.count_in_batch(slot, decision.request.members.len());
                }
            }
            turns.push(Turn { members, outcome });
        }
        inventory.reset_batch();
        if batch.from_nothing && !batch.dry_run {
            self.adopt(&turns)?;
        }
        let made_on = match world {
            Some(copy) => {
                self.forget_copies();
                MadeOn::Copy(Arc::new(copy))
            }
            None => MadeOn::Inventory,
        };
        for decision in turns.iter().filter_map(|turn| turn.outcome.as_ref().ok()) {
            self.record(Recorded {
                decision: decision.clone(),
                made_on: made_on.clone(),
            });
        }
        let without_turn = waiting.into_iter().flatten().map(|member| member.id);
        Ok(Plan {
            turns,
            without_turn: without_turn.collect(),
        })
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
