//! The running thing: clusters that decide, the policies and units they decide by, and
//! what must last of all that.
//!
//! Each cluster has a thread of its own ([`cluster`]). What concerns several of them,
//! policies and units, is changed under one lock, one change after the other, and never
//! while decisions wait for it: a cluster takes over what is new in a turn of its own.

mod alarm;
mod artifacts;
mod balancing;
pub mod cluster;
mod error;
mod events;
mod folder;
mod open;
mod overrides;
mod past;
mod policies;
mod replays;
mod rules;
mod shadow;
mod start;
mod trials;
mod turns;

pub use artifacts::KeptArtifacts;
pub use cluster::{Cluster, ClusterSettings, ClusterState, Override, PeriodicBalance};
pub use error::DeploymentError;
pub use events::{Event, EventKind, Events, Listening, News, acting_as};
pub use open::{OpenError, Opening, Running, compile_units};
pub use policies::{Origin, PolicyRecord};
pub use replays::{ReplayWanted, UnitReplayed};
pub use rules::{Attach, Edit, Who};
pub use shadow::ShadowShown;
pub use start::Started;
pub use turns::{NoTurn, Reply};

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crate::document::ClusterDocument;
use crate::library::Generation;
use crate::library::live::Library;
use crate::scheduler::SchedulerOptions;
use crate::store::{Change, Health, Store};
use crate::sync::{ArcSwap, Mutex, MutexGuard, RwLock};
use crate::telemetry::Telemetry;
use alarm::Alarm;
use policies::Policies;
use rules::check_name;
use shadow::Shadowing;

/// Seconds since 1970-01-01 UTC.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// How a deployment goes about its work.
#[derive(Clone)]
pub struct DeploymentOptions {
    /// How long a request may wait for its cluster.
    pub wait: Duration,
    /// How many requests may wait for one cluster.
    pub waiting: usize,
    /// How decisions are made; the seed is the cluster's own.
    pub scheduler: SchedulerOptions,
    /// The most seconds for which a request may have its places reserved, though never less
    /// than is usual; None: it may have them for good.
    pub longest_reservation: Option<i64>,
    /// How long recorded decisions are made again with a new unit before it comes into
    /// force; of each cluster that it concerns at least one is.
    pub trial: Duration,
    pub clock: Clock,
}

impl Default for DeploymentOptions {
    fn default() -> Self {
        Self {
            wait: Duration::from_secs(10),
            waiting: 10_000,
            scheduler: SchedulerOptions::default(),
            longest_reservation: Some(24 * 3600),
            trial: Duration::from_millis(5),
            clock: Arc::new(system_clock),
        }
    }
}

