//! Files that are part of this program, listed when it is built.

use super::ProjectError;

/// A file that comes with the program.
pub(super) struct CarriedFile {
    /// Where it lies, from the folder that the list is of.
    pub(super) path: &'static str,
    /// What is in it.
    pub(super) text: &'static str,
}

/// The SDK for Rust, the contract and the licence, from the top of the repository.
pub(super) const SDK: &[CarriedFile] = include!(concat!(env!("OUT_DIR"), "/sdk.rs"));

/// The templates of new units, from `host/templates`.
const TEMPLATES: &[CarriedFile] = include!(concat!(env!("OUT_DIR"), "/templates.rs"));

/// The text of a template.
pub(super) fn template(path: &str) -> Result<&'static str, ProjectError> {
    let file = TEMPLATES.iter().find(|file| file.path == path);
    let file = file.ok_or_else(|| ProjectError::Sdk(format!("there is no template {path}")))?;
    Ok(file.text)
}
