//! Plans of moves that clusters want to have made from time to time.
//!
//! A plan is made on a copy of the cluster, by a thread that no decision waits for, and
//! begins nothing: it is kept to be looked at, begun or cancelled.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use super::{Cluster, ClusterState, Deployment, DeploymentError, EventKind, News};
use placewright_records::telemetry::BalanceOutcome;
use placewright_scheduler::{BalanceOptions, Cancel};

/// Who makes plans that are due.
pub(super) const PERIODIC: &str = "periodic";

impl Deployment {
    /// Make a plan in each cluster in which one is due by now. The first is due when its
    /// interval has passed since this was first called after it was set.
    pub fn balance_due(&self) {
        self.balance_due_unless(&Cancel::default());
    }

    /// The same, each plan within the time of a question, until `cancel` says so.
    pub(super) fn balance_due_unless(&self, cancel: &Cancel) {
        let now = self.now();
        for cluster in self.due_clusters(now) {
            let cancel = cancel.clone().within(self.options.question);
            let (outcome, message) = match plan(&cluster, cancel) {
                // The cluster tells of a plan.
                Ok(outcome) => (outcome, None),
                Err(error) => (
                    BalanceOutcome::Failed,
                    Some((
                        EventKind::BalanceFailed,
                        format!("there is no plan of moves: {error}"),
                    )),
                ),
            };
            cluster.meter().balanced(outcome);
            if let Some((kind, message)) = message {
                self.tell(News {
                    kind,
                    cluster: Some(cluster.name().clone()),
                    policy: Some(cluster.settings().policy.clone()),
                    message,
                    ..News::default()
                });
            }
        }
    }

    /// The clusters in which a plan is due, whose next one is due an interval from now.
    fn due_clusters(&self, now: i64) -> Vec<Arc<Cluster>> {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut next, mut clusters) = (BTreeMap::new(), Vec::new());
        for cluster in self.clusters() {
            let Some(balance) = cluster.settings().balance else {
                continue;
            };
            let then = now.saturating_add(balance.every);
            // An interval that was shortened, or a clock that was set back, postpones
            // nothing.
            let at = due.get(cluster.name()).map_or(then, |at| then.min(*at));
            let is_due = at <= now;
            next.insert(cluster.name().clone(), if is_due { then } else { at });
            clusters.extend(is_due.then_some(cluster));
        }
        *due = next;
        clusters
    }
}

/// Make a plan, and keep it if it says anything, and another thing than the last one.
fn plan(cluster: &Cluster, cancel: Cancel) -> Result<BalanceOutcome, DeploymentError> {
    let planner = cluster.turn(ClusterState::planner).wait()?;
    let plan = planner.unless(cancel).plan(&BalanceOptions::default())?;
    if plan.moves.is_empty() && plan.notes.is_empty() && plan.stuck.is_empty() {
        return Ok(BalanceOutcome::NothingToMove);
    }
    let by = Arc::from(PERIODIC);
    let kept = cluster.turn_as(&by, move |state| state.remember_if_new(plan));
    kept.wait()?;
    Ok(BalanceOutcome::Planned)
}
