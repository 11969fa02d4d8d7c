//! A plan is begun, step by step or as far as it goes at once, or cancelled.

use std::sync::Arc;

use super::{BalancePlan, PlannedMove, pass, world};
use crate::chain::Refusal;
use crate::inventory::InventoryError;
use crate::scheduler::{PlaceError, Scheduler};

/// Why a step of a plan cannot be begun. Nothing was changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BalanceError {
    #[error("VM \"{vm}\" does not run on host \"{from}\" any more: plan again")]
    Elsewhere { vm: Arc<str>, from: Arc<str> },
    #[error("VM \"{0}\" has a place reserved already: confirm or cancel it first")]
    Pending(Arc<str>),
    #[error(
        "the policy would not put VM \"{vm}\" on host \"{to}\" as things are: confirm the steps that are under way, or plan again"
    )]
    NotLegal { vm: Arc<str>, to: Arc<str> },
    #[error("the cluster has changed since the plan was made: plan again")]
    Stale,
    #[error(transparent)]
    Place(#[from] PlaceError),
}

impl From<InventoryError> for BalanceError {
    fn from(error: InventoryError) -> Self {
        Self::Place(error.into())
    }
}

impl From<Refusal> for BalanceError {
    fn from(refusal: Refusal) -> Self {
        Self::Place(refusal.into())
    }
}

impl Scheduler {
    /// Begin a step of a plan at `now` (seconds): the VM gets its place reserved as
    /// by [`Scheduler::place`], and what goes with the move is written when it runs
    /// there. A step that leaves the VM on its host is done at once.
    ///
    /// # Errors
    /// If the cluster has changed so that the step is none any more, or is not legal.
    pub fn begin_move(&mut self, step: &PlannedMove, now: i64) -> Result<(), BalanceError> {
        self.inventory.advance(now);
        let before = self.inventory.version();
        let begun = self.begin(step, now);
        match begun {
            Ok(()) => self.cool_down.moved(&step.vm, now),
            Err(_) => {
                self.inventory.take_back(before);
            }
        }
        begun
    }

    fn begin(&mut self, step: &PlannedMove, now: i64) -> Result<(), BalanceError> {
        let PlannedMove { vm, from, to, .. } = step;
        let running = self.inventory.running(vm);
        let here = running.filter(|entry| self.inventory.slot(from) == Some(entry.slot));
        let Some(member) = here.map(|entry| entry.vm.clone()) else {
            return Err(BalanceError::Elsewhere {
                vm: vm.clone(),
                from: from.clone(),
            });
        };
        if self.inventory.pending(vm).is_some() {
            return Err(BalanceError::Pending(vm.clone()));
        }
        if from != to {
            self.check_legal(step, now)?;
            let expires = self.options.reservation;
            let expires = expires.map(|seconds| now.saturating_add(seconds));
            self.inventory.reserve_vm(member, to, expires)?;
        }
        self.inventory.apply(&step.changes)?;
        Ok(())
    }

    /// Whether the chain would still put the VM there, what goes with the move
    /// written.
    fn check_legal(&mut self, step: &PlannedMove, now: i64) -> Result<(), BalanceError> {
        let before = self.inventory.version();
        self.inventory.apply(&step.changes)?;
        let among: Vec<u32> = self.inventory.slot(&step.to).into_iter().collect();
        let weighed = pass::weigh(
            &self.inventory,
            &mut self.runner,
            &self.options,
            (self.next_number, now),
            &step.vm,
            &among,
        );
        self.inventory.take_back(before);
        let weighing = weighed?;
        let chosen = weighing.chosen.and_then(|slot| weighing.costs(slot));
        match chosen {
            Some(costs) if costs.first() != Some(&f64::INFINITY) => Ok(()),
            _ => Err(BalanceError::NotLegal {
                vm: step.vm.clone(),
                to: step.to.clone(),
            }),
        }
    }

    /// Begin the steps of a plan from the one numbered `first` on, in order, as many
    /// as are legal while those before are still under way. Gives the number of the
    /// next step: begin it when the ones before are confirmed.
    ///
    /// # Errors
    /// If not even the first of them can be begun.
    pub fn apply_balance(
        &mut self,
        plan: &BalancePlan,
        first: usize,
        now: i64,
    ) -> Result<usize, BalanceError> {
        for (number, step) in plan.moves.iter().enumerate().skip(first) {
            match self.begin_move(step, now) {
                Ok(()) => {}
                Err(error) if number == first => return Err(error),
                Err(_) => return Ok(number),
            }
        }
        Ok(plan.moves.len())
    }

    /// Carry out all steps of a plan at once, as if moves took no time: for documents
    /// and replays. What hosts measured of a VM goes with it.
    ///
    /// # Errors
    /// If the cluster has changed since the plan was made. Then nothing is done.
    pub fn carry_out(&mut self, plan: &BalancePlan) -> Result<(), BalanceError> {
        let before = self.inventory.version();
        if before != plan.inventory_version {
            return Err(BalanceError::Stale);
        }
        let carried = plan.moves.iter().try_for_each(|step| self.carry(step));
        match &carried {
            Ok(()) => {
                for step in &plan.moves {
                    self.cool_down.moved(&step.vm, plan.now);
                }
            }
            Err(_) => {
                self.inventory.take_back(before);
            }
        }
        carried
    }

    fn carry(&mut self, step: &PlannedMove) -> Result<(), BalanceError> {
        self.inventory.apply(&step.changes)?;
        match self.inventory.slot(&step.to) {
            Some(to) if step.from != step.to => {
                Ok(world::carry(&mut self.inventory, &step.vm, to)?)
            }
            _ => Ok(()),
        }
    }

    /// Give back the places of all steps that were begun and not confirmed yet, as if
    /// they had never been: what waited for them is forgotten. Gives how many.
    pub fn cancel_balance(&mut self, plan: &BalancePlan) -> usize {
        let mut cancelled = 0;
        for step in &plan.moves {
            let pending = self.inventory.pending(&step.vm);
            let there = pending.is_some_and(|it| self.inventory.slot(&step.to) == Some(it.slot));
            if there && self.inventory.cancel_vm(&step.vm).is_ok() {
                self.cool_down.forget(&step.vm);
                cancelled += 1;
            }
        }
        cancelled
    }
}
