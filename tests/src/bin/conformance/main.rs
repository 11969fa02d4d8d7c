//! Runs test vectors of published placement systems through the real components,
//! chain and scheduler, and says where an answer differs.
//!
//!     cargo run --release -p placewright-tests --bin conformance -- [--system NAME] DIR...
//!
//! Each system has a module that reads its vectors and drives the scheduler, the
//! explanation or the check of policies with them. None works anything out itself.

mod aeolus;
mod arguments;
mod flexiant;
mod ovirt;
mod pacemaker;
mod report;
mod tricircle;
mod units;
mod vectors;

use std::io::IsTerminal;
use std::process::ExitCode;

use arguments::Arguments;
use clap::Parser;
use report::Report;
use units::Units;
use vectors::{System, VectorFile};

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("conformance: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether all cases passed.
fn run(arguments: &Arguments) -> Result<bool, String> {
    let files = vectors::find(&arguments.folders, arguments.system)?;
    if files.is_empty() {
        return Err(format!("no vectors in {}", arguments.shown_folders()));
    }
    let units = Units::load()?;
    let mut report = Report::new();
    let watched = std::io::stderr().is_terminal();
    for file in &files {
        if watched {
            eprint!("\r\x1b[K{}", file.shown());
        }
        run_file(file, &units, &mut report);
    }
    if watched {
        eprint!("\r\x1b[K");
    }
    match arguments.json {
        true => report.print_json()?,
        false => report.print(arguments.differences),
    }
    Ok(report.all_passed())
}

fn run_file(file: &VectorFile, units: &Units, report: &mut Report) {
    match file.system {
        System::Flexiant => flexiant::run(file, units, report),
        System::Aeolus => aeolus::run(file, units, report),
        System::Tricircle => tricircle::run(file, units, report),
        System::Pacemaker => pacemaker::run(file, units, report),
        System::Ovirt => ovirt::run(file, units, report),
    }
}
