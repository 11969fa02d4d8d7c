//! What people ask of the library.

use std::path::Path;
use std::sync::Arc;

use super::state::{Choice, Distrusted, Place, State};
use super::{KeptArtifact, Library, LibraryEvent, LibraryOperationError, Origin};
use crate::actor::Actor;
use crate::stage::{Candidate, Outcome, Source, Staging, Step};
use placewright_engine::unit::{Digest, Unit};

/// As many digits of a digest as events and policies show.
const SHORTEST: usize = 8;

/// Whether the actor still may; if not, the unit is refused. To be called with the library locked.
fn may_still(actor: &Actor, staging: &mut Staging) -> bool {
    match actor.must() {
        Ok(()) => true,
        Err(taken_away) => {
            staging.refuse(Step::InForce, taken_away.to_string());
            false
        }
    }
}

impl Library {
    /// Stage a unit that someone hands in; it stands in front of its file until that
    /// changes. Takes as long as compiling and probing it, and is refused if whoever hands it in
    /// may not any more then.
    pub fn upload(&self, candidate: &Candidate, by: impl Into<Actor>) -> Staging {
        self.upload_staged(candidate, &by.into(), false)
    }

    /// The same, and it comes into force even if policies cannot run with it: their clusters
    /// decide nothing until their policies are others. All other steps stay as they are.
    pub fn upload_overriding_policies(
        &self,
        candidate: &Candidate,
        by: impl Into<Actor>,
    ) -> Staging {
        self.upload_staged(candidate, &by.into(), true)
    }

    fn upload_staged(
        &self,
        candidate: &Candidate,
        actor: &Actor,
        overrides_policies: bool,
    ) -> Staging {
        let by = actor.name().to_string();
        let mut staging = Staging::new(
            Source::Upload { by: by.clone() },
            Digest::of(&candidate.bytes),
        )
        .asked_by(&by);
        staging.overrides_policies = overrides_policies;
        let _shown = self.show(&mut staging);
        let asked = self.admission.trust();
        let known = self.lock().loaded(staging.digest);
        if let Some(unit) = self.admission.admit(candidate, known, &mut staging) {
            let mut state = self.lock();
            if self.is_still_trusted(&asked, candidate, &mut staging)
                && may_still(actor, &mut staging)
                && self.keep(candidate, &unit, &mut staging)
            {
                self.choose(&mut state, unit, Origin::Upload { by }, &mut staging);
            }
        }
        let _held = self.lock();
        self.conclude(&staging);
        staging
    }

    /// Go through all steps but the last, and change nothing.
    pub fn try_out(&self, candidate: &Candidate, by: &str) -> Staging {
        self.admit(candidate, by).0
    }

    /// The same, with the unit if it was let in as far as it alone is concerned.
    pub fn admit(&self, candidate: &Candidate, by: &str) -> (Staging, Option<Arc<Unit>>) {
        let by = by.to_owned();
        let mut staging = Staging::new(
            Source::Upload { by: by.clone() },
            Digest::of(&candidate.bytes),
        );
        let _shown = self.show(&mut staging);
        let known = self.lock().loaded(staging.digest);
        let admitted = self.admission.admit(candidate, known, &mut staging);
        if let Some(unit) = admitted.clone() {
            let mut next = self.lock().clone();
            let name = unit.name().to_owned();
            next.choices
                .insert(name, Choice::of(unit, Origin::Upload { by }));
            self.weigh(&next, &mut staging);
        }
        (staging, admitted)
    }

    /// Offer once more what a file holds that is sound and was refused, for what
    /// policies or recorded decisions said or for a file with the same name. None if
    /// the file holds nothing of the kind.
    pub fn retry(&self, path: &Path) -> Option<Staging> {
        let mut state = self.lock();
        let unit = state.files.get(path)?.waits.clone()?;
        let path = path.to_owned();
        let mut staging = Staging::new(Source::File { path: path.clone() }, unit.digest());
        staging.named_as(&unit);
        let _shown = self.show(&mut staging);
        self.offer(&mut state, &path, unit, &mut staging);
        state.note_trouble(path, &staging);
        self.conclude(&staging);
        Some(staging)
    }

