//! The audit log: who changed what, from where, and who was refused; in a file of its own
//! whose records are chained by their hashes.
//!
//! Whoever has something to record puts it into a bounded queue and never waits: one thread
//! writes. Where the queue is full, the record is lost and counted, in a metric and in the next
//! record that is written.

mod chain;
mod difference;
mod file;
mod record;
mod refusals;
mod tail;
mod verify;
mod writer;

pub use difference::difference;
pub use file::{AuditFileError, AuditFileOptions};
pub use record::{Kind, Origin, Record, bounded, listed};
pub use refusals::Who;
pub use verify::{Break, Verified, VerifyError, verify};

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use self::file::AuditFile;
use self::refusals::Refusals;
use self::writer::{Sink, Writer};
use crate::telemetry::AuditMetrics;
use placewright_sync::Mutex;
use placewright_sync::atomic::{AtomicU64, Ordering};

/// Records that may wait to be written. Each has a few KiB at most.
const QUEUE: usize = 8192;

/// Where records go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// Nowhere.
    Off,
    /// To standard error, among the lines of the log; each start begins a chain of its own.
    Log,
    /// Into a file.
    File(AuditFileOptions),
}

/// Why there is no audit log.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The file cannot be used.
    #[error(transparent)]
    File(#[from] AuditFileError),
    /// The system has no thread to give.
    #[error("cannot start the thread that writes the audit log")]
    Thread(#[source] io::Error),
}

/// Takes records. Clones write to the same log.
#[derive(Debug, Clone, Default)]
pub struct Audit(Option<Arc<Inner>>);

#[derive(Debug)]
struct Inner {
    queue: SyncSender<Message>,
    /// Records that had no room in the queue and are in no record yet.
    lost: Arc<AtomicU64>,
    refusals: Arc<Refusals>,
    metrics: AuditMetrics,
    writer: Mutex<Option<JoinHandle<()>>>,
    /// The file, if there is one.
    path: Option<PathBuf>,
}

#[derive(Debug)]
enum Message {
    Record(SystemTime, Box<Record>),
    /// Everything before is to be written; then there is an answer.
    Flush(SyncSender<()>),
    /// The same, and the writer ends.
    End(SyncSender<()>),
}

impl Audit {
    /// Begin to write where the last server ended.
    ///
    /// # Errors
    /// If the file cannot be opened or read, or there is no thread.
    pub fn open(destination: &Destination, metrics: AuditMetrics) -> Result<Self, AuditError> {
        let (sink, path) = match destination {
            Destination::Off => return Ok(Self::default()),
            Destination::Log => (
                Sink::Stream(Box::new(io::stderr()) as Box<dyn Write + Send>),
                None,
            ),
            Destination::File(options) => {
                let file = AuditFile::open(options)?;
                (Sink::File(Box::new(file)), Some(options.path.clone()))
            }
        };
        Self::start(sink, path, metrics, QUEUE)
    }

    fn start(
        sink: Sink,
        path: Option<PathBuf>,
        metrics: AuditMetrics,
        room: usize,
    ) -> Result<Self, AuditError> {
        let (queue, records) = sync_channel(room);
        let (lost, refusals) = (Arc::new(AtomicU64::new(0)), Arc::new(Refusals::default()));
        let writer = Writer::new(sink, lost.clone(), refusals.clone(), metrics.clone());
        let thread = thread::Builder::new().name("audit".to_owned());
        let writer = thread
            .spawn(move || writer.run(&records))
            .map_err(AuditError::Thread)?;
        Ok(Self(Some(Arc::new(Inner {
            queue,
            lost,
            refusals,
            metrics,
            writer: Mutex::new(Some(writer)),
            path,
        }))))
    }

    /// Whether anything is recorded.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// The file that is written to, if there is one.
    pub fn path(&self) -> Option<&std::path::Path> {
        self.0.as_ref()?.path.as_deref()
    }

    /// Record something. Never waits.
    pub fn record(&self, record: Record) {
        let Some(inner) = &self.0 else { return };
        let message = Message::Record(SystemTime::now(), Box::new(record));
        match inner.queue.try_send(message) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                inner.lost.fetch_add(1, Ordering::Relaxed);
                inner.metrics.lost.inc();
            }
        }
    }

    /// Record a refusal, unless whoever is refused has been refused too often just now: those
    /// that are left out are counted, and the count is recorded later. Whether it was recorded.
    pub fn refuse(&self, who: Who, record: Record) -> bool {
        let Some(inner) = &self.0 else { return false };
        match inner.refusals.admit(who, Instant::now()) {
            None => false,
            Some(left_out) => {
                self.record(Record { left_out, ..record });
                true
            }
        }
    }

    /// Wait until everything that was recorded before is written, or for as long as `limit`.
    /// Whether it was.
    pub fn flush(&self, limit: Duration) -> bool {
        self.settle(Message::Flush, limit)
    }

    /// Write everything and end, within `limit`. Whether everything was written.
    pub fn end(&self, limit: Duration) -> bool {
        let ended = self.settle(Message::End, limit);
        if ended && let Some(inner) = &self.0 {
            let writer = inner.writer.lock();
            let writer = writer.unwrap_or_else(PoisonError::into_inner).take();
            // It has nothing more to do.
            writer.is_none_or(|writer| writer.join().is_ok())
        } else {
            ended
        }
    }

    fn settle(&self, message: fn(SyncSender<()>) -> Message, limit: Duration) -> bool {
        let Some(inner) = &self.0 else { return true };
        let until = Instant::now() + limit;
        let (done, is_done) = sync_channel(1);
        let mut message = message(done);
        // The queue may be full.
        loop {
            match inner.queue.try_send(message) {
                Ok(()) => break,
                Err(TrySendError::Full(again)) if Instant::now() < until => {
                    message = again;
                    thread::sleep(Duration::from_millis(5));
                }
                Err(_) => return false,
            }
        }
        let left = until.saturating_duration_since(Instant::now());
        is_done.recv_timeout(left).is_ok()
    }
}

#[cfg(test)]
mod tests;
