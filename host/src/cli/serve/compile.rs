//! The units of the program are compiled before a first start.

use std::process::{Command, Stdio};
use std::{env, io};

use placewright::deployment::compile_units;

use super::settings::Settings;
use crate::cli::failure::Failure;

/// Compile them in another process of this program, which is told what this one was told.
///
/// # Errors
/// If there is no such process, or it fails.
pub fn apart() -> io::Result<()> {
    let mut program = Command::new(env::current_exe()?);
    program.args(env::args_os().skip(1)).arg("--compile-units");
    // If it fails, this process tells why: it then does the same.
    program.stdin(Stdio::null());
    program.stdout(Stdio::null()).stderr(Stdio::null());
    let status = program.status()?;
    match status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("{status}"))),
    }
}

/// Compile them in this process.
pub fn here(settings: &Settings) -> Result<(), Failure> {
    let compiled = compile_units(settings.unit_limits.clone(), &settings.cache);
    compiled.map_err(Failure::internal)
}
