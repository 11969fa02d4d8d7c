//! How many bytes an inventory takes, counted as it changes, and what does not fit.
//!
//! The sums are estimates, near what is in memory and never far below it. Copies are not
//! bounded: who asks what if more VMs came is told.

use super::group::takes_of_others;
use super::journal::Undo;
use super::rows::{FactsOf, RowEdit};
use super::{HostEntry, Inventory, InventoryError, Nested, Texts, VmEntry};
use placewright_model::budget::{ClusterBounds, Collection, Full};
use placewright_model::schema::Schema;
use placewright_model::{Facts, Group, Pinning, Value, Vm};

/// Bytes of a host besides its id, its facts and its columns.
const HOST: u64 = 400;
/// Bytes of a VM with a place besides its id and its facts.
const VM: u64 = 400;
const TENANT: u64 = 200;
const GROUP: u64 = 400;
/// A VM in a group, which is found from either.
const MEMBER: u64 = 150;
/// An id in a list.
const NAME: u64 = 40;
const VALUE: u64 = 64;
/// A row, with its part of the table: what it takes with one value, when it was read from the store.
const ROW: u64 = 260;
/// What is written when a VM runs.
const STEP: u64 = 300;
/// A column of a schema.
const COLUMN: u64 = 160;
/// Any entry of the journal.
const CHANGE: u64 = 120;
/// A value of a host column, and whether there is one.
const CELL: u64 = 9;

/// Bytes of so many columns of so many rows.
pub(super) fn of_cells(rows: usize, columns: usize) -> u64 {
    (rows as u64).saturating_mul(columns as u64) * CELL
}

/// Bytes that facts take in memory, estimated.
pub fn facts_bytes(facts: &Facts) -> u64 {
    let values = facts.values().map(|(_, value)| of_value(value));
    let tables = facts.tables().map(|(_, rows)| of_rows(rows));
    values.chain(tables).sum()
}

fn of_rows(rows: &[Facts]) -> u64 {
    rows.iter().map(of_row).sum()
}

fn of_row(row: &Facts) -> u64 {
    ROW + facts_bytes(row)
}

fn of_value(value: &Value) -> u64 {
    match value {
        Value::Text(text) => VALUE + text.len() as u64,
        _ => VALUE,
    }
}

pub(super) fn of_id(id: &str) -> u64 {
    NAME + id.len() as u64
}

fn of_host(host: &HostEntry) -> u64 {
    HOST + of_id(&host.id) + facts_bytes(&host.facts)
}

/// Bytes that a VM with a place takes in memory, estimated.
pub fn vm_bytes(vm: &Vm) -> u64 {
    let Pinning {
        pinned,
        preferred,
        location,
    } = &vm.pinning;
    let scored = location.iter().map(|(host, _)| host);
    let named = pinned.iter().chain(preferred).chain(scored);
    let named: u64 = named.map(|host| of_id(host)).sum();
    VM + of_id(&vm.id) + facts_bytes(&vm.facts) + named
}

fn of_vm_entry(entry: &VmEntry) -> u64 {
    let stay = entry.stay.as_ref();
    let stay = stay.map_or(0, |stay| {
        facts_bytes(&stay.rows) + STEP * stay.waiting.len() as u64
    });
    vm_bytes(&entry.vm) + stay
}

fn of_group(group: &Group) -> u64 {
    let vms = group.vms.iter().map(|vm| of_member(vm));
    let others = group.hosts.iter();
    let others = others.chain(&group.vms_of).chain(&group.hosts_of);
    GROUP + of_id(&group.id) + vms.sum::<u64>() + others.map(|id| of_id(id)).sum::<u64>()
}

/// Bytes of a VM in a group.
pub(super) fn of_member(vm: &str) -> u64 {
    MEMBER + vm.len() as u64
}

/// Bytes of a group without the members that it has of others: one that has any is known as it
/// was given besides.
pub(super) fn of_new_group(group: &Group) -> u64 {
    match takes_of_others(group) {
        true => 2 * of_group(group),
        false => of_group(group),
    }
}

/// Bytes of what a schema has beyond the built-in one.
pub(super) fn of_schema(schema: &Schema) -> u64 {
    let built_in = Schema::built_in();
    let own = schema.tables().filter(|table| {
        let known = built_in.table(&table.name);
        known.is_none_or(|known| !std::sync::Arc::ptr_eq(known, table))
    });
    let columns = own.flat_map(|table| &table.columns);
    columns
        .map(|column| COLUMN + (column.name.len() + column.meaning.len()) as u64)
        .sum()
}

