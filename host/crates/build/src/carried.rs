//! Projects in languages whose SDK builds them itself, in the language's own runtime.
//!
//! The SDK comes with this program: it is laid out in a folder of its own together with the
//! contract and run, and what it made is taken. So a unit is always built with the SDK of the
//! program that builds it, without a network.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::BuildError;

/// An SDK that comes with the program, and how it is run for a project.
pub(super) struct CarriedSdk<C> {
    /// Its files: where each lies, and what is in it.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// The runtime with what it runs, given the folder that the files lie in; what is to be
    /// done comes after it.
    pub(super) command: C,
    /// That there is no such runtime.
    pub(super) no_runtime: fn(PathBuf, io::Error) -> BuildError,
    /// That it refuses the project, in its own words.
    pub(super) refused: fn(String) -> BuildError,
}

impl<C: Fn(&Path) -> Command> CarriedSdk<C> {
    /// The component of the project.
    pub(super) fn build(&self) -> Result<Vec<u8>, BuildError> {
        let work = tempfile::tempdir().map_err(BuildError::NoFolder)?;
        let out = work.path().join("unit.wasm");
        self.run(work.path(), &[OsStr::new("--out"), out.as_os_str()])?;
        fs::read(&out).map_err(|error| BuildError::Unreadable(out, error))
    }

    /// Whether the runtime and the packages that it needs are there.
    pub(super) fn is_ready(&self) -> Result<(), BuildError> {
        let work = tempfile::tempdir().map_err(BuildError::NoFolder)?;
        self.run(work.path(), &[OsStr::new("--check")])
    }

    fn run(&self, work: &Path, arguments: &[&OsStr]) -> Result<(), BuildError> {
        self.lay_out(work).map_err(BuildError::NoFolder)?;
        let mut command = (self.command)(work);
        command.args(arguments).stdin(Stdio::null());
        let output = command
            .output()
            .map_err(|error| (self.no_runtime)(PathBuf::from(command.get_program()), error))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.trim().trim_start_matches("error: ");
            return Err((self.refused)(said.to_owned()));
        }
        Ok(())
    }

    fn lay_out(&self, folder: &Path) -> io::Result<()> {
        for (name, text) in self.files {
            let file = folder.join(name);
            fs::create_dir_all(file.parent().unwrap_or(folder))?;
            fs::write(file, text)?;
        }
        Ok(())
    }
}
