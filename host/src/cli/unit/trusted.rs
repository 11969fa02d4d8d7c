//! Keys whose signatures count, as the command line gives them, and what lies beside a component.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::Args;
use placewright_library::signature::{Key, Signatures};

use crate::cli::failure::Failure;

/// Whose signatures count.
#[derive(Debug, Args)]
pub(super) struct TrustedKeys {
    /// An ed25519 public key that units must be signed with, and what to call it: its 32 bytes in
    /// hexadecimal or base64, or a file that has them so or as PEM. May be given again: one of
    /// them suffices
    #[arg(long = "trusted-key", value_name = "NAME=KEY|FILE")]
    keys: Vec<String>,
}

impl TrustedKeys {
    /// Whose signatures count; without a key, none is needed, as in a server.
    ///
    /// # Errors
    /// If one of them is none.
    pub(super) fn signatures(&self) -> Result<Signatures, Failure> {
        let keys = self.keys.iter().map(|given| {
            let (name, key) = given.split_once('=').ok_or_else(|| {
                Failure::input_because(format!(
                    "the key \"{given}\" has no name: write --trusted-key NAME=KEY"
                ))
            })?;
            match fs::read_to_string(key) {
                Ok(text) => Key::new(name, &text).map_err(Failure::input),
                Err(_) => Key::new(name, key).map_err(Failure::input),
            }
        });
        let keys = keys.collect::<Result<Vec<Key>, Failure>>()?;
        Ok(Signatures {
            require: !keys.is_empty(),
            keys,
        })
    }
}

/// Where the signature of a component is: beside it, under its whole name and `.sig`.
pub(super) fn beside(file: &Path) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(".sig");
    name.into()
}

/// The signature that lies beside a component, if one does.
///
/// # Errors
/// If there is one that cannot be read.
pub(super) fn signature(file: &Path) -> Result<Option<Vec<u8>>, Failure> {
    let beside = beside(file);
    match fs::read(&beside) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(&beside, error)),
    }
}

/// The bytes of a component.
///
/// # Errors
/// If they cannot be read, or are no WebAssembly.
pub(super) fn component(file: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = fs::read(file).map_err(|error| unreadable(file, error))?;
    match bytes.starts_with(b"\0asm") {
        true => Ok(bytes),
        false => Err(Failure::input_because(format!(
            "{} is no unit: it does not begin as WebAssembly does",
            file.display()
        ))),
    }
}

/// A file cannot be read.
pub(super) fn unreadable(file: &Path, error: std::io::Error) -> Failure {
    let error = anyhow::Error::new(error);
    Failure::input(error.context(format!("cannot read {}", file.display())))
}
