//! In which rounds the moves of a plan are made, if only so many may be under way at once.

use std::sync::Arc;

use placewright_scheduler::{BalancePlan, PlannedMove, Scheduler};

/// The round of each move of the plan, if it is asked for how many may be under way at once.
pub(super) fn of(
    scheduler: Scheduler,
    plan: &BalancePlan,
    max_in_flight: Option<u32>,
) -> Option<Vec<Option<usize>>> {
    let most = usize::try_from(max_in_flight?).unwrap_or(usize::MAX);
    Some(rounds(scheduler, plan, most))
}

/// The round of each move of the plan, counted from 1: a round begins when all moves of the
/// one before are confirmed. None for moves that cannot be begun even then.
fn rounds(
    mut scheduler: Scheduler,
    plan: &BalancePlan,
    max_in_flight: usize,
) -> Vec<Option<usize>> {
    let mut rounds = vec![None; plan.moves.len()];
    let (mut round, mut in_flight) = (1, Vec::<Arc<str>>::new());
    for first in 0..plan.moves.len() {
        if rounds[first].is_some() {
            continue;
        }
        let places = plan.together(first);
        let steps: Vec<&PlannedMove> = plan.moves[places.clone()].iter().collect();
        let is_full = in_flight.len() + steps.len() > max_in_flight;
        let begun = (in_flight.is_empty() || !is_full)
            && scheduler.begin_together(&steps, plan.now, Some(0)).is_ok();
        if !begun {
            if in_flight.is_empty() {
                continue;
            }
            for vm in in_flight.drain(..) {
                // A step that leaves its VM where it is has nothing to confirm.
                let _ = scheduler.inventory_mut().confirm_vm(&vm);
            }
            round += 1;
            if scheduler.begin_together(&steps, plan.now, Some(0)).is_err() {
                continue;
            }
        }
        for place in places {
            rounds[place] = Some(round);
            in_flight.push(plan.moves[place].vm.clone());
        }
    }
    rounds
}
