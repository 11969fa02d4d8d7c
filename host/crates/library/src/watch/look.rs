//! One look at a file: what the system says of it, and what is in it.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use bytesize::ByteSize;

use super::{Options, Seen};
use placewright_engine::unit::Digest;

/// What the system says of a file. Two equal stamps do not prove equal contents:
/// a clock that ticks every few milliseconds misses a second write within one tick.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    /// Device, inode, and when the inode changed, which no program can set.
    #[cfg(unix)]
    inode: (u64, u64, i64, i64),
}

impl Stamp {
    fn of(file: &Metadata) -> Self {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt;
        Self {
            bytes: file.len(),
            modified: file.modified().ok(),
            #[cfg(unix)]
            inode: (file.dev(), file.ino(), file.ctime(), file.ctime_nsec()),
        }
    }
}

/// Why there is nothing to be had from a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoLook {
    /// It is not there, or a link leads nowhere.
    Missing,
    /// It is there and cannot be read.
    Unreadable(String),
}

impl From<io::Error> for NoLook {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing,
            _ => Self::Unreadable(error.to_string()),
        }
    }
}

/// The stamp of the file that `path` leads to.
pub(super) fn stamp(path: &Path) -> Result<Stamp, NoLook> {
    let file = fs::metadata(path)?;
    // To open a pipe would wait for a writer.
    if !file.is_file() {
        return Err(NoLook::Unreadable(NO_FILE.to_owned()));
    }
    Ok(Stamp::of(&file))
}

/// The contents of a file, as they were at one moment.
#[derive(Debug, Clone)]
pub(super) struct Look {
    pub(super) bytes: Arc<[u8]>,
    pub(super) stamp: Stamp,
    /// Whether the file was the same, by its stamp, before and after it was read.
    pub(super) steady: bool,
}

/// Open what `path` leads to, if it is a file. It may have become something else since its
/// stamp was taken: nothing is waited for that a pipe or a device would have us wait for.
fn open(path: &Path) -> Result<File, NoLook> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        // Links are followed: mounted config maps are made of them.
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    }
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(NoLook::Unreadable(NO_FILE.to_owned()));
    }
    Ok(file)
}

const NO_FILE: &str = "it is not a file";

/// Read the file, of at most so many bytes.
pub(super) fn read(path: &Path, most: usize) -> Result<Look, NoLook> {
    stamp(path)?;
    let mut file = open(path)?;
    let before = Stamp::of(&file.metadata()?);
    let most = most as u64;
    let refuse = |bytes: u64| {
        let shown = |bytes: u64| ByteSize(bytes).display().iec();
        let why = format!("it has {} and the limit is {}", shown(bytes), shown(most));
        Err(NoLook::Unreadable(why))
    };
    if before.bytes > most {
        return refuse(before.bytes);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(before.bytes).unwrap_or_default() + 1);
    // One byte more than allowed tells of a file that grows meanwhile.
    file.by_ref().take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return refuse(bytes.len() as u64);
    }
    // By the path and not by the open file: another one may stand there by now.
    let steady = stamp(path)? == before && bytes.len() as u64 == before.bytes;
    Ok(Look {
        bytes: bytes.into(),
        stamp: before,
        steady,
    })
}

/// Stamps of a file and the one beside it.
pub(super) type Stamps = (Stamp, Option<Stamp>);

/// Digests of a file and the one beside it.
pub(super) type Content = (Digest, Option<Digest>);

/// What was read of a file and the one beside it.
pub(super) struct Pair {
    pub(super) main: Look,
    beside: Option<Look>,
    pub(super) content: Content,
}

impl Pair {
    pub(super) fn steady(&self) -> bool {
        self.main.steady && self.beside.as_ref().is_none_or(|beside| beside.steady)
    }

    pub(super) fn stamps(&self) -> Stamps {
        let beside = self.beside.as_ref();
        (
            self.main.stamp.clone(),
            beside.map(|look| look.stamp.clone()),
        )
    }

    pub(super) fn seen(&self, path: &Path, settled: bool) -> Seen {
        Seen {
            path: path.to_owned(),
            bytes: self.main.bytes.clone(),
            digest: self.content.0,
            beside: self.beside.as_ref().map(|beside| beside.bytes.clone()),
            settled,
        }
    }
}

/// Read a file and the one beside it, if by their stamps there is need.
pub(super) fn both(
    path: &Path,
    options: &Options,
    need: impl FnOnce(&Stamps) -> bool,
) -> Result<Option<Pair>, NoLook> {
    let beside = options.beside.as_ref().map(|ending| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    });
    let stamps = (stamp(path)?, optional(beside.as_deref().map(stamp))?);
    if !need(&stamps) {
        return Ok(None);
    }
    let main = read(path, options.most_bytes)?;
    let beside = optional(beside.map(|path| read(&path, options.most_bytes)))?;
    let digest_of = |look: &Look| Digest::of(&look.bytes);
    let content = (digest_of(&main), beside.as_ref().map(digest_of));
    Ok(Some(Pair {
        main,
        beside,
        content,
    }))
}

/// What need not be there is nothing when it is missing.
fn optional<T>(found: Option<Result<T, NoLook>>) -> Result<Option<T>, NoLook> {
    match found {
        None | Some(Err(NoLook::Missing)) => Ok(None),
        Some(found) => found.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_whole_with_its_stamp() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        assert_eq!(read(&path, 10).unwrap_err(), NoLook::Missing);
        fs::write(&path, "0123456789").unwrap();
        let look = read(&path, 10).unwrap();
        assert_eq!(&*look.bytes, b"0123456789");
        assert!(look.steady);
        assert_eq!(look.stamp, stamp(&path).unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_that_takes_the_place_of_a_file_is_not_waited_for() {
        use std::sync::mpsc;
        use std::time::Duration;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.wasm");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let pipe = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &path, pipe, mode, 0).unwrap();
        // As if it had been a file when its stamp was taken.
        let (opened, outcome) = mpsc::channel();
        std::thread::spawn(move || opened.send(open(&path).map(drop)));
        let outcome = outcome.recv_timeout(Duration::from_secs(30)).unwrap();
        let no_file = NoLook::Unreadable(NO_FILE.to_owned());
        assert_eq!(outcome, Err(no_file));
    }

    #[test]
    fn what_is_too_large_or_no_file_is_said_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "0123456789").unwrap();
        let NoLook::Unreadable(why) = read(&path, 9).unwrap_err() else {
            panic!("it is there");
        };
        assert_eq!(why, "it has 10 B and the limit is 9 B");
        let NoLook::Unreadable(why) = read(folder.path(), 9).unwrap_err() else {
            panic!("it is there");
        };
        assert_eq!(why, "it is not a file");
    }
}
