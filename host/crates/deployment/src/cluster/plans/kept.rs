//! A plan that is remembered, and how far each of its moves is.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::auto::Auto;
use super::{MoveNamed, host_of};
use crate::DeploymentError;
use placewright_inventory::Inventory;
use placewright_model::{Rfc3339, Word};
use placewright_records::telemetry::MoveChange;
use placewright_scheduler::{
    BalanceError, BalancePlan, Begun, Cause, MoveShown, PlanTold, PlannedMove,
};

/// A plan, and how far it is: as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct KeptPlan {
    pub(super) plan: BalancePlan,
    /// Who made it; None: it was only tried, or made before that was kept.
    #[serde(default)]
    pub(super) by: Option<Arc<str>>,
    /// One for each move of the plan.
    moves: Vec<Progress>,
    pub(super) max_in_flight: Option<usize>,
    pub(super) cancelled: bool,
    /// When it was last found to hold still.
    pub(super) checked: i64,
    /// How it goes on by itself; None: it does not.
    #[serde(default)]
    pub(super) auto: Option<Auto>,
    /// Whether it is the server's own, which restarts VMs of hosts that are down or in error.
    #[serde(default)]
    pub(super) restarts: bool,
    /// Whether a move was confirmed or has ended, or a host has another state, since it last went
    /// on.
    #[serde(skip)]
    due: bool,
    /// Whether a move has expired since then.
    #[serde(skip)]
    has_expired: bool,
}

/// How far a move is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Progress {
    state: MoveState,
    /// Since when it is in this state; None: since the plan was made.
    since: Option<i64>,
    /// When the place that is reserved ends.
    expires: Option<i64>,
    /// Why it is in this state, or waits.
    why: Option<String>,
    /// When its cause and its place were last looked at again; None: not since the plan was
    /// made.
    #[serde(default)]
    checked: Option<i64>,
    /// Who had it begun; None: nobody yet, or that was not kept then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<Arc<str>>,
}

/// How far a move is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MoveState {
    /// Nothing was done yet.
    #[default]
    Planned,
    /// A place is reserved for the VM where it is to go.
    Begun,
    /// The VM runs there.
    Confirmed,
    /// The reservation ended before it was confirmed: the move can be begun again.
    Expired,
    /// The reservation was given back, or the plan was cancelled.
    Cancelled,
    /// The cluster has changed so that the move is none any more.
    Stale,
}

impl MoveState {
    /// That a move has come to this state; None: nothing has become of it.
    pub(super) fn change(self) -> Option<MoveChange> {
        Some(match self {
            Self::Planned => return None,
            Self::Begun => MoveChange::Begun,
            Self::Confirmed => MoveChange::Confirmed,
            Self::Expired => MoveChange::Expired,
            Self::Cancelled => MoveChange::Cancelled,
            Self::Stale => MoveChange::Stale,
        })
    }
}

/// How many moves are in each state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct MoveCounts {
    /// Not begun yet.
    #[schema(example = 6)]
    pub planned: usize,
    /// Under way: a place is reserved.
    #[schema(example = 2)]
    pub begun: usize,
    /// Done: the VM runs on its new host.
    #[schema(example = 4)]
    pub confirmed: usize,
    /// Begun, and not confirmed in time.
    #[schema(example = 0)]
    pub expired: usize,
    /// Given up by whoever manages the VMs.
    #[schema(example = 0)]
    pub cancelled: usize,
    /// No moves any more: the cluster has changed.
    #[schema(example = 1)]
    pub stale: usize,
}

/// A plan, and how far it is.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = Plan)]
#[serde(rename_all = "kebab-case")]
pub struct PlanShown {
    /// Counts up from 1 in each cluster; absent if the plan is not kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u64, example = 4)]
    pub number: Option<u64>,
    /// Who made it: the name of a token, `anonymous` where there are none, `periodic`, or
    /// `restart` for the server where it restarts VMs by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "ci")]
    pub by: Option<Arc<str>>,
    /// What was planned, and why.
    #[serde(flatten)]
    pub told: PlanTold,
    /// When it was last found to hold still, in seconds since 1970-01-01 UTC.
    #[schema(example = 1764000000)]
    pub checked: i64,
    /// The same time.
    #[schema(value_type = String, format = DateTime)]
    pub checked_time: Rfc3339,
    /// Whether it was cancelled: nothing more of it is begun.
    pub cancelled: bool,
    /// How many of its moves may be under way at once; absent: any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = usize, example = 8)]
    pub max_in_flight: Option<usize>,
    /// Whether the next moves are begun as one is confirmed.
    pub auto: bool,
    /// How many of its moves are in each state.
    pub counted: MoveCounts,
    /// One move after the other.
    pub moves: Vec<MoveAt>,
}

