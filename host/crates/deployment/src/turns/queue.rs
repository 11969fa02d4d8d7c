//! The turns that wait, in two queues.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use super::{Share, TurnError};
use placewright_sync::atomic::{AtomicUsize, Ordering};
use placewright_sync::{Condvar, Mutex};

/// What is done in a turn; given why there is none if there is none.
pub(super) type Work<S> = Box<dyn FnOnce(Result<&mut S, TurnError>) + Send>;

/// A turn that is asked for. Whoever takes its work out has it: the thread that does it, or
/// who asked for it and waits no more.
pub(super) struct Entry<S> {
    /// When nobody waits for it any more; None: it is taken whenever it comes.
    until: Option<Instant>,
    work: Mutex<Option<Work<S>>>,
}

impl<S> Entry<S> {
    pub(super) fn new(until: Option<Instant>, work: Work<S>) -> Self {
        Self {
            until,
            work: Mutex::new(Some(work)),
        }
    }

    fn take(&self) -> Option<Work<S>> {
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        work.take()
    }
}

/// The turns that wait.
pub(super) struct Queue<S> {
    turns: Mutex<Waiting<S>>,
    changed: Condvar,
    /// How many wait; those who wait no more are not among them.
    waiting: AtomicUsize,
}

struct Waiting<S> {
    work: ByAsker<S>,
    reads: ByAsker<S>,
    /// Whether the last turn was one that only read.
    read_last: bool,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// Nobody may ask any more.
    Closed,
    /// The thread takes no turns any more.
    Panicked,
}

impl<S> Default for Queue<S> {
    fn default() -> Self {
        Self {
            turns: Mutex::new(Waiting {
                work: ByAsker::default(),
                reads: ByAsker::default(),
                read_last: false,
                state: State::Open,
            }),
            changed: Condvar::new(),
            waiting: AtomicUsize::new(0),
        }
    }
}

impl<S> Waiting<S> {
    /// The next one: of the two queues by turns, where both have one.
    fn pop(&mut self) -> Option<Arc<Entry<S>>> {
        let reads_first = !self.read_last && !self.reads.is_empty();
        let (first, second) = match reads_first {
            true => (&mut self.reads, &mut self.work),
            false => (&mut self.work, &mut self.reads),
        };
        if let Some(entry) = first.pop() {
            self.read_last = reads_first;
            return Some(entry);
        }
        let entry = second.pop();
        self.read_last = entry.is_some() && !reads_first;
        entry
    }

    fn take_all(&mut self) -> Vec<Arc<Entry<S>>> {
        let mut all = std::mem::take(&mut self.work).all();
        all.extend(std::mem::take(&mut self.reads).all());
        all
    }
}

/// Turns that wait, in a queue for each asker. The queues are served round robin, so that an asker
/// with many turns delays nobody else by more than one of them.
struct ByAsker<S> {
    askers: VecDeque<(Asker, VecDeque<Arc<Entry<S>>>)>,
}

/// Who asks for a turn; None: the server itself.
pub(crate) type Asker = Option<Arc<str>>;

impl<S> Default for ByAsker<S> {
    fn default() -> Self {
        Self {
            askers: VecDeque::new(),
        }
    }
}

impl<S> ByAsker<S> {
    fn is_empty(&self) -> bool {
        self.askers.is_empty()
    }

    fn push(&mut self, asker: Asker, entry: Arc<Entry<S>>) {
        match self.askers.iter_mut().find(|(known, _)| *known == asker) {
            Some((_, entries)) => entries.push_back(entry),
            None => self.askers.push_back((asker, VecDeque::from([entry]))),
        }
    }

    /// The next one; the next of the same asker comes after one of each other.
    fn pop(&mut self) -> Option<Arc<Entry<S>>> {
        let (asker, mut entries) = self.askers.pop_front()?;
        let entry = entries.pop_front();
        if !entries.is_empty() {
            self.askers.push_back((asker, entries));
        }
        entry
    }

    fn all(self) -> Vec<Arc<Entry<S>>> {
        self.askers
            .into_iter()
            .flat_map(|(_, entries)| entries)
            .collect()
    }
}

impl<S> Queue<S> {
    /// Count one that waits; false if so many do already.
    pub(super) fn count_in(&self, bound: usize) -> bool {
        let has_room = self.waiting.fetch_add(1, Ordering::Relaxed) < bound;
        if !has_room {
            self.count_out();
        }
        has_room
    }

    fn count_out(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Put a turn into the queue; it is counted already. If no turns are taken any more, it
    /// is told so.
    pub(super) fn push(&self, share: Share, asker: Asker, entry: Arc<Entry<S>>) {
        let mut turns = self.lock();
        if turns.state != State::Open {
            drop(turns);
            self.refuse(&entry);
            return;
        }
        match share {
            Share::Work => turns.work.push(asker, entry),
            Share::Reads => turns.reads.push(asker, entry),
        }
        drop(turns);
        self.changed.notify_one();
    }

    /// The work of the next turn, and whether somebody still waits for it; None: there are no
    /// more.
    pub(super) fn next(&self) -> Option<(Work<S>, bool)> {
        loop {
            let entry = self.pop()?;
            let Some(work) = entry.take() else {
                // Whoever asked for it waits no more.
                continue;
            };
            self.count_out();
            let in_time = entry.until.is_none_or(|until| Instant::now() <= until);
            return Some((work, in_time));
        }
    }

    fn pop(&self) -> Option<Arc<Entry<S>>> {
        let mut turns = self.lock();
        loop {
            if let Some(entry) = turns.pop() {
                return Some(entry);
            }
            if turns.state != State::Open {
                return None;
            }
            turns = self
                .changed
                .wait(turns)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes the turn out, when it is called, if it has not begun: whether it had not.
    pub(super) fn withdrawal(
        self: &Arc<Self>,
        entry: Arc<Entry<S>>,
    ) -> Box<dyn Fn() -> bool + Send + Sync>
    where
        S: Send + 'static,
    {
        let queue = self.clone();
        Box::new(move || queue.withdraw(&entry, TurnError::Waited(std::time::Duration::ZERO)))
    }

    fn withdraw(&self, entry: &Entry<S>, why: TurnError) -> bool {
        let Some(work) = entry.take() else {
            return false;
        };
        self.count_out();
        work(Err(why));
        true
    }

    fn refuse(&self, entry: &Entry<S>) {
        self.withdraw(entry, TurnError::Stopped);
    }

    pub(super) fn close(&self) {
        self.end(State::Closed);
    }

    pub(super) fn cut_off(&self) {
        self.end(State::Closed);
        self.refuse_all();
    }

    /// The thread takes no turns any more.
    pub(super) fn panicked(&self) {
        self.end(State::Panicked);
        self.refuse_all();
    }

    pub(super) fn has_panicked(&self) -> bool {
        self.lock().state == State::Panicked
    }

    fn end(&self, state: State) {
        let mut turns = self.lock();
        if turns.state == State::Open || state == State::Panicked {
            turns.state = state;
        }
        drop(turns);
        self.changed.notify_all();
    }

    fn refuse_all(&self) {
        let entries = self.lock().take_all();
        for entry in entries {
            self.refuse(&entry);
        }
    }

    fn lock(&self) -> placewright_sync::MutexGuard<'_, Waiting<S>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
