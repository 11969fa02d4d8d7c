//! Hosts come, go and report.

use std::sync::Arc;

use super::intake::{self, Owner};
use super::journal::Undo;
use super::nested::{FUNCTIONS, HUGE_PAGES, NODE_PAGES, NUMA_NODES};
use super::unmeasured::{CPU_USAGE, MEMORY_FREE, SWAP_FREE};
use super::{Aspects, Cell, HostEntry, Inventory, InventoryError, host};
use placewright_model::schema::{self, Source};
use placewright_model::{Facts, Host, Kind, Measure, Value};

/// Measured numbers are rounded to so many steps between 0 and 1.
const STEPS: f64 = 256.0;

const MIB: i64 = 1 << 20;

impl Inventory {
    /// Add a host.
    ///
    /// # Errors
    /// If there is one of that id, its facts do not fit the schema, or the columns are full.
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
        self.check_columns(usize::from(self.free_at_end == 0), 0)?;
        for (table, rows) in host.facts.tables() {
            self.check_nested(None, table, rows.len())?;
        }
        let slot = self.insert_host(Arc::new(HostEntry::new(host, self.next_listed)));
        self.next_listed += 1;
        self.changed(Undo::AddHost { slot });
        Ok(slot)
    }

    pub(super) fn insert_host(&mut self, host: Arc<HostEntry>) -> u32 {
        let place = self.hosts.len() - self.free_at_end;
        let slot = u32::try_from(place).unwrap_or(u32::MAX);
        self.host_slots.insert(host.id.clone(), slot);
        if self.free_at_end > 0 {
            self.free_at_end -= 1;
            self.hosts[place] = Some(host);
            for column in &mut self.columns {
                column.set(place, None);
            }
        } else {
            for column in &mut self.columns {
                column.push_absent();
            }
            self.slots_not_up.insert(slot);
            self.ranks.push(0);
            self.hosts.push(Some(host));
        }
        self.rank_host(slot);
        self.fill_host(slot);
        self.renest_all(slot);
        self.note(slot, Aspects::ALL);
        slot
    }

    /// Fill the columns of a host that carries nothing yet.
    pub(super) fn fill_host(&mut self, slot: u32) {
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
        for column in &table.columns {
            let default = self.default_of(slot, column);
            if default.is_some() {
                self.write(slot, &column.name, default.as_ref());
            }
        }
        let id_cell = Cell::Integer(i64::from(self.texts.code(&id)));
        self.set_cell(self.sums.id, slot, Some(id_cell));
        self.set_cell(self.sums.listed, slot, Some(Cell::Integer(listed)));
        for (column, value) in given {
            self.write(slot, &column, Some(&value));
        }
        self.watch_host(slot);
    }

    /// Put a value into a column, as a cell.
    pub(super) fn write(&mut self, slot: u32, column: &str, value: Option<&Value>) {
        let cell = value.map(|value| match value {
            Value::Integer(value) => Cell::Integer(*value),
            Value::Number(value) => Cell::Number(*value),
            Value::Boolean(value) => Cell::Integer(i64::from(*value)),
            Value::Text(text) => Cell::Integer(i64::from(self.texts.code(text))),
        });
        if let Some(index) = self.ensure_column(column) {
            let was_up = self.is_up(slot);
            self.set_cell(index, slot, cell);
            self.note_up(slot, was_up, self.is_up(slot));
        }
    }

    pub(super) fn note_up(&mut self, slot: u32, was_up: bool, is_up: bool) {
        match (was_up, is_up) {
            (true, false) => {
                self.slots_not_up.insert(slot);
            }
            (false, true) => {
                self.slots_not_up.remove(&slot);
            }
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
        let columns = self.columns.iter().enumerate();
        let cells = columns.filter_map(|(place, column)| Some((place, column.get(slot as usize)?)));
        let cells = cells.collect();
        if let Some(host) = self.free_slot(slot) {
            self.changed(Undo::RemoveHost { slot, host, cells });
        }
        Ok(())
    }

    /// Free a slot and close the gap among the ranks.
    pub(super) fn free_slot(&mut self, slot: u32) -> Option<Arc<HostEntry>> {
        let was_up = self.is_up(slot);
        let host = self.hosts[slot as usize].take()?;
        self.note_up(slot, was_up, false);
        self.renest_all(slot);
        self.note(slot, Aspects::ALL);
        self.host_slots.remove(&host.id);
        self.close_gap(slot);
        // Slots that were free before that of the last host are so at the end now.
        let end = self.hosts.iter().rev().skip(self.free_at_end);
        self.free_at_end += end.take_while(|host| host.is_none()).count();
        Some(host)
    }

    /// A measured value of a host comes in, which shows all VMs that run there. It is rounded
    /// before it is set, so that noise costs no reuse.
    ///
    /// # Errors
    /// If there is no such host, or the value does not fit the schema.
    pub fn report_host(
        &mut self,
        id: &str,
        column: &str,
        measured: Value,
    ) -> Result<(), InventoryError> {
        let rounded = self.rounded(column, &measured);
        self.set_host_value(id, column, Some(rounded))
    }

    /// A measured value as units see it: numbers rounded to the nearest 1/256, amounts of
    /// memory down to whole MiB. So noise is no change, and no unit has to be asked about
    /// the host again.
    pub(super) fn rounded(&self, column: &str, measured: &Value) -> Value {
        match measured {
            // The greatest numbers would become infinite.
            Value::Number(value) if (value * STEPS).is_finite() => {
                Value::Number((value * STEPS).round() / STEPS)
            }
            Value::Integer(value) if self.is_in_bytes(column) => {
                Value::Integer(value - value.rem_euclid(MIB))
            }
            other => other.clone(),
        }
    }

    fn is_in_bytes(&self, column: &str) -> bool {
        let known = self.schema.column("hosts", column);
        known.is_some_and(|column| column.measure == Some(Measure::Bytes))
    }

    /// Set or remove a value of a host. One that is measured shows all VMs that run there.
    ///
    /// # Errors
    /// If there is no such host, or the value does not fit the schema.
    pub fn set_host_value(
        &mut self,
        id: &str,
        column: &str,
        value: Option<Value>,
    ) -> Result<(), InventoryError> {
        let is_measured = [MEMORY_FREE, CPU_USAGE].contains(&column);
        let shown = value.clone().filter(|_| is_measured);
        self.write_host_value(id, column, value)?;
        if let (Some(value), Some(slot)) = (shown, self.slot(id)) {
            self.note_shown(slot, &Facts::new().with(column, value), None);
        }
        Ok(())
    }

    /// Set a measured value of a host as it is thought to be: it shows no VM that no measurement
    /// shows yet.
    ///
    /// # Errors
    /// As [`set_host_value`](Self::set_host_value).
    pub fn estimate_host_value(
        &mut self,
        id: &str,
        column: &str,
        value: Value,
    ) -> Result<(), InventoryError> {
        self.write_host_value(id, column, Some(value))
    }

    /// The same for a value that may not show all VMs.
    pub(super) fn write_host_value(
        &mut self,
        id: &str,
        column: &str,
        value: Option<Value>,
    ) -> Result<(), InventoryError> {
        let slot = self.known_slot(id)?;
        let id: Arc<str> = id.into();
        let column: Arc<str> = match self.schema.column("hosts", column) {
            Some(known) => known.name.clone(),
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

    pub(super) fn put_host_value(&mut self, slot: u32, column: &Arc<str>, value: Option<Value>) {
        let source = self
            .schema
            .column("hosts", column)
            .map_or(Source::Given, |column| column.source);
        let Some(host) = self.host_mut(slot) else {
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
                    self.add_cell(index, slot, new - old);
                }
            }
            (_, Some(value)) => self.write(slot, column, Some(value)),
            (_, None) => self.write_default(slot, column),
        }
        if !total_given && matches!(&**column, "cpu.cores" | "cpu.total") {
            let total = Value::Integer(cores.saturating_mul(1000));
            self.write(slot, "cpu.total", Some(&total));
        }
        if matches!(&**column, MEMORY_FREE | SWAP_FREE) {
            self.count_unmeasured_memory(slot);
        }
        self.watch_host(slot);
    }

    fn write_default(&mut self, slot: u32, column: &str) {
        let schema = self.schema.clone();
        let known = schema.column("hosts", column);
        let default = known.and_then(|column| self.default_of(slot, &column));
        self.write(slot, column, default.as_ref());
    }

    /// What a host has in a column that is not given.
    fn default_of(&self, slot: u32, column: &schema::Column) -> Option<Value> {
        let host = self.host(slot)?;
        match &*column.name {
            "state" => Some(Value::from("up")),
            "cpu.total" => {
                let cores = host.facts.integer("cpu.cores").unwrap_or(0);
                Some(Value::Integer(cores.saturating_mul(1000)))
            }
            "memory.overcommit" => Some(Value::Number(1.0)),
            "name" => Some(Value::Text(host.id.clone())),
            _ if column.optional => None,
            _ => match column.kind {
                Kind::Integer => Some(Value::Integer(0)),
                Kind::Number => Some(Value::Number(0.0)),
                Kind::Boolean => Some(Value::Boolean(false)),
                Kind::Text => None,
            },
        }
    }

    /// Replace the rows of a table below a host. What is measured there shows all VMs that run.
    ///
    /// # Errors
    /// If there is no such host or table, or a row does not fit the schema.
    pub fn set_host_rows(
        &mut self,
        id: &str,
        table: &str,
        rows: Vec<Facts>,
    ) -> Result<(), InventoryError> {
        let measured = [HUGE_PAGES, NUMA_NODES, NODE_PAGES, FUNCTIONS];
        let shown = measured.contains(&table).then(|| {
            let mut shown = Facts::new();
            shown.set_rows(table, rows.clone());
            shown
        });
        self.write_host_rows(id, table, rows)?;
        if let (Some(shown), Some(slot)) = (shown, self.slot(id)) {
            self.note_shown(slot, &shown, None);
        }
        Ok(())
    }

    /// The same for rows that may not show all VMs.
    pub(super) fn write_host_rows(
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
        self.check_nested(Some(slot), &table, rows.len())?;
        let old = self.put_host_rows(slot, &table, rows);
        self.changed(Undo::HostRows { slot, table, old });
        Ok(())
    }

    pub(super) fn put_host_rows(
        &mut self,
        slot: u32,
        table: &Arc<str>,
        rows: Vec<Facts>,
    ) -> Vec<Facts> {
        let Some(host) = self.host_mut(slot) else {
            return Vec::new();
        };
        let old = host.facts.rows(table).to_vec();
        host.facts.set_rows(table.clone(), rows);
        if &**table == "amounts" {
            self.recount_amounts(slot);
        }
        self.renest_given(slot, table);
        self.note(slot, Aspects::ROWS);
        old
    }

    /// The amounts of a host, from what was given of them and what its VMs take.
    pub(super) fn recount_amounts(&mut self, slot: u32) {
        // Out of its slot meanwhile, so that its VMs can be looked at.
        let Some(mut taken) = self.hosts[slot as usize].take() else {
            return;
        };
        let host = Arc::make_mut(&mut taken);
        host.amounts = host::amounts_of(&host.facts);
        let vms = std::mem::take(&mut host.vms);
        for entry in vms.iter().flat_map(|index| &self.vms[*index as usize]) {
            for (name, value) in entry.amounts() {
                host.count_amount(name, value, entry.pending);
            }
        }
        host.vms = vms;
        self.hosts[slot as usize] = Some(taken);
    }
}