/// A move of a plan, and how far it is.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = PlanMove)]
#[serde(rename_all = "kebab-case")]
pub struct MoveAt {
    /// The move.
    #[serde(flatten)]
    pub planned: MoveShown,
    /// How far it is.
    pub state: MoveState,
    /// Since when it is in this state, in seconds since 1970-01-01 UTC; absent: since the plan
    /// was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = i64, example = 1764000000)]
    pub since: Option<i64>,
    /// The same time; absent: since the plan was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime)]
    pub since_time: Option<Rfc3339>,
    /// When the place that is reserved ends if nobody confirms it, in seconds since 1970-01-01
    /// UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = i64, example = 1764000300)]
    pub expires: Option<i64>,
    /// The same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime)]
    pub expires_time: Option<Rfc3339>,
    /// Who had it begun last: the name of a token or person, or `restart` for what the server
    /// restarts by itself; absent: nobody has.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "anna")]
    pub begun_by: Option<Arc<str>>,
    /// Why it is in this state, or is not begun yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "its host is in maintenance")]
    pub why: Option<String>,
    /// When it was last checked, to be begun, that its cause still holds and that the policy
    /// would still put the VM there, in seconds since 1970-01-01 UTC; absent: it was not
    /// checked since the plan was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = i64, example = 1764000000)]
    pub checked: Option<i64>,
    /// The same time; absent: it was not checked since the plan was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime)]
    pub checked_time: Option<Rfc3339>,
}

impl KeptPlan {
    pub(super) fn new(plan: BalancePlan, max_in_flight: Option<usize>) -> Self {
        Self {
            moves: vec![Progress::default(); plan.moves.len()],
            checked: plan.now,
            plan,
            by: None,
            max_in_flight,
            cancelled: false,
            auto: None,
            restarts: false,
            due: false,
            has_expired: false,
        }
    }

    pub(super) fn shown(&self, number: Option<u64>) -> PlanShown {
        let moves = self.plan.moves_told().zip(&self.moves);
        let moves = moves.map(|(planned, progress)| MoveAt {
            planned,
            state: progress.state,
            since: progress.since,
            since_time: progress.since.map(Rfc3339),
            expires: progress.expires,
            expires_time: progress.expires.map(Rfc3339),
            begun_by: progress.by.clone(),
            why: progress.why.clone(),
            checked: progress.checked,
            checked_time: progress.checked.map(Rfc3339),
        });
        PlanShown {
            number,
            by: self.by.clone(),
            told: self.plan.told(),
            checked: self.checked,
            checked_time: Rfc3339(self.checked),
            cancelled: self.cancelled,
            max_in_flight: self.max_in_flight,
            auto: self.auto.is_some(),
            counted: self.counts(),
            moves: moves.collect(),
        }
    }

    /// The states of its moves, in order.
    pub(super) fn states(&self) -> impl Iterator<Item = MoveState> {
        self.moves.iter().map(|progress| progress.state)
    }

    pub(super) fn counts(&self) -> MoveCounts {
        let mut counts = MoveCounts::default();
        for progress in &self.moves {
            *match progress.state {
                MoveState::Planned => &mut counts.planned,
                MoveState::Begun => &mut counts.begun,
                MoveState::Confirmed => &mut counts.confirmed,
                MoveState::Expired => &mut counts.expired,
                MoveState::Cancelled => &mut counts.cancelled,
                MoveState::Stale => &mut counts.stale,
            } += 1;
        }
        counts
    }

    /// Whether nothing but the plan itself is different once it is cancelled: nothing of it was begun, or it
    /// was cancelled before.
    pub(super) fn is_idle(&self) -> bool {
        let is_planned = |progress: &Progress| progress.state == MoveState::Planned;
        !self.restarts
            && self.auto.is_none()
            && (self.cancelled || self.moves.iter().all(is_planned))
    }

    /// The moves that were begun and are not confirmed.
    pub(super) fn under_way(&self) -> impl Iterator<Item = &PlannedMove> {
        let moves = self.plan.moves.iter().zip(&self.moves);
        let begun = moves.filter(|(_, progress)| progress.state == MoveState::Begun);
        begun.map(|(planned, _)| planned)
    }

    /// Whether a plan that was made now says the same, and nothing of this was begun.
    pub(super) fn still_says(&self, now: &BalancePlan) -> bool {
        let mut moves = self.moves.iter();
        !self.cancelled
            && moves.all(|progress| progress.state == MoveState::Planned)
            && self.plan.is_like(now)
    }

