//! What was decided on a copy of the inventory is reserved in the inventory itself.

use std::sync::Arc;

use super::Turn;
use crate::{Decision, PlaceError, Scheduler, place};
use placewright_chain::Runner;
use placewright_inventory::Inventory;
use placewright_model::Request;

/// What of a plan is reserved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Adopted {
    /// The places of all decisions.
    All,
    /// Those of some: the other decisions say why theirs is not.
    Some,
    /// None.
    Nothing,
}

impl Scheduler {
    /// Reserve for real what was decided on a copy: all of it or nothing.
    pub(super) fn adopt(&mut self, turns: &[Turn]) -> Result<Adopted, PlaceError> {
        self.inventory.all_or_nothing(|inventory| {
            give_up_places(inventory, turns)?;
            for decision in turns.iter().filter_map(decision_of) {
                settle(inventory, decision)?;
            }
            Ok(Adopted::All)
        })
    }

    /// The same of a plan from nothing, in which members have left the hosts where they go on
    /// running until they are moved: a place is reserved if the policy gives it as things are.
    /// The decision of any other says why it is not; with `whole` none is reserved then.
    pub(super) fn adopt_as_things_are(
        &mut self,
        turns: &mut [Turn],
        whole: bool,
    ) -> Result<Adopted, PlaceError> {
        let transaction = self.inventory.begin();
        let adopted = adopt_each(&mut self.inventory, &mut self.runner, turns);
        match adopted {
            Ok(Adopted::Some) if whole => {
                self.inventory.roll_back(transaction);
                Ok(Adopted::Nothing)
            }
            Ok(adopted) => {
                self.inventory.commit(transaction);
                Ok(adopted)
            }
            Err(error) => {
                self.inventory.roll_back(transaction);
                Err(error)
            }
        }
    }
}

fn decision_of(turn: &Turn) -> Option<&Arc<Decision>> {
    turn.outcome.as_ref().ok()
}

/// Places that were reserved for the members before make room for those that were decided.
fn give_up_places(inventory: &mut Inventory, turns: &[Turn]) -> Result<(), PlaceError> {
    for decision in turns.iter().filter_map(decision_of) {
        for member in &decision.request.members {
            if inventory.pending(&member.id).is_some() {
                inventory.cancel_vm(&member.id)?;
            }
        }
    }
    Ok(())
}

fn settle(inventory: &mut Inventory, decision: &Decision) -> Result<(), PlaceError> {
    let (Some(host), Some(terms)) = (&decision.host, decision.reserved) else {
        return Ok(());
    };
    place::settle(
        inventory,
        terms,
        &decision.request,
        host,
        &decision.followed,
    )
}

fn adopt_each(
    inventory: &mut Inventory,
    runner: &mut Runner,
    turns: &mut [Turn],
) -> Result<Adopted, PlaceError> {
    let leave = turns.iter().filter_map(decision_of).any(|decision| {
        let mut members = decision.request.members.iter();
        members.any(|member| inventory.running(&member.id).is_some())
    });
    give_up_places(inventory, turns)?;
    let mut adopted = Adopted::All;
    for turn in turns {
        let Ok(decision) = &mut turn.outcome else {
            continue;
        };
        let Some(host) = decision.host.clone().filter(|_| leave) else {
            settle(inventory, decision)?;
            continue;
        };
        if place::stay_as_they_are(inventory, &decision.request, &host) {
            // On the copy its VMs ran nowhere.
            Arc::make_mut(decision).unchanged = true;
        } else if let Some(why) = why_not_now(inventory, runner, decision, &host)? {
            adopted = Adopted::Some;
            let decision = Arc::make_mut(decision);
            decision.reserved = None;
            decision.unreserved = Some(why);
            continue;
        }
        if let Some(slot) = inventory.slot(&host) {
            // On the copy the GPUs and CPUs were free that members have, who run there still.
            let decision = Arc::make_mut(decision);
            let (request, draw) = (&decision.request, decision.draw);
            decision.followed = runner.follow_alone(inventory, request, draw, slot)?;
        }
        settle(inventory, decision)?;
    }
    Ok(adopted)
}

/// Why the policy would not put the members there as things are; None: it would. An administrator
/// who names the host is not asked why.
fn why_not_now(
    inventory: &Inventory,
    runner: &mut Runner,
    decision: &Decision,
    host: &Arc<str>,
) -> Result<Option<String>, PlaceError> {
    let request = Request {
        allowed: vec![host.clone()],
        ..(*decision.request).clone()
    };
    let decided = runner.decide(inventory, &request, decision.draw)?;
    if decided.chosen.is_some() {
        return Ok(None);
    }
    let why = match decided.removed.first() {
        Some(removed) => format!("{} ({})", removed.reason, removed.filter),
        None => "takes no VMs".to_owned(),
    };
    Ok(Some(format!(
        "no place is reserved: as things are, host \"{host}\" {why}. VMs that are to leave it run there until they are moved: plan with a dry run, and carry the moves out in an order in which each finds room"
    )))
}
