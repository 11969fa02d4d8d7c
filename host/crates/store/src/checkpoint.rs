//! Folds SQLite's log into the file beside the writer, so that no commit waits for
//! the disk while that is done.
//!
//! A checkpoint in the background never ends the log of a store that is always
//! written to: something came in meanwhile. When the log has become long, the writer
//! therefore folds in the little that is left, and the log begins anew.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;

use super::error::StoreError;
use super::file;

/// After how many bytes of changes the log is folded in. It grows by about three times
/// as much.
const EVERY: usize = 4 << 20;

/// How many pages of 4 KiB the log may have before it is to begin anew: 32 MiB, which
/// are read in well below 100 ms when the process was killed.
const LONG: i64 = 8_192;

/// The writer's side.
pub(super) struct Checkpoints {
    /// Changes since the last one, in bytes.
    written: usize,
    wanted: Option<SyncSender<()>>,
    /// The log is long and nearly all of it folded in.
    ends_log: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpoints {
    pub(super) fn start(file: &Path) -> Result<Self, StoreError> {
        let base = file::checkpointer(file).map_err(|source| StoreError::of(file, source))?;
        // One may be under way and another one wanted; more would be the same.
        let (wanted, asked) = sync_channel(1);
        let ends_log = Arc::new(AtomicBool::new(false));
        let background = Background {
            file: file.to_owned(),
            base,
            asked,
            ends_log: Arc::clone(&ends_log),
        };
        let thread = thread::Builder::new()
            .name("checkpoints".to_owned())
            .spawn(move || background.run())
            .map_err(StoreError::Thread)?;
        Ok(Self {
            written: 0,
            wanted: Some(wanted),
            ends_log,
            thread: Some(thread),
        })
    }

    /// Between two transactions of the writer, the last of which had so many bytes of
    /// changes.
    pub(super) fn written<C: Deref<Target = Connection>>(
        &mut self,
        bytes: usize,
        base: impl FnOnce() -> C,
    ) {
        self.written += bytes;
        if self.written >= EVERY
            && let Some(wanted) = &self.wanted
        {
            self.written = 0;
            // If there is no room, one is wanted already.
            let _ = wanted.try_send(());
        }
        if self.ends_log.swap(false, Ordering::Relaxed)
            && let Err(error) = checkpoint(&base())
        {
            tracing::warn!(%error, "cannot checkpoint the rest of the store's log");
        }
    }
}

impl Drop for Checkpoints {
    /// Ends the thread, so that the writer's connection is the last one: it folds in
    /// all that is left and removes the log.
    fn drop(&mut self) {
        self.wanted = None;
        if let Some(thread) = self.thread.take() {
            // A panic was told where it happened.
            let _ = thread.join();
        }
    }
}

struct Background {
    file: PathBuf,
    base: Connection,
    asked: Receiver<()>,
    ends_log: Arc<AtomicBool>,
}

impl Background {
    fn run(self) {
        while self.asked.recv().is_ok() {
            match checkpoint(&self.base) {
                Ok(pages) => self.ends_log.store(pages > LONG, Ordering::Relaxed),
                Err(error) => {
                    let file = self.file.display();
                    tracing::warn!(%file, %error, "cannot checkpoint the store's log, which keeps growing");
                }
            }
        }
    }
}

/// Fold in what no reader needs as it was, without making anybody wait. Tells how many
/// pages the log has.
fn checkpoint(base: &Connection) -> rusqlite::Result<i64> {
    base.query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |row| row.get(1))
}
