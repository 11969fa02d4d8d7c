//! Changes as SQL, within a transaction of the writer.

mod bounded;
pub(super) mod history;
mod table;

use std::collections::HashMap;

use rusqlite::{Connection, ErrorCode, OptionalExtension, Params};

use super::change::Change;
use super::error::StoreError;
use super::options::StoreOptions;
use history::Histories;
use table::{CHAINS, CLUSTERS, GROUPS, HOSTS, MEASURED, TENANTS, Table, VMS};

/// Why a change could not be made.
pub(super) enum Fault {
    /// The change is at fault, and any other may be made.
    Refused(StoreError),
    /// SQLite cannot do it.
    Database(rusqlite::Error),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

type Applied = Result<(), Fault>;

/// Makes changes, and remembers what it would else look up for each.
pub(super) struct Apply {
    options: StoreOptions,
    /// The numbers of clusters by their names, as far as they were needed.
    clusters: HashMap<String, i64>,
    /// How many decisions of a cluster came in since the oldest were removed.
    untrimmed: HashMap<i64, usize>,
    events_untrimmed: usize,
    histories: Histories,
}

/// What belongs to a cluster.
const OF_CLUSTERS: [&str; 14] = [
    "DELETE FROM hosts WHERE cluster = ?1",
    "DELETE FROM vms WHERE cluster = ?1",
    "DELETE FROM tenants WHERE cluster = ?1",
    "DELETE FROM vm_groups WHERE cluster = ?1",
    "DELETE FROM measured WHERE cluster = ?1",
    "DELETE FROM chains WHERE cluster = ?1",
    "DELETE FROM history WHERE cluster = ?1",
    "DELETE FROM history_starts WHERE cluster = ?1",
    "DELETE FROM copies WHERE cluster = ?1",
    "DELETE FROM counters WHERE cluster = ?1",
    "DELETE FROM decisions WHERE cluster = ?1",
    "DELETE FROM plans WHERE cluster = ?1",
    "DELETE FROM ended_reservations WHERE cluster = ?1",
    "DELETE FROM answers WHERE cluster = ?1",
];
/// What is there already and the same is not written again, which may be megabytes.
const PUT_ARTIFACT: &str = "
    INSERT INTO artifacts (digest, name, bytes, signature, signer) VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (digest) DO UPDATE SET
        name = excluded.name,
        bytes = excluded.bytes,
        signature = CASE WHEN excluded.signer IS NULL AND artifacts.signature IS NOT NULL
            THEN artifacts.signature ELSE excluded.signature END,
        signer = CASE WHEN excluded.signer IS NULL AND artifacts.signature IS NOT NULL
            THEN artifacts.signer ELSE excluded.signer END
    WHERE artifacts.name <> excluded.name OR artifacts.bytes <> excluded.bytes
        OR (excluded.signature IS NOT NULL AND artifacts.signature IS NULL)
        OR (excluded.signer IS NOT NULL AND (artifacts.signer IS NOT excluded.signer
            OR artifacts.signature IS NOT excluded.signature))";

impl Apply {
    pub(super) fn new(options: StoreOptions) -> Self {
        Self {
            histories: Histories::new(options.history_bytes),
            options,
            clusters: HashMap::new(),
            untrimmed: HashMap::new(),
            // A file may hold more than the bound when it is opened with another one.
            events_untrimmed: usize::MAX,
        }
    }

    /// Forget what may have been undone by a rollback.
    pub(super) fn forget(&mut self) {
        self.clusters.clear();
        self.untrimmed.clear();
        self.histories.forget();
    }

    /// Make one change.
    pub(super) fn apply(&mut self, base: &Connection, change: &Change) -> Applied {
        self.dispatch(base, change).map_err(|fault| match fault {
            Fault::Database(source) if source.sqlite_error_code() == Some(ErrorCode::TooBig) => {
                let what = change.what();
                Fault::Refused(StoreError::TooLong { what, source })
            }
            fault => fault,
        })
    }

