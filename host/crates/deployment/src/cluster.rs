//! One cluster of a running deployment: a thread decides for it, one turn after the
//! other, and nothing is answered before it is kept.

mod answers;
mod batch_rows;
mod breaker;
mod changed_since;
mod clock;
mod decisions;
mod done;
mod durable;
mod ended;
mod entities;
mod failures;
mod glance;
mod group_standing;
mod host_schema;
mod host_states;
mod inventory;
mod listed;
mod lost;
mod past;
mod places;
mod plans;
mod policy;
mod rates;
mod recently_changed;
mod reservations;
mod restarts;
mod settings;
mod shadow;
mod shown;
mod snapshot;
mod state;
mod sums;
mod unit_costs;

pub use answers::Key;
pub use breaker::PausedUnit;
pub use changed_since::{ChangedOfKind, EntityKind};
pub(super) use clock::AHEAD;
pub use decisions::{Kept, Past, RememberedPast};
pub(super) use done::SERVER;
pub(super) use durable::{Body, rows};
pub use entities::{Condition, EntityShown};
pub use glance::Health;
pub use group_standing::{GroupBreak, GroupPlace, GroupStanding, WantedStandings};
pub use host_schema::{HostColumn, HostSchema};
pub use inventory::{Changed, Counted, MayVanish, Replacement, Vanishing};
pub use listed::{ListError, WantedHosts, WantedVms};
pub(super) use past::{MadeOn, SavedChain, measured};
pub use places::{BatchPlaced, Failed, Placed};
pub use plans::{
    Begin, MoveAt, MoveCounts, MoveNamed, MoveState, PlanShown, Planner, USUAL_IN_FLIGHT,
    only_tried,
};
pub use policy::Rule;
pub use rates::{ClusterRates, MinuteOfDecisions};
pub use reservations::{Reservation, ReservationKind, Standing};
pub use restarts::AutomaticRestart;
pub(super) use restarts::{LostHost, RESTART};
pub use settings::{Attached, ClusterSettings, Override, PeriodicBalance};
pub use shadow::{Disagreement, ShadowReport};
pub(super) use shown::Whole;
pub use snapshot::Snapshot;
pub use state::ClusterState;
pub(super) use state::Parts;
pub use sums::{ClusterSums, HostColumns, MeasureSums};
pub use unit_costs::UnitCost;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::DeploymentError;
use super::in_force::InForce;
use super::turns::{Answer, Asker, Reply, Share, Turns};
use glance::Glance;
use placewright_library::actor::Actor;
use placewright_model::schema::Schema;
use placewright_policy::Policy;
use placewright_records::telemetry::ClusterMeter;
use placewright_scheduler::Cancel;
use placewright_sync::{ArcSwap, ArcSwapOption, atomic};
use restarts::DueAt;

/// A cluster, for whoever asks something of it.
#[derive(Debug)]
pub struct Cluster {
    name: Arc<str>,
    schema: Arc<ArcSwap<Schema>>,
    turns: Turns<ClusterState>,
    /// How long a request may wait for its turn.
    limit: Duration,
    changed: watch::Receiver<u64>,
    settings: Arc<ArcSwap<ClusterSettings>>,
    /// The policy that decides, with what is different here; None: none can run.
    policy: Arc<ArcSwapOption<Policy>>,
    meter: Arc<ClusterMeter>,
    /// What is in force everywhere.
    in_force: Arc<ArcSwap<InForce>>,
    /// What it publishes after each turn, and the last copy for those who read.
    glance: Arc<Glance>,
    snapshot: Arc<ArcSwapOption<Snapshot>>,
    /// The number of what was in force when the last turn began.
    in_force_number: Arc<atomic::AtomicU64>,
    /// Whether a turn was asked for in which nothing is done but to take over what is in force.
    nudged: Arc<atomic::AtomicBool>,
    /// Set, it ends the turn that is under way at its next decision.
    cut_off: Arc<AtomicBool>,
    /// When it is next to be looked whether VMs are to be restarted.
    restarts_due: Arc<DueAt>,
}

impl Cluster {
    /// Start the thread of a cluster.
    pub(super) fn start(
        mut state: ClusterState,
        limit: Duration,
        bound: usize,
    ) -> std::io::Result<Self> {
        let name = state.name().clone();
        let (schema, changed) = (state.schema.clone(), state.watch());
        let settings = Arc::new(ArcSwap::from_pointee(state.settings().clone()));
        let (meter, cut_off) = (state.meter().clone(), state.cut_off.clone());
        state.measure();
        state.set_alarm();
        state.settle_holdings();
        let restarts_due = state.restarts.due_at();
        let policy = state.ruling.clone();
        let in_force_number = state.adopted_number.clone();
        let (glance, snapshot) = (state.glance.clone(), state.snapshot.clone());
        let in_force = state.in_force.clone();
        state.publish_counts();
        state.publish_health();
        Ok(Self {
            turns: Turns::start(&format!("cluster {name}"), state, bound)?,
            name,
            schema,
            limit,
            changed,
            settings,
            policy,
            in_force_number,
            in_force,
            glance,
            snapshot,
            nudged: Arc::default(),
            meter,
            cut_off,
            restarts_due,
        })
    }

