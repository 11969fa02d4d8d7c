//! `placewright unit`: begin, build, inspect and check units.

mod build;
mod check;
mod inspect;
mod new;

use clap::Subcommand;

use super::failure::{Answer, Failure};

/// Begin, build, inspect and check units.
#[derive(Debug, Subcommand)]
pub enum Unit {
    New(new::New),
    Build(build::Build),
    Inspect(inspect::Inspect),
    Check(check::Check),
}

impl Unit {
    /// Do what is asked.
    pub fn run(self) -> Result<Answer, Failure> {
        match self {
            Unit::New(new) => new.run(),
            Unit::Build(build) => build.run(),
            Unit::Inspect(inspect) => inspect.run(),
            Unit::Check(check) => check.run(),
        }
    }
}
