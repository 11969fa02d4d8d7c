//! `placewright unit sign`.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use placewright_library::signature::SecretKey;
use serde::Serialize;

use super::trusted;
use crate::cli::failure::{Answer, Failure};
use crate::cli::output::{self, Format};
use crate::cli::units;

/// Sign units: writes the signature of each beside it, under its whole name and `.sig`.
///
/// The signature is by Ed25519 over the bytes of the file, 64 bytes, as `openssl pkeyutl -sign
/// -rawin` makes it. Copy it to where the unit goes before the unit itself.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright unit sign units/my-unit.wasm --key release.pem
  placewright unit sign units --key release.pem --format json

See placewright --help for exit codes.")]
pub(crate) struct Sign {
    /// Units, or folders of units (*.wasm)
    #[arg(value_name = "FILE|DIR", required = true)]
    units: Vec<PathBuf>,
    /// The private key, as `placewright unit new-key` or `openssl genpkey -algorithm ed25519`
    /// writes it
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

/// A signature that was written.
#[derive(Debug, Serialize)]
struct Written {
    /// The unit.
    unit: PathBuf,
    /// The file of its signature.
    signature: PathBuf,
    /// The public key that it is checked with, in hexadecimal.
    ed25519: String,
}

impl Sign {
    /// Sign them all and print.
    pub(crate) fn run(self) -> Result<Answer, Failure> {
        let text = fs::read_to_string(&self.key);
        let text = text.map_err(|error| trusted::unreadable(&self.key, error))?;
        let key = SecretKey::from_pem(&text).map_err(|error| {
            let error = anyhow::Error::new(error);
            Failure::input(error.context(format!("cannot sign with {}", self.key.display())))
        })?;
        // All are read before the first is signed, so that a wrong name leaves nothing half done.
        let files = units::files(&self.units)?;
        let read = files.into_iter().map(|file| {
            let bytes = trusted::component(&file)?;
            Ok((file, bytes))
        });
        let read = read.collect::<Result<Vec<_>, Failure>>()?;
        let mut written = Vec::new();
        for (unit, bytes) in read {
            let signature = trusted::beside(&unit);
            fs::write(&signature, key.sign(&bytes)).map_err(|error| {
                let error = anyhow::Error::new(error);
                Failure::input(error.context(format!("cannot write {}", signature.display())))
            })?;
            written.push(Written {
                unit,
                signature,
                ed25519: hex::encode(key.public()),
            });
        }
        match self.format {
            Format::Json => output::print_json(&written)?,
            Format::Table => {
                let mut table = output::table(&["unit", "signature", "public key"]);
                for it in &written {
                    table.add_row([
                        it.unit.display().to_string(),
                        it.signature.display().to_string(),
                        it.ed25519.clone(),
                    ]);
                }
                output::print(&output::shown(&table))?;
            }
        }
        Ok(Answer::Yes)
    }
}
