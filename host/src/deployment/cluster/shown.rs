//! Hosts and VMs as programs read them.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::ClusterState;

impl ClusterState {
    /// The ids of all hosts, ascending.
    pub fn host_ids(&self) -> Vec<Arc<str>> {
        let hosts = self.inventory().hosts();
        let mut ids: Vec<_> = hosts.map(|(_, host)| host.id.clone()).collect();
        ids.sort_unstable();
        ids
    }

    /// The ids of all VMs that run or have a place reserved, ascending.
    pub fn vm_ids(&self) -> Vec<Arc<str>> {
        let inventory = self.inventory();
        let vms = inventory
            .hosts()
            .flat_map(|(_, host)| inventory.vms_of(host));
        let ids: BTreeSet<_> = vms.map(|entry| entry.vm.id.clone()).collect();
        ids.into_iter().collect()
    }

    /// A host with every column that has a value, and its VMs.
    pub fn host_shown(&self, id: &str) -> Option<Value> {
        let inventory = self.inventory();
        let slot = inventory.slot(id)?;
        let host = inventory.host(slot)?;
        let mut shown = serde_json::to_value(&host.facts).unwrap_or_default();
        let columns = shown.as_object_mut()?;
        if let Some(table) = inventory.schema().table("hosts") {
            for column in &table.columns {
                if let Some(value) = inventory.host_value(slot, &column.name) {
                    columns.insert(column.name.to_string(), json!(value));
                }
            }
        }
        let vms = inventory.vms_of(host);
        let vms: Vec<_> = vms
            .map(|entry| json!({"id": entry.vm.id, "pending": entry.pending}))
            .collect();
        columns.insert("vms".to_owned(), json!(vms));
        Some(shown)
    }

    /// A VM with its places.
    pub fn vm_shown(&self, id: &str) -> Option<Value> {
        let inventory = self.inventory();
        let (running, pending) = (inventory.running(id), inventory.pending(id));
        let entry = pending.or(running)?;
        let mut shown = serde_json::to_value(&entry.vm.facts).unwrap_or_default();
        let columns = shown.as_object_mut()?;
        let host = |slot: u32| inventory.host(slot).map(|host| host.id.clone());
        columns.insert("id".to_owned(), json!(entry.vm.id));
        if let Some(running) = running {
            columns.insert("host".to_owned(), json!(host(running.slot)));
        }
        if let Some(pending) = pending {
            columns.insert(
                "reserved".to_owned(),
                json!({"host": host(pending.slot), "expires": pending.expires}),
            );
        }
        Some(shown)
    }
}
