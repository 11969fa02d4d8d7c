//! From a crate, a project in Python or JavaScript, or a module of another compiler, to a
//! component: the library side of `placewright unit build`.
//!
//! For a crate it runs cargo for `wasm32-unknown-unknown` and encodes the module that it makes
//! as a component. The author's `Cargo.toml` needs nothing but the crate type
//! `cdylib`: everything else is said on cargo's command line. The same sources
//! and toolchain give the same bytes, wherever they lie.
//!
//! Read [`build`], [`Options`] and [`Built`] first.

#![forbid(unsafe_code)]

pub mod project;

mod carried;
mod error;
mod imports;
mod javascript;
mod module;
mod python;
mod toolchain;

pub use error::BuildError;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use wit_component::ComponentEncoder;

use placewright_engine::contract::{PACKAGE, Part, VERSION};
use toolchain::Toolchain;

/// The platform without an operating system: nothing to import.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// A unit of this size is an interpreter or was not stripped.
const LARGE: usize = 1 << 20;

/// How a unit is built.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Keep the names of functions, so that traps tell where they happened. Makes
    /// the component up to twice as large.
    pub names: bool,
    /// Where cargo puts what it makes; its own choice if none.
    pub target_folder: Option<PathBuf>,
    /// The Python that builds a project in Python, which has componentize-py; that of the
    /// project's `.venv`, or `python3`, if none.
    pub python: Option<PathBuf>,
    /// The Node.js that builds a project in JavaScript or TypeScript; `node` if none.
    pub node: Option<PathBuf>,
    /// The folder `node_modules` that holds what makes components of JavaScript; if none, they
    /// are found as modules of the project are.
    pub node_modules: Option<PathBuf>,
}

/// A component, fresh from its sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// The component.
    pub bytes: Vec<u8>,
    /// The name of the crate or project.
    pub name: String,
    /// What the author should know, though the build went well.
    pub warnings: Vec<String>,
}

/// Build the crate or project in `folder`, or the one whose `Cargo.toml`, `pyproject.toml`,
/// `package.json` or `unit.toml` is given.
///
/// Cargo's own messages go to standard error while it runs.
///
/// # Errors
/// If there is no such crate or project, the toolchain or a part of it is missing, the
/// code does not compile, or what it makes is no unit.
pub fn build(folder: &Path, options: &Options) -> Result<Built, BuildError> {
    if let Some(manifest) = project(folder, python::MANIFEST) {
        return python::build(&manifest, options);
    }
    if let Some(manifest) = project(folder, javascript::MANIFEST) {
        return match javascript::is_unit(&manifest) {
            true => javascript::build(&manifest, options),
            false => Err(BuildError::NoUnit(manifest)),
        };
    }
    if let Some(manifest) = project(folder, module::MANIFEST) {
        return module::build(&manifest);
    }
    let manifest = manifest(folder)?;
    let home = manifest.parent().unwrap_or(Path::new("."));
    let toolchain = Toolchain::find(home)?;
    let module = compile(&manifest, &toolchain, options)?;
    let bytes = encode_crate(&manifest, &toolchain, &module.path)?;
    let mut warnings = Vec::new();
    if bytes.len() > LARGE && !options.names {
        warnings.push(format!(
            "the component has {}; most units have less than 100 KiB",
            bytesize::ByteSize(bytes.len() as u64).display().iec()
        ));
    }
    Ok(Built {
        bytes,
        name: module.crate_name,
        warnings,
    })
}

/// Where `unit build` puts the component of a project in Python, JavaScript or TypeScript, whose
/// builds take long; None for any other folder.
pub fn component_of_script(folder: &Path) -> Option<PathBuf> {
    let (manifest, name) = if let Some(manifest) = project(folder, python::MANIFEST) {
        let name = python::name(&manifest).ok()?;
        (manifest, name)
    } else {
        let manifest = project(folder, javascript::MANIFEST)?;
        let name = javascript::name(&manifest).ok()?;
        (manifest, name)
    };
    (!name.is_empty()).then(|| manifest.with_file_name(format!("{name}.wasm")))
}

