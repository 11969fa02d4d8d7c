//! `placewright policy import-ovirt`: scheduling policies of oVirt as policies of
//! units here.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use placewright_document::Problems;
use placewright_ovirt::import::{Document, Element, Options, Policy, carry, parse};

use crate::cli::failure::{Answer, Failure};
use crate::cli::output;
use crate::cli::units::{self, UnitArgs};

/// Carry a scheduling policy of oVirt over into a policy document.
///
/// Reads what oVirt's engine answers, in XML or JSON: a policy with its filters, weights and
/// balances, or these lists in files of their own; and, if given, a cluster, of which the parameters
/// go before those of its policy. Whatever has no unit here is left out with a warning.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright policy import-ovirt policy.xml > mine.toml
  placewright policy import-ovirt policy.json \\
      filters.json weights.json balances.json -o mine.toml

Get policy.xml from the engine with
  /ovirt-engine/api/schedulingpolicies/ID?follow=filters,weights,balances

See placewright --help for exit codes.")]
pub(crate) struct ImportOvirt {
    /// What the engine answered, in one file or several; - for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Where the policy document is written; if not given, to standard output
    #[arg(short, long, value_name = "OUT")]
    out: Option<PathBuf>,
    /// Which policy, by name or id, if there are several
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// How oVirt adds up weights
    #[arg(long, value_enum, default_value_t, value_name = "SELECTOR")]
    selector: Selector,
    /// Leave out the filters that oVirt puts before those of every policy
    #[arg(long)]
    without_mandatory: bool,
    /// Write nothing if anything of the policy has no unit here
    #[arg(long)]
    strict: bool,
    /// The document of a cluster, if the policy's units read attributes that it defines
    #[arg(long, value_name = "FILE")]
    cluster: Option<PathBuf>,
    #[command(flatten)]
    units: UnitArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Selector {
    /// By places, as oVirt does if nothing is said: RankSelector
    #[default]
    Rank,
    /// By values: BasicWeighting
    Basic,
}

impl ImportOvirt {
    /// Carry it over and write it.
    pub(crate) fn run(self) -> Result<Answer, Failure> {
        let documents = self.documents()?;
        let policy = Policy::read(&documents, self.name.as_deref()).map_err(Failure::input)?;
        let inventory = super::inventory(self.cluster.as_deref())?;
        let generation = self.units.load()?;
        let options = Options {
            ranks: self.selector == Selector::Rank,
            mandatory: !self.without_mandatory,
        };
        let carried = carry(&policy, &generation, options).map_err(Failure::input)?;
        for loss in &carried.losses {
            output::remark(&loss.to_string());
        }
        let lost = carried.losses.iter().filter(|loss| !loss.usual).count();
        if self.strict && lost > 0 {
            return Err(Failure::input_because(format!(
                "nothing is written, since this much would be lost: {lost}; give the units that \
                 are missing with --units, or leave --strict out"
            )));
        }
        let text = Document {
            policy: &policy,
            carried: &carried,
        }
        .to_string();
        let label = format!("{}, carried over", named(&self.files[0]));
        super::check(&text, &label, &generation, inventory).map_err(Failure::input_because)?;
        match &self.out {
            None => output::print_document(&text)?,
            Some(out) => std::fs::write(out, &text).map_err(|error| {
                let error = anyhow::Error::new(error);
                Failure::input(error.context(format!("cannot write {}", out.display())))
            })?,
        }
        Ok(Answer::Yes)
    }

    fn documents(&self) -> Result<Vec<Element>, Failure> {
        let mut problems = Problems::new();
        let mut documents = Vec::new();
        for path in &self.files {
            let text = match is_standard_input(path) {
                true => standard_input()?,
                false => units::read(path)?,
            };
            match parse(&text, &named(path)) {
                Ok(document) => documents.push(document),
                Err(wrong) => problems.append(wrong),
            }
        }
        problems.or(documents).map_err(Failure::input)
    }
}

fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// What a file is called in sentences.
fn named(path: &Path) -> String {
    match is_standard_input(path) {
        true => "standard input".to_owned(),
        false => path.display().to_string(),
    }
}

fn standard_input() -> Result<String, Failure> {
    let mut text = String::new();
    match std::io::stdin().read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(error) => {
            let error = anyhow::Error::new(error);
            Err(Failure::input(error.context("cannot read standard input")))
        }
    }
}
