//! A start: what was in force when the last run ended is in force again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use super::state::{Choice, OfFile, State};
use super::{Library, LibraryEvent, LibraryFailure, LibraryOptions, Remembered, Surroundings};
use crate::engine::Engine;
use crate::library::history::History;
use crate::library::stage::Admission;
use crate::library::{Generation, load_all};
use crate::sync::{ArcSwap, Mutex};
use crate::unit::{Digest, Unit};

impl Library {
    /// A library in which `base`, the units that come with the program, is in force,
    /// but for what was in force when the last run ended. Loads that from the kept
    /// bytes, on all cores; the folder is not looked at.
    ///
    /// # Errors
    /// If the configuration makes no sense, or what is kept cannot be read. A unit
    /// that cannot be loaded any more is left out, which is told.
    pub fn open(
        engine: Engine,
        base: &Generation,
        options: LibraryOptions,
        around: Surroundings,
    ) -> Result<Arc<Self>, LibraryFailure> {
        options.trust.check()?;
        let unreadable = |why| LibraryFailure::Artifacts {
            what: "what was in force at the end of the last run cannot be read".to_owned(),
            why,
        };
        let remembered = around.artifacts.recall().map_err(unreadable)?;
        let remembered = remembered.unwrap_or_default();
        let entries = around.artifacts.recorded(options.history);
        let entries = entries.map_err(unreadable)?;
        let state = restored(&engine, base, remembered, &around);
        let library = Self {
            admission: Admission::new(engine, options.trust, options.probing),
            require_replay: options.require_replay,
            trials: OnceLock::new(),
            current: ArcSwap::from_pointee(state.generation()),
            history: Mutex::new(History::new(options.history, entries)),
            state: Mutex::new(state),
            staging: Mutex::default(),
            around,
        };
        library.remember(&library.lock().remembered());
        Ok(Arc::new(library))
    }
}

fn restored(
    engine: &Engine,
    base: &Generation,
    remembered: Remembered,
    around: &Surroundings,
) -> State {
    let units = units(engine, base, &remembered, around);
    let named = |digest: &Digest| units.get(digest).cloned();
    let by_name = |unit: &Arc<Unit>| (unit.name().to_owned(), unit.clone());
    let files = remembered.files.into_iter().filter_map(|file| {
        let offers = named(&file.digest)?;
        let of_file = OfFile {
            offers: Some(offers),
            ..OfFile::default()
        };
        Some((file.path, of_file))
    });
    let kept = remembered.kept.into_iter().filter_map(|kept| {
        let unit = named(&kept.digest)?;
        Some((unit.name().to_owned(), (kept.path, unit)))
    });
    let choices = remembered.choices.into_iter().filter_map(|choice| {
        let unit = named(&choice.digest)?;
        let name = unit.name().to_owned();
        let choice = Choice {
            unit,
            origin: choice.origin,
            pinned: choice.pinned,
            outdated: choice.outdated,
        };
        Some((name, choice))
    });
    State {
        // The program may bring other units than it did in the last run.
        number: remembered.generation + 1,
        base: Arc::new(base.units().map(by_name).collect()),
        files: files.collect(),
        kept: kept.collect(),
        choices: choices.collect(),
        disabled: remembered.disabled.into_iter().collect(),
    }
}

/// All units that are remembered, as far as they can be loaded.
fn units(
    engine: &Engine,
    base: &Generation,
    remembered: &Remembered,
    around: &Surroundings,
) -> BTreeMap<Digest, Arc<Unit>> {
    let of_files = remembered.files.iter().chain(&remembered.kept);
    let mut digests: BTreeSet<Digest> = of_files.map(|unit| unit.digest).collect();
    digests.extend(remembered.choices.iter().map(|choice| choice.digest));
    let mut units: BTreeMap<Digest, Arc<Unit>> = base
        .units()
        .filter(|unit| digests.contains(&unit.digest()))
        .map(|unit| (unit.digest(), unit.clone()))
        .collect();
    let missing = digests.into_iter().filter(|it| !units.contains_key(it));
    let mut found = Vec::new();
    for digest in missing {
        let why = match around.artifacts.load(digest) {
            Ok(Some(bytes)) if Digest::of(&bytes) == digest => {
                found.push((digest.short(), bytes));
                continue;
            }
            Ok(Some(_)) => "its bytes are damaged".to_owned(),
            Ok(None) => "its bytes are not kept".to_owned(),
            Err(why) => why,
        };
        lost(around, &digest.short(), &why);
    }
    for loaded in load_all(engine, &found) {
        match loaded {
            Ok(unit) => drop(units.insert(unit.digest(), unit)),
            Err(error) => lost(around, &error.source_name, &error.error.to_string()),
        }
    }
    units
}

fn lost(around: &Surroundings, unit: &str, why: &str) {
    let why = format!("the unit {unit} was in force and cannot be loaded again: {why}");
    (around.events)(&LibraryEvent::NotKept { why });
}
