//! The tables of a cluster's rows, which differ in little: rows are put and removed one by
//! one, or all of a cluster replaced. What a row was is put into the history before it
//! changes.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension};

use super::history::{Histories, Kind};
use super::{Applied, run};
use crate::change::{GroupRow, HostRow, MeasuredRow, TenantRow, VmRow};

/// A table, by its statements. They take the cluster as `?1` and the fields of a
/// [`Kept`] in order; reading gives 0 for what a table has not.
pub(super) struct Table {
    /// Of rows that are not pending, and of those that are.
    kinds: [Kind; 2],
    select: &'static str,
    find: &'static str,
    put: &'static str,
    remove: &'static str,
}

pub(super) const HOSTS: Table = Table {
    kinds: [Kind::Host; 2],
    find: "SELECT position, body FROM hosts WHERE cluster = ?1 AND id = ?3",
    select: "SELECT 0, id, position, body FROM hosts WHERE cluster = ?1",
    put: "REPLACE INTO hosts (cluster, id, position, body) VALUES (?1, ?3, ?4, ?5)",
    remove: "DELETE FROM hosts WHERE cluster = ?1 AND id = ?3",
};

pub(super) const VMS: Table = Table {
    kinds: [Kind::Vm, Kind::PendingVm],
    find: "SELECT 0, body FROM vms WHERE cluster = ?1 AND pending = ?2 AND id = ?3",
    select: "SELECT pending, id, 0, body FROM vms WHERE cluster = ?1",
    put: "REPLACE INTO vms (cluster, pending, id, body) VALUES (?1, ?2, ?3, ?5)",
    remove: "DELETE FROM vms WHERE cluster = ?1 AND pending = ?2 AND id = ?3",
};

pub(super) const TENANTS: Table = Table {
    kinds: [Kind::Tenant; 2],
    find: "SELECT 0, body FROM tenants WHERE cluster = ?1 AND id = ?3",
    select: "SELECT 0, id, 0, body FROM tenants WHERE cluster = ?1",
    put: "REPLACE INTO tenants (cluster, id, body) VALUES (?1, ?3, ?5)",
    remove: "DELETE FROM tenants WHERE cluster = ?1 AND id = ?3",
};

pub(super) const GROUPS: Table = Table {
    kinds: [Kind::Group; 2],
    find: "SELECT position, body FROM vm_groups WHERE cluster = ?1 AND id = ?3",
    select: "SELECT 0, id, position, body FROM vm_groups WHERE cluster = ?1",
    put: "REPLACE INTO vm_groups (cluster, id, position, body) VALUES (?1, ?3, ?4, ?5)",
    remove: "DELETE FROM vm_groups WHERE cluster = ?1 AND id = ?3",
};

pub(super) const MEASURED: Table = Table {
    kinds: [Kind::Measured; 2],
    find: "SELECT 0, body FROM measured WHERE cluster = ?1 AND id = ?3",
    select: "SELECT 0, id, 0, body FROM measured WHERE cluster = ?1",
    put: "REPLACE INTO measured (cluster, id, body) VALUES (?1, ?3, ?5)",
    remove: "DELETE FROM measured WHERE cluster = ?1 AND id = ?3",
};

/// One row of each cluster, which has no id.
pub(super) const CHAINS: Table = Table {
    kinds: [Kind::Chain; 2],
    find: "SELECT 0, body FROM chains WHERE cluster = ?1",
    select: "SELECT 0, '', 0, body FROM chains WHERE cluster = ?1",
    put: "REPLACE INTO chains (cluster, body) VALUES (?1, ?5)",
    remove: "DELETE FROM chains WHERE cluster = ?1",
};

/// The same. It is put in another way, since it has the name.
pub(super) const CLUSTERS: Table = Table {
    kinds: [Kind::Cluster; 2],
    find: "SELECT 0, body FROM clusters WHERE number = ?1",
    select: "SELECT 0, '', 0, body FROM clusters WHERE number = ?1",
    put: "UPDATE clusters SET body = ?5 WHERE number = ?1",
    remove: "",
};

/// A row of any of the tables.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Kept<'r> {
    pub(super) pending: bool,
    pub(super) id: &'r str,
    pub(super) position: i64,
    pub(super) body: &'r str,
}

impl Table {
    fn kind(&self, pending: bool) -> Kind {
        self.kinds[usize::from(pending)]
    }

