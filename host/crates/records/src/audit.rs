//! The audit log: who changed what, from where, and who was refused; in a file of its own
//! whose records are chained by their hashes.
//!
//! Whoever has something to record puts it into a bounded queue; one thread writes. Where the
//! queue is full, a change waits for a place in it for a bounded time: calls then come no faster
//! than they can be recorded. While nothing can be written nobody waits, and what has no place
//! is lost and counted, in a metric and in the next record that is written.
//!
//! Calls that changed nothing have so many records for each caller, and never wait: those
//! without one are counted, and one record tells of all of them.

mod backwards;
mod chain;
mod difference;
mod entry;
mod file;
mod page;
mod rate;
mod read;
mod record;
mod removal;
mod tail;
mod verify;
mod writer;

pub use difference::difference;
pub use entry::{Entry, Outcome};
pub use file::{AuditFileError, AuditFileOptions};
pub use page::{AuditPage, Gap, GapKind};
pub use rate::{Source, Unchanged};
pub use read::{Wanted, read};
pub use record::{Kind, Origin, Record, WORDS, bounded, listed, shortened};
pub use verify::{Break, ReadError, Verified, verify};

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use self::file::AuditFile;
use self::rate::RateLimit;
use self::writer::{Sink, Writer};
use crate::telemetry::AuditMetrics;
use placewright_sync::Mutex;
use placewright_sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Records that may wait to be written. Each has a few KiB at most.
const QUEUE: usize = 8192;

/// How long a change waits for a place in the queue, as long as the writer gets on.
const WAIT: Duration = Duration::from_secs(5);

/// How often it looks for one.
const PAUSE: Duration = Duration::from_millis(2);

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
    /// Nothing can be written just now.
    fails: Arc<AtomicBool>,
    rate: Arc<RateLimit>,
    metrics: AuditMetrics,
    writer: Mutex<Option<JoinHandle<()>>>,
    /// The file, if there is one.
    path: Option<PathBuf>,
}

/// A record that waits for a place in the queue.
#[derive(Debug)]
pub struct Offered(SystemTime, Box<Record>);

#[derive(Debug)]
enum Message {
    Record(Offered),
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
        let shared = writer::Shared::default();
        let writer = Writer::new(sink, shared.clone(), metrics.clone());
        let thread = thread::Builder::new().name("audit".to_owned());
        let writer = thread
            .spawn(move || writer.run(&records))
            .map_err(AuditError::Thread)?;
        Ok(Self(Some(Arc::new(Inner {
            queue,
            lost: shared.lost,
            fails: shared.fails,
            rate: shared.rate,
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

    /// Record something that happened. Where there is no place in the queue it waits for one,
    /// for some seconds at most.
    pub fn record(&self, record: Record) {
        let mut offered = self.offer(record);
        while let Err(again) = offered {
            let Some(pause) = self.pause(&again) else {
                return self.lose(again);
            };
            thread::sleep(pause);
            offered = self.offer_again(again);
        }
    }

    /// The same, without holding the thread up.
    ///
    /// # Errors
    /// If there is no place in the queue: it is to be offered again after a [`Audit::pause`], or
    /// [lost](Audit::lose).
    pub fn offer(&self, record: Record) -> Result<(), Offered> {
        match self.is_on() {
            true => self.offer_again(Offered(SystemTime::now(), Box::new(record))),
            false => Ok(()),
        }
    }

    /// Offer once more what had no place.
    ///
    /// # Errors
    /// If there is none now either.
    pub fn offer_again(&self, offered: Offered) -> Result<(), Offered> {
        let Some(inner) = &self.0 else { return Ok(()) };
        match inner.queue.try_send(Message::Record(offered)) {
            Ok(()) => Ok(()),
            Err(
                TrySendError::Full(Message::Record(offered))
                | TrySendError::Disconnected(Message::Record(offered)),
            ) => Err(offered),
            Err(_) => Ok(()),
        }
    }

    /// How long to wait before the record is offered again; None: not at all, as it has waited
    /// long enough, or nothing can be written.
    pub fn pause(&self, offered: &Offered) -> Option<Duration> {
        let Offered(since, _) = offered;
        let waited = since.elapsed().unwrap_or_default();
        (waited < WAIT && self.gets_on()).then_some(PAUSE)
    }

    /// The record is lost, and counted.
    pub fn lose(&self, _: Offered) {
        if let Some(inner) = &self.0 {
            inner.lost.fetch_add(1, Ordering::Relaxed);
            inner.metrics.lost.inc();
        }
    }

    /// Whether the writer writes.
    fn gets_on(&self) -> bool {
        let inner = self.0.as_ref();
        inner.is_some_and(|inner| !inner.fails.load(Ordering::Relaxed))
    }

    /// Record a call that changed nothing, unless there were too many such calls of that source
    /// just now, or there is no place for it: those that are left out are counted, and one
    /// record tells of all of them later. Whether it was recorded.
    pub fn record_unchanged(
        &self,
        source: &Source,
        why: Unchanged,
        record: impl FnOnce() -> Record,
    ) -> bool {
        let Some(inner) = &self.0 else { return false };
        if !inner.rate.admit(source, why, Instant::now()) {
            return false;
        }
        let is_recorded = self.offer(record()).is_ok();
        if !is_recorded {
            inner.rate.leave_out(source, why);
        }
        is_recorded
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
