//! What a cluster consists of now: hosts, VMs running and pending, groups.
//!
//! Host facts are stored in columns, so that they cross to units by copying
//! memory. Sums over VMs (promised memory, counts, ...) are integers and are kept
//! with every change. Every change counts the version up and is remembered for a
//! while, so that [`Inventory::at_version`] can show an earlier state.
//!
//! Read [`Inventory`], [`Transaction`], [`HostEntry`] and [`VmEntry`] first.

#![forbid(unsafe_code)]

mod assign;
mod batch;
mod by_id;
mod changes;
mod clock;
mod cluster;
mod column;
mod entry;
mod error;
mod follows;
mod gpus;
mod group;
mod growth;
mod holdings;
mod host;
mod hosts;
mod intake;
mod journal;
mod members;
mod nested;
mod nodes;
mod of_changes;
mod of_document;
mod past;
mod ranks;
mod refused;
mod rows;
mod saved;
mod shape;
mod statistics;
mod texts;
mod touched;
mod transaction;
mod unmeasured;
mod vm;
mod vms;
mod watch;
mod weight;
mod writes;

#[cfg(test)]
mod tests;

pub use changes::{Aspects, ChangeLog, Cursor};
pub use column::{Cell, Column};
pub use entry::{EntryKind, EntryOutcome, EntryResult};
pub use error::InventoryError;
pub use group::{GroupEntry, Presence};
pub use holdings::ChangedHoldings;
pub use host::{Amount, HostEntry};
pub use nested::Nested;
pub use refused::{RefusedEntries, RefusedEntry};
pub use saved::{SavedHost, SavedMeasured, SavedVm};
pub use shape::{Shape, ShapeColumn};
pub use statistics::Measurement;
pub use texts::Texts;
pub use touched::Touched;
pub use transaction::Transaction;
pub use vm::{Expired, Terms, VmEntry};
pub use watch::HostWatch;
pub use weight::{facts_bytes, vm_bytes};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use by_id::ById;
use group::Groups;
use holdings::{TenantHoldings, Vacated};
use journal::Journal;
use placewright_model::budget::ClusterBounds;
use placewright_model::schema::Schema;
use placewright_model::{Departure, Facts, HostState, Kind, Value};
use ranks::Ranking;

/// How many changes can be taken back, those of open transactions apart: some thousand
/// decisions.
const JOURNAL_BOUND: usize = 1 << 16;

/// The columns of `hosts` that follow from VMs, by their place among the columns.
#[derive(Debug, Clone, Copy)]
struct Sums {
    cpu_committed: usize,
    cpu_pending: usize,
    cpu_exclusive: usize,
    vcpus: usize,
    vcpus_pending: usize,
    load_pending: usize,
    vcpus_unmeasured: usize,
    memory_unmeasured: usize,
    vms_unmeasured: usize,
    memory_committed: usize,
    memory_pending: usize,
    vms_count: usize,
    vms_pending: usize,
    vms_migrating: usize,
    vms_ha: usize,
    vms_widest: usize,
    batch_placed: usize,
    id: usize,
    listed: usize,
    state: usize,
}

/// The state of one cluster.
#[derive(Debug, Clone)]
pub struct Inventory {
    name: Arc<str>,
    schema: Arc<Schema>,
    version: u64,
    clock: i64,
    facts: Facts,
    tenants: BTreeMap<Arc<str>, Facts>,
    /// By slot, in the order in which hosts are listed; a removed host leaves a free slot,
    /// which is used again if no host stands behind it. Copies share what neither has changed
    /// since.
    hosts: Vec<Option<Arc<HostEntry>>>,
    host_slots: ById<u32>,
    /// How many slots are free behind that of the last host.
    free_at_end: usize,
    /// By slot: the place of the host's id among all ids, as bytes.
    ranks: Vec<u32>,
    ranking: Ranking,
    columns: Vec<Column>,
    column_names: ById<usize>,
    /// Tables below hosts that units read.
    nested: Vec<Nested>,
    sums: Sums,
    texts: Texts,
    vms: Vec<Option<VmEntry>>,
    free_vms: Vec<u32>,
    running: ById<u32>,
    pending: ById<u32>,
    /// VMs that count nowhere.
    vacated: ById<Vacated>,
    holdings: TenantHoldings,
    /// Reservations that end by themselves, soonest first.
    expiries: BTreeSet<(i64, Arc<str>)>,
    /// VMs of which no measurement shows all that they take, by the number of their place, with
    /// the second since when that is so.
    unmeasured: BTreeSet<(i64, u32)>,
    groups: Groups,
    watches: Vec<HostWatch>,
    /// Seconds for which what was measured counts; None: for good.
    statistics_max_age: Option<i64>,
    /// Seconds after which what came to run counts as measured; None: when it is measured.
    unmeasured_max_age: Option<i64>,
    /// No value that counts was measured before this time.
    oldest_measured: i64,
    next_listed: i64,
    /// The slots that are free, or of hosts that are not up.
    slots_not_up: BTreeSet<u32>,
    journal: Journal,
    changes: ChangeLog,
    /// How much there may be.
    bounds: ClusterBounds,
    /// Bytes that all this takes, groups and columns apart.
    bytes: u64,
}

