//! Hard groups whose VMs belong together and are apart: all of them go to one host.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::groups::{self, Apart};
use crate::PlaceError;
use crate::balance::pass::Pass;
use crate::balance::relocate::{Leaving, companions};
use crate::balance::{Cause, MoveError, Stuck};
use placewright_inventory::Inventory;

/// How far VMs of a group got on the way to one host.
struct Attempt {
    host: Arc<str>,
    /// How many of them would be there.
    there: usize,
    /// The first that could not go there, and why.
    vm: Arc<str>,
    why: MoveError,
}

/// How many VMs could go to a host, and the first that could not.
type Halted = (usize, Arc<str>, MoveError);

impl Pass<'_> {
    /// Bring together the VMs of hard groups that are apart, as many groups as the plan may
    /// hold moves.
    pub(super) fn join_groups(&mut self) -> Result<(), PlaceError> {
        let mut tried = BTreeSet::new();
        while self.plan.moves.len() < self.options.moves {
            let apart = groups::apart(self.world).into_iter();
            let Some(apart) = apart.into_iter().find(|it| !tried.contains(&it.group)) else {
                break;
            };
            tried.insert(apart.group.clone());
            self.join(&apart)?;
        }
        Ok(())
    }

    /// Bring the VMs of a group together: on a host where some of them are, the one with most
    /// of them first; else on another one. If no host takes all of them, all stay, and the plan
    /// says so.
    fn join(&mut self, apart: &Apart) -> Result<(), PlaceError> {
        let (now, cool_down) = (self.plan.now, self.options.cool_down);
        let mut nearest: Option<Attempt> = None;
        let (mut cooling, mut cut_short) = (false, false);
        let room = self.options.moves - self.plan.moves.len();
        for target in &apart.targets {
            let others = apart.vms.iter().filter(|(_, slot)| slot != target);
            let others: Vec<Arc<str>> = others.map(|(vm, _)| vm.clone()).collect();
            if others
                .iter()
                .any(|vm| self.cool_down.holds(vm, now, cool_down))
            {
                cooling = true;
                continue;
            }
            if others.len() > room && !self.plan.moves.is_empty() {
                cut_short = true;
                continue;
            }
            let host = self.host_id(*target);
            let Err((moved, vm, why)) = self.join_on(&host, &others, apart)? else {
                return Ok(());
            };
            let there = apart.vms.len() - others.len() + moved;
            if nearest.as_ref().is_none_or(|it| it.there < there) {
                nearest = Some(Attempt {
                    host,
                    there,
                    vm,
                    why,
                });
            }
        }
        let all: Vec<Arc<str>> = apart.vms.iter().map(|(vm, _)| vm.clone()).collect();
        cooling |= all
            .iter()
            .any(|vm| self.cool_down.holds(vm, now, cool_down));
        if all.len() > room && !self.plan.moves.is_empty() {
            cut_short = true;
        } else if !cooling {
            let hosts = apart.vms.iter().map(|(_, slot)| self.host_id(*slot));
            let mut elsewhere = leaving(apart, hosts.collect(), Vec::new());
            elsewhere.excluded.dedup();
            let Some(first) = all.first() else {
                return Ok(());
            };
            let vms = companions(self.world, first, |_| true);
            let Err(why) = self.try_to_move(&vms, &elsewhere, &groups::wrong)? else {
                return Ok(());
            };
            nearest = nearest.or(Some(Attempt {
                host: "".into(),
                there: 0,
                vm: first.clone(),
                why,
            }));
        }
        if cut_short {
            self.plan.cut_short = true;
        } else if let Some(nearest) = nearest.filter(|_| !cooling) {
            self.cannot_join(apart, &nearest);
        }
        Ok(())
    }

    /// Bring these VMs of the group to a host where others of it are: all of them or none. Where
    /// the plan may not hold that many moves, it holds the first of them, of a host that takes the
    /// others, too. Gives how many could go there, and the first that could not.
    fn join_on(
        &mut self,
        host: &Arc<str>,
        others: &[Arc<str>],
        apart: &Apart,
    ) -> Result<Result<(), Halted>, PlaceError> {
        let steps = self.plan.moves.len();
        let mut transaction = self.world.begin();
        let mut joined = self.join_each(host, others, apart, usize::MAX);
        if matches!(joined, Ok(Ok(()))) && self.plan.moves.len() > self.options.moves {
            self.plan.moves.truncate(steps);
            self.world.roll_back(transaction);
            transaction = self.world.begin();
            joined = self.join_each(host, others, apart, self.options.moves);
        }
        if matches!(joined, Ok(Ok(()))) {
            self.world.commit(transaction);
            self.cool_down_from(steps);
        } else {
            self.plan.moves.truncate(steps);
            self.world.roll_back(transaction);
        }
        joined
    }

    /// Bring these VMs to a host one by one, until the plan holds `most` moves.
    fn join_each(
        &mut self,
        host: &Arc<str>,
        others: &[Arc<str>],
        apart: &Apart,
        most: usize,
    ) -> Result<Result<(), Halted>, PlaceError> {
        let before = groups::wrong(self.world);
        let mut moved = 0;
        for vm in others {
            if let Err(why) = self.join_one(vm, host, apart)? {
                return Ok(Err((moved, vm.clone(), why)));
            }
            moved += 1;
            if self.plan.moves.len() >= most {
                break;
            }
        }
        if groups::wrong(self.world) >= before {
            let vm = others.last().cloned().unwrap_or_default();
            return Ok(Err((moved, vm, MoveError::NoBetter(host.clone()))));
        }
        Ok(Ok(()))
    }

    /// Bring a VM to a host, and with it those that other groups keep together with it, unless
    /// it is there by now.
    fn join_one(
        &mut self,
        vm: &Arc<str>,
        host: &Arc<str>,
        apart: &Apart,
    ) -> Result<Result<(), MoveError>, PlaceError> {
        let target = self.world.slot(host);
        let from = self.world.running(vm).map(|entry| entry.slot);
        if self.world.pending(vm).is_none() && from == target {
            return Ok(Ok(()));
        }
        let leaving = leaving(apart, Vec::new(), vec![host.clone()]);
        let with = companions(self.world, vm, |slot| Some(slot) == from);
        let joined = self.move_together(&with, &leaving)?;
        Ok(joined.map(|_| ()))
    }

    fn cannot_join(&mut self, apart: &Apart, nearest: &Attempt) {
        let host = self.world.slot(&nearest.host);
        for (vm, slot) in &apart.vms {
            let runs = self.world.running(vm).is_some_and(|it| it.slot == *slot);
            if Some(*slot) == host || !runs {
                continue;
            }
            let because = match host {
                Some(_) => MoveError::Apart {
                    group: apart.group.clone(),
                    host: nearest.host.clone(),
                    vm: nearest.vm.clone(),
                    why: Box::new(nearest.why.clone()),
                },
                None => nearest.why.clone(),
            };
            self.plan.stuck.push(Stuck {
                vm: vm.clone(),
                from: self.host_id(*slot),
                cause: Cause::HardGroup,
                reason: reason(&apart.group),
                because,
            });
        }
    }
}

/// The VMs that are apart who belong together by a hard group.
pub(super) fn are_apart(world: &Inventory) -> BTreeSet<Arc<str>> {
    let apart = groups::apart(world).into_iter();
    apart.flat_map(|it| it.vms).map(|(vm, _)| vm).collect()
}

fn leaving(apart: &Apart, excluded: Vec<Arc<str>>, allowed: Vec<Arc<str>>) -> Leaving {
    Leaving {
        cause: Cause::HardGroup,
        group: Some(apart.group.clone()),
        reason: reason(&apart.group),
        allowed,
        excluded,
    }
}

fn reason(group: &str) -> String {
    format!("group {group} keeps its VMs together, and they are on several hosts")
}
