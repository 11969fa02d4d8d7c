//! The thread that writes: it takes all that waits into one transaction, and reports
//! after the commit.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use super::apply::{Apply, Fault};
use super::error::StoreError;
use super::file::Folder;
use super::queue::{Queue, Submission};
use super::{Health, StoreOptions};

/// How much is written in one transaction, in bytes of changes: what SQLite writes in
/// some ten milliseconds, so that nobody waits for much longer than that.
const TOGETHER: usize = 1 << 20;

/// How often to try whether a failed store works again.
const BETWEEN_PROBES: Duration = Duration::from_secs(1);

/// What the writer and the handles have in common.
pub(super) struct Shared {
    pub(super) queue: Queue,
    /// Held for a transaction at a time. Those who read have their own connections,
    /// except from a database in memory.
    pub(super) base: Mutex<Connection>,
    /// What keeps the last commit from being made.
    pub(super) failed: Mutex<Option<String>>,
    /// The file, as errors name it.
    pub(super) folder: Place,
}

/// Where the database is. Dropped after the connection, so that the lock outlasts it.
pub(super) enum Place {
    Memory(std::path::PathBuf),
    Folder(Folder),
}

impl Place {
    pub(super) fn file(&self) -> &std::path::Path {
        match self {
            Self::Memory(name) => name,
            Self::Folder(folder) => &folder.file,
        }
    }
}

impl Shared {
    pub(super) fn base(&self) -> MutexGuard<'_, Connection> {
        // A transaction that a panic has left open is undone by the next one.
        self.base.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn health(&self) -> Health {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.clone().map_or(Health::Works, Health::Fails)
    }

    fn set_health(&self, outcome: Result<(), &StoreError>) {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        match (&*failed, outcome) {
            (None, Err(error)) => tracing::error!(%error, "the store fails"),
            (Some(_), Ok(())) => tracing::info!("the store works again"),
            _ => {}
        }
        *failed = outcome.err().map(ToString::to_string);
    }
}

/// Write what comes in until the queue is closed and empty.
pub(super) fn run(shared: &Arc<Shared>, options: StoreOptions) {
    let _closes = Abandons(&shared.queue);
    let mut writer = Writer {
        shared,
        apply: Apply::new(options),
    };
    loop {
        let fails = shared.health() != Health::Works;
        match shared.queue.take(TOGETHER, fails.then_some(BETWEEN_PROBES)) {
            Some(batch) if batch.is_empty() => writer.probe(),
            Some(batch) => writer.write(batch),
            None => return,
        }
    }
}

/// Nobody waits for a writer that has ended, even if by a panic.
struct Abandons<'q>(&'q Queue);

impl Drop for Abandons<'_> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

struct Writer<'s> {
    shared: &'s Shared,
    apply: Apply,
}

impl Writer<'_> {
    /// All in one transaction; if that cannot be committed, one by one.
    fn write(&mut self, batch: Vec<Submission>) {
        match self.transaction(&batch) {
            Ok(outcomes) => {
                self.shared.set_health(Ok(()));
                for (submission, outcome) in batch.into_iter().zip(outcomes) {
                    submission.done.call(outcome);
                }
            }
            Err(_) => {
                for submission in batch {
                    self.write_alone(submission);
                }
            }
        }
    }

    fn write_alone(&mut self, submission: Submission) {
        let outcome = self.transaction(std::slice::from_ref(&submission));
        let outcome = outcome.and_then(|mut outcomes| outcomes.pop().unwrap_or(Ok(())));
        match &outcome {
            Err(error) if !error.refuses_change() => self.shared.set_health(Err(error)),
            _ => self.shared.set_health(Ok(())),
        }
        submission.done.call(outcome);
    }

    /// Whether anything can be written again: the version is put as it is.
    fn probe(&mut self) {
        let base = self.shared.base();
        let probed = base
            .pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))
            .and_then(|version| base.pragma_update(None, "user_version", version));
        drop(base);
        let probed = probed.map_err(|source| self.trouble(source));
        self.shared.set_health(probed.as_ref().copied());
    }

    fn trouble(&self, source: rusqlite::Error) -> StoreError {
        StoreError::of(self.shared.folder.file(), source)
    }

    /// One transaction, from which submissions that are themselves at fault are left
    /// out.
    ///
    /// # Errors
    /// If nothing was committed.
    fn transaction(
        &mut self,
        batch: &[Submission],
    ) -> Result<Vec<Result<(), StoreError>>, StoreError> {
        let base = self.shared.base();
        let outcomes = begin(&base)
            .and_then(|()| self.apply_each(&base, batch))
            .and_then(|outcomes| execute(&base, "COMMIT").map(|()| outcomes));
        outcomes.map_err(|source| {
            roll_back(&base);
            self.apply.forget();
            self.trouble(source)
        })
    }

    fn apply_each(
        &mut self,
        base: &Connection,
        batch: &[Submission],
    ) -> rusqlite::Result<Vec<Result<(), StoreError>>> {
        let mut outcomes = Vec::with_capacity(batch.len());
        for submission in batch {
            execute(base, "SAVEPOINT submission")?;
            let outcome = match self.apply_all(base, submission) {
                Ok(()) => Ok(()),
                Err(Fault::Refused(error)) => {
                    execute(base, "ROLLBACK TO submission")?;
                    self.apply.forget();
                    Err(error)
                }
                Err(Fault::Database(error)) => return Err(error),
            };
            execute(base, "RELEASE submission")?;
            outcomes.push(outcome);
        }
        Ok(outcomes)
    }

    fn apply_all(&mut self, base: &Connection, submission: &Submission) -> Result<(), Fault> {
        let mut changes = submission.changes.iter();
        changes.try_for_each(|change| self.apply.apply(base, change))
    }
}

fn begin(base: &Connection) -> rusqlite::Result<()> {
    if !base.is_autocommit() {
        roll_back(base);
    }
    execute(base, "BEGIN IMMEDIATE")
}

/// Undo what SQLite has not undone itself.
fn roll_back(base: &Connection) {
    if !base.is_autocommit()
        && let Err(error) = execute(base, "ROLLBACK")
    {
        tracing::error!(%error, "cannot roll back");
    }
}

fn execute(base: &Connection, sql: &str) -> rusqlite::Result<()> {
    base.prepare_cached(sql)?.execute(()).map(|_| ())
}
