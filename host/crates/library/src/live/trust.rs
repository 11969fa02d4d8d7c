//! What was let in is asked for trust again: at a start, and when what is trusted changes.
//!
//! A unit that is not trusted any more is not in force from then on, whatever needs it.
//! In its place decides what would decide without it: its file, if that offers something
//! trusted; else the version that was in force before; else the unit that comes with the
//! program. A policy that can do with none of these cannot run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::state::{Choice, Distrusted, Place, State};
use super::{KeptArtifact, Library, LibraryEvent, LibraryOperationError};
use crate::history::{Entry, History};
use crate::stage::{Candidate, Outcome, Source, Staging, Step};
use crate::trust::Trust;
use placewright_engine::Limits;
use placewright_engine::unit::{Digest, Unit};

impl Library {
    /// Let in what this trusts from now on. Units that it does not trust are not in force
    /// any more when this returns, and those that are trusted again are; events tell of
    /// each, and what decides instead.
    ///
    /// # Errors
    /// If it makes no sense, or what is kept of units cannot be read: then all is trusted
    /// that was before.
    pub fn trust(&self, trust: Trust) -> Result<(), LibraryOperationError> {
        trust.check()?;
        let mut state = self.lock();
        let next = self.reviewed(&state, &trust)?;
        self.admission.set_trust(trust);
        self.enforce(&mut state, next);
        Ok(())
    }

    /// Whether a candidate that was let in before would be let in now.
    ///
    /// # Errors
    /// Why not, in a sentence.
    pub fn still_admits(&self, candidate: &Candidate) -> Result<(), String> {
        self.admission.still_admits(candidate)
    }

    /// The units that were let in and are not trusted any more, by name, and why.
    pub fn distrusted(&self) -> BTreeMap<String, String> {
        reasons(&self.lock())
    }

    /// The state with only what is trusted in force.
    fn reviewed(&self, state: &State, trust: &Trust) -> Result<State, LibraryOperationError> {
        let mut next = state.clone();
        next.distrust_revoked(trust);
        let mut verdicts = Verdicts {
            library: self,
            trust,
            known: BTreeMap::new(),
        };
        next.review_files(&mut verdicts)?;
        next.review_choices(&mut verdicts)?;
        self.readmit(state, &mut next, &mut verdicts)?;
        self.find_earlier(&mut next, &mut verdicts)?;
        Ok(next)
    }

    /// Units that are trusted again come back to where they were.
    fn readmit(
        &self,
        before: &State,
        next: &mut State,
        verdicts: &mut Verdicts<'_>,
    ) -> Result<(), LibraryOperationError> {
        let come_in = before.distrusted.iter();
        for unit in come_in.filter(|unit| unit.place != Place::Program) {
            let verdict = verdicts.of(next, unit.digest)?;
            let loaded = match verdict {
                Ok(()) => self.loaded_again(next, unit.digest, &unit.name)?,
                Err(why) => Err(why),
            };
            next.distrusted.retain(|other| other != unit);
            match loaded {
                Ok(loaded) => next.put_back(&unit.place, loaded),
                Err(why) => next.distrusted.push(Distrusted {
                    why,
                    ..unit.clone()
                }),
            }
        }
        Ok(())
    }

    /// A kept unit, loaded; or why it cannot be.
    fn loaded_again(
        &self,
        state: &State,
        digest: Digest,
        name: &str,
    ) -> Result<Result<Arc<Unit>, String>, LibraryOperationError> {
        if let Some(unit) = state.loaded(digest) {
            return Ok(Ok(unit));
        }
        let Some(artifact) = self.load(digest)? else {
            return Ok(Err(NOT_KEPT.to_owned()));
        };
        let unit = Unit::load(self.engine(), &artifact.bytes, name);
        Ok(unit.map_err(|error| error.error.to_string()))
    }

    /// Find what decides where nothing else of that name does but what comes with the
    /// program.
    fn find_earlier(
        &self,
        next: &mut State,
        verdicts: &mut Verdicts<'_>,
    ) -> Result<(), LibraryOperationError> {
        next.earlier.clear();
        let names: BTreeSet<String> = next.distrusted.iter().map(|it| it.name.clone()).collect();
        let history = self.history();
        for name in names {
            let unit = self.earlier_of(next, &history, &name, verdicts)?;
            next.earlier.extend(unit.map(|unit| (name, unit)));
        }
        Ok(())
    }

