//! Compiled code on disk, so that a start does not compile what it compiled before.
//!
//! An entry is found by the digest of the component and by all of the engine's
//! settings that shape code, Wasmtime's version included. It is written to a
//! temporary file and renamed, and carries a checksum of its name and content: an entry
//! that is damaged, cut off or another one is as good as none. So is one that is not this
//! user's own file: code runs with all rights of this process. No failure here is fatal, since code can
//! always be compiled again.

use std::fs::{self, DirBuilder, OpenOptions};
use std::hash::{Hash, Hasher};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;
use wasmtime::component::Component;

use placewright_ownership as ownership;

/// What an entry begins with. Change it with the layout.
const MAGIC: &[u8; 8] = b"pwcode02";
const CHECKSUM: usize = 32;

/// How much the folder may hold before the entries that were written first are
/// removed: some thousand units of the usual size, or ten interpreters.
const MOST_BYTES: u64 = 1 << 30;

/// The ending of files of compiled code, and what those of notes end with.
const CODE: &str = "code";
const NOTE: &str = "-note";

fn note_ending(kind: &str) -> String {
    format!("{kind}{NOTE}")
}

/// A folder of compiled code.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
    /// Of the engine's settings.
    settings: String,
}

impl Cache {
    /// Use `folder`, which is made if it is missing, for code of `engine`.
    ///
    /// # Errors
    /// If the folder cannot be made or written to, or if others than this user
    /// could put code there.
    pub(super) fn open(folder: &Path, engine: &wasmtime::Engine) -> io::Result<Self> {
        create_private(folder)?;
        check_private(folder)?;
        let mut settings = Sha256Hasher(Sha256::new());
        engine.precompile_compatibility_hash().hash(&mut settings);
        Ok(Self {
            folder: folder.to_owned(),
            settings: hex::encode(&settings.0.finalize()[..8]),
        })
    }

    fn path(&self, digest: &str) -> PathBuf {
        self.named(digest, CODE)
    }

    fn named(&self, digest: &str, ending: &str) -> PathBuf {
        self.folder
            .join(format!("{digest}-{}.{ending}", self.settings))
    }

    /// What was noted of the component with that digest, if it is whole.
    pub(super) fn note(&self, digest: &str, kind: &str) -> Option<Vec<u8>> {
        let path = self.named(digest, &note_ending(kind));
        let entry = read(&path).ok()?;
        unwrap(&path, &entry).map(<[u8]>::to_owned)
    }

    /// Note something of the component with that digest.
    pub(super) fn keep_note(&self, digest: &str, kind: &str, note: &[u8]) {
        let path = self.named(digest, &note_ending(kind));
        if let Err(error) = self.write(&path, note) {
            tracing::warn!(path = %path.display(), %error, "cannot store a note");
        }
    }

    /// Whether there is an entry for the component with that digest, sound or not.
    pub(super) fn has(&self, digest: &str) -> bool {
        self.path(digest).is_file()
    }

    /// The code of the component with that digest, if there is a sound entry.
    pub(super) fn get(&self, engine: &wasmtime::Engine, digest: &str) -> Option<Component> {
        let path = self.path(digest);
        let entry = match read(&path) {
            Ok(entry) => entry,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "cannot read compiled code");
                return None;
            }
        };
        let Some(code) = unwrap(&path, &entry) else {
            tracing::warn!(path = %path.display(), "compiled code is damaged and will be compiled again");
            return None;
        };
        deserialize(engine, code)
            .inspect_err(|error| {
                tracing::warn!(path = %path.display(), %error, "compiled code is for another program or machine");
            })
            .ok()
    }

    /// Keep the code of the component with that digest.
    pub(super) fn put(&self, digest: &str, component: &Component) {
        let code = component
            .serialize()
            .map_err(|error| io::Error::other(error.into_boxed_dyn_error()));
        self.keep(digest, code.as_deref().map_err(io::Error::to_string));
    }

    /// Keep this code of the component with that digest.
    pub(super) fn put_code(&self, digest: &str, code: &[u8]) {
        self.keep(digest, Ok(code));
    }

    fn keep(&self, digest: &str, code: Result<&[u8], String>) {
        let written = code.and_then(|code| {
            let written = self.write(&self.path(digest), code);
            written.map_err(|error| error.to_string())
        });
        if let Err(error) = written {
            tracing::warn!(folder = %self.folder.display(), error, "cannot cache compiled code");
        }
        self.prune();
    }

    fn write(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        let mut file = NamedTempFile::new_in(&self.folder)?;
        file.write_all(MAGIC)?;
        file.write_all(&checksum(path, content))?;
        file.write_all(content)?;
        file.persist(path).map(|_| ()).map_err(|error| error.error)
    }

    /// Remove all that is kept of the component with that digest.
    pub(super) fn remove(&self, digest: &str) {
        let begin = format!("{digest}-");
        for entry in entries(&self.folder) {
            let name = entry.path.file_name().unwrap_or_default();
            if name.to_string_lossy().starts_with(&begin) {
                // Another process may have removed it already.
                let _ = fs::remove_file(&entry.path);
            }
        }
    }

    /// Remove the oldest entries while the folder holds too much.
    fn prune(&self) {
        let mut entries = entries(&self.folder);
        entries.sort();
        let mut bytes: u64 = entries.iter().map(|entry| entry.bytes).sum();
        for entry in entries {
            if bytes <= MOST_BYTES {
                break;
            }
            // Another process may have removed it already.
            let _ = fs::remove_file(&entry.path);
            bytes -= entry.bytes;
        }
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    written: SystemTime,
    bytes: u64,
    path: PathBuf,
}

