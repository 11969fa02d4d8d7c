//! From a state to the next: the one way into force.

use std::sync::Arc;
use std::time::SystemTime;

use super::state::State;
use super::{Library, LibraryEvent, Remembered};
use crate::history::Entry;
use crate::stage::{Outcome, ReplayReport, Source, Staging, Step, Trials};
use placewright_engine::generation::Generation;
use placewright_engine::unit::{Digest, Unit};

/// Units that are other ones in the next generation, by name.
pub(super) struct Changed {
    name: String,
    before: Option<Arc<Unit>>,
    /// Whether what was in force comes with the program.
    was_embedded: bool,
    after: Option<(Source, Arc<Unit>)>,
}

impl Library {
    /// Put `next` in the place of `state`, with all the steps that this takes; what
    /// fails leaves `state` as it is. True if `next` is the state now.
    pub(super) fn change(&self, state: &mut State, mut next: State, staging: &mut Staging) -> bool {
        let (before, candidate) = (self.current(), next.generation());
        let changed = changed(&before, &candidate, &next);
        if changed.is_empty() {
            let remembered = next.remembered();
            if remembered != state.remembered() {
                self.remember(&remembered);
            }
            *state = next;
            return true;
        }
        let names: Vec<String> = changed.iter().map(|one| one.name.clone()).collect();
        if self.check(&candidate, &names, staging).is_none() {
            return false;
        }
        next.number += 1;
        let candidate = Arc::new(candidate.numbered(next.number));
        let overrides = staging.overrides_policies;
        let done = staging.step(Step::InForce, || {
            self.swap(state, &next, &candidate, overrides)?;
            Ok(((), None))
        });
        if done.is_none() {
            return false;
        }
        let own = changed.iter().find(|one| {
            let after = one.after.as_ref();
            after.is_some_and(|(_, unit)| unit.digest() == staging.digest)
        });
        staging.outcome = Outcome::InForce {
            replaced: own.and_then(|one| one.before.as_deref().map(Unit::digest)),
            generation: next.number,
        };
        *state = next;
        let took_us = u64::try_from(staging.took().as_micros()).unwrap_or(u64::MAX);
        let by = staging.by.as_deref();
        let of_trial = staging
            .replay
            .as_ref()
            .map(|report| (staging.digest, report));
        self.tell_changed(&changed, candidate.number(), (took_us, of_trial), by);
        self.remove_unneeded(state);
        true
    }

    /// The units that are others in the next state than in force.
    pub(super) fn changed_in(&self, next: &State) -> Vec<Changed> {
        changed(&self.current(), &next.generation(), next)
    }

    /// Tell of units that are others from that generation on, by whom if somebody asked for
    /// it, and note it in the history.
    pub(super) fn tell_changed(
        &self,
        changed: &[Changed],
        generation: u64,
        (took_us, of_trial): (u64, Option<(Digest, &ReplayReport)>),
        by: Option<&str>,
    ) {
        let at = (self.around.clock)();
        for one in changed {
            let mut entry = one.entry(at, generation);
            if let (Some(entry), Some((digest, report))) = (&mut entry, of_trial) {
                entry.replay = (entry.digest == digest).then(|| report.clone());
            }
            entry.into_iter().for_each(|entry| self.note(entry));
            let event = one.event(generation, took_us);
            event.iter().for_each(|event| self.tell_as_asked(event, by));
            let shadowed = one.shadowed(|unit| self.trials_users(unit));
            shadowed
                .iter()
                .for_each(|event| self.tell_as_asked(event, by));
        }
    }

    /// The policies that use a unit, as far as any run.
    fn trials_users(&self, unit: &str) -> Vec<String> {
        match self.trials() {
            Ok(Some(trials)) => trials.users(unit),
            _ => Vec::new(),
        }
    }

    /// What putting `next` in the place of what is in force would come to, without
    /// doing it.
    pub(super) fn weigh(&self, next: &State, staging: &mut Staging) {
        let (before, candidate) = (self.current(), next.generation());
        let changed = changed(&before, &candidate, next);
        let names: Vec<String> = changed.into_iter().map(|one| one.name).collect();
        if !names.is_empty() && self.check(&candidate, &names, staging).is_some() {
            let why = "this was a trial run".to_owned();
            staging.outcome = Outcome::Held { why };
        }
    }

    /// The steps that ask whoever runs policies.
    fn check(&self, candidate: &Generation, names: &[String], staging: &mut Staging) -> Option<()> {
        let trials = match self.trials() {
            Ok(Some(trials)) => trials,
            Ok(None) => {
                let why = "no policies run yet";
                staging.skip(Step::Policies, why);
                staging.skip(Step::Trial, why);
                return Some(());
            }
            Err(why) => return staging.step(Step::Policies, || Err(why)),
        };
        let overrides = staging.overrides_policies;
        staging.step(Step::Policies, || match trials.policies(candidate, names) {
            Ok(()) => Ok(((), None)),
            Err(problems) if overrides => {
                let stopped = format!("overridden, though {}", problems.join("\n"));
                Ok(((), Some(stopped)))
            }
            Err(problems) => Err(problems.join("\n")),
        })?;
        let require = self.require_replay;
        let replay = &mut None;
        let passed = staging.step(Step::Trial, || {
            let report = trials.replay(candidate, names);
            let (share, said) = (report.share(), report.to_string());
            let is_incomplete = !report.untried.is_empty();
            let fails = report.failing > 0;
            *replay = Some(report);
            match require {
                _ if fails => Err(said),
                Some(most) if share > most => Err(format!(
                    "{said}, and at most {}% may",
                    (most * 100.0).round()
                )),
                Some(_) if is_incomplete => Err(format!(
                    "{said}; hand it in again later, since `require-replay` is set"
                )),
                _ => Ok(((), Some(said))),
            }
        });
        staging.replay = replay.take();
        // Clusters may have less to do then.
        let is_incomplete = |report: &ReplayReport| !report.untried.is_empty();
        staging.may_pass |= passed.is_none() && staging.replay.as_ref().is_some_and(is_incomplete);
        passed
    }

