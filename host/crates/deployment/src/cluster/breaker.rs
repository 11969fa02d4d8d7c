//! Parts of units that fail again and again are not called for a while.
//!
//! What then happens is the policy's to say: entries that may be left out are left out
//! of the chain, and the decision says so; where one may not be, nothing is decided, and
//! nobody waits for the unit's time limit to find that out. After a while it is called
//! again; if all is well, everything is as before.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use super::ClusterState;
use crate::returns::Failing;
use crate::{DeploymentError, EventKind, News};
use placewright_chain::{DecisionError, LeftOut};
use placewright_engine::contract::Part;
use placewright_engine::unit::Fault;
use placewright_model::Rfc3339;
use placewright_policy::{OnFailure, Policy};
use placewright_records::telemetry::Breaker as State;
use placewright_scheduler::{Decision, PlaceError};

/// A unit that has failed so many times in a row is not called.
const FAILURES: u32 = 3;

/// Seconds for which it is not called at first; twice as long after each failure more.
const FIRST: i64 = 2;

/// Seconds for which it is not called at most.
const LONGEST: i64 = 120;

/// A part of a unit, by their names.
type PartOf = (String, &'static str);

/// The breakers of the parts that have failed lately.
#[derive(Debug, Default)]
pub(super) struct Breakers {
    parts: BTreeMap<PartOf, Breaker>,
    /// Whether the chain is that of the policy without parts that are not called.
    reduced: bool,
}

#[derive(Debug)]
struct Breaker {
    fault: Arc<Fault>,
    /// In a row.
    failures: u32,
    /// It is not called before this second; None: it is called.
    until: Option<i64>,
    /// Seconds for which it was not called last.
    pause: i64,
    /// The entries that are left out meanwhile; none if one of them may not be.
    entries: Vec<Arc<str>>,
    /// Whether the policy can do without it.
    dispensable: bool,
}

impl Breakers {
    /// The clock is set back to `now`: nothing pauses for longer than it would from now on.
    pub(super) fn set_clock_back(&mut self, now: i64) {
        for breaker in self.parts.values_mut() {
            let longest = now.saturating_add(breaker.pause);
            breaker.until = breaker.until.map(|until| until.min(longest));
        }
    }
}

/// Whether a failure says something of the unit. What is full or too slow all together
/// is no fault of it.
fn counts(fault: &Fault) -> bool {
    !fault.is_refusal() && !fault.cause.is_shortage()
}

/// A part of a unit that keeps failing and is not called for a while.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct PausedUnit {
    /// Name of the unit.
    #[schema(example = "memory")]
    pub unit: String,
    /// The part that fails.
    #[schema(value_type = String, example = "filter")]
    pub part: &'static str,
    /// How often it failed in a row.
    #[schema(example = 3)]
    pub failures: u32,
    /// When it is called again, in seconds since 1970-01-01 UTC.
    #[schema(example = 1764000060)]
    pub until: i64,
    /// The same time.
    #[schema(value_type = String, format = DateTime)]
    pub until_time: Rfc3339,
    /// Whether the policy's entries that ask it are skipped meanwhile; else nothing is decided.
    pub skipped: bool,
    /// How it failed last.
    #[schema(example = "the unit ran out of time")]
    pub because: String,
}

impl ClusterState {
    /// The units that are not called for a while.
    pub fn paused_units(&self) -> Vec<PausedUnit> {
        let parts = self.breakers.parts.iter();
        let paused = parts.filter_map(|((unit, part), breaker)| {
            Some(PausedUnit {
                unit: unit.clone(),
                part,
                failures: breaker.failures,
                until: breaker.until?,
                until_time: Rfc3339(breaker.until?),
                skipped: breaker.dispensable,
                because: breaker.fault.to_string(),
            })
        });
        paused.collect()
    }

    /// The units whose answers are not kept, since they answered differently though nothing had
    /// changed.
    pub fn quarantined_units(&self) -> Vec<Arc<str>> {
        let quarantined = self.scheduler.quarantined().iter();
        let units: BTreeSet<Arc<str>> = quarantined.map(|it| it.unit.clone()).collect();
        units.into_iter().collect()
    }