    /// Its name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The tables and columns that it has.
    pub fn schema(&self) -> Arc<Schema> {
        self.schema.load_full()
    }

    /// Which policy is attached, and how it is set.
    pub fn settings(&self) -> Arc<ClusterSettings> {
        self.settings.load_full()
    }

    /// The policy that decides, with what is different here; None if none can run.
    pub fn policy(&self) -> Option<Arc<Policy>> {
        self.policy.load_full()
    }

    /// Whether the policy that decides names that unit.
    pub fn uses(&self, unit: &str) -> bool {
        self.policy().is_some_and(|policy| policy.names(unit))
    }

    /// How many of each there are, without a turn.
    pub fn counted(&self) -> Counted {
        self.glance.counted()
    }

    /// How many decisions it has made in each minute of the hour up to the second `now`, without a
    /// turn.
    pub fn rates(&self, now: i64) -> ClusterRates {
        self.glance.rates().last_hour(now)
    }

    /// How often the rows of its inventory have changed, without a turn.
    pub(super) fn revision(&self) -> u64 {
        self.glance.revision()
    }

    /// What is wrong with it, without a turn.
    pub fn health(&self) -> Arc<Health> {
        self.glance.health()
    }

    /// The cluster as it is, for those who only read its rows and settings: every change of
    /// them that was answered before is in it. Most often no turn is needed for it, not even
    /// while other units or policies wait to be taken over.
    ///
    /// # Errors
    /// If there is no turn where one is needed.
    pub async fn snapshot(&self) -> Result<Arc<Snapshot>, DeploymentError> {
        self.snapshot_where(Self::has_present_rows).await
    }

    /// The cluster as it is, or as it was copied last if its turns take longer than `patience`.
    ///
    /// # Errors
    /// As [`Cluster::snapshot`].
    pub async fn snapshot_within(
        &self,
        patience: Duration,
    ) -> Result<Arc<Snapshot>, DeploymentError> {
        match tokio::time::timeout(patience, self.snapshot()).await {
            Ok(snapshot) => snapshot,
            Err(_) => self.snapshot_where(|_, _| true).await,
        }
    }

    /// The same for those who ask what would be decided: the units and policies that were in
    /// force before are in it as well.
    ///
    /// # Errors
    /// As [`Cluster::snapshot`].
    pub async fn snapshot_with_rules(&self) -> Result<Arc<Snapshot>, DeploymentError> {
        let is_present = |cluster: &Self, last: &Snapshot| {
            cluster.has_present_rows(last)
                && cluster.in_force.load_full().number == cluster.in_force_number()
        };
        self.snapshot_where(is_present).await
    }

    /// The last copy if that is present, or one that is made now.
    async fn snapshot_where(
        &self,
        is_present: impl Fn(&Self, &Snapshot) -> bool,
    ) -> Result<Arc<Snapshot>, DeploymentError> {
        let asked = Instant::now();
        loop {
            let last = self.snapshot.load_full();
            let Some(last) = last else {
                break;
            };
            if last.is_after(asked) || is_present(self, &last) {
                return Ok(last);
            }
            // The thread has other work between two copies.
            if last.next() <= Instant::now() {
                break;
            }
            tokio::time::sleep_until(last.next().into()).await;
        }
        self.read(move |state| Ok(state.publish(asked))).await
    }

    /// Whether neither rows nor settings have changed since a copy was made.
    fn has_present_rows(&self, last: &Snapshot) -> bool {
        last.version() == self.glance.version()
            && last.revision() == self.glance.revision()
            && last.rules() == self.glance.rules()
    }

    /// The number of what was in force when its last turn began.
    pub(super) fn in_force_number(&self) -> u64 {
        self.in_force_number.load(atomic::Ordering::Acquire)
    }

    /// Whether it is to be looked by now (seconds) whether VMs are to be restarted.
    pub(super) fn are_restarts_due(&self, now: i64) -> bool {
        self.restarts_due.is_by(now)
    }

    /// Take over what is in force, whenever there is a turn.
    pub(super) fn nudge(&self) {
        if self.nudged.swap(true, atomic::Ordering::SeqCst) {
            // A turn will come that has not begun.
            return;
        }
        let nudged = self.nudged.clone();
        let work = move |state: &mut ClusterState, answer: Answer<(), DeploymentError>| {
            // Before it looks at what is in force.
            nudged.store(false, atomic::Ordering::SeqCst);
            state.run(Share::Work, |_| Ok(()), answer);
        };
        drop(self.turns.take_anyway(work));
    }

