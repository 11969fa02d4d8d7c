//! Why a file is not loaded as a unit.

use std::fmt;

use bytesize::ByteSize;

use super::Fault;
use crate::CompileError;
use crate::contract::{PACKAGE, VERSION};
use placewright_model::{cut, excerpt};

/// Why a file is not loaded as a unit: whose file it is, and what is wrong.
#[derive(Debug, thiserror::Error)]
#[error("cannot load {source_name}: {error}")]
pub struct UnitLoadError {
    /// The file, or wherever the bytes came from.
    pub source_name: String,
    /// What is wrong.
    pub error: LoadError,
}

/// What is wrong with a file that should be a unit. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Beyond [`crate::Limits::file`].
    #[error(
        "it has {} and the limit is {}; build it stripped and optimised, or raise the limit",
        ByteSize(*size as u64).display().iec(),
        ByteSize(*limit as u64).display().iec()
    )]
    TooLarge {
        /// Bytes of the file.
        size: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// No bytes at all, as while it is being written.
    #[error("it is empty")]
    Empty,
    /// WebAssembly, but not yet a component.
    #[error(
        "it is a core WebAssembly module and must be encoded as a component: build it with `placewright unit build`, or encode it with `wasm-tools component new`"
    )]
    CoreModule,
    /// No WebAssembly at all.
    #[error("it is not a WebAssembly component")]
    NoComponent,
    /// It begins as a component does, but cannot be read to its end.
    #[error("it is cut off or damaged: {0}; build it or copy it again")]
    Damaged(String),
    /// Few of its bytes stand for much work of the compiler.
    #[error("it would take too much to compile: {0}")]
    TooMuchWork(String),
    /// It imports what no unit may.
    #[error("{}", Imports(.0))]
    Imports(Vec<String>),
    /// It is built against a version of the contract that is not offered.
    #[error(
        "it is built for {PACKAGE}@{theirs} and this runtime offers {VERSION}: {}",
        remedy(*newer)
    )]
    Version {
        /// The version that it is built for.
        theirs: semver::Version,
        /// Whether that is newer than what is offered.
        newer: bool,
    },
    /// It exports no `unit`.
    #[error(
        "it is a component but no unit: it does not export {PACKAGE}/unit@{VERSION}; a unit in Rust ends with the macro `export!` of placewright-sdk"
    )]
    NoUnit,
    /// Compiling failed.
    #[error("{0}")]
    Compile(#[from] CompileError),
    /// It does not fit what it imports or exports by name.
    #[error("it does not fit the contract: {0}")]
    Unfit(String),
    /// It failed when it was asked to describe itself.
    #[error("it cannot describe itself: {0}")]
    Describe(Box<Fault>),
    /// Its description is wrong, with everything that was found.
    #[error("its description is wrong:{}", Listed(.0))]
    Description(Vec<String>),
}

impl LoadError {
    /// It cannot be read to its end.
    pub(super) fn damaged(error: &wasmparser::Error) -> Self {
        Self::Damaged(cut(error.to_string()))
    }

    /// Name the file that this is about.
    pub(crate) fn of(self, source_name: &str) -> UnitLoadError {
        UnitLoadError {
            source_name: source_name.to_owned(),
            error: self,
        }
    }
}

fn remedy(newer: bool) -> &'static str {
    if newer {
        "upgrade Placewright, or rebuild the unit with an SDK for the version offered"
    } else {
        "rebuild the unit with the current SDK"
    }
}

/// How many imports are named.
const IMPORTS: usize = 20;

/// Bytes of the name of an import that is written out.
const LONGEST_IMPORT: usize = 128;

struct Imports<'a>(&'a [String]);

impl fmt::Display for Imports<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it imports ")?;
        for (number, import) in self.0.iter().take(IMPORTS).enumerate() {
            let comma = if number > 0 { ", " } else { "" };
            // Names of interfaces are longer than other names.
            match import.len() {
                0..=LONGEST_IMPORT => write!(f, "{comma}{}", import.escape_debug())?,
                _ => write!(f, "{comma}{}", excerpt(import))?,
            }
        }
        if self.0.len() > IMPORTS {
            write!(f, " and {} more", self.0.len() - IMPORTS)?;
        }
        write!(
            f,
            ", and a unit may import nothing but {PACKAGE}/log: it has no files, no clock and no chance"
        )?;
        if self.0.iter().any(|import| import.starts_with("wasi:")) {
            f.write_str("; build it for wasm32-unknown-unknown, or stub WASI out")
        } else {
            f.write_str("; leave out what needs it")
        }
    }
}

struct Listed<'a>(&'a [String]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [problem] => write!(f, " {problem}"),
            problems => problems
                .iter()
                .try_for_each(|problem| write!(f, "\n  - {problem}")),
        }
    }
}