    /// The places of the moves that are named, ascending.
    pub(super) fn places(&self, named: &[MoveNamed]) -> Result<Vec<usize>, DeploymentError> {
        let mut places = Vec::with_capacity(named.len());
        for named in named {
            let (found, name) = match named {
                MoveNamed::Step(step) => {
                    let place = step.checked_sub(1);
                    let place = place.filter(|place| *place < self.moves.len());
                    (place, step.to_string())
                }
                MoveNamed::Vm(vm) => {
                    let of_vm = |place: &usize| *self.plan.moves[*place].vm == **vm;
                    let mut of_vm = (0..self.moves.len()).filter(of_vm);
                    let first = of_vm.clone().next();
                    let open = of_vm.find(|it| self.moves[*it].state != MoveState::Confirmed);
                    (open.or(first), vm.clone())
                }
            };
            let Some(place) = found else {
                let vms = self.plan.moves.iter().map(|planned| &*planned.vm);
                return Err(DeploymentError::unknown("move in this plan", &name, vms));
            };
            places.push(place);
        }
        places.sort_unstable();
        places.dedup();
        Ok(places)
    }

    /// Whether a move can be begun: one that has expired only if these are begun `again`, and one
    /// that was cancelled or stale only if it is named.
    pub(super) fn may_begin(&self, place: usize, is_named: bool, again: bool) -> bool {
        match self.moves[place].state {
            MoveState::Planned => true,
            MoveState::Expired => again,
            MoveState::Cancelled | MoveState::Stale => is_named,
            MoveState::Begun | MoveState::Confirmed => false,
        }
    }

    /// The places of the moves that are begun with this one, itself included.
    pub(super) fn together(&self, place: usize) -> Vec<usize> {
        self.plan.together(place).collect()
    }

    /// Whether a move that cannot be begun may be legal later: when others are confirmed,
    /// or those before it are begun.
    pub(super) fn may_wait(&self, place: usize, error: &BalanceError) -> bool {
        let under_way = self.moves.iter().any(|it| it.state == MoveState::Begun);
        let mut before = self.moves[..place].iter();
        match error {
            BalanceError::Pending(_) => true,
            // What the balance unit proposes, it proposes for the cluster after the moves
            // before.
            BalanceError::Needless { .. } => {
                self.plan.moves[place].cause == Cause::Balance
                    && before.any(|it| it.state == MoveState::Planned)
            }
            BalanceError::NotLegal { .. } => {
                under_way || before.any(|it| it.state == MoveState::Planned)
            }
            _ => false,
        }
    }

    /// Moves were begun.
    pub(super) fn begun(&mut self, places: &[usize], begun: Begun, (now, by): (i64, &Arc<str>)) {
        for place in places {
            let planned = &self.plan.moves[*place];
            let stays = planned.from == planned.to;
            self.moves[*place] = Progress {
                state: match stays {
                    true => MoveState::Confirmed,
                    false => MoveState::Begun,
                },
                since: Some(now),
                expires: begun.expires.filter(|_| !stays),
                why: None,
                checked: Some(now),
                by: Some(by.clone()),
            };
        }
    }

    /// The earlier moves that are not done and may free what this one needs: moves away from its
    /// target host, or else all earlier ones. The first few are named.
    pub(super) fn waits_for(&self, place: usize) -> String {
        const NAMED: usize = 3;
        use MoveState::{Begun, Expired, Planned};
        let is_open = |it: &usize| matches!(self.moves[*it].state, Planned | Begun | Expired);
        let before: Vec<usize> = (0..place).filter(is_open).collect();
        let to = &self.plan.moves[place].to;
        let frees = |it: &&usize| self.plan.moves[**it].from == *to;
        let mut steps: Vec<usize> = before.iter().filter(frees).copied().collect();
        if steps.is_empty() {
            steps = before;
        }
        let named = steps.iter().take(NAMED).map(|step| {
            let vm = &self.plan.moves[*step].vm;
            format!("step {} (VM \"{vm}\")", step + 1)
        });
        let named: Vec<String> = named.collect();
        match steps.len() {
            0 => String::new(),
            more @ NAMED.. if more > NAMED => {
                format!(
                    "it waits for {} and {} more",
                    named.join(", "),
                    more - NAMED
                )
            }
            _ => format!("it waits for {}", named.join(", ")),
        }
    }

    /// How many moves could not be begun yet, and why the first one could not.
    pub(super) fn waiting(&self) -> Option<(usize, &str)> {
        let moves = self.moves.iter();
        let mut waiting = moves.filter(|it| it.state == MoveState::Planned && it.why.is_some());
        let first = waiting.next()?.why.as_deref()?;
        Some((1 + waiting.count(), first))
    }

    /// Moves cannot be begun yet; whether they could be was checked then, if it was.
    pub(super) fn waits(&mut self, places: &[usize], why: String, checked: Option<i64>) {
        for place in places {
            let progress = &mut self.moves[*place];
            progress.why = Some(why.clone());
            progress.checked = checked.or(progress.checked);
        }
    }

