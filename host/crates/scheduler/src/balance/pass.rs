//! One pass: a plan is made on the inventory, and what it tries is taken back.

use std::sync::Arc;

use super::relocate::is_answer;
use super::{
    BalanceOptions, BalancePlan, Cause, MoveError, Origin, PlannedMove, RefusedMove, gain, world,
};
use crate::balance::CoolDown;
use crate::{PlaceError, Scheduler, SchedulerOptions, needs, place, tenant, zone};
use placewright_chain::{Proposed, Runner};
use placewright_inventory::{Inventory, InventoryError};
use placewright_model::{Departure, Request, Vm, Write};

/// A plan in the making.
pub(super) struct Pass<'a> {
    /// The cluster as it would be. Changes of the inventory itself, so that what is cached of the
    /// hosts that are left alone goes on to hold.
    pub(super) world: &'a mut Inventory,
    pub(super) runner: &'a mut Runner,
    pub(super) scheduling: &'a SchedulerOptions,
    pub(super) options: &'a BalanceOptions,
    pub(super) cool_down: CoolDown,
    /// The slots of the hosts that all VMs are to leave.
    pub(super) emptied: Vec<u32>,
    /// The number that draws derive from: of the next decision.
    pub(super) number: u64,
    /// Whether the policy's balance unit was asked.
    asked: bool,
    pub(super) plan: BalancePlan,
}

/// A move that a unit proposes.
struct Proposal {
    vm: Arc<str>,
    from: u32,
    among: Vec<Arc<str>>,
    accept: Vec<Arc<str>>,
    writes: Vec<Write>,
    reason: String,
}

