//! The units of the program are compiled before a first start.

use std::process::{self, Command, Stdio};
use std::{env, io, thread};

use placewright_deployment::compile_units;

use super::settings::Settings;
use crate::cli::failure::Failure;

/// Compile them in another process of this program, which is told what this one was told.
///
/// # Errors
/// If there is no such process, or it fails.
pub(super) fn apart() -> io::Result<()> {
    let mut program = Command::new(env::current_exe()?);
    program.args(env::args_os().skip(1)).arg("--compile-units");
    program.stdin(Stdio::piped());
    // If it fails, this process tells why: it then does the same.
    program.stdout(Stdio::null()).stderr(Stdio::null());
    let mut program = program.spawn()?;
    // It is open as long as this process lives, which the other one looks at.
    let input = program.stdin.take();
    let status = program.wait()?;
    drop(input);
    match status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("{status}"))),
    }
}

/// Compile them in this process, which ends early if the one that waits for it does.
pub(super) fn here(settings: &Settings) -> Result<(), Failure> {
    thread::spawn(|| {
        // Nothing is ever written to it: it ends with the process that holds it.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        process::exit(1);
    });
    let compiled = compile_units(settings.unit_limits.clone(), &settings.cache);
    compiled.map_err(Failure::internal)
}
