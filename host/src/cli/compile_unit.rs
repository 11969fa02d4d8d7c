//! `placewright compile-unit`: what a server starts to have a unit compiled.

use std::env;
use std::path::{Path, PathBuf};

use clap::Args;
use placewright_engine::{CompilerProgram, serve_compile};

use super::failure::{Answer, Failure};

/// The word that has this program compile.
const WORD: &str = "compile-unit";

/// Compile the component on standard input to standard output, for a server.
#[derive(Debug, Args)]
#[command(name = WORD)]
pub(super) struct CompileUnit {}

impl CompileUnit {
    /// Compile it, within the bounds that come with it.
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let compiled = serve_compile();
        compiled.map(|()| Answer::Yes).map_err(|error| {
            Failure::internal(
                anyhow::Error::new(error).context("cannot compile for another process"),
            )
        })
    }
}

/// This program, as a server starts it. None if the system does not tell which it is.
pub(super) fn program() -> Option<CompilerProgram> {
    Some(CompilerProgram {
        program: this_program()?,
        arguments: vec![WORD.into()],
    })
}

fn this_program() -> Option<PathBuf> {
    // The very program that runs, also when its file was replaced by a newer version.
    let running = Path::new("/proc/self/exe");
    match running.exists() {
        true => Some(running.to_owned()),
        false => env::current_exe().ok(),
    }
}
