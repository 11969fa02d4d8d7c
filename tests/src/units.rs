//! Units built from their sources, and loaded.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use placewright_build as build;
use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_engine::{Engine, Limits};
use placewright_plugins as plugins;

use crate::sources::build_sources;
use crate::{built, repository, target_folder};

/// The one engine of a test run, with the default limits.
///
/// # Panics
/// If the machine cannot run WebAssembly.
pub fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| {
        let limits = Limits {
            instances: 200,
            ..Limits::default()
        };
        Engine::new(limits, None).expect("an engine can be set up")
    })
}

/// Where units for tests and components made from the sources of plugins are built:
/// apart from what cargo is building, which holds a lock on its folder.
pub fn build_folder() -> PathBuf {
    target_folder().join("units")
}

/// The folder of a unit's crate: one of `tests/units`, of the book's cookbook, or of a group
/// in `plugins`.
pub fn crate_folder(name: &str) -> PathBuf {
    let groups = fs::read_dir(repository().join("plugins"));
    let groups = groups.into_iter().flatten().flatten();
    let groups = groups.map(|group| group.path());
    let places = ["tests/units", "book/cookbook"];
    let places = places.map(|folder| repository().join(folder));
    let mut folders = (places.into_iter().chain(groups)).map(|folder| folder.join(name));
    let found = folders.find(|folder| folder.join("Cargo.toml").is_file());
    found.unwrap_or_else(|| repository().join("plugins").join(name))
}

/// The component of a unit, built from its sources at its first use.
///
/// # Panics
/// If it cannot be built.
pub fn component(name: &str) -> Arc<[u8]> {
    static BUILT: Mutex<BTreeMap<String, Arc<[u8]>>> = Mutex::new(BTreeMap::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(bytes) = built.get(name) {
        return bytes.clone();
    }
    let folder = crate_folder(name);
    let sources = build_sources(&folder).expect("the sources are readable");
    let bytes = built::component(name, sources, || {
        let options = build::Options {
            target_folder: Some(build_folder()),
            ..build::Options::default()
        };
        match build::build(&folder, &options) {
            Ok(made) => Some(made.bytes),
            Err(error) => panic!("cannot build {name}: {error}"),
        }
    });
    let bytes: Arc<[u8]> = bytes.unwrap_or_default().into();
    built.insert(name.to_owned(), bytes.clone());
    bytes
}

/// A unit, built from its sources and loaded at its first use.
///
/// # Panics
/// If it cannot be built or loaded.
pub fn unit(name: &str) -> Arc<Unit> {
    static LOADED: Mutex<BTreeMap<String, Arc<Unit>>> = Mutex::new(BTreeMap::new());
    let bytes = component(name);
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let unit = loaded.entry(name.to_owned()).or_insert_with(|| {
        match Unit::load(engine(), &bytes, &format!("{name}.wasm")) {
            Ok(unit) => unit,
            Err(error) => panic!("{error}"),
        }
    });
    unit.clone()
}

/// The generation of all units that come with the program, loaded at its first use.
///
/// # Panics
/// If one of them cannot be loaded.
pub fn built_in() -> &'static Generation {
    static LOADED: OnceLock<Generation> = OnceLock::new();
    LOADED.get_or_init(|| {
        let units = plugins::UNITS.iter().map(|unit| {
            Unit::load(engine(), unit.bytes, unit.name).expect("it comes with the program")
        });
        Generation::new(units).expect("units of different names go together")
    })
}

/// A generation of these units.
///
/// # Panics
/// If one of them cannot be built or loaded.
pub fn generation(names: &[&str]) -> Generation {
    let units = names.iter().map(|name| unit(name));
    Generation::new(units).expect("units of different names go together")
}
