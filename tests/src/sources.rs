//! Which sources a unit's component is made from, and whether it still is.
//!
//! The components of the units in `plugins/GROUP/` are in the repository, and so is that of a unit
//! of `tests/units` which a program of the tests contains. Beside each stands
//! `NAME.sources` with two digests, of its sources and of the component, so that a
//! test can tell when they have drifted apart without building anything.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::repository;

/// The command that builds what has drifted.
pub const REMEDY: &str = "cargo run --release -p placewright-tests --bin build-units";

/// A unit whose component is in the repository.
#[derive(Debug, Clone)]
pub struct Plugin {
    /// Its name: that of its folder.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
}

/// The digests that stand beside a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Of all that it is made from.
    pub sources: String,
    /// Of the component.
    pub component: String,
}

impl Plugin {
    /// All of them, by name: the crates of type `cdylib` in `plugins`, and those in `tests/units`
    /// with a component beside their sources.
    ///
    /// # Errors
    /// If a file cannot be read or is no TOML.
    pub fn all() -> io::Result<Vec<Self>> {
        let mut plugins = Vec::new();
        for group in folders(&repository().join("plugins"))? {
            for folder in folders(&group)? {
                let manifest = folder.join("Cargo.toml");
                if manifest.is_file() && is_unit(&read_toml(&manifest)?) {
                    plugins.push(Self::in_folder(folder));
                }
            }
        }
        let of_tests = folders(&repository().join("tests/units"))?;
        let of_tests = of_tests.into_iter().map(Self::in_folder);
        plugins.extend(of_tests.filter(|unit| unit.component().is_file()));
        plugins.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(plugins)
    }

    fn in_folder(folder: PathBuf) -> Self {
        let name = folder.file_name().unwrap_or_default();
        Self {
            name: name.to_string_lossy().into_owned(),
            folder,
        }
    }

    /// Where its component is kept.
    pub fn component(&self) -> PathBuf {
        self.folder.join(&self.name).with_extension("wasm")
    }

    /// Where its digests are kept.
    pub fn record(&self) -> PathBuf {
        self.folder.join(&self.name).with_extension("sources")
    }

    /// The digest of all that it is made from: sources and `Cargo.toml` of its crate
    /// and of the crates of this repository that it depends on, the contract without its
    /// comments, of which nothing reaches a component, version and edition of the workspace,
    /// and the toolchain.
    ///
    /// # Errors
    /// If a file cannot be read or is no TOML.
    pub fn sources(&self) -> io::Result<String> {
        Ok(digest(&sources_of(&self.folder)?))
    }
}

/// All that the component of the crate in `folder` is made from, by name.
fn sources_of(folder: &Path) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut crates = BTreeSet::new();
    collect_crates(folder, &mut crates)?;
    let mut files = BTreeMap::new();
    for folder in crates {
        take_file(&folder.join("Cargo.toml"), &mut files)?;
        take_folder(&folder.join("src"), &mut files)?;
    }
    let root = repository();
    let mut contract = BTreeMap::new();
    take_folder(&root.join("wit"), &mut contract)?;
    contract.values_mut().for_each(leave_comments_out);
    files.extend(contract);
    take_file(&root.join("rust-toolchain.toml"), &mut files)?;
    let workspace = read_toml(&root.join("Cargo.toml"))?;
    let package = workspace.get("workspace").and_then(|it| it.get("package"));
    for key in ["edition", "version"] {
        let value = package.and_then(|package| package.get(key));
        let value = value.map(ToString::to_string).unwrap_or_default();
        files.insert(format!("Cargo.toml {key}"), value.into_bytes());
    }
    Ok(files)
}

/// The digest of all that decides what building the crate in `folder` gives: its sources, the
/// versions of other crates, and what builds it.
///
/// # Errors
/// If a file cannot be read or is no TOML.
pub fn build_sources(folder: &Path) -> io::Result<String> {
    let mut files = sources_of(folder)?;
    take_file(&repository().join("Cargo.lock"), &mut files)?;
    take_folder(&builder_sources(), &mut files)?;
    Ok(digest(&files))
}

/// The folder of the sources of what builds components.
pub fn builder_sources() -> PathBuf {
    repository().join("host/crates/build/src")
}

impl Record {
    /// The digests of a component and its sources.
    pub fn of(sources: String, component: &[u8]) -> Self {
        Self {
            sources,
            component: hex::encode(Sha256::digest(component)),
        }
    }

    /// What stands in a file; none if it is not such a file.
    pub fn parse(text: &str) -> Option<Self> {
        let line = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            Some(line.trim().to_owned())
        };
        Some(Self {
            sources: line("sources ")?,
            component: line("component ")?,
        })
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "sources {}", self.sources)?;
        writeln!(f, "component {}", self.component)
    }
}

/// The digest of all files in these folders.
///
/// # Errors
/// If one cannot be read.
pub fn digest_of(folders: &[PathBuf]) -> io::Result<String> {
    let mut files = BTreeMap::new();
    for folder in folders {
        take_folder(folder, &mut files)?;
    }
    Ok(digest(&files))
}

