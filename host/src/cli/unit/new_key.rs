//! `placewright unit new-key`.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use placewright_library::signature::SecretKey;

use crate::cli::failure::{Answer, Failure};
use crate::cli::output;

/// Make a pair of keys to sign units with, and print the lines by which a server trusts it.
///
/// The private key goes to FILE, the public one beside it, with the ending .pub. Whoever has the
/// private key can publish units in your name: its file is readable for its owner alone. OpenSSL
/// reads both.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright unit new-key release.pem
  placewright unit new-key release.pem --name release >> placewright.toml

See placewright --help for exit codes.")]
pub(crate) struct NewKey {
    /// The file of the private key; neither it nor that of the public one may be there yet
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What servers call the key; its file's name without the ending if it is not given
    #[arg(long)]
    name: Option<String>,
}

impl NewKey {
    /// Make it, write it, print its public key.
    pub(crate) fn run(self) -> Result<Answer, Failure> {
        let stem = self.file.file_stem().and_then(|stem| stem.to_str());
        let name = self.name.as_deref().or(stem).unwrap_or("release");
        let key = SecretKey::generate().map_err(Failure::internal)?;
        let pem = key.to_pem().map_err(Failure::internal)?;
        write(&self.file, &pem, true)?;
        let public = key.public_pem().map_err(Failure::internal)?;
        write(&self.file.with_extension("pub"), &public, false)?;
        let name = toml::Value::from(name);
        let public = hex::encode(key.public());
        output::print(&format!(
            "[[trusted-keys]]\nname = {name}\ned25519 = \"{public}\"\n"
        ))?;
        Ok(Answer::Yes)
    }
}

/// Write a new file, which its owner alone may read if it is `private`.
fn write(file: &Path, text: &str, private: bool) -> Result<(), Failure> {
    let unwritable = |error: std::io::Error| {
        let error = anyhow::Error::new(error);
        let what = format!("cannot write {}, which must be a new file", file.display());
        Failure::input(error.context(what))
    };
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if private { 0o600 } else { 0o644 });
    let mut file = options.open(file).map_err(unwritable)?;
    file.write_all(text.as_bytes()).map_err(unwritable)?;
    file.sync_all().map_err(unwritable)
}