    /// Remember the next state, then have it everywhere.
    fn swap(
        &self,
        state: &State,
        next: &State,
        candidate: &Arc<Generation>,
        overrides_policies: bool,
    ) -> Result<(), String> {
        let artifacts = &self.around.artifacts;
        artifacts
            .remember(&next.remembered())
            .map_err(|why| format!("it cannot be remembered for the next start: {why}"))?;
        if let Some(trials) = self.trials()? {
            if overrides_policies {
                trials.impose(candidate.clone());
            } else if let Err(why) = trials.adopt(candidate.clone()) {
                self.remember(&state.remembered());
                return Err(why);
            }
        }
        self.current.store(candidate.clone());
        Ok(())
    }

    /// Whoever runs policies, if there is anyone yet.
    pub(super) fn trials(&self) -> Result<Option<Arc<dyn Trials>>, String> {
        match self.trials.get() {
            None => Ok(None),
            Some(trials) => match trials.upgrade() {
                Some(trials) => Ok(Some(trials)),
                None => Err("the program is ending".to_owned()),
            },
        }
    }

    /// Remember what needs no generation of its own.
    pub(super) fn remember(&self, remembered: &Remembered) {
        if let Err(why) = self.around.artifacts.remember(remembered) {
            let why = format!("the units in force cannot be remembered: {why}");
            self.tell(&LibraryEvent::NotKept { why });
        }
    }

    /// Tell of a candidate that is not in force, and note what became of it.
    pub(super) fn conclude(&self, staging: &Staging) {
        let (source, digest) = (staging.source.clone(), staging.digest);
        let name = staging.name.clone();
        let event = match &staging.outcome {
            Outcome::Refused { step, why } => LibraryEvent::Refused {
                source,
                name,
                digest,
                step: *step,
                why: why.clone(),
            },
            Outcome::Held { why } => LibraryEvent::Held {
                source,
                name: name.unwrap_or_default(),
                digest,
                why: why.clone(),
            },
            // Told of and noted when it came into force.
            Outcome::InForce { .. } | Outcome::Removed { .. } | Outcome::Unchanged => return,
        };
        self.note(Entry::new((self.around.clock)(), staging));
        self.tell_as_asked(&event, staging.by.as_deref());
    }
}

/// The units that are others in `candidate` than in `before`.
fn changed(before: &Generation, candidate: &Generation, next: &State) -> Vec<Changed> {
    let mut names: Vec<&str> = before.units().map(|unit| unit.name()).collect();
    names.extend(candidate.units().map(|unit| unit.name()));
    names.sort_unstable();
    names.dedup();
    let digest = |unit: Option<&Arc<Unit>>| -> Option<Digest> { unit.map(|unit| unit.digest()) };
    names
        .into_iter()
        .filter(|name| digest(before.get(name)) != digest(candidate.get(name)))
        .map(|name| Changed {
            name: name.to_owned(),
            before: before.get(name).cloned(),
            was_embedded: {
                let embedded = next.base.get(name).map(|unit| unit.digest());
                embedded.is_some() && embedded == digest(before.get(name))
            },
            after: next
                .wanted(name)
                .map(|(source, unit)| (source, unit.clone())),
        })
        .collect()
}

impl Changed {
    /// What to tell of it. One of the two units there is, or nothing has changed.
    fn event(&self, generation: u64, took_us: u64) -> Option<LibraryEvent> {
        let before = self.before.as_deref().map(Unit::digest);
        let name = self.name.clone();
        match (&self.after, before) {
            (Some((source, unit)), replaced) => Some(LibraryEvent::InForce {
                source: source.clone(),
                name,
                digest: unit.digest(),
                replaced,
                generation,
                took_us,
            }),
            (None, Some(digest)) => Some(LibraryEvent::Removed {
                name,
                digest,
                generation,
            }),
            (None, None) => None,
        }
    }

    /// What to tell if it takes the place of a unit that comes with the program.
    fn shadowed(&self, users: impl Fn(&str) -> Vec<String>) -> Option<LibraryEvent> {
        let (source, unit) = self.after.as_ref()?;
        if !self.was_embedded || unit.digest() == self.before.as_ref()?.digest() {
            return None;
        }
        Some(LibraryEvent::TakesName {
            name: self.name.clone(),
            source: source.clone(),
            digest: unit.digest(),
            policies: users(&self.name),
        })
    }

    /// What the history says of it.
    fn entry(&self, at: SystemTime, generation: u64) -> Option<Entry> {
        let replaced = self.before.as_deref().map(Unit::digest);
        let (source, unit, outcome) = match (&self.after, &self.before) {
            (Some((source, unit)), _) => {
                let outcome = Outcome::InForce {
                    replaced,
                    generation,
                };
                (source.clone(), unit, outcome)
            }
            (None, Some(unit)) => (Source::Kept, unit, Outcome::Removed { generation }),
            (None, None) => return None,
        };
        Some(Entry {
            at,
            name: Some(self.name.clone()),
            version: Some(unit.description().version.clone()),
            digest: unit.digest(),
            source,
            outcome,
            replay: None,
        })
    }
}
