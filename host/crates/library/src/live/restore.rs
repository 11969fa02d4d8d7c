//! A start: what was in force when the last run ended is in force again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::state::{Choice, Distrusted, OfFile, Place, State};
use super::trust::still_admits;
use super::{
    Library, LibraryEvent, LibraryOperationError, LibraryOptions, Remembered, Surroundings,
};
use crate::history::History;
use crate::stage::{Admission, UnderWay};
use crate::trust::Trust;
use placewright_engine::Engine;
use placewright_engine::generation::{Generation, load_all};
use placewright_engine::unit::{Digest, Unit};
use placewright_sync::{ArcSwap, Mutex};

impl Library {
    /// A library in which `base`, the units that come with the program, is in force,
    /// but for what was in force when the last run ended. Loads that from the kept
    /// bytes, on all cores; the folder is not looked at.
    ///
    /// # Errors
    /// If the configuration makes no sense, or what is kept cannot be read. A unit
    /// that cannot be loaded any more is left out, which is told, and so is one that is
    /// not trusted any more: it is not even loaded.
    pub fn open(
        engine: Engine,
        base: &Generation,
        options: LibraryOptions,
        around: Surroundings,
    ) -> Result<Arc<Self>, LibraryOperationError> {
        options.trust.check()?;
        let unreadable = |why| LibraryOperationError::Artifacts {
            what: "what was in force at the end of the last run cannot be read".to_owned(),
            why,
        };
        let remembered = around.artifacts.recall().map_err(unreadable)?;
        let remembered = remembered.unwrap_or_default();
        let entries = around.artifacts.recorded(options.history);
        let entries = entries.map_err(unreadable)?;
        let state = restored(&engine, base, remembered, &options.trust, &around);
        let library = Self {
            admission: Admission::new(engine, options.trust, options.probing),
            require_replay: options.require_replay,
            trials: OnceLock::new(),
            current: ArcSwap::from_pointee(state.generation()),
            history: Mutex::new(History::new(options.history, entries)),
            state: Mutex::new(state),
            staging: Mutex::default(),
            under_way: UnderWay::default(),
            around,
        };
        library.begin()?;
        Ok(Arc::new(library))
    }
}

fn restored(
    engine: &Engine,
    base: &Generation,
    remembered: Remembered,
    trust: &Trust,
    around: &Surroundings,
) -> State {
    let Units {
        loaded: units,
        distrusted,
    } = units(engine, base, &remembered, trust, around);
    let (distrusted, troubled) = set_aside(&distrusted, &remembered);
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
    let mut files: BTreeMap<PathBuf, OfFile> = files.collect();
    files.extend(troubled);
    let mut state = State {
        // The program may bring other units than it did in the last run.
        number: remembered.generation + 1,
        base: Arc::new(base.units().map(by_name).collect()),
        files,
        kept: kept.collect(),
        choices: choices.collect(),
        disabled: remembered.disabled.into_iter().collect(),
        distrusted,
        earlier: BTreeMap::new(),
        revoked: BTreeSet::new(),
    };
    state.distrust_revoked(trust);
    state
}

/// What is remembered and not trusted, and the files that it is in.
fn set_aside(
    refused: &BTreeMap<Digest, String>,
    remembered: &Remembered,
) -> (Vec<Distrusted>, Vec<(PathBuf, OfFile)>) {
    let (mut distrusted, mut files) = (Vec::new(), Vec::new());
    let mut add = |name: &String, digest: Digest, place: Place| {
        let Some(why) = refused.get(&digest) else {
            return;
        };
        if let Place::File(path) = &place {
            let of_file = OfFile {
                holds: Some(digest),
                trouble: Some(why.clone()),
                ..OfFile::default()
            };
            files.push((path.clone(), of_file));
        }
        distrusted.push(Distrusted {
            name: match name.is_empty() {
                // An earlier version of the program has not kept it.
                true => digest.short(),
                false => name.clone(),
            },
            digest,
            why: why.clone(),
            place,
        });
    };
    for file in &remembered.files {
        add(&file.name, file.digest, Place::File(file.path.clone()));
    }
    for kept in &remembered.kept {
        add(&kept.name, kept.digest, Place::Kept(kept.path.clone()));
    }
    for choice in &remembered.choices {
        let place = Place::Choice {
            origin: choice.origin.clone(),
            pinned: choice.pinned,
            outdated: choice.outdated,
        };
        add(&choice.name, choice.digest, place);
    }
    (distrusted, files)
}

/// What is remembered, by digest.
struct Units {
    loaded: BTreeMap<Digest, Arc<Unit>>,
    /// Why they are not trusted.
    distrusted: BTreeMap<Digest, String>,
}

/// All units that are remembered, as far as they can be loaded.
fn units(
    engine: &Engine,
    base: &Generation,
    remembered: &Remembered,
    trust: &Trust,
    around: &Surroundings,
) -> Units {
    let of_files = remembered.files.iter().chain(&remembered.kept);
    let mut digests: BTreeSet<Digest> = of_files.map(|unit| unit.digest).collect();
    digests.extend(remembered.choices.iter().map(|choice| choice.digest));
    let (mut units, mut distrusted) = (BTreeMap::new(), BTreeMap::new());
    for unit in base.units().filter(|it| digests.contains(&it.digest())) {
        match trust.not_revoked(unit.digest()) {
            Ok(()) => drop(units.insert(unit.digest(), unit.clone())),
            Err(error) => drop(distrusted.insert(unit.digest(), error.to_string())),
        }
    }
    let is_known = |it: &Digest| units.contains_key(it) || distrusted.contains_key(it);
    let missing: Vec<Digest> = digests.into_iter().filter(|it| !is_known(it)).collect();
    let mut found = Vec::new();
    for digest in missing {
        let why = match around.artifacts.load(digest) {
            Ok(Some(artifact)) if Digest::of(&artifact.bytes) == digest => {
                match still_admits(trust, &artifact, engine.limits()) {
                    Ok(()) => found.push((digest.short(), artifact.bytes)),
                    Err(why) => drop(distrusted.insert(digest, why)),
                }
                continue;
            }
            Ok(Some(_)) => "its bytes are damaged".to_owned(),
            Ok(None) => "its bytes are not in the store".to_owned(),
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
    Units {
        loaded: units,
        distrusted,
    }
}

fn lost(around: &Surroundings, unit: &str, why: &str) {
    let why = format!("the unit {unit} was in force and cannot be loaded again: {why}");
    (around.events)(&LibraryEvent::NotKept { why }, None);
}