    /// Have these settings from the next turn on, and decide by their policy. If a revision is
    /// given, it must be that of the settings until then. `ends` is dropped when this is done
    /// or given up.
    pub(super) fn attach<E: Send + 'static>(
        &self,
        settings: ClusterSettings,
        revision: Option<u64>,
        ends: E,
    ) -> Reply<Arc<ClusterSettings>, DeploymentError> {
        let published = self.settings.clone();
        self.turn(move |state| {
            let _ends = ends;
            let settings = Arc::new(state.attach(settings, revision)?);
            published.store(settings.clone());
            Ok(settings)
        })
    }

    /// Do `work` in a turn, whenever that comes and however many wait.
    pub(super) fn whenever<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut ClusterState) -> Result<R, DeploymentError> + Send + 'static,
    ) -> Reply<R, DeploymentError> {
        let work = move |state: &mut ClusterState, answer: Answer<R, DeploymentError>| {
            state.run(Share::Work, work, answer);
        };
        self.turns.take_anyway(work)
    }

    /// How many requests wait for their turn.
    pub fn waiting(&self) -> usize {
        self.turns.waiting()
    }

    /// What is counted of it.
    pub(super) fn meter(&self) -> &ClusterMeter {
        &self.meter
    }

    /// Counts up with every change of the cluster.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changed.clone()
    }

    /// Do `work` in a turn. Its answer comes when all that it changed is kept.
    pub fn turn<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut ClusterState) -> Result<R, DeploymentError> + Send + 'static,
    ) -> Reply<R, DeploymentError> {
        self.take((Share::Work, None), self.limit, work)
    }

    /// Do `work` that only reads, and takes little time, in a turn. It is answered also while the
    /// store fails, which those were told whose changes are not kept. Where turns that change
    /// something wait too, at most one such comes between two of them.
    pub fn read<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut ClusterState) -> Result<R, DeploymentError> + Send + 'static,
    ) -> Reply<R, DeploymentError> {
        self.read_within(self.limit, work)
    }

    /// The same, in a turn that begins within `limit`.
    pub(super) fn read_within<R: Send + 'static>(
        &self,
        limit: Duration,
        work: impl FnOnce(&mut ClusterState) -> Result<R, DeploymentError> + Send + 'static,
    ) -> Reply<R, DeploymentError> {
        self.take((Share::Reads, None), limit, work)
    }

    fn take<R: Send + 'static>(
        &self,
        (share, asker): (Share, Asker),
        limit: Duration,
        work: impl FnOnce(&mut ClusterState) -> Result<R, DeploymentError> + Send + 'static,
    ) -> Reply<R, DeploymentError> {
        self.meter.wait_begins();
        let (meter, asked) = (self.meter.clone(), Instant::now());
        let work = move |state: &mut ClusterState, answer: Answer<R, DeploymentError>| {
            state.run(share, work, answer);
        };
        let ends = move || meter.wait_ends(asked.elapsed());
        self.turns.take((share, asker), limit, work, ends)
    }

    /// Do `work` in a turn as [`Cluster::turn`], for an actor: what is decided and changed is
    /// noted as done by it. Nothing is done for whoever may not any more as the turn begins.
    /// Where several actors wait, one turn of each is taken after the other.
    pub fn turn_as<R: Send + 'static>(
        &self,
        by: impl Into<Actor>,
        work: impl FnOnce(&mut ClusterState) -> Result<R, DeploymentError> + Send + 'static,
    ) -> Reply<R, DeploymentError> {
        let by = by.into();
        let asker = Some(by.name().clone());
        let work = move |state: &mut ClusterState| {
            by.must()?;
            state.done_by(by.name().clone(), work)
        };
        self.take((Share::Work, asker), self.limit, work)
    }

    /// For a turn of many decisions that leaves nothing behind: it ends early, too, when it has
    /// taken so long and others wait for their turns.
    pub fn giving_way(&self, cancel: Cancel, after: Duration) -> Cancel {
        cancel.giving_way(after, self.turns.are_wanted())
    }

    /// Let nobody ask for a turn any more: whoever does is told so. Those who wait have
    /// theirs.
    pub(super) fn close(&self) {
        self.turns.close();
    }

    /// Let nobody have a turn any more. One that is under way ends at its next decision.
    pub(super) fn cut_off(&self) {
        self.cut_off.store(true, Ordering::Relaxed);
        self.turns.cut_off();
    }

    /// Wait until its thread has ended, after one of these; None: as long as it takes.
    /// Whether it has by then.
    pub(super) fn join(&self, until: Option<Instant>) -> bool {
        self.turns.join(until)
    }

    /// Whether its thread has ended because a turn has panicked.
    pub fn has_panicked(&self) -> bool {
        self.turns.has_panicked()
    }
}
