//! The running thing: clusters that decide, the policies and units they decide by, and
//! what must last of all that.
//!
//! Each cluster has a thread of its own ([`cluster`]). What concerns several of them,
//! policies and units, is changed under one lock, one change after the other, and never
//! while decisions wait for it: a cluster takes over what is new in a turn of its own.
//!
//! Read [`Deployment`], [`DeploymentOptions`], [`Cluster`] and [`Event`] first.

#![forbid(unsafe_code)]

mod alarm;
mod artifacts;
mod balancing;
pub mod cluster;
mod drafts;
pub mod durations;
mod enforce;
mod error;
mod events;
mod every_second;
mod folder;
mod history;
mod host_costs;
mod in_force;
mod mend;
mod open;
mod overrides;
mod pages;
mod past;
mod policies;
mod quotas;
mod replays;
mod restarting;
mod returns;
mod revisions;
mod rules;
mod shadow;
mod start;
mod trials;
mod turns;

pub use artifacts::{KeptArtifacts, digests_of_decisions};
pub use cluster::{
    AutomaticRestart, Cluster, ClusterSettings, ClusterState, Override, PeriodicBalance,
};
pub use drafts::{DraftChange, DraftReplayed, DraftShares, DraftWanted, HostCount, Tipped};
pub use error::DeploymentError;
pub use events::{Event, EventKind, Events, Listening, News};
pub use history::{History, HistoryEvent};
pub use mend::BrokenCluster;
pub use open::{OpenError, Opening, Running, StoreOpened, compile_units};
pub use pages::{PAGE_BYTES, PageRoom};
pub use policies::{Origin, PolicyRecord, PolicyUse};
pub use quotas::{Quota, QuotaRecord, QuotaUse};
pub use replays::{ReplayWanted, UnitReplayed};
pub use returns::ReturnAfter;
pub use rules::{Attach, Edit, NAME_PATTERN, Who, check_name};
pub use shadow::ShadowShown;
pub use start::Started;
pub use turns::{Reply, TurnError};

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use alarm::Alarm;
use in_force::{Attaching, InForce};
use mend::{Restarts, Unread};
use placewright_document::ClusterDocument;
use placewright_engine::generation::Generation;
use placewright_library::actor::Actor;
use placewright_library::live::Library;
use placewright_model::budget::{ClusterBounds, Collection};
use placewright_records::telemetry::Telemetry;
use placewright_scheduler::SchedulerOptions;
use placewright_store::{Change, Health, Store};
use placewright_sync::{ArcSwap, Mutex, MutexGuard, RwLock};
use policies::Policies;
use quotas::Ledger;
use returns::Returns;
use revisions::GoneRevisions;
use shadow::Shadowing;
use trials::UnitsNamed;

/// Seconds since 1970-01-01 UTC.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// Whether a token, by its name, may operate in a cluster.
pub type Authority = Arc<dyn Fn(&str, &str) -> bool + Send + Sync>;

/// How a deployment goes about its work.
#[derive(Clone)]
pub struct DeploymentOptions {
    /// How long a request may wait for its cluster.
    pub wait: Duration,
    /// Wall time that one turn of a cluster may take for decisions: batches and searches that
    /// take longer end with what they have decided.
    pub turn: Duration,
    /// Wall time that a question may take: why, capacity, what if, plans, explanations.
    pub question: Duration,
    /// How many requests may wait for one cluster.
    pub waiting: usize,
    /// How decisions are made; the seed is the cluster's own.
    pub scheduler: SchedulerOptions,
    /// The most seconds for which a request may have its places reserved, though never less
    /// than is usual; None: it may have them for good.
    pub longest_reservation: Option<i64>,
    /// The share of hosts, and that of VMs, that may vanish when an inventory is replaced and
    /// the request does not say how many.
    pub vanishing: f64,
    /// How much of each cluster there may be.
    pub bounds: ClusterBounds,
    /// Bytes of the answers of each cluster that are given again to a request that comes again.
    pub answers: u64,
    /// Bytes of the policies that somebody may make.
    pub policy_bytes: u64,
    /// How long recorded decisions are made again with a new unit before it comes into
    /// force; of each cluster that it concerns at least one is.
    pub trial: Duration,
    /// When a unit that fails after it came into force is rolled back; None: never.
    pub return_after: Option<ReturnAfter>,
    /// Tells the time.
    pub clock: Clock,
    /// Says who may have plans go on by themselves.
    pub authority: Authority,
}

impl Default for DeploymentOptions {
    fn default() -> Self {
        Self {
            wait: Duration::from_secs(10),
            turn: Duration::from_secs(10),
            question: Duration::from_secs(30),
            waiting: 10_000,
            scheduler: SchedulerOptions::default(),
            longest_reservation: Some(24 * 3600),
            vanishing: 0.3,
            bounds: ClusterBounds::default(),
            answers: Collection::Answers.bound(),
            policy_bytes: Collection::Policies.bound(),
            trial: Duration::from_millis(200),
            return_after: Some(ReturnAfter::default()),
            clock: Arc::new(system_clock),
            authority: Arc::new(|_, _| true),
        }
    }
}