    /// The digest that was in force before the one that is.
    ///
    /// # Errors
    /// If none was, or there is no such unit.
    pub fn digest_before(&self, name: &str) -> Result<Digest, LibraryOperationError> {
        let current = self.current().get(name).map(|unit| unit.digest());
        let decided = self.lock_history().decided(name);
        let before = decided.into_iter().find(|digest| Some(*digest) != current);
        if let Some(before) = before {
            return Ok(before);
        }
        let is_known = current.is_some()
            || self.lock_history().of(name).next().is_some()
            || !self.lock().digests(name).is_empty();
        let name = name.to_owned();
        Err(match is_known {
            true => LibraryOperationError::NothingBefore { name },
            false => LibraryOperationError::NoUnit(name),
        })
    }

    /// The digest to which the unit can go back that begins with these hexadecimal digits.
    ///
    /// # Errors
    /// If these are fewer than eight, no digest begins with them, or several do.
    pub fn digest_of(&self, name: &str, prefix: &str) -> Result<Digest, LibraryOperationError> {
        let digits = prefix.to_ascii_lowercase();
        if let Some(whole) = Digest::from_hex(&digits) {
            return Ok(whole);
        }
        let no_digest = |why: String| LibraryOperationError::NoPrefix {
            name: name.to_owned(),
            why,
        };
        if digits.len() < SHORTEST || !digits.bytes().all(|it| it.is_ascii_hexdigit()) {
            let why = format!(
                "is written as 64 hexadecimal digits, or the first {SHORTEST} of them or more"
            );
            return Err(no_digest(why));
        }
        let mut known = self.lock_history().in_force(name);
        let current = self.current().get(name).map(|unit| unit.digest());
        known.extend(current);
        known.extend(self.lock().digests(name));
        known.sort_unstable_by_key(ToString::to_string);
        known.dedup();
        known.retain(|digest| digest.to_string().starts_with(&digits));
        match known.as_slice() {
            [digest] => Ok(*digest),
            [] => Err(LibraryOperationError::NoDigest {
                name: name.to_owned(),
                digest: digits,
            }),
            several => {
                let several: Vec<String> = several.iter().map(ToString::to_string).collect();
                Err(no_digest(format!(
                    "begins in several ways: {}",
                    several.join(", ")
                )))
            }
        }
    }

    /// Go back to bytes that were in force under that name before. They stand in front
    /// of the file until that changes.
    ///
    /// # Errors
    /// If they are not kept, or the unit is pinned or disabled. A unit that is refused, as
    /// one whose signature is not trusted any more or for whoever may not any more, is no error: its
    /// staging says so.
    pub fn rollback(
        &self,
        name: &str,
        digest: Digest,
        by: impl Into<Actor>,
    ) -> Result<Staging, LibraryOperationError> {
        let actor = by.into();
        let by = &**actor.name();
        let no_digest = || LibraryOperationError::NoDigest {
            name: name.to_owned(),
            digest: digest.to_string(),
        };
        let known = self.lock().loaded(digest);
        let was_in_force = self.lock_history().in_force(name).contains(&digest);
        if !was_in_force && known.is_none() {
            return Err(no_digest());
        }
        let mut staging = Staging::new(Source::Rollback, digest).asked_by(by);
        let _shown = self.show(&mut staging);
        let asked = self.admission.trust();
        let embedded = self.lock().embedded(digest);
        let (unit, candidate) = match embedded {
            Some(unit) => {
                staging.named_as(&unit);
                let trusted = asked.not_revoked(digest);
                let trusted = trusted.map(|()| ((), None)).map_err(|it| it.to_string());
                let trusted = staging.step(Step::Signature, || trusted);
                (trusted.map(|()| unit), None)
            }
            None => {
                let artifact = self.load(digest)?.ok_or_else(no_digest)?;
                let candidate = Candidate {
                    bytes: artifact.bytes.into(),
                    signature: artifact.signature.map(|signature| signature.bytes.into()),
                };
                let admitted = self.admission.admit(&candidate, known, &mut staging);
                (admitted, Some(candidate))
            }
        };
        if unit.as_ref().is_some_and(|unit| unit.name() != name) {
            return Err(no_digest());
        }
        let mut state = self.lock();
        let still = |staging: &mut Staging| {
            let is_trusted = match &candidate {
                Some(candidate) => self.is_still_trusted(&asked, candidate, staging),
                None => !state.revoked.contains(&digest),
            };
            is_trusted && may_still(&actor, staging)
        };
        let Some(unit) = unit.filter(|_| still(&mut staging)) else {
            if staging.name.is_none() {
                staging.name = Some(name.to_owned());
            }
            self.conclude(&staging);
            return Ok(staging);
        };
        let before = self.current().get(name).map(|unit| unit.digest());
        self.choose(&mut state, unit, Origin::Rollback, &mut staging);
        if matches!(staging.outcome, Outcome::InForce { .. }) {
            let event = LibraryEvent::RolledBack {
                name: name.to_owned(),
                digest,
                replaced: before,
            };
            self.tell_as_asked(&event, Some(by));
        }
        self.conclude(&staging);
        Ok(staging)
    }

