//! Units in other languages than Rust: built from their sources and kept, since that takes
//! long, and loaded by engines that keep compiled code.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use placewright_build as build;
use placewright_engine::unit::Unit;
use placewright_engine::{Engine, Limits};

use crate::sources::builder_sources;
use crate::{built, repository, sources, units};

/// The component of the project in `folder`: the one that was built before from the same
/// sources, or built now; none if `options` gives none, since what builds it is missing.
/// `sdk` are folders that it is made from besides its own and the contract.
///
/// # Panics
/// If it cannot be built although all is there.
pub fn component(
    folder: &Path,
    sdk: &[PathBuf],
    options: impl FnOnce() -> Option<build::Options>,
) -> Option<Vec<u8>> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    // Examples in several languages may have folders of one name.
    let place = folder.strip_prefix(repository()).unwrap_or(folder);
    let place: Vec<_> = place.iter().map(|it| it.to_string_lossy()).collect();
    let mut made_from = sdk.to_vec();
    made_from.extend([
        folder.to_owned(),
        repository().join("wit"),
        builder_sources(),
    ]);
    let digest = sources::digest_of(&made_from).expect("the sources are readable");
    built::component(&place.join("-"), digest, || {
        match build::build(folder, &options()?) {
            Ok(made) => Some(made.bytes),
            Err(error) => panic!("cannot build {name}: {error}"),
        }
    })
}

/// The engine for units with an interpreter in them: compiled code is kept, since compiling
/// one takes many seconds.
///
/// # Panics
/// If the machine cannot run WebAssembly.
pub fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| kept(Limits::default()))
}

/// The same for one test alone, which takes all of its instances.
///
/// # Panics
/// If the machine cannot run WebAssembly.
pub fn engine_of_its_own() -> Engine {
    kept(Limits::default())
}

/// The same for runs that are limited by fuel.
///
/// # Panics
/// If the machine cannot run WebAssembly.
pub fn engine_by_fuel() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| kept(Limits::reproducible()))
}

fn kept(limits: Limits) -> Engine {
    let limits = Limits {
        instances: 16,
        // Other tests run beside this one.
        compile_time: Duration::from_secs(600),
        ..limits
    };
    let code = units::build_folder().join("code");
    Engine::new(limits, Some(&code)).expect("an engine can be set up")
}

/// A unit of a component, named by its folder where it cannot be loaded.
///
/// # Panics
/// If it cannot be loaded.
pub fn load(engine: &Engine, component: &[u8], folder: &str) -> Arc<Unit> {
    match Unit::load(engine, component, folder) {
        Ok(unit) => unit,
        Err(error) => panic!("{error}"),
    }
}
