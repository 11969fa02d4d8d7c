//! Why a crate was not made into a unit.

use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

use super::TARGET;
use placewright_engine::contract::{PACKAGE, VERSION};

/// Why a crate or project was not made into a unit, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// There is nothing to build.
    #[error(
        "there is no crate at {}: name the folder that holds its Cargo.toml, the pyproject.toml of a project in Python, the package.json of one in JavaScript, or the unit.toml of one in another language",
        .0.display()
    )]
    NoCrate(PathBuf),
    /// There are several crates.
    #[error("{} is a workspace: name the folder of one of its crates", .0.display())]
    Workspace(PathBuf),
    /// Rust is not installed, or not on the path.
    #[error("cannot run {program}: install Rust from https://rustup.rs")]
    NoToolchain {
        /// What was to be run.
        program: String,
        /// Why it was not.
        #[source]
        error: io::Error,
    },
    /// The toolchain cannot say what it has.
    #[error("the Rust toolchain does not work here: {0}")]
    BrokenToolchain(String),
    /// The toolchain cannot make WebAssembly.
    #[error(
        "the Rust toolchain lacks the target {TARGET}; to install it, run: rustup target add {TARGET}"
    )]
    NoTarget,
    /// Cargo has no copy of a crate that is needed.
    #[error(
        "cargo's cache lacks crates that {} is built with; fetch them once, with a network: cargo fetch",
        .0.display()
    )]
    NotFetched(PathBuf),
    /// Cargo failed and has said why.
    #[error("cargo could not build the crate ({0})")]
    Cargo(ExitStatus),
    /// Cargo made no module.
    #[error(
        "{} makes no WebAssembly module: under [lib] it needs crate-type = [\"cdylib\", \"rlib\"]",
        .0.display()
    )]
    NoLibrary(PathBuf),
    /// The module cannot be read.
    #[error("cannot read {}", .0.display())]
    Unreadable(PathBuf, #[source] io::Error),
    /// The module does not fit what it says of itself.
    #[error("cannot encode the module as a component: {0}")]
    Encoding(String),
    /// There is no folder to work in.
    #[error("cannot lay out the SDK in a temporary folder")]
    NoFolder(#[source] io::Error),
    /// Python is not installed, or not where it was said to be.
    #[error("cannot run {}: units in Python are built with Python 3.11 or newer", program.display())]
    NoPython {
        /// What was to be run.
        program: PathBuf,
        /// Why it was not.
        #[source]
        error: io::Error,
    },
    /// What builds in Python failed, in its own words.
    #[error("{0}")]
    Python(String),
    /// The package has nothing to do with units.
    #[error(
        "{} says nothing of placewright: a unit in JavaScript or TypeScript has \"placewright\": {{ \"unit\": \"unit.js\" }} there",
        .0.display()
    )]
    NoUnit(PathBuf),
    /// Node.js is not installed, or not where it was said to be.
    #[error("cannot run {}: units in JavaScript are built with Node.js 20 or newer", program.display())]
    NoNode {
        /// What was to be run.
        program: PathBuf,
        /// Why it was not.
        #[source]
        error: io::Error,
    },
    /// What builds in JavaScript failed, in its own words.
    #[error("{0}")]
    JavaScript(String),
    /// A `unit.toml` does not say what it must.
    #[error("{}: {said}", manifest.display())]
    Manifest {
        /// The file.
        manifest: PathBuf,
        /// What is wrong with it.
        said: String,
    },
    /// The command that makes the module is not there.
    #[error("cannot run {program}, the command of {}", manifest.display())]
    NoCommand {
        /// What was to be run.
        program: String,
        /// The file that says so.
        manifest: PathBuf,
        /// Why it was not.
        #[source]
        error: io::Error,
    },
    /// The command that makes the module failed, and has said why.
    #[error("the command of {} failed ({status})", manifest.display())]
    Command {
        /// The file that says so.
        manifest: PathBuf,
        /// How it ended.
        status: ExitStatus,
    },
    /// The module wants what no unit has.
    #[error(
        "{} imports {names}: a unit has no files, no clock and no chance, and imports nothing but the log of {PACKAGE}; leave out what needs it (in C: printf, time, rand and their like)",
        module.display()
    )]
    Imports {
        /// The module.
        module: PathBuf,
        /// What it imports.
        names: String,
    },
    /// The crate wants what no unit has.
    #[error(
        "the crate imports {names}: a unit has no files, no clock and no chance, and imports nothing but the log of {PACKAGE}; {}; the columns `now` and `draw` of the table `request` have the time and a random number",
        leave_out(way)
    )]
    CrateImports {
        /// What it imports.
        names: String,
        /// The crates by which it comes to do so, itself first, as far as that is known.
        way: Vec<String>,
    },
    /// The module is no unit.
    #[error(
        "{} does not say that it exports {PACKAGE}/unit@{VERSION}: link it with the bindings of the contract; if its compiler knows nothing of components, say in unit.toml what it exports: worlds = [\"judging\"]",
        .0.display()
    )]
    NoUnitModule(PathBuf),
    /// The crate is no unit.
    #[error(
        "the crate does not export {PACKAGE}/unit@{VERSION}: a unit ends with the macro `export!` of placewright-sdk"
    )]
    NoExport,
}

impl BuildError {
    /// A program of the toolchain could not be run.
    pub(super) fn no_toolchain(program: &Command, error: io::Error) -> Self {
        Self::NoToolchain {
            program: program.get_program().to_string_lossy().into_owned(),
            error,
        }
    }
}

/// What a crate leaves out to import nothing.
fn leave_out(way: &[String]) -> String {
    match way {
        [_, first, ..] => format!(
            "these come with the crate {} ({}), so leave out {first}, or its feature for browsers",
            way.last().unwrap_or(first),
            way.join(" uses ")
        ),
        _ => "leave out the crate that needs it, or the block `extern` that declares it".to_owned(),
    }
}
