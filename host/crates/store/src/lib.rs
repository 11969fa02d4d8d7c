//! What must last of a running deployment, in one SQLite file in the data folder.
//!
//! Bodies are JSON text or bytes that the deployment makes and reads; the store knows
//! what belongs together and what it is found by. One thread writes: it takes all
//! that waits into one transaction and reports after the commit, so that many small
//! submissions cost little more than one. Reads go beside it, on what was committed.
//!
//! - [`Change`]: what can be written. Those of one submission are kept all or none.
//! - [`Saved`], [`SavedInventory`] and the rest of what is read back.
//! - [`StoreError`]: what went wrong, and what to do.
//!
//! Read [`Store`], [`Change`] and [`Saved`] first.

#![forbid(unsafe_code)]

mod apply;
mod backup;
mod change;
mod checkpoint;
mod error;
mod file;
mod options;
mod past;
mod queue;
mod read;
mod readers;
mod saved;
mod schema;
#[cfg(test)]
mod tests;
mod writer;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;

pub use backup::{Backup, Checked, check, restore};
pub use change::{
    Change, CopyTurn, Counters, GroupRow, HostRow, MeasuredRow, TenantRow, UnitEvent, VmRow,
};
pub use error::StoreError;
pub use options::{Durability, Health, StoreOptions};
pub use saved::{
    Gone, PolicyRevision, Recorded, RecordedChange, RowKind, Saved, SavedAnswer, SavedAnswers,
    SavedArtifact, SavedCluster, SavedDecision, SavedEndedReservation, SavedInventory, SavedPast,
    SavedPlan, SavedSignature, SavedUnit, Then,
};

use apply::limit;
use checkpoint::Checkpoints;
use file::Folder;
use placewright_sync::thread::{self, JoinHandle};
use placewright_sync::{Mutex, mpsc};
use queue::{Done, Queue, Submission};
use readers::Readers;
use writer::{Place, Shared};

/// How many bytes of changes may wait for the writer: seconds of its work, and little
/// enough to be lost with the process.
const MOST_WAITING: usize = 32 << 20;

/// A handle to the store. When the last one is dropped, what was submitted is written
/// and the file is closed.
#[derive(Clone, Debug)]
pub struct Store(Arc<Handle>);

/// What all handles share.
struct Handle {
    options: StoreOptions,
    shared: Arc<Shared>,
    readers: Readers,
    /// Held while a copy is made: one after the other.
    backup: std::sync::Mutex<()>,
    writer: Option<JoinHandle<()>>,
}

impl Store {
    /// Open the store in `folder`, which is made if it is missing. Until it is closed
    /// nobody else can open it.
    ///
    /// # Errors
    /// If the folder cannot be used or is in use, or if its file is damaged, of another
    /// program or of a later version of this one.
    pub fn open(folder: &Path, options: StoreOptions) -> Result<Self, StoreError> {
        let data = folder;
        let folder = Folder::open(data)?;
        backup::tidy(data);
        let base = file::writer(&folder.file, &options)?;
        let checkpoints = Checkpoints::start(&folder.file)?;
        Self::start(base, Place::Folder(folder), Some(checkpoints), options)
    }

    /// A store that ends with its last handle, and that reads and writes one after the
    /// other.
    ///
    /// # Errors
    /// If there is no memory or thread for it.
    pub fn in_memory(options: StoreOptions) -> Result<Self, StoreError> {
        let name = PathBuf::from("the store in memory");
        let base = file::in_memory(&name)?;
        Self::start(base, Place::Memory(name), None, options)
    }

