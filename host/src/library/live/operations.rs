//! What people ask of the library.

use std::path::Path;
use std::sync::Arc;

use super::state::{Choice, State};
use super::{Library, LibraryEvent, LibraryFailure, Origin};
use crate::library::stage::{Candidate, Outcome, Source, Staging};
use crate::unit::{Digest, Unit};

/// As many digits of a digest as events and policies show.
const SHORTEST: usize = 8;

impl Library {
    /// Stage a unit that someone hands in; it stands in front of its file until that
    /// changes. Takes as long as compiling and probing it.
    pub fn upload(&self, candidate: &Candidate, by: &str) -> Staging {
        let by = by.to_owned();
        let mut staging = Staging::new(
            Source::Upload { by: by.clone() },
            Digest::of(&candidate.bytes),
        );
        let known = self.lock().loaded(staging.digest);
        if let Some(unit) = self.admission.admit(candidate, false, known, &mut staging) {
            let mut state = self.lock();
            if self.keep(&candidate.bytes, &unit, &mut staging) {
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
        let known = self.lock().loaded(staging.digest);
        let admitted = self.admission.admit(candidate, false, known, &mut staging);
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
        self.offer(&mut state, &path, unit, &mut staging);
        state.note_trouble(path, &staging);
        self.conclude(&staging);
        Some(staging)
    }

    /// The digest to which the unit can go back that begins with these hexadecimal digits.
    ///
    /// # Errors
    /// If these are fewer than [`SHORTEST`], no digest begins with them, or several do.
    pub fn digest_of(&self, name: &str, prefix: &str) -> Result<Digest, LibraryFailure> {
        let digits = prefix.to_ascii_lowercase();
        if let Some(whole) = Digest::from_hex(&digits) {
            return Ok(whole);
        }
        let no_digest = |why: String| LibraryFailure::NoPrefix {
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
            [] => Err(LibraryFailure::NoDigest {
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
    /// If they are not kept, or the unit is pinned or disabled. A unit that is refused
    /// is no error: its staging says so.
    pub fn rollback(&self, name: &str, digest: Digest) -> Result<Staging, LibraryFailure> {
        let no_digest = || LibraryFailure::NoDigest {
            name: name.to_owned(),
            digest: digest.to_string(),
        };
        let known = self.lock().loaded(digest);
        let was_in_force = self.lock_history().in_force(name).contains(&digest);
        if !was_in_force && known.is_none() {
            return Err(no_digest());
        }
        let mut staging = Staging::new(Source::Kept, digest);
        let unit = match known {
            Some(unit) => Some(unit),
            None => {
                let bytes = self.load(digest)?.ok_or_else(no_digest)?;
                let candidate = Candidate {
                    bytes: bytes.into(),
                    signature: None,
                };
                self.admission.admit(&candidate, true, None, &mut staging)
            }
        };
        let Some(unit) = unit else {
            let _held = self.lock();
            self.conclude(&staging);
            return Ok(staging);
        };
        if unit.name() != name {
            return Err(no_digest());
        }
        staging.named_as(&unit);
        let mut state = self.lock();
        let before = self.current().get(name).map(|unit| unit.digest());
        self.choose(&mut state, unit, Origin::Rollback, &mut staging);
        if matches!(staging.outcome, Outcome::InForce { .. }) {
            self.tell(&LibraryEvent::RolledBack {
                name: name.to_owned(),
                digest,
                replaced: before,
            });
        }
        self.conclude(&staging);
        Ok(staging)
    }

    fn load(&self, digest: Digest) -> Result<Option<Vec<u8>>, LibraryFailure> {
        let bytes = self.around.artifacts.load(digest);
        let bytes = bytes.map_err(|why| LibraryFailure::Artifacts {
            what: format!("the bytes of {} cannot be read", digest.short()),
            why,
        })?;
        Ok(bytes.filter(|bytes| Digest::of(bytes) == digest))
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
        next.choices.insert(name, Choice::of(unit, origin));
        self.change(state, next, staging);
    }

    /// End what was chosen for that name: its file, or what comes with the program,
    /// is in force again.
    ///
    /// # Errors
    /// If nothing was chosen, or policies need it.
    pub fn withdraw(&self, name: &str) -> Result<(), LibraryFailure> {
        self.alter(name, |next| {
            let choice = next.choices.remove(name);
            choice.map(|_| None).ok_or_else(|| {
                "was neither uploaded nor gone back to, so that there is nothing to withdraw"
                    .to_owned()
            })
        })
    }

    /// Have no unit of that name in force, until it is enabled again.
    ///
    /// # Errors
    /// If there is none, or policies need it.
    pub fn disable(&self, name: &str) -> Result<(), LibraryFailure> {
        let owned = name.to_owned();
        self.alter(name, |next| {
            let event = LibraryEvent::Disabled {
                name: owned.clone(),
            };
            Ok(next.disabled.insert(owned).then_some(event))
        })
    }

    /// Have the unit of that name in force again.
    ///
    /// # Errors
    /// If there is none, or policies are not valid with it.
    pub fn enable(&self, name: &str) -> Result<(), LibraryFailure> {
        let owned = name.to_owned();
        self.alter(name, |next| {
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
    pub fn pin(&self, name: &str) -> Result<(), LibraryFailure> {
        self.alter(name, |next| {
            let (_, unit) = next.wanted(name).ok_or("is disabled: enable it first")?;
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
    pub fn unpin(&self, name: &str) -> Result<(), LibraryFailure> {
        self.alter(name, |next| {
            let choice = next.choices.get_mut(name).filter(|choice| choice.pinned);
            let choice = choice.ok_or("is not pinned")?;
            choice.pinned = false;
            if choice.outdated || choice.origin == Origin::Pin {
                next.choices.remove(name);
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
        alter: impl FnOnce(&mut State) -> Result<Option<LibraryEvent>, String>,
    ) -> Result<(), LibraryFailure> {
        let mut state = self.lock();
        let Some((source, unit)) = state.if_enabled(name) else {
            return Err(LibraryFailure::NoUnit(name.to_owned()));
        };
        let mut staging = Staging::new(source, unit.digest());
        let mut next = state.clone();
        let event = alter(&mut next).map_err(|why| LibraryFailure::State {
            name: name.to_owned(),
            why,
        })?;
        if self.change(&mut state, next, &mut staging) {
            event.iter().for_each(|event| self.tell(event));
            return Ok(());
        }
        let users = match self.trials() {
            Ok(Some(trials)) => trials.users(name),
            _ => Vec::new(),
        };
        match staging.outcome {
            Outcome::Refused { why, .. } if !users.is_empty() => Err(LibraryFailure::InUse {
                name: name.to_owned(),
                policies: users,
                why,
            }),
            Outcome::Refused { why, .. } => Err(LibraryFailure::Refused(vec![why])),
            _ => Ok(()),
        }
    }
}