    fn dispatch(&mut self, base: &Connection, change: &Change) -> Applied {
        match change {
            Change::PutCluster { cluster, body } => match self.find_cluster(base, cluster)? {
                None => run(
                    base,
                    "INSERT INTO clusters (name, body) VALUES (?1, ?2)",
                    (cluster, body),
                ),
                Some(cluster) => {
                    let row = (false, &String::new(), 0, body);
                    CLUSTERS.put(base, &mut self.histories, cluster, row.into())
                }
            },
            Change::PutChain { cluster, body } => {
                let row = (false, &String::new(), 0, body);
                let cluster = self.cluster(base, cluster)?;
                CHAINS.put(base, &mut self.histories, cluster, row.into())
            }
            Change::PutMeasured { cluster, id, body } => {
                let row = (false, id, 0, body);
                let cluster = self.cluster(base, cluster)?;
                MEASURED.put(base, &mut self.histories, cluster, row.into())
            }
            Change::RemoveMeasured { cluster, id } => {
                self.remove(base, &MEASURED, cluster, (false, id))
            }
            Change::RemoveCluster { cluster } => self.remove_cluster(base, cluster),
            Change::PutHost {
                cluster,
                id,
                position,
                body,
            } => {
                let row = (false, id, *position, body);
                let cluster = self.cluster(base, cluster)?;
                HOSTS.put(base, &mut self.histories, cluster, row.into())
            }
            Change::RemoveHost { cluster, id } => self.remove(base, &HOSTS, cluster, (false, id)),
            Change::PutVm {
                cluster,
                id,
                pending,
                body,
            } => {
                let row = (*pending, id, 0, body);
                let cluster = self.cluster(base, cluster)?;
                VMS.put(base, &mut self.histories, cluster, row.into())
            }
            Change::RemoveVm {
                cluster,
                id,
                pending,
            } => self.remove(base, &VMS, cluster, (*pending, id)),
            Change::PutTenant { cluster, id, body } => {
                let row = (false, id, 0, body);
                let cluster = self.cluster(base, cluster)?;
                TENANTS.put(base, &mut self.histories, cluster, row.into())
            }
            Change::RemoveTenant { cluster, id } => self.remove(base, &TENANTS, cluster, (false, id)),
            Change::PutGroup {
                cluster,
                id,
                position,
                body,
            } => {
                let row = (false, id, *position, body);
                let cluster = self.cluster(base, cluster)?;
                GROUPS.put(base, &mut self.histories, cluster, row.into())
            }
            Change::RemoveGroup { cluster, id } => self.remove(base, &GROUPS, cluster, (false, id)),
            Change::ReplaceInventory {
                cluster,
                hosts,
                vms,
                tenants,
                groups,
                measured,
            } => {
                let cluster = self.cluster(base, cluster)?;
                let histories = &mut self.histories;
                HOSTS.replace(base, histories, cluster, hosts)?;
                VMS.replace(base, histories, cluster, vms)?;
                TENANTS.replace(base, histories, cluster, tenants)?;
                MEASURED.replace(base, histories, cluster, measured)?;
                GROUPS.replace(base, histories, cluster, groups)
            }
            Change::Counter { cluster, counters } => run(
                base,
                "REPLACE INTO counters (cluster, next_decision, clock, next_plan, version, revision)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                (
                    self.cluster(base, cluster)?,
                    fits("the number of a decision", counters.next_decision)?,
                    counters.clock,
                    fits("the number of a plan", counters.next_plan)?,
                    fits("the version of an inventory", counters.version)?,
                    fits("the revision of an inventory", counters.revision)?,
                ),
            ),
            Change::PutPlan {
                cluster,
                number,
                body,
            } => run(
                base,
                "REPLACE INTO plans (cluster, number, body) VALUES (?1, ?2, ?3)",
                (
                    self.cluster(base, cluster)?,
                    fits("the number of a plan", *number)?,
                    body,
                ),
            ),
            Change::RemovePlan { cluster, number } => {
                const SQL: &str = "DELETE FROM plans WHERE cluster = ?1 AND number = ?2";
                let number = fits("the number of a plan", *number)?;
                self.of(base, cluster, |cluster| run(base, SQL, (cluster, number)))
            }
            Change::RecordDecision {
                cluster,
                number,
                at,
                body,
            } => {
                let cluster = self.cluster(base, cluster)?;
                let fitting = fits("the number of a decision", *number)?;
                // From the number after it on, the past may be known: it must fit as well.
                fits("the number of the next decision", number + 1)?;
                self.record(base, cluster, fitting, *at, body)
            }
            Change::RecordCopy {
                cluster,
                last,
                turns,
            } => {
                let cluster = self.cluster(base, cluster)?;
                let last = fits("the number of a decision", *last)?;
                let histories = &mut self.histories;
                histories.remember_copy(base, cluster, last, turns)
            }
            Change::PutPolicy {
                name,
                revision,
                at,
                by,
                body,
            } => {
                let revision = fits("the revision of a policy", *revision)?;
                run(
                    base,
                    "REPLACE INTO policies (name, revision, at, author, body)
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                    (name, revision, at, by, body),
                )?;
                self.trim_revisions(base, name)
            }
            Change::RemovePolicy { name } => {
                run(base, "DELETE FROM policies WHERE name = ?1", (name,))
            }
            Change::PutArtifact {
                digest,
                name,
                bytes,
                signature,
            } => {
                let signed = signature.as_ref();
                run(
                    base,
                    PUT_ARTIFACT,
                    (
                        digest,
                        name,
                        bytes,
                        signed.map(|signature| &signature.bytes),
                        signed.and_then(|signature| signature.signer.as_ref()),
                    ),
                )
            }
            Change::RemoveArtifact { digest } => {
                run(base, "DELETE FROM artifacts WHERE digest = ?1", (digest,))
            }
            Change::PutUnit {
                name,
                digest,
                enabled,
                body,
            } => run(
                base,
                "REPLACE INTO units (name, digest, enabled, body) VALUES (?1, ?2, ?3, ?4)",
                (name, digest, enabled, body),
            ),
            Change::RemoveUnit { name } => run(base, "DELETE FROM units WHERE name = ?1", (name,)),
            Change::UnitEvent(event) => self.unit_event(base, event),
            Change::PutEndedReservation { cluster, vm, body } => run(
                base,
                "REPLACE INTO ended_reservations (cluster, vm, body) VALUES (?1, ?2, ?3)",
                (self.cluster(base, cluster)?, vm, body),
            ),
            Change::RemoveEndedReservation { cluster, vm } => {
                const SQL: &str = "DELETE FROM ended_reservations WHERE cluster = ?1 AND vm = ?2";
                self.of(base, cluster, |cluster| run(base, SQL, (cluster, vm)))
            }
            Change::Idempotency {
                cluster,
                key,
                at,
                body,
            } => run(
                base,
                "REPLACE INTO answers (cluster, key, at, body) VALUES (?1, ?2, ?3, ?4)",
                (self.cluster(base, cluster)?, key, at, body),
            ),
            Change::ForgetAnswer { cluster, key } => {
                const SQL: &str = "DELETE FROM answers WHERE cluster = ?1 AND key = ?2";
                self.of(base, cluster, |cluster| run(base, SQL, (cluster, key)))
            }
            Change::ForgetAnswers { cluster, before } => {
                const SQL: &str = "DELETE FROM answers WHERE cluster = ?1 AND at < ?2";
                self.of(base, cluster, |cluster| run(base, SQL, (cluster, before)))
            }
            Change::Setting { key, body } => run(
                base,
                "REPLACE INTO settings (key, body) VALUES (?1, ?2)",
                (key, body),
            ),
            Change::RemoveSetting { key } => {
                run(base, "DELETE FROM settings WHERE key = ?1", (key,))
            }
        }
    }

