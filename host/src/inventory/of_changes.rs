//! A document of changes is carried out.

use std::sync::Arc;

use super::{Inventory, InventoryError};
use crate::document::{ChangedVm, InventoryChanges, PlacedVm};
use crate::model::{Facts, Host, Vm};

impl Inventory {
    /// Carry out all changes of a document, or none of them. VMs and groups that are
    /// gone go first, hosts that are gone last, so that the document may move the VMs
    /// of a host and take it out.
    ///
    /// # Errors
    /// If something in it does not go together with the cluster as it is.
    pub fn change(&mut self, changes: InventoryChanges) -> Result<(), InventoryError> {
        let before = self.version();
        let changed = self.change_all(changes);
        if changed.is_err() {
            self.take_back(before);
        }
        changed
    }

    fn change_all(&mut self, changes: InventoryChanges) -> Result<(), InventoryError> {
        let gone = changes.gone;
        for vm in &gone.vms {
            self.remove_vm(vm)?;
        }
        for group in &gone.groups {
            self.remove_group(group);
        }
        for (id, facts) in changes.tenants {
            self.set_tenant(id, facts)?;
        }
        for host in changes.hosts {
            match self.slot(&host.id) {
                None => {
                    self.add_host(host)?;
                }
                Some(_) => self.change_host(&host)?,
            }
        }
        self.report(&changes.statistics)?;
        for vm in changes.vms {
            self.change_vm(vm)?;
        }
        for group in changes.groups {
            self.set_group(group)?;
        }
        for host in &gone.hosts {
            self.remove_host(host)?;
        }
        Ok(())
    }

    /// Measured values of hosts come in.
    ///
    /// # Errors
    /// If a host is unknown or a value does not fit the schema; what came before it
    /// stays.
    fn report(&mut self, statistics: &[Host]) -> Result<(), InventoryError> {
        for host in statistics {
            for (column, value) in host.facts.values() {
                self.report_host(&host.id, column, value.clone())?;
            }
            for (table, rows) in host.facts.tables() {
                self.set_host_rows(&host.id, table, rows.to_vec())?;
            }
        }
        Ok(())
    }

    fn change_host(&mut self, host: &Host) -> Result<(), InventoryError> {
        for (column, value) in host.facts.values() {
            self.set_host_value(&host.id, column, Some(value.clone()))?;
        }
        for (table, rows) in host.facts.tables() {
            self.set_host_rows(&host.id, table, rows.to_vec())?;
        }
        Ok(())
    }

    fn change_vm(&mut self, changed: ChangedVm) -> Result<(), InventoryError> {
        let ChangedVm { vm, placed, host } = changed;
        let known = self.running(&vm.id).or_else(|| self.pending(&vm.id));
        let known = known.map(|entry| (entry.vm.clone(), entry.slot, entry.pending));
        let id = vm.id.clone();
        let (vm, here) = match known {
            None => (vm, None),
            Some((old, slot, pending)) => {
                let here = self.host(slot).map(|host| host.id.clone());
                (merged(&old, vm), here.map(|host| (host, pending)))
            }
        };
        match (host, here) {
            // A place that is only reserved is not one where it runs.
            (None, Some((_, true))) | (None, None) => Err(InventoryError::UnknownVm(id)),
            (Some(host), _) | (None, Some((host, false))) => {
                let placed = PlacedVm {
                    vm,
                    placed,
                    host,
                    pending: false,
                };
                let writes = placed.writes();
                self.run_vm(placed.vm, &placed.host)?;
                self.apply(&writes)
            }
        }
    }
}

/// What is known of a VM, with what is different.
fn merged(old: &Arc<Vm>, new: Vm) -> Vm {
    let mut vm = (**old).clone();
    let Vm { facts, pinning, .. } = new;
    merge(&mut vm.facts, &facts);
    if !pinning.pinned.is_empty() {
        vm.pinning.pinned = pinning.pinned;
    }
    if !pinning.preferred.is_empty() {
        vm.pinning.preferred = pinning.preferred;
    }
    if !pinning.location.is_empty() {
        vm.pinning.location = pinning.location;
    }
    vm
}

fn merge(facts: &mut Facts, new: &Facts) {
    for (column, value) in new.values() {
        facts.set(column.clone(), value.clone());
    }
    for (table, rows) in new.tables() {
        facts.set_rows(table.clone(), rows.to_vec());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schema::Schema;

    fn changes(text: &str) -> InventoryChanges {
        InventoryChanges::read(text, "changes.json", &Schema::default()).unwrap()
    }

    fn cluster() -> Inventory {
        let mut inventory = Inventory::new("c", Arc::new(Schema::default()));
        let text = r#"{"hosts": [{"id": "a", "memory.total": 1024}, {"id": "b"}],
            "vms": [{"id": "v", "host": "a", "memory": 7, "cpu": 500}]}"#;
        inventory.change(changes(text)).unwrap();
        inventory
    }

    #[test]
    fn what_is_not_given_of_a_known_vm_stays() {
        let mut inventory = cluster();
        let text = r#"{"vms": [{"id": "v", "memory": 9}]}"#;
        inventory.change(changes(text)).unwrap();
        let entry = inventory.running("v").unwrap();
        assert_eq!(entry.vm.facts.integer("memory"), Some(9));
        assert_eq!(entry.vm.facts.integer("cpu"), Some(500));
        assert_eq!(entry.slot, inventory.slot("a").unwrap());
    }

    #[test]
    fn a_host_can_be_emptied_and_taken_out_in_one_document() {
        let mut inventory = cluster();
        let text = r#"{"vms": [{"id": "v", "host": "b"}], "gone": {"hosts": ["a"]}}"#;
        inventory.change(changes(text)).unwrap();
        assert!(inventory.slot("a").is_none());
        assert_eq!(
            inventory.running("v").unwrap().vm.facts.integer("cpu"),
            Some(500)
        );
    }

    #[test]
    fn a_document_that_does_not_fit_changes_nothing() {
        let mut inventory = cluster();
        let before = inventory.version();
        for text in [
            r#"{"hosts": [{"id": "new"}], "gone": {"vms": ["nobody"]}}"#,
            r#"{"hosts": [{"id": "new"}], "gone": {"hosts": ["a"]}}"#,
            r#"{"hosts": [{"id": "new"}], "vms": [{"id": "v", "host": "nowhere"}]}"#,
            r#"{"hosts": [{"id": "new"}], "vms": [{"id": "w"}]}"#,
            r#"{"hosts": [{"id": "new"}], "statistics": [{"id": "nowhere", "cpu.usage": 0.5}]}"#,
        ] {
            assert!(inventory.change(changes(text)).is_err(), "{text}");
            assert_eq!(inventory.version(), before, "{text}");
            assert!(inventory.slot("new").is_none(), "{text}");
        }
    }
}
