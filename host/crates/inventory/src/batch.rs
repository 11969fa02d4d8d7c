//! Plans that begin with VMs taken off their hosts, and what a batch has placed so
//! far.

use std::sync::Arc;

use super::holdings::{Held, Vacated};
use super::journal::Undo;
use super::nested::{CPUS, FUNCTIONS, HUGE_PAGES, NODE_PAGES, NUMA_NODES};
use super::unmeasured::{MEMORY_FREE, Measured};
use super::{Cell, Inventory, InventoryError};
use placewright_model::{Facts, Vm};

/// The table of devices, of which hosts say whether they are free.
const DEVICES: &str = "devices";

impl Inventory {
    /// The VM counts nowhere any more, as if it did not run and had no place
    /// reserved; but where it ran is still known ([`Inventory::runs_on`]), and its tenant holds
    /// for it what it held, since it may go on running. What measurements of its host show of
    /// it is free there. Gives what was known of it. Meant for a plan on a copy of the inventory.
    ///
    /// # Errors
    /// If it neither runs nor has a place reserved.
    pub fn vacate(&mut self, id: &str) -> Result<Arc<Vm>, InventoryError> {
        let running = self.running(id).map(|entry| (entry.vm.clone(), entry.slot));
        let pending = self.pending(id).map(|entry| entry.vm.clone());
        let (vm, slot) = match (running, pending) {
            (Some((vm, slot)), _) => (vm, Some(slot)),
            (None, Some(vm)) => (vm, None),
            (None, None) => return Err(InventoryError::UnknownVm(id.into())),
        };
        let held = self.running(id).and_then(Held::by);
        let measured = self.running(id).map(Measured::of);
        self.remove_vm(id)?;
        if let (Some(measured), Some(slot)) = (measured, slot) {
            self.free_measured(slot, &measured)?;
        }
        if let Some(slot) = slot {
            let old = self.set_vacated(&vm.id, Some(Vacated { slot, held }));
            self.changed(Undo::Vacated {
                id: vm.id.clone(),
                old: old.map(Box::new),
            });
        }
        Ok(vm)
    }

    /// What measurements of a host show of a VM is free.
    fn free_measured(&mut self, slot: u32, measured: &Measured) -> Result<(), InventoryError> {
        let Some(host) = self.host(slot) else {
            return Ok(());
        };
        let (id, facts) = (host.id.clone(), &host.facts);
        let free = facts.integer(MEMORY_FREE).filter(|_| measured.memory > 0);
        let free = free.map(|free| more(free, measured.memory, facts.integer("memory.total")));
        let tables = [HUGE_PAGES, NUMA_NODES, NODE_PAGES, FUNCTIONS, CPUS, DEVICES].map(|table| {
            let known = facts.rows(table);
            let mut rows = known.to_vec();
            match table {
                HUGE_PAGES => measured.free_pages(&mut rows),
                NUMA_NODES => measured.free_nodes(&mut rows),
                NODE_PAGES => measured.free_node_pages(&mut rows),
                FUNCTIONS => measured.free_functions(&mut rows),
                CPUS => measured.free_cpus(&mut rows),
                _ => measured.free_devices(&mut rows),
            }
            (table, (rows != known).then_some(rows))
        });
        if let Some(free) = free {
            self.write_host_value(&id, MEMORY_FREE, Some(free.into()))?;
        }
        for (table, rows) in tables {
            if let Some(rows) = rows {
                self.write_host_rows(&id, table, rows)?;
            }
        }
        Ok(())
    }

    /// The slot of the host where a VM runs, or ran before it was vacated.
    pub fn runs_on(&self, id: &str) -> Option<u32> {
        match self.running(id) {
            Some(entry) => Some(entry.slot),
            None => {
                let slot = self.vacated.get(id).map(|vacated| vacated.slot);
                slot.filter(|slot| self.host(*slot).is_some())
            }
        }
    }

    /// A VM was vacated that had run on that host.
    ///
    /// # Errors
    /// If there is no such host.
    pub fn restore_vacated(&mut self, id: &str, host: &str) -> Result<(), InventoryError> {
        let slot = self.known_slot(host)?;
        let held = None;
        self.vacated.insert(id.into(), Vacated { slot, held });
        Ok(())
    }

