//! The thread that scans a folder when it is told to, and every few seconds.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecursiveMode, Watcher as _};

use super::writers::Writers;
use super::{Change, Folder, Seen};

/// Why a folder is not watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// There is no thread for it.
    #[error("cannot start the thread that watches {}", .0.display())]
    Thread(PathBuf, #[source] io::Error),
}

/// What the thread is told.
enum Signal {
    Scan,
    /// Scan, and answer when what was found has been reported.
    ScanFor(Sender<()>),
    /// Scan, and answer when that was reported and nothing is left that has not settled.
    SettleFor(Sender<()>),
    /// Scan, and tell of what this file holds though it was told.
    Again(PathBuf),
    Stop,
}

/// Asks for a scan. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Bell(Sender<Signal>);

impl Bell {
    /// Something may have changed.
    pub fn ring(&self) {
        // A watcher that has ended needs no scan.
        let _ = self.0.send(Signal::Scan);
    }

    /// Tell of what that file holds once more: what was told could not be made use of.
    pub fn look_again(&self, path: PathBuf) {
        let _ = self.0.send(Signal::Again(path));
    }

    /// Scan until every file has settled, and wait until all has been reported. A file that is
    /// written all the time is waited for some seconds.
    pub fn settle(&self) {
        let (done, settled) = mpsc::channel();
        if self.0.send(Signal::SettleFor(done)).is_ok() {
            let _ = settled.recv();
        }
    }

    /// Scan, and wait until what was found has been reported.
    pub fn scan(&self) {
        let (done, scanned) = mpsc::channel();
        if self.0.send(Signal::ScanFor(done)).is_ok() {
            let _ = scanned.recv();
        }
    }
}

/// A file that is written for so long is not waited for.
const LONGEST_WRITING: Duration = Duration::from_secs(10);

/// Those who wait for what the folder holds.
#[derive(Default)]
struct Waiting {
    /// For the next scan.
    scan: Vec<Sender<()>>,
    /// For a scan that leaves nothing behind, since when.
    settled: Vec<(Sender<()>, Instant)>,
    /// Files to be told of once more.
    again: Vec<PathBuf>,
}

impl Waiting {
    /// Answer those who need not wait any more; `left` tells whether a file has not settled.
    fn answer(&mut self, left: bool) {
        for done in self.scan.drain(..) {
            // Who has gone needs no answer.
            let _ = done.send(());
        }
        self.settled.retain(|(done, since)| {
            let waits = left && since.elapsed() < LONGEST_WRITING;
            if !waits {
                let _ = done.send(());
            }
            waits
        });
    }
}

/// A folder that is being watched. Ends with this value, and waits for its thread.
#[derive(Debug)]
pub struct Watcher {
    bell: Bell,
    thread: Option<JoinHandle<()>>,
}

impl Watcher {
    /// Scan the folder now, at every change that the system tells of, and as often as
    /// its options say. `whole` is as for [`Folder::scan`]; `report` is told of each change
    /// before the next file is read, and of none at the end of each scan. Both are called on
    /// the thread of the watcher.
    ///
    /// # Errors
    /// If no thread can be started. A system that tells of no changes is no error:
    /// the folder is scanned as often as its options say.
    pub fn start(
        folder: Folder,
        whole: impl FnMut(&Seen) -> bool + Send + 'static,
        report: impl FnMut(Option<Change>) + Send + 'static,
    ) -> Result<Self, WatchError> {
        let (sender, signals) = mpsc::channel();
        let bell = Bell(sender);
        let path = folder.path().to_owned();
        let ears = Ears::new(bell.clone(), folder.writers().clone());
        let thread = thread::Builder::new()
            .name("watch".to_owned())
            .spawn(move || run(folder, ears, &signals, whole, report))
            .map_err(|error| WatchError::Thread(path, error))?;
        Ok(Self {
            bell,
            thread: Some(thread),
        })
    }

    /// What asks for a scan.
    pub fn bell(&self) -> &Bell {
        &self.bell
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.bell.0.send(Signal::Stop);
        if let Some(thread) = self.thread.take() {
            // It can only have panicked, which the panic has told of.
            let _ = thread.join();
        }
    }
}