/// Names and contents, each with its length, so that no two sets of files give the
/// same bytes.
fn digest(files: &BTreeMap<String, Vec<u8>>) -> String {
    let mut hash = Sha256::new();
    for (name, content) in files {
        for part in [name.as_bytes(), content] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    hex::encode(hash.finalize())
}

/// The crate in `folder` and those of this repository that it is built with.
fn collect_crates(folder: &Path, crates: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    if !crates.insert(folder.to_owned()) {
        return Ok(());
    }
    let manifest = read_toml(&folder.join("Cargo.toml"))?;
    for kind in ["dependencies", "build-dependencies"] {
        let table = manifest.get(kind).and_then(toml::Value::as_table);
        for dependency in table.into_iter().flat_map(toml::Table::values) {
            if let Some(path) = dependency.get("path").and_then(toml::Value::as_str) {
                collect_crates(&joined(folder, Path::new(path)), crates)?;
            }
        }
    }
    Ok(())
}

/// `folder/path` without `..`, so that every crate has one name.
fn joined(folder: &Path, path: &Path) -> PathBuf {
    let mut joined = folder.to_owned();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                joined.pop();
            }
            Component::CurDir => {}
            other => joined.push(other),
        }
    }
    joined
}

/// Leave out the lines that are comments.
fn leave_comments_out(wit: &mut Vec<u8>) {
    let text = String::from_utf8_lossy(wit);
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    *wit = lines
        .flat_map(|line| [line, "\n"])
        .collect::<String>()
        .into_bytes();
}

fn take_folder(folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    for entry in fs::read_dir(folder).map_err(|error| about(folder, &error))? {
        let path = entry?.path();
        match path.is_dir() {
            // What Python has compiled.
            true if path.ends_with("__pycache__") => {}
            true => take_folder(&path, files)?,
            false => take_file(&path, files)?,
        }
    }
    Ok(())
}

fn take_file(path: &Path, files: &mut BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    let root = repository();
    let name = path.strip_prefix(&root).unwrap_or(path);
    let name: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
    let content = fs::read(path).map_err(|error| about(path, &error))?;
    files.insert(name.join("/"), content);
    Ok(())
}

/// The folders in a folder.
fn folders(parent: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(parent).map_err(|error| about(parent, &error))?;
    let paths = entries.map(|entry| Ok(entry?.path()));
    let folders = paths.filter(|path| path.as_ref().map_or(true, |path: &PathBuf| path.is_dir()));
    folders.collect()
}

fn is_unit(manifest: &toml::Table) -> bool {
    let kinds = manifest.get("lib").and_then(|lib| lib.get("crate-type"));
    let mut kinds = kinds.and_then(toml::Value::as_array).into_iter().flatten();
    kinds.any(|kind| kind.as_str() == Some("cdylib"))
}

fn read_toml(path: &Path) -> io::Result<toml::Table> {
    let text = fs::read_to_string(path).map_err(|error| about(path, &error))?;
    text.parse().map_err(|error| about(path, &error))
}

fn about(path: &Path, error: &dyn fmt::Display) -> io::Error {
    io::Error::other(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_written_and_read_again() {
        let record = Record::of("ab".to_owned(), b"component");
        assert_eq!(Record::parse(&record.to_string()), Some(record));
        assert_eq!(Record::parse("something else"), None);
    }

    #[test]
    fn a_change_of_a_name_or_of_a_content_changes_the_digest() {
        let files = |list: &[(&str, &str)]| {
            let owned =
                |(name, content): &(&str, &str)| ((*name).to_owned(), content.as_bytes().to_vec());
            digest(&list.iter().map(owned).collect())
        };
        let digests = BTreeSet::from([
            files(&[("a", "x"), ("b", "")]),
            files(&[("a", ""), ("b", "x")]),
            files(&[("ax", ""), ("b", "")]),
            files(&[("a", "x")]),
        ]);
        assert_eq!(digests.len(), 4);
    }

    #[test]
    fn comments_of_the_contract_are_no_part_of_what_a_unit_is_made_from() {
        let without = |text: &str| {
            let mut text = text.as_bytes().to_vec();
            leave_comments_out(&mut text);
            String::from_utf8(text).unwrap()
        };
        let plain = "interface a {\n  f: func();\n}\n";
        let commented = "/// A.\ninterface a {\n  // F.\n  f: func();\n}\n";
        assert_eq!(without(commented), plain);
        assert_ne!(without("interface a {\n  g: func();\n}\n"), plain);
    }

    #[test]
    fn a_unit_is_made_from_the_crates_it_depends_on() {
        let mut crates = BTreeSet::new();
        collect_crates(&repository().join("plugins/packing/best-fit"), &mut crates).unwrap();
        let expected = [
            "plugins/packing/best-fit",
            "plugins/libraries/host-room",
            "sdk/rust",
            "sdk/rust/derive",
        ];
        assert_eq!(crates, expected.map(|it| repository().join(it)).into());
    }
}
