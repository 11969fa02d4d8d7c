//! Which units there are and which of them is wanted in force under each name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Remembered, RememberedChoice, RememberedUnit};
use crate::stage::{Outcome, Source, Staging};
use crate::trust::Trust;
use placewright_engine::generation::Generation;
use placewright_engine::unit::{Digest, Unit};

/// How someone has chosen a unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Origin {
    /// By handing it in.
    Upload {
        /// Who.
        by: String,
    },
    /// By going back to it.
    Rollback,
    /// By pinning what was in force.
    Pin,
}

impl Origin {
    /// Where what was chosen so is from, of which nothing else is known.
    pub(super) fn source(&self) -> Source {
        match self {
            Self::Upload { by } => Source::Upload { by: by.clone() },
            Self::Rollback => Source::Rollback,
            Self::Pin => Source::Pin,
        }
    }
}

/// Which units there are. Changed as a copy, which replaces it when all is well.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    /// The number of the generation in force.
    pub(super) number: u64,
    /// Those that come with the program.
    pub(super) base: Arc<BTreeMap<String, Arc<Unit>>>,
    pub(super) files: BTreeMap<PathBuf, OfFile>,
    pub(super) choices: BTreeMap<String, Choice>,
    pub(super) disabled: BTreeSet<String>,
    /// Units of files that are gone, with the paths.
    pub(super) kept: BTreeMap<String, (PathBuf, Arc<Unit>)>,
    /// Units that were let in and are not trusted any more.
    pub(super) distrusted: Vec<Distrusted>,
    /// What decides in the place of those, by name, where nothing else does: versions that
    /// were in force before them.
    pub(super) earlier: BTreeMap<String, Arc<Unit>>,
    /// Digests that are never in force, not even of what comes with the program.
    pub(super) revoked: BTreeSet<Digest>,
}

/// A unit that was let in and is not trusted any more: it is not in force and not loaded,
/// and comes back where it was when it is trusted again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Distrusted {
    pub(super) name: String,
    pub(super) digest: Digest,
    /// Why it is not trusted.
    pub(super) why: String,
    pub(super) place: Place,
}

/// Where a unit was that is not trusted any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// What a file offered.
    File(PathBuf),
    /// Of a file that is gone.
    Kept(PathBuf),
    /// What someone has chosen.
    Choice {
        origin: Origin,
        pinned: bool,
        outdated: bool,
    },
    /// It comes with the program.
    Program,
}

impl Place {
    pub(super) fn is_file(&self, path: &Path) -> bool {
        matches!(self, Self::File(file) if file == path)
    }
}

/// What a file offers.
#[derive(Debug, Clone, Default)]
pub(super) struct OfFile {
    /// The last sound unit.
    pub(super) offers: Option<Arc<Unit>>,
    /// A sound unit that was refused: for another file with its name, or for what
    /// policies or recorded decisions said.
    pub(super) waits: Option<Arc<Unit>>,
    /// What it holds now, and what is wrong with that.
    pub(super) holds: Option<Digest>,
    pub(super) trouble: Option<String>,
}

/// What someone has chosen.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    pub(super) unit: Arc<Unit>,
    pub(super) origin: Origin,
    pub(super) pinned: bool,
    /// Whether the folder has offered something else since it was pinned.
    pub(super) outdated: bool,
}

impl Choice {
    pub(super) fn of(unit: Arc<Unit>, origin: Origin) -> Self {
        Self {
            unit,
            origin,
            pinned: false,
            outdated: false,
        }
    }
}

impl State {
    /// Note of a file what is wrong with what it holds, if anything is.
    pub(super) fn note_trouble(&mut self, path: PathBuf, staging: &Staging) {
        let file = self.files.entry(path).or_default();
        file.holds = Some(staging.digest);
        file.trouble = match &staging.outcome {
            Outcome::Refused { why, .. } => Some(why.clone()),
            _ => None,
        };
    }

    /// The unit that should be in force under that name, and where it is from.
    pub(super) fn wanted(&self, name: &str) -> Option<(Source, &Arc<Unit>)> {
        if self.disabled.contains(name) {
            return None;
        }
        self.if_enabled(name)
    }

