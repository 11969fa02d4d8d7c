//! Units in Python, built from their sources where Python and componentize-py are there
//! or can be installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};

use placewright_build as build;
use placewright_engine::Engine;
use placewright_engine::unit::Unit;

use crate::{guest, repository, target_folder};

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
pub fn builder() -> Option<&'static Path> {
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

/// The unit of the project in a folder of `sdk/python`, loaded by an engine.
///
/// # Panics
/// If it cannot be built or loaded although all is there.
pub fn unit(engine: &Engine, folder: &str) -> Option<Arc<Unit>> {
    Some(guest::load(engine, &component(folder)?, folder))
}

/// The component of the project in a folder of `sdk/python`.
///
/// # Panics
/// If it cannot be built although all is there.
pub fn component(folder: &str) -> Option<Vec<u8>> {
    guest::component(&sdk().join(folder), &[sdk().join("src")], || {
        Some(build::Options {
            python: Some(builder()?.to_owned()),
            ..build::Options::default()
        })
    })
}
