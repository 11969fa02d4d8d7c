//! Units in JavaScript and TypeScript, built from their sources where Node.js and
//! componentize-qjs are there or can be installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};

use placewright_build as build;
use placewright_engine::Engine;
use placewright_engine::unit::Unit;

use crate::{guest, repository, target_folder};

/// The folder of the SDK for JavaScript.
pub fn sdk() -> PathBuf {
    repository().join("sdk/javascript")
}

/// Whether the machine has Node.js.
pub fn has_node() -> bool {
    let mut ask = Command::new("node");
    ask.arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    ask.status().is_ok_and(|it| it.success())
}

/// The folder `node_modules` of what builds components, installed at its first use; none
/// where that is not possible, which is told.
pub fn node_modules() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = target_folder().join("javascript");
        let mut install = Command::new(sdk().join("build"));
        install
            .arg("--install")
            .env("PLACEWRIGHT_JAVASCRIPT", &folder);
        let installed = install.stdin(Stdio::null()).status();
        if !installed.is_ok_and(|it| it.success()) {
            eprintln!("units in JavaScript are not tried: what builds them is missing");
            return None;
        }
        Some(folder.join("node_modules"))
    });
    folder.as_deref()
}

/// The unit of the project in a folder of `sdk/javascript`, loaded by an engine.
///
/// # Panics
/// If it cannot be built or loaded although all is there.
pub fn unit(engine: &Engine, folder: &str) -> Option<Arc<Unit>> {
    let made_from = ["src", "building"].map(|part| sdk().join(part));
    let bytes = guest::component(&sdk().join(folder), &made_from, || {
        Some(build::Options {
            node_modules: Some(node_modules()?.to_owned()),
            ..build::Options::default()
        })
    })?;
    Some(guest::load(engine, &bytes, folder))
}