    /// Before a decision: call again what was not called for long enough, and see to it
    /// that the chain has only what is called.
    ///
    /// # Errors
    /// If a unit is not called that the policy cannot do without.
    pub(super) fn heed_breakers(&mut self, now: i64) -> Result<(), DeploymentError> {
        let due = |breaker: &Breaker| breaker.until.is_some_and(|until| until <= now);
        let parts = self.breakers.parts.iter_mut();
        let again: Vec<PartOf> = parts
            .filter(|(_, breaker)| due(breaker))
            .map(|(part, breaker)| {
                breaker.until = None;
                part.clone()
            })
            .collect();
        for part in &again {
            self.tell_breaker(part, State::HalfOpen, "is called once more");
        }
        if !again.is_empty() {
            self.reduce()?;
        }
        let open = self
            .breakers
            .parts
            .values()
            .find(|breaker| breaker.until.is_some() && !breaker.dispensable);
        match open {
            Some(breaker) => Err(DeploymentError::Paused {
                fault: breaker.fault.clone(),
                seconds: breaker.until.unwrap_or(now) - now,
            }),
            None => Ok(()),
        }
    }

    /// After a decision: what has failed, and what has not.
    pub(super) fn note_faults(
        &mut self,
        outcome: Result<&mut Arc<Decision>, &PlaceError>,
    ) -> Result<(), DeploymentError> {
        self.failures.decided();
        let mut faults: Vec<Arc<Fault>> = Vec::new();
        match outcome {
            Ok(decision) => {
                let left_out = decision.decided.left_out.iter();
                faults.extend(left_out.map(|left_out| left_out.fault.clone()));
                let open = self.breakers.parts.values().filter(|it| it.until.is_some());
                let mut missing = open.flat_map(|breaker| {
                    let entries = breaker.entries.iter();
                    entries.map(|entry| LeftOut {
                        entry: entry.clone(),
                        fault: breaker.fault.clone(),
                    })
                });
                if let Some(first) = missing.next() {
                    let left_out = &mut Arc::make_mut(decision).decided.left_out;
                    left_out.push(first);
                    left_out.extend(missing);
                }
            }
            Err(PlaceError::Refusal(DecisionError::Failed { fault, .. })) => {
                faults.push(fault.clone());
            }
            // What takes too long all together is no fault of one, but for one that was
            // stopped.
            Err(PlaceError::Refusal(DecisionError::OutOfTime {
                stopped: Some(stopped),
                ..
            })) => faults.push(stopped.clone()),
            // Nothing is known of units that were not asked.
            Err(_) => return Ok(()),
        }
        faults.retain(|fault| counts(fault));
        if faults.is_empty() && self.breakers.parts.is_empty() {
            return Ok(());
        }
        self.tell_of_failing(&faults);
        self.close(&faults);
        // From when the failure is known: a call may have taken longer than the pause.
        let now = self.now();
        let mut opened = false;
        for fault in faults {
            opened |= self.fail(fault, now);
        }
        match opened {
            true => self.reduce(),
            false => Ok(()),
        }
    }

    /// Have units rolled back that fail too often.
    fn tell_of_failing(&mut self, faults: &[Arc<Fault>]) {
        let Some(after) = self.returns.after() else {
            return;
        };
        for fault in faults {
            if let Some(failures) = self.failures.failed(fault, after) {
                self.returns.want(Failing {
                    unit: fault.unit.clone(),
                    cluster: self.name.clone(),
                    failures,
                    because: fault.to_string(),
                });
            }
        }
    }

    /// Parts that were called and have not failed are well.
    fn close(&mut self, faults: &[Arc<Fault>]) {
        let failed = |part: &PartOf| faults.iter().any(|fault| part_of(fault) == *part);
        let parts = self.breakers.parts.iter();
        let well = parts.filter(|(part, breaker)| breaker.until.is_none() && !failed(part));
        let well: Vec<PartOf> = well.map(|(part, _)| part.clone()).collect();
        for part in well {
            let breaker = self.breakers.parts.remove(&part);
            if breaker.is_some_and(|breaker| breaker.failures >= FAILURES) {
                self.tell_breaker(&part, State::Closed, "works again");
            }
        }
    }

    /// Count a failure, and say whether the part is not called from now on.
    fn fail(&mut self, fault: Arc<Fault>, now: i64) -> bool {
        let part = part_of(&fault);
        self.units.of(&part.0).failed(part.1);
        let policy = self.policy.clone();
        let breaker = self.breakers.parts.entry(part.clone());
        let breaker = breaker.or_insert_with(|| {
            let (entries, dispensable) = entries_of(&policy, &fault);
            Breaker {
                fault: fault.clone(),
                failures: 0,
                until: None,
                pause: 0,
                entries,
                dispensable,
            }
        });
        breaker.failures += 1;
        breaker.fault = fault;
        if breaker.failures < FAILURES || breaker.until.is_some() {
            return false;
        }
        breaker.pause = (breaker.pause * 2).clamp(FIRST, LONGEST);
        breaker.until = Some(now.saturating_add(breaker.pause));
        let what = match breaker.dispensable {
            true => "is skipped",
            false => "keeps all decisions from being made",
        };
        let message = format!(
            "failed {} times in a row and {what} for {} s: {}",
            breaker.failures, breaker.pause, breaker.fault
        );
        self.tell_breaker(&part, State::Open, &message);
        true
    }