    /// The last unit of that name that was in force and is trusted; none if the one that
    /// comes with the program was in force after it.
    fn earlier_of(
        &self,
        next: &State,
        history: &History,
        name: &str,
        verdicts: &mut Verdicts<'_>,
    ) -> Result<Option<Arc<Unit>>, LibraryOperationError> {
        for digest in history.decided(name) {
            if verdicts.of(next, digest)?.is_err() {
                continue;
            }
            if next.embedded(digest).is_some() {
                return Ok(None);
            }
            if let Ok(unit) = self.loaded_again(next, digest, name)?
                && unit.name() == name
            {
                return Ok(Some(unit));
            }
        }
        Ok(None)
    }

    /// Have the units of a start be in force as far as they are trusted: nothing decides yet.
    pub(super) fn begin(&self) -> Result<(), LibraryOperationError> {
        let mut state = self.lock();
        let trust = self.admission.trust();
        let mut verdicts = Verdicts {
            library: self,
            trust: &trust,
            known: BTreeMap::new(),
        };
        self.find_earlier(&mut state, &mut verdicts)?;
        let generation = Arc::new(state.generation());
        self.current.store(generation);
        self.remember(&state.remembered());
        let all: Vec<Distrusted> = state.distrusted.clone();
        self.tell_distrusted(&state, &all);
        Ok(())
    }

    /// Put `next` in the place of `state`, whatever policies need.
    fn enforce(&self, state: &mut State, mut next: State) {
        let new: Vec<Distrusted> = next
            .distrusted
            .iter()
            .filter(|unit| {
                let known =
                    |other: &&Distrusted| other.digest == unit.digest && other.place == unit.place;
                !state.distrusted.iter().any(|other| known(&other))
            })
            .cloned()
            .collect();
        let changed = self.changed_in(&next);
        if !changed.is_empty() {
            next.number += 1;
            let generation = Arc::new(next.generation());
            if let Ok(Some(trials)) = self.trials() {
                trials.enforce(generation.clone(), &reasons(&next));
            }
            self.current.store(generation);
        }
        self.remember(&next.remembered());
        self.tell_changed(&changed, next.number, (0, None), None);
        self.tell_distrusted(&next, &new);
        *state = next;
    }

    /// Tell of units that are not trusted any more, and note it in the history once.
    fn tell_distrusted(&self, state: &State, units: &[Distrusted]) {
        let current = self.current();
        for unit in units {
            let instead = current.get(&unit.name);
            let entry = Entry {
                at: (self.around.clock)(),
                name: Some(unit.name.clone()),
                version: None,
                digest: unit.digest,
                source: unit.source(),
                outcome: Outcome::Refused {
                    step: Step::Signature,
                    why: unit.why.clone(),
                },
                replay: None,
            };
            let is_noted = {
                let history = self.lock_history();
                let last = history.of(&unit.name).next_back();
                last.is_some_and(|last| {
                    last.digest == entry.digest && last.outcome == entry.outcome
                })
            };
            if !is_noted {
                self.note(entry);
            }
            self.tell(&LibraryEvent::Distrusted {
                name: unit.name.clone(),
                digest: unit.digest,
                source: unit.source(),
                why: unit.why.clone(),
                instead: instead.map(|unit| unit.digest()),
                disabled: state.disabled.contains(&unit.name),
            });
        }
    }

    /// What was admitted under `asked` is asked again if another trust came in force
    /// meanwhile. False if it is refused. To be called with the library locked.
    pub(super) fn is_still_trusted(
        &self,
        asked: &Arc<Trust>,
        candidate: &Candidate,
        staging: &mut Staging,
    ) -> bool {
        if Arc::ptr_eq(asked, &self.admission.trust()) {
            return true;
        }
        match self.still_admits(candidate) {
            Ok(()) => true,
            Err(why) => {
                staging.refuse(Step::Signature, why);
                false
            }
        }
    }
}

/// Why units are not trusted, by name.
fn reasons(state: &State) -> BTreeMap<String, String> {
    let names = state.distrusted.iter().map(|unit| unit.name.clone());
    names
        .filter_map(|name| {
            let why = state.distrusted_as(&name)?.why.clone();
            Some((name, why))
        })
        .collect()
}

/// Why a unit cannot be asked for trust.
pub(super) const NOT_KEPT: &str = "its bytes are not stored, so that they cannot be checked";

/// What is said of kept units, each asked once.
struct Verdicts<'l> {
    library: &'l Library,
    trust: &'l Trust,
    known: BTreeMap<Digest, Result<(), String>>,
}

