//! What a cluster consists of now: hosts, VMs running and pending, groups.
//!
//! Host facts are stored in columns, so that they cross to units by copying
//! memory. Sums over VMs (promised memory, counts, ...) are integers and are kept
//! with every change. Every change counts the version up and is remembered for a
//! while, so that [`Inventory::at_version`] can show an earlier state.

mod column;
mod error;
mod group;
mod host;
mod intake;
mod journal;
mod shape;
mod texts;
mod vm;
mod watch;

#[cfg(test)]
mod tests;

pub use column::{Cell, Column};
pub use error::InventoryError;
pub use group::{GroupEntry, Presence};
pub use host::{Amount, HostEntry};
pub use shape::Shape;
pub use texts::Texts;
pub use vm::VmEntry;
pub use watch::HostWatch;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::model::schema::{Schema, Source};
use crate::model::{Facts, Group, Host, Kind, Value, Vm};
use group::Memberships;
use intake::Owner;
use journal::{Journal, Undo};

/// How many changes can be taken back, by default: some thousand decisions.
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
    memory_committed: usize,
    memory_pending: usize,
    vms_count: usize,
    vms_pending: usize,
    vms_migrating: usize,
    vms_ha: usize,
    vms_widest: usize,
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
    /// By slot; a removed host leaves a free slot.
    hosts: Vec<Option<HostEntry>>,
    host_slots: HashMap<Arc<str>, u32>,
    /// By slot: the place of the host's id among all ids, as bytes.
    ranks: Vec<u32>,
    columns: Vec<Column>,
    column_names: HashMap<Arc<str>, usize>,
    sums: Sums,
    texts: Texts,
    vms: Vec<Option<VmEntry>>,
    free_vms: Vec<u32>,
    running: HashMap<Arc<str>, u32>,
    pending: HashMap<Arc<str>, u32>,
    /// Reservations that end by themselves, soonest first.
    expiries: BTreeSet<(i64, Arc<str>)>,
    groups: BTreeMap<Arc<str>, GroupEntry>,
    memberships: Memberships,
    watches: Vec<HostWatch>,
    next_listed: i64,
    /// How many slots are free, or of hosts that are not up.
    slots_not_up: usize,
    journal: Journal,
}

