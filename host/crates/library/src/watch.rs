//! Watches a folder and tells what is in its files once that has settled.
//!
//! Contents count and never events: whatever happens leads to a scan, and a scan
//! every few seconds finds what no event told of. [`Folder`] is the part without
//! threads and clock, [`Watcher`] runs it.
//!
//! A file is read at once when it changes. If it is the same before and after
//! it is read, and whole by the word of who asks for it, it is told of right away:
//! a unit that was renamed into its place waits for nothing. What is not whole, as
//! while it is being written, is looked at again at each change, and told of as
//! it is only when it has not changed for [`Options::settle`] and, where the system
//! tells of that, nobody who has written it has it open.

mod folder;
mod known;
mod look;
mod open;
mod single;
mod watcher;
mod ways;
mod writers;

#[cfg(test)]
mod tests;

pub use folder::Folder;
pub use open::being_written;
pub use single::{ReadError, WatchedFile};
pub use watcher::{Bell, WatchError, Watcher};

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use placewright_engine::unit::Digest;

/// What to watch a folder for.
#[derive(Debug, Clone)]
pub struct Options {
    /// Endings of the names of files, such as `.wasm`. Names that begin with a dot
    /// are left alone: programs give them to what they have not finished.
    pub endings: Vec<String>,
    /// The ending of a file beside it that belongs to a file, added to its whole
    /// name: `.sig` for `a.wasm.sig`.
    pub beside: Option<String>,
    /// The greatest size of a file in bytes.
    pub most_bytes: usize,
    /// How long a file that is not whole must be quiet to be told of as it is, and
    /// one that is missing to be told of as gone.
    pub settle: Duration,
    /// How often the folder is looked at though nothing was heard of.
    pub rescan: Duration,
    /// How often all files are read though the system says that they are as before.
    pub reread: Duration,
}

impl Options {
    /// To watch for units and their signatures.
    pub fn units(most_bytes: usize) -> Self {
        Self {
            endings: vec![".wasm".to_owned()],
            beside: Some(".sig".to_owned()),
            settle: Duration::from_millis(200),
            ..Self::policies(most_bytes)
        }
    }

    /// To watch for policies. Nothing shows that a document is whole: it settles longer than a
    /// unit does.
    pub fn policies(most_bytes: usize) -> Self {
        Self {
            endings: vec![".toml".to_owned(), ".json".to_owned()],
            beside: None,
            most_bytes,
            settle: Duration::from_millis(500),
            rescan: Duration::from_secs(2),
            reread: Duration::from_secs(60),
        }
    }
}

/// What a file holds.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Where it is, below the folder as it was named.
    pub path: PathBuf,
    /// All of it.
    pub bytes: Arc<[u8]>,
    /// The digest of the bytes.
    pub digest: Digest,
    /// What the file beside it holds, if there is one.
    pub beside: Option<Arc<[u8]>>,
    /// Whether it has not changed for the time to settle; if not, it was found to
    /// be whole.
    pub settled: bool,
}

/// What was told of a file, without what it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// Where it is.
    pub path: PathBuf,
    /// The digest of its bytes.
    pub digest: Digest,
    /// The digest of what the file beside it holds, if there is one.
    pub beside: Option<Digest>,
    /// Whether it had settled.
    pub settled: bool,
}

impl Seen {
    /// What was told of it, without what it holds.
    pub fn told(&self) -> Told {
        Told {
            path: self.path.clone(),
            digest: self.digest,
            beside: self.beside.as_deref().map(Digest::of),
            settled: self.settled,
        }
    }
}

impl Told {
    /// Read the file again. None if it does not hold what was told of it any more, or is
    /// being changed.
    pub fn read(&self, options: &Options) -> Option<Seen> {
        let pair = look::both(&self.path, options, |_| true).ok()??;
        let same = pair.steady() && pair.content == (self.digest, self.beside);
        same.then(|| pair.seen(&self.path, self.settled))
    }
}

/// What became of a file or the folder.
#[derive(Debug, Clone)]
pub enum Change {
    /// It is new, holds something else, or can be read again.
    Seen(Seen),
    /// It is not there any more.
    Gone {
        /// Where it was.
        path: PathBuf,
    },
    /// Nothing can be told of what it holds. What it held before is not touched.
    Trouble {
        /// The file.
        path: PathBuf,
        /// What is the matter with it, after "it".
        why: String,
    },
    /// The folder cannot be listed. What its files held is not touched.
    Unlisted {
        /// The folder.
        path: PathBuf,
        /// What is the matter with it, after "it".
        why: String,
    },
}

impl Change {
    /// The file or folder that it is about.
    pub fn path(&self) -> &Path {
        match self {
            Self::Seen(seen) => &seen.path,
            Self::Gone { path } | Self::Trouble { path, .. } | Self::Unlisted { path, .. } => path,
        }
    }
}

/// What a scan found.
#[derive(Debug, Default)]
pub struct Scan {
    /// What is new, by path.
    pub changes: Vec<Change>,
    /// When to scan again at the latest, if something has not settled.
    pub next: Option<Instant>,
}

impl Scan {
    fn again_at(&mut self, at: Instant) {
        self.next = Some(self.next.map_or(at, |next| next.min(at)));
    }
}
