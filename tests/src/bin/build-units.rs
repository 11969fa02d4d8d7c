//! Builds the components that are in the repository from their sources and puts each beside
//! them, with the digests that tell when it has to be done again.
//!
//!     cargo run --release -p placewright-tests --bin build-units [NAME...]

use std::env;
use std::error::Error;
use std::fs;
use std::process::ExitCode;

use placewright_build as build;
use placewright_engine::unit::Unit;
use placewright_engine::{Engine, Limits};
use placewright_tests::sources::{Plugin, Record};
use placewright_tests::units::build_folder;

fn main() -> ExitCode {
    match run(&env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("build-units: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(names: &[String]) -> Result<(), Box<dyn Error>> {
    let plugins = Plugin::all()?;
    if let Some(unknown) = (names.iter()).find(|name| plugins.iter().all(|it| it.name != **name)) {
        return Err(format!("no unit {unknown} has its component in the repository").into());
    }
    let engine = Engine::new(Limits::default(), None)?;
    for plugin in plugins {
        if names.is_empty() || names.contains(&plugin.name) {
            renew(&plugin, &engine).map_err(|error| format!("{}: {error}", plugin.name))?;
        }
    }
    Ok(())
}

/// Build one unit, and write it if it can be loaded.
fn renew(plugin: &Plugin, engine: &Engine) -> Result<(), Box<dyn Error>> {
    let options = build::Options {
        target_folder: Some(build_folder()),
        ..build::Options::default()
    };
    // Taken first: what changes during the build is found by the test.
    let sources = plugin.sources()?;
    let built = build::build(&plugin.folder, &options)?;
    let unit = Unit::load(engine, &built.bytes, &plugin.name)?;
    if unit.name() != plugin.name {
        return Err(format!("it calls itself \"{}\"", unit.name()).into());
    }
    fs::write(plugin.component(), &built.bytes)?;
    fs::write(
        plugin.record(),
        Record::of(sources, &built.bytes).to_string(),
    )?;
    println!(
        "{:<20} {:>7} bytes  {}",
        plugin.name,
        built.bytes.len(),
        unit.digest()
    );
    Ok(())
}
