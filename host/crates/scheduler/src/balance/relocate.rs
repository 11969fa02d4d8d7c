//! VMs that must leave their hosts, whatever they cost there: each goes where the chain
//! puts it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::pass::{Pass, of_running};
use super::{Cause, MoveError, PlannedMove, RemovedHosts, Stuck, world};
use crate::{Decision, PlaceError, place};
use placewright_chain::DecisionError;
use placewright_inventory::Inventory;
use placewright_model::{GroupRule, Request, Value, Write};

/// Why VMs must leave their hosts, and where they may go.
#[derive(Debug, Clone)]
pub(super) struct Leaving {
    pub(super) cause: Cause,
    /// Id of the group of which they break the hard rule, if that is the cause.
    pub(super) group: Option<Arc<str>>,
    /// A sentence without its full stop.
    pub(super) reason: String,
    /// If not empty, the hosts of which one is to take them.
    pub(super) allowed: Vec<Arc<str>>,
    /// Hosts that are not to take them.
    pub(super) excluded: Vec<Arc<str>>,
}

impl Pass<'_> {
    /// Move a VM in the copy to where the chain puts it, and with it, if they run on the
    /// same host, those with which hard groups keep it together; by itself if they find no
    /// place together. `wrong` says how much is wrong with the copy: a move that does
    /// not bring it down is none. If it finds no place, the plan says so. Gives whether it is
    /// moved.
    pub(super) fn relocate(
        &mut self,
        vm: &Arc<str>,
        leaving: &Leaving,
        wrong: impl Fn(&Inventory) -> i128,
    ) -> Result<bool, PlaceError> {
        let together = companions(&self.world, vm);
        if together.len() > 1 && self.try_to_move(&together, leaving, &wrong)?.is_ok() {
            return Ok(true);
        }
        let Err(because) = self.try_to_move(std::slice::from_ref(vm), leaving, &wrong)? else {
            return Ok(true);
        };
        let from = self.world.running(vm).map(|entry| entry.slot);
        self.plan.stuck.push(Stuck {
            vm: vm.clone(),
            from: from.map_or_else(|| "".into(), |slot| self.host_id(slot)),
            cause: leaving.cause,
            reason: leaving.reason.clone(),
            because,
        });
        Ok(false)
    }

    fn try_to_move(
        &mut self,
        vms: &[Arc<str>],
        leaving: &Leaving,
        wrong: &impl Fn(&Inventory) -> i128,
    ) -> Result<Result<(), MoveError>, PlaceError> {
        let steps = self.plan.moves.len();
        let before = wrong(&self.world);
        let transaction = self.world.begin();
        let tried = match self.move_together(vms, leaving) {
            Ok(Ok(to)) if wrong(&self.world) >= before => Ok(Err(MoveError::NoBetter(to))),
            tried => tried,
        };
        match tried {
            Ok(Ok(_)) => self.world.commit(transaction),
            _ => {
                self.plan.moves.truncate(steps);
                self.world.roll_back(transaction);
            }
        }
        Ok(tried?.map(|_| ()))
    }

    /// Move VMs in the copy to one host, and write it down as steps. If they find none, the
    /// copy may have changed.
    fn move_together(
        &mut self,
        vms: &[Arc<str>],
        leaving: &Leaving,
    ) -> Result<Result<Arc<str>, MoveError>, PlaceError> {
        let mut from = Vec::with_capacity(vms.len());
        for vm in vms {
            let Some(entry) = self.world.running(vm) else {
                return Ok(Err(MoveError::OnTheMove));
            };
            if self.world.pending(vm).is_some() {
                return Ok(Err(MoveError::OnTheMove));
            }
            if !entry.shape.migratable && !is_down(&self.world, entry.slot) {
                return Ok(Err(MoveError::NotMigratable));
            }
            from.push(self.host_id(entry.slot));
        }
        let vm_refs: Vec<&Arc<str>> = vms.iter().collect();
        let request = match of_running(&self.world, &vm_refs, self.plan.now) {
            Ok(request) => request,
            Err(error) => return Ok(Err(MoveError::Undecided(error.to_string()))),
        };
        let request = Request {
            allowed: leaving.allowed.clone(),
            excluded: leaving.excluded.clone(),
            ..request
        };
        let number = self.number + self.plan.moves.len() as u64;
        let placed = place::place(
            &mut self.world,
            self.runner,
            self.scheduling,
            number,
            request,
        );
        let decision = match placed {
            Ok(decision) => decision,
            Err(error) if is_answer(&error) => {
                return Ok(Err(MoveError::Undecided(error.to_string())));
            }
            Err(error) => return Err(error),
        };
        let to = match place_of(&decision) {
            Ok(to) => to,
            Err(because) => return Ok(Err(because)),
        };
        let Some(slot) = self.world.slot(&to) else {
            return Ok(Err(MoveError::NoHost));
        };
        if from.contains(&to) {
            return Ok(Err(MoveError::Stays));
        }
        let costs = decision.decided.chosen.map(|chosen| chosen.costs);
        let writes = decision.followed.into_iter().flat_map(|it| it.writes);
        let writes: Vec<Write> = writes.collect();
        for (number, (vm, from)) in (1..).zip(vms.iter().zip(from)) {
            world::carry(&mut self.world, vm, slot)?;
            self.cool_down.moved(vm, self.plan.now);
            self.plan.moves.push(PlannedMove {
                vm: vm.clone(),
                from,
                to: to.clone(),
                together: vms.iter().filter(|other| *other != vm).cloned().collect(),
                cause: leaving.cause,
                group: leaving.group.clone(),
                reason: leaving.reason.clone(),
                cost_before: None,
                cost_after: costs.clone().unwrap_or_default(),
                // Those of all of them go with the last, when all have their places.
                changes: match number == vms.len() {
                    true => writes.clone(),
                    false => Vec::new(),
                },
                proposed: 0,
            });
        }
        Ok(Ok(to))
    }
}

