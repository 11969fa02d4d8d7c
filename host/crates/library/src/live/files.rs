//! What becomes of the units of files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::state::{Distrusted, OfFile, Place, State};
use super::{KeptSignature, Library, LibraryEvent, candidate};
use crate::stage::{Candidate, Outcome, Source, Staging, Step, StepOutcome};
use crate::watch::{Change, Seen};
use placewright_engine::unit::Unit;

impl Library {
    /// Take in what became of a file: stage what it holds, or let go of what it held.
    /// Takes as long as compiling and probing a unit does. The staging, if the file
    /// holds anything.
    pub fn take(&self, change: &Change) -> Option<Staging> {
        match change {
            Change::Seen(seen) => return Some(self.seen(seen)),
            Change::Gone { path } => self.gone(path),
            Change::Trouble { path, why } => {
                let mut state = self.lock();
                let file = state.files.entry(path.clone()).or_default();
                file.holds = None;
                file.trouble = Some(why.clone());
                let (path, why) = (path.clone(), why.clone());
                self.tell(&LibraryEvent::Trouble { path, why });
            }
            Change::Unlisted { path, why } => {
                let _held = self.lock();
                let (path, why) = (path.clone(), why.clone());
                self.tell(&LibraryEvent::Trouble { path, why });
            }
        }
        None
    }

    fn seen(&self, seen: &Seen) -> Staging {
        let (path, digest) = (seen.path.clone(), seen.digest);
        let mut staging = Staging::new(Source::File { path: path.clone() }, digest);
        let _shown = self.show(&mut staging);
        let (asked, candidate) = (self.admission.trust(), candidate(seen));
        let known = {
            let state = self.lock();
            self.tell(&LibraryEvent::Seen {
                path: path.clone(),
                digest,
            });
            state.loaded(digest)
        };
        let admitted = self.admission.admit(&candidate, known, &mut staging);
        let mut state = self.lock();
        if let Some(unit) = admitted
            && self.is_still_trusted(&asked, &candidate, &mut staging)
            && self.keep(&candidate, &unit, &mut staging)
        {
            self.offer(&mut state, &path, unit, &mut staging);
        } else {
            let file = state.files.entry(path.clone()).or_default();
            file.waits = None;
        }
        state.note_trouble(path, &staging);
        self.conclude(&staging);
        staging
    }

    /// Keep the bytes and their signature, so that neither deletion nor restart loses them.
    pub(super) fn keep(&self, candidate: &Candidate, unit: &Unit, staging: &mut Staging) -> bool {
        let signature = candidate.signature.as_ref().map(|bytes| KeptSignature {
            bytes: bytes.to_vec(),
            signer: staging.signer.clone(),
        });
        let artifacts = &self.around.artifacts;
        let kept = artifacts.store(unit.digest(), &candidate.bytes, signature.as_ref());
        if let Err(why) = kept {
            staging.refuse(Step::InForce, format!("it cannot be stored: {why}"));
            return false;
        }
        true
    }

    /// The file holds this sound unit.
    pub(super) fn offer(
        &self,
        state: &mut State,
        path: &Path,
        unit: Arc<Unit>,
        staging: &mut Staging,
    ) {
        if let Some(rival) = state.rival(path, &unit) {
            let why = format!(
                "it calls itself \"{}\", as {} does, which holds another unit: rename or remove one of them",
                unit.name(),
                rival.display()
            );
            staging.refuse(Step::InForce, why);
            state.files.entry(path.to_owned()).or_default().waits = Some(unit);
            return;
        }
        let name = unit.name().to_owned();
        let mut next = state.clone();
        let file = next.files.entry(path.to_owned()).or_default();
        file.waits = None;
        let before = file.offers.replace(unit.clone());
        next.kept.remove(&name);
        next.distrusted.retain(|unit| !unit.place.is_file(path));
        next.distrusted
            .retain(|unit| unit.name != name || !matches!(unit.place, Place::Kept(_)));
        let is_new = before
            .as_ref()
            .is_none_or(|before| before.digest() != unit.digest());
        if is_new && let Some(choice) = next.choices.get_mut(&name) {
            if choice.pinned {
                choice.outdated = true;
            } else {
                next.choices.remove(&name);
            }
        }
        if is_new {
            next.outdate_distrusted_choice(&name);
        }
        let mut told = None;
        if let Some(before) = before.filter(|before| before.name() != name) {
            told = self.deprive(&mut next, path, &before);
        }
        if self.change(state, next, staging) {
            told.iter().for_each(|event| self.tell(event));
            self.hold_if_not_in_force(state, &unit, staging);
        } else {
            state.files.entry(path.to_owned()).or_default().waits = Some(unit);
        }
    }

