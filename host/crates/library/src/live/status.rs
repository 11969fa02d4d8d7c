//! What there is, for people who ask.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use serde::Serialize;

use super::Library;
use crate::stage::Source;
use placewright_engine::unit::{Digest, kinds};

/// A name under which there is a unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub struct UnitStatus {
    /// The name.
    #[cfg_attr(feature = "openapi", schema(example = "memory"))]
    pub name: String,
    /// The digest in force, unless it is disabled.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, required = true, example = "9f2c41d07a3be85b6c1d4f90aa27e3518b64c0f2de91735a48cb06f17d3e259c"))]
    pub in_force: Option<Digest>,
    /// The version of the unit, as it says.
    #[cfg_attr(feature = "openapi", schema(required = true, example = "1.2.0"))]
    pub version: Option<String>,
    /// What it is for, in a sentence, as it says.
    #[cfg_attr(
        feature = "openapi",
        schema(required = true, example = "Removes hosts without enough memory")
    )]
    pub summary: Option<String>,
    /// What it can be in a policy: `filter`, `cost function`, `selection`, `placement effects`,
    /// `balance`, `order`.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>, example = json!(["filter"])))]
    pub kinds: Vec<&'static str>,
    /// Where it came from.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub source: Option<Source>,
    /// Whether it was disabled.
    pub disabled: bool,
    /// Whether it stays whatever its file becomes.
    pub pinned: bool,
    /// Whether its file is gone and policies use it.
    pub kept_although_deleted: bool,
    /// Whether a unit of this name comes with the program.
    pub embedded: bool,
    /// A unit of this name that was let in and is not trusted any more: it is not in force,
    /// and would be if it were trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = NotTrusted))]
    pub not_trusted: Option<NotTrusted>,
    /// A file that is being staged, or waits for it, and by its name will be this unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "memory-1.3.0.wasm"))]
    pub staging: Option<PathBuf>,
}

/// A unit that was let in and is not trusted any more.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = NotTrustedUnit))]
pub struct NotTrusted {
    /// Its digest.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "9f2c41d07a3be85b6c1d4f90aa27e3518b64c0f2de91735a48cb06f17d3e259c"))]
    pub digest: Digest,
    /// Why it is not trusted.
    #[cfg_attr(
        feature = "openapi",
        schema(example = "the signature is of a key that is not trusted")
    )]
    pub why: String,
}

/// A file of the watched folder.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = UnitFile))]
pub struct FileStatus {
    /// Where it is.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "/var/lib/placewright/units/memory.wasm"))]
    pub path: PathBuf,
    /// The name of the last sound unit in it.
    #[cfg_attr(feature = "openapi", schema(required = true, example = "memory"))]
    pub name: Option<String>,
    /// The digest of that.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, required = true, example = "9f2c41d07a3be85b6c1d4f90aa27e3518b64c0f2de91735a48cb06f17d3e259c"))]
    pub offers: Option<Digest>,
    /// The digest of what it holds now, if it can be read.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, required = true, example = "9f2c41d07a3be85b6c1d4f90aa27e3518b64c0f2de91735a48cb06f17d3e259c"))]
    pub holds: Option<Digest>,
    /// What is wrong with that.
    #[cfg_attr(
        feature = "openapi",
        schema(required = true, example = "it is no WebAssembly component")
    )]
    pub trouble: Option<String>,
}

impl Library {
    /// Everything under which there is a unit, by name.
    pub fn units(&self) -> Vec<UnitStatus> {
        let staging = self.staging();
        let state = self.lock();
        let of = |name: &str| {
            let wanted = state.wanted(name);
            UnitStatus {
                name: name.to_owned(),
                in_force: wanted.as_ref().map(|(_, unit)| unit.digest()),
                version: wanted
                    .as_ref()
                    .map(|(_, unit)| unit.description().version.clone()),
                summary: wanted
                    .as_ref()
                    .map(|(_, unit)| unit.description().summary.clone()),
                kinds: wanted
                    .as_ref()
                    .map(|(_, unit)| kinds(unit))
                    .unwrap_or_default(),
                source: wanted.map(|(source, _)| source),
                disabled: state.disabled.contains(name),
                pinned: state.choices.get(name).is_some_and(|choice| choice.pinned),
                kept_although_deleted: state.kept.contains_key(name),
                embedded: state.base.contains_key(name),
                not_trusted: state.distrusted_as(name).map(|unit| NotTrusted {
                    digest: unit.digest,
                    why: unit.why.clone(),
                }),
                staging: staging.get(name).cloned(),
            }
        };
        state.names().into_iter().map(of).collect()
    }

    /// The files that are being staged or wait for it, by the names of the units that they will
    /// be by their own names: `max-vms.wasm` will be `max-vms`. What a file holds is known later.
    pub fn staging(&self) -> BTreeMap<String, PathBuf> {
        let files = self.staging.lock().unwrap_or_else(PoisonError::into_inner);
        let named = files.iter().filter_map(|path| {
            let name = path.file_stem()?.to_str()?;
            Some((name.to_owned(), path.clone()))
        });
        named.collect()
    }

    /// Note that a file is to be staged.
    pub(super) fn will_stage(&self, path: PathBuf) {
        let mut files = self.staging.lock().unwrap_or_else(PoisonError::into_inner);
        files.insert(path);
    }

    /// Note that it was.
    pub(super) fn has_staged(&self, path: &Path) {
        let mut files = self.staging.lock().unwrap_or_else(PoisonError::into_inner);
        files.remove(path);
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