impl Inventory {
    /// An empty cluster of that name.
    pub fn new(name: impl Into<Arc<str>>, schema: Arc<Schema>) -> Self {
        let bytes = weight::of_schema(&schema);
        let mut columns = Vec::new();
        let mut column_names = ById::default();
        if let Some(table) = schema.table("hosts") {
            for column in &table.columns {
                column_names.insert(column.name.clone(), columns.len());
                columns.push(Column::absent(column.kind, 0));
            }
        }
        let index = |name: &str| column_names.get(name).copied().unwrap_or(0);
        let sums = Sums {
            cpu_committed: index("cpu.committed"),
            cpu_pending: index("cpu.pending"),
            cpu_exclusive: index("cpu.exclusive"),
            vcpus: index("vcpus"),
            vcpus_pending: index("vcpus.pending"),
            load_pending: index("load.pending"),
            vcpus_unmeasured: index("vcpus.unmeasured"),
            memory_unmeasured: index("memory.unmeasured"),
            vms_unmeasured: index("vms.unmeasured"),
            memory_committed: index("memory.committed"),
            memory_pending: index("memory.pending"),
            vms_count: index("vms.count"),
            vms_pending: index("vms.pending"),
            vms_migrating: index("vms.migrating"),
            vms_ha: index("vms.ha"),
            vms_widest: index("vms.widest"),
            batch_placed: index("batch.placed"),
            id: index("id"),
            listed: index("listed"),
            state: index("state"),
        };
        Self {
            name: name.into(),
            schema,
            version: 0,
            clock: 0,
            facts: Facts::new(),
            tenants: BTreeMap::new(),
            hosts: Vec::new(),
            host_slots: ById::default(),
            free_at_end: 0,
            ranks: Vec::new(),
            ranking: Ranking::default(),
            columns,
            column_names,
            nested: Vec::new(),
            sums,
            texts: Texts::default(),
            vms: Vec::new(),
            free_vms: Vec::new(),
            running: ById::default(),
            pending: ById::default(),
            vacated: ById::default(),
            holdings: TenantHoldings::default(),
            expiries: BTreeSet::new(),
            unmeasured: BTreeSet::new(),
            groups: Groups::default(),
            watches: Vec::new(),
            statistics_max_age: None,
            unmeasured_max_age: None,
            oldest_measured: i64::MAX,
            next_listed: 0,
            slots_not_up: BTreeSet::new(),
            journal: Journal::new(JOURNAL_BOUND),
            changes: ChangeLog::default(),
            bounds: ClusterBounds::NONE,
            bytes,
        }
    }

    // Looking.

    /// The name of the cluster.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The tables and columns that this cluster has.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Counts up with every change.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Which hosts changed when, and in what.
    #[inline]
    pub fn changes(&self) -> &ChangeLog {
        &self.changes
    }

    /// The time up to which the inventory has been brought, in seconds.
    pub fn clock(&self) -> i64 {
        self.clock
    }

    /// What is known of the cluster as a whole.
    #[inline]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// What is known of a tenant.
    pub fn tenant(&self, id: &str) -> Option<&Facts> {
        self.tenants.get(id)
    }

    /// All tenants of which something is known, by id.
    pub fn tenants(&self) -> impl Iterator<Item = (&Arc<str>, &Facts)> {
        self.tenants.iter()
    }

    /// How many slots there are; some may be free.
    pub fn slots(&self) -> usize {
        self.hosts.len()
    }

    /// How many hosts there are.
    #[inline]
    pub fn host_count(&self) -> usize {
        self.host_slots.len()
    }

