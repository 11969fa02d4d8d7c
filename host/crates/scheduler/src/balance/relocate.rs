//! VMs that must leave their hosts, whatever they cost there: each goes where the chain
//! puts it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::pass::{Pass, of_running};
use super::{Cause, MoveError, Nearest, PlannedMove, RemovedHosts, Stuck, world};
use crate::{Decision, PlaceError, place};
use placewright_chain::DecisionError;
use placewright_inventory::Inventory;
use placewright_model::{Departure, GroupRule, Request, Write};

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
    /// Move a VM in the copy to where the chain puts it, and with it those with which hard
    /// groups keep it together: those on the same host, then those on all hosts that are to be
    /// emptied, then all of them, and at last itself alone. `wrong` says how much is wrong with the copy: a move that does
    /// not bring it down is none. If it finds no place, the plan says so. Gives whether it is
    /// moved.
    pub(super) fn relocate(
        &mut self,
        vm: &Arc<str>,
        leaving: &Leaving,
        wrong: impl Fn(&Inventory) -> i128,
    ) -> Result<bool, PlaceError> {
        let mut because = None;
        for (vms, leaving, is_extra) in self.ways(vm, leaving) {
            let Err(error) = self.try_to_move(&vms, &leaving, &wrong)? else {
                return Ok(true);
            };
            // It says most what kept off all that have to leave.
            if because.is_none() || !is_extra {
                because = Some(error);
            }
        }
        let from = self.world.running(vm).map(|entry| entry.slot);
        self.plan.stuck.push(Stuck {
            vm: vm.clone(),
            from: from.map_or_else(|| "".into(), |slot| self.host_id(slot)),
            cause: leaving.cause,
            reason: leaving.reason.clone(),
            because: because.unwrap_or(MoveError::NoHost),
        });
        Ok(false)
    }

    /// With whom a VM may leave its host, in the order in which it is tried, and whether that
    /// moves VMs that need not leave theirs, or tears apart those that belong together.
    fn ways(&self, vm: &Arc<str>, leaving: &Leaving) -> Vec<(Vec<Arc<str>>, Leaving, bool)> {
        let world = &*self.world;
        let from = world.running(vm).map(|entry| entry.slot);
        let here = companions(world, vm, |slot| Some(slot) == from);
        let mut ways = vec![(here.clone(), leaving.clone(), false)];
        if !self.emptied.is_empty() {
            ways.extend(self.ways_from_several(vm, here.len(), leaving));
        }
        // Of those who belong together one by itself, at last: the others may find no place then.
        if here.len() > 1 {
            ways.push((vec![vm.clone()], leaving.clone(), true));
        }
        ways
    }

    /// The same with VMs of other hosts, of which `here` are on the same one.
    fn ways_from_several(
        &self,
        vm: &Arc<str>,
        here: usize,
        leaving: &Leaving,
    ) -> Vec<(Vec<Arc<str>>, Leaving, bool)> {
        let world = &*self.world;
        let mut ways = Vec::new();
        let leave = companions(world, vm, |slot| self.emptied.contains(&slot));
        if leave.len() > here {
            ways.push((leave.clone(), leaving.clone(), false));
        }
        let all = companions(world, vm, |_| true);
        if all.len() > leave.len() {
            // To those that need not leave nobody could go.
            let running = all.iter().filter_map(|vm| world.running(vm));
            let mut elsewhere = leaving.clone();
            elsewhere
                .excluded
                .extend(running.map(|entry| self.host_id(entry.slot)));
            ways.push((all, elsewhere, true));
        }
        ways
    }

    pub(super) fn try_to_move(
        &mut self,
        vms: &[Arc<str>],
        leaving: &Leaving,
        wrong: &impl Fn(&Inventory) -> i128,
    ) -> Result<Result<(), MoveError>, PlaceError> {
        let steps = self.plan.moves.len();
        let before = wrong(self.world);
        let transaction = self.world.begin();
        let tried = match self.move_together(vms, leaving) {
            Ok(Ok(to)) if wrong(self.world) >= before => Ok(Err(MoveError::NoBetter(to))),
            tried => tried,
        };
        match tried {
            Ok(Ok(_)) => {
                self.world.commit(transaction);
                self.cool_down_from(steps);
            }
            _ => {
                self.plan.moves.truncate(steps);
                self.world.roll_back(transaction);
            }
        }
        Ok(tried?.map(|_| ()))
    }

    /// The VMs of the plan's steps from that one on are moved, and stay where they are for a while.
    /// What was only tried, and taken back, holds none of them.
    pub(super) fn cool_down_from(&mut self, step: usize) {
        for step in self.plan.moves.iter().skip(step) {
            self.cool_down.moved(&step.vm, self.plan.now);
        }
    }

    /// Move VMs in the copy to one host, and write it down as steps. If they find none, the
    /// copy may have changed.
    pub(super) fn move_together(
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
            if self.world.departure(vm) == Some(Departure::Barred) {
                return Ok(Err(MoveError::NotMigratable));
            }
            let live = self.world.moves_live(vm);
            from.push((self.host_id(entry.slot), live));
        }
        let vm_refs: Vec<&Arc<str>> = vms.iter().collect();
        let request = match of_running(self.world, &vm_refs, self.plan.now) {
            Ok(request) => request,
            Err(error) => return Ok(Err(MoveError::Undecided(error.to_string()))),
        };
        let request = Request {
            allowed: leaving.allowed.clone(),
            excluded: leaving.excluded.clone(),
            ..request
        };
        let number = self.number + self.plan.moves.len() as u64;
        let placed = place::place(self.world, self.runner, self.scheduling, number, request);
        let decision = match placed {
            Ok(decision) => decision,
            Err(error) if is_answer(&error) => {
                return Ok(Err(MoveError::Undecided(error.to_string())));
            }
            Err(error) => return Err(error),
        };
        let to = match place_of(&decision) {
            Ok(to) => to,
            Err(MoveError::Nowhere {
                considered,
                removed,
                ..
            }) => {
                return Ok(Err(MoveError::Nowhere {
                    nearest: self.nearest(&decision)?,
                    vms: vms.to_vec(),
                    considered,
                    removed,
                }));
            }
            Err(because) => return Ok(Err(because)),
        };
        let Some(slot) = self.world.slot(&to) else {
            return Ok(Err(MoveError::NoHost));
        };
        if from.iter().any(|(from, _)| *from == to) {
            return Ok(Err(MoveError::Stays));
        }
        let costs = decision.decided.chosen.map(|chosen| chosen.costs);
        let writes = decision.followed.into_iter().flat_map(|it| it.writes);
        let writes: Vec<Write> = writes.collect();
        for (number, (vm, (from, live))) in (1..).zip(vms.iter().zip(from)) {
            world::carry(self.world, vm, slot)?;
            self.plan.moves.push(PlannedMove {
                vm: vm.clone(),
                from,
                to: to.clone(),
                live,
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

impl Pass<'_> {
    /// Of a decision for no host: the host that went furthest through the policy's filters.
    fn nearest(&mut self, decision: &Decision) -> Result<Option<Nearest>, PlaceError> {
        let Some(last) = decision.decided.removed.last().map(|it| it.filter.clone()) else {
            return Ok(None);
        };
        self.scheduling.cancel.check()?;
        let explained = self
            .runner
            .explain(self.world, &decision.request, decision.draw);
        let Ok((_, explanation)) = explained else {
            // It is not worth a plan.
            return Ok(None);
        };
        let hosts = explanation.stages.into_iter().flat_map(|stage| stage.hosts);
        let removed = hosts.filter_map(|host| Some((host.host, host.removed?)));
        let mut furthest = removed.filter(|(_, removed)| removed.filter == last);
        Ok(furthest.next().map(|(host, removed)| Nearest {
            host,
            filter: removed.filter,
            reason: removed.reason.into(),
        }))
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
            vms: Vec::new(),
            nearest: None,
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

/// A VM that runs, and those on hosts of the slots that are meant with which hard groups keep
/// it together, in the order of their ids.
pub(super) fn companions(
    world: &Inventory,
    vm: &Arc<str>,
    is_meant: impl Fn(u32) -> bool,
) -> Vec<Arc<str>> {
    let mut found = BTreeSet::from([vm.clone()]);
    let mut next = vec![vm.clone()];
    while let Some(vm) = next.pop() {
        let groups = world.groups_of(&vm).map(|entry| &entry.group);
        let binding = groups.filter(|it| it.vm_rule == Some(GroupRule::Positive { hard: true }));
        for member in binding.flat_map(|group| &group.vms) {
            let running = world.running(member).map(|entry| entry.slot);
            if running.is_some_and(&is_meant) && found.insert(member.clone()) {
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
