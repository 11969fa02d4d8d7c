//! Whether a move of a plan may be begun, beside what the policy says.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{AutomaticRestart, LostHost, Restarts};
use placewright_inventory::Inventory;
use placewright_model::Word;
use placewright_scheduler::PlannedMove;

/// Why a move is not begun: a sentence without its full stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cluster) enum Closed {
    /// There is no reason for it any more.
    Needless(String),
    /// Not yet.
    Waits(String),
}

/// What lets moves of a plan through; by default, all of them.
#[derive(Debug, Clone, Default)]
pub(in crate::cluster) struct Gate {
    /// Hosts that are down, where the plan restarts VMs.
    lost: Option<BTreeMap<Arc<str>, LostHost>>,
    /// How the cluster restarts VMs by itself, if it does.
    set: Option<AutomaticRestart>,
    /// How many moves of other plans count as under way.
    pub(in crate::cluster) elsewhere: usize,
}

impl Gate {
    /// Of a plan of restarts, while so many moves of others are under way.
    pub(in crate::cluster) fn of_restarts(
        restarts: &Restarts,
        set: Option<AutomaticRestart>,
        elsewhere: usize,
    ) -> Self {
        Self {
            lost: Some(restarts.lost().clone()),
            set,
            elsewhere,
        }
    }

    /// Whether a move may be begun at `now` (seconds).
    pub(in crate::cluster) fn check(
        &self,
        inventory: &Inventory,
        planned: &PlannedMove,
        now: i64,
    ) -> Result<(), Closed> {
        let Some(lost) = &self.lost else {
            return Ok(());
        };
        let from = &planned.from;
        let Some(slot) = inventory.slot(from) else {
            // That it is gone is said where the move is begun.
            return Ok(());
        };
        if !inventory.is_lost(slot) {
            let state = inventory.host_state(slot).word();
            return Err(Closed::Needless(match state {
                "up" => format!("host {from} is up again"),
                state => format!("host {from} is in {state} now, and not down"),
            }));
        }
        let left = self
            .set
            .and_then(|set| lost.get(from)?.settles_in(now, &set));
        match left {
            Some(left) => Err(Closed::Waits(format!(
                "host {from} was up meanwhile: it is waited for {left} s more whether it comes back"
            ))),
            None => Ok(()),
        }
    }
}
