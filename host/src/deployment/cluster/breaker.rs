//! Units that fail again and again are not called for a while.
//!
//! What then happens is the policy's to say: entries that may be left out are left out
//! of the chain, and the decision says so; where one may not be, nothing is decided, and
//! nobody waits for the unit's time limit to find that out. After a while it is called
//! again; if all is well, everything is as before.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ClusterState;
use crate::chain::{LeftOut, Refusal};
use crate::deployment::{DeploymentError, News};
use crate::policy::{OnFailure, Policy};
use crate::scheduler::{Decision, PlaceError};
use crate::telemetry::Breaker as State;
use crate::unit::{Cause, Fault};

/// A unit that has failed so many times in a row is not called.
const FAILURES: u32 = 3;

/// Seconds for which it is not called at first; twice as long after each failure more.
const FIRST: i64 = 2;

/// Seconds for which it is not called at most.
const LONGEST: i64 = 120;

/// The breakers of the units that have failed lately, by name.
#[derive(Debug, Default)]
pub(super) struct Breakers {
    units: BTreeMap<String, Breaker>,
    /// Whether the chain is that of the policy without units that are not called.
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

/// Whether a failure says something of the unit. What is full or too slow all together
/// is no fault of it.
fn counts(fault: &Fault) -> bool {
    !fault.is_refusal() && !matches!(*fault.cause, Cause::NoInstance(_))
}

impl ClusterState {
    /// Before a decision: call again what was not called for long enough, and see to it
    /// that the chain has only what is called.
    ///
    /// # Errors
    /// If a unit is not called that the policy cannot do without.
    pub(super) fn heed_breakers(&mut self, now: i64) -> Result<(), DeploymentError> {
        let due = |breaker: &Breaker| breaker.until.is_some_and(|until| until <= now);
        let units = self.breakers.units.iter_mut();
        let again: Vec<String> = units
            .filter(|(_, breaker)| due(breaker))
            .map(|(unit, breaker)| {
                breaker.until = None;
                unit.clone()
            })
            .collect();
        for unit in &again {
            self.tell_breaker(unit, State::HalfOpen, "it is called once more");
        }
        if !again.is_empty() {
            self.reduce()?;
        }
        let open = self
            .breakers
            .units
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
        outcome: Result<&mut Decision, &PlaceError>,
        now: i64,
    ) -> Result<(), DeploymentError> {
        let mut faults: Vec<Arc<Fault>> = Vec::new();
        match outcome {
            Ok(decision) => {
                let left_out = decision.decided.left_out.iter();
                faults.extend(left_out.map(|left_out| left_out.fault.clone()));
                let open = self.breakers.units.values().filter(|it| it.until.is_some());
                let missing = open.flat_map(|breaker| {
                    let entries = breaker.entries.iter();
                    entries.map(|entry| LeftOut {
                        entry: entry.clone(),
                        fault: breaker.fault.clone(),
                    })
                });
                decision.decided.left_out.extend(missing);
            }
            Err(PlaceError::Refusal(Refusal::Failed { fault, .. })) => faults.push(fault.clone()),
            // Nothing is known of units that were not asked.
            Err(_) => return Ok(()),
        }
        faults.retain(|fault| counts(fault));
        if faults.is_empty() && self.breakers.units.is_empty() {
            return Ok(());
        }
        self.close(&faults);
        let mut opened = false;
        for fault in faults {
            opened |= self.fail(fault, now);
        }
        match opened {
            true => self.reduce(),
            false => Ok(()),
        }
    }

    /// Units that were called and have not failed are well.
    fn close(&mut self, faults: &[Arc<Fault>]) {
        let failed = |unit: &str| faults.iter().any(|fault| fault.unit.name == unit);
        let units = self.breakers.units.iter();
        let well = units.filter(|(unit, breaker)| breaker.until.is_none() && !failed(unit));
        let well: Vec<String> = well.map(|(unit, _)| unit.clone()).collect();
        for unit in well {
            let breaker = self.breakers.units.remove(&unit);
            if let Some(breaker) = breaker.filter(|breaker| breaker.failures >= FAILURES) {
                let part = breaker.fault.part.name();
                self.units.of(&unit).breaker(part, State::Closed);
                let message = "it works again".to_owned();
                self.tell_unit("unit-recovered", &unit, message);
            }
        }
    }

