//! The thread that writes.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::chain::{self, Head};
use super::file::AuditFile;
use super::rate::RateLimit;
use super::record::Record;
use super::{Message, Offered};
use crate::telemetry::AuditMetrics;
use placewright_sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How often records are forced to the disk, and refusals counted together are recorded.
const TICK: Duration = Duration::from_secs(1);

/// How long records are collected before they are written together: whoever records one
/// meanwhile need not wake the writer.
const COLLECTING: Duration = Duration::from_millis(10);

/// How long to wait after a write that failed.
const RETRY: Duration = Duration::from_millis(500);

/// How often a write that goes on failing is told of in the log.
const COMPLAINT: Duration = Duration::from_secs(60);

/// Bytes that are written at once, about.
const BATCH: usize = 256 << 10;

/// Where lines go.
pub(super) enum Sink {
    File(Box<AuditFile>),
    Stream(Box<dyn Write + Send>),
}

impl Sink {
    fn append(&mut self, lines: &[u8], head: Head) -> io::Result<()> {
        match self {
            Self::File(file) => file.append(lines, head),
            Self::Stream(stream) => stream.write_all(lines),
        }
    }

    fn rotate(&mut self) -> io::Result<Option<Record>> {
        match self {
            Self::File(file) => file.rotate(),
            Self::Stream(_) => Ok(None),
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.sync(),
            Self::Stream(stream) => stream.flush(),
        }
    }
}

/// What the writer and those who record share.
#[derive(Debug, Clone, Default)]
pub(super) struct Shared {
    /// Records that had no room in the queue and are in no record yet.
    pub lost: Arc<AtomicU64>,
    /// Nothing can be written just now.
    pub fails: Arc<AtomicBool>,
    /// Which calls that changed nothing have records.
    pub rate: Arc<RateLimit>,
}

pub(super) struct Writer {
    sink: Sink,
    /// The last record that has a line, written or not.
    head: Head,
    /// Lines that are not written yet.
    lines: String,
    /// How many those are.
    count: u64,
    shared: Shared,
    metrics: AuditMetrics,
    /// When the log was told last that writing fails.
    failing: Option<Instant>,
    ticked: Instant,
}

impl Writer {
    pub(super) fn new(mut sink: Sink, shared: Shared, metrics: AuditMetrics) -> Self {
        let (head, found) = match &mut sink {
            Sink::File(file) => (file.head(), std::mem::take(&mut file.found)),
            Sink::Stream(_) => (Head::default(), Vec::new()),
        };
        let mut writer = Self {
            sink,
            head,
            lines: String::new(),
            count: 0,
            shared,
            metrics,
            failing: None,
            ticked: Instant::now(),
        };
        for record in found {
            writer.seal(SystemTime::now(), record);
        }
        writer
    }

    /// Write what comes until the end is asked for, or nobody is left to ask.
    pub(super) fn run(mut self, records: &Receiver<Message>) {
        self.announce("the audit log continues");
        loop {
            let mut answers = Vec::new();
            let mut ends = false;
            match records.recv_timeout(TICK) {
                Ok(message) => {
                    ends |= self.take(message, &mut answers);
                    if !ends && answers.is_empty() {
                        thread::sleep(COLLECTING);
                    }
                    while !ends && answers.is_empty() && self.lines.len() < BATCH {
                        let Ok(message) = records.try_recv() else {
                            break;
                        };
                        ends |= self.take(message, &mut answers);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => ends = true,
            }
            if ends || self.ticked.elapsed() >= TICK {
                self.tick(ends);
            }
            while !self.write() {
                thread::sleep(RETRY);
            }
            if ends || !answers.is_empty() {
                self.sync();
            }
            if ends {
                self.announce("the audit log ends for now");
            }
            for done in answers {
                // Whoever asked may have given up.
                let _ = done.try_send(());
            }
            if ends {
                return;
            }
        }
    }

    /// Whether it is the end.
    fn take(&mut self, message: Message, answers: &mut Vec<SyncSender<()>>) -> bool {
        match message {
            Message::Record(Offered(at, record)) => {
                self.seal(at, *record);
                false
            }
            Message::Flush(done) => {
                answers.push(done);
                false
            }
            Message::End(done) => {
                answers.push(done);
                true
            }
        }
    }

    /// Give a record its line.
    fn seal(&mut self, at: SystemTime, mut record: Record) {
        let lost = self.shared.lost.swap(0, Ordering::Relaxed);
        let line = chain::line(&mut self.head, at, lost, &record.json());
        self.lines.push_str(&line);
        self.count += 1;
    }

    fn tick(&mut self, all: bool) {
        self.ticked = Instant::now();
        let now = SystemTime::now();
        if let Some(left_out) = self.shared.rate.over(self.ticked, all) {
            let record = Record {
                left_out: left_out.count,
                ..Record::log("left-out", left_out.message)
            };
            self.seal(now, record);
        }
        if self.shared.lost.load(Ordering::Relaxed) > 0 {
            let sentence = "the queue of the audit log was full";
            self.seal(now, Record::log("lost", sentence));
        }
        self.sync();
    }

    /// Write what waits. Whether nothing waits any more.
    fn write(&mut self) -> bool {
        match self.sink.rotate() {
            Ok(None) => {}
            Ok(Some(record)) => {
                self.announce("the audit log continues in another file");
                self.seal(SystemTime::now(), record);
            }
            // It goes on in the same file.
            Err(error) => self.complain(&error, "cannot begin another file of the audit log"),
        }
        if self.lines.is_empty() {
            return true;
        }
        match self.sink.append(self.lines.as_bytes(), self.head) {
            Ok(()) => {
                self.shared.fails.store(false, Ordering::Relaxed);
                if self.failing.take().is_some() {
                    tracing::info!("the audit log can be written again");
                }
                self.metrics.records.inc_by(self.count);
                let sequence = i64::try_from(self.head.sequence).unwrap_or(i64::MAX);
                self.metrics.sequence.set(sequence);
                self.lines.clear();
                self.count = 0;
                true
            }
            Err(error) => {
                self.shared.fails.store(true, Ordering::Relaxed);
                self.complain(
                    &error,
                    "the audit log cannot be written: records wait, and are lost once too many do",
                );
                false
            }
        }
    }

    fn sync(&mut self) {
        if let Err(error) = self.sink.sync() {
            self.complain(&error, "the audit log cannot be forced to the disk");
        }
    }

    fn complain(&mut self, error: &io::Error, what: &str) {
        self.metrics.failures.inc();
        if self.failing.is_none_or(|last| last.elapsed() >= COMPLAINT) {
            self.failing = Some(Instant::now());
            tracing::error!(%error, "{what}");
        }
    }

    /// Tell the log, which is elsewhere, how far the chain is.
    fn announce(&self, what: &str) {
        if let Sink::File(_) = self.sink {
            let hash = hex::encode(self.head.hash);
            tracing::info!(sequence = self.head.sequence, hash, "{what}");
        }
    }
}
