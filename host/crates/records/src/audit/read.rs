//! Reads the log, the newest record first, a page at a time.
//!
//! A page ends by entries, by their bytes, and by how much of the log was looked at, so that a
//! filter that few records pass costs no more than one that all do. Where records are missing or
//! not as they were written, the page says so, whatever its filter lets through.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::backwards::{Backwards, Line, end_of};
use super::chain::{self, Head, Link};
use super::entry::{Entry, Outcome};
use super::file::{full_files, head_path, read_head};
use super::page::{AuditPage, Gap, GapKind};
use super::record::Kind;
use super::verify::{ReadError, failed, first, of_name};

/// Bytes of the log that are looked at for a page, about.
const LOOKED_AT: u64 = 16 << 20;

/// Bytes of the records of a page, about.
const BYTES: usize = 4 << 20;

/// Places where records are missing that a page tells of.
const GAPS: usize = 100;

/// Records are in the order in which they were written; how far their times may be out of it.
const DISORDER: Duration = Duration::from_secs(60);

/// Which records are wanted: those that fit everything that is given.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Of this kind.
    pub kind: Option<Kind>,
    /// Of this caller.
    pub by: Option<String>,
    /// Of which the word, or method and route, have this text.
    pub action: Option<String>,
    /// Of this cluster.
    pub cluster: Option<String>,
    /// Calls of which this came.
    pub result: Option<Outcome>,
    /// Calls that were answered with this status.
    pub status: Option<u16>,
    /// Of which an id, a name or a sentence has this text.
    pub text: Option<String>,
    /// Not before this.
    pub since: Option<SystemTime>,
    /// Not after this.
    pub until: Option<SystemTime>,
}

/// How much of the log is looked at for a page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub entries: usize,
    pub looked_at: u64,
}

/// Read a page of the log in this file and the full ones beside it: at most so many of the
/// records that are wanted, of those before the one with the number `after`, or of all.
///
/// # Errors
/// If one of the files cannot be read.
pub fn read(
    path: &Path,
    wanted: &Wanted,
    after: Option<u64>,
    entries: usize,
) -> Result<AuditPage, ReadError> {
    let looked_at = LOOKED_AT;
    read_within(path, wanted, after, Bounds { entries, looked_at })
}

pub(super) fn read_within(
    path: &Path,
    wanted: &Wanted,
    after: Option<u64>,
    bounds: Bounds,
) -> Result<AuditPage, ReadError> {
    // Before the files: it is never ahead of them.
    let noted = std::fs::read(head_path(path));
    let noted = noted.ok().and_then(|text| read_head(&text));
    let is_newest = after.is_none() && wanted.until.is_none();
    let mut search = Search {
        wanted,
        since: wanted.since.map(written),
        enough: wanted
            .since
            .map(|at| written(at.checked_sub(DISORDER).unwrap_or(SystemTime::UNIX_EPOCH))),
        until: wanted.until.map(written),
        from: wanted
            .until
            .map(|at| written(at.checked_add(DISORDER).unwrap_or(at))),
        after,
        bounds,
        page: AuditPage::default(),
        noted: noted.filter(|_| is_newest),
        newer: None,
        unreadable: 0,
        bytes: 0,
        looked_at: 0,
    };
    for part in parts(path)?.iter_mut().rev() {
        if !search.file(part)? {
            return Ok(search.page);
        }
    }
    search.reached_the_beginning();
    Ok(search.page)
}

/// A moment as records have it, so that texts are in the order of time.
fn written(at: SystemTime) -> String {
    // Of no other moments does the format have texts.
    let last = SystemTime::UNIX_EPOCH + Duration::from_secs(253_402_300_799);
    let at = at.clamp(SystemTime::UNIX_EPOCH, last);
    humantime::format_rfc3339_micros(at).to_string()
}

/// A file of the log.
struct Part {
    path: PathBuf,
    /// Number of its first record, if that is known.
    first: Option<u64>,
    /// The one that is written to, which may be a full one by now; others are opened when it is
    /// their turn.
    open: Option<File>,
}

