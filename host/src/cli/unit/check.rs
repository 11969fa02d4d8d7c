//! `placewright unit check`.

mod shown;
mod steps;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use placewright_engine::unit::Unit;
use placewright_engine::{Engine, Limits};
use placewright_library::stage::{Admission, Candidate, Source};
use placewright_library::trust::Trust;

use super::trusted::{self, TrustedKeys};
use crate::cli::failure::{Answer, Failure};
use crate::cli::output::{self, Format};
use crate::cli::units::{self, CacheArgs};
use steps::Checked;

/// Take units through the steps that a server takes before it lets them in.
///
/// Signature, form and contract, compilation, description, and probes on made-up tables: does the
/// unit answer every row, give the same answer to the same tables however their rows are ordered or
/// split, and keep to what it says of itself? Calls are limited by fuel, not by time, so that a
/// check comes out the same on every machine. What it finds is certain; what it does not find may
/// still be wrong. Advice tells what could be better, and fails no check.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright unit check units/my-unit.wasm
  placewright unit check units --format json
  placewright unit check signed.wasm --trusted-key alice=alice.pub

Exit code 1: a unit would be refused. See placewright --help for the others.")]
pub(crate) struct Check {
    /// Units, or folders of units (*.wasm)
    #[arg(value_name = "FILE|DIR", required = true)]
    units: Vec<PathBuf>,
    /// What the made-up tables are made from
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    trusted: TrustedKeys,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    cache: CacheArgs,
}

impl Check {
    /// Check them all and print.
    pub(crate) fn run(self) -> Result<Answer, Failure> {
        let trust = Trust {
            signatures: self.trusted.signatures()?,
            ..Trust::default()
        };
        let examiner = Examiner::new(&self.cache, trust, self.seed)?;
        let mut checked = Vec::new();
        for file in units::files(&self.units)? {
            checked.push(examiner.examine(&file)?);
        }
        steps::refuse_second_of_a_name(&mut checked);
        match self.format {
            Format::Json => output::print_json(&checked)?,
            Format::Table => {
                let texts: Vec<String> = checked.iter().map(shown::text).collect();
                output::print(&texts.join("\n"))?;
            }
        }
        Ok(Answer::yes_if(checked.iter().all(|checked| checked.passed)))
    }
}

/// Takes units through the steps of a server.
pub(super) struct Examiner {
    admission: Admission,
    counting: Engine,
    seed: u64,
}

impl Examiner {
    /// One that trusts whom `trust` says; made-up tables are made from `seed`.
    pub(super) fn new(cache: &CacheArgs, trust: Trust, seed: u64) -> Result<Self, Failure> {
        let as_served = cache.engine(Limits::default())?;
        // Probes are counted and not timed here: the time for them is never up.
        let admission = Admission::new(as_served, trust, std::time::Duration::MAX);
        Ok(Self {
            admission,
            counting: cache.engine(Limits::reproducible())?,
            seed,
        })
    }

    /// What comes out for a file.
    ///
    /// # Errors
    /// If the file cannot be read. That it would be refused is no error.
    pub(super) fn examine(&self, file: &Path) -> Result<Checked, Failure> {
        let candidate = candidate(file)?;
        let source = Source::File {
            path: file.to_owned(),
        };
        let (counting, seed) = (&self.counting, self.seed);
        let examined = self.admission.examine(&candidate, source, counting, seed);
        Ok(Checked::new(file, candidate.bytes.len(), examined))
    }

    /// Load the unit in a file; its calls are limited by fuel.
    pub(super) fn load(&self, file: &Path) -> Result<Arc<Unit>, Failure> {
        let candidate = candidate(file)?;
        let source = file.display().to_string();
        Unit::load(&self.counting, &candidate.bytes, &source).map_err(Failure::input)
    }
}

impl Checked {
    /// The steps that did not go well and the advice, a line each.
    pub(in crate::cli::unit) fn remarks(&self) -> String {
        shown::remarks(self)
    }
}

/// A file, with the signature that may lie beside it.
fn candidate(file: &Path) -> Result<Candidate, Failure> {
    let bytes = fs::read(file).map_err(|error| trusted::unreadable(file, error))?;
    let signature = trusted::signature(file)?;
    Ok(Candidate {
        bytes: bytes.into(),
        signature: signature.map(Arc::from),
    })
}
