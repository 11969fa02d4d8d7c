//! Units in Python, built from their sources where Python and componentize-py are there
//! or can be installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};

use placewright::engine::{Engine, Limits};
use placewright::unit::{Unit, build};

use crate::sources::Record;
use crate::{repository, sources, target_folder, units};

/// The folder of the SDK for Python.
pub fn sdk() -> PathBuf {
    repository().join("sdk/python")
}

/// A Python of at least version 3.11, if the machine has one.
pub fn interpreter() -> Option<PathBuf> {
    let python = PathBuf::from("python3");
    let mut ask = Command::new(&python);
    ask.args(["-c", "import sys; sys.exit(sys.version_info < (3, 11))"]);
    let there = ask
        .stdin(Stdio::null())
        .status()
        .is_ok_and(|it| it.success());
    there.then_some(python)
}

/// The Python that builds components, installed at its first use; none where that is not
/// possible, which is told.
fn builder() -> Option<&'static Path> {
    static BUILDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let builder = BUILDER.get_or_init(|| {
        let folder = target_folder().join("python");
        let mut install = Command::new(sdk().join("build"));
        install.arg("--install").env("PLACEWRIGHT_VENV", &folder);
        let installed = install.stdin(Stdio::null()).status();
        if !installed.is_ok_and(|it| it.success()) {
            eprintln!("units in Python are not tried: what builds them is missing");
            return None;
        }
        Some(folder.join("bin/python"))
    });
    builder.as_deref()
}

/// The component of the project in `folder`: the one that was built before from the same
/// sources, or built now, which takes some ten seconds.
///
/// # Panics
/// If it cannot be built although all is there.
fn component(folder: &Path) -> Option<Vec<u8>> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let kept = units::build_folder().join(format!("{name}.wasm"));
    let beside = kept.with_extension("sources");
    let made_from = [
        sdk().join("src"),
        folder.to_owned(),
        repository().join("wit"),
    ];
    let digest = sources::digest_of(&made_from).expect("the sources are readable");
    let known = fs::read_to_string(&beside)
        .ok()
        .and_then(|text| Record::parse(&text));
    if let (Some(known), Ok(bytes)) = (known, fs::read(&kept))
        && known == Record::of(digest.clone(), &bytes)
    {
        return Some(bytes);
    }
    let options = build::Options {
        python: Some(builder()?.to_owned()),
        ..build::Options::default()
    };
    let built = match build::build(folder, &options) {
        Ok(built) => built,
        Err(error) => panic!("cannot build {name}: {error}"),
    };
    let record = Record::of(digest, &built.bytes).to_string();
    fs::create_dir_all(units::build_folder()).expect("the folder can be made");
    fs::write(&kept, &built.bytes).expect("the component can be kept");
    fs::write(&beside, record).expect("the digests can be kept");
    Some(built.bytes)
}

/// The engine for units in Python: compiled code is kept, since compiling an interpreter
/// takes many seconds.
///
/// # Panics
/// If the machine cannot run WebAssembly.
pub fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| kept(Limits::default()))
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
        compile_time: std::time::Duration::from_secs(600),
        ..limits
    };
    let code = units::build_folder().join("code");
    Engine::new(limits, Some(&code)).expect("an engine can be set up")
}

/// The unit of the project in a folder of `sdk/python`, loaded by an engine.
///
/// # Panics
/// If it cannot be built or loaded although all is there.
pub fn unit(engine: &Engine, folder: &str) -> Option<Arc<Unit>> {
    let bytes = component(&sdk().join(folder))?;
    match Unit::load(engine, &bytes, folder) {
        Ok(unit) => Some(unit),
        Err(error) => panic!("{error}"),
    }
}