fn run(
    mut folder: Folder,
    mut ears: Ears,
    signals: &Receiver<Signal>,
    mut whole: impl FnMut(&Seen) -> bool,
    mut report: impl FnMut(Option<Change>),
) {
    let mut waiting = Waiting::default();
    loop {
        // Before the scan, so that nothing falls between the two.
        ears.listen(folder.ways());
        let now = Instant::now();
        for path in waiting.again.drain(..) {
            folder.look_again(&path, now);
        }
        let next = folder.scan_each(now, &mut whole, &mut |change| report(Some(change)));
        report(None);
        waiting.answer(next.is_some());
        let rest = folder.options().rescan;
        let rest = next.map_or(rest, |next| {
            rest.min(next.saturating_duration_since(Instant::now()))
        });
        if !wait(signals, rest, &mut waiting) {
            return;
        }
    }
}

/// Wait for a signal. All that have come lead to one scan. False at the end.
fn wait(signals: &Receiver<Signal>, rest: Duration, waiting: &mut Waiting) -> bool {
    let mut next = match signals.recv_timeout(rest) {
        Ok(signal) => Some(signal),
        Err(RecvTimeoutError::Timeout) => None,
        Err(RecvTimeoutError::Disconnected) => return false,
    };
    while let Some(signal) = next {
        match signal {
            Signal::Scan => {}
            Signal::ScanFor(done) => waiting.scan.push(done),
            Signal::SettleFor(done) => waiting.settled.push((done, Instant::now())),
            Signal::Again(path) => waiting.again.push(path),
            Signal::Stop => return false,
        }
        next = signals.try_recv().ok();
    }
    true
}

/// Hears of changes in folders from the system.
struct Ears {
    watcher: Option<notify::RecommendedWatcher>,
    heard: BTreeSet<(PathBuf, Option<Inode>)>,
}

/// What tells a folder from another one that takes its name.
type Inode = (u64, u64);

impl Ears {
    fn new(bell: Bell, writers: Writers) -> Self {
        let heard = move |event: notify::Result<notify::Event>| {
            if let Ok(event) = &event {
                writers.hear(event, Instant::now());
            }
            if event.is_err() || event.is_ok_and(|event| tells(event.kind)) {
                bell.ring();
            }
        };
        let watcher = notify::recommended_watcher(heard)
            .inspect_err(|error| {
                tracing::warn!(%error, "the system does not report changed files: folders are only scanned every few seconds");
            })
            .ok();
        Self {
            watcher,
            heard: BTreeSet::new(),
        }
    }

    /// Listen to these folders and no others.
    fn listen(&mut self, folders: BTreeSet<PathBuf>) {
        let Some(watcher) = &mut self.watcher else {
            return;
        };
        let wanted: BTreeSet<_> = folders
            .into_iter()
            .map(|folder| {
                let inode = inode(&folder);
                (folder, inode)
            })
            .collect();
        for (folder, _) in self.heard.difference(&wanted) {
            // A folder that was removed is not listened to any more as it is.
            let _ = watcher.unwatch(folder);
        }
        self.heard.retain(|heard| wanted.contains(heard));
        for (folder, inode) in wanted {
            if inode.is_none() || self.heard.contains(&(folder.clone(), inode)) {
                continue;
            }
            match watcher.watch(&folder, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    self.heard.insert((folder, inode));
                }
                Err(error) => {
                    tracing::debug!(folder = %folder.display(), %error, "cannot be listened to");
                }
            }
        }
    }
}

/// Whether an event may be of a change: we read files ourselves.
fn tells(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    }
}

#[cfg(unix)]
fn inode(folder: &std::path::Path) -> Option<Inode> {
    use std::os::unix::fs::MetadataExt;
    let folder = folder.metadata().ok().filter(std::fs::Metadata::is_dir)?;
    Some((folder.dev(), folder.ino()))
}

#[cfg(not(unix))]
fn inode(folder: &std::path::Path) -> Option<Inode> {
    folder.is_dir().then_some((0, 0))
}
