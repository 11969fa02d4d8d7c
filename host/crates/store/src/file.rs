//! The data folder: made, locked, and its database opened.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use super::error::StoreError;
use super::options::{Durability, StoreOptions};
use super::schema::{self, MIGRATIONS};
use placewright_ownership as ownership;

/// The database in the data folder.
pub(super) const FILE: &str = "placewright.db";
/// Held by the process that uses the folder.
const LOCK: &str = "placewright.lock";

/// How long the folder of a process is waited for that is just ending.
const PREDECESSOR: Duration = Duration::from_millis(500);

/// How often it is looked whether it has ended.
const AGAIN: Duration = Duration::from_millis(10);

/// How long to wait for a program that looks into the file from outside.
const PATIENCE: Duration = Duration::from_secs(5);

/// The writer's pages in memory, in KiB and negative as SQLite wants it: enough for
/// what changes often.
const CACHE: i64 = -8_192;

/// How many bytes of the log are kept to be written over: as long as it gets when all
/// goes well.
const LOG: i64 = 32 << 20;

/// Statements kept ready, more than there are.
const STATEMENTS: usize = 64;

/// A folder that this process alone uses, until this is dropped.
#[derive(Debug)]
pub(super) struct Folder {
    /// The database.
    pub(super) file: PathBuf,
    pub(super) lock: File,
}

impl Folder {
    /// Make the folder if it is missing, for this user alone, and lock it.
    pub(super) fn open(folder: &Path) -> Result<Self, StoreError> {
        let refused = |path: &Path| {
            let path = path.to_owned();
            move |source| StoreError::Folder { path, source }
        };
        create_private(folder).map_err(refused(folder))?;
        let path = folder.join(LOCK);
        let lock = lock(&path).map_err(refused(&path))?;
        let Some(lock) = lock else {
            return Err(StoreError::InUse {
                folder: folder.to_owned(),
                holder: holder(&path),
            });
        };
        let file = folder.join(FILE);
        // SQLite gives the files beside it the same rights.
        open_private(&file).map_err(refused(&file))?;
        Ok(Self { file, lock })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // To close the file is not enough while a process that was just forked from
        // this one, to run another program, has it open too.
        let _ = self.lock.unlock();
    }
}

fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Open for reading and writing; a new file is for this user alone.
fn open_private(file: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // What a link leads to would be cut off or written over.
    ownership::no_links(&mut options);
    let is_link = || {
        file.symlink_metadata()
            .is_ok_and(|found| found.is_symlink())
    };
    let opened = options.open(file).map_err(|error| match is_link() {
        true => io::Error::other("it is a link, and must be a file"),
        false => error,
    })?;
    ownership::check_file(&opened)?;
    Ok(opened)
}

/// The locked file, or nothing if another process holds it.
fn lock(path: &Path) -> io::Result<Option<File>> {
    let mut file = open_private(path)?;
    let until = Instant::now() + PREDECESSOR;
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if Instant::now() < until => thread::sleep(AGAIN),
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    // Only for whoever is refused, and so of no weight if it fails.
    let _ = file
        .set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| write!(file, "{}", std::process::id()));
    Ok(Some(file))
}

/// Who holds the lock, as it wrote there itself.
fn holder(path: &Path) -> String {
    let mut text = String::new();
    let read = fs::File::open(path).and_then(|file| file.take(20).read_to_string(&mut text));
    match (read, text.trim().parse::<u32>()) {
        (Ok(_), Ok(process)) => format!(" (process {process})"),
        _ => String::new(),
    }
}

/// Open the database for the writer, of the last version.
pub(super) fn writer(file: &Path, options: &StoreOptions) -> Result<Connection, StoreError> {
    let trouble = |source| StoreError::of(file, source);
    let mut base = Connection::open_with_flags(file, flags(true)).map_err(trouble)?;
    set_up_writer(&base, options).map_err(trouble)?;
    schema::migrate(&mut base, file, MIGRATIONS)?;
    shrinkable(&base).map_err(trouble)?;
    Ok(base)
}

/// SQLite's word for a file that gives room back when it is asked to.
const SHRINKS: &str = "incremental";

/// Have a file that an earlier version has made give room back, which takes as long as
/// writing it anew, once.
fn shrinkable(base: &Connection) -> rusqlite::Result<()> {
    let mode: i64 = base.pragma_query_value(None, "auto_vacuum", |row| row.get(0))?;
    if mode != 0 {
        return Ok(());
    }
    base.pragma_update(None, "auto_vacuum", SHRINKS)?;
    base.execute_batch("VACUUM")
}

/// Give pages of the file back that hold nothing, at most so many. Whether there are more.
pub(super) fn shrink(base: &Connection, pages: usize) -> rusqlite::Result<bool> {
    let mut shrink = base.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
    let mut rows = shrink.query(())?;
    while rows.next()?.is_some() {}
    let free: i64 = base.pragma_query_value(None, "freelist_count", |row| row.get(0))?;
    Ok(free > FREE)
}

/// So many pages that hold nothing are left to be used again.
const FREE: i64 = 256;

fn set_up_writer(base: &Connection, options: &StoreOptions) -> rusqlite::Result<()> {
    base.busy_timeout(PATIENCE)?;
    base.set_prepared_statement_cache_capacity(STATEMENTS);
    // Heeded as long as the file is empty.
    base.pragma_update(None, "auto_vacuum", SHRINKS)?;
    base.pragma_update(None, "journal_mode", "wal")?;
    let synchronous = match options.durability {
        Durability::Process => "normal",
        Durability::Power => "full",
    };
    base.pragma_update(None, "synchronous", synchronous)?;
    base.pragma_update(None, "temp_store", "memory")?;
    base.pragma_update(None, "cache_size", CACHE)?;
    base.pragma_update(None, "journal_size_limit", LOG)?;
    // `checkpoint` does that, beside the writer.
    base.pragma_update(None, "wal_autocheckpoint", 0)?;
    Ok(())
}

/// Open the database once more, to fold the log into it.
pub(super) fn checkpointer(file: &Path) -> rusqlite::Result<Connection> {
    let base = Connection::open_with_flags(file, flags(true))?;
    base.busy_timeout(PATIENCE)?;
    Ok(base)
}

/// Open the database once more, to read what was committed.
pub(super) fn reader(file: &Path) -> rusqlite::Result<Connection> {
    let base = Connection::open_with_flags(file, flags(false))?;
    base.busy_timeout(PATIENCE)?;
    base.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(base)
}

/// A database that is nowhere but in memory.
pub(super) fn in_memory(file: &Path) -> Result<Connection, StoreError> {
    let mut base = Connection::open_in_memory().map_err(|source| StoreError::of(file, source))?;
    base.set_prepared_statement_cache_capacity(STATEMENTS);
    schema::migrate(&mut base, file, MIGRATIONS)?;
    Ok(base)
}

/// Without SQLite's own mutexes: a connection is used by one thread at a time.
fn flags(write: bool) -> OpenFlags {
    let access = if write {
        OpenFlags::SQLITE_OPEN_READ_WRITE
    } else {
        OpenFlags::SQLITE_OPEN_READ_ONLY
    };
    access | OpenFlags::SQLITE_OPEN_NO_MUTEX
}
