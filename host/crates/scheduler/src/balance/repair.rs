//! What is wrong with a cluster, whatever its policy says of load: VMs on hosts that are
//! not up, hard groups that are broken, hosts that have promised more than they may. It is
//! put right before a balance unit is asked, each VM going where the chain puts it.

pub(super) mod groups;
pub(super) mod promises;
mod together;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Cause;
use super::pass::Pass;
use super::relocate::Leaving;
use crate::PlaceError;
use placewright_inventory::Inventory;
use placewright_model::Value;

/// A VM that had better run elsewhere.
#[derive(Debug, Clone)]
struct Misplaced {
    vm: Arc<str>,
    leaving: Leaving,
}

impl Pass<'_> {
    /// Plan what puts the cluster right, as far as it can be.
    pub(super) fn repair(&mut self) -> Result<(), PlaceError> {
        self.leave_hosts_not_up()?;
        let before = self.plan.stuck.len();
        self.put_right(groups::misplaced, groups::wrong)?;
        self.join_groups()?;
        // Who could not go by itself may have gone with its group, or the other way round.
        let mut wrong = together::are_apart(self.world);
        wrong.extend(groups::misplaced(self.world).into_iter().map(|it| it.vm));
        let mut stuck = self.plan.stuck.split_off(before);
        stuck.retain(|stuck| wrong.contains(&stuck.vm));
        self.plan.stuck.append(&mut stuck);
        self.put_right(promises::misplaced, promises::wrong)
    }

    fn leave_hosts_not_up(&mut self) -> Result<(), PlaceError> {
        let slots = self.world.hosts().map(|(slot, _)| slot);
        let not_up = slots.filter(|slot| !self.world.is_up(*slot));
        let hosts: Vec<Arc<str>> = not_up.map(|slot| self.host_id(slot)).collect();
        let state = |world: &Inventory, host: &Arc<str>| {
            let slot = world.slot(host);
            match slot.and_then(|slot| world.host_value(slot, "state")) {
                Some(Value::Text(state)) if *state == *"maintenance" || *state == *"error" => {
                    format!("in {state}")
                }
                Some(Value::Text(state)) => state.to_string(),
                _ => "not up".to_owned(),
            }
        };
        let why: Vec<(Arc<str>, String)> = hosts
            .iter()
            .map(|host| (host.clone(), state(self.world, host)))
            .collect();
        self.empty(&hosts, |host| {
            let why = why.iter().find(|(known, _)| known == host);
            Leaving {
                cause: Cause::HostState,
                group: None,
                reason: format!("host {host} is {}", why.map_or("not up", |(_, why)| why)),
                allowed: Vec::new(),
                excluded: Vec::new(),
            }
        })
    }

    /// Move the first that is misplaced until nobody is who was not tried, or so many find
    /// no place as the plan may hold moves. `wrong` says how much is: each move has to bring
    /// it down.
    fn put_right(
        &mut self,
        misplaced: fn(&Inventory) -> Vec<Misplaced>,
        wrong: fn(&Inventory) -> i128,
    ) -> Result<(), PlaceError> {
        let mut tried: BTreeSet<Arc<str>> = BTreeSet::new();
        let (mut failed, before) = (0, self.plan.stuck.len());
        while self.plan.moves.len() < self.options.moves && failed < self.options.moves {
            let next = misplaced(self.world);
            let next = next.into_iter().find(|it| {
                !tried.contains(&it.vm)
                    && !self
                        .cool_down
                        .holds(&it.vm, self.plan.now, self.options.cool_down)
            });
            let Some(Misplaced { vm, leaving }) = next else {
                break;
            };
            tried.insert(vm.clone());
            failed += usize::from(!self.relocate(&vm, &leaving, wrong)?);
        }
        if self.plan.stuck.len() > before {
            // The move of another one may have been enough.
            let still = misplaced(self.world).into_iter().map(|it| it.vm);
            let still: BTreeSet<Arc<str>> = still.collect();
            let mut later = self.plan.stuck.split_off(before);
            later.retain(|stuck| still.contains(&stuck.vm));
            self.plan.stuck.append(&mut later);
        }
        Ok(())
    }
}
