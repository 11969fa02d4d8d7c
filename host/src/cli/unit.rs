//! `placewright unit`: list, begin, build, test, run, inspect, check, measure, sign and verify
//! units.

mod bench;
mod build;
mod check;
mod inspect;
mod list;
mod new;
mod new_key;
mod replay;
mod run;
mod sign;
mod test;
mod trusted;
mod verify;

use clap::Subcommand;

use super::failure::{Answer, Failure};

/// List, begin, build, test, run, inspect, check, measure, sign and verify units.
#[derive(Debug, Subcommand)]
pub(super) enum Unit {
    List(list::List),
    New(new::New),
    Build(build::Build),
    Test(test::Test),
    Run(run::Run),
    Inspect(inspect::Inspect),
    Check(check::Check),
    Bench(bench::Bench),
    Replay(replay::Replay),
    NewKey(new_key::NewKey),
    Sign(sign::Sign),
    Verify(verify::Verify),
}

impl Unit {
    /// Do what is asked.
    pub(super) fn run(self) -> Result<Answer, Failure> {
        match self {
            Unit::List(list) => list.run(),
            Unit::New(new) => new.run(),
            Unit::Build(build) => build.run(),
            Unit::Test(test) => test.run(),
            Unit::Run(run) => run.run(),
            Unit::Inspect(inspect) => inspect.run(),
            Unit::Check(check) => check.run(),
            Unit::Bench(bench) => bench.run(),
            Unit::Replay(replay) => replay.run(),
            Unit::NewKey(new_key) => new_key.run(),
            Unit::Sign(sign) => sign.run(),
            Unit::Verify(verify) => verify.run(),
        }
    }
}
