//! The threads that stage what the watcher sees: one takes small units alone, so that they do not
//! wait until a large one is compiled.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::again::Again;
use super::queue::{Lane, Next, Pending, Queue};
use super::{Library, LibraryEvent, LibraryOperationError};
use crate::watch::{Bell, Change, Folder, Options, WatchError, Watcher};

/// How long the end waits for a unit that is being staged: a compiler cannot be
/// stopped, and the thread does no harm any more.
const PATIENCE: Duration = Duration::from_secs(2);

/// A folder of units that is being watched. Ends with this value.
#[derive(Debug)]
pub struct Watching {
    watcher: Option<Watcher>,
    queue: Arc<Queue>,
    ends: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Library {
    /// Watch a folder of units from now on: what it holds is staged on threads of
    /// their own, small units beside large ones. The folder need not exist yet.
    ///
    /// # Errors
    /// If threads cannot be started.
    pub fn watch(
        self: &Arc<Self>,
        path: &Path,
        options: Options,
    ) -> Result<Watching, LibraryOperationError> {
        let mut folder = Folder::new(path, options);
        let now = Instant::now();
        let queue = Arc::new(Queue::default());
        let options = folder.options().clone();
        for known in self.expected() {
            if known.parent() == Some(path) {
                folder.expect(known, now);
            } else {
                // Another folder was watched in an earlier run.
                queue.put(Change::Gone { path: known });
            }
        }
        let ends = Arc::new(AtomicBool::new(false));
        let (library, changes, whole) = (self.clone(), queue.clone(), self.clone());
        let watcher = Watcher::start(
            folder,
            move |seen| whole.is_whole(seen),
            move |found| {
                if let Some(change) = found {
                    if let Change::Seen(seen) = &change {
                        library.will_stage(seen.path.clone());
                    }
                    changes.put(change);
                }
            },
        )?;
        let again = Arc::new(Mutex::default());
        let mut watching = Watching {
            queue: queue.clone(),
            ends: ends.clone(),
            threads: Vec::new(),
            watcher: None,
        };
        for lane in Lane::ALL {
            let stage = Stage {
                lane,
                library: self.clone(),
                queue: queue.clone(),
                again: again.clone(),
                bell: watcher.bell().clone(),
                options: options.clone(),
                ends: ends.clone(),
            };
            let thread = thread::Builder::new()
                .name("stage".to_owned())
                .spawn(move || stage.run())
                .map_err(|error| WatchError::Thread(path.to_owned(), error))?;
            watching.threads.push(thread);
        }
        watching.watcher = Some(watcher);
        Ok(watching)
    }
}

impl Library {
    /// Take in what became of a file, and say if and when that is to be tried again.
    pub(super) fn take_or_again(&self, change: &Change, again: &Mutex<Again>, now: Instant) {
        let staging = self.take(change);
        let pause = lock(again).note(change, staging.as_ref(), now);
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
            wait_until_staged(&queue);
        }
    }

    /// Look at the folder now, and wait until what was found is staged. What has not
    /// settled is found later.
    pub fn rescan(&self) {
        if let Some(watcher) = &self.watcher {
            watcher.bell().scan();
        }
        wait_until_staged(&self.queue);
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        self.watcher = None;
        self.queue.close();
        let begun = Instant::now();
        while !self.threads.iter().all(JoinHandle::is_finished) {
            if begun.elapsed() > PATIENCE {
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
        for thread in self.threads.drain(..) {
            // It can only have panicked, which the panic has told of.
            let _ = thread.join();
        }
    }
}

/// Wait until all that waits for the threads is staged, or they have ended.
fn wait_until_staged(queue: &Queue) {
    let (done, staged) = mpsc::channel();
    queue.when_done(done);
    // At the end nobody answers.
    let _ = staged.recv();
}

fn lock(again: &Mutex<Again>) -> MutexGuard<'_, Again> {
    again.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a thread works with.
struct Stage {
    lane: Lane,
    again: Arc<Mutex<Again>>,
    library: Arc<Library>,
    queue: Arc<Queue>,
    bell: Bell,
    options: Options,
    ends: Arc<AtomicBool>,
}

impl Drop for Stage {
    fn drop(&mut self) {
        // After a panic too nobody waits for what nobody stages.
        self.queue.close();
    }
}

impl Stage {
    fn run(self) {
        loop {
            let next_try = lock(&self.again).next();
            match self.queue.take(self.lane, next_try) {
                Next::Closed => return,
                Next::Change(pending) => self.stage(pending),
                Next::Nothing => {
                    let due = lock(&self.again).due(Instant::now());
                    due.into_iter().for_each(|told| self.queue.put_again(told));
                }
            }
            if self.ends.load(Ordering::Acquire) {
                return;
            }
        }
    }

    /// Take in a change; what was not kept of it is read again. The bytes that are verified
    /// then are those that are compiled.
    fn stage(&self, pending: Pending) {
        let path = pending.path().to_owned();
        let change = match pending {
            Pending::Change(change) => Some(change),
            Pending::Unread(told) => told.read(&self.options).map(Change::Seen),
        };
        match change {
            Some(change) => {
                self.library
                    .take_or_again(&change, &self.again, Instant::now());
            }
            None => {
                lock(&self.again).forget(&path);
                self.bell.look_again(path.clone());
            }
        }
        self.library.has_staged(&path);
    }
}
