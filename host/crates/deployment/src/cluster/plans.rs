//! Plans of moves: made, looked at, begun step by step, or cancelled.

mod auto;
mod kept;
mod restarting;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::restarts::{Closed, Gate};
use super::{ClusterState, RESTART, durable};
use crate::DeploymentError;
use crate::balancing::PERIODIC;
use crate::events::{EventKind, News};
use auto::Auto;
use kept::KeptPlan;
pub use kept::{MoveAt, MoveCounts, MoveState, PlanShown};
use placewright_inventory::Inventory;
use placewright_model::budget::{Collection, Full};
use placewright_scheduler::questions::Restart;
use placewright_scheduler::{
    BalanceError, BalanceOptions, BalancePlan, Cancel, PlaceError, Scheduler,
};
use placewright_store::Change;

/// So many plans of a cluster are remembered, if no more than these are under way.
const MOST: usize = 32;

/// How many moves of a plan may be under way at once if nobody says.
pub const USUAL_IN_FLIGHT: usize = 8;

/// The plans of a cluster.
#[derive(Debug, Default)]
pub(super) struct Plans {
    /// The number of the last one; 0 before the first.
    last: u64,
    plans: BTreeMap<u64, KeptPlan>,
    /// The states of their moves as they were counted last.
    counted: BTreeMap<u64, Vec<MoveState>>,
    /// The numbers of those with moves under way.
    under_way: BTreeSet<u64>,
    /// What each of them takes in the store, and in memory about as much.
    bytes: BTreeMap<u64, u64>,
    /// Whether something has become of moves since plans last went on by themselves.
    due: bool,
}

/// Which moves of a plan are begun.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Begin {
    /// The moves that are meant; None: all, in order.
    pub moves: Option<Vec<MoveNamed>>,
    /// How many moves of the plan may be under way at once; None: as the plan says.
    pub max_in_flight: Option<usize>,
    /// Seconds for which their places are reserved; None: as long as usual.
    pub reserve_for: Option<i64>,
    /// Whether more of these moves are begun when one of them is confirmed; None: as it is.
    pub auto: Option<bool>,
}

/// A move of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(
    untagged,
    expecting = "the number of a step, or the id of a VM in quotation marks"
)]
pub enum MoveNamed {
    /// By its step, counted from 1.
    Step(usize),
    /// By the id of its VM: the first that is not confirmed.
    Vm(String),
}

impl ClusterState {
    /// What makes a plan. It is made on a copy by the caller's thread, so that the
    /// cluster goes on deciding.
    ///
    /// # Errors
    /// If no policy can run.
    pub fn planner(&mut self) -> Result<Planner, DeploymentError> {
        self.must_decide()?;
        let now = self.advance();
        Ok(Planner {
            scheduler: self.scheduler.copy(),
            now,
        })
    }

    /// Remember a plan, to be begun or cancelled. At most so many of its moves are to be
    /// under way at once; None: any number.
    ///
    /// # Errors
    /// If there is no room for it beside those that are under way; then nothing has changed.
    pub fn remember_plan(
        &mut self,
        plan: BalancePlan,
        max_in_flight: Option<usize>,
    ) -> Result<PlanShown, DeploymentError> {
        let kept = self.new_plan(plan, max_in_flight);
        let body = durable::json(&kept);
        self.make_room_for(body.len() as u64)?;
        Ok(self.put_plan(kept, body))
    }

    /// The same for a plan that restarts VMs: those do not wait for others, whatever room there is.
    pub(super) fn remember_restarts(
        &mut self,
        plan: BalancePlan,
        max_in_flight: Option<usize>,
    ) -> PlanShown {
        let kept = self.new_plan(plan, max_in_flight);
        let body = durable::json(&kept);
        if let Err(error) = self.make_room_for(body.len() as u64) {
            tracing::warn!(cluster = %self.name, %error, "restarts are planned all the same");
        }
        self.put_plan(kept, body)
    }