    /// The stored unit with that digest, if its bytes are sound.
    pub(super) fn load(
        &self,
        digest: Digest,
    ) -> Result<Option<KeptArtifact>, LibraryOperationError> {
        let artifact = self.around.artifacts.load(digest);
        let artifact = artifact.map_err(|why| LibraryOperationError::Artifacts {
            what: format!("the bytes of {} cannot be read", digest.short()),
            why,
        })?;
        Ok(artifact.filter(|artifact| Digest::of(&artifact.bytes) == digest))
    }

    /// Have the unit stand in front of whatever else has its name.
    fn choose(&self, state: &mut State, unit: Arc<Unit>, origin: Origin, staging: &mut Staging) {
        let name = unit.name().to_owned();
        let held = match state.choices.get(&name) {
            Some(choice) if choice.pinned => {
                Some(format!("it is pinned to {}", choice.unit.digest().short()))
            }
            _ if state.disabled.contains(&name) => {
                Some("units of this name are disabled".to_owned())
            }
            _ => None,
        };
        if let Some(why) = held {
            staging.outcome = Outcome::Held { why };
            return;
        }
        let mut next = state.clone();
        next.forget_distrusted_choice(&name);
        next.choices.insert(name, Choice::of(unit, origin));
        self.change(state, next, staging);
    }

    /// End what was chosen for that name: its file, or what comes with the program,
    /// is in force again. Where nothing was chosen, what comes with the program stands in front
    /// of the file until that changes.
    ///
    /// # Errors
    /// If nothing was chosen and no such unit comes with the program, or policies need it.
    pub fn withdraw(&self, name: &str, by: &str) -> Result<(), LibraryOperationError> {
        self.alter(name, by, |next| {
            let forgotten = next.forget_distrusted_choice(name);
            if next.choices.remove(name).is_some() || forgotten {
                return Ok(None);
            }
            let embedded = next.base.get(name).cloned();
            let is_other = |unit: &Arc<Unit>| {
                let wanted = next.if_enabled(name);
                wanted.is_some_and(|(_, it)| it.digest() != unit.digest())
            };
            match embedded.filter(is_other) {
                Some(embedded) if !next.revoked.contains(&embedded.digest()) => {
                    next.kept.remove(name);
                    if next.offered(name).is_some() {
                        let choice = Choice::of(embedded, Origin::Rollback);
                        next.choices.insert(name.to_owned(), choice);
                    }
                    Ok(None)
                }
                _ => Err(
                    "was neither uploaded nor rolled back, and the program has no other unit of this \
                     name: there is nothing to withdraw"
                        .to_owned(),
                ),
            }
        })
    }

    /// Have no unit of that name in force, until it is enabled again.
    ///
    /// # Errors
    /// If there is none, or policies need it.
    pub fn disable(&self, name: &str, by: &str) -> Result<(), LibraryOperationError> {
        let owned = name.to_owned();
        self.alter(name, by, |next| {
            let event = LibraryEvent::Disabled {
                name: owned.clone(),
            };
            Ok(next.disabled.insert(owned).then_some(event))
        })
        .map_err(|error| match error {
            // Each of them would say of each of its clusters that there is no such unit.
            LibraryOperationError::InUse { name, policies, .. } => LibraryOperationError::InUse {
                name,
                policies,
                why: "they cannot run without it; take it out of them first, or have their clusters decided by others"
                    .to_owned(),
            },
            other => other,
        })
    }

