//! Clusters that stand still, for what was kept of them or for a fault of ours. They stop
//! nobody else: they are told of, and those that a panic has ended go on with what was kept.

use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::revisions::GoneRevisions;
use super::{Cluster, Deployment, DeploymentError, EventKind, News};
use placewright_store::{Change, SavedCluster};
use placewright_sync::MutexGuard;

/// How long a cluster that panics again and again is left alone at most.
const LONGEST_REST: Duration = Duration::from_secs(60);

/// A cluster that has run for so long begins anew to count.
const SOUND: Duration = Duration::from_secs(600);

/// A cluster in which nothing is decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenCluster {
    /// Its name.
    pub name: Arc<str>,
    /// A sentence.
    pub why: String,
}

/// A cluster that could not be read.
#[derive(Debug, Clone)]
pub(super) struct Unread {
    pub(super) why: String,
    /// How often its rows had changed.
    revision: u64,
}

/// How often a cluster was started again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Restarts {
    count: u32,
    last: Instant,
}

impl Restarts {
    /// When it may be started once more.
    fn next(self) -> Instant {
        let rest = Duration::from_secs(1 << self.count.min(10));
        self.last + rest.min(LONGEST_REST)
    }
}

impl Deployment {
    /// The clusters that stand still or have no policy that can run, by name.
    pub fn broken_clusters(&self) -> Vec<BrokenCluster> {
        let mut broken = self.unread_clusters();
        for cluster in self.clusters() {
            let why = match cluster.has_panicked() {
                true => "a fault of the program has ended it; it is started again",
                false if cluster.policy().is_none() => "its policy cannot run",
                false => continue,
            };
            broken.push(BrokenCluster {
                name: cluster.name().clone(),
                why: why.to_owned(),
            });
        }
        broken.sort_by(|a, b| a.name.cmp(&b.name));
        broken
    }

    /// The clusters that could not be read from the store, by name.
    pub fn unread_clusters(&self) -> Vec<BrokenCluster> {
        let unread = self.unread();
        let unread = unread.iter().map(|(name, unread)| BrokenCluster {
            name: name.clone(),
            why: unread.why.clone(),
        });
        unread.collect()
    }

    /// The clusters that could not be read, and why.
    pub(super) fn unread(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, Unread>> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Start a cluster as it was kept, or know from now on why it cannot be. A sentence if it
    /// decides nothing.
    pub(super) fn restore_or_note(&self, saved: &SavedCluster) -> Option<String> {
        let restored = panic::catch_unwind(AssertUnwindSafe(|| self.restore(saved)));
        let why = match restored {
            Ok(Ok(problem)) => return problem,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "a fault of the program ends its start".to_owned(),
        };
        let name: Arc<str> = saved.name.as_str().into();
        self.take_out(&name);
        let unread = Unread {
            why: why.clone(),
            revision: saved.counters.revision,
        };
        self.unread().insert(name.clone(), unread);
        self.tell(News {
            kind: EventKind::ClusterStopped,
            cluster: Some(name),
            message: why.clone(),
            ..News::default()
        });
        Some(format!(
            "cluster \"{}\" is out of service: {why}",
            saved.name
        ))
    }

    /// Take out what was kept of a cluster that could not be read. False: there is none of
    /// that name.
    pub(super) fn remove_unread(&self, name: &str) -> Result<bool, DeploymentError> {
        let unread = self.unread().get(name).cloned();
        let Some(Unread { revision, .. }) = unread else {
            return Ok(false);
        };
        let cluster = name.to_owned();
        let gone = GoneRevisions {
            inventory: revision,
            ..GoneRevisions::default()
        };
        self.remove(Change::RemoveCluster { cluster }, gone)?;
        self.unread().remove(name);
        self.ledger.forget(&name.into());
        Ok(true)
    }

    /// Start clusters again that a panic has ended, and finish the removal of those whose last
    /// turn has ended by now.
    pub fn mend(&self) {
        for cluster in self.clusters() {
            if cluster.has_panicked() && self.may_start_again(cluster.name()) {
                self.start_again(&cluster);
            }
        }
        let leaving: Vec<Arc<Cluster>> = {
            let leaving = self.leaving();
            leaving.values().map(|it| it.cluster.clone()).collect()
        };
        for cluster in leaving {
            if cluster.join(Some(Instant::now()))
                && let Err(error) = self.finish_removal(cluster.name())
            {
                let cluster = &**cluster.name();
                tracing::error!(cluster, %error, "the rows of a removed cluster stay in the store");
            }
        }
        let broken = i64::try_from(self.broken_clusters().len());
        let broken = broken.unwrap_or(i64::MAX);
        self.telemetry.clusters.broken.set(broken);
    }

    /// Whether it is time to start a cluster again; if so, that is counted.
    fn may_start_again(&self, name: &Arc<str>) -> bool {
        let mut all = self.restarts.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let count = match all.get(name) {
            Some(restarts) if now < restarts.next() => return false,
            Some(restarts) if now < restarts.last + SOUND => restarts.count + 1,
            _ => 0,
        };
        all.insert(name.clone(), Restarts { count, last: now });
        true
    }

    fn start_again(&self, dead: &Arc<Cluster>) {
        let name = dead.name();
        // What was submitted before is kept when this is.
        let saved = self
            .store
            .commit(Vec::new())
            .and_then(|()| self.store.load());
        let saved = match saved {
            Ok(saved) => saved.clusters.into_iter().find(|it| *it.name == **name),
            Err(error) => {
                tracing::error!(cluster = &**name, %error, "the cluster cannot be restarted");
                return;
            }
        };
        let _control = self.control();
        let is_current = self.cluster(name).is_ok_and(|it| Arc::ptr_eq(&it, dead));
        let Some(saved) = saved.filter(|_| is_current) else {
            // It was taken out meanwhile.
            return;
        };
        let problem = self.restore_or_note(&saved);
        if self.unread().contains_key(name) {
            return;
        }
        self.tell(News {
            kind: EventKind::ClusterRestarted,
            cluster: Some(name.clone()),
            message: match problem {
                None => "a fault of the program had stopped it; it continues from its stored state"
                    .to_owned(),
                Some(problem) => problem,
            },
            ..News::default()
        });
    }
}
