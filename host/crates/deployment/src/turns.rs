//! One thing after the other: a thread that owns a state, and a queue of turns.
//!
//! Whoever wants a turn waits at most as long as it says, however long the turns before
//! take; what it asked for is then not done. Nor is it if nobody waits for its answer any
//! more. Turns run on the thread of the state, never on the caller's. Those that one asker asks
//! for are taken in their order, and one of each asker after the other. Turns that only read
//! have a queue of their own: where both wait, one of each is taken by turns, so that reads
//! never hold up the others by more than one of them.

mod queue;
mod reply;

pub(crate) use reply::Answer;
pub use reply::Reply;

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, io};

use tokio::sync::oneshot;

use placewright_records::traces::Carried;
use placewright_sync::thread;
use placewright_sync::{self as sync, Mutex};
pub(crate) use queue::Asker;
use queue::{Entry, Queue, Work};

/// Why there was no turn. Nothing was done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TurnError {
    /// Those before took too long.
    #[error("its turn did not come within {} ms: others are being served; try again", .0.as_millis())]
    Waited(Duration),
    /// More than that many wait already.
    #[error("{0} requests wait for their turn already; try again later")]
    Crowded(usize),
    /// The thread has ended.
    #[error("it has stopped")]
    Stopped,
}

/// In which queue a turn waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Share {
    /// Decisions and changes.
    Work,
    /// What only reads, and takes little time.
    Reads,
}

/// A state that is changed in turns. The thread ends when this is dropped, after the
/// turns that were asked for.
pub(crate) struct Turns<S> {
    queue: Arc<Queue<S>>,
    /// How many may wait.
    bound: usize,
    /// Ends when the thread has; None: its end was seen.
    ended: Mutex<Option<oneshot::Receiver<()>>>,
}

impl<S: Send + 'static> Turns<S> {
    /// Start the thread that owns `state`, under that name. At most `bound` requests
    /// wait.
    ///
    /// # Errors
    /// If there is no thread to be had.
    pub(crate) fn start(name: &str, state: S, bound: usize) -> io::Result<Self> {
        let queue = Arc::new(Queue::default());
        let (alive, ended) = oneshot::channel();
        let served = queue.clone();
        thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                serve(state, &served);
                // The state is gone by now.
                drop(alive);
            })?;
        Ok(Self {
            queue,
            bound,
            ended: Mutex::new(Some(ended)),
        })
    }

    /// Ask for a turn that begins within `limit`, as that asker. `work` gives the answer, in its
    /// turn or later; `ends` is called when the wait has ended, with a turn or without.
    pub(crate) fn take<R, E>(
        &self,
        (share, asker): (Share, Asker),
        limit: Duration,
        work: impl FnOnce(&mut S, Answer<R, E>) + Send + 'static,
        ends: impl FnOnce() + Send + 'static,
    ) -> Reply<R, E>
    where
        R: Send + 'static,
        E: From<TurnError> + Send + 'static,
    {
        let (answer, receiver) = reply::channel();
        if !self.queue.count_in(self.bound) {
            ends();
            answer.give(Err(TurnError::Crowded(self.bound).into()));
            return Reply::of(receiver);
        }
        let until = Instant::now().checked_add(limit);
        let carried = Carried::waits();
        let work: Work<S> = Box::new(move |state| {
            ends();
            match state {
                Ok(state) => {
                    let _turn = carried.begins();
                    work(state, answer);
                }
                Err(TurnError::Waited(_)) => answer.give(Err(TurnError::Waited(limit).into())),
                Err(why) => answer.give(Err(why.into())),
            }
        });
        let entry = Arc::new(Entry::new(until, work));
        self.queue.push(share, asker, entry.clone());
        Reply::withdrawable(receiver, until, self.queue.withdrawal(entry))
    }

    /// Ask for a turn that is taken whenever it comes, however many wait and whether or not
    /// anybody waits for its answer: for what has to be done.
    pub(crate) fn take_anyway<R, E>(
        &self,
        work: impl FnOnce(&mut S, Answer<R, E>) + Send + 'static,
    ) -> Reply<R, E>
    where
        R: Send + 'static,
        E: From<TurnError> + Send + 'static,
    {
        let (answer, receiver) = reply::channel();
        self.queue.count_in(usize::MAX);
        let work: Work<S> = Box::new(move |state| match state {
            Ok(state) => work(state, answer),
            Err(why) => answer.give(Err(why.into())),
        });
        self.queue
            .push(Share::Work, None, Arc::new(Entry::new(None, work)));
        Reply::of(receiver)
    }

    /// How many wait for their turn.
    pub(crate) fn waiting(&self) -> usize {
        self.queue.waiting()
    }

    /// Tells, whenever it is asked, whether anybody waits for a turn.
    pub(crate) fn are_wanted(&self) -> Arc<dyn Fn() -> bool + Send + Sync> {
        let queue = self.queue.clone();
        Arc::new(move || queue.waiting() > 0)
    }

    /// Whether the thread has ended because a turn has panicked.
    pub(crate) fn has_panicked(&self) -> bool {
        self.queue.has_panicked()
    }

    /// Let nobody ask for a turn any more; those who wait have theirs.
    pub(crate) fn close(&self) {
        self.queue.close();
    }

    /// Let nobody have a turn any more but who has it now; those who wait are told so.
    pub(crate) fn cut_off(&self) {
        self.queue.cut_off();
    }

    /// Wait until the thread has ended; None: as long as it takes. Whether it has by then.
    /// It ends after [`Turns::close`] or [`Turns::cut_off`].
    pub(crate) fn join(&self, until: Option<Instant>) -> bool {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(receiver) = ended.as_mut() else {
            return true;
        };
        let has_ended = sync::receive_by(receiver, until).is_some();
        if has_ended {
            *ended = None;
        }
        has_ended
    }
}

impl<S> Drop for Turns<S> {
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// Take turns until nobody can ask for one. After a panic nothing is known of the
/// state, so there are no more turns.
fn serve<S>(mut state: S, queue: &Queue<S>) {
    while let Some((work, in_time)) = queue.next() {
        let state = match in_time {
            true => Ok(&mut state),
            false => Err(TurnError::Waited(Duration::ZERO)),
        };
        let work = AssertUnwindSafe(|| work(state));
        if panic::catch_unwind(work).is_err() {
            tracing::error!("a turn has panicked: no more turns are taken of this state");
            queue.panicked();
            return;
        }
    }
}

impl<S> fmt::Debug for Turns<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turns")
            .field("waiting", &self.queue.waiting())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
