//! Whether what a move was planned for is still the case: looked at again when it is begun.

use std::sync::Arc;

use super::repair::{groups, promises};
use super::{Cause, PlannedMove};
use crate::Scheduler;
use placewright_inventory::Inventory;

impl Scheduler {
    /// Why these steps, which are begun together, need not be made any
    /// more: a sentence without its full stop. None: their cause holds.
    pub(super) fn why_needless(&self, steps: &[&PlannedMove]) -> Option<String> {
        let first = steps.first()?;
        let inventory = &self.inventory;
        match first.cause {
            // Who wants a host empty wants it until the plan is cancelled.
            Cause::Evacuation => None,
            Cause::HostState => all_up(inventory, steps),
            Cause::HardGroup => groups::why_kept(inventory, first.group.as_ref(), &vms(steps)),
            Cause::OverCommitted => promises::why_kept(inventory, &first.from),
            // A balance unit looks at the cluster as a whole, and other moves of its plan may have
            // been made since. What such a move gains is looked at with its place.
            Cause::Balance => None,
        }
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
