//! The command `placewright`: parses, runs, prints the error, sets the exit code.

#![forbid(unsafe_code)]

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
