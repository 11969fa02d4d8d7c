//! One cluster of a running deployment: a thread decides for it, one turn after the
//! other, and nothing is answered before it is kept.

mod answers;
mod breaker;
mod decisions;
mod done;
mod durable;
mod ended;
mod host_states;
mod inventory;
mod past;
mod places;
mod plans;
mod policy;
mod reservations;
mod settings;
mod shadow;
mod shown;
mod state;

pub use answers::Key;
pub use breaker::PausedUnit;
pub use decisions::{Kept, Past};
pub(super) use durable::{Body, rows};
pub use inventory::{Changed, Counted};
pub(super) use past::{SavedChain, measured};
pub use places::{BatchPlaced, Failed, Placed};
pub use plans::{
    Begin, MoveAt, MoveCounts, MoveNamed, MoveState, PlanShown, Planner, USUAL_IN_FLIGHT,
    only_tried,
};
pub use policy::Rule;
pub use reservations::{Reservation, ReservationKind};
pub use settings::{Attached, ClusterSettings, Override, PeriodicBalance};
pub use shadow::{Disagreement, ShadowReport};
pub use shown::{WantedHosts, WantedVms};
pub use state::ClusterState;
pub(super) use state::Parts;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::DeploymentError;
use super::turns::{Answer, Reply, Turns};
use crate::model::schema::Schema;
use crate::policy::Policy;
use crate::sync::{ArcSwap, ArcSwapOption};
use crate::telemetry::ClusterMeter;

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
        let meter = state.meter().clone();
        state.measure();
        state.set_alarm();
        let policy = state.scheduler().chain().policy().clone();
        let policy = Some(policy).filter(|_| state.broken().is_none());
        let policy = Arc::new(ArcSwapOption::new(policy));
        Ok(Self {
            turns: Turns::start(&format!("cluster {name}"), state, bound)?,
            name,
            schema,
            limit,
            changed,
            settings,
            policy,
            meter,
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

    /// Decide by this rule from the next turn on, whenever that comes, and be set so, if
    /// there are new settings.
    pub(super) fn rule_by(
        &self,
        rule: Rule,
        new: Option<ClusterSettings>,
    ) -> Reply<(), DeploymentError> {
        let (policy, settings) = (self.policy.clone(), self.settings.clone());
        self.whenever(move |state| {
            let ruling = rule.policy.clone();
            state.rule_by(rule)?;
            policy.store(Some(ruling));
            if let Some(new) = new {
                settings.store(Arc::new(new.clone()));
                state.set(new);
            }
            Ok(())
        })
    }

    /// Do `work` in a turn, whenever that comes and however many wait.
    pub(super) fn whenever<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut ClusterState) -> Result<R, DeploymentError> + Send + 'static,
    ) -> Reply<R, DeploymentError> {
        let work = move |state: &mut ClusterState, answer: Answer<R, DeploymentError>| {
            state.run(work, answer);
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
        self.meter.wait_begins();
        let (meter, asked) = (self.meter.clone(), Instant::now());
        let work = move |state: &mut ClusterState, answer: Answer<R, DeploymentError>| {
            state.run(work, answer);
        };
        self.turns
            .take(self.limit, work, move || meter.wait_ends(asked.elapsed()))
    }

    /// Do `work` in a turn as [`Cluster::turn`], for a caller: what is decided and changed is
    /// noted as done by it.
    pub fn turn_as<R: Send + 'static>(
        &self,
        by: &Arc<str>,
        work: impl FnOnce(&mut ClusterState) -> Result<R, DeploymentError> + Send + 'static,
    ) -> Reply<R, DeploymentError> {
        let by = by.clone();
        self.turn(move |state| state.done_by(by, work))
    }

    /// Let those who wait have their turns, and end the thread. Whoever asks for a turn
    /// later is told so.
    pub(super) fn stop(&self) {
        self.turns.stop();
    }
}
