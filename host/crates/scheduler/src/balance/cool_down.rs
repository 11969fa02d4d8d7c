//! Which VMs were moved so short a time ago that they stay.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use placewright_model::budget::Collection;

/// When each VM was last moved by a balance pass, in seconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct CoolDown {
    moved: BTreeMap<Arc<str>, i64>,
    /// The same in the order in which they were moved; of VMs of one moment by their ids.
    order: BTreeSet<(i64, Arc<str>)>,
}

impl CoolDown {
    /// The VM is moved now. Of more VMs than are remembered the one that was moved first may move
    /// again.
    pub(super) fn moved(&mut self, vm: &Arc<str>, now: i64) {
        self.forget(vm);
        self.moved.insert(vm.clone(), now);
        self.order.insert((now, vm.clone()));
        while self.moved.len() > Collection::CoolDown.most() {
            self.forget_first();
        }
    }

    /// The clock is set back to `now`: what was moved later was moved just now.
    pub(crate) fn set_clock_back(&mut self, now: i64) {
        for moved in self.moved.values_mut() {
            *moved = now.min(*moved);
        }
        let moved = self.moved.iter();
        self.order = moved.map(|(vm, moved)| (*moved, vm.clone())).collect();
    }

    /// The move was none.
    pub(super) fn forget(&mut self, vm: &str) {
        if let Some((vm, moved)) = self.moved.remove_entry(vm) {
            self.order.remove(&(moved, vm));
        }
    }

    /// Whether the VM was moved less than `seconds` before `now`.
    pub(super) fn holds(&self, vm: &str, now: i64, seconds: i64) -> bool {
        let moved = self.moved.get(vm);
        moved.is_some_and(|moved| now.saturating_sub(*moved) < seconds)
    }

    /// Forget what was `seconds` or more before `now`.
    pub(super) fn let_go(&mut self, now: i64, seconds: i64) {
        while let Some((moved, _)) = self.order.first()
            && now.saturating_sub(*moved) >= seconds
        {
            self.forget_first();
        }
    }

    fn forget_first(&mut self) {
        if let Some((_, vm)) = self.order.pop_first() {
            self.moved.remove(&vm);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vm(number: usize) -> Arc<str> {
        format!("v{number:06}").into()
    }

    #[test]
    fn a_vm_stays_until_it_has_cooled_down_or_its_move_was_none() {
        let mut cool_down = CoolDown::default();
        cool_down.moved(&vm(1), 100);
        cool_down.moved(&vm(2), 105);
        cool_down.moved(&vm(1), 110);
        cool_down.let_go(119, 10);
        assert!(cool_down.holds("v000001", 119, 10));
        assert!(!cool_down.holds("v000002", 119, 10));
        assert_eq!((cool_down.moved.len(), cool_down.order.len()), (1, 1));
        cool_down.forget("v000001");
        assert!(!cool_down.holds("v000001", 110, 10));
        assert_eq!((cool_down.moved.len(), cool_down.order.len()), (0, 0));
    }

    #[test]
    fn a_clock_that_was_ahead_holds_no_vm_for_longer() {
        let mut cool_down = CoolDown::default();
        cool_down.moved(&vm(1), 50);
        cool_down.moved(&vm(2), 1000);
        cool_down.set_clock_back(100);
        cool_down.let_go(60, 10);
        assert!(!cool_down.holds("v000001", 60, 10));
        assert!(cool_down.holds("v000002", 109, 10));
        cool_down.let_go(110, 10);
        assert_eq!((cool_down.moved.len(), cool_down.order.len()), (0, 0));
    }

    #[test]
    fn of_more_vms_than_are_remembered_the_one_that_was_moved_first_is_forgotten() {
        let mut cool_down = CoolDown::default();
        let most = Collection::CoolDown.most();
        for number in 0..most {
            cool_down.moved(&vm(number), 7 + i64::from(number > 0));
        }
        cool_down.moved(&vm(0), 9);
        cool_down.moved(&vm(most), 9);
        assert_eq!((cool_down.moved.len(), cool_down.order.len()), (most, most));
        assert!(cool_down.holds(&vm(0), 9, 10), "it was moved again");
        assert!(!cool_down.holds(&vm(1), 9, 10));
        assert!(cool_down.holds(&vm(2), 9, 10));
    }
}
