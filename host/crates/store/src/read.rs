//! Queries on one state of the database.

use rusqlite::{Connection, OptionalExtension, Row};

use super::apply::history::Kind;
use super::change::{Counters, GroupRow, HostRow, MeasuredRow, TenantRow, UnitEvent, VmRow};
use super::saved::{
    PolicyRevision, Saved, SavedAnswer, SavedAnswers, SavedArtifact, SavedCluster, SavedDecision,
    SavedEndedReservation, SavedInventory, SavedPlan, SavedSignature, SavedUnit,
};

pub(super) fn saved(base: &Connection) -> rusqlite::Result<Saved> {
    Ok(Saved {
        clusters: all(
            base,
            "SELECT name, body, coalesce(next_decision, 0), coalesce(clock, 0),
                 coalesce(next_plan, 0), coalesce(version, 0), coalesce(revision, 0)
             FROM clusters LEFT JOIN counters ON counters.cluster = clusters.number
             ORDER BY name",
            (),
            |row| {
                Ok(SavedCluster {
                    name: row.get(0)?,
                    body: row.get(1)?,
                    counters: Counters {
                        next_decision: count(row, 2)?,
                        clock: row.get(3)?,
                        next_plan: count(row, 4)?,
                        version: count(row, 5)?,
                        revision: count(row, 6)?,
                    },
                })
            },
        )?,
        policies: all(
            base,
            // Beside a max, SQLite takes the other columns from the row that has it.
            "SELECT name, max(revision), at, author, body FROM policies
             GROUP BY name ORDER BY name",
            (),
            policy,
        )?,
        artifacts: all(
            base,
            "SELECT digest, name, length(bytes) FROM artifacts ORDER BY digest",
            (),
            |row| {
                Ok(SavedArtifact {
                    digest: row.get(0)?,
                    name: row.get(1)?,
                    length: count(row, 2)?,
                })
            },
        )?,
        units: all(
            base,
            "SELECT name, digest, enabled, body FROM units ORDER BY name",
            (),
            |row| {
                Ok(SavedUnit {
                    name: row.get(0)?,
                    digest: row.get(1)?,
                    enabled: row.get(2)?,
                    body: row.get(3)?,
                })
            },
        )?,
        settings: all(base, "SELECT key, body FROM settings", (), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?
        .into_iter()
        .collect(),
    })
}

/// What selects the rows of a cluster by its name.
macro_rules! of_cluster {
    ($columns:literal, $table:literal, $rest:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM ",
            $table,
            " WHERE cluster = (SELECT number FROM clusters WHERE name = ?1) ",
            $rest
        )
    };
}

pub(super) fn inventory(base: &Connection, cluster: &str) -> rusqlite::Result<SavedInventory> {
    let mut hosts = all(
        base,
        of_cluster!("id, position, body", "hosts", "ORDER BY id"),
        (cluster,),
        |row| {
            Ok(HostRow {
                id: row.get(0)?,
                position: row.get(1)?,
                body: row.get(2)?,
            })
        },
    )?;
    // Cheaper than SQLite's sorter, which would copy the bodies.
    hosts.sort_by_key(|host| host.position);
    let mut groups = all(
        base,
        of_cluster!("id, position, body", "vm_groups", "ORDER BY id"),
        (cluster,),
        |row| {
            Ok(GroupRow {
                id: row.get(0)?,
                position: row.get(1)?,
                body: row.get(2)?,
            })
        },
    )?;
    groups.sort_by_key(|group| group.position);
    let measured = all(
        base,
        of_cluster!("id, body", "measured", "ORDER BY id"),
        (cluster,),
        |row| {
            Ok(MeasuredRow {
                id: row.get(0)?,
                body: row.get(1)?,
            })
        },
    )?;
    Ok(SavedInventory {
        measured,
        hosts,
        vms: all(
            base,
            of_cluster!("id, pending, body", "vms", "ORDER BY pending, id"),
            (cluster,),
            |row| {
                Ok(VmRow {
                    id: row.get(0)?,
                    pending: row.get(1)?,
                    body: row.get(2)?,
                })
            },
        )?,
        tenants: all(
            base,
            of_cluster!("id, body", "tenants", "ORDER BY id"),
            (cluster,),
            |row| {
                Ok(TenantRow {
                    id: row.get(0)?,
                    body: row.get(1)?,
                })
            },
        )?,
        groups,
        vacated: Vec::new(),
    })
}