    /// Have the unit of that name in force again.
    ///
    /// # Errors
    /// If there is none, or policies are not valid with it.
    pub fn enable(&self, name: &str, by: &str) -> Result<(), LibraryOperationError> {
        let owned = name.to_owned();
        self.alter(name, by, |next| {
            let event = LibraryEvent::Enabled {
                name: owned.clone(),
            };
            Ok(next.disabled.remove(&owned).then_some(event))
        })
    }

    /// Keep what is in force under that name in force, whatever its file becomes.
    ///
    /// # Errors
    /// If nothing is in force under that name.
    pub fn pin(&self, name: &str, by: &str) -> Result<(), LibraryOperationError> {
        self.alter(name, by, |next| {
            let (_, unit) = next
                .wanted(name)
                .ok_or("is not in force: there is nothing to pin it to")?;
            let (digest, unit) = (unit.digest(), unit.clone());
            let choice = next.choices.entry(name.to_owned());
            let choice = choice.or_insert(Choice::of(unit, Origin::Pin));
            let event = LibraryEvent::Pinned {
                name: name.to_owned(),
                digest,
            };
            let was_pinned = std::mem::replace(&mut choice.pinned, true);
            Ok((!was_pinned).then_some(event))
        })
    }

    /// Take the pin off. What its file has become meanwhile comes into force.
    ///
    /// # Errors
    /// If it is not pinned, or policies are not valid with what its file holds now.
    pub fn unpin(&self, name: &str, by: &str) -> Result<(), LibraryOperationError> {
        self.alter(name, by, |next| {
            let was_pinned = next.unpin_distrusted(name);
            match next.choices.get_mut(name).filter(|choice| choice.pinned) {
                Some(choice) => {
                    choice.pinned = false;
                    if choice.outdated || choice.origin == Origin::Pin {
                        next.choices.remove(name);
                    }
                }
                None if was_pinned => {}
                None => return Err("is not pinned".to_owned()),
            }
            let name = name.to_owned();
            Ok(Some(LibraryEvent::Unpinned { name }))
        })
    }

    /// Let go of the units of files that are gone which no policy uses any more. To
    /// be called when policies have changed.
    pub fn sweep(&self) {
        let mut state = self.lock();
        let Ok(Some(trials)) = self.trials() else {
            return;
        };
        let is_kept = |unit: &Distrusted| matches!(unit.place, Place::Kept(_));
        state
            .distrusted
            .retain(|unit| !is_kept(unit) || !trials.users(&unit.name).is_empty());
        let unused = |name: &&String| trials.users(name).is_empty();
        let names: Vec<String> = state.kept.keys().filter(unused).cloned().collect();
        for name in names {
            let mut next = state.clone();
            if let Some((_, unit)) = next.kept.remove(&name) {
                // If the policies do need it, it stays, which is no news.
                let mut staging = Staging::new(Source::Kept, unit.digest());
                self.change(&mut state, next, &mut staging);
            }
        }
    }

    /// Alter the state of one name, and tell of it when it is in force.
    fn alter(
        &self,
        name: &str,
        by: &str,
        alter: impl FnOnce(&mut State) -> Result<Option<LibraryEvent>, String>,
    ) -> Result<(), LibraryOperationError> {
        let mut state = self.lock();
        let known = state.if_enabled(name);
        let known = known.map(|(source, unit)| (source, unit.digest()));
        let distrusted = || {
            let unit = state.distrusted_as(name)?;
            Some((unit.source(), unit.digest))
        };
        let Some((source, digest)) = known.or_else(distrusted) else {
            return Err(LibraryOperationError::NoUnit(name.to_owned()));
        };
        let mut staging = Staging::new(source, digest).asked_by(by);
        let mut next = state.clone();
        let event = alter(&mut next).map_err(|why| LibraryOperationError::State {
            name: name.to_owned(),
            why,
        })?;
        if self.change(&mut state, next, &mut staging) {
            event
                .iter()
                .for_each(|event| self.tell_as_asked(event, Some(by)));
            return Ok(());
        }
        let users = match self.trials() {
            Ok(Some(trials)) => trials.users(name),
            _ => Vec::new(),
        };
        match staging.outcome {
            Outcome::Refused { why, .. } if !users.is_empty() => {
                Err(LibraryOperationError::InUse {
                    name: name.to_owned(),
                    policies: users,
                    why,
                })
            }
            Outcome::Refused { why, .. } => Err(LibraryOperationError::Refused(vec![why])),
            _ => Ok(()),
        }
    }
}