    fn new_plan(&self, plan: BalancePlan, max_in_flight: Option<usize>) -> KeptPlan {
        let mut kept = KeptPlan::new(plan, max_in_flight);
        kept.by = Some(self.by.clone());
        kept
    }

    /// Remove the oldest plans until a plan of so many bytes fits beside the others. Plans with
    /// moves under way, and automatic ones, stay.
    ///
    /// # Errors
    /// If it does not fit beside those that stay; then nothing is removed.
    pub(crate) fn make_room_for(&mut self, bytes: u64) -> Result<(), DeploymentError> {
        self.follow_plans();
        let plans = &self.plans;
        let (mut count, mut wanted) = (plans.plans.len() + 1, plans.bytes() + bytes);
        let bound = Collection::Plans.bound();
        let may_go = |(number, kept): &(&u64, &KeptPlan)| {
            !plans.under_way.contains(number) && (kept.auto.is_none() || kept.cancelled)
        };
        let mut going = Vec::new();
        for (number, _) in plans.plans.iter().filter(may_go) {
            if count <= MOST && wanted <= bound {
                break;
            }
            count -= 1;
            wanted -= plans.bytes.get(number).copied().unwrap_or_default();
            going.push(*number);
        }
        Full::check(Collection::Plans, &self.name, wanted, bound)?;
        if count > MOST {
            let sentence = format!(
                "{MOST} plans of cluster \"{}\" are under way or go on by themselves: cancel one, or wait until one has ended",
                self.name
            );
            return Err(DeploymentError::Busy(sentence));
        }
        for number in going {
            self.plans.forget(number);
            self.changes.push(Change::RemovePlan {
                cluster: self.name.to_string(),
                number,
            });
        }
        Ok(())
    }

    /// Bytes that its plans take.
    pub(crate) fn plan_bytes(&self) -> u64 {
        self.plans.bytes()
    }

    /// Add a plan; `body` is how it is stored.
    fn put_plan(&mut self, kept: KeptPlan, body: String) -> PlanShown {
        let plans = &mut self.plans;
        plans.last += 1;
        let number = plans.last;
        let told = kept.shown(Some(number));
        plans.plans.insert(number, kept);
        self.store_plan(number, body);
        let message = format!(
            "plan {number} is made, nothing of it is begun; moves: {}, findings: {}, VMs that cannot leave their hosts: {}",
            told.moves.len(),
            told.told.notes.len(),
            told.told.stuck.len()
        );
        self.tell_plan((EventKind::PlanMade, true), number, message);
        told
    }

    /// Tell of a plan when it is kept, and whether nothing but the plan itself is different for it.
    fn tell_plan(
        &mut self,
        (kind, has_changed_nothing): (EventKind, bool),
        number: u64,
        message: String,
    ) {
        self.tell_when_kept(News {
            kind,
            plan: Some(number),
            policy: Some(self.attached.policy.clone()),
            message,
            has_changed_nothing,
            ..News::default()
        });
    }

    /// Have a plan kept as it is now.
    fn keep_plan(&mut self, number: u64) {
        if let Some(body) = self.plans.plans.get(&number).map(durable::json) {
            self.store_plan(number, body);
        }
    }

    fn store_plan(&mut self, number: u64, body: String) {
        self.count_moves(number);
        self.plans.bytes.insert(number, body.len() as u64);
        self.changes.push(Change::PutPlan {
            cluster: self.name.to_string(),
            number,
            body,
        });
    }

    /// Have an automatic plan begin nothing more by itself, and tell why.
    fn halt_plan(&mut self, number: u64, why: &str) {
        if let Some(kept) = self.plans.plans.get_mut(&number) {
            kept.auto = None;
        }
        self.keep_plan(number);
        let message = format!("plan {number} does not go on by itself any more: {why}");
        self.tell_plan((EventKind::PlanHalted, false), number, message);
    }

