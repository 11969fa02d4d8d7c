//! A cluster as it was when a decision was made: its rows as they are, with what they were
//! in place of what has changed.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension};

use super::apply::history::{BYTES, Kind};
use super::change::{GroupRow, HostRow, MeasuredRow, TenantRow, VmRow};
use super::read;
use super::saved::{
    Gone, Recorded, RecordedChange, RowKind, SavedDecision, SavedInventory, SavedPast, Then,
};

/// Rows by kind and id, each with its position and body.
type Rows = BTreeMap<(i64, String), (i64, String)>;

/// All that is known of what happened to a cluster, from the first decision at that time or after
/// it on; of how it was before, nothing is known where less is. None if no decision is recorded of
/// which it is known how the cluster was.
pub(super) fn recorded(
    base: &Connection,
    cluster: &str,
    from: i64,
) -> rusqlite::Result<Option<Recorded>> {
    let key: Option<(i64, String)> = base
        .prepare_cached("SELECT number, body FROM clusters WHERE name = ?1")?
        .query_row((cluster,), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((key, body)) = key else {
        return Ok(None);
    };
    let oldest = read::oldest_decision(base, cluster)?;
    let gone = start(base, key)?;
    let known = gone.map_or(0, |(since, _)| since);
    let decisions = decisions(base, key, (from, i64::try_from(known).unwrap_or(i64::MAX)))?;
    let Some(first) = decisions.first().map(|first| first.number) else {
        return Ok(None);
    };
    let mut rows = rows(base, key, body)?;
    let first = i64::try_from(first).unwrap_or(i64::MAX);
    let changes = changes_since(base, key, first, &mut rows)?;
    let mut alone = |kind: Kind| rows.remove(&(kind as i64, String::new()));
    let body = alone(Kind::Cluster)
        .map(|(_, body)| body)
        .unwrap_or_default();
    alone(Kind::Chain);
    Ok(Some(Recorded {
        oldest,
        dropped: gone,
        decisions,
        changes,
        body,
        inventory: inventory(rows),
    }))
}

fn decisions(
    base: &Connection,
    cluster: i64,
    (from, known): (i64, i64),
) -> rusqlite::Result<Vec<SavedDecision>> {
    let mut decisions = base.prepare_cached(
        "SELECT number, at, body FROM decisions
         WHERE cluster = ?1 AND number >= ?2 AND at >= ?3 ORDER BY number",
    )?;
    let found = decisions.query_map((cluster, known, from), |row| {
        let number: i64 = row.get(0)?;
        Ok(SavedDecision {
            number: u64::try_from(number).unwrap_or(0),
            at: row.get(1)?,
            body: row.get(2)?,
        })
    })?;
    found.collect()
}

/// What rows became after each decision from that one on, in order. `rows` become what they were
/// when it was made.
fn changes_since(
    base: &Connection,
    cluster: i64,
    first: i64,
    rows: &mut Rows,
) -> rusqlite::Result<Vec<RecordedChange>> {
    let mut changed = base.prepare_cached(
        "SELECT decision, kind, id, position, body FROM history
         WHERE cluster = ?1 AND decision >= ?2 ORDER BY decision DESC",
    )?;
    let mut found = changed.query((cluster, first))?;
    let mut changes = Vec::new();
    while let Some(row) = found.next()? {
        let number: i64 = row.get(0)?;
        let (kind, id): (i64, String) = (row.get(1)?, row.get(2)?);
        let before: Option<String> = row.get(4)?;
        let key = (kind, id.clone());
        let after = rows.get(&key).map(|(_, body)| body.clone());
        match &before {
            Some(body) => rows.insert(key, (row.get(3)?, body.clone())),
            None => rows.remove(&key),
        };
        let Some(what) = RowKind::of(kind) else {
            continue;
        };
        changes.push(RecordedChange {
            decision: u64::try_from(number).unwrap_or(0),
            what,
            id,
            before,
            after,
        });
    }
    changes.reverse();
    Ok(changes)
}

impl RowKind {
    fn of(kind: i64) -> Option<Self> {
        let kinds = [
            (Kind::Cluster, Self::Cluster),
            (Kind::Host, Self::Host),
            (Kind::Vm, Self::Vm),
            (Kind::PendingVm, Self::PendingVm),
            (Kind::Tenant, Self::Tenant),
            (Kind::Group, Self::Group),
            (Kind::Measured, Self::Measured),
            (Kind::Chain, Self::Chain),
        ];
        let mut kinds = kinds.into_iter();
        kinds
            .find(|(known, _)| *known as i64 == kind)
            .map(|(_, kind)| kind)
    }
}

/// All of it is read in one state of the database.
pub(super) fn past(base: &Connection, cluster: &str, number: u64) -> rusqlite::Result<SavedPast> {
    let bounded = i64::try_from(number).unwrap_or(i64::MAX);
    let decision = read::decision_of(base, cluster, bounded)?;
    let key: Option<(i64, String)> = base
        .prepare_cached("SELECT number, body FROM clusters WHERE name = ?1")?
        .query_row((cluster,), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (Some(decision), Some((key, body))) = (decision, key) else {
        let oldest = read::oldest_decision(base, cluster)?;
        return Ok(SavedPast::NoDecision { oldest });
    };
    if let Some((since, why)) = start(base, key)?.filter(|(since, _)| number < *since) {
        return Ok(SavedPast::Gone { since, why });
    }
    let mut rows = rows(base, key, body)?;
    take_back(base, key, bounded, &mut rows)?;
    let vacated = copied(base, key, bounded, &mut rows)?;
    let mut alone = |kind: Kind| rows.remove(&(kind as i64, String::new()));
    let body = alone(Kind::Cluster).map(|(_, body)| body);
    let chain = alone(Kind::Chain).map(|(_, body)| body);
    Ok(SavedPast::Known(Box::new(Then {
        decision,
        body: body.unwrap_or_default(),
        chain,
        inventory: SavedInventory {
            vacated,
            ..inventory(rows)
        },
    })))
}

/// From which decision on the history is whole.
fn start(base: &Connection, cluster: i64) -> rusqlite::Result<Option<(u64, Gone)>> {
    base.prepare_cached("SELECT decision, why FROM history_starts WHERE cluster = ?1")?
        .query_row((cluster,), |row| {
            let since: i64 = row.get(0)?;
            let why: String = row.get(1)?;
            let why = match &*why {
                BYTES => Gone::Bytes,
                _ => Gone::Version,
            };
            Ok((u64::try_from(since).unwrap_or(0), why))
        })
        .optional()
}

/// The rows as they are.
fn rows(base: &Connection, cluster: i64, body: String) -> rusqlite::Result<Rows> {
    let mut rows = Rows::new();
    rows.insert((Kind::Cluster as i64, String::new()), (0, body));
    let mut all = base.prepare_cached(
        "SELECT 1, id, position, body FROM hosts WHERE cluster = ?1
         UNION ALL SELECT 2 + pending, id, 0, body FROM vms WHERE cluster = ?1
         UNION ALL SELECT 4, id, 0, body FROM tenants WHERE cluster = ?1
         UNION ALL SELECT 5, id, position, body FROM vm_groups WHERE cluster = ?1
         UNION ALL SELECT 6, id, 0, body FROM measured WHERE cluster = ?1
         UNION ALL SELECT 7, '', 0, body FROM chains WHERE cluster = ?1",
    )?;
    let mut found = all.query((cluster,))?;
    while let Some(row) = found.next()? {
        rows.insert((row.get(0)?, row.get(1)?), (row.get(2)?, row.get(3)?));
    }
    Ok(rows)
}

/// Put in what rows were when the decision was made.
fn take_back(
    base: &Connection,
    cluster: i64,
    decision: i64,
    rows: &mut Rows,
) -> rusqlite::Result<()> {
    // What is nearest to the decision comes last and counts.
    let mut changed = base.prepare_cached(
        "SELECT kind, id, position, body FROM history
         WHERE cluster = ?1 AND decision >= ?2 ORDER BY decision DESC",
    )?;
    let mut found = changed.query((cluster, decision))?;
    while let Some(row) = found.next()? {
        let key = (row.get(0)?, row.get(1)?);
        match row.get::<_, Option<String>>(3)? {
            Some(body) => rows.insert(key, (row.get(2)?, body)),
            None => rows.remove(&key),
        };
    }
    Ok(())
}

/// If the decision was made on a copy, put in what that differed by. The VMs that ran and
/// did not on the copy.
fn copied(
    base: &Connection,
    cluster: i64,
    decision: i64,
    rows: &mut Rows,
) -> rusqlite::Result<Vec<VmRow>> {
    // Copies of other batches count from decisions after this one, or end before it.
    let mut changed = base.prepare_cached(
        "SELECT kind, id, position, body FROM copies
         WHERE cluster = ?1 AND last >= ?2 AND decision <= ?2 ORDER BY decision",
    )?;
    let mut found = changed.query((cluster, decision))?;
    let mut vacated = Vec::new();
    while let Some(row) = found.next()? {
        let key: (i64, String) = (row.get(0)?, row.get(1)?);
        if let Some(body) = row.get::<_, Option<String>>(3)? {
            rows.insert(key, (row.get(2)?, body));
        } else if let Some((_, body)) = rows.remove(&key)
            && key.0 == Kind::Vm as i64
        {
            vacated.push(VmRow {
                id: key.1,
                pending: false,
                body,
            });
        }
    }
    vacated.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(vacated)
}

fn inventory(rows: Rows) -> SavedInventory {
    let mut inventory = SavedInventory::default();
    for ((kind, id), (position, body)) in rows {
        match kind {
            kind if kind == Kind::Host as i64 => {
                inventory.hosts.push(HostRow { id, position, body });
            }
            kind if kind == Kind::Vm as i64 || kind == Kind::PendingVm as i64 => {
                let pending = kind == Kind::PendingVm as i64;
                inventory.vms.push(VmRow { id, pending, body });
            }
            kind if kind == Kind::Tenant as i64 => inventory.tenants.push(TenantRow { id, body }),
            kind if kind == Kind::Group as i64 => {
                inventory.groups.push(GroupRow { id, position, body });
            }
            kind if kind == Kind::Measured as i64 => {
                inventory.measured.push(MeasuredRow { id, body });
            }
            _ => {}
        }
    }
    inventory.hosts.sort_by_key(|host| host.position);
    inventory.groups.sort_by_key(|group| group.position);
    inventory
}