/// The time of the system; 0 if its clock stands before 1970.
fn system_clock() -> i64 {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// A running deployment.
pub struct Deployment {
    options: DeploymentOptions,
    store: Store,
    events: Arc<Events>,
    telemetry: Arc<Telemetry>,
    clusters: RwLock<BTreeMap<Arc<str>, Arc<Cluster>>>,
    library: Arc<Library>,
    /// The units that clusters decide by; the library's, as soon as they have all taken
    /// them over.
    generation: ArcSwap<Generation>,
    /// When the next reservation ends in each cluster.
    alarm: Arc<Alarm>,
    /// When the next plan of moves is due, by the names of clusters that want them.
    due: Mutex<BTreeMap<Arc<str>, i64>>,
    /// Candidates that run beside units, by the units' names.
    shadows: Mutex<BTreeMap<String, Shadowing>>,
    /// Looked at without waiting; changed under `control`.
    policies: ArcSwap<Policies>,
    /// Held while what concerns several clusters is changed. Nobody looks on while it is.
    control: Mutex<()>,
    /// Whether what the folders held at the start is not yet in force or refused.
    folders_awaited: AtomicBool,
}

impl Deployment {
    /// The cluster of that name.
    ///
    /// # Errors
    /// If there is none.
    pub fn cluster(&self, name: &str) -> Result<Arc<Cluster>, DeploymentError> {
        let clusters = self.clusters.read().unwrap_or_else(PoisonError::into_inner);
        let known = || clusters.keys().map(|name| &**name);
        let cluster = clusters.get(name).cloned();
        cluster.ok_or_else(|| DeploymentError::unknown("cluster", name, known()))
    }

    /// All clusters, by name.
    pub fn clusters(&self) -> Vec<Arc<Cluster>> {
        let clusters = self.clusters.read().unwrap_or_else(PoisonError::into_inner);
        clusters.values().cloned().collect()
    }

    /// What happens.
    pub fn events(&self) -> &Arc<Events> {
        &self.events
    }

    /// What must last.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// What it still waits for before it can decide, or what keeps it from keeping what
    /// it decides; empty if nothing.
    pub fn awaited(&self) -> Vec<String> {
        let mut awaited = Vec::new();
        if self.folders_awaited.load(Ordering::Acquire) {
            let what = "the units and policies of its folders to be in force or refused";
            awaited.push(what.to_owned());
        }
        if let Health::Fails(why) = self.store.health() {
            awaited.push(why);
        }
        awaited
    }

    /// Where units come from.
    pub fn library(&self) -> &Arc<Library> {
        &self.library
    }

    /// The units in force.
    pub fn generation(&self) -> Arc<Generation> {
        self.generation.load_full()
    }

    /// Count the units in force.
    fn count_units(&self) {
        let (library, generation) = (&self.telemetry.library, self.generation());
        let number = i64::try_from(generation.number()).unwrap_or(i64::MAX);
        library.generation.set(number);
        library
            .units
            .set(i64::try_from(generation.len()).unwrap_or(i64::MAX));
    }

    /// Seconds since 1970-01-01 UTC.
    pub fn now(&self) -> i64 {
        (self.options.clock)()
    }

    fn policies(&self) -> Arc<Policies> {
        self.policies.load_full()
    }

    /// Whoever has this may change policies, clusters and what decides there.
    fn control(&self) -> MutexGuard<'_, ()> {
        self.control.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, news: News) {
        self.events.tell(self.now(), news);
    }

    /// Make a cluster of a document, under a policy.
    ///
    /// # Errors
    /// If there is one of that name, something in the document does not go together, or
    /// the policy cannot run there.
    pub fn create_cluster(
        &self,
        document: ClusterDocument,
        attach: Attach,
    ) -> Result<Arc<Cluster>, DeploymentError> {
        let _control = self.control();
        let name = document.name.clone();
        if self.cluster(&name).is_ok() {
            return Err(DeploymentError::Exists {
                what: "cluster",
                name: name.to_string(),
            });
        }
        let settings = ClusterSettings {
            policy: attach.policy.as_str().into(),
            overrides: attach.overrides,
            balance: attach.balance,
            statistics_max_age: attach.statistics_max_age,
            revision: 1,
            seed: document.seed,
        };
        check_name(&name)?;
        let generation = self.generation();
        let rule = self.rule_of(&settings, &document.schema, &generation)?;
        let mut state = self.new_state(document, settings, rule)?;
        state.keep_everything();
        let cluster = self.run(state)?;
        // The rows are kept in the first turn; without a cluster there would be none.
        let created = cluster.turn(|_| Ok(())).wait();
        if let Err(error) = created {
            self.take_out(&name);
            return Err(error);
        }
        self.tell(News {
            kind: EventKind::ClusterCreated,
            by: attach.by,
            cluster: Some(name),
            message: "the cluster was created".to_owned(),
            ..News::default()
        });
        Ok(cluster)
    }

    /// Take a cluster out, with everything of it.
    ///
    /// # Errors
    /// If there is none of that name, or its end cannot be kept.
    pub fn remove_cluster(&self, name: &str, by: Who<'_>) -> Result<(), DeploymentError> {
        let _control = self.control();
        let cluster = self.cluster(name)?;
        let name = cluster.name().clone();
        drop(cluster);
        // No turn may write rows after the cluster has gone.
        if let Some(cluster) = self.take_out(&name) {
            // Nothing is paused in a cluster that is not there.
            let forgotten = cluster.whenever(|state| {
                state.forget_faults();
                Ok(())
            });
            drop(forgotten);
            cluster.stop();
            self.telemetry.clusters.forget(cluster.meter());
            self.alarm.set(&name, None);
        }
        let cluster = name.to_string();
        self.store.commit(vec![Change::RemoveCluster { cluster }])?;
        self.tell(News {
            kind: EventKind::ClusterRemoved,
            by: Some(by.into()),
            cluster: Some(name),
            message: "the cluster was removed".to_owned(),
            ..News::default()
        });
        Ok(())
    }

    fn take_out(&self, name: &str) -> Option<Arc<Cluster>> {
        let mut clusters = self
            .clusters
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        clusters.remove(name)
    }

    /// Start the thread of a cluster and let it be found.
    fn run(&self, state: ClusterState) -> Result<Arc<Cluster>, DeploymentError> {
        let cluster = Cluster::start(state, self.options.wait, self.options.waiting);
        let cluster = Arc::new(cluster.map_err(|error| {
            DeploymentError::Refused(format!("cannot start a thread for the cluster: {error}"))
        })?);
        let mut clusters = self
            .clusters
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        clusters.insert(cluster.name().clone(), cluster.clone());
        Ok(cluster)
    }

    /// Let those who wait have their turns, keep everything, and end the threads.
    pub fn stop(&self) {
        let clusters = {
            let mut clusters = self
                .clusters
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *clusters)
        };
        for cluster in clusters.into_values() {
            cluster.stop();
        }
        // What was submitted before is kept when this is.
        if let Err(error) = self.store.commit(Vec::new()) {
            tracing::error!(%error, "the last changes may not have been kept");
        }
    }
}

impl fmt::Debug for Deployment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deployment")
            .field("store", &self.store)
            .field("library", &self.library)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
