//! What can go wrong with the file, and what a person can do about it.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Why something was not kept, or could not be read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The data folder cannot be made or written to.
    #[error(
        "cannot use {path} for the data: {source}; give this user the right to read and write there, or name another data folder"
    )]
    Folder {
        /// The folder, or a file in it.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Another process has the folder open.
    #[error(
        "{folder} is in use by another server{holder}; stop that one, or name another data folder"
    )]
    InUse {
        /// The data folder.
        folder: PathBuf,
        /// The process, where it is known: ` (process 123)`.
        holder: String,
    },
    /// The file is a database of some other program.
    #[error("{file} is a database, but not one of placewright; name another data folder")]
    Foreign {
        /// The file.
        file: PathBuf,
    },
    /// The file was written by a later version of this program.
    #[error(
        "{file} has version {found}, and this program knows versions up to {known}; use the program that wrote it or a later one"
    )]
    Newer {
        /// The file.
        file: PathBuf,
        /// The version of the file's schema.
        found: i64,
        /// The latest version that this program knows.
        known: i64,
    },
    /// The file does not hold what a database must hold.
    #[error(
        "{file} is damaged: {source}; stop the server, then put back a copy of the data folder, or move the file away with those that begin with its name to start empty"
    )]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// There is no store to be looked at.
    #[error("cannot read {file}: {source}; name a copy of a store, or a folder of data")]
    NoStore {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is a store, and something is wrong in it.
    #[error("{file} is damaged: {problem}; use another copy")]
    Unsound {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A copy was to be put where a store is.
    #[error(
        "there is a store already: {file}; name another data folder, or say that it is to be replaced (--replace)"
    )]
    NotEmpty {
        /// The file.
        file: PathBuf,
    },
    /// A copy of the store is being made.
    #[error("another copy of the store is being made; try again when it is there")]
    BackupUnderWay,
    /// No room is left for what was to be written.
    #[error("no room is left for {file}: {source}; free room on its disk, nothing more is needed")]
    Full {
        /// The file.
        file: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// Reading or writing failed in some other way.
    #[error("cannot use {file}: {source}; {advice}")]
    Failed {
        /// The file.
        file: PathBuf,
        /// What to look at.
        advice: &'static str,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// A change belongs to a cluster that is not kept.
    #[error("cluster \"{0}\" is not in the store; put it before what belongs to it")]
    UnknownCluster(String),
    /// A number is above what a row can hold.
    #[error("{what} {number} is too large to be stored; the most is {}", i64::MAX)]
    TooLarge {
        /// What is counted.
        what: &'static str,
        /// The number.
        number: u64,
    },
    /// A body is longer than a row can be.
    #[error("{what} is too long to be stored: {source}; make it shorter")]
    TooLong {
        /// The kind of change.
        what: &'static str,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// The thread that writes cannot be started.
    #[error("cannot start the thread that writes to the store: {0}; raise the limit of threads")]
    Thread(#[source] io::Error),
    /// The thread that writes has ended, which is a defect of this program.
    #[error("the store takes no more changes, since its writer has ended; restart the server")]
    Stopped,
    /// [`Store::commit`](super::Store::commit) was called where it would wait for itself.
    #[error(
        "a change was to be waited for where earlier ones are reported; submit it without waiting"
    )]
    WaitsForItself,
}

impl StoreError {
    /// What an error of SQLite with `file` means.
    pub(super) fn of(file: &Path, source: rusqlite::Error) -> Self {
        let file = file.to_owned();
        let advice = match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                return Self::Damaged { file, source };
            }
            Some(ErrorCode::DiskFull) => return Self::Full { file, source },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                "another program holds a lock on it; close that program"
            }
            Some(ErrorCode::PermissionDenied | ErrorCode::ReadOnly | ErrorCode::CannotOpen) => {
                "give this user the right to read and write it, and the folder that it is in"
            }
            Some(ErrorCode::SystemIoFailure) => {
                "look for errors of its disk, whether its file system can be written to, and whether its folder is still there"
            }
            Some(ErrorCode::OutOfMemory) => "give the server more memory",
            _ => "restart the server; if it happens again, it is a defect of this program",
        };
        Self::Failed {
            file,
            advice,
            source,
        }
    }

    /// Whether the change itself was at fault, and not the store.
    pub fn refuses_change(&self) -> bool {
        matches!(
            self,
            Self::UnknownCluster(_)
                | Self::TooLarge { .. }
                | Self::TooLong { .. }
                | Self::WaitsForItself
        )
    }
}
