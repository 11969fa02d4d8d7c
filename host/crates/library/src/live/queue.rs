//! What the watcher has seen and nobody has staged yet: of each file what it became last,
//! and of all that they hold only so many bytes. The others are read again in their turn.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::watch::{Change, Told};

/// How many bytes of files wait in memory: as many as one file may have by default.
const MOST_BYTES: usize = 64 << 20;

/// What waits.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    rings: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    /// By path, each with its number in the order of their coming.
    changes: BTreeMap<PathBuf, (u64, Pending)>,
    order: BTreeMap<u64, PathBuf>,
    next: u64,
    bytes: usize,
    /// Those who wait until all is taken whose numbers are below.
    done: VecDeque<(u64, Sender<()>)>,
    closed: bool,
}

/// A change, with what the file holds or without.
#[derive(Debug)]
pub(super) enum Pending {
    Change(Change),
    /// To be read again.
    Unread(Told),
}

impl Pending {
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Change(change) => change.path(),
            Self::Unread(told) => &told.path,
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Change(Change::Seen(seen)) => {
                seen.bytes.len() + seen.beside.as_ref().map_or(0, |beside| beside.len())
            }
            _ => 0,
        }
    }
}

/// What there is to be done next.
#[derive(Debug)]
pub(super) enum Next {
    Change(Pending),
    /// Nothing came by then.
    Nothing,
    /// Nothing will come any more.
    Closed,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Add what became of a file, in the place of what became of it before.
    pub(super) fn put(&self, change: Change) {
        let mut waiting = self.lock();
        if waiting.closed {
            return;
        }
        waiting.remove(change.path());
        let mut pending = Pending::Change(change);
        let bytes = waiting.bytes + pending.bytes();
        // What is alone is taken next: to read it again would win nothing.
        if bytes > MOST_BYTES
            && waiting.bytes > 0
            && let Pending::Change(Change::Seen(seen)) = &pending
        {
            pending = Pending::Unread(seen.told());
        }
        waiting.add(pending);
        drop(waiting);
        self.rings.notify_all();
    }

    /// Answer when all that waits now is done; never if the queue is closed before.
    pub(super) fn when_done(&self, done: Sender<()>) {
        let mut waiting = self.lock();
        if waiting.closed {
            return;
        }
        let next = waiting.next;
        waiting.done.push_back((next, done));
        drop(waiting);
        self.rings.notify_all();
    }

    /// Let nothing more be taken.
    pub(super) fn close(&self) {
        let mut waiting = self.lock();
        waiting.closed = true;
        // Whoever waits is told by the end of the channel.
        waiting.done.clear();
        drop(waiting);
        self.rings.notify_all();
    }

    /// Wait for what came first, until then if there is such a time. To be called when what
    /// was taken before is done.
    pub(super) fn take(&self, until: Option<Instant>) -> Next {
        let mut waiting = self.lock();
        loop {
            if waiting.closed {
                return Next::Closed;
            }
            waiting.answer();
            if let Some(pending) = waiting.first() {
                return Next::Change(pending);
            }
            let Some(until) = until else {
                let woken = self.rings.wait(waiting);
                waiting = woken.unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Next::Nothing;
            }
            let woken = self.rings.wait_timeout(waiting, left);
            waiting = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Waiting {
    fn add(&mut self, pending: Pending) {
        let (number, path) = (self.next, pending.path().to_owned());
        self.next += 1;
        self.bytes += pending.bytes();
        self.order.insert(number, path.clone());
        self.changes.insert(path, (number, pending));
    }

    fn remove(&mut self, path: &Path) -> Option<Pending> {
        let (number, pending) = self.changes.remove(path)?;
        self.order.remove(&number);
        self.bytes -= pending.bytes();
        Some(pending)
    }

    fn first(&mut self) -> Option<Pending> {
        let (_, path) = self.order.first_key_value()?;
        let path = path.clone();
        self.remove(&path)
    }

    /// Answer those for whom nothing waits any more.
    fn answer(&mut self) {
        let first = self.order.first_key_value().map(|(number, _)| *number);
        while let Some((number, _)) = self.done.front() {
            if first.is_some_and(|first| first < *number) {
                return;
            }
            if let Some((_, done)) = self.done.pop_front() {
                // Who has gone needs no answer.
                let _ = done.send(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::watch::Seen;
    use placewright_engine::unit::Digest;

    fn seen(path: &str, length: usize, first: u8) -> Change {
        let mut bytes = vec![0; length];
        bytes[0] = first;
        Change::Seen(Seen {
            path: path.into(),
            digest: Digest::of(&bytes[..1]),
            bytes: bytes.into(),
            beside: None,
            settled: true,
        })
    }

    fn take(queue: &Queue) -> Pending {
        match queue.take(Some(Instant::now())) {
            Next::Change(pending) => pending,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn of_a_file_that_is_written_again_and_again_only_the_last_waits() {
        let queue = Queue::default();
        for round in 0..100 {
            queue.put(seen("a.wasm", 1 << 20, round));
        }
        queue.put(seen("b.wasm", 1, 0));
        assert_eq!(queue.lock().bytes, (1 << 20) + 1);
        let Pending::Change(Change::Seen(first)) = take(&queue) else {
            panic!("it was not read");
        };
        assert_eq!((first.path.to_str(), first.bytes[0]), (Some("a.wasm"), 99));
        assert_eq!(take(&queue).path(), Path::new("b.wasm"));
        assert_eq!(queue.lock().bytes, 0);
        assert!(matches!(queue.take(Some(Instant::now())), Next::Nothing));
    }

    #[test]
    fn the_bytes_that_wait_have_a_bound_and_what_is_beyond_it_is_read_again() {
        let queue = Queue::default();
        for file in 0..10 {
            queue.put(seen(&format!("{file}.wasm"), 20 << 20, 7));
        }
        assert!(queue.lock().bytes <= MOST_BYTES);
        let unread = (0..10).filter(|_| matches!(take(&queue), Pending::Unread(_)));
        assert_eq!(unread.count(), 7);
        // A file that is greater than the bound waits as it is where nothing else does.
        queue.put(seen("a.wasm", MOST_BYTES + 1, 7));
        assert!(matches!(take(&queue), Pending::Change(_)));
    }

    #[test]
    fn whoever_waits_for_what_was_there_is_answered_when_that_is_done() {
        let queue = Queue::default();
        queue.put(seen("a.wasm", 1, 0));
        let (done, answered) = mpsc::channel();
        queue.when_done(done);
        queue.put(seen("b.wasm", 1, 0));
        take(&queue);
        assert!(answered.try_recv().is_err(), "it is being staged");
        take(&queue);
        assert!(answered.try_recv().is_ok());
        let (done, never) = mpsc::channel();
        queue.when_done(done);
        queue.close();
        assert!(never.recv().is_err());
        assert!(matches!(queue.take(None), Next::Closed));
    }
}
