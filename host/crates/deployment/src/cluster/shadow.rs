//! A candidate beside the unit in force: it judges what is decided, and decides nothing.

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::ClusterState;
use crate::DeploymentError;
use placewright_chain::{Chain, Runner, Weighing};
use placewright_engine::generation::Generation;
use placewright_model::Request;
use placewright_policy::Policy;

/// Examples of decisions on which the two do not agree.
const EXAMPLES: usize = 10;

/// A chain with a candidate in it, beside the one that decides.
pub(super) struct Shadow {
    unit: String,
    runner: Runner,
    /// Every so many decisions are judged.
    every: u64,
    report: ShadowReport,
}

/// How a candidate has judged what was decided in a cluster.
#[derive(Debug, Clone, Default, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ShadowReport {
    /// Decisions that it has judged.
    #[schema(example = 200)]
    pub decisions: u64,
    /// Those in which it would have chosen the same host, or none as well.
    #[schema(example = 196)]
    pub agreeing: u64,
    /// Those in which it gave no answer.
    #[schema(example = 3)]
    pub failures: u64,
    /// Of the hosts that were chosen, how many others it holds for better: the mean.
    #[schema(example = 0.2)]
    pub rank_mean: f64,
    /// And the most.
    #[schema(example = 4)]
    pub rank_worst: u64,
    /// Those in which the chosen host is none of those that it leaves.
    #[schema(example = 1)]
    pub removed: u64,
    /// Milliseconds that its chain has taken in all, every host asked about.
    #[schema(example = 412.5)]
    pub candidate_ms: f64,
    /// Milliseconds that the chain in force has taken for the same decisions, with what
    /// it keeps of earlier ones.
    #[schema(example = 96.25)]
    pub live_ms: f64,
    /// The last failure, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "the unit ran out of time")]
    pub failure: Option<String>,
    /// Some decisions in which they do not agree.
    pub examples: Vec<Disagreement>,
}

/// A decision in which the candidate would have chosen another host.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
#[schema(as = ShadowDisagreement)]
pub struct Disagreement {
    /// Its number.
    #[schema(example = 17)]
    pub decision: u64,
    /// Id of the host that was chosen; none if there was none.
    #[schema(value_type = Option<String>, required = true, example = "h1")]
    pub live: Option<Arc<str>>,
    /// Id of the host that the candidate would have chosen; none if there was none.
    #[schema(value_type = Option<String>, required = true, example = "h2")]
    pub candidate: Option<Arc<str>>,
}

/// What the candidate says of a decision that is about to be made.
pub(super) struct Judged {
    weighing: Result<Weighing, String>,
    took: Duration,
}

impl ClusterState {
    /// Let a candidate judge every so many decisions from now on; one that did so before
    /// ends.
    ///
    /// # Errors
    /// If the policy cannot run with it.
    pub fn begin_shadow(
        &mut self,
        unit: String,
        policy: Arc<Policy>,
        generation: &Generation,
        every: u64,
    ) -> Result<(), DeploymentError> {
        let limit = self.scheduler.options().chain_limit;
        let chain = Chain::resolve(policy, generation, self.scheduler.inventory_mut())?;
        self.shadow = Some(Shadow {
            unit,
            runner: Runner::new(Arc::new(chain), limit),
            every: every.max(1),
            report: ShadowReport::default(),
        });
        Ok(())
    }

    /// End it; a candidate of another name goes on.
    pub fn end_shadow(&mut self, unit: &str) {
        self.shadow = self.shadow.take().filter(|shadow| shadow.unit != *unit);
    }

    /// What the candidate for that unit has come to so far.
    pub fn shadow_report(&self, unit: &str) -> Option<ShadowReport> {
        let shadow = self.shadow.as_ref();
        let shadow = shadow.filter(|shadow| shadow.unit == *unit)?;
        Some(shadow.report.clone())
    }

    /// Before a decision: what the candidate says of it, if it is to judge this one.
    pub(super) fn judge_by_shadow(&mut self, request: &Request) -> Option<Judged> {
        let number = self.scheduler.next_number();
        let shadow = self.shadow.as_mut()?;
        if !number.is_multiple_of(shadow.every) {
            return None;
        }
        let began = Instant::now();
        let weighing = self.scheduler.weigh_by(&mut shadow.runner, request);
        Some(Judged {
            weighing: weighing.map_err(|error| error.to_string()),
            took: began.elapsed(),
        })
    }

    /// After it: hold the two against each other.
    pub(super) fn compare_with_shadow(
        &mut self,
        judged: Judged,
        number: u64,
        live: Option<&Arc<str>>,
        took: Duration,
    ) {
        let inventory = self.scheduler.inventory();
        let Some(shadow) = self.shadow.as_mut() else {
            return;
        };
        let report = &mut shadow.report;
        report.decisions += 1;
        report.candidate_ms += judged.took.as_secs_f64() * 1000.0;
        report.live_ms += took.as_secs_f64() * 1000.0;
        let weighing = match judged.weighing {
            Ok(weighing) => weighing,
            Err(failure) => {
                report.failures += 1;
                report.failure = Some(failure);
                return;
            }
        };
        let chosen = weighing.chosen.and_then(|slot| inventory.host(slot));
        let candidate = chosen.map(|host| host.id.clone());
        if candidate.as_ref() == live {
            report.agreeing += 1;
        } else if report.examples.len() < EXAMPLES {
            report.examples.push(Disagreement {
                decision: number,
                live: live.cloned(),
                candidate,
            });
        }
        let Some(slot) = live.and_then(|live| inventory.slot(live)) else {
            return;
        };
        match weighing.costs(slot) {
            Some(costs) => {
                let better = weighing.hosts().filter(|(_, other)| is_less(other, costs));
                let rank = better.count() as u64;
                report.rank_worst = report.rank_worst.max(rank);
                let ranked = report.decisions - report.failures - report.removed;
                let before = report.rank_mean * (ranked - 1) as f64;
                report.rank_mean = (before + rank as f64) / ranked as f64;
            }
            None => report.removed += 1,
        }
    }
}

/// Whether costs are less, tier by tier.
fn is_less(one: &[f64], other: &[f64]) -> bool {
    let tiers = one
        .iter()
        .zip(other)
        .map(|(one, other)| one.total_cmp(other));
    tiers.fold(Ordering::Equal, Ordering::then) == Ordering::Less
}