    /// Make the chain that of the policy without what is not called.
    fn reduce(&mut self) -> Result<(), DeploymentError> {
        let parts = self.breakers.parts.iter();
        let out = parts.filter(|(_, breaker)| breaker.until.is_some() && breaker.dispensable);
        let out: Vec<&Arc<Fault>> = out.map(|(_, breaker)| &breaker.fault).collect();
        let reduced = !out.is_empty();
        if !reduced && !self.breakers.reduced {
            return Ok(());
        }
        let policy = match reduced {
            true => Arc::new(without(&self.policy, &out)),
            false => self.policy.clone(),
        };
        self.breakers.reduced = reduced;
        Ok(self.scheduler.set_policy(policy, &self.generation)?)
    }

    /// Nothing is known any more of units that failed: there are others now.
    pub(crate) fn forget_faults(&mut self) {
        let breakers = std::mem::take(&mut self.breakers);
        for (unit, part) in breakers.parts.into_keys() {
            let meter = self.units.of(&unit);
            meter.breaker(part, State::Closed);
            meter.paused(&self.name, false);
        }
        self.publish_health();
    }

    fn tell_breaker(&self, (unit, part): &PartOf, state: State, message: &str) {
        self.publish_health();
        let meter = self.units.of(unit);
        meter.breaker(part, state);
        meter.paused(&self.name, state == State::Open);
        let news = News {
            kind: match state {
                State::Open => EventKind::UnitPaused,
                State::HalfOpen => EventKind::UnitTriedAgain,
                State::Closed => EventKind::UnitRecovered,
            },
            cluster: Some(self.name.clone()),
            unit: Some(unit.as_str().into()),
            message: format!("unit {unit} ({part}) {message}"),
            ..News::default()
        };
        self.events.tell(self.now(), news);
    }
}

fn part_of(fault: &Fault) -> PartOf {
    (fault.unit.name.clone(), fault.part.name())
}

/// The entries that ask a part, and whether the policy can do without all of them.
fn entries_of(policy: &Policy, fault: &Fault) -> (Vec<Arc<str>>, bool) {
    let (unit, part) = (&fault.unit.name, fault.part);
    let mut entries = Vec::new();
    // Nothing is decided without effects and order.
    let mut dispensable = matches!(part, Part::Judge | Part::Selection);
    for stage in &policy.stages {
        let filters = stage.filters.iter();
        let filters = filters.map(|it| (&it.unit, &it.name, it.enabled, it.on_failure));
        let costs = stage.costs.iter();
        let costs = costs.map(|it| (&it.unit, &it.name, it.enabled, it.on_failure));
        let selections = stage.selections.iter();
        let selections = selections.map(|it| (&it.unit, &it.name, it.enabled, it.on_failure));
        let asked: Vec<_> = match part {
            Part::Judge => filters.chain(costs).collect(),
            Part::Selection => selections.collect(),
            _ => Vec::new(),
        };
        for (of, name, enabled, on_failure) in asked {
            if enabled && *of.name == **unit {
                entries.push(name.clone());
                dispensable &= on_failure != OnFailure::Fail;
            }
        }
    }
    (entries, dispensable)
}

/// The policy without the entries that ask these parts.
fn without(policy: &Policy, out: &[&Arc<Fault>]) -> Policy {
    let mut policy = policy.clone();
    let is_out = |unit: &str, part: Part| {
        let mut out = out.iter();
        out.any(|fault| fault.part == part && fault.unit.name == *unit)
    };
    for stage in &mut policy.stages {
        for entry in &mut stage.filters {
            entry.enabled &= !is_out(&entry.unit.name, Part::Judge);
        }
        for entry in &mut stage.costs {
            entry.enabled &= !is_out(&entry.unit.name, Part::Judge);
        }
        for entry in &mut stage.selections {
            entry.enabled &= !is_out(&entry.unit.name, Part::Selection);
        }
    }
    policy
}
