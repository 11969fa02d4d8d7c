//! What there is, for people who ask.

use std::path::PathBuf;

use serde::Serialize;

use super::Library;
use crate::library::stage::Source;
use crate::unit::Digest;

/// A name under which there is a unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct UnitStatus {
    /// The name.
    pub name: String,
    /// The digest in force, unless it is disabled.
    pub in_force: Option<Digest>,
    /// The version of the unit, as it says.
    pub version: Option<String>,
    /// Where it came from.
    pub source: Option<Source>,
    /// Whether it was disabled.
    pub disabled: bool,
    /// Whether it stays whatever its file becomes.
    pub pinned: bool,
    /// Whether its file is gone and policies use it.
    pub kept_although_deleted: bool,
    /// Whether a unit of this name comes with the program.
    pub embedded: bool,
}

/// A file of the watched folder.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FileStatus {
    /// Where it is.
    pub path: PathBuf,
    /// The name of the last sound unit in it.
    pub name: Option<String>,
    /// The digest of that.
    pub offers: Option<Digest>,
    /// The digest of what it holds now, if it can be read.
    pub holds: Option<Digest>,
    /// What is wrong with that.
    pub trouble: Option<String>,
}

impl Library {
    /// Everything under which there is a unit, by name.
    pub fn units(&self) -> Vec<UnitStatus> {
        let state = self.lock();
        let of = |name: &str| {
            let wanted = state.wanted(name);
            UnitStatus {
                name: name.to_owned(),
                in_force: wanted.as_ref().map(|(_, unit)| unit.digest()),
                version: wanted
                    .as_ref()
                    .map(|(_, unit)| unit.description().version.clone()),
                source: wanted.map(|(source, _)| source),
                disabled: state.disabled.contains(name),
                pinned: state.choices.get(name).is_some_and(|choice| choice.pinned),
                kept_although_deleted: state.kept.contains_key(name),
                embedded: state.base.contains_key(name),
            }
        };
        state.names().into_iter().map(of).collect()
    }

    /// Every file that is or was watched, by path.
    pub fn files(&self) -> Vec<FileStatus> {
        let state = self.lock();
        let files = state.files.iter();
        files
            .map(|(path, file)| FileStatus {
                path: path.clone(),
                name: file.offers.as_ref().map(|unit| unit.name().to_owned()),
                offers: file.offers.as_ref().map(|unit| unit.digest()),
                holds: file.holds,
                trouble: file.trouble.clone(),
            })
            .collect()
    }
}