/// The files, the oldest first.
fn parts(path: &Path) -> Result<Vec<Part>, ReadError> {
    // First, as it may become a full one meanwhile.
    let opened = File::open(path);
    let full_files = full_files(path).map_err(failed(path))?;
    let mut open = match opened {
        Ok(file) => Some(file),
        // It has just become a full one, and the next is not begun yet.
        Err(error) if error.kind() == io::ErrorKind::NotFound && !full_files.is_empty() => None,
        Err(error) => return Err(failed(path)(error)),
    };
    // Of one that became a full one meanwhile it is the number in that one's name.
    let begin = match &mut open {
        Some(file) => first(file).map_err(failed(path))?,
        None => None,
    };
    let mut parts = Vec::new();
    for full in full_files {
        let name = full.file_stem().unwrap_or_default().to_string_lossy();
        // The name of one that was set aside has the number after its last record.
        let is_aside = name.ends_with("-broken");
        let first = of_name(&full).filter(|_| !is_aside);
        if first.is_some_and(|first| begin.is_some_and(|begin| first >= begin)) {
            continue;
        }
        parts.push(Part {
            path: full,
            first,
            open: None,
        });
    }
    if open.is_some() {
        parts.push(Part {
            path: path.to_owned(),
            first: begin,
            open,
        });
    }
    Ok(parts)
}

struct Search<'w> {
    wanted: &'w Wanted,
    since: Option<String>,
    /// Records before this end the search.
    enough: Option<String>,
    until: Option<String>,
    /// Records after this need not be looked at.
    from: Option<String>,
    after: Option<u64>,
    bounds: Bounds,
    page: AuditPage,
    /// The last record, as it was noted, until one was read.
    noted: Option<Head>,
    /// The record that was read before, which is the one after the next.
    newer: Option<Link>,
    /// Lines since then that are no records.
    unreadable: u64,
    /// Of the records of the page.
    bytes: usize,
    looked_at: u64,
}