/// Whether the machine has all that building the crate or the project in Python or JavaScript
/// in `folder` without a network takes.
///
/// # Errors
/// If the toolchain or a part of it is missing, or cargo's cache lacks a crate.
pub fn is_ready(folder: &Path, options: &Options) -> Result<(), BuildError> {
    if let Some(manifest) = project(folder, python::MANIFEST) {
        return python::is_ready(&manifest, options);
    }
    if let Some(manifest) = project(folder, javascript::MANIFEST) {
        return javascript::is_ready(&manifest, options);
    }
    let manifest = manifest(folder)?;
    let toolchain = Toolchain::find(manifest.parent().unwrap_or(Path::new(".")))?;
    let mut cargo = toolchain.cargo();
    cargo.args(["metadata", "--format-version=1", "--locked", "--offline"]);
    // Cargo's own words for it are about one crate and its index.
    let output = cargo.stdin(Stdio::null()).output();
    match output.map_err(|error| BuildError::no_toolchain(&cargo, error))? {
        output if output.status.success() => Ok(()),
        _ => Err(BuildError::NotFetched(folder.to_owned())),
    }
}

/// The manifest of that name in a folder that holds no crate.
fn project(folder: &Path, manifest: &str) -> Option<PathBuf> {
    let path = match folder.ends_with(manifest) {
        true => folder.to_owned(),
        false if folder.join("Cargo.toml").exists() => return None,
        false => folder.join(manifest),
    };
    path.canonicalize().ok().filter(|path| path.is_file())
}

fn manifest(folder: &Path) -> Result<PathBuf, BuildError> {
    let path = if folder.is_dir() {
        folder.join("Cargo.toml")
    } else {
        folder.to_owned()
    };
    // Made absolute, since cargo runs in the crate's folder.
    let path = match path.canonicalize() {
        Ok(path) if path.ends_with("Cargo.toml") => path,
        _ => return Err(BuildError::NoCrate(folder.to_owned())),
    };
    // Cargo would build all crates of a workspace.
    let content =
        fs::read_to_string(&path).map_err(|error| BuildError::Unreadable(path.clone(), error))?;
    match content.parse::<toml::Table>() {
        Ok(content) if !content.contains_key("package") => Err(BuildError::Workspace(path)),
        // What is no TOML is explained better by cargo.
        _ => Ok(path),
    }
}

/// The module that cargo made.
struct Module {
    path: PathBuf,
    crate_name: String,
}

fn compile(
    manifest: &Path,
    toolchain: &Toolchain,
    options: &Options,
) -> Result<Module, BuildError> {
    let mut cargo = toolchain.cargo();
    cargo
        .arg("build")
        .arg("--manifest-path")
        .arg(manifest)
        .args(["--lib", "--release", "--target", TARGET])
        .arg("--message-format=json-render-diagnostics");
    for setting in profile(options) {
        cargo
            .arg("--config")
            .arg(format!("profile.release.{setting}"));
    }
    if let Some(folder) = &options.target_folder {
        cargo.arg("--target-dir").arg(folder);
    }
    cargo.env("CARGO_ENCODED_RUSTFLAGS", toolchain.flags());
    let output = run(&mut cargo)?;
    if !output.status.success() {
        return Err(BuildError::Cargo(output.status));
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let artifact = messages
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .find_map(|message: serde_json::Value| made(&message, manifest));
    artifact.ok_or_else(|| BuildError::NoLibrary(manifest.to_owned()))
}

/// One profile for all units, whatever a workspace around the crate says: it
/// decides what a call costs and whether the build is reproducible. What changes
/// the meaning of the code, such as checks for overflow, is left to the author.
fn profile(options: &Options) -> [String; 8] {
    let strip = if options.names {
        "debuginfo"
    } else {
        "symbols"
    };
    [
        "opt-level=3".to_owned(),
        "lto=\"fat\"".to_owned(),
        "codegen-units=1".to_owned(),
        // A trap ends the instance in any case; unwinding is dead weight.
        "panic=\"abort\"".to_owned(),
        format!("strip=\"{strip}\""),
        "debug=false".to_owned(),
        "debug-assertions=false".to_owned(),
        "incremental=false".to_owned(),
    ]
}

/// The module in cargo's message that it has made the crate's library.
fn made(message: &serde_json::Value, manifest: &Path) -> Option<Module> {
    if message["reason"] != "compiler-artifact" || message["manifest_path"] != manifest.to_str()? {
        return None;
    }
    let path = message["filenames"]
        .as_array()?
        .iter()
        .filter_map(serde_json::Value::as_str)
        .find(|name| name.ends_with(".wasm"))?;
    Some(Module {
        path: path.into(),
        crate_name: message["target"]["name"].as_str()?.replace('_', "-"),
    })
}

fn run(command: &mut Command) -> Result<std::process::Output, BuildError> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| BuildError::no_toolchain(command, error))
}

