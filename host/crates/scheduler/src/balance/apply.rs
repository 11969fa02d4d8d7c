//! A plan is begun, step by step or as far as it goes at once, or cancelled.

use std::sync::Arc;

use super::{BalancePlan, PlannedMove, pass, world};
use crate::{PlaceError, Scheduler, place};
use placewright_chain::DecisionError;
use placewright_inventory::InventoryError;
use placewright_model::{Departure, Request, Value, Write};

/// Why a step of a plan cannot be begun. Nothing was changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the sentence of each variant names its fields")]
pub enum BalanceError {
    #[error("VM \"{vm}\" does not run on host \"{from}\" any more: plan again")]
    Elsewhere { vm: Arc<str>, from: Arc<str> },
    #[error("host \"{0}\" is gone: plan again")]
    NoHost(Arc<str>),
    #[error("VM \"{0}\" has a place reserved already: confirm or cancel it first")]
    Pending(Arc<str>),
    #[error(
        "the policy would not put VM \"{vm}\" on host \"{to}\" as things are, which {why}: confirm the steps that are under way, or plan again"
    )]
    NotLegal {
        vm: Arc<str>,
        to: Arc<str>,
        /// Completes "host ...".
        why: String,
    },
    #[error("VM \"{vm}\" need not be moved any more: {why}")]
    Needless {
        vm: Arc<str>,
        /// A sentence without its full stop.
        why: String,
    },
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

impl From<DecisionError> for BalanceError {
    fn from(refusal: DecisionError) -> Self {
        Self::Place(refusal.into())
    }
}

/// Steps that are under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begun {
    /// Seconds after which the places end if nobody confirms them; None: they do not, or
    /// the VMs stay on their hosts and there is nothing to confirm.
    pub expires: Option<i64>,
}

impl Scheduler {
    /// Begin a step of a plan at `now` (seconds): the VM gets its place reserved as
    /// by [`Scheduler::place`], and what goes with the move is written when it runs
    /// there. A step that leaves the VM on its host is done at once.
    ///
    /// # Errors
    /// If the cluster has changed so that the step is none any more, or is not legal.
    pub fn begin_move(&mut self, step: &PlannedMove, now: i64) -> Result<(), BalanceError> {
        self.begin_together(&[step], now, None).map(|_| ())
    }

    /// The same for steps to one host that go together: all of them or none. Their places
    /// are reserved for so many seconds, or for good if there are none; None: as long as usual.
    ///
    /// # Errors
    /// As for [`Scheduler::begin_move`].
    pub fn begin_together(
        &mut self,
        steps: &[&PlannedMove],
        now: i64,
        reserve_for: Option<i64>,
    ) -> Result<Begun, BalanceError> {
        self.inventory.advance(now);
        let transaction = self.inventory.begin();
        let begun = self.begin(steps, now, reserve_for);
        match begun {
            Ok(_) => {
                self.inventory.commit(transaction);
                for step in steps {
                    self.cool_down.moved(&step.vm, now);
                }
            }
            Err(_) => self.inventory.roll_back(transaction),
        }
        begun
    }

    fn begin(
        &mut self,
        steps: &[&PlannedMove],
        now: i64,
        reserve_for: Option<i64>,
    ) -> Result<Begun, BalanceError> {
        for PlannedMove { vm, from, to, .. } in steps {
            let slot = self.inventory.slot(from);
            let running = self.inventory.running(vm).map(|entry| entry.slot);
            if slot.is_none() || running != slot {
                return Err(BalanceError::Elsewhere {
                    vm: vm.clone(),
                    from: from.clone(),
                });
            }
            if self.inventory.pending(vm).is_some() {
                return Err(BalanceError::Pending(vm.clone()));
            }
            if from != to && self.inventory.departure(vm) == Some(Departure::Barred) {
                return Err(BalanceError::from(PlaceError::NotMigratable {
                    vm: vm.clone(),
                    host: from.clone(),
                }));
            }
        }
        if let Some(why) = self.why_needless(steps) {
            let vm = steps.first().map(|step| step.vm.clone());
            return Err(BalanceError::Needless {
                vm: vm.unwrap_or_default(),
                why,
            });
        }
        let mut expires = None;
        let mut follows = None;
        if let Some(step) = steps.iter().find(|step| step.from != step.to) {
            follows = Some(self.check_legal(steps, &step.to, now)?);
            let seconds = match reserve_for {
                Some(seconds) => Some(seconds).filter(|seconds| *seconds > 0),
                None => self.options.reservation,
            };
            expires = seconds.map(|seconds| now.saturating_add(seconds));
            for step in steps {
                let running = self.inventory.running(&step.vm);
                if let Some(member) = running.map(|entry| entry.vm.clone()) {
                    self.inventory.reserve_vm(member, &step.to, expires)?;
                }
            }
        }
        match follows {
            Some(writes) => self.inventory.apply(&writes)?,
            None => {
                for step in steps {
                    self.inventory.apply(&step.changes)?;
                }
            }
        }
        Ok(Begun { expires })
    }

