//! Plans that begin with VMs taken off their hosts, and what a batch has placed so
//! far.

use std::sync::Arc;

use super::holdings::{Held, Vacated};
use super::journal::Undo;
use super::{Cell, Inventory, InventoryError};
use placewright_model::Vm;

impl Inventory {
    /// The VM counts nowhere any more, as if it did not run and had no place
    /// reserved; but where it ran is still known ([`Inventory::runs_on`]), and its tenant holds
    /// for it what it held, since it may go on running. Gives
    /// what was known of it. Meant for a plan on a copy of the inventory.
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
        self.remove_vm(id)?;
        if let Some(slot) = slot {
            let old = self.set_vacated(&vm.id, Some(Vacated { slot, held }));
            self.changed(Undo::Vacated {
                id: vm.id.clone(),
                old: old.map(Box::new),
            });
        }
        Ok(vm)
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