    /// A VM that was vacated runs again.
    pub(super) fn forget_vacated(&mut self, id: &Arc<str>) {
        if !self.vacated.contains_key(id) {
            return;
        }
        let old = self.set_vacated(id, None);
        self.changed(Undo::Vacated {
            id: id.clone(),
            old: old.map(Box::new),
        });
    }

    /// The batch at hand has placed so many more VMs on the host in that slot
    /// (`batch.placed`).
    pub fn count_in_batch(&mut self, slot: u32, vms: usize) {
        if self.host(slot).is_none() {
            return;
        }
        let column = self.sums.batch_placed;
        let old = self.columns[column].integer(slot as usize).unwrap_or(0);
        self.add_cell(column, slot, i64::try_from(vms).unwrap_or(i64::MAX));
        self.watch_host(slot);
        self.changed(Undo::Batch(vec![(slot, old)]));
    }

    /// A new batch begins: nothing is placed by it yet.
    pub fn reset_batch(&mut self) {
        let column = self.sums.batch_placed;
        let placed = (0u32..).zip(self.columns[column].integers().iter().copied());
        let old: Vec<(u32, i64)> = placed.filter(|(_, count)| *count != 0).collect();
        if old.is_empty() {
            return;
        }
        for (slot, _) in &old {
            self.set_cell(column, *slot, Some(Cell::Integer(0)));
        }
        for (slot, _) in &old {
            self.watch_host(*slot);
        }
        self.changed(Undo::Batch(old));
    }
}

/// What is free when so much of it comes, of so much in all.
fn more(free: i64, measured: i64, all: Option<i64>) -> i64 {
    let sum = free.saturating_add(measured);
    sum.min(all.unwrap_or(i64::MAX)).max(free)
}

impl Measured {
    fn free_pages(&self, rows: &mut [Facts]) {
        for (size, count) in &self.pages {
            let mut rows = rows.iter_mut();
            let row = rows.find(|row| row.integer("size") == Some(*size));
            if let Some((row, free)) = row.and_then(|row| row.integer("free").map(|it| (row, it))) {
                row.set("free", free.saturating_add(*count));
            }
        }
    }

    /// Of a virtual node that may be on several nodes, what it has is on the one of which most is
    /// in use.
    fn free_nodes(&self, rows: &mut [Facts]) {
        const FREE: &str = "memory.free";
        for (allowed, memory) in &self.nodes {
            let in_use = |row: &Facts| {
                let total = row.integer("memory.total")?;
                Some(total.saturating_sub(row.integer(FREE)?))
            };
            let is_allowed = |row: &Facts| {
                let number = row.integer("index");
                row.integer(FREE).is_some() && number.is_some_and(|it| allowed.contains(&it))
            };
            let places = (0..rows.len()).filter(|place| is_allowed(&rows[*place]));
            let place = places.min_by_key(|place| std::cmp::Reverse(in_use(&rows[*place])));
            if let Some(row) = place.map(|place| &mut rows[place]) {
                let free = row.integer(FREE).unwrap_or(0);
                row.set(FREE, more(free, *memory, row.integer("memory.total")));
            }
        }
    }

    /// Of a virtual node that may be on several nodes, what it has is on the one with the fewest
    /// pages of that size left.
    fn free_node_pages(&self, rows: &mut [Facts]) {
        let pages = self.node_pages.iter();
        let pages = pages.flat_map(|(allowed, pages)| pages.iter().map(move |it| (allowed, it)));
        for (allowed, (size, count)) in pages {
            let is_allowed = |row: &&mut Facts| {
                let node = row.integer("node");
                row.integer("size") == Some(*size) && node.is_some_and(|it| allowed.contains(&it))
            };
            let rows = rows.iter_mut().filter(is_allowed);
            let known = rows.filter_map(|row| row.integer("free").map(|free| (free, row)));
            if let Some((free, row)) = known.min_by_key(|(free, _)| *free) {
                row.set("free", free.saturating_add(*count));
            }
        }
    }

    fn free_functions(&self, rows: &mut [Facts]) {
        for (network, count) in &self.functions {
            let mut rows = rows.iter_mut();
            let row = rows.find(|row| row.text("network") == Some(network));
            if let Some((row, free)) = row.and_then(|row| row.integer("free").map(|it| (row, it))) {
                row.set("free", free.saturating_add(*count));
            }
        }
    }