    /// The number of a cluster that is there.
    fn cluster(&mut self, base: &Connection, name: &str) -> Result<i64, Fault> {
        self.find_cluster(base, name)?
            .ok_or_else(|| Fault::Refused(StoreError::UnknownCluster(name.to_owned())))
    }

    fn find_cluster(&mut self, base: &Connection, name: &str) -> Result<Option<i64>, Fault> {
        if let Some(number) = self.clusters.get(name) {
            return Ok(Some(*number));
        }
        let found: Option<i64> = base
            .prepare_cached("SELECT number FROM clusters WHERE name = ?1")?
            .query_row((name,), |row| row.get(0))
            .optional()?;
        if let Some(number) = found {
            self.clusters.insert(name.to_owned(), number);
        }
        Ok(found)
    }

    /// Remove a row of a cluster, if there is that cluster.
    fn remove(
        &mut self,
        base: &Connection,
        table: &Table,
        cluster: &str,
        row: (bool, &str),
    ) -> Applied {
        match self.find_cluster(base, cluster)? {
            Some(cluster) => table.remove(base, &mut self.histories, cluster, row),
            None => Ok(()),
        }
    }

    /// Remove something of a cluster, if there is that cluster.
    fn of(
        &mut self,
        base: &Connection,
        cluster: &str,
        remove: impl FnOnce(i64) -> Applied,
    ) -> Applied {
        self.find_cluster(base, cluster)?.map_or(Ok(()), remove)
    }

    fn remove_cluster(&mut self, base: &Connection, name: &str) -> Applied {
        let Some(cluster) = self.find_cluster(base, name)? else {
            return Ok(());
        };
        self.clusters.remove(name);
        self.untrimmed.remove(&cluster);
        self.histories.forget_cluster(cluster);
        for sql in OF_CLUSTERS {
            run(base, sql, (cluster,))?;
        }
        run(base, "DELETE FROM clusters WHERE number = ?1", (cluster,))
    }
}

fn run(base: &Connection, sql: &str, values: impl Params) -> Applied {
    base.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

/// A number as a row holds it.
fn fits(what: &'static str, number: u64) -> Result<i64, Fault> {
    i64::try_from(number).map_err(|_| Fault::Refused(StoreError::TooLarge { what, number }))
}

/// A count as SQL takes it.
pub(super) fn limit(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