    /// The host in that slot.
    pub fn host(&self, slot: u32) -> Option<&HostEntry> {
        self.hosts.get(slot as usize)?.as_deref()
    }

    /// The same, to be changed: a host of its own, if copies have it too.
    fn host_mut(&mut self, slot: u32) -> Option<&mut HostEntry> {
        let host = self.hosts.get_mut(slot as usize)?.as_mut()?;
        Some(Arc::make_mut(host))
    }

    /// All hosts with their slots.
    pub fn hosts(&self) -> impl Iterator<Item = (u32, &HostEntry)> {
        (0u32..)
            .zip(&self.hosts)
            .filter_map(|(slot, host)| Some((slot, host.as_deref()?)))
    }

    /// The slot of the host with that id.
    pub fn slot(&self, id: &str) -> Option<u32> {
        self.host_slots.get(id).copied()
    }

    /// Whether the host in that slot is up: takes VMs.
    #[inline]
    pub fn is_up(&self, slot: u32) -> bool {
        self.host(slot).is_some() && self.state_is_up(slot)
    }

    fn state_is_up(&self, slot: u32) -> bool {
        let state = self.columns[self.sums.state].integer(slot as usize);
        state.is_some_and(|code| self.texts.text(code).is_some_and(|state| &**state == "up"))
    }

    /// The state of the host in that slot, if there is one and it is not up.
    pub fn state_not_up(&self, slot: u32) -> Option<&str> {
        if self.host(slot).is_none() || self.state_is_up(slot) {
            return None;
        }
        let code = self.columns[self.sums.state].integer(slot as usize)?;
        self.texts.text(code).map(|state| &**state)
    }

    /// The state of the host in that slot; [`HostState::Down`] where there is none.
    pub fn host_state(&self, slot: u32) -> HostState {
        if self.host(slot).is_none() {
            return HostState::Down;
        }
        let state = self.columns[self.sums.state].integer(slot as usize);
        let state = state.and_then(|code| self.texts.text(code));
        HostState::of(state.map(|state| &**state))
    }

    /// Whether what is said to run on the host in that slot runs no more, as
    /// [`HostState::is_lost`].
    pub fn is_lost(&self, slot: u32) -> bool {
        !self.is_up(slot) && self.host_state(slot).is_lost()
    }

    /// Whether VMs are on the move to or from a host.
    pub fn is_on_the_move(&self, slot: u32) -> bool {
        let moving = self.columns[self.sums.vms_migrating].integer(slot as usize);
        moving.is_some_and(|moving| moving > 0)
    }

    /// How a VM leaves the host where it runs; None if it has none. One that is stopped is started
    /// elsewhere, whatever its host's state.
    pub fn departure(&self, vm: &str) -> Option<Departure> {
        let entry = self.running(vm)?;
        if entry.vm.is_stopped() {
            return Some(Departure::Cold);
        }
        Some(
            self.host_state(entry.slot)
                .departure(entry.shape.migratable),
        )
    }

    /// Whether a VM runs while it leaves the host where it is: it may, its host works, and it is
    /// neither stopped nor paused.
    pub fn moves_live(&self, vm: &str) -> bool {
        let is_paused = || self.running(vm).is_some_and(|entry| entry.vm.is_paused());
        self.departure(vm) == Some(Departure::Live) && !is_paused()
    }

    /// Whether every slot has a host, and all of them are up.
    #[inline]
    pub fn is_all_up(&self) -> bool {
        self.slots_not_up.is_empty()
    }

    /// The slots of the hosts that are not up, ascending.
    pub fn not_up_slots(&self) -> impl Iterator<Item = u32> {
        let slots = self.slots_not_up.iter().copied();
        slots.filter(|slot| self.host(*slot).is_some())
    }

    /// The slots of the hosts that are up, ascending.
    #[inline]
    pub fn up_slots(&self) -> impl Iterator<Item = u32> {
        self.hosts()
            .map(|(slot, _)| slot)
            .filter(|slot| self.state_is_up(*slot))
    }

    /// By slot: how many VMs run on the host, and how many have a place reserved.
    #[inline]
    pub fn vm_counts(&self) -> (&[i64], &[i64]) {
        let Sums {
            vms_count,
            vms_pending,
            ..
        } = self.sums;
        let counts = [vms_count, vms_pending].map(|column| self.columns[column].integers());
        (counts[0], counts[1])
    }