    /// The same, whether it is disabled or not.
    pub(super) fn if_enabled(&self, name: &str) -> Option<(Source, &Arc<Unit>)> {
        if let Some(choice) = self.choices.get(name) {
            return Some((self.source_of(name, choice), &choice.unit));
        }
        if let Some((path, unit)) = self.offered(name) {
            let path = path.to_owned();
            return Some((Source::File { path }, unit));
        }
        if let Some((_, unit)) = self.kept.get(name) {
            return Some((Source::Kept, unit));
        }
        let embedded = self.base.get(name);
        let embedded = embedded.filter(|unit| !self.revoked.contains(&unit.digest()));
        let earlier = self.earlier.get(name);
        let earlier = earlier.filter(|_| self.distrusted_as(name).is_some());
        earlier
            .map(|unit| (Source::Kept, unit))
            .or_else(|| embedded.map(|unit| (Source::Embedded, unit)))
    }

    /// Where a choice is from. A pin alone moves nothing: what it is on is from where it was, as
    /// long as that is there.
    fn source_of(&self, name: &str, choice: &Choice) -> Source {
        let digest = choice.unit.digest();
        let offered = self.offered(name);
        let offered = offered.filter(|(_, unit)| unit.digest() == digest);
        match (&choice.origin, offered) {
            (Origin::Pin, Some((path, _))) => Source::File {
                path: path.to_owned(),
            },
            (Origin::Pin, None) if self.embedded(digest).is_some() => Source::Embedded,
            (origin, _) => origin.source(),
        }
    }

    /// The unit of that name that was let in and is not trusted any more, if there is one:
    /// what was chosen before what is offered.
    pub(super) fn distrusted_as(&self, name: &str) -> Option<&Distrusted> {
        let of_name = || self.distrusted.iter().filter(|unit| unit.name == name);
        let chosen = of_name().find(|unit| matches!(unit.place, Place::Choice { .. }));
        chosen.or_else(|| of_name().next())
    }

    /// The file of that name offers something new: what was chosen before and is not trusted
    /// any more does not come back for it, unless it is pinned.
    pub(super) fn outdate_distrusted_choice(&mut self, name: &str) {
        self.distrusted.retain_mut(|unit| match &mut unit.place {
            Place::Choice {
                pinned, outdated, ..
            } if unit.name == name => {
                *outdated = true;
                *pinned
            }
            _ => true,
        });
    }

    /// Take the pin off what is pinned for that name and not trusted any more. False if
    /// nothing is.
    pub(super) fn unpin_distrusted(&mut self, name: &str) -> bool {
        let mut found = false;
        self.distrusted.retain_mut(|unit| match &mut unit.place {
            Place::Choice {
                origin,
                pinned,
                outdated,
            } if unit.name == name && *pinned => {
                found = true;
                *pinned = false;
                !*outdated && *origin != Origin::Pin
            }
            _ => true,
        });
        found
    }

    /// The unit with that digest that comes with the program.
    pub(super) fn embedded(&self, digest: Digest) -> Option<Arc<Unit>> {
        let mut units = self.base.values();
        units.find(|unit| unit.digest() == digest).cloned()
    }

    /// What comes with the program is not in force where it is revoked.
    pub(super) fn distrust_revoked(&mut self, trust: &Trust) {
        self.revoked.clone_from(&trust.revoked);
        self.distrusted.retain(|unit| unit.place != Place::Program);
        for unit in self.base.values() {
            if let Err(error) = trust.not_revoked(unit.digest()) {
                self.distrusted.push(Distrusted {
                    name: unit.name().to_owned(),
                    digest: unit.digest(),
                    why: error.to_string(),
                    place: Place::Program,
                });
            }
        }
    }

    /// Take out what was chosen for that name and is not trusted any more.
    pub(super) fn forget_distrusted_choice(&mut self, name: &str) -> bool {
        let before = self.distrusted.len();
        self.distrusted
            .retain(|unit| unit.name != name || !matches!(unit.place, Place::Choice { .. }));
        self.distrusted.len() < before
    }

    /// The first file that offers a unit of that name: all that do offer the same.
    pub(super) fn offered(&self, name: &str) -> Option<(&Path, &Arc<Unit>)> {
        self.files.iter().find_map(|(path, file)| {
            let unit = file.offers.as_ref().filter(|unit| unit.name() == name)?;
            Some((path.as_path(), unit))
        })
    }

    /// A file other than `path` that offers another unit of the same name.
    pub(super) fn rival(&self, path: &Path, unit: &Unit) -> Option<&Path> {
        self.files.iter().find_map(|(other, file)| {
            let offers = file.offers.as_ref()?;
            let rivals = offers.name() == unit.name() && offers.digest() != unit.digest();
            (other != path && rivals).then_some(other.as_path())
        })
    }

