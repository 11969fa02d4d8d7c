//! What is known of one file, and what to tell of it.

use std::path::Path;
use std::time::{Duration, Instant};

use super::look::{Content, NoLook, Pair, Stamps};
use super::{Change, Scan, Seen};

/// For how long a stamp must have stood when a file is read, so that a write after
/// that must give another stamp: file systems keep times to two seconds at worst.
const COARSEST_CLOCK: Duration = Duration::from_secs(2);

/// How long a file may change at every look before that is told of.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a file that holds nothing must have held nothing to have settled. Programs cut a file
/// to nothing before they write it, and where a disk is busy that shows before the system tells of
/// it.
const EMPTY: Duration = Duration::from_secs(5);

/// The least and, for each byte of a file, the further time between two looks at
/// a file that is not whole yet: reading it again at each of many small writes
/// would take more than the writing does.
const BETWEEN_LOOKS: Duration = Duration::from_micros(200);
const BETWEEN_LOOKS_PER_BYTE: Duration = Duration::from_nanos(10);

/// What is known of a file.
#[derive(Debug)]
pub(super) struct Known {
    /// When it was last read, what its stamps were, and since when.
    read: Instant,
    stamps: Option<Stamps>,
    stamped: Instant,
    /// What was last read, and since when it is that.
    content: Option<Content>,
    changed: Instant,
    /// What was last told of it, in this run or whatever it was in an earlier one.
    expected: bool,
    told: Option<Content>,
    trouble: Option<String>,
    /// Since when it is missing, cannot be read, or changes at every look.
    pub(super) missing: Option<Instant>,
    troubled: Option<Instant>,
    unsteady: Option<Instant>,
    /// Whether it was read and not told of, and until when not to read it again.
    waits: bool,
    rests: Instant,
}

impl Known {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            read: now,
            stamps: None,
            stamped: now,
            content: None,
            changed: now,
            expected: false,
            told: None,
            trouble: None,
            missing: None,
            troubled: None,
            unsteady: None,
            waits: false,
            rests: now,
        }
    }

    /// A file that was told of before anything is known of it.
    pub(super) fn expected(now: Instant) -> Self {
        Self {
            expected: true,
            ..Self::new(now)
        }
    }

    /// Whether anything was told of it.
    pub(super) fn is_told_of(&self) -> bool {
        self.expected || self.told.is_some() || self.trouble.is_some()
    }

    /// Have it told of once more, whatever was told.
    pub(super) fn look_again(&mut self, now: Instant) {
        self.expected |= self.is_told_of();
        self.told = None;
        self.waits = true;
        self.rests = now;
    }

    /// Until when it is not to be read again, if it is not whole.
    pub(super) fn rests_until(&self, now: Instant) -> Option<Instant> {
        (self.waits && now < self.rests).then_some(self.rests)
    }

    /// Whether with these stamps it must hold what it held, and that was told.
    pub(super) fn surely_holds(&self, stamps: &Stamps) -> bool {
        self.stamps.as_ref() == Some(stamps)
            && self.read.saturating_duration_since(self.stamped) >= COARSEST_CLOCK
            && !self.waits
            && self.trouble.is_none()
    }

    /// Take in what was read, and tell of it if it is new and whole or settled. What is being
    /// `written`, since the time that is given, has not settled.
    pub(super) fn take(
        &mut self,
        path: &Path,
        pair: &Pair,
        (now, settle, written): (Instant, Duration, Option<Instant>),
        whole: &mut dyn FnMut(&Seen) -> bool,
        scan: &mut Scan,
    ) {
        self.troubled = None;
        self.note(pair, now, settle);
        if !pair.steady() {
            self.waits = true;
            self.changed = now;
            let since = *self.unsteady.get_or_insert(now);
            if now.saturating_duration_since(since) >= PATIENCE {
                self.tell_trouble(path, "changes all the time".to_owned(), scan);
            }
            return scan.again_at(self.rests);
        }
        self.unsteady = None;
        let content = Some(pair.content);
        if self.told == content && self.trouble.is_none() {
            self.waits = false;
            return;
        }
        let settled_at = self.changed
            + match pair.main.bytes.is_empty() {
                true => settle.max(EMPTY),
                false => settle,
            };
        let seen = pair.seen(path, now >= settled_at && written.is_none());
        if seen.settled || whole(&seen) {
            self.told = content;
            self.trouble = None;
            self.waits = false;
            scan.changes.push(Change::Seen(seen));
            return;
        }
        self.waits = true;
        let Some(since) = written else {
            return scan.again_at(settled_at.max(self.rests));
        };
        if now.saturating_duration_since(since) >= PATIENCE {
            let why =
                "is still being written: it counts once the program that writes it has closed it";
            self.tell_trouble(path, why.to_owned(), scan);
        }
        // That it is closed is told by the system; this is for what is not told.
        scan.again_at(now + settle);
    }

    fn note(&mut self, pair: &Pair, now: Instant, settle: Duration) {
        let stamps = Some(pair.stamps());
        if self.stamps != stamps {
            self.stamps = stamps;
            self.stamped = now;
            self.changed = now;
        }
        if self.content != Some(pair.content) {
            self.content = Some(pair.content);
            self.changed = now;
        }
        self.read = now;
        let bytes = u32::try_from(pair.main.bytes.len()).unwrap_or(u32::MAX);
        let rest = BETWEEN_LOOKS + BETWEEN_LOOKS_PER_BYTE * bytes;
        self.rests = now + rest.min(settle);
    }

    /// Tell why it cannot be read, if that has been so for the time to settle.
    pub(super) fn trouble(
        &mut self,
        path: &Path,
        why: NoLook,
        now: Instant,
        settle: Duration,
        scan: &mut Scan,
    ) {
        let settled_at = *self.troubled.get_or_insert(now) + settle;
        if now < settled_at {
            return scan.again_at(settled_at);
        }
        let why = match why {
            NoLook::Missing => "is a link that leads nowhere".to_owned(),
            NoLook::Unreadable(why) => format!("cannot be read: {why}"),
        };
        self.tell_trouble(path, why, scan);
    }

    pub(super) fn tell_trouble(&mut self, path: &Path, why: String, scan: &mut Scan) {
        if self.trouble.as_ref() != Some(&why) {
            self.trouble = Some(why.clone());
            let path = path.to_owned();
            scan.changes.push(Change::Trouble { path, why });
        }
    }
}
