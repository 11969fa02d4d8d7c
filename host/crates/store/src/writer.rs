//! The thread that writes: it takes all that waits into one transaction, and reports
//! after the commit.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use super::apply::{Apply, Fault};
use super::change::Change;
use super::checkpoint::Checkpoints;
use super::error::StoreError;
use super::file::{self, Folder};
use super::options::{Health, StoreOptions};
use super::queue::{Queue, Submission};
use placewright_sync::{Mutex, MutexGuard};

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
    /// What keeps the last commit from being made, or the file from being read.
    pub(super) failed: Mutex<Option<Failure>>,
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
        let failed = self.failed();
        let sentence = failed.as_ref().map(|failure| failure.sentence.clone());
        sentence.map_or(Health::Works, Health::Fails)
    }

    /// A commit could be made.
    fn works(&self) {
        let passed = self.failed().take_if(|failure| !failure.lasts);
        if passed.is_some() {
            tracing::info!("the store works again");
        }
    }

    /// Something could not be read or written.
    pub(super) fn fails(&self, error: &StoreError) {
        let mut failed = self.failed();
        if failed.is_none() {
            tracing::error!(%error, "the store fails");
        }
        if !failed.as_ref().is_some_and(|failure| failure.lasts) {
            *failed = Some(Failure {
                sentence: error.to_string(),
                lasts: matches!(error, StoreError::Damaged { .. }),
            });
        }
    }

    fn failed(&self) -> MutexGuard<'_, Option<Failure>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why the store fails.
pub(super) struct Failure {
    sentence: String,
    /// What is damaged stays so, whatever else can be written.
    lasts: bool,
}

/// Write what comes in until the queue is closed and empty.
pub(super) fn run(shared: &Arc<Shared>, checkpoints: Option<Checkpoints>, options: StoreOptions) {
    let _closes = Abandons(&shared.queue);
    let mut writer = Writer {
        shared,
        checkpoints,
        apply: Apply::new(options),
        shrinks: false,
    };
    loop {
        let may_pass = shared.failed().as_ref().is_some_and(|f| !f.lasts);
        let patience = may_pass.then_some(BETWEEN_PROBES);
        match shared.queue.take(TOGETHER, patience) {
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

/// What its `done` gets.
type Outcome = Result<(), StoreError>;

/// Whether submissions that are at fault are left out of a transaction, which costs a
/// savepoint for each that it holds.
#[derive(Clone, Copy)]
enum Apart {
    Yes,
    No,
}

/// So many pages of the file are given back after one transaction, 4 MiB: the next ones
/// wait meanwhile.
const SHRINK_AT_ONCE: usize = 1024;

struct Writer<'s> {
    shared: &'s Shared,
    /// None in memory.
    checkpoints: Option<Checkpoints>,
    apply: Apply,
    /// Whether much of the file may hold nothing since artifacts were removed.
    shrinks: bool,
}

impl Writer<'_> {
    /// All in one transaction; if that cannot be committed, one by one.
    fn write(&mut self, batch: Vec<Submission>) {
        let removes = |change: &Change| matches!(change, Change::RemoveArtifact { .. });
        let mut changes = batch.iter().flat_map(|submission| &submission.changes);
        self.shrinks |= changes.any(removes);
        let bytes = batch.iter().map(|submission| submission.bytes).sum();
        let writes = batch.iter().any(Submission::writes);
        let outcomes = match self.transaction(&batch, Apart::No) {
            // Seldom, and so worth a second time and not savepoints all the time.
            Err(Fault::Refused(_)) => self.transaction(&batch, Apart::Yes),
            outcomes => outcomes,
        };
        match outcomes {
            Ok(outcomes) => {
                if writes {
                    self.shared.works();
                }
                for (submission, outcome) in batch.into_iter().zip(outcomes) {
                    submission.done.call(outcome, submission.changes);
                }
            }
            Err(_) => {
                for submission in batch {
                    self.write_alone(submission);
                }
            }
        }
        if self.shrinks {
            let shrunk = file::shrink(&self.shared.base(), SHRINK_AT_ONCE);
            // It is tried again when something is removed.
            self.shrinks = shrunk.unwrap_or(false);
        }
        if let Some(checkpoints) = &mut self.checkpoints {
            checkpoints.written(bytes, || self.shared.base());
        }
    }

    fn write_alone(&mut self, submission: Submission) {
        let outcome = self.transaction(std::slice::from_ref(&submission), Apart::No);
        let outcome = match outcome {
            Ok(_) => {
                if submission.writes() {
                    self.shared.works();
                }
                Ok(())
            }
            Err(Fault::Refused(error)) => Err(error),
            Err(Fault::Database(source)) => {
                let error = self.trouble(source);
                self.shared.fails(&error);
                return submission.done.call(Err(error), submission.changes);
            }
        };
        submission.done.call(outcome, submission.changes);
    }

    /// Whether anything can be written again: the version is put as it is.
    fn probe(&mut self) {
        let base = self.shared.base();
        let probed = base
            .pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))
            .and_then(|version| base.pragma_update(None, "user_version", version));
        drop(base);
        match probed {
            Ok(()) => self.shared.works(),
            Err(source) => self.shared.fails(&self.trouble(source)),
        }
    }

    fn trouble(&self, source: rusqlite::Error) -> StoreError {
        StoreError::of(self.shared.folder.file(), source)
    }

    /// One transaction.
    ///
    /// # Errors
    /// If nothing was committed: because a submission is at fault, unless such are kept
    /// apart, or because it cannot be.
    fn transaction(&mut self, batch: &[Submission], apart: Apart) -> Result<Vec<Outcome>, Fault> {
        let base = self.shared.base();
        let outcomes = begin(&base)
            .map_err(Fault::Database)
            .and_then(|()| self.apply_each(&base, batch, apart))
            .and_then(|outcomes| Ok(execute(&base, "COMMIT").map(|()| outcomes)?));
        if outcomes.is_err() {
            roll_back(&base);
            self.apply.forget();
        }
        outcomes
    }

    fn apply_each(
        &mut self,
        base: &Connection,
        batch: &[Submission],
        apart: Apart,
    ) -> Result<Vec<Outcome>, Fault> {
        let each = batch.iter().map(|submission| match apart {
            Apart::No => self.apply_all(base, submission).map(Ok),
            Apart::Yes => self.apply_apart(base, submission),
        });
        each.collect()
    }

    /// Leave nothing of a submission that is at fault.
    fn apply_apart(
        &mut self,
        base: &Connection,
        submission: &Submission,
    ) -> Result<Outcome, Fault> {
        execute(base, "SAVEPOINT submission")?;
        let outcome = match self.apply_all(base, submission) {
            Err(Fault::Refused(error)) => {
                execute(base, "ROLLBACK TO submission")?;
                self.apply.forget();
                Err(error)
            }
            applied => Ok(applied?),
        };
        execute(base, "RELEASE submission")?;
        Ok(outcome)
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
