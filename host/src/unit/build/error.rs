//! Why a crate was not made into a unit.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use super::TARGET;
use crate::contract::{PACKAGE, VERSION};

/// Why a crate or a project in Python was not made into a unit, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// There is nothing to build.
    #[error(
        "there is no crate at {}: name the folder that holds its Cargo.toml, or the pyproject.toml of a project in Python",
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
    #[error("cannot lay out the SDK for Python in a temporary folder")]
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
    /// The crate is no unit.
    #[error(
        "the crate does not export {PACKAGE}/unit@{VERSION}: a unit ends with the macro `export!` of placewright-sdk"
    )]
    NoExport,
}
