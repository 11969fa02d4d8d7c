//! The thread that stages what the watcher sees.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::again::Again;
use super::{Library, LibraryEvent, LibraryFailure};
use crate::library::watch::{Change, Folder, Options, WatchError, Watcher};

/// How long the end waits for a unit that is being staged: a compiler cannot be
/// stopped, and the thread does no harm any more.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the thread is handed.
enum Handed {
    Changes(Vec<Change>),
    /// Answer when all that was handed before is done.
    Done(Sender<()>),
}

/// A folder of units that is being watched. Ends with this value.
#[derive(Debug)]
pub struct Watching {
    watcher: Option<Watcher>,
    queue: Option<Sender<Handed>>,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Library {
    /// Watch a folder of units from now on: what it holds is staged on a thread of
    /// its own, one after the other. The folder need not exist yet.
    ///
    /// # Errors
    /// If threads cannot be started.
    pub fn watch(
        self: &Arc<Self>,
        path: &Path,
        options: Options,
    ) -> Result<Watching, LibraryFailure> {
        let mut folder = Folder::new(path, options);
        let now = Instant::now();
        let (queue, handed) = mpsc::channel();
        for known in self.expected() {
            if known.parent() == Some(path) {
                folder.expect(known, now);
            } else {
                // Another folder was watched in an earlier run.
                let gone = vec![Change::Gone { path: known }];
                let _ = queue.send(Handed::Changes(gone));
            }
        }
        let ends = Arc::new(AtomicBool::new(false));
        let thread = {
            let (library, ends) = (self.clone(), ends.clone());
            thread::Builder::new()
                .name("stage".to_owned())
                .spawn(move || run(&library, &handed, &ends))
                .map_err(|error| WatchError::Thread(path.to_owned(), error))?
        };
        let (library, changes, whole) = (self.clone(), queue.clone(), self.clone());
        let watcher = Watcher::start(
            folder,
            move |seen| whole.is_whole(seen),
            move |found| {
                if !found.is_empty() {
                    for change in &found {
                        if let Change::Seen(seen) = change {
                            library.will_stage(seen.path.clone());
                        }
                    }
                    // Nobody stages any more at the end.
                    drop(changes.send(Handed::Changes(found)));
                }
            },
        )?;
        Ok(Watching {
            watcher: Some(watcher),
            queue: Some(queue),
            ends,
            thread: Some(thread),
        })
    }
}

impl Library {
    /// Take in what became of a file, and say if and when that is to be tried again.
    pub(super) fn take_or_again(&self, change: &Change, again: &mut Again, now: Instant) {
        let staging = self.take(change);
        let pause = again.note(change, staging.as_ref(), now);
        if let (Some(staging), Some(pause)) = (staging, pause) {
            let _held = self.lock();
            self.tell(&LibraryEvent::Again {
                path: change.path().to_owned(),
                digest: staging.digest,
                seconds: pause.as_secs(),
            });
        }
    }
}

impl Watching {
    /// Waits, when it is called, until what the folder holds has settled and is staged, or the
    /// watching ends.
    pub fn first_look(&self) -> impl FnOnce() + Send + use<> {
        let bell = self.watcher.as_ref().map(|watcher| watcher.bell().clone());
        let queue = self.queue.clone();
        move || {
            if let Some(bell) = bell {
                bell.settle();
            }
            if let Some(queue) = queue {
                wait_until_staged(&queue);
            }
        }
    }

    /// Look at the folder now, and wait until what was found is staged. What has not
    /// settled is found later.
    pub fn rescan(&self) {
        if let Some(watcher) = &self.watcher {
            watcher.bell().scan();
        }
        if let Some(queue) = &self.queue {
            wait_until_staged(queue);
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        // The thread ends when nobody can hand it anything any more.
        self.watcher = None;
        self.queue = None;
        let Some(thread) = self.thread.take() else {
            return;
        };
        let begun = Instant::now();
        while !thread.is_finished() {
            if begun.elapsed() > PATIENCE {
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
        // It can only have panicked, which the panic has told of.
        let _ = thread.join();
    }
}

/// Wait until all that was handed to the thread is staged, or it has ended.
fn wait_until_staged(queue: &Sender<Handed>) {
    let (done, staged) = mpsc::channel();
    if queue.send(Handed::Done(done)).is_ok() {
        let _ = staged.recv();
    }
}

fn run(library: &Library, handed: &Receiver<Handed>, ends: &AtomicBool) {
    let mut again = Again::default();
    while let Ok(first) = next(handed, again.next()) {
        let mut changes = again.due(Instant::now());
        let mut waiting = Vec::new();
        for handed in first.into_iter().chain(handed.try_iter()) {
            match handed {
                Handed::Changes(more) => more.into_iter().for_each(|one| add(&mut changes, one)),
                Handed::Done(done) => waiting.push(done),
            }
        }
        for change in changes {
            if ends.load(Ordering::Acquire) {
                return;
            }
            library.take_or_again(&change, &mut again, Instant::now());
            library.has_staged(change.path());
        }
        for done in waiting {
            let _ = done.send(());
        }
    }
}

/// What comes next; none if nothing has come by then.
fn next(
    handed: &Receiver<Handed>,
    until: Option<Instant>,
) -> Result<Option<Handed>, RecvTimeoutError> {
    let Some(until) = until else {
        return Ok(Some(handed.recv()?));
    };
    match handed.recv_timeout(until.saturating_duration_since(Instant::now())) {
        Err(RecvTimeoutError::Timeout) => Ok(None),
        handed => handed.map(Some),
    }
}

/// Of a file only what it became last counts.
fn add(changes: &mut Vec<Change>, change: Change) {
    changes.retain(|other| other.path() != change.path());
    changes.push(change);
}