    /// All names of which there is a unit.
    pub(super) fn names(&self) -> BTreeSet<&str> {
        let offers = self.files.values().filter_map(|file| file.offers.as_ref());
        let mut names: BTreeSet<&str> = offers.map(|unit| unit.name()).collect();
        names.extend(self.choices.keys().map(String::as_str));
        names.extend(self.kept.keys().map(String::as_str));
        names.extend(self.distrusted.iter().map(|unit| unit.name.as_str()));
        names.extend(self.base.keys().map(String::as_str));
        names
    }

    /// The digests of all units of that name.
    pub(super) fn digests(&self, name: &str) -> Vec<Digest> {
        let of_files = self
            .files
            .values()
            .flat_map(|file| [file.offers.as_ref(), file.waits.as_ref()])
            .flatten();
        let units = of_files
            .chain(self.choices.values().map(|choice| &choice.unit))
            .chain(self.kept.values().map(|(_, unit)| unit))
            .chain(self.base.values());
        let units = units.filter(|unit| unit.name() == name);
        units.map(|unit| unit.digest()).collect()
    }

    /// The digests of all units that are there, set aside or remembered.
    pub(super) fn all(&self) -> impl Iterator<Item = Digest> {
        let of_files = self.files.values();
        let of_files = of_files.flat_map(|file| [file.offers.as_ref(), file.waits.as_ref()]);
        let units = of_files
            .flatten()
            .chain(self.choices.values().map(|choice| &choice.unit))
            .chain(self.kept.values().map(|(_, unit)| unit))
            .chain(self.earlier.values())
            .chain(self.base.values());
        let digests = units.map(|unit| unit.digest());
        digests.chain(self.distrusted.iter().map(|unit| unit.digest))
    }

    /// A unit with that digest that is loaded.
    pub(super) fn loaded(&self, digest: Digest) -> Option<Arc<Unit>> {
        let of_files = self
            .files
            .values()
            .flat_map(|file| [file.offers.as_ref(), file.waits.as_ref()])
            .flatten();
        of_files
            .chain(self.choices.values().map(|choice| &choice.unit))
            .chain(self.kept.values().map(|(_, unit)| unit))
            .chain(self.base.values())
            .find(|unit| unit.digest() == digest)
            .cloned()
    }

    /// The generation in which all that is wanted is in force.
    pub(super) fn generation(&self) -> Generation {
        let mut generation = Generation::default().numbered(self.number);
        for name in self.names() {
            let unit = self.wanted(name).map(|(_, unit)| unit.clone());
            generation.set(name, unit);
        }
        generation
    }

    pub(super) fn remembered(&self) -> Remembered {
        let unit = |path: &PathBuf, unit: &Arc<Unit>| RememberedUnit {
            path: path.clone(),
            digest: unit.digest(),
            name: unit.name().to_owned(),
        };
        let files = self.files.iter();
        let choices = self.choices.values();
        let mut remembered = Remembered {
            generation: self.number,
            files: files
                .filter_map(|(path, file)| Some(unit(path, file.offers.as_ref()?)))
                .collect(),
            kept: self
                .kept
                .values()
                .map(|(path, kept)| unit(path, kept))
                .collect(),
            choices: choices
                .map(|choice| RememberedChoice {
                    digest: choice.unit.digest(),
                    name: choice.unit.name().to_owned(),
                    origin: choice.origin.clone(),
                    pinned: choice.pinned,
                    outdated: choice.outdated,
                })
                .collect(),
            disabled: self.disabled.iter().cloned().collect(),
        };
        for unit in &self.distrusted {
            unit.remember(&mut remembered);
        }
        remembered
    }
}

impl Distrusted {
    /// It may be trusted again after the next start.
    fn remember(&self, remembered: &mut Remembered) {
        let (name, digest) = (self.name.clone(), self.digest);
        let of_file = |path: &PathBuf| RememberedUnit {
            path: path.clone(),
            digest,
            name: name.clone(),
        };
        match &self.place {
            // Told anew at every start.
            Place::Program => {}
            Place::File(path) => remembered.files.push(of_file(path)),
            Place::Kept(path) => remembered.kept.push(of_file(path)),
            Place::Choice {
                origin,
                pinned,
                outdated,
            } => remembered.choices.push(RememberedChoice {
                digest,
                name,
                origin: origin.clone(),
                pinned: *pinned,
                outdated: *outdated,
            }),
        }
    }
}