    /// Whether the chain would still put the VMs there, what the balance unit wants of the
    /// moves written; gives that, and what the policy's effects have follow as things are.
    fn check_legal(
        &mut self,
        steps: &[&PlannedMove],
        to: &Arc<str>,
        now: i64,
    ) -> Result<Vec<Write>, BalanceError> {
        let Some(slot) = self.inventory.slot(to) else {
            return Err(BalanceError::NoHost(to.clone()));
        };
        // What is written is to be weighed, and not to stay.
        let transaction = self.inventory.begin();
        let weighed = self.weigh_moves(steps, (to, slot), now);
        self.inventory.roll_back(transaction);
        weighed
    }

    fn weigh_moves(
        &mut self,
        steps: &[&PlannedMove],
        (to, slot): (&Arc<str>, u32),
        now: i64,
    ) -> Result<Vec<Write>, BalanceError> {
        let proposed = steps.iter().flat_map(|step| step.proposed_changes());
        let mut writes: Vec<Write> = proposed.cloned().collect();
        self.inventory.apply(&writes)?;
        let vms: Vec<&Arc<str>> = steps.iter().map(|step| &step.vm).collect();
        let request = pass::of_running(&self.inventory, &vms, now)?;
        let draw = place::draw(&self.options, &request, self.next_number)?;
        let (inventory, runner) = (&self.inventory, &mut self.runner);
        let weighing = runner.weigh(inventory, &request, draw, &[slot])?;
        let chosen = weighing.chosen.and_then(|slot| weighing.costs(slot));
        let is_legal = chosen.is_some_and(|costs| costs.first() != Some(&f64::INFINITY));
        match is_legal {
            true => {
                let followed = runner.follow(inventory, &request, draw, slot)?;
                writes.extend(followed.into_iter().flat_map(|it| it.writes));
                Ok(writes)
            }
            false => Err(BalanceError::NotLegal {
                vm: vms[0].clone(),
                to: to.clone(),
                why: self.why_not(&request, to, draw)?,
            }),
        }
    }

    /// Why the chain would not put the VMs there; completes "host ...".
    fn why_not(
        &mut self,
        request: &Request,
        to: &Arc<str>,
        draw: f64,
    ) -> Result<String, BalanceError> {
        let slot = self.inventory.slot(to);
        if let Some(slot) = slot.filter(|slot| !self.inventory.is_up(*slot))
            && let Some(Value::Text(state)) = self.inventory.host_value(slot, "state")
        {
            return Ok(format!("is not up: its state is {state}"));
        }
        let request = Request {
            allowed: vec![to.clone()],
            ..request.clone()
        };
        let decided = self.runner.decide(&self.inventory, &request, draw)?;
        Ok(match decided.removed.first() {
            Some(removed) => format!("{} ({})", removed.reason, removed.filter),
            None => "costs infinitely much, or more than another".to_owned(),
        })
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
        if self.inventory.version() != plan.inventory_version {
            return Err(BalanceError::Stale);
        }
        let transaction = self.inventory.begin();
        let carried = plan.moves.iter().try_for_each(|step| self.carry(step));
        match &carried {
            Ok(()) => {
                self.inventory.commit(transaction);
                for step in &plan.moves {
                    self.cool_down.moved(&step.vm, plan.now);
                }
            }
            Err(_) => self.inventory.roll_back(transaction),
        }
        carried
    }

    fn carry(&mut self, step: &PlannedMove) -> Result<(), BalanceError> {
        let running = self.inventory.running(&step.vm);
        let moved = running.map(|entry| entry.vm.clone());
        let (proposed, followed) = step.changes.split_at(step.proposed_changes().len());
        self.inventory.apply(proposed)?;
        if let Some(vm) = moved.filter(|_| !followed.is_empty()) {
            // What follows from the placement is written of the place there.
            self.inventory.reserve_vm(vm, &step.to, None)?;
        }
        self.inventory.apply(followed)?;
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
        self.cancel_moves(&plan.moves)
    }

    /// The same of some steps.
    pub fn cancel_moves<'m>(&mut self, moves: impl IntoIterator<Item = &'m PlannedMove>) -> usize {
        let mut cancelled = 0;
        for step in moves {
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
