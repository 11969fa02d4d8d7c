//! One file that is read when somebody asks for it, and only while it is whole.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use placewright_engine::unit::Digest;
use placewright_sync::Mutex;

use super::look::{self, NoLook};
use super::{Change, Folder, Options, WatchError, Watcher, being_written};

/// Why nothing was read of a file.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ReadError {
    /// It is not there.
    #[error("cannot read {}: there is no such file", .0.display())]
    Missing(PathBuf),
    /// It is there and cannot be read.
    #[error("cannot read {}: {why}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// A program is still writing it.
    #[error(
        "{} is still being written, so it may not be whole; try again when it is finished",
        .0.display()
    )]
    BeingWritten(PathBuf),
}

/// What was told of the file last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heard {
    /// Nothing, or that it is gone.
    Nothing,
    /// It holds this, and has settled.
    Settled(Digest),
    /// It is written all the time, or cannot be read.
    Trouble,
}

/// A file that is watched, so that it is known whether somebody is in the middle of
/// writing it. Ends with this value.
#[derive(Debug)]
pub struct WatchedFile {
    path: PathBuf,
    most_bytes: usize,
    heard: Arc<Mutex<Heard>>,
    watcher: Watcher,
}

impl WatchedFile {
    /// Watch this file, of at most so many bytes. It need not exist.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(path: &Path, most_bytes: usize) -> Result<Self, WatchError> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
        let name = path.file_name().unwrap_or(OsStr::new("")).to_string_lossy();
        let options = Options {
            endings: vec![name.into_owned()],
            ..Options::policies(most_bytes)
        };
        let heard = Arc::new(Mutex::new(Heard::Nothing));
        let (of, own) = (heard.clone(), path.clone());
        let report = move |change: Option<Change>| {
            let Some(change) = change.filter(|change| change.path() == own) else {
                return;
            };
            let heard = match change {
                Change::Seen(seen) => Heard::Settled(seen.digest),
                Change::Gone { .. } => Heard::Nothing,
                Change::Trouble { .. } | Change::Unlisted { .. } => Heard::Trouble,
            };
            *of.lock().unwrap_or_else(PoisonError::into_inner) = heard;
        };
        // Nothing shows that a text is whole: it counts when it has settled.
        let watcher = Watcher::start(Folder::new(folder, options), |_| false, report)?;
        Ok(Self {
            path,
            most_bytes,
            heard,
            watcher,
        })
    }

    /// What it holds. Waits some seconds for a program that is writing it.
    ///
    /// # Errors
    /// If it cannot be read, or if it is still being written.
    pub fn read(&self) -> Result<Arc<[u8]>, ReadError> {
        self.watcher.bell().settle();
        let look = look::read(&self.path, self.most_bytes).map_err(|no_look| match no_look {
            NoLook::Missing => ReadError::Missing(self.path.clone()),
            NoLook::Unreadable(why) => ReadError::Unreadable {
                path: self.path.clone(),
                why,
            },
        })?;
        let heard = *self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let is_whole = match heard {
            Heard::Settled(settled) => settled == Digest::of(&look.bytes),
            // Files whose names begin with a dot are not watched.
            Heard::Nothing => !being_written(&self.path),
            Heard::Trouble => false,
        };
        match is_whole && look.steady {
            true => Ok(look.bytes),
            false => Err(ReadError::BeingWritten(self.path.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write;

    use super::*;

    fn watched() -> (tempfile::TempDir, PathBuf, WatchedFile) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("c.toml");
        let file = WatchedFile::start(&path, 1000).unwrap();
        (folder, path, file)
    }

    fn text(file: &WatchedFile) -> Result<String, ReadError> {
        let bytes = file.read()?;
        Ok(String::from_utf8(bytes.to_vec()).unwrap())
    }

    #[test]
    fn a_file_is_read_as_it_is_however_it_was_put_there() {
        let (folder, path, file) = watched();
        assert_eq!(text(&file), Err(ReadError::Missing(path.clone())));
        fs::write(&path, "written").unwrap();
        assert_eq!(text(&file).unwrap(), "written");
        let other = folder.path().join("other");
        fs::write(&other, "renamed").unwrap();
        fs::rename(&other, &path).unwrap();
        assert_eq!(text(&file).unwrap(), "renamed");
        fs::write(&path, "truncated and written").unwrap();
        assert_eq!(text(&file).unwrap(), "truncated and written");
        fs::write(&path, vec![b'x'; 1001]).unwrap();
        assert!(matches!(file.read(), Err(ReadError::Unreadable { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_is_swapped_leads_to_another_text() {
        use std::os::unix::fs::symlink;
        let (folder, path, file) = watched();
        for (version, held) in [("..1", "one"), ("..2", "two")] {
            let version = folder.path().join(version);
            fs::create_dir(&version).unwrap();
            fs::write(version.join("c.toml"), held).unwrap();
        }
        symlink("..1", folder.path().join("..data")).unwrap();
        symlink("..data/c.toml", &path).unwrap();
        assert_eq!(text(&file).unwrap(), "one");
        symlink("..2", folder.path().join("..new")).unwrap();
        fs::rename(folder.path().join("..new"), folder.path().join("..data")).unwrap();
        assert_eq!(text(&file).unwrap(), "two");
    }

    #[test]
    fn a_file_that_a_program_has_not_finished_is_not_read() {
        let (_folder, path, file) = watched();
        fs::write(&path, "whole").unwrap();
        assert_eq!(text(&file).unwrap(), "whole");
        let mut writer = File::create(&path).unwrap();
        writer.write_all(b"ha").unwrap();
        writer.sync_all().unwrap();
        assert_eq!(file.read(), Err(ReadError::BeingWritten(path)));
        writer.write_all(b"lf").unwrap();
        drop(writer);
        assert_eq!(text(&file).unwrap(), "half");
    }
}