    /// Count what has become of the moves of a plan since they were counted last.
    fn count_moves(&mut self, number: u64) {
        let Some(kept) = self.plans.plans.get(&number) else {
            return;
        };
        let restarts = kept.restarts;
        let counted = self.plans.counted.entry(number).or_default();
        counted.resize(kept.plan.moves.len(), MoveState::Planned);
        for (counted, state) in counted.iter_mut().zip(kept.states()) {
            if *counted != state {
                *counted = state;
                if let Some(change) = state.change() {
                    self.meter.moved(change);
                    if restarts {
                        self.meter.restarted(change);
                    }
                }
            }
        }
    }

    /// Have all plans kept.
    pub(super) fn keep_plans(&mut self) {
        let numbers: Vec<u64> = self.plans.plans.keys().copied().collect();
        for number in numbers {
            self.keep_plan(number);
        }
    }

    /// A plan as it was kept.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn restore_plan(&mut self, number: u64, body: &str) -> serde_json::Result<()> {
        let kept: KeptPlan = serde_json::from_str(body)?;
        if kept.counts().begun > 0 {
            self.plans.under_way.insert(number);
        }
        // What became of them before was counted then.
        self.plans.counted.insert(number, kept.states().collect());
        self.plans.bytes.insert(number, body.len() as u64);
        self.plans.plans.insert(number, kept);
        Ok(())
    }

    /// Remember a plan that was made without being asked for, unless the last one is like
    /// it and nothing of it was begun: then that one is only said to hold still. Gives the
    /// new one.
    ///
    /// # Errors
    /// If there is no room for it.
    pub fn remember_if_new(
        &mut self,
        plan: BalancePlan,
    ) -> Result<Option<PlanShown>, DeploymentError> {
        let last = self.plans.plans.iter_mut().next_back();
        if let Some((number, last)) = last.filter(|(_, last)| last.still_says(&plan)) {
            last.checked = plan.now;
            let number = *number;
            self.keep_plan(number);
            return Ok(None);
        }
        self.remember_plan(plan, Some(USUAL_IN_FLIGHT)).map(Some)
    }

    /// The plans that are remembered, oldest first.
    pub fn plans(&mut self) -> Vec<PlanShown> {
        self.advance();
        self.follow_plans();
        let plans = self.plans.plans.iter();
        plans
            .map(|(number, kept)| kept.shown(Some(*number)))
            .collect()
    }

    /// A plan.
    ///
    /// # Errors
    /// If there is no such plan.
    pub fn plan(&mut self, number: u64) -> Result<PlanShown, DeploymentError> {
        self.advance();
        self.follow_plans();
        let kept = self.plans.plans.get(&number);
        let kept = kept.ok_or_else(|| no_plan(number))?;
        Ok(kept.shown(Some(number)))
    }

    /// Whether nothing but the plan itself would be different if it were cancelled.
    pub fn is_plan_idle(&self, number: u64) -> bool {
        let kept = self.plans.plans.get(&number);
        kept.is_some_and(KeptPlan::is_idle)
    }

    /// Begin moves of a plan: all in order, or those that are named, as many as may be under
    /// way at once. Each is held against the policy as things are. One that cannot be begun yet
    /// says what it waits for, and holds up only those that need it.
    ///
    /// # Errors
    /// If there is no such plan or move, it was cancelled, or a unit fails that the policy
    /// cannot do without before anything is begun.
    pub fn begin_plan(&mut self, number: u64, begin: &Begin) -> Result<PlanShown, DeploymentError> {
        self.must_decide()?;
        let now = self.advance();
        self.follow_plans();
        self.check_duration(begin.reserve_for)?;
        let gate = self.gate(number);
        let Some(kept) = self.plans.plans.get_mut(&number) else {
            return Err(no_plan(number));
        };
        if kept.cancelled {
            return Err(DeploymentError::Refused(format!(
                "plan {number} was cancelled: plan again"
            )));
        }
        let cancel = Cancel::default().within(self.turn).when(&self.cut_off);
        let before = (kept.counts(), kept.auto.clone());
        begin_moves(
            &mut self.scheduler,
            kept,
            (begin, true),
            (now, &self.by, &cancel),
            &gate,
        )?;
        if let Some(auto) = begin.auto {
            // Where all moves turn out to be stale, there is nothing to go on with.
            kept.auto = (auto && kept.is_open()).then(|| Auto::new(begin, &self.by));
        }
        if kept.counts().begun > 0 {
            self.plans.under_way.insert(number);
        }
        let is_as_before = before == (kept.counts(), kept.auto.clone());
        let told = kept.shown(Some(number));
        let waiting = match kept.waiting() {
            Some((1, why)) => format!("; 1 waits: {why}"),
            Some((moves, why)) => format!("; {moves} wait, the first one because: {why}"),
            None => String::new(),
        };
        let message = format!(
            "of the {} moves of plan {number}, {} are under way and {} done{waiting}",
            told.moves.len(),
            told.counted.begun,
            told.counted.confirmed
        );
        self.keep_plan(number);
        self.tell_plan((EventKind::PlanBegun, is_as_before), number, message);
        if begin.auto == Some(false) {
            self.stop_restarts_of(number);
        }
        Ok(told)
    }

    /// Give back the places of the moves that were begun and are not confirmed. Gives
    /// the plan as it is then.
    ///
    /// # Errors
    /// If there is no such plan.
    pub fn cancel_plan(&mut self, number: u64) -> Result<PlanShown, DeploymentError> {
        let now = self.advance();
        self.follow_plans();
        let Some(kept) = self.plans.plans.get(&number) else {
            return Err(no_plan(number));
        };
        let is_idle = kept.is_idle();
        let released = kept.under_way().filter_map(|it| self.released(&it.vm, now));
        let released: Vec<_> = released.collect();
        let Some(kept) = self.plans.plans.get_mut(&number) else {
            return Err(no_plan(number));
        };
        self.scheduler.cancel_moves(kept.under_way());
        kept.cancel(now);
        let told = kept.shown(Some(number));
        for (vm, ended) in released {
            self.note_end(vm, ended);
        }
        self.plans.under_way.remove(&number);
        self.keep_plan(number);
        let message = format!("plan {number} was cancelled: nothing more of it is begun");
        self.tell_plan((EventKind::PlanCancelled, is_idle), number, message);
        self.stop_restarts_of(number);
        Ok(told)
    }

    /// Take note of what has become of the moves that are under way.
    pub(super) fn follow_plans(&mut self) {
        if self.plans.under_way.is_empty() {
            return;
        }
        let inventory = self.scheduler.inventory();
        let mut changed = Vec::new();
        let plans = &mut self.plans.plans;
        self.plans.under_way.retain(|number| {
            plans.get_mut(number).is_some_and(|kept| {
                if kept.follow(inventory) {
                    changed.push(*number);
                }
                kept.counts().begun > 0
            })
        });
        self.plans.due |= !changed.is_empty();
        for number in changed {
            self.keep_plan(number);
        }
    }
}