/// The host that takes the VMs, or why there is none.
fn place_of(decision: &Decision) -> Result<Arc<str>, MoveError> {
    let decided = &decision.decided;
    let costs = decided.chosen.as_ref().map(|chosen| chosen.costs.first());
    match &decision.host {
        Some(_) if costs == Some(Some(&f64::INFINITY)) => Err(MoveError::Infinite),
        Some(host) => Ok(host.clone()),
        None => Err(MoveError::Nowhere {
            considered: decided.considered,
            removed: decided.removed.iter().map(RemovedHosts::from).collect(),
        }),
    }
}

/// Whether that there is no decision is an answer: the chain, in its right mind, does not
/// take such a request.
pub(super) fn is_answer(error: &PlaceError) -> bool {
    !matches!(
        error,
        PlaceError::Interrupted(_)
            | PlaceError::Refusal(DecisionError::Failed { .. } | DecisionError::OutOfTime { .. })
    )
}

fn is_down(world: &Inventory, slot: u32) -> bool {
    world.host_value(slot, "state") == Some(Value::Text("down".into()))
}

/// A VM that runs, and those on the same host with which hard groups keep it together, in
/// the order of their ids.
fn companions(world: &Inventory, vm: &Arc<str>) -> Vec<Arc<str>> {
    let Some(slot) = world.running(vm).map(|entry| entry.slot) else {
        return vec![vm.clone()];
    };
    let mut found = BTreeSet::from([vm.clone()]);
    let mut next = vec![vm.clone()];
    while let Some(vm) = next.pop() {
        let groups = world.groups_of(&vm).map(|entry| &entry.group);
        let binding = groups.filter(|it| it.vm_rule == Some(GroupRule::Positive { hard: true }));
        for member in binding.flat_map(|group| &group.vms) {
            let here = world.running(member).map(|entry| entry.slot) == Some(slot);
            if here && found.insert(member.clone()) {
                next.push(member.clone());
            }
        }
    }
    found.into_iter().collect()
}

/// The VMs that run on these hosts, each with its host, by id of the VM.
pub(super) fn running_on(world: &Inventory, hosts: &[Arc<str>]) -> BTreeMap<Arc<str>, Arc<str>> {
    let slots = hosts.iter().filter_map(|id| world.host(world.slot(id)?));
    let vms = slots.flat_map(|host| {
        let running = world.vms_of(host).filter(|entry| !entry.pending);
        running.map(|entry| (entry.vm.id.clone(), host.id.clone()))
    });
    vms.collect()
}