    fn free_cpus(&self, rows: &mut [Facts]) {
        for row in rows.iter_mut().filter(|row| row.is("exclusive")) {
            let number = row.integer("cpu");
            if number.is_some_and(|number| self.cpus.contains(&number)) {
                row.set("exclusive", false);
            }
        }
    }

    fn free_devices(&self, rows: &mut [Facts]) {
        for row in rows {
            let is_own = row.text("name").is_some_and(|name| {
                let mut own = self.devices.iter();
                own.any(|own| **own == *name)
            });
            if is_own && row.get("free").is_some() {
                row.set("free", true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use placewright_model::schema::Schema;
    use placewright_model::{Host, Value};

    #[test]
    fn cpus_that_a_vm_that_is_vacated_had_for_itself_are_free() {
        let mut inventory = Inventory::new("c", Arc::new(Schema::default()));
        let mut host = Host::new("h");
        for cpu in 0..3_i64 {
            let row = Facts::new().with("cpu", cpu).with("exclusive", cpu < 2);
            host.facts.push_row(CPUS, row);
        }
        inventory.add_host(host).unwrap();
        let mut vm = Vm::new("v").with("exclusive", true).with("cpu", 1000_i64);
        let pin = Facts::new().with("vcpu", 0_i64).with("cpu", 1_i64);
        vm.facts.push_row("pins", pin);
        inventory.run_vm(vm, "h").unwrap();
        inventory.vacate("v").unwrap();
        let cpus = inventory.host(0).unwrap().facts.rows(CPUS).iter();
        let exclusive: Vec<bool> = cpus.map(|cpu| cpu.is("exclusive")).collect();
        assert_eq!(exclusive, [true, false, false]);
    }

    #[test]
    fn what_was_measured_of_a_vm_that_is_vacated_is_free() {
        let mut inventory = Inventory::new("c", Arc::new(Schema::default()));
        let mut host = Host::new("h")
            .with("memory.total", 16_i64)
            .with(MEMORY_FREE, 5_i64);
        let row = |values: &[(&str, i64)]| {
            let mut row = Facts::new();
            for (column, value) in values {
                row.set(*column, *value);
            }
            row
        };
        host.facts
            .push_row(HUGE_PAGES, row(&[("size", 1), ("free", 0)]));
        let node = row(&[("index", 0), ("memory.total", 8), ("memory.free", 1)]);
        host.facts.push_row(NUMA_NODES, node);
        for name in ["own", "other"] {
            let device = Facts::new().with("name", name).with("free", false);
            host.facts.push_row(DEVICES, device);
        }
        inventory.add_host(host).unwrap();
        let mut paged = Vm::new("paged").with("memory", 4_i64);
        paged
            .facts
            .push_row(HUGE_PAGES, row(&[("size", 1), ("count", 4)]));
        let device = Facts::new().with("name", "own");
        paged.facts.push_row(DEVICES, device);
        let mut divided = Vm::new("divided").with("memory", 6_i64);
        let mut node = row(&[("index", 0), ("memory", 6)]);
        node.push_row("host-nodes", row(&[("index", 0)]));
        divided.facts.push_row(NUMA_NODES, node);
        inventory.run_vm(paged, "h").unwrap();
        inventory.run_vm(divided, "h").unwrap();
        let before = inventory.version();
        // No measurement shows this one: nothing is free for it.
        let late = Arc::new(Vm::new("late").with("memory", 3_i64));
        inventory.reserve_vm(late, "h", None).unwrap();
        inventory.confirm_vm("late").unwrap();
        for id in ["paged", "divided", "late"] {
            inventory.vacate(id).unwrap();
        }
        let facts = |inventory: &Inventory| inventory.host(0).unwrap().facts.clone();
        let now = facts(&inventory);
        assert_eq!(now.integer(MEMORY_FREE), Some(11));
        assert_eq!(now.rows(HUGE_PAGES)[0].integer("free"), Some(4));
        assert_eq!(now.rows(NUMA_NODES)[0].integer("memory.free"), Some(7));
        let free = now.rows(DEVICES).iter();
        let free: Vec<bool> = free.map(|row| row.is("free")).collect();
        assert_eq!(free, [true, false]);
        let value = inventory.host_value(0, MEMORY_FREE);
        assert_eq!(value, Some(Value::Integer(11)));
        assert!(inventory.take_back(before));
        assert_eq!(facts(&inventory).integer(MEMORY_FREE), Some(5));
    }
}