    /// Put a row, unless it is there already as it is to be.
    pub(super) fn put(
        &self,
        base: &Connection,
        histories: &mut Histories,
        cluster: i64,
        row: Kept<'_>,
    ) -> Applied {
        let Kept {
            pending,
            id,
            position,
            body,
        } = row;
        let old = self.find(base, cluster, pending, id)?;
        let old = old.as_ref().map(|(position, body)| (*position, &**body));
        if old == Some((position, body)) {
            return Ok(());
        }
        histories.remember(base, cluster, (self.kind(pending), id), old)?;
        run(base, self.put, (cluster, pending, id, position, body))
    }

    pub(super) fn remove(
        &self,
        base: &Connection,
        histories: &mut Histories,
        cluster: i64,
        (pending, id): (bool, &str),
    ) -> Applied {
        let Some((position, body)) = self.find(base, cluster, pending, id)? else {
            return Ok(());
        };
        let old = Some((position, &*body));
        histories.remember(base, cluster, (self.kind(pending), id), old)?;
        run(base, self.remove, (cluster, pending, id))
    }

    fn find(
        &self,
        base: &Connection,
        cluster: i64,
        pending: bool,
        id: &str,
    ) -> rusqlite::Result<Option<(i64, String)>> {
        let mut find = base.prepare_cached(self.find)?;
        // Not all of them take everything.
        match find.parameter_count() {
            1 => find.query_row((cluster,), |row| Ok((row.get(0)?, row.get(1)?))),
            _ => find.query_row((cluster, pending, id), |row| Ok((row.get(0)?, row.get(1)?))),
        }
        .optional()
    }

    /// Have these rows and no others. Only what differs is written: an inventory that
    /// is sent whole now and then has mostly the same rows.
    pub(super) fn replace<'r, R: 'r>(
        &self,
        base: &Connection,
        histories: &mut Histories,
        cluster: i64,
        rows: &'r [R],
    ) -> Applied
    where
        Kept<'r>: From<&'r R>,
    {
        let rows = rows.iter().map(Kept::from);
        let mut missing: BTreeMap<(bool, &str), Kept<'_>> =
            rows.map(|row| ((row.pending, row.id), row)).collect();
        for (pending, id) in self.sort_out(base, cluster, &mut missing)? {
            self.remove(base, histories, cluster, (pending, &id))?;
        }
        let mut missing = missing.into_values();
        missing.try_for_each(|row| self.put(base, histories, cluster, row))
    }

    /// Take from `missing` what is there already, and find what is to go.
    fn sort_out<'r>(
        &self,
        base: &Connection,
        cluster: i64,
        missing: &mut BTreeMap<(bool, &'r str), Kept<'r>>,
    ) -> rusqlite::Result<Vec<(bool, String)>> {
        let mut surplus = Vec::new();
        let mut statement = base.prepare_cached(self.select)?;
        let mut there = statement.query((cluster,))?;
        while let Some(row) = there.next()? {
            let there = Kept {
                pending: row.get(0)?,
                id: row.get_ref(1)?.as_str()?,
                position: row.get(2)?,
                body: row.get_ref(3)?.as_str()?,
            };
            match missing.get(&(there.pending, there.id)) {
                Some(row) if *row == there => {
                    let key = (row.pending, row.id);
                    missing.remove(&key);
                }
                Some(_) => {}
                None => surplus.push((there.pending, there.id.to_owned())),
            }
        }
        Ok(surplus)
    }
}

impl<'r> From<(bool, &'r String, i64, &'r String)> for Kept<'r> {
    fn from((pending, id, position, body): (bool, &'r String, i64, &'r String)) -> Self {
        Self {
            pending,
            id,
            position,
            body,
        }
    }
}

impl<'r> From<&'r HostRow> for Kept<'r> {
    fn from(host: &'r HostRow) -> Self {
        (false, &host.id, host.position, &host.body).into()
    }
}

impl<'r> From<&'r VmRow> for Kept<'r> {
    fn from(vm: &'r VmRow) -> Self {
        (vm.pending, &vm.id, 0, &vm.body).into()
    }
}

impl<'r> From<&'r TenantRow> for Kept<'r> {
    fn from(tenant: &'r TenantRow) -> Self {
        (false, &tenant.id, 0, &tenant.body).into()
    }
}

impl<'r> From<&'r MeasuredRow> for Kept<'r> {
    fn from(host: &'r MeasuredRow) -> Self {
        (false, &host.id, 0, &host.body).into()
    }
}

impl<'r> From<&'r GroupRow> for Kept<'r> {
    fn from(group: &'r GroupRow) -> Self {
        (false, &group.id, group.position, &group.body).into()
    }
}