    /// Say of a sound unit why it is not in force, if it is not.
    fn hold_if_not_in_force(&self, state: &State, unit: &Unit, staging: &mut Staging) {
        let current = self.current();
        let in_force = current.get(unit.name());
        if in_force.is_some_and(|in_force| in_force.digest() == unit.digest()) {
            return;
        }
        let why = if state.disabled.contains(unit.name()) {
            "units of this name are disabled".to_owned()
        } else {
            let chosen = in_force.map_or_else(String::new, |unit| unit.digest().short());
            match state.choices.get(unit.name()) {
                Some(choice) if choice.pinned => format!("it is pinned to {chosen}"),
                _ => format!("{chosen} was chosen in its place"),
            }
        };
        staging.outcome = Outcome::Held { why };
    }

    fn gone(&self, path: &Path) {
        let mut state = self.lock();
        let mut next = state.clone();
        let Some(OfFile {
            offers: Some(unit), ..
        }) = next.files.remove(path)
        else {
            // Nothing that it held is in force, unless an earlier version is for it.
            state.files.remove(path);
            let gone = |unit: &&Distrusted| unit.place.is_file(path);
            if let Some(gone) = next.distrusted.iter().find(gone).cloned() {
                next.distrusted.retain(|unit| *unit != gone);
                let mut staging = Staging::new(Source::Kept, gone.digest);
                self.change(&mut state, next, &mut staging);
            }
            return;
        };
        let told = self.deprive(&mut next, path, &unit);
        let source = Source::File {
            path: path.to_owned(),
        };
        let mut staging = Staging::new(source, unit.digest());
        staging.named_as(&unit);
        if self.change(&mut state, next.clone(), &mut staging) {
            told.iter().for_each(|event| self.tell(event));
            return;
        }
        // The policies do without it by their names, and are not valid without it.
        let event = self.retain(&mut next, path, &unit, policies_of(&staging));
        let mut staging = Staging::new(staging.source, unit.digest());
        if self.change(&mut state, next, &mut staging) {
            self.tell(&event);
        } else {
            self.conclude(&staging);
        }
    }

    /// The file does not offer the unit any more: another file may, or it is kept
    /// where policies use it, which is then to be told.
    fn deprive(&self, next: &mut State, path: &Path, unit: &Arc<Unit>) -> Option<LibraryEvent> {
        let name = unit.name();
        if next.offered(name).is_some() {
            return None;
        }
        let waits = |file: &&mut OfFile| {
            let waits = file.waits.as_ref();
            waits.is_some_and(|unit| unit.name() == name)
        };
        if let Some(file) = next.files.values_mut().find(waits) {
            file.offers = file.waits.take();
            file.trouble = None;
            return None;
        }
        let current = self.current();
        let in_force = current.get(name).map(|unit| unit.digest());
        let users = match self.trials() {
            Ok(Some(trials)) => trials.users(name),
            _ => Vec::new(),
        };
        if in_force != Some(unit.digest()) || next.choices.contains_key(name) || users.is_empty() {
            return None;
        }
        Some(self.retain(next, path, unit, users))
    }

    fn retain(
        &self,
        next: &mut State,
        path: &Path,
        unit: &Arc<Unit>,
        policies: Vec<String>,
    ) -> LibraryEvent {
        let kept = (path.to_owned(), unit.clone());
        next.kept.insert(unit.name().to_owned(), kept);
        LibraryEvent::KeptAlthoughDeleted {
            name: unit.name().to_owned(),
            digest: unit.digest(),
            path: path.to_owned(),
            policies,
        }
    }

    /// The paths of all files that offered units when this run began.
    pub(super) fn expected(&self) -> Vec<PathBuf> {
        self.lock().files.keys().cloned().collect()
    }
}

/// What was said against doing without a unit.
fn policies_of(staging: &Staging) -> Vec<String> {
    staging
        .steps
        .iter()
        .filter_map(|step| match &step.outcome {
            StepOutcome::Failed { why } => Some(why.clone()),
            _ => None,
        })
        .collect()
}
