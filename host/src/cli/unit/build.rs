//! `placewright unit build`.

mod sources;
mod watch;

use std::fmt;
use std::path::{Path, PathBuf};

use clap::Args;
use placewright_build::{self as build, Options};

use crate::cli::failure::{Answer, Failure};
use crate::cli::output;
use sources::Sources;

/// Build a crate, or a project in Python, JavaScript or TypeScript, into a unit.
///
/// A crate needs Rust with the target wasm32-unknown-unknown, the crate type cdylib, and at its end
/// the macro export! of placewright-sdk. A project in Python needs Python 3.11 and the package
/// componentize-py, one in JavaScript or TypeScript Node.js 20 and the packages componentize-qjs and
/// esbuild; the SDKs come with this program. Nothing is downloaded: if a package is missing, the
/// message says how to get it.
///
/// With --watch, the unit is then checked as by `placewright unit check`, and the scenarios of the
/// project are run as by `placewright unit test`; all of it again whenever a file of the project's
/// folder changes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright unit build my-unit
  placewright unit build my-unit --out units/my-unit.wasm
  placewright unit build my-unit --watch
  placewright unit build my-python-unit --python my-python-unit/.venv/bin/python
  placewright unit build my-javascript-unit --node-modules node_modules

See placewright --help for exit codes.")]
pub(crate) struct Build {
    /// The folder of the crate or project
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// Where the unit is written; if not given, NAME.wasm in that folder
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Build, check and test at every change of the sources, until Ctrl-C
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    tools: BuildArgs,
}

/// How a unit is built.
#[derive(Debug, Clone, Args)]
pub(super) struct BuildArgs {
    /// Keep the names of functions, so that traps tell where they happened
    #[arg(long)]
    names: bool,
    /// Where cargo puts what it makes
    #[arg(long, value_name = "DIR")]
    target_dir: Option<PathBuf>,
    /// The Python that has componentize-py; if not given, that of the project's .venv, or python3
    #[arg(long, value_name = "FILE", env = "PLACEWRIGHT_PYTHON")]
    python: Option<PathBuf>,
    /// The Node.js that builds units in JavaScript; if not given, node
    #[arg(long, value_name = "FILE", env = "PLACEWRIGHT_NODE")]
    node: Option<PathBuf>,
    /// The folder that has componentize-qjs and esbuild; if not given, node_modules of the project
    /// or of a folder above it
    #[arg(long, value_name = "DIR", env = "PLACEWRIGHT_NODE_MODULES")]
    node_modules: Option<PathBuf>,
}

impl BuildArgs {
    /// The same for the library.
    pub(super) fn options(&self) -> Options {
        Options {
            names: self.names,
            target_folder: self.target_dir.clone(),
            python: self.python.clone(),
            node: self.node.clone(),
            node_modules: self.node_modules.clone(),
        }
    }
}

/// The component of the project in `folder`, if it is in a language that takes long to build and
/// was built after its last change. Scenarios, below `scenarios`, are no part of it.
pub(super) fn up_to_date(folder: &Path, scenarios: &Path) -> Option<PathBuf> {
    let out = build::component_of_script(folder)?;
    let home = out.parent()?;
    let built = std::fs::metadata(&out).ok()?.modified().ok()?;
    // The SDK comes with this program: another program may build another component.
    let program = std::env::current_exe().ok()?;
    let program = std::fs::metadata(program).ok()?.modified().ok()?;
    let sources = Sources::look(home, &out, &Sources::default());
    let last = sources.last_change(&home.join(scenarios))?;
    (last.max(program) < built).then_some(out)
}

/// A unit that was built and written.
struct Written {
    out: PathBuf,
    size: usize,
}

impl Build {
    /// Build it and write it.
    pub(crate) fn run(self) -> Result<Answer, Failure> {
        if self.watch {
            return watch::watch(self);
        }
        let written = self.once()?;
        output::print(&written.to_string())?;
        Ok(Answer::Yes)
    }

    /// Build it and write it once.
    fn once(&self) -> Result<Written, Failure> {
        let built = build::build(&self.folder, &self.tools.options()).map_err(Failure::input)?;
        let out = self
            .out
            .clone()
            .unwrap_or_else(|| self.home().join(format!("{}.wasm", built.name)));
        std::fs::write(&out, &built.bytes).map_err(|error| {
            let error = anyhow::Error::new(error);
            Failure::input(error.context(format!("cannot write {}", out.display())))
        })?;
        for warning in &built.warnings {
            output::remark(&format!("warning: {warning}"));
        }
        Ok(Written {
            out,
            size: built.bytes.len(),
        })
    }

    /// The folder of the project.
    fn home(&self) -> &Path {
        match self.folder.is_dir() {
            true => self.folder.as_path(),
            // The folder's manifest was named.
            false => self.folder.parent().unwrap_or(self.folder.as_path()),
        }
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = output::bytes(i64::try_from(self.size).unwrap_or(i64::MAX));
        write!(f, "{}: {size}", self.out.display())
    }
}
