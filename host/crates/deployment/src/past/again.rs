//! Decisions made again with candidates: those that a cluster remembers, and before them
//! those of which the store alone knows, as after a restart.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::cluster::{Cluster, ClusterState, MadeOn};
use super::super::{Deployment, DeploymentError};
use super::{Kept, read};
use placewright_engine::generation::Generation;
use placewright_policy::Policy;
use placewright_scheduler::{Cancel, MadeAgain, PlaceError};
use placewright_store::SavedPast;

/// Which decisions are made again.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// The newest, at most so many.
    pub decisions: usize,
    /// Of those that differ, at most so many are explained.
    pub examples: usize,
    /// No more are begun after that, but for the first.
    pub until: Instant,
    /// How long a busy cluster is waited for.
    pub patience: Duration,
    /// Ends it early, as if the time were up.
    pub cancel: Cancel,
}

/// Decisions that were made again.
#[derive(Debug)]
pub(crate) struct Again {
    /// Each of them, the newest first.
    pub made: Vec<MadeAgain>,
    /// How many recorded decisions there were to make again, at most as many as were wanted:
    /// those that there was no time for are among them, those that are passed over are not.
    pub of: usize,
}

impl Deployment {
    /// Make recorded decisions of a cluster again by another policy or other units, the
    /// newest first. Those on copies, and those in which the request named the host or a quota
    /// refused it, are passed over.
    ///
    /// # Errors
    /// If the policy cannot run with these units, or the store cannot be read.
    pub(crate) fn made_again(
        &self,
        cluster: &Cluster,
        (policy, generation): (&Arc<Policy>, &Generation),
        wanted: Wanted,
    ) -> Result<Again, DeploymentError> {
        let (most, until) = (wanted.decisions, wanted.until);
        let trial = move |state: &mut ClusterState| Ok(state.scheduler().trial(most));
        let trial = cluster.read_within(wanted.patience, trial).wait()?;
        let remembered = trial.unless(wanted.cancel.clone());
        let (mut of, mut before) = (remembered.decisions(), remembered.oldest());
        let mut again = remembered.run(policy.clone(), generation, until, wanted.examples)?;
        let explained = again.iter().filter(|made| made.explained.is_some());
        let mut examples = wanted.examples.saturating_sub(explained.count());
        while of < most {
            let page = self.store.decisions(cluster.name(), before, most - of)?;
            if page.is_empty() {
                break;
            }
            let mut rest = page.len();
            for saved in page {
                before = Some(saved.number);
                let is_over = Instant::now() >= until || wanted.cancel.check().is_err();
                if !again.is_empty() && is_over {
                    of += rest;
                    return Ok(Again { made: again, of });
                }
                rest -= 1;
                let then = match self.store.past(cluster.name(), saved.number)? {
                    SavedPast::Known(then) => *then,
                    // Nothing is known of those before it either.
                    SavedPast::Gone { .. } | SavedPast::NoDecision { .. } => {
                        return Ok(Again { made: again, of });
                    }
                };
                let kept = match read(cluster.name(), then) {
                    Ok(kept) => kept,
                    Err(error) => {
                        tracing::warn!(%error, "a recorded decision cannot be replayed");
                        continue;
                    }
                };
                let decision = &kept.decision;
                let had_no_choice =
                    decision.request.forced.is_some() || decision.refused().is_some();
                if kept.made_on == MadeOn::Rows && !had_no_choice {
                    let by = (policy, generation);
                    let made = self.kept_again(cluster.name(), kept, by, examples > 0)?;
                    examples -= usize::from(made.explained.is_some());
                    again.push(made);
                    of += 1;
                }
            }
        }
        Ok(Again { made: again, of })
    }

    /// Make a decision again that was kept. If it differs, it may be that it is to be
    /// explained; whatever stands against that, it counts.
    fn kept_again(
        &self,
        cluster: &str,
        kept: Kept,
        (policy, generation): (&Arc<Policy>, &Generation),
        explains: bool,
    ) -> Result<MadeAgain, DeploymentError> {
        let number = kept.decision.number;
        let request = kept.decision.request.clone();
        let before = kept.decision.shown["host"].as_str().map(Arc::from);
        let past = self.decided_by(kept, policy.clone(), generation)?;
        let (host, faults) = past.host_and_faults();
        let mut made = MadeAgain {
            number,
            request,
            before,
            host: host.map_err(PlaceError::from),
            faults,
            explained: None,
        };
        if explains && made.differs() {
            let then = self
                .kept_past(cluster, number)
                .and_then(|then| then.explain());
            if let (Ok(then), Ok(now)) = (then, past.explain()) {
                made.explained = Some(Box::new((then, now)));
            }
        }
        Ok(made)
    }
}
