//! An immutable set of units, replaced as a whole.
//!
//! A decision holds one [`Generation`] from start to end, so that units that are
//! added, replaced or removed meanwhile never tear it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use crate::Engine;
use crate::unit::{Unit, UnitLoadError};

/// A set of units by their names.
#[derive(Debug, Clone, Default)]
pub struct Generation {
    number: u64,
    units: BTreeMap<String, Arc<Unit>>,
}

/// Why units do not make a generation.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// A file cannot be read.
    #[error("cannot read {}", .0.display())]
    Unreadable(PathBuf, #[source] io::Error),
    /// A file is no unit.
    #[error(transparent)]
    NotLoaded(#[from] UnitLoadError),
    /// Two different components call themselves the same.
    #[error(
        "{first} and {second} are different units and both call themselves \"{name}\": rename or remove one of them"
    )]
    SameName {
        /// The name.
        name: String,
        /// Where the one came from, and its digest.
        first: String,
        /// Where the other came from, and its digest.
        second: String,
    },
}

impl Generation {
    /// The set of these units. The same component may come twice.
    ///
    /// # Errors
    /// If two different components have one name.
    pub fn new(units: impl IntoIterator<Item = Arc<Unit>>) -> Result<Self, LibraryError> {
        let mut generation = Self::default();
        for unit in units {
            generation.insert(unit)?;
        }
        Ok(generation)
    }

    /// Load the files and make a set of them.
    ///
    /// # Errors
    /// Everything that is wrong with any of the files.
    pub fn load<P: AsRef<Path>>(
        engine: &Engine,
        files: impl IntoIterator<Item = P>,
    ) -> Result<Self, Vec<LibraryError>> {
        let (mut generation, mut errors) = (Self::default(), Vec::new());
        for file in files {
            let added = load(engine, file.as_ref()).and_then(|unit| generation.insert(unit));
            errors.extend(added.err());
        }
        if errors.is_empty() {
            Ok(generation)
        } else {
            Err(errors)
        }
    }

    /// The same under that number. Whoever makes one generation after the other
    /// numbers them upwards.
    #[must_use]
    pub fn numbered(mut self, number: u64) -> Self {
        self.number = number;
        self
    }

    /// Its number: greater than that of every generation that was in force before it.
    /// 0 of one that was never numbered.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The same with this unit in the place of the one of its name, or besides all
    /// others if there is none; without a number.
    #[must_use]
    pub fn with(&self, unit: Arc<Unit>) -> Self {
        let mut other = self.clone().numbered(0);
        let name = unit.name().to_owned();
        other.set(&name, Some(unit));
        other
    }

    /// Have the unit of that name be this one, or none.
    pub fn set(&mut self, name: &str, unit: Option<Arc<Unit>>) {
        match unit {
            Some(unit) => self.units.insert(name.to_owned(), unit),
            None => self.units.remove(name),
        };
    }

    fn insert(&mut self, unit: Arc<Unit>) -> Result<(), LibraryError> {
        if let Some(known) = self.units.get(unit.name())
            && known.digest() != unit.digest()
        {
            return Err(LibraryError::SameName {
                name: unit.name().to_owned(),
                first: origin(known),
                second: origin(&unit),
            });
        }
        self.units.insert(unit.name().to_owned(), unit);
        Ok(())
    }

    /// The unit of that name.
    pub fn get(&self, name: &str) -> Option<&Arc<Unit>> {
        self.units.get(name)
    }

    /// All units, by name.
    pub fn units(&self) -> impl Iterator<Item = &Arc<Unit>> {
        self.units.values()
    }

    /// How many units there are.
    pub fn len(&self) -> usize {
        self.units.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }
}

/// Load many units at once, on all cores. The bytes come with where they are from, and
/// the units in their order.
pub fn load_all<B: AsRef<[u8]> + Sync>(
    engine: &Engine,
    components: &[(String, B)],
) -> Vec<Result<Arc<Unit>, UnitLoadError>> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let share = components.len().div_ceil(threads).max(1);
    let load = |(source, bytes): &(String, B)| Unit::load(engine, bytes.as_ref(), source);
    thread::scope(|scope| {
        let shares: Vec<_> = components
            .chunks(share)
            .map(|share| scope.spawn(move || share.iter().map(load).collect::<Vec<_>>()))
            .collect();
        let joined = shares.into_iter().map(|share| match share.join() {
            Ok(units) => units,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.flatten().collect()
    })
}

fn origin(unit: &Unit) -> String {
    format!("{} ({})", unit.source(), unit.digest().short())
}

/// Load one file.
fn load(engine: &Engine, file: &Path) -> Result<Arc<Unit>, LibraryError> {
    let bytes = fs::read(file).map_err(|error| LibraryError::Unreadable(file.to_owned(), error))?;
    Ok(Unit::load(engine, &bytes, &file.display().to_string())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;
    use placewright_testing::component::Judging;

    fn engine() -> Engine {
        let limits = Limits {
            instances: 4,
            ..Limits::default()
        };
        Engine::new(limits, None).unwrap()
    }

    fn unit(engine: &Engine, name: &'static str, reason: &'static str) -> Arc<Unit> {
        let judging = Judging {
            name,
            reasons: vec![reason],
            ..Judging::default()
        };
        Unit::load(engine, &judging.component(), reason).unwrap()
    }

    #[test]
    fn units_are_found_by_name() {
        let engine = engine();
        let (one, two) = (unit(&engine, "one", "a"), unit(&engine, "two", "b"));
        let generation = Generation::new([one.clone(), two, one.clone()]).unwrap();
        assert_eq!(generation.len(), 2);
        assert_eq!(generation.get("one").unwrap().digest(), one.digest());
        assert!(generation.get("three").is_none());
    }

    #[test]
    fn two_components_of_one_name_are_refused_with_where_they_are() {
        let engine = engine();
        let units = [unit(&engine, "one", "here"), unit(&engine, "one", "there")];
        let said = Generation::new(units).unwrap_err().to_string();
        assert!(said.contains("here") && said.contains("there"), "{said}");
    }

    #[test]
    fn everything_wrong_with_files_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let bad = folder.path().join("bad.wasm");
        fs::write(&bad, "bad").unwrap();
        let files = [bad, folder.path().join("missing.wasm")];
        let errors = Generation::load(&engine(), files).unwrap_err();
        assert_eq!(errors.len(), 2);
        assert!(errors[0].to_string().contains("bad.wasm"));
        assert!(errors[1].to_string().contains("missing.wasm"));
    }
}