/// So much more than before, or less.
fn signed(new: u64, old: u64) -> i64 {
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    signed(new) - signed(old)
}

impl Undo {
    /// Bytes that it takes in the journal.
    pub(super) fn weight(&self) -> u64 {
        let more = match self {
            Self::RemoveHost { host, cells, .. } => of_host(host) + 24 * cells.len() as u64,
            Self::HostValue { old, .. } => old.as_ref().map_or(0, of_value),
            Self::HostRows { old, .. } => of_rows(old),
            Self::RemoveVm(entry) => of_vm_entry(entry),
            Self::SetGroup { old, .. } => old.as_deref().map_or(0, of_group),
            Self::SetTenant { old, .. } => old.as_ref().map_or(0, facts_bytes),
            Self::Row { back, .. } => match &**back {
                RowEdit::Insert(_, row) | RowEdit::Replace(_, row) => of_row(row),
                RowEdit::Delete(_) => 0,
            },
            Self::Batch(hosts) => 16 * hosts.len() as u64,
            Self::Schema(schema) => of_schema(schema),
            Self::AddHost { .. }
            | Self::AddVm { .. }
            | Self::Reserve { .. }
            | Self::Unmeasured { .. }
            | Self::Wait { .. }
            | Self::Vacated { .. }
            | Self::Since { .. }
            | Self::Clock(_) => 0,
        };
        CHANGE + more
    }
}

impl Inventory {
    /// From now on there may be so much. What is there already stays, even if it is more.
    pub fn set_bounds(&mut self, bounds: ClusterBounds) {
        self.bounds = bounds;
    }

    /// How much there may be.
    pub fn bounds(&self) -> ClusterBounds {
        self.bounds
    }

    /// Bytes that hosts, VMs, groups, tenants and attributes take.
    pub fn bytes(&self) -> u64 {
        self.bytes + self.groups.bytes()
    }

    /// Bytes that the columns of hosts take, and those of tables below hosts.
    pub fn column_bytes(&self) -> u64 {
        of_cells(self.hosts.len(), self.columns.len()) + self.nested_bytes()
    }

    /// Bytes of what leads back to earlier versions.
    pub fn journal_bytes(&self) -> u64 {
        self.journal.bytes()
    }

    /// Bytes of the texts of columns, and how many there may be of them.
    pub fn text_bytes(&self) -> (u64, u64) {
        let texts: &Texts = &self.texts;
        (texts.bytes() as u64, texts.bound() as u64)
    }

    /// That so many more bytes fit.
    ///
    /// # Errors
    /// If they do not.
    fn check_room(&self, more: u64) -> Result<(), InventoryError> {
        if more == 0 {
            return Ok(());
        }
        let (wanted, bound) = (self.bytes().saturating_add(more), self.bounds.inventory);
        Ok(Full::check(
            Collection::Inventory,
            &self.name,
            wanted,
            bound,
        )?)
    }

    /// That what has come to there being `before` bytes fits. Where there were too many already,
    /// there may be fewer.
    ///
    /// # Errors
    /// If it does not.
    pub fn check_growth(&self, before: u64) -> Result<(), InventoryError> {
        let wanted = self.bytes();
        match wanted > before {
            true => {
                let bound = self.bounds.inventory;
                Ok(Full::check(
                    Collection::Inventory,
                    &self.name,
                    wanted,
                    bound,
                )?)
            }
            false => Ok(()),
        }
    }

    /// The same for VMs that are to have a place.
    ///
    /// # Errors
    /// If they do not fit.
    pub fn check_room_for(&self, vms: &[Vm]) -> Result<(), InventoryError> {
        self.check_room(vms.iter().map(vm_bytes).sum())
    }

    /// That columns for so many more hosts and attributes fit. What the columns of hosts would
    /// take with all attributes that are declared is known before any is made.
    ///
    /// # Errors
    /// If they do not.
    pub(super) fn check_columns(&self, hosts: usize, columns: usize) -> Result<(), InventoryError> {
        if hosts == 0 && columns == 0 {
            return Ok(());
        }
        let declared = self.schema.table("hosts").map_or(0, |it| it.columns.len());
        let columns = declared.max(self.columns.len()) + columns;
        let wanted = of_cells(self.hosts.len() + hosts, columns) + self.nested_bytes();
        let bound = self.bounds.columns;
        Ok(Full::check(Collection::Columns, &self.name, wanted, bound)?)
    }