pub(super) fn ended_reservations(
    base: &Connection,
    cluster: &str,
) -> rusqlite::Result<Vec<SavedEndedReservation>> {
    all(
        base,
        of_cluster!("vm, body", "ended_reservations", "ORDER BY vm"),
        (cluster,),
        |row| {
            Ok(SavedEndedReservation {
                vm: row.get(0)?,
                body: row.get(1)?,
            })
        },
    )
}

/// The newest answers that have so many bytes together, the oldest of them first, and the keys
/// of the others.
pub(super) fn answers(
    base: &Connection,
    cluster: &str,
    bytes: u64,
) -> rusqlite::Result<SavedAnswers> {
    // The length is known without reading what is long.
    let lengths: Vec<(String, u64)> = all(
        base,
        of_cluster!(
            "key, octet_length(key) + octet_length(body)",
            "answers",
            "ORDER BY at DESC, key DESC"
        ),
        (cluster,),
        |row| Ok((row.get(0)?, count(row, 1)?)),
    )?;
    let mut read = SavedAnswers::default();
    let mut taken = 0;
    for (key, length) in lengths {
        taken += length;
        match taken <= bytes {
            true => read.answers.extend(answer_to(base, cluster, &key)?),
            false => read.left_out.push(key),
        }
    }
    read.answers.reverse();
    Ok(read)
}

pub(super) fn answer_to(
    base: &Connection,
    cluster: &str,
    key: &str,
) -> rusqlite::Result<Option<SavedAnswer>> {
    one(
        base,
        of_cluster!("key, at, body", "answers", "AND key = ?2"),
        (cluster, key),
        answer,
    )
}

fn answer(row: &Row<'_>) -> rusqlite::Result<SavedAnswer> {
    Ok(SavedAnswer {
        key: row.get(0)?,
        at: row.get(1)?,
        body: row.get(2)?,
    })
}

pub(super) fn plans(base: &Connection, cluster: &str) -> rusqlite::Result<Vec<SavedPlan>> {
    all(
        base,
        of_cluster!("number, body", "plans", "ORDER BY number"),
        (cluster,),
        |row| {
            Ok(SavedPlan {
                number: count(row, 0)?,
                body: row.get(1)?,
            })
        },
    )
}

pub(super) fn artifact(base: &Connection, digest: &str) -> rusqlite::Result<Option<Vec<u8>>> {
    const SQL: &str = "SELECT bytes FROM artifacts WHERE digest = ?1";
    one(base, SQL, (digest,), |row| row.get(0))
}

pub(super) fn artifacts(base: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT digest FROM artifacts ORDER BY digest";
    all(base, sql, (), |row| row.get(0))
}

pub(super) fn has_artifact(base: &Connection, digest: &str) -> rusqlite::Result<bool> {
    const SQL: &str = "SELECT 1 FROM artifacts WHERE digest = ?1";
    Ok(one(base, SQL, (digest,), |_| Ok(()))?.is_some())
}

pub(super) fn chains(base: &Connection) -> rusqlite::Result<Vec<String>> {
    // The index is of that kind alone, which therefore stands here as a number.
    const {
        assert!(Kind::Chain as i64 == 7);
    }
    const SQL: &str = "SELECT body FROM chains
         UNION SELECT body FROM history INDEXED BY history_chains
             WHERE kind = 7 AND body IS NOT NULL";
    all(base, SQL, (), |row| row.get(0))
}

pub(super) fn signature(
    base: &Connection,
    digest: &str,
) -> rusqlite::Result<Option<SavedSignature>> {
    const SQL: &str =
        "SELECT signature, signer FROM artifacts WHERE digest = ?1 AND signature IS NOT NULL";
    one(base, SQL, (digest,), |row| {
        Ok(SavedSignature {
            bytes: row.get(0)?,
            signer: row.get(1)?,
        })
    })
}