impl ClusterState {
    /// Take note of what has become of the moves that are under way, and begin the next ones
    /// of plans that go on by themselves, where moves were confirmed.
    pub(super) fn continue_plans(&mut self) {
        self.follow_plans();
        if self.broken.is_some() || !std::mem::take(&mut self.plans.due) {
            return;
        }
        self.plans.share_restarts();
        let plans = self.plans.plans.iter_mut();
        let due: Vec<_> = plans
            .filter_map(|(number, kept)| Some((*number, kept.take_due()?)))
            .collect();
        for (number, (auto, again)) in due {
            self.continue_plan(number, &auto, again);
        }
    }

    fn continue_plan(&mut self, number: u64, auto: &Auto, again: bool) {
        let now = self.inventory().clock();
        let gate = self.gate(number);
        let Some(kept) = self.plans.plans.get_mut(&number) else {
            return;
        };
        let restarts = kept.restarts && &*auto.by == RESTART;
        let is_allowed =
            restarts || &*auto.by == PERIODIC || (self.authority)(&auto.by, &self.name);
        if !is_allowed {
            let why = format!(
                "\"{}\", who had it do so, may not operate here now",
                auto.by
            );
            return self.halt_plan(number, &why);
        }
        let before = kept.counts();
        // Moves of the request that are gone, or a unit that fails now, end nothing: there is
        // another try with the next confirmation.
        let cancel = Cancel::default().within(self.turn).when(&self.cut_off);
        let (scheduler, begin) = (&mut self.scheduler, auto.begin());
        if let Err(error) = begin_moves(
            scheduler,
            kept,
            (&begin, again),
            (now, &auto.by, &cancel),
            &gate,
        ) {
            tracing::warn!(cluster = %self.name, plan = number, %error, "the plan does not continue");
            if restarts {
                let message = format!(
                    "restarts of plan {number} do not begin, and it is tried again: {error}"
                );
                self.tell_plan((EventKind::RestartFailed, false), number, message);
            }
            return;
        }
        let counted = kept.counts();
        let is_over = !kept.is_open();
        // No confirmation would have it go on.
        if !again && !restarts && !is_over && counted.begun == 0 {
            let why = "the moves that were begun have expired, and none is under way";
            return self.halt_plan(number, why);
        }
        if is_over {
            kept.auto = None;
        }
        if counted == before && !is_over {
            return;
        }
        let moves = kept.shown(None).moves.len();
        if counted.begun > 0 {
            self.plans.under_way.insert(number);
        }
        self.keep_plan(number);
        let stale = match counted.stale {
            0 => String::new(),
            stale => format!(", and {stale} are stale"),
        };
        let (kind, went_on) = match is_over {
            true => (EventKind::PlanEnded, "has ended"),
            false if restarts => (EventKind::RestartBegun, "restarts VMs"),
            false => (EventKind::PlanBegun, "went on"),
        };
        self.tell_when_kept(News {
            kind,
            plan: Some(number),
            policy: Some(self.attached.policy.clone()),
            by: Some(auto.by.clone()),
            message: format!(
                "plan {number} {went_on}: of its {moves} moves, {} are under way and {} done{stale}",
                counted.begun, counted.confirmed
            ),
            ..News::default()
        });
    }

