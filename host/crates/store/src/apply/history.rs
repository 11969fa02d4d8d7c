//! How rows were when decisions were made.
//!
//! Whenever a row changes, what it was is kept under the number of the last decision,
//! unless that is known already: it is how the row was when that decision was made, and
//! those before it back to the last change. So what is kept is as much as has changed
//! between decisions, however often it has. It goes when the decisions go, or when there
//! is too much of it, the oldest first.
//!
//! Batches that are only tried are decided on a copy of the rows. What that differed by is
//! kept turn by turn, under the number of the batch's last decision, with which it goes.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, VecDeque};

use rusqlite::{Connection, OptionalExtension, params};

use super::{Applied, fits, run};
use crate::change::{Change, CopyTurn};

/// The oldest is removed when this part of the bound is to become free.
const BATCHES: u64 = 32;

/// Bytes that a row of the history is taken to have besides its texts.
pub(super) const OVERHEAD: u64 = 24;

/// Why the history does not begin with the oldest decision: there is too much of it.
pub(crate) const BYTES: &str = "bytes";

/// What a row is, by its number in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i64)]
pub(crate) enum Kind {
    Cluster = 0,
    Host = 1,
    Vm = 2,
    PendingVm = 3,
    Tenant = 4,
    Group = 5,
    Measured = 6,
    Chain = 7,
}

/// The histories of all clusters, as far as they were needed.
pub(super) struct Histories {
    /// Bytes that are kept of each cluster.
    bound: u64,
    clusters: HashMap<i64, History>,
}

/// What is known of the history of one cluster.
struct History {
    /// The number of the last decision.
    last: Option<i64>,
    /// Bytes of the records of decisions, by their numbers, and of all of them.
    records: BTreeMap<i64, u64>,
    of_records: u64,
    /// How many bytes there are under the numbers of decisions, oldest first.
    parts: VecDeque<(i64, u64)>,
    bytes: u64,
}

impl Histories {
    pub(super) fn new(bound: u64) -> Self {
        Self {
            bound,
            clusters: HashMap::new(),
        }
    }

    /// Forget what may have been undone by a rollback.
    pub(super) fn forget(&mut self) {
        self.clusters.clear();
    }

    /// Forget a cluster, whose rows are removed.
    pub(super) fn forget_cluster(&mut self, cluster: i64) {
        self.clusters.remove(&cluster);
    }

    /// A decision was made on the rows as they are, and recorded in so many bytes.
    pub(super) fn decided(
        &mut self,
        base: &Connection,
        cluster: i64,
        (number, bytes): (i64, u64),
    ) -> Applied {
        let history = self.of(base, cluster)?;
        history.last = history.last.max(Some(number));
        let old = history.records.insert(number, bytes);
        history.of_records = history.of_records + bytes - old.unwrap_or(0);
        Ok(())
    }

    /// The number of the last decision that has to go so that the records of all others have
    /// `bound` bytes at most, and some room; None: they have.
    pub(super) fn beyond(
        &mut self,
        base: &Connection,
        cluster: i64,
        bound: u64,
    ) -> rusqlite::Result<Option<i64>> {
        let history = self.of(base, cluster)?;
        if history.of_records <= bound {
            return Ok(None);
        }
        let mut left = history.of_records;
        let mut last = None;
        // The newest one stays, however large it is.
        let others = history.records.len().saturating_sub(1);
        for (number, bytes) in history.records.iter().take(others) {
            if left <= bound - bound / BATCHES {
                break;
            }
            left -= bytes;
            last = Some(*number);
        }
        Ok(last)
    }

