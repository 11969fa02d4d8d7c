//! Groups, tenants, watches, and the cluster as a whole.

use std::sync::Arc;

use super::intake::{self, Owner};
use super::journal::Undo;
use super::{Cell, HostWatch, Inventory, InventoryError, weight};
use placewright_model::schema::{Attribute, Schema};
use placewright_model::{Facts, Group};

impl Inventory {
    /// Add a group, or replace the one of that id. Of many together, as with
    /// [`group_together`](Self::group_together), the members that groups have of others are worked
    /// out once.
    ///
    /// # Errors
    /// If it names a host that is not in the inventory, or the inventory is full.
    pub fn set_group(&mut self, group: Group) -> Result<(), InventoryError> {
        self.group_together(|inventory| {
            for host in &group.hosts {
                inventory.known_slot(host)?;
            }
            inventory.check_group(&group)?;
            let id = group.id.clone();
            let old = inventory.groups.put(&id, Some(group));
            inventory.changed(Undo::SetGroup {
                id,
                old: old.map(Box::new),
            });
            Ok(())
        })
    }

    /// Remove a group; one that is not there is no error.
    pub fn remove_group(&mut self, id: &str) {
        let id: Arc<str> = id.into();
        if let Some(old) = self.groups.put(&id, None) {
            self.changed(Undo::SetGroup {
                id,
                old: Some(Box::new(old)),
            });
            self.settle_old_groups();
        }
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

    /// Forget what is known of a tenant; one of which nothing is known is no error. VMs may
    /// go on naming it.
    pub fn remove_tenant(&mut self, id: &str) {
        if let Some((id, old)) = self.tenants.remove_entry(id) {
            self.changed(Undo::SetTenant { id, old: Some(old) });
        }
    }

    /// Add attributes that are not there already. Columns and tables keep their places.
    ///
    /// # Errors
    /// If there is another attribute of that name, or the columns are full; then none is added.
    pub fn declare(&mut self, attributes: &[Attribute]) -> Result<(), InventoryError> {
        let mut schema = None;
        for attribute in attributes {
            let schema = schema.get_or_insert_with(|| (*self.schema).clone());
            schema.declare(attribute)?;
        }
        let new = schema.filter(|schema| *schema != *self.schema);
        if let Some(schema) = new {
            let columns = |schema: &Schema| schema.table("hosts").map_or(0, |it| it.columns.len());
            let more = columns(&schema).saturating_sub(columns(&self.schema));
            self.check_columns(0, more)?;
            let old = std::mem::replace(&mut self.schema, Arc::new(schema));
            self.changed(Undo::Schema(old));
        }
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
        let old = std::mem::replace(&mut self.facts, facts);
        let bytes = self.bytes + weight::facts_bytes(&self.facts);
        self.bytes = bytes.saturating_sub(weight::facts_bytes(&old));
        self.version += 1;
        self.journal.forget();
        Ok(())
    }

    /// Watch these conditions from now on, and no others. A condition that holds
    /// already begins at the inventory's clock, unless a start was given. One that is
    /// watched already goes on as it was.
    pub fn set_watches(&mut self, watches: Vec<HostWatch>) {
        if self.watches == watches {
            return;
        }
        for old in std::mem::take(&mut self.watches) {
            if !watches.contains(&old) {
                self.forget_watch(&old);
            }
        }
        self.watches = watches;
        for slot in 0..self.hosts.len() {
            self.watch_host(u32::try_from(slot).unwrap_or(u32::MAX));
        }
        self.version += 1;
        self.journal.forget();
    }

    /// Since when a condition holds is known no more.
    fn forget_watch(&mut self, watch: &HostWatch) {
        let Some(column) = self.column_index(&watch.since_column()) else {
            return;
        };
        for slot in 0..self.hosts.len() {
            self.set_cell(column, u32::try_from(slot).unwrap_or(u32::MAX), None);
        }
    }

    /// Note for each watched condition whether it began or ceased to hold.
    pub(super) fn watch_host(&mut self, slot: u32) {
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
                self.set_cell(column, slot, begins);
                self.changed(Undo::Since {
                    slot,
                    column,
                    old: began,
                });
            }
        }
        self.watches = watches;
    }
}