    /// Plans that go on by themselves look at their moves again: there may be no reason for
    /// them any more, or what they waited for has come.
    pub(super) fn look_at_plans_again(&mut self) {
        for kept in self.plans.plans.values_mut() {
            self.plans.due |= kept.look_again();
        }
    }
}

impl Plans {
    /// What all of them take.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.values().sum()
    }

    fn forget(&mut self, number: u64) {
        self.plans.remove(&number);
        self.under_way.remove(&number);
        self.counted.remove(&number);
        self.bytes.remove(&number);
    }

    /// The number that the next plan has.
    pub(super) fn next(&self) -> u64 {
        self.last + 1
    }

    /// The next plan has this number.
    pub(super) fn resume(&mut self, next: u64) {
        self.last = next.saturating_sub(1);
    }
}

/// Begin what is to be begun, with moves that have expired or without.
fn begin_moves(
    scheduler: &mut Scheduler,
    kept: &mut KeptPlan,
    (begin, again): (&Begin, bool),
    (now, by, cancel): (i64, &Arc<str>, &Cancel),
    gate: &Gate,
) -> Result<(), DeploymentError> {
    let named = begin.moves.as_ref().map(|moves| kept.places(moves));
    let named = named.transpose()?;
    let most = begin.max_in_flight.or(kept.max_in_flight);
    let most = most.unwrap_or(usize::MAX);
    let mut any = false;
    for place in named
        .clone()
        .unwrap_or_else(|| (0..kept.plan.moves.len()).collect())
    {
        if !kept.may_begin(place, named.is_some(), again) {
            continue;
        }
        let together = kept.together(place);
        let planned = together.iter().map(|place| &kept.plan.moves[*place]);
        let closed = planned.map(|it| gate.check(scheduler.inventory(), it, now));
        match closed.collect::<Result<Vec<()>, Closed>>() {
            Ok(_) => {}
            Err(Closed::Waits(why)) => {
                kept.waits(&together, why, None);
                continue;
            }
            Err(Closed::Needless(why)) => {
                kept.is_stale(&together, why, now);
                continue;
            }
        }
        let under_way = kept.counts().begun + gate.elsewhere;
        if under_way > 0 && under_way + together.len() > most {
            let why = format!(
                "it waits until moves are confirmed: {under_way} are under way, and at most {most} may be"
            );
            kept.waits(&together, why, None);
            continue;
        }
        if let Err(interrupted) = cancel.check() {
            // Whoever begins the plan again goes on here.
            kept.waits(&together, interrupted.to_string(), None);
            break;
        }
        let steps: Vec<_> = together
            .iter()
            .map(|place| &kept.plan.moves[*place])
            .collect();
        match scheduler.begin_together(&steps, now, begin.reserve_for) {
            Ok(begun) => {
                any = true;
                kept.begun(&together, begun, (now, by));
            }
            Err(BalanceError::Place(PlaceError::Refusal(refusal))) if !any => {
                return Err(BalanceError::from(refusal).into());
            }
            Err(error) if kept.may_wait(place, &error) => {
                let why = match (&error, kept.waits_for(place)) {
                    (BalanceError::Pending(_), _) => error.to_string(),
                    (_, steps) if steps.is_empty() => error.to_string(),
                    (_, steps) => format!("{steps}: {error}"),
                };
                kept.waits(&together, why, Some(now));
            }
            Err(error) => kept.is_stale(&together, error.to_string(), now),
        }
    }
    Ok(())
}