    fn start(
        base: Connection,
        folder: Place,
        checkpoints: Option<Checkpoints>,
        options: StoreOptions,
    ) -> Result<Self, StoreError> {
        let shared = Arc::new(Shared {
            queue: Queue::new(MOST_WAITING),
            base: Mutex::new(base),
            failed: Mutex::default(),
            folder,
        });
        let of_writer = Arc::clone(&shared);
        let kept = options.clone();
        let writer = thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || writer::run(&of_writer, checkpoints, options))
            .map_err(StoreError::Thread)?;
        Ok(Self(Arc::new(Handle {
            options: kept,
            shared,
            readers: Readers::default(),
            backup: std::sync::Mutex::default(),
            writer: Some(writer),
        })))
    }

    /// Keep all of `changes` or none, and call `done` after the commit, on the writer's
    /// thread and in order of submission: it must not take long or wait. Submissions of
    /// one thread are committed in its order. A submission of nothing is done when all
    /// before it are.
    ///
    /// Returns at once, unless 32 MiB of changes wait already: then it waits for the
    /// writer, so that whoever produces changes goes no faster than they can be kept.
    /// (Within `done` it never waits.) What is larger than that goes in alone.
    ///
    /// `done` gets an error if a change is at fault ([`StoreError::refuses_change`]),
    /// which is without consequence for other submissions, or if the store failed. A
    /// commit that fails is tried again submission by submission, and not any more
    /// after that; [`Store::health`] then tells of it.
    pub fn submit(
        &self,
        changes: Vec<Change>,
        done: impl FnOnce(Result<(), StoreError>) + Send + 'static,
    ) {
        self.submit_and_return(changes, |outcome, _| done(outcome));
    }

    /// [`Store::submit`]; `done` also gets the changes back, so that what was not kept can be
    /// submitted once more. It gets none if the store has stopped.
    pub fn submit_and_return(
        &self,
        changes: Vec<Change>,
        done: impl FnOnce(Result<(), StoreError>, Vec<Change>) + Send + 'static,
    ) {
        let submission = Submission::new(changes, Done::new(done));
        let waits = !self.0.is_on_writer();
        self.0.shared.queue.put(submission, waits);
    }

    /// [`Store::submit`], and wait until it is done.
    ///
    /// # Errors
    /// What `done` would get. Within another submission's `done` nothing is submitted
    /// and the error is [`StoreError::WaitsForItself`].
    pub fn commit(&self, changes: Vec<Change>) -> Result<(), StoreError> {
        if self.0.is_on_writer() {
            return Err(StoreError::WaitsForItself);
        }
        let (send, outcome) = mpsc::sync_channel(1);
        self.submit(changes, move |outcome| {
            // The receiver waits below until it has got this.
            let _ = send.send(outcome);
        });
        outcome.recv().unwrap_or(Err(StoreError::Stopped))
    }

    /// Let nothing be written from now on, or again.
    ///
    /// # Panics
    /// If the database does not take the setting.
    #[cfg(any(test, feature = "testing"))]
    pub fn refuse_writes(&self, refuse: bool) {
        let base = self.0.shared.base();
        base.pragma_update(None, "query_only", refuse).unwrap();
    }

    /// What is kept, and how well.
    pub fn options(&self) -> &StoreOptions {
        &self.0.options
    }

    /// Whether the store keeps what it is given.
    pub fn health(&self) -> Health {
        self.0.shared.health()
    }

    /// What a start needs, the rows of clusters and the bytes of artifacts apart.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn load(&self) -> Result<Saved, StoreError> {
        self.read(read::saved)
    }

    /// The rows of a cluster; none if there is no such cluster.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn inventory(&self, cluster: &str) -> Result<SavedInventory, StoreError> {
        self.read(|base| read::inventory(base, cluster))
    }

    /// What came of the last reservation of each VM of a cluster that ended without the VM
    /// running, by VM.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn ended_reservations(
        &self,
        cluster: &str,
    ) -> Result<Vec<SavedEndedReservation>, StoreError> {
        self.read(|base| read::ended_reservations(base, cluster))
    }

    /// The answers of a cluster that are to be repeated: the newest, as many as have so many
    /// bytes together with their keys.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn answers(&self, cluster: &str, bytes: u64) -> Result<SavedAnswers, StoreError> {
        self.read(|base| read::answers(base, cluster, bytes))
    }

    /// The answer to the request with that key.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn answer(&self, cluster: &str, key: &str) -> Result<Option<SavedAnswer>, StoreError> {
        self.read(|base| read::answer_to(base, cluster, key))
    }

    /// The plans of a cluster, by number.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn plans(&self, cluster: &str) -> Result<Vec<SavedPlan>, StoreError> {
        self.read(|base| read::plans(base, cluster))
    }

    /// The bytes of an artifact.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn artifact(&self, digest: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.read(|base| read::artifact(base, digest))
    }

    /// The digests of all artifacts.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn artifacts(&self) -> Result<Vec<String>, StoreError> {
        self.read(read::artifacts)
    }

    /// Whether there is an artifact with that digest.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn has_artifact(&self, digest: &str) -> Result<bool, StoreError> {
        self.read(|base| read::has_artifact(base, digest))
    }

    /// The chains that decide in all clusters, and those by which recorded decisions were
    /// made, as [`Change::PutChain`] put them.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn chains(&self) -> Result<Vec<String>, StoreError> {
        self.read(read::chains)
    }

    /// The signature that an artifact came with, if it came with one.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn signature(&self, digest: &str) -> Result<Option<SavedSignature>, StoreError> {
        self.read(|base| read::signature(base, digest))
    }

    /// The revisions of a policy below `before`, the newest first: at most so many, and no more
    /// than it takes until their bodies have so many bytes together.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn policy_history(
        &self,
        name: &str,
        before: Option<u64>,
        (most, bytes): (usize, usize),
    ) -> Result<Vec<PolicyRevision>, StoreError> {
        // No number is above what an i64 holds.
        let up_to = before.and_then(|number| i64::try_from(number).ok());
        let up_to = up_to.map_or(i64::MAX, |number| number - 1);
        self.read(|base| read::policy_history(base, name, (up_to, limit(most), bytes)))
    }

    /// Decisions of a cluster with numbers below `before`, at most so many, the newest
    /// first.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn decisions(
        &self,
        cluster: &str,
        before: Option<u64>,
        most: usize,
    ) -> Result<Vec<SavedDecision>, StoreError> {
        // No number is above what an i64 holds.
        let up_to = before.and_then(|number| i64::try_from(number).ok());
        let up_to = up_to.map_or(i64::MAX, |number| number - 1);
        self.read(|base| read::decisions(base, cluster, up_to, limit(most)))
    }

    /// One decision of a cluster.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn decision(
        &self,
        cluster: &str,
        number: u64,
    ) -> Result<Option<SavedDecision>, StoreError> {
        let Ok(number) = i64::try_from(number) else {
            return Ok(None);
        };
        self.read(|base| read::decision_of(base, cluster, number))
    }

    /// A cluster as it was when a decision was made.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn past(&self, cluster: &str, number: u64) -> Result<SavedPast, StoreError> {
        self.read(|base| past::past(base, cluster, number))
    }

    /// What happened to a cluster from the first decision at the second `from` or after it on, as
    /// far as it is known. None if of no such decision it is known how the cluster was.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn recorded(&self, cluster: &str, from: i64) -> Result<Option<Recorded>, StoreError> {
        self.read(|base| past::recorded(base, cluster, from))
    }

    /// What happened to a unit or to all, at most so many events, the newest first.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn unit_history(
        &self,
        name: Option<&str>,
        most: usize,
    ) -> Result<Vec<UnitEvent>, StoreError> {
        self.read(|base| read::unit_history(base, name, limit(most)))
    }

    fn read<T>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let Handle {
            shared, readers, ..
        } = &*self.0;
        let found = match &shared.folder {
            Place::Memory(_) => query(&shared.base()),
            Place::Folder(folder) => readers.read(&folder.file, query),
        };
        found.map_err(|source| {
            let error = StoreError::of(shared.folder.file(), source);
            if matches!(error, StoreError::Damaged { .. }) {
                shared.fails(&error);
            }
            error
        })
    }
}

impl Handle {
    fn is_on_writer(&self) -> bool {
        let writer = self.writer.as_ref().map(|writer| writer.thread().id());
        writer == Some(thread::current().id())
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // Before the writer's connection, which as the last one tidies up.
        self.readers.clear();
        self.shared.queue.close();
        let on_writer = self.is_on_writer();
        if let Some(writer) = self.writer.take()
            && !on_writer
        {
            // A panic of the writer was told where it happened.
            let _ = writer.join();
        }
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("file", &self.shared.folder.file())
            .field("health", &self.shared.health())
            .field("waiting", &self.shared.queue)
            .finish_non_exhaustive()
    }
}