    /// Moves cannot be begun any more.
    pub(super) fn is_stale(&mut self, places: &[usize], why: String, now: i64) {
        for place in places {
            let progress = &mut self.moves[*place];
            progress.becomes(MoveState::Stale, now, Some(why.clone()));
            progress.checked = Some(now);
        }
    }

    /// Whether something of it may still be begun, or is under way.
    pub(super) fn is_open(&self) -> bool {
        use MoveState::{Begun, Expired, Planned};
        let mut moves = self.moves.iter();
        !self.cancelled && moves.any(|it| matches!(it.state, Planned | Begun | Expired))
    }

    /// It is to go on at the next occasion, if it does by itself.
    pub(super) fn look_again(&mut self) -> bool {
        self.due |= self.auto.is_some() && !self.cancelled;
        self.due
    }

    /// What is not begun is planned again with that plan. Gives whether anything is.
    pub(super) fn give_way(&mut self, number: u64, now: i64) -> bool {
        let had_auto = self.auto.take().is_some();
        let open = self
            .moves
            .iter_mut()
            .filter(|it| matches!(it.state, MoveState::Planned | MoveState::Expired));
        let mut any = false;
        for progress in open {
            let why = format!("it is planned again with plan {number}");
            progress.becomes(MoveState::Stale, now, Some(why));
            any = true;
        }
        any || had_auto
    }

    /// Whether it is to go on.
    pub(super) fn is_due(&self) -> bool {
        self.due
    }

    /// Nothing more is begun. What had ended before stays as it ended.
    pub(super) fn cancel(&mut self, now: i64) {
        use MoveState::{Begun, Expired, Planned};
        self.cancelled = true;
        self.auto = None;
        for progress in &mut self.moves {
            if matches!(progress.state, Planned | Begun | Expired) {
                progress.becomes(MoveState::Cancelled, now, None);
            }
        }
    }

    /// See what has become of the moves that were under way. Gives whether anything has.
    pub(super) fn follow(&mut self, inventory: &Inventory) -> bool {
        let now = inventory.clock();
        let mut any = false;
        for (planned, progress) in self.plan.moves.iter().zip(&mut self.moves) {
            if progress.state != MoveState::Begun {
                continue;
            }
            let slot = inventory.slot(&planned.to);
            let pending = inventory.pending(&planned.vm);
            if let Some(entry) = pending.filter(|entry| Some(entry.slot) == slot) {
                // It may have been renewed.
                any |= progress.expires != entry.expires;
                progress.expires = entry.expires;
                continue;
            }
            any = true;
            let lost = slot.map(|slot| inventory.host_state(slot));
            let lost = lost.filter(|state| state.is_lost());
            let (state, why) = match (inventory.running(&planned.vm), lost) {
                (Some(entry), _) if Some(entry.slot) == slot => (MoveState::Confirmed, None),
                (Some(_), Some(state)) => {
                    let (to, state) = (&planned.to, state.word());
                    let why = format!("the place on host {to} has ended: its state is {state}");
                    (MoveState::Stale, Some(why))
                }
                (Some(entry), None) if inventory.slot(&planned.from) == Some(entry.slot) => {
                    match progress.expires.is_some_and(|expires| expires < now) {
                        true => (MoveState::Expired, None),
                        false => (MoveState::Cancelled, None),
                    }
                }
                (Some(entry), None) => {
                    let host = host_of(inventory, entry.slot);
                    (
                        MoveState::Stale,
                        Some(format!("it runs on host {host} now")),
                    )
                }
                (None, _) => (MoveState::Stale, Some("the VM is gone".to_owned())),
            };
            progress.becomes(state, now, why);
            // Whoever waited for it may begin. One that has expired is begun again with the next
            // one that ends, lest a plan that nobody carries out goes round and round. Restarts are
            // begun again in their order.
            match state {
                MoveState::Expired => self.has_expired = !self.restarts,
                _ => self.due = true,
            }
        }
        any
    }

    /// How the plan goes on, if it does by itself and there was an occasion meanwhile, and whether
    /// moves that have expired are begun again.
    pub(super) fn take_due(&mut self) -> Option<(Auto, bool)> {
        let due = std::mem::take(&mut self.due);
        let has_expired = std::mem::take(&mut self.has_expired);
        let auto = self.auto.clone();
        let auto = auto.filter(|_| (due || has_expired) && !self.cancelled)?;
        Some((auto, due))
    }
}

impl Progress {
    fn becomes(&mut self, state: MoveState, now: i64, why: Option<String>) {
        *self = Self {
            state,
            since: Some(now),
            expires: None,
            why,
            checked: self.checked,
            by: self.by.take(),
        };
    }
}