/// Makes a plan on a copy of a cluster.
pub struct Planner {
    scheduler: Scheduler,
    now: i64,
}

impl Planner {
    /// End early when `cancel` says so.
    #[must_use]
    pub fn unless(mut self, cancel: Cancel) -> Self {
        self.scheduler.set_cancel(cancel);
        self
    }

    /// Make a plan that betters the cluster.
    ///
    /// # Errors
    /// If a unit refuses or fails that the policy cannot do without.
    pub fn plan(mut self, options: &BalanceOptions) -> Result<BalancePlan, DeploymentError> {
        Ok(self.scheduler.plan_balance(self.now, options)?)
    }

    /// Make a plan that starts the VMs of these hosts elsewhere, as far as the hosts are down or
    /// in error.
    ///
    /// # Errors
    /// If there is no such host, or a unit fails that the policy cannot do without.
    pub fn restart(
        mut self,
        hosts: &[Arc<str>],
        which: Restart,
    ) -> Result<BalancePlan, DeploymentError> {
        Ok(self.scheduler.plan_restarts(self.now, hosts, which)?)
    }

    /// Make a plan that empties these hosts.
    ///
    /// # Errors
    /// If there is no such host, or a unit fails that the policy cannot do without.
    pub fn evacuate(mut self, hosts: &[Arc<str>]) -> Result<BalancePlan, DeploymentError> {
        let inventory = self.scheduler.inventory();
        if let Some(unknown) = hosts.iter().find(|host| inventory.slot(host).is_none()) {
            let known: Vec<&str> = inventory.hosts().map(|(_, host)| &*host.id).collect();
            return Err(DeploymentError::unknown("host", unknown, known));
        }
        Ok(self.scheduler.plan_evacuation(self.now, hosts)?)
    }
}

/// A plan that is not remembered.
pub fn only_tried(plan: BalancePlan, max_in_flight: Option<usize>) -> PlanShown {
    KeptPlan::new(plan, max_in_flight).shown(None)
}

fn no_plan(number: u64) -> DeploymentError {
    DeploymentError::unknown("plan", &number.to_string(), [])
}

/// Where a VM runs.
fn host_of(inventory: &Inventory, slot: u32) -> &str {
    inventory.host(slot).map_or("", |host| &host.id)
}
