//! Which VMs were moved so short a time ago that they stay.

use std::collections::BTreeMap;
use std::sync::Arc;

/// When each VM was last moved by a balance pass, in seconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct CoolDown {
    moved: BTreeMap<Arc<str>, i64>,
}

impl CoolDown {
    /// The VM is moved now.
    pub(super) fn moved(&mut self, vm: &Arc<str>, now: i64) {
        self.moved.insert(vm.clone(), now);
    }

    /// The clock is set back to `now`: what was moved later was moved just now.
    pub(crate) fn set_clock_back(&mut self, now: i64) {
        for moved in self.moved.values_mut() {
            *moved = now.min(*moved);
        }
    }

    /// The move was none.
    pub(super) fn forget(&mut self, vm: &str) {
        self.moved.remove(vm);
    }

    /// Whether the VM was moved less than `seconds` before `now`.
    pub(super) fn holds(&self, vm: &str, now: i64, seconds: i64) -> bool {
        let moved = self.moved.get(vm);
        moved.is_some_and(|moved| now.saturating_sub(*moved) < seconds)
    }

    /// Forget what was `seconds` or more before `now`.
    pub(super) fn let_go(&mut self, now: i64, seconds: i64) {
        self.moved
            .retain(|_, moved| now.saturating_sub(*moved) < seconds);
    }
}