fn entries(folder: &Path) -> Vec<Entry> {
    let Ok(files) = fs::read_dir(folder) else {
        return Vec::new();
    };
    files
        .filter_map(|file| {
            let path = file.ok()?.path();
            let ending = path.extension()?.to_str()?;
            if ending != CODE && !ending.ends_with(NOTE) {
                return None;
            }
            let file = path.metadata().ok()?;
            Some(Entry {
                written: file.modified().ok()?,
                bytes: file.len(),
                path,
            })
        })
        .collect()
}

/// Read an entry, which is this user's own file and can be written by no other.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut options = OpenOptions::new();
    options.read(true);
    ownership::no_links(&mut options);
    let mut file = options.open(path)?;
    ownership::check_file(&file)?;
    let mut entry = Vec::new();
    file.read_to_end(&mut entry)?;
    Ok(entry)
}

/// The code in an entry, if the entry is whole and the one of that name.
fn unwrap<'e>(path: &Path, entry: &'e [u8]) -> Option<&'e [u8]> {
    let (sum, code) = entry.strip_prefix(MAGIC)?.split_at_checked(CHECKSUM)?;
    (checksum(path, code) == sum).then_some(code)
}

fn checksum(path: &Path, content: &[u8]) -> [u8; CHECKSUM] {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let mut sum = Sha256::new();
    // No name holds a slash.
    sum.update(name);
    sum.update(b"/");
    sum.update(content);
    sum.finalize().into()
}

/// A component of the code that a process of this program has made. That it is whole was told
/// by its checksum.
///
/// # Errors
/// If it is for another engine.
pub(super) fn of_process(engine: &wasmtime::Engine, code: &[u8]) -> wasmtime::Result<Component> {
    deserialize(engine, code)
}

#[expect(unsafe_code, reason = "there is no other way to load precompiled code")]
fn deserialize(engine: &wasmtime::Engine, code: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: the bytes must be what `Component::serialize` or
    // `Engine::precompile_component` gave. They are: the checksum says that they are as
    // they were written. In a file, only `Cache::write` writes files of this magic and puts
    // the name into the checksum, `read` has made sure of the open file that it is this
    // user's and that nobody else can write to it, and `check_private` that nobody else can
    // put files into the folder. From a process, only `serve_compile` answers so, in a
    // program that this one has started, through a pipe that nobody else holds. Wasmtime
    // itself refuses code of another version or other settings.
    unsafe { Component::deserialize(engine, code) }
}

fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Make sure that the folder is this user's and that no one else can write to it.
#[cfg(unix)]
fn check_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;

    let of_folder = folder.metadata()?;
    // A file that we make is ours: that tells who we are, and that we can write.
    let of_us = NamedTempFile::new_in(folder)?.as_file().metadata()?;
    if of_folder.uid() != of_us.uid() || of_folder.mode() & 0o022 != 0 {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "others may write to the folder; only its owner, the user of this program, should",
        ));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_private(folder: &Path) -> io::Result<()> {
    NamedTempFile::new_in(folder).map(|_| ())
}

/// SHA-256 as a hasher: the standard library's own may change with its version.
struct Sha256Hasher(Sha256);

