//! `placewright unit verify`.

use std::path::PathBuf;

use clap::Args;
use placewright_library::signature::{Signatures, Signed};
use serde::Serialize;

use super::trusted::{self, TrustedKeys};
use crate::cli::failure::{Answer, Failure};
use crate::cli::output::{self, Format};
use crate::cli::units;

/// Verify signatures of units: by which of the trusted keys each is signed.
///
/// The signature of a unit lies beside it, under its whole name and `.sig`. It is checked as a
/// server does that has `require-signatures`; nothing else of the unit is looked at (see
/// `placewright unit check`).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright unit verify my-unit.wasm --trusted-key release=release.pub
  placewright unit verify units --format json \\
      --trusted-key release=release.pub

Exit code 1: a unit is not signed by any of the keys. See placewright --help for the others.")]
pub(crate) struct Verify {
    /// Units, or folders of units (*.wasm)
    #[arg(value_name = "FILE|DIR", required = true)]
    units: Vec<PathBuf>,
    #[command(flatten)]
    trusted: TrustedKeys,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

/// What came out for a unit.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Verified {
    /// The file.
    unit: PathBuf,
    /// Whether it is signed by a trusted key.
    verified: bool,
    /// Name of the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    signed_by: Option<String>,
    /// Why it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Verify {
    /// Verify them all and print.
    pub(crate) fn run(self) -> Result<Answer, Failure> {
        let signatures = self.trusted.signatures()?;
        if signatures.keys.is_empty() {
            return Err(Failure::input_because(
                "there is no key to verify with: give one with --trusted-key NAME=KEY",
            ));
        }
        let files = units::files(&self.units)?.into_iter();
        let verified = files.map(|file| verify(&signatures, file));
        let verified = verified.collect::<Result<Vec<_>, Failure>>()?;
        match self.format {
            Format::Json => output::print_json(&verified)?,
            Format::Table => {
                let mut table = output::table(&["unit", "verified", "signed by, or why not"]);
                for it in &verified {
                    let by = it.signed_by.as_ref().or(it.reason.as_ref());
                    table.add_row([
                        it.unit.display().to_string(),
                        if it.verified { "yes" } else { "no" }.to_owned(),
                        by.cloned().unwrap_or_default(),
                    ]);
                }
                output::print(&output::shown(&table))?;
            }
        }
        Ok(Answer::yes_if(verified.iter().all(|it| it.verified)))
    }
}

fn verify(signatures: &Signatures, unit: PathBuf) -> Result<Verified, Failure> {
    let bytes = trusted::component(&unit)?;
    let signature = trusted::signature(&unit)?;
    let checked = signatures.check(&bytes, signature.as_deref());
    Ok(match checked {
        Ok(Signed::By(name)) => Verified {
            unit,
            verified: true,
            signed_by: Some(name),
            reason: None,
        },
        other => Verified {
            unit,
            verified: false,
            signed_by: None,
            reason: Some(other.map_or_else(|error| error.to_string(), |signed| signed.to_string())),
        },
    })
}
