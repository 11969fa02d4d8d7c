//! What is kept of a cluster: its rows as the store has them, and back.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{ClusterSettings, ClusterState};
use crate::deployment::DeploymentError;
use crate::document::ClusterDocument;
use crate::inventory::{Inventory, InventoryError, SavedHost, SavedVm, Touched};
use crate::model::Group;
use crate::store::{Change, GroupRow, HostRow, SavedInventory, TenantRow, VmRow};

/// What is kept of a cluster besides its rows.
#[derive(Debug, Clone, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Body {
    /// The cluster's document without hosts, VMs, tenants and groups.
    pub document: serde_json::Value,
    pub settings: ClusterSettings,
}

/// JSON of what is kept. What is kept has no map with keys that are no texts, and so
/// cannot fail to be written.
pub fn json(kept: &impl Serialize) -> String {
    serde_json::to_string(kept).unwrap_or_default()
}

fn text(id: &str) -> String {
    id.to_owned()
}

/// The changes that keep what is named.
pub(super) fn touched(state: &ClusterState, touched: &Touched) -> Vec<Change> {
    let (inventory, cluster) = (state.inventory(), || text(&state.name));
    let mut changes = Vec::new();
    for id in &touched.hosts {
        changes.push(match host(state, id) {
            Some(HostRow { id, position, body }) => Change::PutHost {
                cluster: cluster(),
                id,
                position,
                body,
            },
            None => Change::RemoveHost {
                cluster: cluster(),
                id: text(id),
            },
        });
    }
    for (id, pending) in &touched.vms {
        let (id, pending) = (text(id), *pending);
        changes.push(match inventory.saved_vm(&id, pending) {
            Some(vm) => Change::PutVm {
                cluster: cluster(),
                id,
                pending,
                body: json(&vm),
            },
            None => Change::RemoveVm {
                cluster: cluster(),
                id,
                pending,
            },
        });
    }
    for id in &touched.tenants {
        changes.push(match inventory.tenant(id) {
            Some(facts) => Change::PutTenant {
                cluster: cluster(),
                id: text(id),
                body: json(facts),
            },
            None => Change::RemoveTenant {
                cluster: cluster(),
                id: text(id),
            },
        });
    }
    for id in &touched.groups {
        let entry = inventory.group(id);
        changes.push(match entry {
            Some(entry) => Change::PutGroup {
                cluster: cluster(),
                id: text(id),
                position: 0,
                body: json(&entry.group),
            },
            None => Change::RemoveGroup {
                cluster: cluster(),
                id: text(id),
            },
        });
    }
    if touched.facts {
        changes.push(cluster_itself(state));
    }
    changes
}

/// The changes that keep the whole cluster, whatever was kept of it before.
pub(super) fn everything(state: &ClusterState) -> Vec<Change> {
    let inventory = state.inventory();
    let ids = inventory.hosts().map(|(_, host)| &*host.id);
    let hosts = ids.filter_map(|id| host(state, id)).collect();
    let mut vms: Vec<VmRow> = Vec::new();
    for entry in inventory
        .hosts()
        .flat_map(|(_, host)| inventory.vms_of(host))
    {
        if let Some(saved) = inventory.saved_vm(&entry.vm.id, entry.pending) {
            vms.push(VmRow {
                id: text(&entry.vm.id),
                pending: entry.pending,
                body: json(&saved),
            });
        }
    }
    let tenants = inventory.tenants().map(|(id, facts)| TenantRow {
        id: text(id),
        body: json(facts),
    });
    let groups = inventory.groups().map(|entry| GroupRow {
        id: text(&entry.group.id),
        position: 0,
        body: json(&entry.group),
    });
    vec![
        cluster_itself(state),
        Change::ReplaceInventory {
            cluster: text(&state.name),
            hosts,
            vms,
            tenants: tenants.collect(),
            groups: groups.collect(),
        },
    ]
}

/// What is kept of a host: without what is measured, which comes in again.
fn host(state: &ClusterState, id: &str) -> Option<HostRow> {
    let inventory = state.inventory();
    let mut saved = inventory.saved_host(id)?;
    let known = inventory.slot(id).and_then(|slot| inventory.host(slot))?;
    for measurement in inventory.measured(known) {
        saved.facts.unset(measurement.name);
        saved.facts.take_rows(measurement.name);
    }
    Some(HostRow {
        id: text(&saved.id),
        position: saved.listed,
        body: json(&saved),
    })
}

/// The change that keeps the cluster besides its rows.
pub(super) fn cluster_itself(state: &ClusterState) -> Change {
    let inventory = state.inventory();
    let document = ClusterDocument {
        name: state.name.clone(),
        now: None,
        seed: state.settings.seed,
        schema: (**inventory.schema()).clone(),
        facts: inventory.facts().clone(),
        tenants: Default::default(),
        hosts: Vec::new(),
        vms: Vec::new(),
        groups: Vec::new(),
    };
    let body = Body {
        document: serde_json::to_value(&document).unwrap_or_default(),
        settings: state.settings.clone(),
    };
    Change::PutCluster {
        cluster: text(&state.name),
        body: json(&body),
    }
}

/// The inventory of a cluster from what was kept of it.
///
/// # Errors
/// If a row cannot be read, or does not fit the others.
pub fn rows(
    document: ClusterDocument,
    rows: SavedInventory,
    clock: i64,
) -> Result<Inventory, DeploymentError> {
    let name = document.name.clone();
    let facts = document.facts.clone();
    let mut inventory = Inventory::of_document(document, clock)?;
    let unread = |what: &str, id: &str, error: &dyn std::fmt::Display| {
        DeploymentError::Refused(format!(
            "cannot read what was kept of {what} \"{id}\" of cluster \"{name}\": {error}"
        ))
    };
    for row in rows.hosts {
        let saved: SavedHost = read(&row.body).map_err(|it| unread("host", &row.id, &it))?;
        inventory
            .restore_host(saved)
            .map_err(|it| unread("host", &row.id, &it))?;
    }
    for row in rows.tenants {
        let facts = read(&row.body).map_err(|it| unread("tenant", &row.id, &it))?;
        let set: Result<(), InventoryError> = inventory.set_tenant(row.id.as_str(), facts);
        set.map_err(|it| unread("tenant", &row.id, &it))?;
    }
    for row in rows.vms {
        let saved: SavedVm = read(&row.body).map_err(|it| unread("VM", &row.id, &it))?;
        inventory
            .restore_vm(saved)
            .map_err(|it| unread("VM", &row.id, &it))?;
    }
    for row in rows.groups {
        let group: Group = read(&row.body).map_err(|it| unread("group", &row.id, &it))?;
        inventory
            .set_group(group)
            .map_err(|it| unread("group", &row.id, &it))?;
    }
    // Nobody looks back behind the start.
    inventory.set_facts(facts)?;
    Ok(inventory)
}

fn read<T: DeserializeOwned>(body: &str) -> serde_json::Result<T> {
    serde_json::from_str(body)
}
