//! What the watcher has seen and nobody has staged yet: of each file what it became last,
//! and of all that they hold only so many bytes. The others are read again in their turn.
//!
//! It is taken in two lanes, so that a small unit does not wait until a large one is compiled.
//! Each file is in one lane at a time.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::watch::{Change, Told};
use placewright_engine::SMALL_UNIT;

/// How many bytes of files wait in memory: as many as one file may have by default.
const MOST_BYTES: usize = 64 << 20;

/// What waits.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    rings: Condvar,
}

/// What is staged by one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    /// Small units, which may overtake others.
    Small,
    /// Everything, in the order of its coming.
    Any,
}

impl Lane {
    pub(super) const ALL: [Self; 2] = [Self::Small, Self::Any];
}

#[derive(Debug, Default)]
struct Waiting {
    /// By path, each with its number in the order of their coming.
    changes: BTreeMap<PathBuf, (u64, Pending)>,
    order: BTreeMap<u64, PathBuf>,
    next: u64,
    bytes: usize,
    /// What is being staged, by lane: its number and path.
    staged: [Option<(u64, PathBuf)>; 2],
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

    /// Whether it may be staged before what came earlier.
    fn is_small_unit(&self) -> bool {
        matches!(self, Self::Change(Change::Seen(seen)) if seen.bytes.len() <= SMALL_UNIT)
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

    /// Have a file read and staged again, unless what it became since waits already.
    pub(super) fn put_again(&self, told: Told) {
        let mut waiting = self.lock();
        if !waiting.closed && !waiting.changes.contains_key(&told.path) {
            waiting.add(Pending::Unread(told));
        }
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

    /// Wait for what came first of what the lane may take, until then if there is such a time.
    /// To be called when what the lane took before is done.
    pub(super) fn take(&self, lane: Lane, until: Option<Instant>) -> Next {
        let mut waiting = self.lock();
        if waiting.staged[lane as usize].take().is_some() {
            // The other lane may have waited for that.
            self.rings.notify_all();
        }
        loop {
            if waiting.closed {
                return Next::Closed;
            }
            waiting.answer();
            if let Some(pending) = waiting.first(lane) {
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

    /// Take the first that this lane may take: none of which the file is being staged, and what
    /// is no small unit only when nothing is staged that came before.
    fn first(&mut self, lane: Lane) -> Option<Pending> {
        let staged = |path: &Path| self.staged.iter().flatten().any(|(_, it)| it == path);
        let before = |number: u64| self.staged.iter().flatten().any(|(it, _)| *it < number);
        let mut order = self.order.iter();
        let (number, path) = match lane {
            Lane::Small => order.find(|(_, path)| {
                let pending = self.changes.get(*path).map(|(_, pending)| pending);
                pending.is_some_and(Pending::is_small_unit) && !staged(path)
            }),
            Lane::Any => order.next().filter(|(number, path)| {
                let pending = self.changes.get(*path).map(|(_, pending)| pending);
                let overtakes = matches!(pending, Some(Pending::Change(Change::Seen(_))));
                !staged(path) && (overtakes || !before(**number))
            }),
        }?;
        let (number, path) = (*number, path.clone());
        let pending = self.remove(&path)?;
        self.staged[lane as usize] = Some((number, path));
        Some(pending)
    }

    /// Answer those for whom nothing waits any more, nor is staged.
    fn answer(&mut self) {
        let waits = self.order.first_key_value().map(|(number, _)| *number);
        let staged = self.staged.iter().flatten().map(|(number, _)| *number);
        let first = staged.chain(waits).min();
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
        match queue.take(Lane::Any, Some(Instant::now())) {
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
        assert!(matches!(
            queue.take(Lane::Any, Some(Instant::now())),
            Next::Nothing
        ));
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
        assert!(matches!(queue.take(Lane::Small, None), Next::Closed));
    }

    fn taken(queue: &Queue, lane: Lane) -> Option<String> {
        match queue.take(lane, Some(Instant::now())) {
            Next::Change(pending) => Some(pending.path().display().to_string()),
            _ => None,
        }
    }

    #[test]
    fn a_small_unit_overtakes_a_large_one_and_nothing_else_does() {
        let (large, small) = (SMALL_UNIT + 1, SMALL_UNIT);
        let queue = Queue::default();
        queue.put(seen("large", large, 0));
        queue.put(seen("other-large", large, 0));
        queue.put(seen("small", small, 0));
        queue.put(Change::Gone {
            path: "gone".into(),
        });
        queue.put(seen("later", small, 0));
        assert_eq!(taken(&queue, Lane::Any).as_deref(), Some("large"));
        assert_eq!(taken(&queue, Lane::Small).as_deref(), Some("small"));
        assert_eq!(taken(&queue, Lane::Small).as_deref(), Some("later"));
        assert_eq!(taken(&queue, Lane::Small), None);
        assert_eq!(taken(&queue, Lane::Any).as_deref(), Some("other-large"));
        assert_eq!(taken(&queue, Lane::Any).as_deref(), Some("gone"));
    }

    #[test]
    fn a_file_is_staged_in_one_lane_at_a_time_and_whoever_waits_for_it_waits() {
        let queue = Queue::default();
        queue.put(seen("a", SMALL_UNIT + 1, 0));
        assert_eq!(taken(&queue, Lane::Any).as_deref(), Some("a"));
        queue.put(seen("a", 1, 1));
        let (done, answered) = mpsc::channel();
        queue.when_done(done);
        assert_eq!(taken(&queue, Lane::Small), None, "it is being staged");
        // The large one is done, and then the small one.
        queue.put(seen("b", 1, 0));
        assert_eq!(taken(&queue, Lane::Any).as_deref(), Some("a"));
        assert_eq!(taken(&queue, Lane::Small).as_deref(), Some("b"));
        assert!(answered.try_recv().is_err());
        assert_eq!(taken(&queue, Lane::Any), None);
        assert!(answered.try_recv().is_ok());
        // What is gone waits for what came before it.
        queue.put(Change::Gone { path: "b".into() });
        assert_eq!(taken(&queue, Lane::Any), None, "b is being staged");
        assert_eq!(taken(&queue, Lane::Small), None);
        assert_eq!(taken(&queue, Lane::Any).as_deref(), Some("b"));
    }
}