    /// A row changes that was so until now; None: there was none.
    pub(super) fn remember(
        &mut self,
        base: &Connection,
        cluster: i64,
        (kind, id): (Kind, &str),
        old: Option<(i64, &str)>,
    ) -> Applied {
        let bound = self.bound;
        let history = self.of(base, cluster)?;
        let Some(decision) = history.last else {
            return Ok(());
        };
        let (position, body) = old.map_or((0, None), |(position, body)| (position, Some(body)));
        let new = base
            .prepare_cached(
                "INSERT OR IGNORE INTO history (cluster, decision, kind, id, position, body)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![cluster, decision, kind as i64, id, position, body])?;
        if new == 0 {
            return Ok(());
        }
        let bytes = OVERHEAD + (id.len() + body.map_or(0, str::len)) as u64;
        history.add(decision, bytes);
        match history.bytes > bound {
            true => history.trim(base, cluster, bound - bound / BATCHES),
            false => Ok(()),
        }
    }

    /// The last decisions were made on a copy that differed by these rows.
    pub(super) fn remember_copy(
        &mut self,
        base: &Connection,
        cluster: i64,
        last: i64,
        turns: &[CopyTurn],
    ) -> Applied {
        let mut insert = base.prepare_cached(
            "REPLACE INTO copies (cluster, last, decision, kind, id, position, body)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?;
        let mut bytes = 0;
        for turn in turns {
            let decision = fits("the number of a decision", turn.decision)?;
            for (kind, id, position, body) in turn.rows.iter().filter_map(row) {
                let kind = kind as i64;
                insert.execute(params![cluster, last, decision, kind, id, position, body])?;
                bytes += OVERHEAD + (id.len() + body.map_or(0, str::len)) as u64;
            }
        }
        let bound = self.bound;
        let history = self.of(base, cluster)?;
        history.add(last, bytes);
        match history.bytes > bound {
            true => history.trim(base, cluster, bound - bound / BATCHES),
            false => Ok(()),
        }
    }

    /// Decisions before this one are no longer recorded.
    pub(super) fn forget_before(
        &mut self,
        base: &Connection,
        cluster: i64,
        oldest: i64,
    ) -> Applied {
        let history = self.of(base, cluster)?;
        while let Some(first) = history.records.first_entry()
            && *first.key() < oldest
        {
            history.of_records -= first.remove();
        }
        if history
            .parts
            .front()
            .is_none_or(|(first, _)| *first >= oldest)
        {
            return Ok(());
        }
        while let Some((_, bytes)) = history.parts.pop_front_if(|(first, _)| *first < oldest) {
            history.bytes -= bytes;
        }
        run(
            base,
            "DELETE FROM history WHERE cluster = ?1 AND decision < ?2",
            (cluster, oldest),
        )?;
        run(
            base,
            "DELETE FROM copies WHERE cluster = ?1 AND last < ?2",
            (cluster, oldest),
        )
    }

    fn of(&mut self, base: &Connection, cluster: i64) -> rusqlite::Result<&mut History> {
        Ok(match self.clusters.entry(cluster) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(History::read(base, cluster)?),
        })
    }
}

/// The row that a change puts or removes, with its position and body; None if it is no
/// change of one row of a cluster.
fn row(change: &Change) -> Option<(Kind, &str, i64, Option<&str>)> {
    let vm = |pending: bool| if pending { Kind::PendingVm } else { Kind::Vm };
    Some(match change {
        Change::PutCluster { body, .. } => (Kind::Cluster, "", 0, Some(body)),
        Change::PutHost {
            id, position, body, ..
        } => (Kind::Host, id, *position, Some(body)),
        Change::RemoveHost { id, .. } => (Kind::Host, id, 0, None),
        Change::PutVm {
            id, pending, body, ..
        } => (vm(*pending), id, 0, Some(body)),
        Change::RemoveVm { id, pending, .. } => (vm(*pending), id, 0, None),
        Change::PutTenant { id, body, .. } => (Kind::Tenant, id, 0, Some(body)),
        Change::RemoveTenant { id, .. } => (Kind::Tenant, id, 0, None),
        Change::PutGroup {
            id, position, body, ..
        } => (Kind::Group, id, *position, Some(body)),
        Change::RemoveGroup { id, .. } => (Kind::Group, id, 0, None),
        Change::PutMeasured { id, body, .. } => (Kind::Measured, id, 0, Some(body)),
        Change::RemoveMeasured { id, .. } => (Kind::Measured, id, 0, None),
        _ => return None,
    })
}

impl History {
    fn read(base: &Connection, cluster: i64) -> rusqlite::Result<Self> {
        let last = base
            .prepare_cached("SELECT max(number) FROM decisions WHERE cluster = ?1")?
            .query_row((cluster,), |row| row.get(0))
            .optional()?
            .flatten();
        let mut parts = base.prepare_cached(
            "SELECT decision, sum(octet_length(id) + coalesce(octet_length(body), 0) + ?2)
             FROM (SELECT decision, id, body FROM history WHERE cluster = ?1
                   UNION ALL SELECT last, id, body FROM copies WHERE cluster = ?1)
             GROUP BY decision ORDER BY decision",
        )?;
        let overhead = i64::try_from(OVERHEAD).unwrap_or(0);
        let parts: VecDeque<(i64, u64)> = parts
            .query_map((cluster, overhead), |row| {
                let bytes: i64 = row.get(1)?;
                Ok((row.get(0)?, u64::try_from(bytes).unwrap_or(0)))
            })?
            .collect::<rusqlite::Result<_>>()?;
        // The length is known without reading what is long.
        let mut records = base.prepare_cached(
            "SELECT number, octet_length(body) FROM decisions WHERE cluster = ?1",
        )?;
        let records: BTreeMap<i64, u64> = records
            .query_map((cluster,), |row| {
                let bytes: i64 = row.get(1)?;
                let bytes = u64::try_from(bytes).unwrap_or(0);
                Ok((row.get(0)?, OVERHEAD + bytes))
            })?
            .collect::<rusqlite::Result<_>>()?;
        Ok(Self {
            last,
            of_records: records.values().sum(),
            records,
            bytes: parts.iter().map(|(_, bytes)| bytes).sum(),
            parts,
        })
    }

    fn add(&mut self, decision: i64, bytes: u64) {
        self.bytes += bytes;
        match self.parts.back_mut() {
            Some((last, sum)) if *last == decision => *sum += bytes,
            _ => self.parts.push_back((decision, bytes)),
        }
    }

    /// Remove the oldest, so that no more than that is left.
    fn trim(&mut self, base: &Connection, cluster: i64, left: u64) -> Applied {
        let mut dropped = None;
        while self.bytes > left
            && let Some((decision, bytes)) = self.parts.pop_front()
        {
            self.bytes -= bytes;
            dropped = Some(decision);
        }
        let Some(dropped) = dropped else {
            return Ok(());
        };
        run(
            base,
            "DELETE FROM history WHERE cluster = ?1 AND decision <= ?2",
            (cluster, dropped),
        )?;
        run(
            base,
            "DELETE FROM copies WHERE cluster = ?1 AND last <= ?2",
            (cluster, dropped),
        )?;
        run(
            base,
            "REPLACE INTO history_starts (cluster, decision, why) VALUES (?1, ?2, ?3)",
            (cluster, dropped + 1, BYTES),
        )
    }
}
