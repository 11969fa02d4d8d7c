//! Which hosts have changed since when, and in what: for those who keep answers about
//! hosts and want to ask again only where something changed.

use std::collections::VecDeque;
use std::ops::{BitOr, BitOrAssign};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Parts of what is known of a host, as a set of bits. Different columns may share a
/// bit: a set never leaves out what it should name, but may name more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Aspects(u64);

/// Bits for columns of `hosts`, and after them for tables below hosts in columns.
const COLUMNS: usize = 48;
const NESTED: usize = 8;

impl Aspects {
    /// Nothing has changed.
    pub const NOTHING: Self = Self(0);
    /// Everything, the coming and going of the host included.
    pub const ALL: Self = Self(u64::MAX);
    /// Running and pending VMs, and what stands below them.
    pub const VMS: Self = Self(1 << (COLUMNS + NESTED));
    /// Tables of facts below the host.
    pub const ROWS: Self = Self(1 << (COLUMNS + NESTED + 1));

    /// The column of that number.
    pub fn column(index: usize) -> Self {
        Self(1 << (index % COLUMNS))
    }

    /// The table below hosts of that number that is stored in columns.
    #[inline]
    pub fn nested(index: usize) -> Self {
        Self(1 << (COLUMNS + index % NESTED))
    }

    /// Whether both have something in common.
    #[inline]
    pub fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Aspects {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Aspects {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// A place in a log of changes: everything before it has been seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor(u64);

/// How many changes are remembered at least, whatever the number of hosts.
const LEAST_BOUND: usize = 1 << 12;

/// What changed, oldest first, bounded. A copy begins empty, with an identity of its
/// own, so that cursors of one inventory are not taken for another's.
#[derive(Debug, Default)]
pub struct ChangeLog {
    identity: Arc<()>,
    entries: VecDeque<(u32, Aspects)>,
    /// How many entries were dropped.
    dropped: u64,
    /// How many entries someone has seen, and which must not grow any more.
    seen: AtomicU64,
}

impl Clone for ChangeLog {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl ChangeLog {
    /// What tells this log from all others.
    #[inline]
    pub fn identity(&self) -> &Arc<()> {
        &self.identity
    }

    /// The place behind the last change.
    pub fn end(&self) -> Cursor {
        let end = self.dropped + self.entries.len() as u64;
        self.seen.store(end, Ordering::Relaxed);
        Cursor(end)
    }

    /// The changes since then: slots of hosts, some more than once, each with what
    /// changed. None if that is too long ago.
    #[inline]
    pub fn since(&self, cursor: Cursor) -> Option<impl Iterator<Item = (u32, Aspects)>> {
        let skip = usize::try_from(cursor.0.checked_sub(self.dropped)?).ok()?;
        Some(self.entries.range(skip.min(self.entries.len())..).copied())
    }

    pub(super) fn note(&mut self, slot: u32, aspects: Aspects, hosts: usize) {
        if aspects == Aspects::NOTHING {
            return;
        }
        let end = self.dropped + self.entries.len() as u64;
        if end > *self.seen.get_mut()
            && let Some((last, changed)) = self.entries.back_mut()
            && *last == slot
        {
            *changed |= aspects;
            return;
        }
        // A reader that is further behind than there are hosts has to look at most
        // of them anyway.
        if self.entries.len() >= LEAST_BOUND.max(2 * hosts) {
            self.entries.pop_front();
            self.dropped += 1;
        }
        self.entries.push_back((slot, aspects));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn since(log: &ChangeLog, cursor: Cursor) -> Vec<(u32, Aspects)> {
        log.since(cursor).unwrap().collect()
    }

    #[test]
    fn changes_of_one_host_are_one_entry_until_somebody_has_seen_it() {
        let mut log = ChangeLog::default();
        let (a, b) = (Aspects::column(1), Aspects::column(2));
        let start = log.end();
        log.note(3, a, 10);
        log.note(3, b, 10);
        assert_eq!(since(&log, start), [(3, a | b)]);
        let seen = log.end();
        log.note(3, a, 10);
        assert_eq!(since(&log, seen), [(3, a)]);
        assert_eq!(since(&log, start).len(), 2);
    }

    #[test]
    fn what_is_too_long_ago_is_told_from_no_change() {
        let mut log = ChangeLog::default();
        let start = log.end();
        for slot in 0..=u32::try_from(LEAST_BOUND).unwrap() {
            log.note(slot, Aspects::VMS, 1);
        }
        assert!(log.since(start).is_none());
        assert_eq!(since(&log, log.end()), []);
    }

    #[test]
    fn a_copy_is_another_log() {
        let log = ChangeLog::default();
        assert!(!Arc::ptr_eq(log.identity(), log.clone().identity()));
    }
}
