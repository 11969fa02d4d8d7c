//! VMs of hosts that are down or in error are restarted where a cluster is set so.
//!
//! As with other plans, a plan is made on a copy of the cluster by a thread that no decision
//! waits for. Its moves are begun at once, in a turn of the cluster.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::cluster::RESTART;
use super::{Cluster, ClusterState, Deployment, DeploymentError, EventKind, News};
use placewright_scheduler::Cancel;

/// How often it is looked whether VMs are to be restarted.
const LOOK: Duration = Duration::from_secs(1);

impl Deployment {
    /// Restart VMs in each cluster that is set so, of hosts that have been down or in error for
    /// long enough by now.
    pub fn restart_due(&self) {
        self.restart_due_unless(&Cancel::default());
    }

    /// The same, each plan within the time of a question, until `cancel` says so.
    fn restart_due_unless(&self, cancel: &Cancel) {
        for cluster in self.clusters() {
            if !cluster.are_restarts_due(self.now()) {
                continue;
            }
            let cancel = cancel.clone().within(self.options.question);
            if let Err(error) = restart(&cluster, cancel) {
                self.tell(News {
                    kind: EventKind::RestartFailed,
                    cluster: Some(cluster.name().clone()),
                    policy: Some(cluster.settings().policy.clone()),
                    by: Some(RESTART.into()),
                    message: format!("no restarts can be planned, and it is tried again: {error}"),
                    ..News::default()
                });
            }
        }
    }
}

/// Plan the restarts that are due in a cluster, and begin them.
fn restart(cluster: &Cluster, cancel: Cancel) -> Result<(), DeploymentError> {
    let by = Arc::from(RESTART);
    let wanted = cluster.turn_as(&by, ClusterState::due_restarts).wait()?;
    let Some(wanted) = wanted else {
        return Ok(());
    };
    let plan = wanted.plan(cancel)?;
    let begun = cluster.turn_as(&by, move |state| {
        state.begin_restarts(plan);
        Ok(())
    });
    begun.wait()
}

/// Restarts VMs when that is due, until it is dropped.
#[derive(Debug)]
pub(super) struct Restarting {
    /// Dropped, it ends the thread.
    stop: Option<mpsc::Sender<()>>,
    /// Set, it ends the plan that is being made.
    cancelled: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Restarting {
    pub(super) fn start(deployment: &Arc<Deployment>) -> io::Result<Self> {
        let deployment = Arc::downgrade(deployment);
        let (stop, stopped) = mpsc::channel();
        let cancelled = Arc::<AtomicBool>::default();
        let cancel = Cancel::default().when(&cancelled);
        let thread = thread::Builder::new()
            .name("restarts".to_owned())
            .spawn(move || {
                while stopped.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                    let Some(deployment) = deployment.upgrade() else {
                        return;
                    };
                    deployment.restart_due_unless(&cancel);
                }
            })?;
        Ok(Self {
            stop: Some(stop),
            cancelled,
            thread: Some(thread),
        })
    }

    /// End the plan that is being made, if there is one.
    pub(super) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

impl Drop for Restarting {
    fn drop(&mut self) {
        self.cancel();
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // It has no news for us; if it panicked, that was logged.
            let _ = thread.join();
        }
    }
}