fn encode_crate(
    manifest: &Path,
    toolchain: &Toolchain,
    path: &Path,
) -> Result<Vec<u8>, BuildError> {
    let unreadable = |error| BuildError::Unreadable(path.to_owned(), error);
    let module = fs::read(path).map_err(unreadable)?;
    let names = imports::foreign(&module, None);
    if !names.is_empty() {
        return Err(BuildError::CrateImports {
            way: imports::way(manifest, toolchain, &names),
            names: imports::listed(&names),
        });
    }
    let bytes = encode(&module, None)?;
    match is_unit(&module) {
        true => Ok(bytes),
        false => Err(BuildError::NoExport),
    }
}

/// The module as a component; its imports are those of the adapter, if there is one.
fn encode(module: &[u8], adapter: Option<(&str, &[u8])>) -> Result<Vec<u8>, BuildError> {
    let component = || {
        let mut encoder = ComponentEncoder::default();
        encoder.validate(true).module(module)?;
        if let Some((name, bytes)) = adapter {
            encoder.adapter(name, bytes)?;
        }
        encoder.encode()
    };
    component().map_err(|error: anyhow::Error| BuildError::Encoding(format!("{error:#}")))
}

/// Whether the module describes itself as units do.
fn is_unit(module: &[u8]) -> bool {
    exports(
        module,
        &format!("{PACKAGE}/{}@{VERSION}#", Part::Unit.name()),
    )
}

/// Whether the module exports a function of the interface.
fn exports(module: &[u8], prefix: &str) -> bool {
    wasmparser::Parser::new(0)
        .parse_all(module)
        .filter_map(Result::ok)
        .any(|payload| match payload {
            wasmparser::Payload::ExportSection(section) => section
                .into_iter()
                .filter_map(Result::ok)
                .any(|export| export.name.starts_with(prefix)),
            _ => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_a_crate_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = build(folder.path(), &Options::default()).unwrap_err();
        assert!(matches!(error, BuildError::NoCrate(_)));
        assert!(error.to_string().contains("Cargo.toml"));
    }

    fn crate_with(library: &str, code: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let manifest = format!(
            "[package]\nname = \"sample\"\nedition = \"2024\"\n[workspace]\n[lib]\n{library}"
        );
        fs::create_dir(folder.path().join("src")).unwrap();
        fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
        fs::write(folder.path().join("src/lib.rs"), code).unwrap();
        folder
    }

    fn built(folder: &tempfile::TempDir) -> Result<Built, BuildError> {
        let options = Options {
            target_folder: Some(folder.path().join("target")),
            ..Options::default()
        };
        build(folder.path(), &options)
    }

    #[test]
    fn a_crate_that_is_no_unit_is_told_what_it_lacks() {
        let plain = crate_with("", "");
        assert!(matches!(built(&plain), Err(BuildError::NoLibrary(_))));
        let dynamic = crate_with("crate-type = [\"cdylib\"]", "");
        assert!(matches!(built(&dynamic), Err(BuildError::NoExport)));
        let wrong = crate_with("crate-type = [\"cdylib\"]", "fn");
        assert!(matches!(built(&wrong), Err(BuildError::Cargo(_))));
    }

    #[test]
    fn a_workspace_is_no_crate() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("Cargo.toml"), "[workspace]").unwrap();
        let error = build(folder.path(), &Options::default()).unwrap_err();
        assert!(matches!(error, BuildError::Workspace(_)));
    }

    #[test]
    fn the_module_is_found_in_what_cargo_says() {
        let manifest = Path::new("/unit/Cargo.toml");
        let message = serde_json::json!({
            "reason": "compiler-artifact",
            "manifest_path": "/unit/Cargo.toml",
            "target": {"name": "best_fit"},
            "filenames": ["/t/libbest_fit.rlib", "/t/best_fit.wasm"],
        });
        let module = made(&message, manifest).unwrap();
        assert_eq!(module.path, Path::new("/t/best_fit.wasm"));
        assert_eq!(module.crate_name, "best-fit");
        assert!(made(&message, Path::new("/other/Cargo.toml")).is_none());
    }
}
