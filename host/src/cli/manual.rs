//! `placewright manual`.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

use super::failure::{Answer, Failure};

/// Write the manual pages, one for each command, into a folder.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright manual ~/.local/share/man/man1")]
pub(super) struct Manual {
    /// The folder, which must be there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Manual {
    /// Write the pages.
    pub(super) fn run(self) -> Result<Answer, Failure> {
        write(&self.folder)
            .with_context(|| format!("cannot write to {}", self.folder.display()))
            .map_err(Failure::input)?;
        Ok(Answer::Yes)
    }
}

fn write(folder: &Path) -> std::io::Result<()> {
    let command = super::every_command().subcommands(super::remote::commands());
    clap_mangen::generate_to(command, folder)
}
