//! VMs of hosts that are down or in error are restarted where a cluster is set so.
//!
//! As with other plans, a plan is made on a copy of the cluster by a thread that no decision
//! waits for. Its moves are begun at once, in a turn of the cluster.

use std::sync::Arc;

use super::cluster::RESTART;
use super::{Cluster, ClusterState, Deployment, DeploymentError, EventKind, News};
use placewright_scheduler::Cancel;

impl Deployment {
    /// Restart VMs in each cluster that is set so, of hosts that have been down or in error for
    /// long enough by now.
    pub fn restart_due(&self) {
        self.restart_due_unless(&Cancel::default());
    }

    /// The same, each plan within the time of a question, until `cancel` says so.
    pub(super) fn restart_due_unless(&self, cancel: &Cancel) {
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