    fn nested_bytes(&self) -> u64 {
        self.nested.iter().map(Nested::bytes).sum()
    }

    /// That so many rows of a table below the host in that slot fit into the columns, if units
    /// read the table. None: a host that is to come.
    pub(super) fn check_nested(
        &mut self,
        slot: Option<u32>,
        table: &str,
        rows: usize,
    ) -> Result<(), InventoryError> {
        let Some(index) = self.nested.iter().position(|it| *it.table == *table) else {
            return Ok(());
        };
        let held = slot.map_or(0, |slot| self.nested[index].span(slot).len());
        if rows <= held {
            return Ok(());
        }
        let more = self.nested[index].bytes_of(rows);
        if self.column_bytes() + more > self.bounds.columns {
            // Rows that were given up may be all that is in the way.
            self.mend_nested(index);
        }
        let wanted = self.column_bytes() + more;
        let bound = self.bounds.columns;
        Ok(Full::check(Collection::Columns, &self.name, wanted, bound)?)
    }

    /// That a group fits, without the members that it has of others: these are counted when they
    /// are worked out, before there is any list of them. A short request may name many members
    /// many times.
    pub(super) fn check_group(&self, group: &Group) -> Result<(), InventoryError> {
        let known = self.group(&group.id).map_or(0, |known| known.bytes);
        self.check_room(of_new_group(group).saturating_sub(known))
    }

    /// By how many bytes the inventory has grown by the change that this takes back, groups
    /// apart: asked right after the change, and again right before it is taken back.
    pub(super) fn grown_by(&self, undo: &Undo) -> i64 {
        match undo {
            Undo::AddHost { slot } => signed(self.host(*slot).map_or(0, of_host), 0),
            Undo::RemoveHost { host, .. } => signed(0, of_host(host)),
            Undo::HostValue { slot, column, old } => {
                let new = self.host(*slot).and_then(|host| host.facts.get(column));
                signed(new.map_or(0, of_value), old.as_ref().map_or(0, of_value))
            }
            Undo::HostRows { slot, table, old } => {
                let host = self.host(*slot);
                let new = host.map_or(0, |host| of_rows(host.facts.rows(table)));
                signed(new, of_rows(old))
            }
            Undo::AddVm { id, pending } => {
                signed(self.placed(id, *pending).map_or(0, of_vm_entry), 0)
            }
            Undo::RemoveVm(entry) => signed(0, of_vm_entry(entry)),
            Undo::SetTenant { id, old } => {
                let of = |facts: &Facts| TENANT + of_id(id) + facts_bytes(facts);
                let new = self.tenants.get(id);
                signed(new.map_or(0, of), old.as_ref().map_or(0, of))
            }
            Undo::Row { of, table, back } => self.grown_by_row(of, table, back),
            Undo::Wait { .. } => signed(STEP, 0),
            Undo::Schema(old) => signed(of_schema(&self.schema), of_schema(old)),
            // Groups are counted as they are put in and taken out; the others take no more.
            Undo::SetGroup { .. }
            | Undo::Reserve { .. }
            | Undo::Unmeasured { .. }
            | Undo::Vacated { .. }
            | Undo::Batch(_)
            | Undo::Since { .. }
            | Undo::Clock(_) => 0,
        }
    }

    fn grown_by_row(&self, of: &FactsOf, table: &str, back: &RowEdit) -> i64 {
        let now = |at: usize| self.rows_of(of, table).get(at).map_or(0, of_row);
        match back {
            RowEdit::Delete(at) => signed(now(*at), 0),
            RowEdit::Replace(at, old) => signed(now(*at), of_row(old)),
            RowEdit::Insert(_, old) => signed(0, of_row(old)),
        }
    }

    /// The same sum as [`Inventory::bytes`], groups apart, counted anew.
    #[cfg(test)]
    pub(super) fn recounted(&self) -> u64 {
        let hosts = self.hosts().map(|(_, host)| of_host(host));
        let vms = self.vms.iter().flatten().map(of_vm_entry);
        let tenants = self.tenants.iter();
        let tenants = tenants.map(|(id, facts)| TENANT + of_id(id) + facts_bytes(facts));
        let all = hosts.chain(vms).chain(tenants).sum::<u64>();
        all + facts_bytes(&self.facts) + of_schema(&self.schema)
    }
}

#[cfg(test)]
mod tests;