impl Hasher for Sha256Hasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let digest = self.0.clone().finalize();
        digest[..8]
            .iter()
            .fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    fn engine() -> wasmtime::Engine {
        wasmtime::Engine::default()
    }

    fn component(engine: &wasmtime::Engine) -> Component {
        let bytes = wat::parse_str("(component (core module))").unwrap();
        Component::new(engine, bytes).unwrap()
    }

    #[test]
    fn what_was_put_is_found_by_the_same_digest_only() {
        let (folder, engine) = (folder(), engine());
        let cache = Cache::open(&folder.path().join("code"), &engine).unwrap();
        assert!(cache.get(&engine, "aa").is_none());
        cache.put("aa", &component(&engine));
        assert!(cache.get(&engine, "aa").is_some());
        assert!(cache.get(&engine, "bb").is_none());
    }

    #[test]
    fn a_damaged_entry_is_no_entry() {
        let (folder, engine) = (folder(), engine());
        let cache = Cache::open(&folder.path().join("code"), &engine).unwrap();
        cache.put("aa", &component(&engine));
        let path = cache.path("aa");
        let whole = fs::read(&path).unwrap();
        for cut in [0, 5, MAGIC.len() + 10, whole.len() / 2, whole.len() - 1] {
            fs::write(&path, &whole[..cut]).unwrap();
            assert!(cache.get(&engine, "aa").is_none(), "cut at {cut}");
        }
        let mut flipped = whole.clone();
        *flipped.last_mut().unwrap() ^= 1;
        fs::write(&path, flipped).unwrap();
        assert!(cache.get(&engine, "aa").is_none());
        cache.put("aa", &component(&engine));
        assert!(cache.get(&engine, "aa").is_some());
    }

    #[test]
    fn engines_with_other_settings_do_not_share_code() {
        let (folder, engine) = (folder(), engine());
        let other = wasmtime::Engine::new(wasmtime::Config::new().consume_fuel(true)).unwrap();
        let cache = Cache::open(&folder.path().join("code"), &engine).unwrap();
        let other = Cache::open(&folder.path().join("code"), &other).unwrap();
        assert_ne!(cache.path("aa"), other.path("aa"));
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_others_may_write_to_is_not_used() {
        use std::os::unix::fs::PermissionsExt;

        let folder = folder();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(Cache::open(folder.path(), &engine()).is_err());
    }

    #[test]
    fn what_is_removed_leaves_nothing_and_the_others_as_they_are() {
        let (folder, engine) = (folder(), engine());
        let cache = Cache::open(folder.path(), &engine).unwrap();
        for digest in ["aa", "aab"] {
            cache.put(digest, &component(&engine));
            cache.keep_note(digest, "probed", b"well");
        }
        cache.remove("aa");
        assert!(!cache.has("aa") && cache.note("aa", "probed").is_none());
        assert!(cache.has("aab") && cache.note("aab", "probed").is_some());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn code_of_another_component_is_not_taken_for_it() {
        let (folder, engine) = (folder(), engine());
        let cache = Cache::open(&folder.path().join("code"), &engine).unwrap();
        cache.put("aa", &component(&engine));
        fs::rename(cache.path("aa"), cache.path("bb")).unwrap();
        assert!(cache.get(&engine, "bb").is_none());
        fs::rename(cache.path("bb"), cache.path("aa")).unwrap();
        assert!(cache.get(&engine, "aa").is_some());
    }

    #[cfg(unix)]
    #[test]
    fn code_that_others_may_have_written_is_not_run_though_its_checksum_is_right() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let (folder, engine) = (folder(), engine());
        let cache = Cache::open(&folder.path().join("code"), &engine).unwrap();
        cache.put("aa", &component(&engine));
        let path = cache.path("aa");
        let rights = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        rights(0o666);
        assert!(cache.get(&engine, "aa").is_none());
        rights(0o600);
        assert!(cache.get(&engine, "aa").is_some());
        let elsewhere = folder.path().join(path.file_name().unwrap());
        fs::rename(&path, &elsewhere).unwrap();
        symlink(&elsewhere, &path).unwrap();
        assert!(cache.get(&engine, "aa").is_none(), "a link is followed");
    }

    #[test]
    fn a_note_is_found_by_digest_and_kind_and_only_whole() {
        let (folder, engine) = (folder(), engine());
        let cache = Cache::open(&folder.path().join("code"), &engine).unwrap();
        cache.keep_note("aa", "probed", b"well");
        assert_eq!(cache.note("aa", "probed").unwrap(), b"well");
        assert_eq!(cache.note("aa", "other"), None);
        assert_eq!(cache.note("bb", "probed"), None);
        let path = cache.named("aa", &note_ending("probed"));
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        assert_eq!(cache.note("aa", "probed"), None);
    }

    #[test]
    fn no_temporary_file_is_left() {
        let (folder, engine) = (folder(), engine());
        let cache = Cache::open(folder.path(), &engine).unwrap();
        cache.put("aa", &component(&engine));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