/// Revisions up to that one, the newest first: at most so many, and no more when their bodies
/// have so many bytes together.
pub(super) fn policy_history(
    base: &Connection,
    name: &str,
    (up_to, most, bytes): (i64, i64, usize),
) -> rusqlite::Result<Vec<PolicyRevision>> {
    let mut statement = base.prepare_cached(
        "SELECT name, revision, at, author, body FROM policies
         WHERE name = ?1 AND revision <= ?2 ORDER BY revision DESC LIMIT ?3",
    )?;
    let mut rows = statement.query((name, up_to, most))?;
    let (mut revisions, mut read) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let revision = policy(row)?;
        read += revision.body.len();
        revisions.push(revision);
        if read >= bytes {
            break;
        }
    }
    Ok(revisions)
}

fn policy(row: &Row<'_>) -> rusqlite::Result<PolicyRevision> {
    Ok(PolicyRevision {
        name: row.get(0)?,
        revision: count(row, 1)?,
        at: row.get(2)?,
        by: row.get(3)?,
        body: row.get(4)?,
    })
}

pub(super) fn decisions(
    base: &Connection,
    cluster: &str,
    up_to: i64,
    limit: i64,
) -> rusqlite::Result<Vec<SavedDecision>> {
    all(
        base,
        of_cluster!(
            "number, at, body",
            "decisions",
            "AND number <= ?2 ORDER BY number DESC LIMIT ?3"
        ),
        (cluster, up_to, limit),
        decision,
    )
}

pub(super) fn decision_of(
    base: &Connection,
    cluster: &str,
    number: i64,
) -> rusqlite::Result<Option<SavedDecision>> {
    one(
        base,
        of_cluster!("number, at, body", "decisions", "AND number = ?2"),
        (cluster, number),
        decision,
    )
}

/// The number of the oldest decision that is recorded.
pub(super) fn oldest_decision(base: &Connection, cluster: &str) -> rusqlite::Result<Option<u64>> {
    let oldest: Option<Option<i64>> = one(
        base,
        of_cluster!("min(number)", "decisions", ""),
        (cluster,),
        |row| row.get(0),
    )?;
    Ok(oldest
        .flatten()
        .and_then(|number| u64::try_from(number).ok()))
}

fn decision(row: &Row<'_>) -> rusqlite::Result<SavedDecision> {
    Ok(SavedDecision {
        number: count(row, 0)?,
        at: row.get(1)?,
        body: row.get(2)?,
    })
}

/// Bytes of an entry of the history that are read at most; longer ones are passed over. Those
/// that are written now have some 10 KB with the longest of sentences.
const LONGEST_UNIT_EVENT: i64 = 64 << 10;

pub(super) fn unit_history(
    base: &Connection,
    name: Option<&str>,
    limit: i64,
) -> rusqlite::Result<Vec<UnitEvent>> {
    // The length is known without reading what is long.
    const ALL: &str = "SELECT name, digest, at, what, body FROM unit_events
         WHERE octet_length(body) <= ?2 ORDER BY number DESC LIMIT ?1";
    const OF_ONE: &str = "SELECT name, digest, at, what, body FROM unit_events
         WHERE octet_length(body) <= ?2 AND name = ?3 ORDER BY number DESC LIMIT ?1";
    match name {
        None => all(base, ALL, (limit, LONGEST_UNIT_EVENT), unit_event),
        Some(name) => all(base, OF_ONE, (limit, LONGEST_UNIT_EVENT, name), unit_event),
    }
}

fn unit_event(row: &Row<'_>) -> rusqlite::Result<UnitEvent> {
    Ok(UnitEvent {
        name: row.get(0)?,
        digest: row.get(1)?,
        at: row.get(2)?,
        what: row.get(3)?,
        body: row.get(4)?,
    })
}

fn all<T>(
    base: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
    row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    base.prepare_cached(sql)?.query_map(values, row)?.collect()
}

fn one<T>(
    base: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
    row: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    let mut statement = base.prepare_cached(sql)?;
    statement.query_row(values, row).optional()
}

/// What was written from a `u64`.
fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}
