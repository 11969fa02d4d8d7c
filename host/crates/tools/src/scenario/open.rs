//! Scenario files on disk, and the documents that they name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Scenarios, read};
use placewright_document::{Problems, Table, parse, stem};
use placewright_plugins as plugins;

/// Why a scenario file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It cannot be read.
    #[error("cannot read {}", .0.display())]
    Unreadable(PathBuf, #[source] io::Error),
    /// Something is wrong with what stands in it.
    #[error(transparent)]
    Problems(#[from] Problems),
}

/// The scenario files (`*.toml`, `*.json`) in a folder, by name; a file is one itself.
///
/// # Errors
/// If the folder cannot be read.
pub fn files(path: &Path) -> Result<Vec<PathBuf>, OpenError> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let unreadable = |error| OpenError::Unreadable(path.to_owned(), error);
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        if is_document(&file) && is_scenario_file(&file) {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

fn is_document(path: &Path) -> bool {
    let ending = path.extension();
    ending.is_some_and(|ending| ending == "toml" || ending == "json") && path.is_file()
}

/// Whether a document has cases. The clusters and policies that scenario files name may
/// lie beside them. What cannot be read is one, so that somebody is told.
fn is_scenario_file(path: &Path) -> bool {
    let Ok(text) = fs::read_to_string(path) else {
        return true;
    };
    let tree = parse(&text, &path.display().to_string());
    tree.map_or(true, |tree| tree.get("cases").is_some())
}

impl Scenarios {
    /// Read a scenario file, with the documents that it names. Needs no unit: what depends
    /// on it is checked by [`super::Test::new`].
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let unreadable = |error| OpenError::Unreadable(path.to_owned(), error);
        let text = fs::read_to_string(path).map_err(unreadable)?;
        Ok(Self::read(&text, path)?)
    }

    /// Read the text of the scenario file that lies at `path`. Documents that it names are
    /// looked for beside it.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read(text: &str, path: &Path) -> Result<Self, Problems> {
        let tree = parse(text, &path.display().to_string())?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let (description, cases) = read::scenarios(&tree, &Documents { folder })?;
        Ok(Self {
            path: path.to_owned(),
            description,
            cases,
        })
    }
}

/// The documents that a scenario file may name.
pub(super) struct Documents<'a> {
    /// The file's folder, from which paths go.
    folder: &'a Path,
}

/// A document that a scenario file names.
pub(super) struct Named {
    pub(super) tree: Table,
    /// The name of its file without folders and ending.
    pub(super) name: String,
}

/// Why a document that is named is not there.
pub(super) enum NotNamed {
    /// A sentence about the place where it is named.
    Missing(String),
    /// Something is wrong inside.
    Problems(Problems),
}

impl Documents<'_> {
    /// A document by its path.
    pub(super) fn file(&self, path: &str) -> Result<Named, NotNamed> {
        let file = self.folder.join(path);
        let text = fs::read_to_string(&file).map_err(|error| {
            NotNamed::Missing(format!("cannot read {}: {error}", file.display()))
        })?;
        named(&text, &file.display().to_string())
    }

    /// A policy: one that comes with the program, or a file.
    pub(super) fn policy(&self, policy: &str) -> Result<Named, NotNamed> {
        match plugins::policy(policy) {
            Some(embedded) => named(embedded.text, &format!("{policy}.toml")),
            None => self.file(policy),
        }
    }
}

fn named(text: &str, file: &str) -> Result<Named, NotNamed> {
    Ok(Named {
        tree: parse(text, file).map_err(NotNamed::Problems)?,
        name: stem(file).to_owned(),
    })
}
