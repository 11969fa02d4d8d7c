//! Units that fail after they came into force: the version before is put in force again, so
//! that no cluster stops deciding while a good version is available.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};

use super::{Deployment, EventKind, News};
use placewright_engine::unit::{Digest, Identity};
use placewright_library::stage::Outcome;
use placewright_sync::{Condvar, Mutex};

/// Who rolls back where nobody asked for it.
const SERVER: &str = "server";

/// When a unit has failed so often that its predecessor is put in force again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReturnAfter {
    /// In how many decisions it must have failed.
    pub failures: usize,
    /// Among how many decisions of one cluster, the newest.
    pub decisions: u64,
}

impl Default for ReturnAfter {
    fn default() -> Self {
        Self {
            failures: 3,
            decisions: 100,
        }
    }
}

/// A unit that fails too often.
#[derive(Debug, Clone)]
pub(super) struct Failing {
    pub(super) unit: Arc<Identity>,
    /// The cluster in which it does.
    pub(super) cluster: Arc<str>,
    /// How often it failed there lately.
    pub(super) failures: usize,
    /// How it failed last, and where.
    pub(super) because: String,
}

/// Units that are to be rolled back.
#[derive(Debug, Default)]
pub(super) struct Returns {
    /// None: units are only rolled back by hand.
    after: Option<ReturnAfter>,
    set: Mutex<Set>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Set {
    wanted: VecDeque<Failing>,
    /// Those that have failed too often: no rollback returns to one of them.
    failed: BTreeSet<(String, Digest)>,
    /// Those of them that have no predecessor to return to; an event has said so.
    given_up: BTreeSet<(String, Digest)>,
    stopped: bool,
}

impl Returns {
    pub(super) fn new(after: Option<ReturnAfter>) -> Self {
        Self {
            after,
            ..Self::default()
        }
    }

    /// When a unit fails too often; None: never.
    pub(super) fn after(&self) -> Option<ReturnAfter> {
        self.after
    }

    /// A unit fails too often.
    pub(super) fn want(&self, failing: Failing) {
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        let unit = (failing.unit.name.clone(), failing.unit.digest);
        let is_wanted = set.wanted.iter().any(|it| it.unit == failing.unit);
        if is_wanted || set.given_up.contains(&unit) {
            return;
        }
        set.failed.insert(unit);
        set.wanted.push_back(failing);
        drop(set);
        self.changed.notify_all();
    }

    /// Remember that this unit has no predecessor to return to, so that the log names it once.
    fn give_up(&self, name: &str, digest: Digest) {
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        set.given_up.insert((name.to_owned(), digest));
    }

    fn take(&self) -> Option<Failing> {
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        set.wanted.pop_front()
    }

    fn has_failed(&self, name: &str, digest: Digest) -> bool {
        let set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        set.failed.contains(&(name.to_owned(), digest))
    }

    /// Wait for a unit that fails; false if there is nothing more to wait for.
    fn wait(&self) -> bool {
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        while set.wanted.is_empty() && !set.stopped {
            let waited = self.changed.wait(set);
            set = waited.unwrap_or_else(PoisonError::into_inner);
        }
        !set.stopped
    }

    fn stop(&self) {
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        set.stopped = true;
        drop(set);
        self.changed.notify_all();
    }
}

impl Deployment {
    /// Roll back the units that fail too often, and tell of it.
    pub fn return_from_failing(&self) {
        while let Some(failing) = self.returns.take() {
            self.return_from(&failing);
        }
    }

    fn return_from(&self, failing: &Failing) {
        let Identity { name, digest } = &*failing.unit;
        let current = self.library.current().get(name).map(|unit| unit.digest());
        if current != Some(*digest) {
            // Somebody was faster.
            return;
        }
        let decided = self.library.history().decided(name);
        let mut earlier = decided.into_iter();
        let before = earlier.find(|it| it != digest && !self.returns.has_failed(name, *it));
        let after = self.returns.after().unwrap_or_default();
        let fails = format!(
            "unit \"{name}\" ({}) failed in {} of the last {} decisions of cluster \"{}\": {}",
            digest.short(),
            failing.failures,
            after.decisions,
            failing.cluster,
            failing.because
        );
        let became = match before {
            None => Err("there is no earlier version that decided".to_owned()),
            Some(before) => match self.library.rollback(name, before, SERVER) {
                Ok(staging) => match staging.outcome {
                    Outcome::InForce { .. } => Ok(before),
                    outcome => Err(format!("{} is not in force: {outcome}", before.short())),
                },
                Err(error) => Err(error.to_string()),
            },
        };
        let (kind, message) = match became {
            Ok(before) => (
                EventKind::UnitReturned,
                format!(
                    "{fails}. Its predecessor {} is in force again. Upload a version that works, or \
                     return to this one with POST /v1/units/{name}/rollback",
                    before.short()
                ),
            ),
            Err(why) => {
                self.returns.give_up(name, *digest);
                let message = format!("{fails}. It stays in force: {why}");
                (EventKind::UnitNotReturned, message)
            }
        };
        self.tell(News {
            kind,
            by: Some(SERVER.into()),
            cluster: Some(failing.cluster.clone()),
            unit: Some(name.as_str().into()),
            message,
            ..News::default()
        });
    }
}

/// Rolls back units that fail, until it is dropped.
#[derive(Debug)]
pub(super) struct Returning {
    returns: Arc<Returns>,
    thread: Option<JoinHandle<()>>,
}

impl Returning {
    pub(super) fn start(deployment: &Arc<Deployment>) -> io::Result<Self> {
        let returns = deployment.returns.clone();
        let (waited, deployment) = (returns.clone(), Arc::downgrade(deployment));
        let thread = thread::Builder::new()
            .name("returning".to_owned())
            .spawn(move || {
                while waited.wait() {
                    let Some(deployment) = deployment.upgrade() else {
                        return;
                    };
                    deployment.return_from_failing();
                }
            })?;
        Ok(Self {
            returns,
            thread: Some(thread),
        })
    }
}

impl Drop for Returning {
    fn drop(&mut self) {
        self.returns.stop();
        if let Some(thread) = self.thread.take() {
            // It has no news for us; if it panicked, that was logged.
            let _ = thread.join();
        }
    }
}
