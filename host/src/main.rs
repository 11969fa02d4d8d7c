//! The command `placewright`: parses, runs, prints the error, sets the exit code.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
