//! `placewright unit check`.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use clap::Args;
use placewright::engine::{Engine, Limits};
use placewright::library::probe::{self, Outcome, Report};
use placewright::unit::{NotLoaded, Unit};
use serde::Serialize;

use crate::cli::failure::{Answer, Failure};
use crate::cli::output::{self, Format};
use crate::cli::units::{self, CacheArgs};

/// Load units exactly as a cluster would, and try them out on made-up tables.
///
/// Tries whether a unit answers every row, gives the same answer to the same tables however their
/// rows are ordered or split, and keeps to what it says of itself. Calls are limited by fuel, not
/// by time, so that a check comes out the same on every machine. What it finds is certain; what it
/// does not find may still be wrong.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright unit check units/my-unit.wasm
  placewright unit check units --format json

Exit code 1: a unit cannot be loaded or does not keep to what it says. See placewright --help for
the others.")]
pub struct Check {
    /// Units, or folders of units (*.wasm)
    #[arg(value_name = "FILE|DIR", required = true)]
    units: Vec<PathBuf>,
    /// What the made-up tables are made from
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// What the output looks like
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    cache: CacheArgs,
}

/// What came out for one file.
#[derive(Serialize)]
struct Checked {
    file: String,
    passed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<Report>,
}

impl Check {
    /// Check them all and print.
    pub fn run(self) -> Result<Answer, Failure> {
        let as_served = self.cache.engine(Limits::default())?;
        let by_fuel = self.cache.engine(Limits::reproducible())?;
        let mut checked = Vec::new();
        for file in units::files(&self.units)? {
            let name = file.display().to_string();
            let bytes = fs::read(&file).map_err(|error| {
                let error = anyhow::Error::new(error);
                Failure::input(error.context(format!("cannot read {name}")))
            })?;
            checked.push(
                match check(&as_served, &by_fuel, &bytes, &name, self.seed) {
                    Ok(report) => Checked {
                        file: name,
                        passed: report.passed(),
                        error: None,
                        report: Some(report),
                    },
                    Err(error) => Checked {
                        file: name,
                        passed: false,
                        error: Some(error.to_string()),
                        report: None,
                    },
                },
            );
        }
        match self.format {
            Format::Json => output::print_json(&checked)?,
            Format::Table => {
                let texts: Vec<String> = checked.iter().map(text).collect();
                output::print(&texts.join("\n"))?;
            }
        }
        Ok(Answer::yes_if(checked.iter().all(|checked| checked.passed)))
    }
}

fn check(
    as_served: &Engine,
    by_fuel: &Engine,
    bytes: &[u8],
    name: &str,
    seed: u64,
) -> Result<Report, NotLoaded> {
    Unit::load(as_served, bytes, name)?;
    let unit = Unit::load(by_fuel, bytes, name)?;
    Ok(probe::probe(&unit, seed))
}

fn text(checked: &Checked) -> String {
    let Some(report) = &checked.report else {
        let error = checked.error.as_deref().unwrap_or("it was not checked");
        return format!("{}: FAILED: {error}\n", checked.file);
    };
    let mut table = output::table(&["part", "claim", "outcome"]);
    for step in &report.steps {
        let outcome = match &step.outcome {
            Outcome::Ok => "ok".to_owned(),
            Outcome::Failed { why } => format!("FAILED: {why}"),
            Outcome::NotApplicable { why } => format!("not tried: {why}"),
            Outcome::OutOfTime => "not tried: the time was up".to_owned(),
        };
        table.add_row([step.part.to_string(), step.claim.to_owned(), outcome]);
    }
    let verdict = if report.passed() { "ok" } else { "FAILED" };
    let mut text = format!(
        "{}: {} {} ({}): {verdict}\n\n{}\n",
        checked.file,
        report.unit,
        report.version,
        report.digest.short(),
        output::shown(&table)
    );
    for fuel in &report.fuel {
        let _ = writeln!(
            text,
            "{}: {} instructions a call, {} for each host",
            fuel.part,
            output::number(fuel.call as f64),
            output::number(fuel.host)
        );
    }
    text
}