impl<'a> Pass<'a> {
    /// Make a plan, and leave the scheduler's inventory as it was.
    pub(super) fn of(
        scheduler: &'a mut Scheduler,
        now: i64,
        options: &BalanceOptions,
        make: impl FnOnce(Pass<'_>) -> Result<BalancePlan, PlaceError>,
    ) -> Result<BalancePlan, PlaceError> {
        let transaction = scheduler.inventory.begin();
        let plan = make(Pass::new(scheduler, now, options));
        scheduler.inventory.roll_back(transaction);
        plan
    }

    fn new(scheduler: &'a mut Scheduler, now: i64, options: &'a BalanceOptions) -> Self {
        scheduler.cool_down.let_go(now, options.cool_down);
        let version = scheduler.inventory.version();
        Self {
            cool_down: scheduler.cool_down.clone(),
            emptied: Vec::new(),
            number: scheduler.next_number,
            asked: false,
            world: &mut scheduler.inventory,
            runner: &mut scheduler.runner,
            scheduling: &scheduler.options,
            options,
            plan: BalancePlan {
                now,
                inventory_version: version,
                origin: Origin::Balance,
                moves: Vec::new(),
                notes: Vec::new(),
                stuck: Vec::new(),
                reserved: Vec::new(),
                refused: Vec::new(),
                reasons: Vec::new(),
                cut_short: false,
            },
        }
    }

    /// Step by step, until the unit proposes nothing that is done.
    pub(super) fn plan(mut self) -> Result<BalancePlan, PlaceError> {
        if self.options.repairs {
            self.repair()?;
        }
        while self.plan.moves.len() < self.options.moves {
            if !self.step()? {
                if self.plan.moves.is_empty() {
                    self.give_reasons();
                }
                return Ok(self.plan);
            }
        }
        self.plan.cut_short = true;
        Ok(self.plan)
    }

    /// One more step, if there is one. Only one: what the unit proposes next, it
    /// proposes for the cluster after it.
    fn step(&mut self) -> Result<bool, PlaceError> {
        self.scheduling.cancel.check()?;
        let (now, limit) = (self.plan.now, self.scheduling.chain_limit);
        let proposals = self.runner.chain().balance(self.world, now, limit)?;
        let first = !std::mem::replace(&mut self.asked, true);
        let mut moves = Vec::new();
        for proposed in proposals {
            match proposed {
                Proposed::Move { .. } => moves.extend(self.proposal(proposed)),
                note if first => self.plan.notes.push(note),
                _ => {}
            }
        }
        for proposal in moves {
            let (vm, from) = (proposal.vm.clone(), self.host_id(proposal.from));
            match self.follow(proposal)? {
                Ok(step) => {
                    self.cool_down.moved(&step.vm, now);
                    self.plan.moves.push(step);
                    return Ok(true);
                }
                Err(because) => self.plan.refused.push(RefusedMove {
                    after: self.plan.moves.len(),
                    vm,
                    from,
                    because,
                }),
            }
        }
        Ok(false)
    }

    fn proposal(&self, proposed: Proposed) -> Option<Proposal> {
        let Proposed::Move {
            vm,
            from,
            among,
            accept,
            writes,
            reason,
        } = proposed
        else {
            return None;
        };
        Some(Proposal {
            from: self.world.slot(&from)?,
            vm,
            among,
            accept,
            writes,
            reason,
        })
    }

    /// Make the move in the copy, if the chain would and its cost falls; else leave
    /// everything as it is.
    fn follow(&mut self, proposal: Proposal) -> Result<Result<PlannedMove, MoveError>, PlaceError> {
        let transaction = self.world.begin();
        let outcome = self.make(proposal);
        match outcome {
            Ok(Ok(_)) => self.world.commit(transaction),
            _ => self.world.roll_back(transaction),
        }
        outcome
    }

    fn make(&mut self, proposal: Proposal) -> Result<Result<PlannedMove, MoveError>, PlaceError> {
        let Proposal { vm, from, .. } = &proposal;
        let (seconds, now) = (self.options.cool_down, self.plan.now);
        if self.cool_down.holds(vm, now, seconds) {
            return Ok(Err(MoveError::Cooling));
        }
        if self.world.pending(vm).is_some() || self.world.running(vm).is_none() {
            return Ok(Err(MoveError::OnTheMove));
        }
        if let Some(unheeded) = self.unheeded(vm)? {
            return Ok(Err(unheeded));
        }
        let among = self.slots(&proposal.among);
        let accept = self.slots(&proposal.accept);
        let mut weighing = self.weigh(vm, &among)?;
        let before = weighing.costs(*from).map(<[f64]>::to_vec);
        if !proposal.writes.is_empty() {
            if let Err(error) = self.world.apply(&proposal.writes) {
                return Ok(Err(MoveError::Writes(error.to_string())));
            }
            weighing = self.weigh(vm, &among)?;
        }
        let Some(to) = weighing.chosen else {
            return Ok(Err(MoveError::NoHost));
        };
        if !accept.is_empty() && !accept.contains(&to) {
            return Ok(Err(match to == *from {
                true => MoveError::Stays,
                false => MoveError::OtherHost(self.host_id(to)),
            }));
        }
        if to == *from && proposal.writes.is_empty() {
            return Ok(Err(MoveError::Stays));
        }
        let decided = weighing.costs(to).map(<[f64]>::to_vec);
        let measured = self.measured(*from);
        let mut changes = proposal.writes.clone();
        let proposed = changes.len();
        let live = self.world.moves_live(vm);
        if to != *from && self.world.departure(vm) == Some(Departure::Barred) {
            return Ok(Err(MoveError::NotMigratable));
        }
        if to != *from {
            let followed = match self.follow_effects(vm, to) {
                Ok(followed) => followed,
                Err(error) if is_answer(&error) => {
                    return Ok(Err(MoveError::Undecided(error.to_string())));
                }
                Err(error) => return Err(error),
            };
            if let Err(error) = self.write_followed(vm, to, &followed) {
                return Ok(Err(MoveError::Writes(error.to_string())));
            }
            changes.extend(followed);
            world::carry(self.world, vm, to)?;
            weighing = self.weigh(vm, &[])?;
        }
        // Before and after, the VM is judged where it then runs, so that neither side is
        // favoured. Filters have had their say when it was placed.
        let after = weighing.costs(to).map(<[f64]>::to_vec).or(decided);
        let after = after.unwrap_or_default();
        if !gain::falls(before.as_deref(), &after, self.options.margin) {
            return Ok(Err(MoveError::NoGain));
        }
        let from = self.host_id(*from);
        Ok(Ok(PlannedMove {
            reason: format!("host {from} {}{measured}", proposal.reason),
            from,
            to: self.host_id(to),
            live,
            vm: proposal.vm,
            together: Vec::new(),
            cause: Cause::Balance,
            group: None,
            cost_before: before,
            cost_after: after,
            changes,
            proposed,
        }))
    }

    /// What the policy's effects have follow if the VM moves to the host in the slot `to`.
    fn follow_effects(&mut self, vm: &Arc<str>, to: u32) -> Result<Vec<Write>, PlaceError> {
        let request = of_running(self.world, &[vm], self.plan.now)?;
        let draw = place::draw(self.scheduling, &request, self.number)?;
        let followed = self.runner.follow(self.world, &request, draw, to)?;
        Ok(followed.into_iter().flat_map(|it| it.writes).collect())
    }

    /// Write it of the place that the VM has there.
    fn write_followed(
        &mut self,
        vm: &Arc<str>,
        to: u32,
        followed: &[Write],
    ) -> Result<(), InventoryError> {
        let running = self.world.running(vm).map(|entry| entry.vm.clone());
        let (Some(running), false) = (running, followed.is_empty()) else {
            return Ok(());
        };
        let host = self.host_id(to);
        self.world.reserve_vm(running, &host, None)?;
        self.world.apply(followed)
    }

    /// That the VM has needs which no filter checks and the policy refuses.
    fn unheeded(&self, vm: &Arc<str>) -> Result<Option<MoveError>, PlaceError> {
        let request = of_running(self.world, &[vm], self.plan.now)?;
        let chain = self.runner.chain();
        match needs::unheeded(chain, self.scheduling, self.world, &request) {
            Ok(_) => Ok(None),
            Err(error @ PlaceError::Unheeded(_)) => {
                Ok(Some(MoveError::Unheeded(error.to_string())))
            }
            Err(error) => Err(error),
        }
    }

    fn weigh(
        &mut self,
        vm: &Arc<str>,
        among: &[u32],
    ) -> Result<placewright_chain::Weighing, PlaceError> {
        weigh(
            self.world,
            self.runner,
            self.scheduling,
            (self.number, self.plan.now),
            &[vm],
            among,
        )
    }

    fn slots(&self, hosts: &[Arc<str>]) -> Vec<u32> {
        hosts.iter().filter_map(|id| self.world.slot(id)).collect()
    }

    pub(super) fn host_id(&self, slot: u32) -> Arc<str> {
        let host = self.world.host(slot);
        host.map_or_else(|| "".into(), |host| host.id.clone())
    }
}

/// What VMs that run cost together on every host, and which of the hosts in the slots
/// `among` the chain would take.
pub(super) fn weigh(
    inventory: &Inventory,
    runner: &mut Runner,
    options: &SchedulerOptions,
    (number, now): (u64, i64),
    vms: &[&Arc<str>],
    among: &[u32],
) -> Result<placewright_chain::Weighing, PlaceError> {
    options.cancel.check()?;
    let request = of_running(inventory, vms, now)?;
    let draw = place::draw(options, &request, number)?;
    Ok(runner.weigh(inventory, &request, draw, among)?)
}

/// What a request is, by its column `kind`, for VMs whose hosts are down or in error.
pub(crate) const RESTART: &str = "restart";

/// A request for VMs that run: a restart if their hosts are down or in error, for the tenant that
/// they all have, if they have one, and in the availability zone that they belong to.
///
/// # Errors
/// If they belong to several zones.
pub(super) fn of_running(
    inventory: &Inventory,
    vms: &[&Arc<str>],
    now: i64,
) -> Result<Request, PlaceError> {
    let members = vms.iter().map(|vm| {
        let mut member = Vm::new((*vm).clone());
        place::known(inventory, &mut member, &[]);
        member
    });
    let mut request = Request {
        members: members.collect(),
        now,
        ..Request::default()
    };
    let is_lost = |vm: &&Arc<str>| {
        let running = inventory.running(vm);
        running.is_some_and(|entry| inventory.is_lost(entry.slot))
    };
    if !vms.is_empty() && vms.iter().all(is_lost) {
        // The room that a policy reserves for failures is for these.
        request.facts.set("kind", RESTART);
    }
    tenant::agree(&mut request);
    zone::agree(&mut request)?;
    Ok(request)
}
