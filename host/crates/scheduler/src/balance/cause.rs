//! Whether what a move was planned for is still the case: looked at again when it is begun.

use std::sync::Arc;

use super::repair::{groups, promises};
use super::{Cause, PlannedMove, world};
use crate::{PlaceError, Scheduler};
use placewright_chain::Proposed;
use placewright_inventory::Inventory;

impl Scheduler {
    /// Why these steps, which are begun together at `now` (seconds), need not be made any
    /// more: a sentence without its full stop. None: their cause holds.
    pub(super) fn why_needless(
        &mut self,
        steps: &[&PlannedMove],
        now: i64,
    ) -> Result<Option<String>, PlaceError> {
        let Some(first) = steps.first() else {
            return Ok(None);
        };
        let inventory = &self.inventory;
        Ok(match first.cause {
            // Who wants a host empty wants it until the plan is cancelled.
            Cause::Evacuation => None,
            Cause::HostState => all_up(inventory, steps),
            Cause::HardGroup => groups::why_kept(inventory, first.group.as_ref(), &vms(steps)),
            Cause::OverCommitted => promises::why_kept(inventory, &first.from),
            Cause::Balance => self.why_not_proposed(steps, now)?,
        })
    }

    /// That the balance unit proposes no more that anything leaves the hosts of these steps.
    /// It is shown the cluster as it is when the moves that are under way are done, as it was
    /// when the plan was made.
    fn why_not_proposed(
        &mut self,
        steps: &[&PlannedMove],
        now: i64,
    ) -> Result<Option<String>, PlaceError> {
        let limit = self.options.chain_limit;
        let transaction = self.inventory.begin();
        let arrived = arrive(&mut self.inventory);
        let proposed = match arrived {
            Ok(()) => self.runner.chain().balance(&self.inventory, now, limit),
            Err(error) => {
                self.inventory.roll_back(transaction);
                return Err(error.into());
            }
        };
        self.inventory.roll_back(transaction);
        let is_proposed = |step: &&PlannedMove| {
            let mut proposed = proposed.iter().flatten();
            proposed.any(|it| matches!(it, Proposed::Move { from, .. } if *from == step.from))
        };
        if let Err(error) = proposed {
            return Err(error.into());
        }
        Ok(match steps.iter().any(is_proposed) {
            true => None,
            false => {
                let unit = self.runner.chain().balancing().map(|it| it.unit.to_owned());
                Some(match unit {
                    Some(unit) => format!(
                        "balance unit {unit} proposes no more that a VM leaves host {}",
                        steps[0].from
                    ),
                    None => "the policy has no balance unit any more".to_owned(),
                })
            }
        })
    }
}

fn vms<'s>(steps: &[&'s PlannedMove]) -> Vec<&'s Arc<str>> {
    steps.iter().map(|step| &step.vm).collect()
}

/// That the hosts of these steps are up.
fn all_up(inventory: &Inventory, steps: &[&PlannedMove]) -> Option<String> {
    let is_up = |step: &&PlannedMove| {
        let slot = inventory.slot(&step.from);
        slot.is_some_and(|slot| inventory.is_up(slot))
    };
    let all = steps.iter().all(is_up);
    all.then(|| format!("host {} is up again", steps[0].from))
}

/// Have every VM that is on its way arrive, and what hosts measured of it with it.
fn arrive(inventory: &mut Inventory) -> Result<(), placewright_inventory::InventoryError> {
    let on_the_way = inventory.pending_ids().filter_map(|vm| {
        let to = inventory.pending(vm)?.slot;
        let from = inventory.running(vm)?.slot;
        (from != to).then(|| (vm.clone(), to))
    });
    let mut on_the_way: Vec<(Arc<str>, u32)> = on_the_way.collect();
    on_the_way.sort_unstable();
    for (vm, to) in on_the_way {
        world::carry(inventory, &vm, to)?;
    }
    Ok(())
}