    /// By slot: the place of the host in the order in which hosts were added.
    #[inline]
    pub fn listed(&self) -> &[i64] {
        self.columns[self.sums.listed].integers()
    }

    /// The number of a host column, for [`Inventory::column`].
    #[inline]
    pub fn column_index(&self, name: &str) -> Option<usize> {
        self.column_names.get(name).copied()
    }

    /// The number of a host column of the schema; one that no host has yet is made.
    pub fn ensure_column(&mut self, name: &str) -> Option<usize> {
        if let Some(index) = self.column_index(name) {
            return Some(index);
        }
        let kind = self.schema.column("hosts", name)?.kind;
        let index = self.columns.len();
        self.columns.push(Column::absent(kind, self.hosts.len()));
        self.column_names.insert(name.into(), index);
        Some(index)
    }

    /// Set or remove the value of a host in a column, and note whether it changed.
    fn set_cell(&mut self, column: usize, slot: u32, cell: Option<Cell>) {
        if self.columns[column].set(slot as usize, cell) {
            self.note(slot, Aspects::column(column));
        }
    }

    /// Add to the value of a host in a column, and note whether it changed.
    fn add_cell(&mut self, column: usize, slot: u32, by: i64) {
        if self.columns[column].add(slot as usize, by) {
            self.note(slot, Aspects::column(column));
        }
    }

    fn note(&mut self, slot: u32, aspects: Aspects) {
        self.changes.note(slot, aspects, self.hosts.len());
    }

    /// A host column.
    pub fn column(&self, index: usize) -> &Column {
        &self.columns[index]
    }

    /// The value of a host's column.
    pub fn host_value(&self, slot: u32, column: &str) -> Option<Value> {
        let column = &self.columns[self.column_index(column)?];
        Some(match (column.get(slot as usize)?, column.kind()) {
            (Cell::Number(value), _) => Value::Number(value),
            (Cell::Integer(value), Kind::Boolean) => Value::Boolean(value != 0),
            (Cell::Integer(code), Kind::Text) => Value::Text(self.texts.text(code)?.clone()),
            (Cell::Integer(value), _) => Value::Integer(value),
        })
    }

    /// The texts of host columns.
    #[inline]
    pub fn texts(&self) -> &Texts {
        &self.texts
    }

    /// Running and pending VMs of a host, in the order of their ids.
    #[inline]
    pub fn vms_of(&self, host: &HostEntry) -> impl Iterator<Item = &VmEntry> {
        host.vms
            .iter()
            .filter_map(|index| self.vms[*index as usize].as_ref())
    }

    /// The VM of that id where it runs.
    pub fn running(&self, id: &str) -> Option<&VmEntry> {
        self.placed(id, false)
    }

    /// The ids of the VMs that have a place reserved, in no order.
    pub fn pending_ids(&self) -> impl Iterator<Item = &Arc<str>> {
        self.pending.keys()
    }

    /// The VM of that id where it has a place reserved.
    pub fn pending(&self, id: &str) -> Option<&VmEntry> {
        self.placed(id, true)
    }

    fn places(&self, pending: bool) -> &ById<u32> {
        match pending {
            true => &self.pending,
            false => &self.running,
        }
    }

    fn placed(&self, id: &str, pending: bool) -> Option<&VmEntry> {
        self.vms[*self.places(pending).get(id)? as usize].as_ref()
    }

    fn placed_mut(&mut self, id: &str, pending: bool) -> Option<&mut VmEntry> {
        let index = *self.places(pending).get(id)? as usize;
        self.vms[index].as_mut()
    }

    /// How many VMs run.
    pub fn running_count(&self) -> usize {
        self.running.len()
    }

    /// How many VMs have a place reserved.
    pub fn pending_count(&self) -> usize {
        self.pending.len()
    }

    /// All groups, by id.
    pub fn groups(&self) -> impl Iterator<Item = &GroupEntry> {
        self.groups.iter()
    }

    /// How many groups there are.
    pub fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// The group of that id.
    pub fn group(&self, id: &str) -> Option<&GroupEntry> {
        self.groups.get(id)
    }

    /// The groups of a VM, by id of the group.
    pub fn groups_of(&self, vm: &str) -> impl Iterator<Item = &GroupEntry> {
        self.groups.of_vm(vm)
    }

    fn known_slot(&self, id: &str) -> Result<u32, InventoryError> {
        self.slot(id)
            .ok_or_else(|| InventoryError::UnknownHost(id.into()))
    }
}