impl Verdicts<'_> {
    /// Whether the unit with that digest is trusted; if not, why.
    fn of(
        &mut self,
        state: &State,
        digest: Digest,
    ) -> Result<Result<(), String>, LibraryOperationError> {
        if let Some(known) = self.known.get(&digest) {
            return Ok(known.clone());
        }
        let verdict = if state.embedded(digest).is_some() {
            let revoked = self.trust.not_revoked(digest);
            revoked.map_err(|error| error.to_string())
        } else {
            match self.library.load(digest)? {
                Some(artifact) => {
                    still_admits(self.trust, &artifact, self.library.engine().limits())
                }
                None => Err(NOT_KEPT.to_owned()),
            }
        };
        self.known.insert(digest, verdict.clone());
        Ok(verdict)
    }
}

/// Whether kept bytes are trusted; if not, why.
pub(super) fn still_admits(
    trust: &Trust,
    artifact: &KeptArtifact,
    limits: &Limits,
) -> Result<(), String> {
    let signature = artifact.signature.as_ref();
    let bytes = signature.map(|signature| &*signature.bytes);
    trust
        .still_admits(&artifact.bytes, bytes, limits)
        .map_err(
            |error| match signature.and_then(|it| it.signer.as_deref()) {
                Some(signer) => format!("{error} (it was admitted as signed by {signer})"),
                None => error.to_string(),
            },
        )
}

impl Distrusted {
    /// Where it was from.
    pub(super) fn source(&self) -> Source {
        match &self.place {
            Place::File(path) => Source::File { path: path.clone() },
            Place::Choice { origin, .. } => origin.source(),
            Place::Kept(_) => Source::Kept,
            Place::Program => Source::Embedded,
        }
    }
}

impl State {
    fn review_files(&mut self, verdicts: &mut Verdicts<'_>) -> Result<(), LibraryOperationError> {
        let before = self.clone();
        for (path, file) in &before.files {
            for unit in [&file.offers, &file.waits].into_iter().flatten() {
                let Err(why) = verdicts.of(&before, unit.digest())? else {
                    continue;
                };
                let of_file = self.files.entry(path.clone()).or_default();
                let gone = |is: &mut Option<Arc<Unit>>| {
                    is.take_if(|is| is.digest() == unit.digest()).is_some()
                };
                gone(&mut of_file.waits);
                if of_file.holds.is_none_or(|holds| holds == unit.digest()) {
                    of_file.holds = Some(unit.digest());
                    of_file.trouble = Some(why.clone());
                }
                if gone(&mut of_file.offers) {
                    self.distrust(unit, why, Place::File(path.clone()));
                }
            }
        }
        for (path, unit) in before.kept.values() {
            if let Err(why) = verdicts.of(&before, unit.digest())? {
                self.kept.remove(unit.name());
                self.distrust(unit, why, Place::Kept(path.clone()));
            }
        }
        Ok(())
    }

    fn review_choices(&mut self, verdicts: &mut Verdicts<'_>) -> Result<(), LibraryOperationError> {
        let before = self.clone();
        for (name, choice) in before.choices.clone() {
            if let Err(why) = verdicts.of(&before, choice.unit.digest())? {
                self.choices.remove(&name);
                let place = Place::Choice {
                    origin: choice.origin,
                    pinned: choice.pinned,
                    outdated: choice.outdated,
                };
                self.distrust(&choice.unit, why, place);
            }
        }
        Ok(())
    }

    fn distrust(&mut self, unit: &Unit, why: String, place: Place) {
        self.distrusted.push(Distrusted {
            name: unit.name().to_owned(),
            digest: unit.digest(),
            why,
            place,
        });
    }

    /// Have a unit be again where it was, unless something else is there.
    fn put_back(&mut self, place: &Place, unit: Arc<Unit>) {
        let name = unit.name().to_owned();
        match place {
            Place::File(path) => {
                let rival = self.rival(path, &unit).is_some();
                let file = self.files.entry(path.clone()).or_default();
                if file.offers.is_none() {
                    if file.holds == Some(unit.digest()) && !rival {
                        file.trouble = None;
                    }
                    match rival {
                        true => file.waits = Some(unit),
                        false => file.offers = Some(unit),
                    }
                }
            }
            // Nothing takes it out of there.
            Place::Program => {}
            Place::Kept(path) => {
                if self.offered(&name).is_none() {
                    let kept = (path.clone(), unit);
                    self.kept.entry(name).or_insert(kept);
                }
            }
            Place::Choice {
                origin,
                pinned,
                outdated,
            } => {
                self.choices.entry(name).or_insert(Choice {
                    unit,
                    origin: origin.clone(),
                    pinned: *pinned,
                    outdated: *outdated,
                });
            }
        }
    }
}
