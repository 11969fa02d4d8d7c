//! Copies of the store: made while it is written to, checked, and put back.
//!
//! A copy is one file, a database like the store's own, of one moment: SQLite writes it from a
//! transaction that reads (`VACUUM INTO`), beside which commits go on.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::TryLockError;

use rusqlite::Connection;

use super::error::StoreError;
use super::file::{self, Folder};
use super::schema::{self, MIGRATIONS};
use super::{Store, read};
use crate::writer::Place;

/// How the names of copies begin that are not taken away yet.
const UNDER_WAY: &str = "placewright-backup-";

/// A copy of the store, beside it and gone when this is dropped.
#[derive(Debug)]
pub struct Backup {
    file: tempfile::NamedTempFile,
}

impl Backup {
    /// The copy, to be read from its begin.
    pub fn into_file(self) -> File {
        // On Unix a file can be read without a name. Elsewhere it is removed with the next start.
        self.file.into_file()
    }
}

/// What was found in a store or in a copy of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The version of its schema.
    pub version: i64,
    /// The latest version that this program knows.
    pub known: i64,
    /// What is wrong with it, a sentence each; none: all is well.
    pub problems: Vec<String>,
    /// How many rows each table has, by name.
    pub rows: Vec<(String, u64)>,
}

impl Store {
    /// A copy of all that was committed before, made beside those who write.
    ///
    /// # Errors
    /// If another copy is being made, there is no room for it, or the file cannot be read.
    pub fn backup(&self) -> Result<Backup, StoreError> {
        let _turn = match self.0.backup.try_lock() {
            Ok(turn) => turn,
            Err(TryLockError::Poisoned(turn)) => turn.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(StoreError::BackupUnderWay),
        };
        let shared = &self.0.shared;
        let trouble = |path: &Path| {
            let path = path.to_owned();
            move |source| StoreError::Folder { path, source }
        };
        let (folder, source) = match &shared.folder {
            Place::Memory(_) => (std::env::temp_dir(), None),
            Place::Folder(folder) => {
                let parent = folder.file.parent().unwrap_or(Path::new(".")).to_owned();
                (parent, Some(&folder.file))
            }
        };
        let file = tempfile::Builder::new()
            .prefix(UNDER_WAY)
            .suffix(".db")
            .tempfile_in(&folder)
            .map_err(trouble(&folder))?;
        let copied = match source {
            None => copy(&shared.base(), file.path()),
            Some(source) => file::reader(source).and_then(|base| copy(&base, file.path())),
        };
        copied.map_err(|error| StoreError::of(file.path(), error))?;
        Ok(Backup { file })
    }
}

/// Write all that a database holds into a file that is empty or not there.
fn copy(base: &Connection, into: &Path) -> rusqlite::Result<()> {
    base.execute("VACUUM INTO ?1", [into.to_string_lossy()])?;
    Ok(())
}

/// Remove copies that a process left which was ended while it made them.
pub(super) fn tidy(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(UNDER_WAY)
            && let Err(error) = fs::remove_file(entry.path())
        {
            let file = entry.path();
            tracing::warn!(file = %file.display(), %error, "cannot remove an unfinished copy of the store");
        }
    }
}

/// Look whether a store, or a copy of one, is whole: its pages, its indexes, what refers to what,
/// and that a server can read what it starts from. `path` is the file, or the folder of data. A
/// server may be writing meanwhile.
///
/// # Errors
/// If there is no such file, it is a database of another program, or of a later version than this
/// program knows.
pub fn check(path: &Path) -> Result<Checked, StoreError> {
    let file = file_of(path);
    if let Err(source) = File::open(&file) {
        return Err(StoreError::NoStore { file, source });
    }
    let trouble = |source| StoreError::of(&file, source);
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    let opened = file::reader(&file).map_err(trouble);
    let opened = opened.and_then(|base| Ok((schema::version(&base, &file)?, base)));
    let (version, base) = match opened {
        Ok(opened) => opened,
        // Not even its first page is one of a database: a copy that was cut short, for example.
        Err(StoreError::Damaged { source, .. }) => {
            return Ok(Checked {
                version: 0,
                known,
                problems: vec![source.to_string()],
                rows: Vec::new(),
            });
        }
        Err(error) => return Err(error),
    };
    if version > known {
        return Err(StoreError::Newer {
            file,
            found: version,
            known,
        });
    }
    let mut checked = Checked {
        version,
        known,
        problems: Vec::new(),
        rows: Vec::new(),
    };
    if version == 0 {
        checked.problems.push("it holds nothing".to_owned());
        return Ok(checked);
    }
    match look(&base, &mut checked).map_err(trouble) {
        Ok(()) => Ok(checked),
        // What is damaged enough cannot even be looked through.
        Err(StoreError::Damaged { source, .. }) => {
            checked.problems.push(source.to_string());
            Ok(checked)
        }
        Err(error) => Err(error),
    }
}

/// Look through a store, at one state of it.
fn look(base: &Connection, checked: &mut Checked) -> rusqlite::Result<()> {
    let state = base.unchecked_transaction()?;
    checked.problems.extend(complaints(&state)?);
    if !checked.problems.is_empty() {
        return Ok(());
    }
    if checked.version == checked.known {
        readable(&state)?;
    }
    checked.rows = rows(&state)?;
    Ok(())
}

