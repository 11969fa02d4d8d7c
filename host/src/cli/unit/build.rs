//! `placewright unit build`.

use std::path::PathBuf;

use clap::Args;
use placewright::unit::build::{self, Options};

use crate::cli::failure::{Answer, Failure};
use crate::cli::output;

/// Build a crate into a unit.
///
/// Needs Rust with the target wasm32-unknown-unknown. The crate needs the crate type cdylib, and
/// ends with the macro export! of placewright-sdk.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright unit build my-unit
  placewright unit build my-unit --out units/my-unit.wasm

See placewright --help for exit codes.")]
pub struct Build {
    /// The folder of the crate
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// Where the unit is written; if not given, NAME.wasm in the folder of the crate
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Keep the names of functions, so that traps tell where they happened
    #[arg(long)]
    names: bool,
    /// Where cargo puts what it makes
    #[arg(long, value_name = "DIR")]
    target_dir: Option<PathBuf>,
}

impl Build {
    /// Build it and write it.
    pub fn run(self) -> Result<Answer, Failure> {
        let options = Options {
            names: self.names,
            target_folder: self.target_dir,
        };
        let built = build::build(&self.folder, &options).map_err(Failure::input)?;
        let home = match self.folder.is_dir() {
            true => self.folder.as_path(),
            // The folder's Cargo.toml was named.
            false => self.folder.parent().unwrap_or(self.folder.as_path()),
        };
        let out = self
            .out
            .unwrap_or_else(|| home.join(format!("{}.wasm", built.crate_name)));
        std::fs::write(&out, &built.bytes).map_err(|error| {
            let error = anyhow::Error::new(error);
            Failure::input(error.context(format!("cannot write {}", out.display())))
        })?;
        for warning in &built.warnings {
            output::remark(&format!("warning: {warning}"));
        }
        let size = output::bytes(i64::try_from(built.bytes.len()).unwrap_or(i64::MAX));
        output::print(&format!("{}: {size}", out.display()))?;
        Ok(Answer::Yes)
    }
}
