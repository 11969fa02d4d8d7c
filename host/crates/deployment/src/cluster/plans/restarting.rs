//! Plans by which the server restarts VMs by itself.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::ClusterState;
use super::super::restarts::Gate;
use super::auto::Auto;
use super::kept::MoveState;
use super::{Begin, Plans};
use crate::events::{EventKind, News};
use placewright_scheduler::Origin;

impl Plans {
    /// How many moves are under way of plans of restarts other than this one.
    pub(super) fn begun_in_other_restarts(&self, number: u64) -> usize {
        let others = self.plans.iter().filter(|(other, _)| **other != number);
        let restarts = others.filter(|(_, kept)| kept.restarts);
        restarts.map(|(_, kept)| kept.counts().begun).sum()
    }

    /// Plans of restarts go on once one of them does: they share what may be under way.
    pub(super) fn share_restarts(&mut self) {
        if self
            .plans
            .values()
            .any(|kept| kept.restarts && kept.is_due())
        {
            for kept in self.plans.values_mut().filter(|kept| kept.restarts) {
                kept.look_again();
            }
        }
    }
}

impl ClusterState {
    /// Plans of restarts look at their moves again: those that nobody confirmed in time are
    /// begun once more.
    pub(in crate::cluster) fn look_at_restarts_again(&mut self) {
        let restarts = self.plans.plans.values_mut().filter(|kept| kept.restarts);
        for kept in restarts {
            self.plans.due |= kept.look_again();
        }
    }

    /// The VMs with moves in plans of restarts that are begun, or will be by themselves.
    pub(in crate::cluster) fn vms_of_restarts(&self) -> BTreeSet<Arc<str>> {
        use MoveState::{Begun, Expired, Planned};
        let restarts = self.plans.plans.values();
        let restarts = restarts.filter(|kept| kept.restarts && kept.auto.is_some());
        let moves = restarts.flat_map(|kept| kept.plan.moves.iter().zip(kept.states()));
        moves
            .filter(|(_, state)| matches!(state, Planned | Begun | Expired))
            .map(|(planned, _)| planned.vm.clone())
            .collect()
    }

    /// Have a plan restart VMs, and begin with it. What earlier ones have not begun gives way.
    pub(in crate::cluster) fn have_plan_restart(&mut self, number: u64, now: i64) {
        let mut changed = Vec::new();
        for (other, kept) in &mut self.plans.plans {
            if *other != number && kept.restarts && kept.give_way(number, now) {
                changed.push(*other);
            }
        }
        let auto = Auto::new(&Begin::default(), &self.by);
        if let Some(kept) = self.plans.plans.get_mut(&number) {
            kept.restarts = true;
            kept.auto = Some(auto.clone());
        }
        for other in changed {
            self.keep_plan(other);
        }
        self.keep_plan(number);
        self.continue_plan(number, &auto, true);
    }

    /// No plan restarts VMs by itself any more.
    pub(in crate::cluster) fn halt_restarts(&mut self) {
        let plans = self.plans.plans.iter_mut();
        let halted: Vec<u64> = plans
            .filter_map(|(number, kept)| {
                let was = kept.restarts && kept.auto.take().is_some();
                (was && kept.is_open()).then_some(*number)
            })
            .collect();
        for number in halted {
            self.keep_plan(number);
            self.tell_when_kept(News {
                kind: EventKind::PlanHalted,
                plan: Some(number),
                policy: Some(self.attached.policy.clone()),
                message: format!(
                    "plan {number} does not go on by itself any more: the cluster restarts no VMs by itself now"
                ),
                ..News::default()
            });
        }
    }

    /// If that plan restarts VMs: somebody wants it to end, and none other in its place.
    pub(super) fn stop_restarts_of(&mut self, number: u64) {
        let kept = self.plans.plans.get(&number).filter(|kept| kept.restarts);
        if let Some(Origin::Evacuation(hosts)) = kept.map(|kept| kept.plan.origin.clone()) {
            self.leave_hosts_alone(&hosts);
        }
    }

    /// What lets moves of a plan through.
    pub(super) fn gate(&self, number: u64) -> Gate {
        match self.plans.plans.get(&number) {
            Some(kept) if kept.restarts => Gate::of_restarts(
                &self.restarts,
                self.settings.restart,
                self.plans.begun_in_other_restarts(number),
            ),
            _ => Gate::default(),
        }
    }
}