impl Inventory {
    /// An empty cluster of that name.
    pub fn new(name: impl Into<Arc<str>>, schema: Arc<Schema>) -> Self {
        let mut columns = Vec::new();
        let mut column_names = HashMap::new();
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
            memory_committed: index("memory.committed"),
            memory_pending: index("memory.pending"),
            vms_count: index("vms.count"),
            vms_pending: index("vms.pending"),
            vms_migrating: index("vms.migrating"),
            vms_ha: index("vms.ha"),
            vms_widest: index("vms.widest"),
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
            host_slots: HashMap::new(),
            ranks: Vec::new(),
            columns,
            column_names,
            sums,
            texts: Texts::default(),
            vms: Vec::new(),
            free_vms: Vec::new(),
            running: HashMap::new(),
            pending: HashMap::new(),
            expiries: BTreeSet::new(),
            groups: BTreeMap::new(),
            memberships: Memberships::new(),
            watches: Vec::new(),
            next_listed: 0,
            slots_not_up: 0,
            journal: Journal::new(JOURNAL_BOUND),
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

    /// The time up to which the inventory has been brought, in seconds.
    pub fn clock(&self) -> i64 {
        self.clock
    }

    /// What is known of the cluster as a whole.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// What is known of a tenant.
    pub fn tenant(&self, id: &str) -> Option<&Facts> {
        self.tenants.get(id)
    }

    /// How many slots there are; some may be free.
    pub fn slots(&self) -> usize {
        self.hosts.len()
    }

    /// How many hosts there are.
    pub fn host_count(&self) -> usize {
        self.host_slots.len()
    }

    /// The host in that slot.
    pub fn host(&self, slot: u32) -> Option<&HostEntry> {
        self.hosts.get(slot as usize)?.as_ref()
    }

    /// All hosts with their slots.
    pub fn hosts(&self) -> impl Iterator<Item = (u32, &HostEntry)> {
        (0u32..)
            .zip(&self.hosts)
            .filter_map(|(slot, host)| Some((slot, host.as_ref()?)))
    }

    /// The slot of the host with that id.
    pub fn slot(&self, id: &str) -> Option<u32> {
        self.host_slots.get(id).copied()
    }

    /// Whether the host in that slot is up: takes VMs.
    pub fn is_up(&self, slot: u32) -> bool {
        self.host(slot).is_some() && self.state_is_up(slot)
    }

    fn state_is_up(&self, slot: u32) -> bool {
        let state = self.columns[self.sums.state].integer(slot as usize);
        state.is_some_and(|code| self.texts.text(code).is_some_and(|state| &**state == "up"))
    }

    /// Whether every slot has a host, and all of them are up.
    pub fn is_all_up(&self) -> bool {
        self.slots_not_up == 0
    }

    /// The slots of the hosts that are up, ascending.
    pub fn up_slots(&self) -> impl Iterator<Item = u32> {
        self.hosts()
            .map(|(slot, _)| slot)
            .filter(|slot| self.state_is_up(*slot))
    }

    /// By slot: the place of the host's id among all ids, compared as bytes.
    pub fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    /// The number of a host column, for [`Inventory::column`].
    pub fn column_index(&self, name: &str) -> Option<usize> {
        self.column_names.get(name).copied()
    }

    /// The number of a host column of the schema; one that no host has yet is made.
    pub(crate) fn ensure_column(&mut self, name: &str) -> Option<usize> {
        if let Some(index) = self.column_index(name) {
            return Some(index);
        }
        let kind = self.schema.column("hosts", name)?.kind;
        let index = self.columns.len();
        self.columns.push(Column::absent(kind, self.hosts.len()));
        self.column_names.insert(name.into(), index);
        Some(index)
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
    pub fn texts(&self) -> &Texts {
        &self.texts
    }

    /// Running and pending VMs of a host, in the order of their ids.
    pub fn vms_of(&self, host: &HostEntry) -> impl Iterator<Item = &VmEntry> {
        host.vms
            .iter()
            .filter_map(|index| self.vms[*index as usize].as_ref())
    }

    /// The VM of that id where it runs.
    pub fn running(&self, id: &str) -> Option<&VmEntry> {
        self.vms[*self.running.get(id)? as usize].as_ref()
    }

    /// The VM of that id where it has a place reserved.
    pub fn pending(&self, id: &str) -> Option<&VmEntry> {
        self.vms[*self.pending.get(id)? as usize].as_ref()
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
        self.groups.values()
    }

    /// The groups of a VM, by id of the group.
    pub fn groups_of(&self, vm: &str) -> impl Iterator<Item = &GroupEntry> {
        self.memberships
            .get(vm)
            .into_iter()
            .flatten()
            .filter_map(|group| self.groups.get(group))
    }

    // Changing hosts.

    /// Add a host.
    ///
    /// # Errors
    /// If there is one of that id, or its facts do not fit the schema.
    pub fn add_host(&mut self, host: Host) -> Result<u32, InventoryError> {
        if self.host_slots.contains_key(&host.id) {
            return Err(InventoryError::HostExists(host.id));
        }
        let owner = Owner {
            entity: "host",
            id: &host.id,
        };
        if let Some(table) = self.schema.table("hosts") {
            intake::check(&self.schema, table, owner, &host.facts)?;
        }
        let slot = self.insert_host(HostEntry::new(host, self.next_listed));
        self.next_listed += 1;
        self.changed(Undo::AddHost);
        Ok(slot)
    }

    fn insert_host(&mut self, host: HostEntry) -> u32 {
        let slot = u32::try_from(self.hosts.len()).unwrap_or(u32::MAX);
        for column in &mut self.columns {
            column.push_absent();
        }
        self.host_slots.insert(host.id.clone(), slot);
        self.slots_not_up += 1;
        self.ranks.push(0);
        self.hosts.push(Some(host));
        self.rank_host(slot);
        self.fill_host(slot);
        slot
    }

    /// Give the host in `slot` its place among the ids; the order of the others
    /// stays.
    fn rank_host(&mut self, slot: u32) {
        let Some(id) = self.host(slot).map(|host| host.id.clone()) else {
            return;
        };
        // Fleets are mostly added in the order of their ids: then it is the last.
        let rank = match self.hosts().filter(|(other, _)| *other != slot).last() {
            Some((last, host))
                if host.id < id
                    && self.ranks[last as usize] as usize + 2 == self.host_slots.len() =>
            {
                self.ranks[last as usize] + 1
            }
            _ => {
                let less = self.hosts().filter(|(_, host)| host.id < id).count();
                let rank = u32::try_from(less).unwrap_or(u32::MAX);
                for other in 0..self.ranks.len() {
                    if other != slot as usize
                        && self.hosts[other].is_some()
                        && self.ranks[other] >= rank
                    {
                        self.ranks[other] += 1;
                    }
                }
                rank
            }
        };
        self.ranks[slot as usize] = rank;
    }

    /// Fill the columns of a host that carries nothing yet.
    fn fill_host(&mut self, slot: u32) {
        let Some(table) = self.schema.table("hosts").cloned() else {
            return;
        };
        let Some(host) = self.host(slot) else { return };
        let (id, listed) = (host.id.clone(), host.listed);
        let given: Vec<(Arc<str>, Value)> = host
            .facts
            .values()
            .map(|(column, value)| (column.clone(), value.clone()))
            .collect();
        let cores = host.facts.integer("cpu.cores");
        let name_given = host.facts.get("name").is_some();
        for column in &table.columns {
            let default = match &*column.name {
                "state" => Some(Value::from("up")),
                "cpu.total" => Some(Value::Integer(cores.unwrap_or(0).saturating_mul(1000))),
                "memory.overcommit" => Some(Value::Number(1.0)),
                "name" if !name_given => Some(Value::Text(id.clone())),
                _ if column.optional => None,
                _ => match column.kind {
                    Kind::Integer => Some(Value::Integer(0)),
                    Kind::Number => Some(Value::Number(0.0)),
                    Kind::Boolean => Some(Value::Boolean(false)),
                    Kind::Text => None,
                },
            };
            if default.is_some() {
                self.write(slot, &column.name, default.as_ref());
            }
        }
        let id_cell = Cell::Integer(i64::from(self.texts.code(&id)));
        self.columns[self.sums.id].set(slot as usize, Some(id_cell));
        self.columns[self.sums.listed].set(slot as usize, Some(Cell::Integer(listed)));
        for (column, value) in given {
            self.write(slot, &column, Some(&value));
        }
        self.watch_host(slot);
    }

    /// Put a value into a column, as a cell.
    fn write(&mut self, slot: u32, column: &str, value: Option<&Value>) {
        let cell = value.map(|value| match value {
            Value::Integer(value) => Cell::Integer(*value),
            Value::Number(value) => Cell::Number(*value),
            Value::Boolean(value) => Cell::Integer(i64::from(*value)),
            Value::Text(text) => Cell::Integer(i64::from(self.texts.code(text))),
        });
        if let Some(index) = self.ensure_column(column) {
            let was_up = self.is_up(slot);
            self.columns[index].set(slot as usize, cell);
            self.note_up(was_up, self.is_up(slot));
        }
    }

    fn note_up(&mut self, was_up: bool, is_up: bool) {
        match (was_up, is_up) {
            (true, false) => self.slots_not_up += 1,
            (false, true) => self.slots_not_up -= 1,
            _ => {}
        }
    }

    /// Take a host out.
    ///
    /// # Errors
    /// If there is none of that id, or VMs run or are pending on it.
    pub fn remove_host(&mut self, id: &str) -> Result<(), InventoryError> {
        let slot = self.known_slot(id)?;
        let vms = self.host(slot).map_or(0, |host| host.vms.len());
        if vms > 0 {
            return Err(InventoryError::HostInUse {
                host: id.into(),
                vms,
            });
        }
        if let Some(host) = self.vacate(slot) {
            let host = Box::new(host);
            self.changed(Undo::RemoveHost { slot, host });
        }
        Ok(())
    }

    /// Free a slot and close the gap among the ranks.
    fn vacate(&mut self, slot: u32) -> Option<HostEntry> {
        let was_up = self.is_up(slot);
        let host = self.hosts[slot as usize].take()?;
        self.note_up(was_up, false);
        self.host_slots.remove(&host.id);
        let rank = self.ranks[slot as usize];
        for other in 0..self.ranks.len() {
            if self.hosts[other].is_some() && self.ranks[other] > rank {
                self.ranks[other] -= 1;
            }
        }
        Some(host)
    }

    /// Set or remove a value of a host.
    ///
    /// # Errors
    /// If there is no such host, or the value does not fit the schema.
    pub fn set_host_value(
        &mut self,
        id: &str,
        column: &str,
        value: Option<Value>,
    ) -> Result<(), InventoryError> {
        let slot = self.known_slot(id)?;
        let id: Arc<str> = id.into();
        let column: Arc<str> = match self.schema.column("hosts", column) {
            Some(known) => known.name,
            None => column.into(),
        };
        let owner = Owner {
            entity: "host",
            id: &id,
        };
        if let (Some(table), Some(value)) = (self.schema.table("hosts"), &value) {
            intake::check_value(table, owner, &column, value)?;
        }
        let old = self
            .host(slot)
            .and_then(|host| host.facts.get(&column).cloned());
        if old == value {
            return Ok(());
        }
        self.put_host_value(slot, &column, value);
        self.changed(Undo::HostValue { slot, column, old });
        Ok(())
    }

    fn put_host_value(&mut self, slot: u32, column: &Arc<str>, value: Option<Value>) {
        let source = self
            .schema
            .column("hosts", column)
            .map_or(Source::Given, |column| column.source);
        let Some(host) = self.hosts[slot as usize].as_mut() else {
            return;
        };
        let old = host.facts.integer(column).unwrap_or(0);
        match &value {
            Some(value) => host.facts.set(column.clone(), value.clone()),
            None => host.facts.unset(column),
        }
        let cores = host.facts.integer("cpu.cores").unwrap_or(0);
        let total_given = host.facts.get("cpu.total").is_some();
        match (source, &value) {
            // The column holds the given value and the sum over VMs.
            (Source::Added, value) => {
                let new = match value {
                    Some(Value::Integer(new)) => *new,
                    _ => 0,
                };
                if let Some(index) = self.column_index(column) {
                    self.columns[index].add(slot as usize, new - old);
                }
            }
            (_, Some(value)) => self.write(slot, column, Some(value)),
            (_, None) => self.write_default(slot, column),
        }
        if !total_given && matches!(&**column, "cpu.cores" | "cpu.total") {
            let total = Value::Integer(cores.saturating_mul(1000));
            self.write(slot, "cpu.total", Some(&total));
        }
        self.watch_host(slot);
    }

    fn write_default(&mut self, slot: u32, column: &str) {
        let default = match column {
            "state" => Some(Value::from("up")),
            "memory.overcommit" => Some(Value::Number(1.0)),
            "memory.total" | "memory.reserved" => Some(Value::Integer(0)),
            "name" => self.host(slot).map(|host| Value::Text(host.id.clone())),
            _ => None,
        };
        self.write(slot, column, default.as_ref());
    }

    /// Replace the rows of a table below a host.
    ///
    /// # Errors
    /// If there is no such host or table, or a row does not fit the schema.
    pub fn set_host_rows(
        &mut self,
        id: &str,
        table: &str,
        rows: Vec<Facts>,
    ) -> Result<(), InventoryError> {
        let slot = self.known_slot(id)?;
        let id: Arc<str> = id.into();
        let table: Arc<str> = table.into();
        let owner = Owner {
            entity: "host",
            id: &id,
        };
        if let Some(hosts) = self.schema.table("hosts") {
            let below = intake::child(&self.schema, hosts, owner, &table)?;
            for row in &rows {
                intake::check(&self.schema, below, owner, row)?;
            }
        }
        let old = self.put_host_rows(slot, &table, rows);
        self.changed(Undo::HostRows { slot, table, old });
        Ok(())
    }

    fn put_host_rows(&mut self, slot: u32, table: &Arc<str>, rows: Vec<Facts>) -> Vec<Facts> {
        let entries: Vec<(Arc<Vm>, bool)> = match self.host(slot) {
            Some(host) if &**table == "amounts" => self
                .vms_of(host)
                .map(|entry| (entry.vm.clone(), entry.pending))
                .collect(),
            _ => Vec::new(),
        };
        let Some(host) = self.hosts[slot as usize].as_mut() else {
            return Vec::new();
        };
        let old = host.facts.rows(table).to_vec();
        host.facts.set_rows(table.clone(), rows);
        if &**table == "amounts" {
            host.amounts = host::amounts_of(&host.facts);
            for (vm, pending) in entries {
                host.count_amounts(&vm.facts, pending, 1);
            }
        }
        old
    }

    // Changing VMs.

    /// A VM runs on a host: one that is new here, or one that the operator moved or
    /// started by hand. A place reserved for it, on whatever host, is given back.
    ///
    /// # Errors
    /// If there is no such host, or the VM's facts do not fit the schema.
    pub fn run_vm(&mut self, vm: Vm, host: &str) -> Result<(), InventoryError> {
        let slot = self.known_slot(host)?;
        self.check_vm(&vm)?;
        if let Some(index) = self.pending.get(&vm.id).copied() {
            self.take_vm(index);
        }
        if let Some(index) = self.running.get(&vm.id).copied() {
            self.take_vm(index);
        }
        self.put_vm(VmEntry {
            shape: Shape::of(&vm.facts),
            vm: Arc::new(vm),
            slot,
            pending: false,
            expires: None,
        });
        Ok(())
    }

    /// Reserve a place for a VM, until `expires` (seconds) if given.
    ///
    /// # Errors
    /// If there is no such host, the VM has a place reserved already, or its facts
    /// do not fit the schema.
    pub fn reserve_vm(
        &mut self,
        vm: Arc<Vm>,
        host: &str,
        expires: Option<i64>,
    ) -> Result<(), InventoryError> {
        let slot = self.known_slot(host)?;
        if self.pending.contains_key(&vm.id) {
            return Err(InventoryError::VmPending(vm.id.clone()));
        }
        self.check_vm(&vm)?;
        let mut shape = Shape::of(&vm.facts);
        if !self.running.contains_key(&vm.id) {
            // What was measured elsewhere says nothing of a VM that starts anew.
            shape.load = None;
        }
        self.put_vm(VmEntry {
            shape,
            vm,
            slot,
            pending: true,
            expires,
        });
        Ok(())
    }

    /// The VM now runs where its place was reserved, and no longer where it ran
    /// before.
    ///
    /// # Errors
    /// If it has no place reserved.
    pub fn confirm_vm(&mut self, id: &str) -> Result<(), InventoryError> {
        let Some(index) = self.pending.get(id).copied() else {
            return Err(InventoryError::UnknownVm(id.into()));
        };
        if let Some(running) = self.running.get(id).copied() {
            self.take_vm(running);
        }
        if let Some(entry) = self.take_vm(index) {
            self.put_vm(VmEntry {
                shape: Shape::of(&entry.vm.facts),
                pending: false,
                expires: None,
                ..entry
            });
        }
        Ok(())
    }

    /// The place reserved for the VM is given back.
    ///
    /// # Errors
    /// If it has no place reserved.
    pub fn cancel_vm(&mut self, id: &str) -> Result<(), InventoryError> {
        match self.pending.get(id).copied() {
            Some(index) => {
                self.take_vm(index);
                Ok(())
            }
            None => Err(InventoryError::UnknownVm(id.into())),
        }
    }

    /// The VM runs no more, and any place reserved for it is given back.
    ///
    /// # Errors
    /// If it neither runs nor has a place reserved.
    pub fn remove_vm(&mut self, id: &str) -> Result<(), InventoryError> {
        let places = [self.running.get(id).copied(), self.pending.get(id).copied()];
        if places == [None, None] {
            return Err(InventoryError::UnknownVm(id.into()));
        }
        for index in places.into_iter().flatten() {
            self.take_vm(index);
        }
        Ok(())
    }

    /// Bring the inventory up to `now` (seconds): reservations that have expired
    /// end. The clock never goes back.
    pub fn advance(&mut self, now: i64) {
        if now <= self.clock {
            return;
        }
        let old = std::mem::replace(&mut self.clock, now);
        self.changed(Undo::Clock(old));
        while let Some((expires, id)) = self.expiries.first().cloned() {
            if expires >= now {
                break;
            }
            self.expiries.pop_first();
            if let Some(index) = self.pending.get(&id).copied() {
                self.take_vm(index);
            }
        }
    }

    fn check_vm(&self, vm: &Vm) -> Result<(), InventoryError> {
        let owner = Owner {
            entity: "VM",
            id: &vm.id,
        };
        match self.schema.table("members") {
            Some(table) => intake::check(&self.schema, table, owner, &vm.facts),
            None => Ok(()),
        }
    }

    /// Check the facts of a VM that is to be placed.
    ///
    /// # Errors
    /// If they do not fit the schema.
    pub fn check_member(&self, vm: &Vm) -> Result<(), InventoryError> {
        self.check_vm(vm)
    }

    fn put_vm(&mut self, entry: VmEntry) {
        let (id, pending) = (entry.vm.id.clone(), entry.pending);
        self.insert_vm(entry);
        self.changed(Undo::AddVm { id, pending });
    }

    fn take_vm(&mut self, index: u32) -> Option<VmEntry> {
        let entry = self.extract_vm(index)?;
        self.changed(Undo::RemoveVm(Box::new(entry.clone())));
        Some(entry)
    }

    fn insert_vm(&mut self, entry: VmEntry) {
        let id = entry.vm.id.clone();
        let (slot, expires) = (entry.slot, entry.expires);
        let other = if entry.pending {
            self.running.get(&id)
        } else {
            self.pending.get(&id)
        };
        let other_slot = other
            .and_then(|index| self.vms[*index as usize].as_ref())
            .map(|entry| entry.slot);
        self.count_vm(&entry, 1);
        self.count_migration(slot, other_slot, 1);
        let places = if entry.pending {
            &mut self.pending
        } else {
            &mut self.running
        };
        let index = match self.free_vms.pop() {
            Some(index) => {
                self.vms[index as usize] = Some(entry);
                index
            }
            None => {
                self.vms.push(Some(entry));
                u32::try_from(self.vms.len() - 1).unwrap_or(u32::MAX)
            }
        };
        places.insert(id.clone(), index);
        if let Some(expires) = expires {
            self.expiries.insert((expires, id.clone()));
        }
        let vms = &self.vms;
        if let Some(host) = self.hosts[slot as usize].as_mut() {
            let place = host.vms.partition_point(|other| {
                vms[*other as usize]
                    .as_ref()
                    .is_some_and(|other| other.vm.id < id)
            });
            host.vms.insert(place, index);
        }
        self.watch_host(slot);
    }

    fn extract_vm(&mut self, index: u32) -> Option<VmEntry> {
        let entry = self.vms[index as usize].take()?;
        self.free_vms.push(index);
        let id = &entry.vm.id;
        if entry.pending {
            self.pending.remove(id);
        } else {
            self.running.remove(id);
        }
        if let Some(expires) = entry.expires {
            self.expiries.remove(&(expires, id.clone()));
        }
        if let Some(host) = self.hosts[entry.slot as usize].as_mut() {
            host.vms.retain(|other| *other != index);
        }
        let other = if entry.pending {
            self.running(id)
        } else {
            self.pending(id)
        };
        let other_slot = other.map(|entry| entry.slot);
        self.count_vm(&entry, -1);
        self.count_migration(entry.slot, other_slot, -1);
        self.watch_host(entry.slot);
        Some(entry)
    }

    /// A VM with a place on two hosts is on the move: count it at both.
    fn count_migration(&mut self, slot: u32, other: Option<u32>, by: i64) {
        if let Some(other) = other {
            self.columns[self.sums.vms_migrating].add(slot as usize, by);
            self.columns[self.sums.vms_migrating].add(other as usize, by);
        }
    }

    /// Count a VM in (`by` = 1) or out (`by` = -1) of its host's sums.
    fn count_vm(&mut self, entry: &VmEntry, by: i64) {
        let VmEntry {
            shape,
            slot,
            pending,
            ..
        } = entry;
        let row = *slot as usize;
        let sums = self.sums;
        let mut add = |column: usize, amount: i64| self.columns[column].add(row, by * amount);
        if *pending {
            add(sums.cpu_pending, shape.cpu);
            add(sums.memory_pending, shape.memory);
            add(sums.vms_pending, 1);
        } else {
            add(sums.cpu_committed, shape.cpu);
            add(sums.memory_committed, shape.memory);
            add(sums.vms_count, 1);
        }
        if shape.ha {
            add(sums.vms_ha, 1);
        }
        if shape.exclusive {
            add(sums.cpu_exclusive, shape.vcpus());
        } else if *pending {
            add(sums.vcpus_pending, shape.vcpus());
            match shape.load {
                Some(load) => add(sums.load_pending, load),
                None => add(sums.vcpus_unmeasured, shape.vcpus()),
            }
        } else {
            add(sums.vcpus, shape.vcpus());
        }
        if let Some(host) = self.hosts[row].as_mut() {
            host.count_amounts(&entry.vm.facts, *pending, by);
        }
        self.count_widest(row, shape, by);
        if let Some(groups) = self.memberships.get(&entry.vm.id) {
            for group in groups {
                if let Some(group) = self.groups.get_mut(group) {
                    group.count(*slot, !shape.migratable, by);
                }
            }
        }
    }

    fn count_widest(&mut self, row: usize, shape: &Shape, by: i64) {
        if shape.exclusive {
            return;
        }
        let widest = &mut self.columns[self.sums.vms_widest];
        let so_far = widest.integer(row).unwrap_or(0);
        if by > 0 {
            widest.set(row, Some(Cell::Integer(so_far.max(shape.width()))));
        } else if so_far == shape.width() {
            let left = self.hosts[row].as_ref().map_or(0, |host| {
                self.vms_of(host)
                    .filter(|entry| !entry.shape.exclusive)
                    .map(|entry| entry.shape.width())
                    .max()
                    .unwrap_or(0)
            });
            self.columns[self.sums.vms_widest].set(row, Some(Cell::Integer(left)));
        }
    }

    // Changing groups, tenants, watches, the cluster.

    /// Add a group, or replace the one of that id.
    ///
    /// # Errors
    /// If it names a host that is not in the inventory.
    pub fn set_group(&mut self, group: Group) -> Result<(), InventoryError> {
        for host in &group.hosts {
            self.known_slot(host)?;
        }
        let id = group.id.clone();
        let old = self.replace_group(&id, Some(group));
        self.changed(Undo::SetGroup { id, old });
        Ok(())
    }

    /// Remove a group; one that is not there is no error.
    pub fn remove_group(&mut self, id: &str) {
        let id: Arc<str> = id.into();
        if let Some(old) = self.replace_group(&id, None) {
            self.changed(Undo::SetGroup { id, old: Some(old) });
        }
    }

    fn replace_group(&mut self, id: &Arc<str>, group: Option<Group>) -> Option<Group> {
        let old = self.groups.remove(id).map(|entry| entry.group);
        for vm in old.iter().flat_map(|group| &group.vms) {
            if let Some(groups) = self.memberships.get_mut(vm) {
                groups.retain(|other| other != id);
            }
        }
        let Some(group) = group else { return old };
        for vm in &group.vms {
            let groups = self.memberships.entry(vm.clone()).or_default();
            if let Err(place) = groups.binary_search(id) {
                groups.insert(place, id.clone());
            }
        }
        let mut hosts: Vec<u32> = group
            .hosts
            .iter()
            .filter_map(|host| self.slot(host))
            .collect();
        hosts.sort_unstable();
        hosts.dedup();
        let mut entry = GroupEntry {
            group,
            presence: BTreeMap::new(),
            hosts,
        };
        for placed in self.vms.iter().flatten() {
            if entry.has(&placed.vm.id) {
                entry.count(placed.slot, !placed.shape.migratable, 1);
            }
        }
        self.groups.insert(id.clone(), entry);
        old
    }

    /// Set what is known of a tenant.
    ///
    /// # Errors
    /// If the facts do not fit the schema.
    pub fn set_tenant(
        &mut self,
        id: impl Into<Arc<str>>,
        facts: Facts,
    ) -> Result<(), InventoryError> {
        let id = id.into();
        let owner = Owner {
            entity: "tenant",
            id: &id,
        };
        if let Some(table) = self.schema.table("tenant") {
            intake::check(&self.schema, table, owner, &facts)?;
        }
        let old = self.tenants.insert(id.clone(), facts);
        self.changed(Undo::SetTenant { id, old });
        Ok(())
    }

    /// Set what is known of the cluster as a whole. Meant for the time before the
    /// first decision: it is not among the changes that can be looked back behind.
    ///
    /// # Errors
    /// If the facts do not fit the schema.
    pub fn set_facts(&mut self, facts: Facts) -> Result<(), InventoryError> {
        let owner = Owner {
            entity: "cluster",
            id: &self.name,
        };
        if let Some(table) = self.schema.table("cluster") {
            intake::check(&self.schema, table, owner, &facts)?;
        }
        self.facts = facts;
        self.version += 1;
        self.journal = Journal::new(JOURNAL_BOUND);
        Ok(())
    }

    /// Watch these conditions from now on, and no others. A condition that holds
    /// already begins at the inventory's clock, unless a start was given.
    pub fn set_watches(&mut self, watches: Vec<HostWatch>) {
        self.watches = watches;
        for slot in 0..self.hosts.len() {
            self.watch_host(u32::try_from(slot).unwrap_or(u32::MAX));
        }
        self.version += 1;
        self.journal = Journal::new(JOURNAL_BOUND);
    }

    /// Note for each watched condition whether it began or ceased to hold.
    fn watch_host(&mut self, slot: u32) {
        if self.watches.is_empty() || self.host(slot).is_none() {
            return;
        }
        let watches = std::mem::take(&mut self.watches);
        for watch in &watches {
            let value = self
                .column_index(&watch.column)
                .and_then(|index| self.columns[index].as_number(slot as usize));
            let Some(column) = self.ensure_column(&watch.since_column()) else {
                continue;
            };
            let began = self.columns[column].get(slot as usize);
            let begins = match watch.holds(value) {
                true => began.or(Some(Cell::Integer(self.clock))),
                false => None,
            };
            if begins != began {
                self.columns[column].set(slot as usize, begins);
                self.changed(Undo::Since {
                    slot,
                    column,
                    old: began,
                });
            }
        }
        self.watches = watches;
    }

    // Looking back.

    fn changed(&mut self, undo: Undo) {
        self.version += 1;
        self.journal.record(undo);
    }

    /// The oldest version that [`Inventory::at_version`] can still show.
    pub fn oldest_version(&self) -> u64 {
        self.version - self.journal.len() as u64
    }

    /// The inventory as it was at an earlier version. None if that is too long ago,
    /// or still to come.
    pub fn at_version(&self, version: u64) -> Option<Inventory> {
        if version > self.version || version < self.oldest_version() {
            return None;
        }
        let mut past = self.clone();
        while past.version > version {
            let undo = past.journal.pop()?;
            past.undo(undo);
            past.version -= 1;
        }
        Some(past)
    }

    fn undo(&mut self, undo: Undo) {
        // What the watches noted is undone by entries of its own.
        let watches = std::mem::take(&mut self.watches);
        self.undo_unwatched(undo);
        self.watches = watches;
    }

    fn undo_unwatched(&mut self, undo: Undo) {
        match undo {
            Undo::AddHost => {
                let slot = u32::try_from(self.hosts.len().saturating_sub(1)).unwrap_or(u32::MAX);
                self.vacate(slot);
                self.next_listed -= 1;
            }
            Undo::RemoveHost { slot, host } => {
                self.host_slots.insert(host.id.clone(), slot);
                self.hosts[slot as usize] = Some(*host);
                self.rank_host(slot);
                self.note_up(false, self.is_up(slot));
            }
            Undo::HostValue { slot, column, old } => self.put_host_value(slot, &column, old),
            Undo::HostRows { slot, table, old } => {
                self.put_host_rows(slot, &table, old);
            }
            Undo::AddVm { id, pending } => {
                let places = if pending {
                    &self.pending
                } else {
                    &self.running
                };
                if let Some(index) = places.get(&id).copied() {
                    self.extract_vm(index);
                }
            }
            Undo::RemoveVm(entry) => self.insert_vm(*entry),
            Undo::SetGroup { id, old } => {
                self.replace_group(&id, old);
            }
            Undo::SetTenant { id, old } => {
                match old {
                    Some(facts) => self.tenants.insert(id, facts),
                    None => self.tenants.remove(&id),
                };
            }
            Undo::Since { slot, column, old } => self.columns[column].set(slot as usize, old),
            Undo::Clock(clock) => self.clock = clock,
        }
    }

    fn known_slot(&self, id: &str) -> Result<u32, InventoryError> {
        self.slot(id)
            .ok_or_else(|| InventoryError::UnknownHost(id.into()))
    }
}
