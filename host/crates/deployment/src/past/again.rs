//! Decisions made again with candidates: those that a cluster remembers, and before them
//! those of which the store alone knows, as after a restart.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::cluster::{Cluster, ClusterState};
use super::super::{Deployment, DeploymentError};
use super::{Kept, read};
use placewright_chain::Reuse;
use placewright_engine::generation::Generation;
use placewright_policy::Policy;
use placewright_scheduler::{Baseline, Cancel, MadeAgain, PlaceError, Sequence};
use placewright_store::{SavedPast, Then};

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
    /// Whether units' answers are used again from one decision to the next, and how; None: each
    /// unit is asked everything in every decision.
    pub reuse: Option<Reuse>,
    /// What the decisions are compared with: what that policy and these units come to now, where
    /// others made them; None: what was recorded.
    pub baseline: Option<Baseline>,
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
    /// newest first. Those on copies, those that were only tried, and those in which the request
    /// named the host or a quota refused it, are passed over.
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
        let remembered = trial
            .unless(wanted.cancel.clone())
            .reusing(wanted.reuse)
            .against(wanted.baseline.clone());
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
                    SavedPast::Known(then) => then,
                    // Nothing is known of those before it either.
                    SavedPast::Gone { .. } | SavedPast::NoDecision { .. } => {
                        return Ok(Again { made: again, of });
                    }
                };
                let baseline = match &wanted.baseline {
                    Some(by) => self.host_by(cluster.name(), (*then).clone(), by)?,
                    None => None,
                };
                let Some(kept) = read_or_warn(cluster.name(), *then) else {
                    continue;
                };
                if kept.had_a_choice() {
                    let recorded = kept.decision.shown["host"].as_str();
                    let otherwise = baseline.filter(|host| host.as_deref() != recorded);
                    // Explained is what was recorded, not what others would have come to.
                    let explains = examples > 0 && otherwise.is_none();
                    let by = (policy, generation);
                    let mut made = self.kept_again(cluster.name(), kept, by, explains)?;
                    examples -= usize::from(made.explained.is_some());
                    if let Some(host) = otherwise {
                        made.before = host;
                    }
                    again.push(made);
                    of += 1;
                }
            }
        }
        Ok(Again { made: again, of })
    }

    /// The same, the oldest first, each on what those before it have come to: VMs that went
    /// elsewhere lie there from then on, as long as they are where they went. None is explained.
    /// If the time is up, the newest are left out.
    ///
    /// # Errors
    /// As for [`Deployment::made_again`].
    pub(crate) fn made_in_sequence(
        &self,
        cluster: &Cluster,
        (policy, generation): (&Arc<Policy>, &Generation),
        wanted: Wanted,
    ) -> Result<Again, DeploymentError> {
        let (most, until) = (wanted.decisions, wanted.until);
        let trial = move |state: &mut ClusterState| Ok(state.scheduler().trial(most));
        let trial = cluster.read_within(wanted.patience, trial).wait()?;
        let remembered = trial.unless(wanted.cancel.clone());
        let more = most - remembered.decisions();
        let stored = self.stored_before(cluster.name(), remembered.oldest(), more)?;
        let mut of = stored.len() + remembered.decisions();
        let (mut sequence, mut made) = (Sequence::default(), Vec::new());
        for number in stored.into_iter().rev() {
            let is_over = Instant::now() >= until || wanted.cancel.check().is_err();
            if is_over && !made.is_empty() {
                break;
            }
            let SavedPast::Known(then) = self.store.past(cluster.name(), number)? else {
                // Those before it are not known either, and those after it may be.
                of -= 1;
                continue;
            };
            let Some(mut kept) = read_or_warn(cluster.name(), *then).filter(Kept::had_a_choice)
            else {
                of -= 1;
                continue;
            };
            let request = kept.decision.request.clone();
            let homes = sequence.enter(&mut kept.inventory, &request);
            let by = (policy, generation);
            let again = self.kept_again(cluster.name(), kept, by, false)?;
            sequence.decided(homes, &again);
            made.push(again);
        }
        made.reverse();
        // After the first, one more would be begun however late it is.
        if made.is_empty() || Instant::now() < until {
            let policy = policy.clone();
            let mut newer = remembered.run_in_sequence(policy, generation, until, &mut sequence)?;
            newer.append(&mut made);
            made = newer;
        }
        Ok(Again { made, of })
    }

    /// The host that a stored decision comes to by that policy and these units; None: it cannot be
    /// made again by them.
    fn host_by(
        &self,
        cluster: &str,
        then: Then,
        (policy, generation): &Baseline,
    ) -> Result<Option<Option<Arc<str>>>, DeploymentError> {
        let Some(kept) = read_or_warn(cluster, then).filter(Kept::had_a_choice) else {
            return Ok(None);
        };
        let made = self.kept_again(cluster, kept, (policy, generation), false)?;
        Ok(made.host.ok())
    }

    /// The numbers of stored decisions, the newest first, at most `most`: of those before the
    /// decision with the number `before`, if it is given.
    fn stored_before(
        &self,
        cluster: &str,
        mut before: Option<u64>,
        most: usize,
    ) -> Result<Vec<u64>, DeploymentError> {
        let mut numbers = Vec::new();
        while numbers.len() < most {
            let page = self
                .store
                .decisions(cluster, before, most - numbers.len())?;
            let Some(last) = page.last() else { break };
            before = Some(last.number);
            numbers.extend(page.iter().map(|saved| saved.number));
        }
        Ok(numbers)
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

/// Put together what the store has of a decision. One that cannot be read is passed over.
fn read_or_warn(cluster: &str, then: Then) -> Option<Kept> {
    let kept = read(cluster, then);
    kept.inspect_err(|error| tracing::warn!(%error, "a recorded decision cannot be replayed"))
        .ok()
}