/// The database of a folder, or the file that is named.
fn file_of(path: &Path) -> PathBuf {
    match path.is_dir() {
        true => path.join(file::FILE),
        false => path.to_owned(),
    }
}

/// What SQLite finds wrong: pages, indexes, and rows that refer to others that are not there.
fn complaints(base: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut check = base.prepare("PRAGMA integrity_check")?;
    let lines = check.query_map((), |row| row.get::<_, String>(0))?;
    let mut problems: Vec<String> = lines.collect::<Result<_, _>>()?;
    problems.retain(|line| line != "ok");
    let mut check = base.prepare("PRAGMA foreign_key_check")?;
    let lines = check.query_map((), |row| {
        let (table, of): (String, String) = (row.get(0)?, row.get(2)?);
        Ok(format!(
            "a row of {table} refers to one of {of} that is not there"
        ))
    })?;
    for line in lines {
        problems.push(line?);
    }
    Ok(problems)
}

/// Read what a server reads when it starts.
fn readable(base: &Connection) -> rusqlite::Result<()> {
    let saved = read::saved(base)?;
    for cluster in &saved.clusters {
        read::inventory(base, &cluster.name)?;
        read::plans(base, &cluster.name)?;
        read::answers(base, &cluster.name, u64::MAX)?;
        read::ended_reservations(base, &cluster.name)?;
    }
    Ok(())
}

fn rows(base: &Connection) -> rusqlite::Result<Vec<(String, u64)>> {
    let mut tables = base.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    )?;
    let tables = tables.query_map((), |row| row.get::<_, String>(0))?;
    let mut rows = Vec::new();
    for table in tables {
        let table = table?;
        let count = format!("SELECT count(*) FROM \"{table}\"");
        let count: i64 = base.query_row(&count, (), |row| row.get(0))?;
        rows.push((table, u64::try_from(count).unwrap_or(0)));
    }
    Ok(rows)
}

/// Put a copy in the place of the store of a folder, which is made if it is missing. A store that
/// is there already is only replaced with `replace`, and is kept beside the new one; gives where.
///
/// # Errors
/// If a server uses the folder, the copy is damaged or of a later version, there is a store
/// already, or the folder cannot be written to. Then the folder is as it was.
pub fn restore(
    copy_of: &Path,
    folder: &Path,
    replace: bool,
) -> Result<Option<PathBuf>, StoreError> {
    let checked = check(copy_of)?;
    if let Some(problem) = checked.problems.first() {
        return Err(StoreError::Unsound {
            file: copy_of.to_owned(),
            problem: problem.clone(),
        });
    }
    let refused = |path: &Path| {
        let path = path.to_owned();
        move |source| StoreError::Folder { path, source }
    };
    let folder = Folder::open(folder)?;
    let there = &folder.file;
    let is_used = fs::metadata(there).is_ok_and(|it| it.len() > 0);
    if is_used && !replace {
        return Err(StoreError::NotEmpty {
            file: there.clone(),
        });
    }
    let home = there.parent().unwrap_or(Path::new("."));
    let new = tempfile::Builder::new()
        .prefix(UNDER_WAY)
        .suffix(".db")
        .tempfile_in(home)
        .map_err(refused(home))?;
    let source = file_of(copy_of);
    file::reader(&source)
        .and_then(|base| copy(&base, new.path()))
        .map_err(|error| StoreError::of(new.path(), error))?;
    new.as_file().sync_all().map_err(refused(new.path()))?;
    let mut kept = None;
    if is_used {
        // A store and its log belong together: what is kept has all of it in one file.
        let old = free_name(there);
        fold_in(there)?;
        fs::rename(there, &old).map_err(refused(there))?;
        kept = Some(old);
    }
    for beside in ["-wal", "-shm"] {
        let mut name = there.clone().into_os_string();
        name.push(beside);
        // They are of what was there before, and hold nothing any more.
        let _ = fs::remove_file(PathBuf::from(name));
    }
    let placed = new.persist(there);
    placed.map_err(|error| refused(there)(error.error))?;
    File::open(home)
        .and_then(|home| home.sync_all())
        .map_err(refused(home))?;
    Ok(kept)
}

/// Have the log of a store that nobody uses folded into its file.
fn fold_in(file: &Path) -> Result<(), StoreError> {
    let fold = || {
        let base = file::checkpointer(file)?;
        base.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))
    };
    match fold().map_err(|source| StoreError::of(file, source)) {
        // What is damaged is kept as it is.
        Err(StoreError::Damaged { .. }) | Ok(()) => Ok(()),
        Err(error) => Err(error),
    }
}

/// A name beside a file that is not taken.
fn free_name(file: &Path) -> PathBuf {
    let numbered =
        (1_u32..).map(|number| file.with_extension(format!("before-restore-{number}.db")));
    let mut free = numbered.filter(|name| !name.exists());
    // There is one among so many.
    free.next()
        .unwrap_or_else(|| file.with_extension("before-restore.db"))
}
