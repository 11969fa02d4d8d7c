//! `placewright unit`: build, inspect and check units.

mod build;
mod check;
mod inspect;

use clap::Subcommand;

use super::failure::{Answer, Failure};

/// Build, inspect and check units.
#[derive(Debug, Subcommand)]
pub enum Unit {
    Build(build::Build),
    Inspect(inspect::Inspect),
    Check(check::Check),
}

impl Unit {
    /// Do what is asked.
    pub fn run(self) -> Result<Answer, Failure> {
        match self {
            Unit::Build(build) => build.run(),
            Unit::Inspect(inspect) => inspect.run(),
            Unit::Check(check) => check.run(),
        }
    }
}