    /// Count a failure, and say whether the unit is not called from now on.
    fn fail(&mut self, fault: Arc<Fault>, now: i64) -> bool {
        let unit = fault.unit.name.clone();
        self.units.of(&unit).failed(fault.part.name());
        let policy = self.policy.clone();
        let breaker = self.breakers.units.entry(unit.clone());
        let breaker = breaker.or_insert_with(|| {
            let (entries, dispensable) = entries_of(&policy, &unit);
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
            true => "it is left out",
            false => "nothing is decided",
        };
        let message = format!(
            "it has failed {} times in a row, and {what} for {} s: {}",
            breaker.failures, breaker.pause, breaker.fault
        );
        self.tell_breaker(&unit, State::Open, &message);
        true
    }

    /// Make the chain that of the policy without what is not called.
    fn reduce(&mut self) -> Result<(), DeploymentError> {
        let units = self.breakers.units.iter();
        let out: Vec<&str> = units
            .filter(|(_, breaker)| breaker.until.is_some() && breaker.dispensable)
            .map(|(unit, _)| unit.as_str())
            .collect();
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
    pub(super) fn forget_faults(&mut self) {
        let breakers = std::mem::take(&mut self.breakers);
        for (unit, breaker) in breakers.units {
            let part = breaker.fault.part.name();
            self.units.of(&unit).breaker(part, State::Closed);
        }
    }

    fn tell_breaker(&self, unit: &str, state: State, message: &str) {
        let kind = match state {
            State::Open => "unit-paused",
            State::HalfOpen => "unit-tried-again",
            State::Closed => "unit-recovered",
        };
        if let Some(breaker) = self.breakers.units.get(unit) {
            self.units
                .of(unit)
                .breaker(breaker.fault.part.name(), state);
        }
        self.tell_unit(kind, unit, message.to_owned());
    }

    fn tell_unit(&self, kind: &'static str, unit: &str, message: String) {
        let news = News {
            kind,
            cluster: Some(self.name.clone()),
            unit: Some(unit.into()),
            message,
            ..News::default()
        };
        self.events.tell(self.now(), news);
    }
}

/// The entries of a unit that are asked, and whether the policy can do without all of
/// them.
fn entries_of(policy: &Policy, unit: &str) -> (Vec<Arc<str>>, bool) {
    let mut entries = Vec::new();
    let mut dispensable = true;
    for stage in &policy.stages {
        let filters = stage.filters.iter();
        let filters = filters.map(|it| (&it.unit, &it.name, it.enabled, it.on_failure));
        let costs = stage.costs.iter();
        let costs = costs.map(|it| (&it.unit, &it.name, it.enabled, it.on_failure));
        let selections = stage.selections.iter();
        let selections = selections.map(|it| (&it.unit, &it.name, it.enabled, it.on_failure));
        for (of, name, enabled, on_failure) in filters.chain(costs).chain(selections) {
            if enabled && *of.name == *unit {
                entries.push(name.clone());
                dispensable &= on_failure != OnFailure::Fail;
            }
        }
    }
    let effects = policy.effects.iter();
    let needed = effects
        .filter(|it| it.enabled)
        .any(|it| *it.unit.name == *unit);
    let order = policy.order.as_ref();
    let needed = needed || order.is_some_and(|it| *it.unit.name == *unit);
    (entries, dispensable && !needed)
}

/// The policy without the entries of these units.
fn without(policy: &Policy, units: &[&str]) -> Policy {
    let mut policy = policy.clone();
    let out = |unit: &str| units.contains(&unit);
    for stage in &mut policy.stages {
        for entry in &mut stage.filters {
            entry.enabled &= !out(&entry.unit.name);
        }
        for entry in &mut stage.costs {
            entry.enabled &= !out(&entry.unit.name);
        }
        for entry in &mut stage.selections {
            entry.enabled &= !out(&entry.unit.name);
        }
    }
    policy
}
