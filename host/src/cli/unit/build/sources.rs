//! What a project is made of, to see whether it has changed.
//!
//! Everything in its folder counts, whatever the language, but for what builds write there
//! themselves. Contents count and never events: what a build writes anew with the same bytes
//! is no change.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use placewright_engine::unit::Digest;

/// Folders that builds and package managers write.
const MADE: &[&str] = &["__pycache__", "node_modules", "target"];
/// Files that mark a folder as made: by cargo wherever it builds, by Python as an environment.
const MARKS: &[&str] = &["CACHEDIR.TAG", "pyvenv.cfg"];
/// Cargo writes it when it builds, if the manifest has changed; else it is the author's.
const LOCK: &str = "Cargo.lock";

/// The files of a project and what is in them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Sources {
    files: BTreeMap<PathBuf, Content>,
    folders: BTreeSet<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Content {
    length: u64,
    modified: Option<SystemTime>,
    /// None for what cannot be read.
    digest: Option<Digest>,
}

impl Sources {
    /// Look at the project in `folder`; `out` is where the unit goes. What has the length and time
    /// of `before` is not read again.
    pub(super) fn look(folder: &Path, out: &Path, before: &Self) -> Self {
        let mut sources = Self::default();
        sources.add(folder, out, before);
        sources
    }

    /// When the last one of them was changed, but for those below `except`; None if that cannot be
    /// told of one of them.
    pub(super) fn last_change(&self, except: &Path) -> Option<SystemTime> {
        let files = self.files.iter();
        let files = files.filter(|(path, _)| !path.starts_with(except));
        let mut last = SystemTime::UNIX_EPOCH;
        for (_, content) in files {
            last = last.max(content.modified?);
        }
        Some(last)
    }

    /// The folders that hold them.
    pub(super) fn folders(&self) -> impl Iterator<Item = &Path> {
        self.folders.iter().map(PathBuf::as_path)
    }

    /// Whether a file has come, gone, or holds something else than `before`.
    pub(super) fn differ_from(&self, before: &Self) -> bool {
        let digests = |sources: &Self| -> Vec<(PathBuf, Option<Digest>)> {
            let files = sources.files.iter();
            files
                .map(|(path, content)| (path.clone(), content.digest))
                .collect()
        };
        digests(self) != digests(before)
    }

    /// Take from `after` a build what cargo may have written in it.
    pub(super) fn take_lock_from(&mut self, after: &Self) {
        let is_lock = |path: &Path| path.file_name().is_some_and(|name| name == LOCK);
        self.files.retain(|path, _| !is_lock(path));
        let locks = after.files.iter().filter(|(path, _)| is_lock(path));
        self.files
            .extend(locks.map(|(path, content)| (path.clone(), content.clone())));
    }

    fn add(&mut self, folder: &Path, out: &Path, before: &Self) {
        // What cannot be listed has gone or will be told of by the build.
        let Ok(entries) = fs::read_dir(folder) else {
            return;
        };
        self.folders.insert(folder.to_owned());
        for entry in entries.filter_map(Result::ok) {
            let path = entry.path();
            let name = entry.file_name();
            let name = name.to_string_lossy();
            // Hidden ones are those of editors, of git and of Python's environments.
            if name.starts_with('.') || name.ends_with('~') || path == out {
                continue;
            }
            // Links to folders are not followed: they may lead in a circle.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if !is_made(&path, &name) {
                    self.add(&path, out, before);
                }
                continue;
            }
            if name.ends_with(".wasm") || name.ends_with(".wasm.sig") {
                continue;
            }
            if let Ok(metadata) = fs::metadata(&path)
                && metadata.is_file()
            {
                let content = content(&path, &metadata, before.files.get(&path));
                self.files.insert(path, content);
            }
        }
    }
}

fn is_made(folder: &Path, name: &str) -> bool {
    MADE.contains(&name) || MARKS.iter().any(|mark| folder.join(mark).is_file())
}

fn content(path: &Path, metadata: &Metadata, before: Option<&Content>) -> Content {
    let (length, modified) = (metadata.len(), metadata.modified().ok());
    let known = before.filter(|before| {
        before.length == length && before.modified == modified && modified.is_some()
    });
    let read = || fs::read(path).ok().map(|bytes| Digest::of(&bytes));
    Content {
        length,
        modified,
        digest: known.map_or_else(read, |known| known.digest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Whether the project is another after this is written into it.
    fn changed_by(name: &str, text: &str) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("unit.out");
        write(folder.path(), "src/lib.rs", "mod rack;");
        write(folder.path(), "made/CACHEDIR.TAG", "");
        write(folder.path(), "env/pyvenv.cfg", "");
        let before = Sources::look(folder.path(), &out, &Sources::default());
        write(folder.path(), name, text);
        Sources::look(folder.path(), &out, &before).differ_from(&before)
    }

    #[test]
    fn what_an_author_writes_is_a_change() {
        for name in [
            "src/lib.rs",
            "src/deep/rack.rs",
            "Cargo.toml",
            "unit.py",
            "package.json",
        ] {
            assert!(changed_by(name, "pub mod rack;"), "{name}");
        }
        assert!(!changed_by("src/lib.rs", "mod rack;"), "written as it was");
    }

    #[test]
    fn what_a_build_writes_is_no_change() {
        for name in [
            "unit.out",
            "racks.wasm",
            "target/release/racks",
            "made/release/racks",
            "env/lib/site.py",
            "node_modules/esbuild/package.json",
            "__pycache__/unit.pyc",
            ".venv/lib/site.py",
            ".git/HEAD",
            "src/.lib.rs.swp",
        ] {
            assert!(!changed_by(name, "new"), "{name}");
        }
    }

    #[test]
    fn a_lock_file_that_the_build_wrote_is_no_change() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("racks.wasm");
        write(folder.path(), "src/lib.rs", "");
        let mut before = Sources::look(folder.path(), &out, &Sources::default());
        write(folder.path(), LOCK, "version = 4");
        let after = Sources::look(folder.path(), &out, &before);
        assert!(after.differ_from(&before));
        before.take_lock_from(&after);
        assert!(!after.differ_from(&before));
    }
}