impl Search<'_> {
    /// Whether more is to be looked at after this file.
    fn file(&mut self, part: &mut Part) -> Result<bool, ReadError> {
        let is_later = |first: u64| self.after.is_some_and(|after| first > after);
        if part.first.is_some_and(is_later) {
            return Ok(true);
        }
        let mut opened;
        let file = match &mut part.open {
            Some(file) => file,
            None => match File::open(&part.path) {
                Ok(file) => {
                    opened = file;
                    &mut opened
                }
                // The oldest are removed meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
                Err(error) => return Err(failed(&part.path)(error)),
            },
        };
        // The record with the number itself, too: the next one is held against it.
        let is_earlier = |link: &Link| {
            self.after.is_none_or(|after| link.head.sequence <= after)
                && self.from.as_ref().is_none_or(|from| link.at <= *from)
        };
        let end = match self.after.is_some() || self.from.is_some() {
            true => end_of(file, is_earlier),
            false => file.metadata().map(|it| it.len()),
        };
        let end = end.map_err(failed(&part.path))?;
        let mut lines = Backwards::before(file, end);
        while let Some(line) = lines.line().map_err(failed(&part.path))? {
            if self.is_full() {
                let last = self.newer.as_ref().map(|link| link.head.sequence);
                self.page.next = last.map(|last| last.to_string());
                return Ok(false);
            }
            if !self.line(&line) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the page has all that it may have. Each has something that the one after it
    /// begins behind.
    fn is_full(&self) -> bool {
        self.page.searched > 0
            && self.unreadable == 0
            && (self.page.items.len() >= self.bounds.entries
                || self.bytes >= BYTES
                || self.page.gaps.len() >= GAPS
                || self.looked_at >= self.bounds.looked_at)
    }

    /// Look at a line; whether to go on.
    fn line(&mut self, line: &Line) -> bool {
        let link = match chain::read(&line.bytes) {
            Ok(link) => link,
            // The server is writing it, or was killed while it did.
            Err(_) if !line.is_whole => return true,
            Err(_) => {
                self.unreadable += 1;
                return true;
            }
        };
        if self.after.is_some_and(|after| link.head.sequence >= after) {
            self.unreadable = 0;
            self.newer = Some(link);
            return true;
        }
        self.compare(&link);
        let goes_on = self.enough.as_ref().is_none_or(|since| link.at >= *since);
        if goes_on {
            self.page.searched += 1;
            self.looked_at += line.bytes.len() as u64;
            self.page.searched_to = Some(link.at.clone());
            self.take(&line.bytes, &link);
        }
        self.newer = Some(link);
        goes_on
    }

    /// Take a record into the page if it is wanted.
    fn take(&mut self, line: &[u8], link: &Link) {
        let is_between = self.since.as_ref().is_none_or(|since| link.at >= *since)
            && self.until.as_ref().is_none_or(|until| link.at <= *until);
        if link.lost > 0 {
            let message = format!(
                "{} records were lost before record {}: the queue of the log was full.",
                link.lost, link.head.sequence
            );
            self.gap(GapKind::Lost, Some(link), Some(link.lost), message);
        }
        if !is_between {
            return;
        }
        match Entry::of(line) {
            Some(entry) if self.is_wanted(&entry) => {
                self.bytes += line.len();
                self.page.items.push(entry);
            }
            Some(_) => {}
            None => {
                let message = format!(
                    "Record {} is of another version of the program.",
                    link.head.sequence
                );
                self.gap(GapKind::Unreadable, Some(link), Some(1), message);
            }
        }
    }

    fn is_wanted(&self, entry: &Entry) -> bool {
        let wanted = self.wanted;
        let is = |wanted: &Option<String>, given: &Option<String>| {
            wanted.is_none() || wanted.as_deref() == given.as_deref()
        };
        wanted.kind.is_none_or(|kind| entry.kind == kind)
            && is(&wanted.by, &entry.by)
            && is(&wanted.cluster, &entry.cluster)
            && wanted.result.is_none_or(|it| entry.result == Some(it))
            && wanted.status.is_none_or(|it| entry.status == Some(it))
            && wanted.action.as_ref().is_none_or(|it| entry.does(it))
            && wanted.text.as_ref().is_none_or(|it| entry.says(it))
    }

    /// Hold the last record against the note of it.
    fn compare_end(&mut self, last: Head) {
        let Some(noted) = self.noted.take() else {
            return;
        };
        if last.sequence < noted.sequence {
            let records = noted.sequence - last.sequence;
            let message = format!(
                "The end is missing: records up to {} were written.",
                noted.sequence
            );
            self.gap(GapKind::Missing, None, Some(records), message);
        } else if last.sequence == noted.sequence && last.hash != noted.hash {
            let message = format!("Record {} is not the one that was written.", last.sequence);
            self.gap(GapKind::Unreadable, None, Some(1), message);
        }
    }

    /// Hold a record against the one after it.
    fn compare(&mut self, link: &Link) {
        self.compare_end(link.head);
        let lines = std::mem::take(&mut self.unreadable);
        let newer = self.newer.take();
        let sequence = link.head.sequence;
        let follows = newer.as_ref().is_none_or(|newer| {
            newer.head.sequence == sequence + 1 && newer.previous == link.head.hash
        });
        if lines > 0 {
            let message = format!(
                "{lines} {} after record {sequence} no record as it was written: \
                 placewright audit verify names the first one.",
                if lines == 1 { "line is" } else { "lines are" }
            );
            self.gap(GapKind::Unreadable, newer.as_ref(), Some(lines), message);
        } else if !follows && let Some(newer) = &newer {
            let missing = newer.head.sequence.checked_sub(sequence + 1);
            let (kind, records, message) = match missing.filter(|it| *it > 0) {
                Some(1) => {
                    let message = format!("Record {} is missing.", sequence + 1);
                    (GapKind::Missing, Some(1), message)
                }
                Some(missing) => {
                    let (first, last) = (sequence + 1, newer.head.sequence - 1);
                    let message = format!("The records {first} to {last} are missing.");
                    (GapKind::Missing, Some(missing), message)
                }
                None => {
                    let message = format!(
                        "What follows record {sequence} was not written after it: one of the two was put in, moved or changed."
                    );
                    (GapKind::Unreadable, None, message)
                }
            };
            self.gap(kind, Some(newer), records, message);
        }
    }

    /// All files were read.
    fn reached_the_beginning(&mut self) {
        let oldest = self.newer.take();
        if self.unreadable > 0 {
            let message = "The first lines of the log are no records as they were written.";
            let lines = Some(self.unreadable);
            self.gap(GapKind::Unreadable, oldest.as_ref(), lines, message.into());
        } else if let Some(oldest) = &oldest
            && oldest.head.sequence > 1
            && self.page.searched > 0
        {
            let before = oldest.head.sequence - 1;
            let message = format!(
                "The records up to {before} are in none of the files: the oldest files are removed."
            );
            self.gap(GapKind::Removed, Some(oldest), Some(before), message);
        }
    }

    fn gap(&mut self, kind: GapKind, link: Option<&Link>, records: Option<u64>, message: String) {
        self.page.gaps.push(Gap {
            kind,
            before: link.map(|link| link.head.sequence),
            at: link.map(|link| link.at.clone()),
            records,
            message,
        });
    }
}
