//! What waits for the writer, bounded in bytes.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::PoisonError;
use std::time::Duration;

use super::change::Change;
use super::error::StoreError;
use placewright_sync::{Condvar, Mutex, MutexGuard};

/// Changes that are kept together or not at all.
pub(super) struct Submission {
    pub(super) changes: Vec<Change>,
    pub(super) done: Done,
    /// About how much memory the changes take.
    pub(super) bytes: usize,
}

impl Submission {
    pub(super) fn new(changes: Vec<Change>, done: Done) -> Self {
        let bytes = changes.iter().map(Change::bytes).sum::<usize>() + size_of::<Self>();
        Self {
            changes,
            done,
            bytes,
        }
    }

    /// Whether it writes anything: one without changes shows nothing of whether that can be done.
    pub(super) fn writes(&self) -> bool {
        !self.changes.is_empty()
    }
}

/// Called once, whatever happens, with the changes that were submitted: if it is dropped
/// instead, then with [`StoreError::Stopped`] and no changes. If it panics, that is told and
/// goes no further.
pub(super) struct Done(Option<Box<Callback>>);

type Callback = dyn FnOnce(Result<(), StoreError>, Vec<Change>) + Send;

impl Done {
    pub(super) fn new(
        done: impl FnOnce(Result<(), StoreError>, Vec<Change>) + Send + 'static,
    ) -> Self {
        Self(Some(Box::new(done)))
    }

    pub(super) fn call(mut self, outcome: Result<(), StoreError>, changes: Vec<Change>) {
        self.call_once(outcome, changes);
    }

    fn call_once(&mut self, outcome: Result<(), StoreError>, changes: Vec<Change>) {
        if let Some(done) = self.0.take()
            && panic::catch_unwind(AssertUnwindSafe(|| done(outcome, changes))).is_err()
        {
            tracing::error!("what was called after a commit has panicked");
        }
    }
}

impl Drop for Done {
    fn drop(&mut self) {
        self.call_once(Err(StoreError::Stopped), Vec::new());
    }
}

/// Submissions in order, those of all clusters in one queue. A fair order among clusters
/// would help little: what takes long is a whole inventory, which is one transaction
/// wherever it stands, and no more than some of them have room here. It would cost that
/// what one thread submits about several clusters, and about policies, is kept in order.
pub(super) struct Queue {
    state: Mutex<State>,
    /// Something came in, or nothing will any more.
    filled: Condvar,
    /// There is room again, or nothing will be taken any more.
    emptied: Condvar,
    /// How many bytes may wait.
    most: usize,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Submission>,
    bytes: usize,
    closed: bool,
}

impl Queue {
    pub(super) fn new(most: usize) -> Self {
        Self {
            state: Mutex::default(),
            filled: Condvar::new(),
            emptied: Condvar::new(),
            most,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic happens under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Add a submission, when there is room if `waits`, or else at once. One that is
    /// larger than all of the queue gets in alone. A closed queue drops it.
    pub(super) fn put(&self, submission: Submission, waits: bool) {
        let mut state = self.state();
        while waits && !state.closed && !state.has_room(submission.bytes, self.most) {
            state = self
                .emptied
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed {
            // Its callback is called without the lock.
            drop(state);
            drop(submission);
            return;
        }
        state.bytes += submission.bytes;
        state.waiting.push_back(submission);
        drop(state);
        self.filled.notify_one();
    }

    /// The next submissions, up to about `bytes` of them; none if `patience` ran out
    /// first. `None` once the queue is closed and empty.
    pub(super) fn take(&self, bytes: usize, patience: Option<Duration>) -> Option<Vec<Submission>> {
        let mut state = self.state();
        while state.waiting.is_empty() {
            if state.closed {
                return None;
            }
            let Some(patience) = patience else {
                state = self
                    .filled
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let (woken, waited) = self
                .filled
                .wait_timeout(state, patience)
                .unwrap_or_else(PoisonError::into_inner);
            state = woken;
            if waited.timed_out() && state.waiting.is_empty() && !state.closed {
                return Some(Vec::new());
            }
        }
        let taken = state.take(bytes);
        drop(state);
        self.emptied.notify_all();
        Some(taken)
    }

    /// Take nothing more; what waits is still written.
    pub(super) fn close(&self) {
        self.state().closed = true;
        self.filled.notify_all();
        self.emptied.notify_all();
    }

    /// Close, and drop what waits.
    pub(super) fn abandon(&self) {
        self.close();
        let waiting = std::mem::take(&mut self.state().waiting);
        drop(waiting);
    }
}

impl State {
    fn has_room(&self, bytes: usize, most: usize) -> bool {
        self.waiting.is_empty() || self.bytes + bytes <= most
    }

    fn take(&mut self, bytes: usize) -> Vec<Submission> {
        let mut sum = 0;
        let count = self
            .waiting
            .iter()
            .take_while(|submission| {
                let fits = sum < bytes;
                sum += submission.bytes;
                fits
            })
            .count();
        let taken: Vec<Submission> = self.waiting.drain(..count).collect();
        self.bytes -= taken.iter().map(|one| one.bytes).sum::<usize>();
        taken
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("Queue")
            .field("submissions", &state.waiting.len())
            .field("bytes", &state.bytes)
            .field("closed", &state.closed)
            .finish_non_exhaustive()
    }
}