/// The time of the system; 0 if its clock stands before 1970.
pub fn system_clock() -> i64 {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// A cluster that was taken out.
#[derive(Clone)]
struct Leaving {
    cluster: Arc<Cluster>,
    /// Who took it out.
    by: String,
}

/// A running deployment.
pub struct Deployment {
    options: DeploymentOptions,
    store: Store,
    events: Arc<Events>,
    telemetry: Arc<Telemetry>,
    clusters: RwLock<BTreeMap<Arc<str>, Arc<Cluster>>>,
    /// Clusters that could not be read from the store, and why.
    unread: Mutex<BTreeMap<Arc<str>, Unread>>,
    /// Clusters that were started again after a panic.
    restarts: Mutex<BTreeMap<Arc<str>, Restarts>>,
    /// Clusters that were taken out, and of which something is kept still.
    leaving: Mutex<BTreeMap<Arc<str>, Leaving>>,
    library: Arc<Library>,
    /// The units that policies name, as far as that was asked.
    units_named: Mutex<UnitsNamed>,
    /// Looked at without waiting; changed under `control`.
    in_force: Arc<ArcSwap<InForce>>,
    /// Settings that clusters are being given; added to under `control`.
    attaching: Arc<Mutex<BTreeMap<u64, Attaching>>>,
    /// When the next reservation ends in each cluster.
    alarm: Arc<Alarm>,
    /// What tenants hold, and what they may.
    ledger: Arc<Ledger>,
    /// Units that fail.
    returns: Arc<Returns>,
    /// When the next plan of moves is due, by the names of clusters that want them.
    due: Mutex<BTreeMap<Arc<str>, i64>>,
    /// Candidates that run beside units, by the units' names.
    shadows: Mutex<BTreeMap<String, Shadowing>>,
    /// Held while what concerns several clusters is changed. Nobody looks on while it is.
    control: Mutex<()>,
    /// Changed under `control`.
    gone: Mutex<GoneRevisions>,
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
        cluster.ok_or_else(|| match self.unread().get_key_value(name) {
            Some((name, unread)) => DeploymentError::Unread {
                cluster: name.clone(),
                why: unread.why.clone(),
            },
            None => DeploymentError::unknown("cluster", name, known()),
        })
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
    /// it decides, in sentences for everybody; empty if nothing.
    pub fn awaited(&self) -> Vec<String> {
        let mut awaited = Vec::new();
        if self.folders_awaited.load(Ordering::Acquire) {
            let what = "the units and policies of its folders to be in force or refused";
            awaited.push(what.to_owned());
        }
        if let Health::Fails(_) = self.store.health() {
            // Everybody may ask, and the sentence names a file.
            awaited.push("its store, which fails; the server's log says why".to_owned());
        }
        awaited
    }

    /// Where units come from.
    pub fn library(&self) -> &Arc<Library> {
        &self.library
    }

    /// The units in force.
    pub fn generation(&self) -> Arc<Generation> {
        self.in_force().generation.clone()
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

    /// The share of hosts, and that of VMs, that may vanish when an inventory is replaced and
    /// the request does not say how many.
    pub fn vanishing_share(&self) -> f64 {
        self.options.vanishing
    }

    /// How much of each cluster there may be.
    pub fn bounds(&self) -> ClusterBounds {
        self.options.bounds
    }

    /// How long a question may take.
    pub fn question_time(&self) -> Duration {
        self.options.question
    }

    /// Seconds since 1970-01-01 UTC.
    pub fn now(&self) -> i64 {
        (self.options.clock)()
    }

    /// A copy of all that is stored, as it is at one moment, to be read from its begin; decisions
    /// go on meanwhile.
    ///
    /// # Errors
    /// If another copy is being made, there is no room for it, or the store cannot be read.
    pub fn backup(&self) -> Result<std::fs::File, DeploymentError> {
        Ok(self.store.backup()?.into_file())
    }

    fn policies(&self) -> Arc<Policies> {
        self.in_force().policies.clone()
    }

    /// Whoever has this may change policies, clusters and what decides there.
    fn control(&self) -> MutexGuard<'_, ()> {
        self.control.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn gone(&self) -> GoneRevisions {
        *self.gone.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Have a removal kept, with the revisions of what is removed.
    fn remove(&self, removal: Change, gone: GoneRevisions) -> Result<(), DeploymentError> {
        let gone = self.gone().with(gone);
        self.store.commit(vec![removal, gone.kept()])?;
        *self.gone.lock().unwrap_or_else(PoisonError::into_inner) = gone;
        Ok(())
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
        let name = document.name.clone();
        self.check_free(&name)?;
        let settings = ClusterSettings {
            policy: attach.policy.as_str().into(),
            overrides: attach.overrides,
            balance: attach.balance,
            restart: attach.restart,
            statistics_max_age: attach.statistics_max_age,
            unmeasured_max_age: attach.unmeasured_max_age,
            revision: self.gone().settings + 1,
            seed: document.seed,
        };
        check_name(&name)?;
        let in_force = self.in_force();
        let schema = document.schema.clone();
        let rule = self.rule_of(&settings, &schema, &in_force.generation)?;
        // It may have many hosts: nobody else waits for it.
        let mut state = self.new_state(document, settings.clone(), (rule, &in_force))?;
        state.restarts_are_set(None);
        state.keep_everything();
        let cluster = {
            let _control = self.control();
            self.check_free(&name)?;
            if self.in_force().number != in_force.number {
                self.rule_of(&settings, &schema, &self.generation())?;
            }
            state.revise_from(self.gone().inventory);
            self.run(state)?
        };
        // The rows are kept in the first turn; without a cluster there would be none.
        let created = cluster.turn(|_| Ok(())).wait();
        if let Err(error) = created {
            self.take_out(&name);
            // Nor may a later turn have it kept.
            cluster.cut_off();
            self.ledger.forget(&name);
            return Err(error.of_change_taken_back());
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

    /// That no cluster has that name.
    fn check_free(&self, name: &Arc<str>) -> Result<(), DeploymentError> {
        if self.leaving().contains_key(name) {
            return Err(DeploymentError::Ending(name.clone()));
        }
        match self.cluster(name) {
            Err(error @ DeploymentError::Unread { .. }) => Err(error),
            Err(_) => Ok(()),
            Ok(_) => Err(DeploymentError::Exists {
                what: "cluster",
                name: name.to_string(),
            }),
        }
    }

    /// Take a cluster out, with everything of it.
    ///
    /// # Errors
    /// If there is none of that name, or its end cannot be kept: then it is taken out all the same,
    /// and its end is kept when it can be.
    pub fn remove_cluster(&self, name: &str, by: impl Into<Actor>) -> Result<(), DeploymentError> {
        let by = by.into();
        let cluster = {
            let _control = self.control();
            by.must()?;
            if self.remove_unread(name)? {
                self.tell_removed(&name.into(), by.name());
                return Ok(());
            }
            let cluster = self.cluster(name)?;
            // Its name is taken until its rows are gone.
            let leaving = Leaving {
                cluster: cluster.clone(),
                by: by.name().to_string(),
            };
            self.leaving().insert(cluster.name().clone(), leaving);
            self.take_out(cluster.name());
            cluster
        };
        // Nobody else waits for the turn that is under way there.
        cluster.cut_off();
        let patience = self.options.turn.saturating_add(self.options.wait);
        if cluster.join(Instant::now().checked_add(patience)) {
            return self.finish_removal(cluster.name());
        }
        Err(DeploymentError::Removing(cluster.name().clone()))
    }

    /// Remove what was kept of a cluster that was taken out and whose thread has ended: no
    /// turn may write rows after that.
    fn finish_removal(&self, name: &Arc<str>) -> Result<(), DeploymentError> {
        let _control = self.control();
        let Some(Leaving { cluster, by }) = self.leaving().get(name).cloned() else {
            // Somebody else has.
            return Ok(());
        };
        self.telemetry.clusters.forget(cluster.meter());
        self.telemetry.units.forget_cluster(name);
        self.alarm.set(name, None);
        let gone = GoneRevisions {
            inventory: cluster.revision(),
            settings: cluster.settings().revision,
            ..GoneRevisions::default()
        };
        let removal = Change::RemoveCluster {
            cluster: name.to_string(),
        };
        // Nobody finds it any more, and its rows are removed as soon as they can be.
        let removed = self.remove(removal, gone);
        removed.map_err(DeploymentError::of_change_in_force)?;
        self.ledger.forget(name);
        self.leaving().remove(name);
        self.tell_removed(name, &by);
        Ok(())
    }

    fn tell_removed(&self, name: &Arc<str>, by: Who<'_>) {
        self.tell(News {
            kind: EventKind::ClusterRemoved,
            by: Some(by.into()),
            cluster: Some(name.clone()),
            message: "the cluster was removed".to_owned(),
            ..News::default()
        });
    }

    fn leaving(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, Leaving>> {
        self.leaving.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.stop_by(None);
    }

    /// The same, and wait for it until then at most: a turn that is under way then is given
    /// up, with what it has not answered. Whether everything has ended.
    pub fn stop_by(&self, until: Option<Instant>) -> bool {
        let clusters = {
            let mut clusters = self
                .clusters
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *clusters)
        };
        // All of them at once, or each would have to wait for those before.
        for cluster in clusters.values() {
            cluster.close();
        }
        let mut all_ended = true;
        for cluster in clusters.values() {
            if !cluster.join(until) {
                let name = &**cluster.name();
                tracing::warn!(cluster = name, "a turn that is still running is abandoned");
                cluster.cut_off();
                all_ended = false;
            }
        }
        // What was submitted before is kept when this is.
        if let Err(error) = self.store.commit(Vec::new()) {
            tracing::error!(%error, "the last changes may not have been stored");
        }
        all_ended
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
