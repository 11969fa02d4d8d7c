//! What is kept of a cluster: its rows as the store has them, and back.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{ClusterSettings, ClusterState, LostHost};
use crate::DeploymentError;
use placewright_document::ClusterDocument;
use placewright_inventory::{Inventory, InventoryError, SavedHost, SavedVm, Touched};
use placewright_model::Group;
use placewright_store::{Change, GroupRow, HostRow, MeasuredRow, SavedInventory, TenantRow, VmRow};

/// What is kept of a cluster besides its rows.
#[derive(Debug, Clone, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Body {
    /// The cluster's document without hosts, VMs, tenants and groups.
    pub document: serde_json::Value,
    pub settings: ClusterSettings,
    /// Hosts that are down or in error, by id, where the server restarts their VMs by itself.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lost: BTreeMap<Arc<str>, LostHost>,
}

/// JSON of what is kept. What is kept has no map with keys that are no texts, and so
/// cannot fail to be written.
pub(crate) fn json(kept: &impl Serialize) -> String {
    serde_json::to_string(kept).unwrap_or_default()
}

fn text(id: &str) -> String {
    id.to_owned()
}

/// What rows are kept of.
#[derive(Clone, Copy)]
pub(super) struct Rows<'s> {
    name: &'s str,
    settings: &'s ClusterSettings,
    lost: &'s BTreeMap<Arc<str>, LostHost>,
    /// It may be that of another time, or a copy.
    inventory: &'s Inventory,
}

impl<'s> Rows<'s> {
    /// The cluster as it is.
    pub(super) fn now(state: &'s ClusterState) -> Self {
        Self::then(state, state.inventory())
    }

    /// The cluster as it was when its inventory was this one.
    pub(super) fn then(state: &'s ClusterState, inventory: &'s Inventory) -> Self {
        Self {
            lost: state.restarts.lost(),
            ..Self::of(&state.name, &state.settings, inventory)
        }
    }

    /// A cluster of that name, set so.
    pub(super) fn of(
        name: &'s str,
        settings: &'s ClusterSettings,
        inventory: &'s Inventory,
    ) -> Self {
        static NONE: BTreeMap<Arc<str>, LostHost> = BTreeMap::new();
        Self {
            name,
            settings,
            lost: &NONE,
            inventory,
        }
    }

    /// The inventory.
    pub(super) fn inventory(self) -> &'s Inventory {
        self.inventory
    }

    fn cluster(self) -> String {
        text(self.name)
    }

    /// The changes that keep what is named.
    pub(super) fn touched(self, touched: &Touched) -> Vec<Change> {
        let mut changes = Vec::new();
        changes.extend(touched.hosts.iter().map(|id| self.put_host(id)));
        let measured = touched.hosts.union(&touched.noted);
        changes.extend(measured.map(|id| self.put_measured(id)));
        let vms = touched.vms.iter();
        changes.extend(vms.map(|(id, pending)| self.put_vm(id, *pending)));
        let measured = touched.measured_vms.iter();
        let measured = measured.filter(|id| !touched.vms.contains(&((*id).clone(), false)));
        changes.extend(measured.map(|id| self.put_vm(id, false)));
        changes.extend(touched.tenants.iter().map(|id| self.put_tenant(id)));
        changes.extend(touched.groups.iter().map(|id| self.put_group(id)));
        if touched.facts {
            changes.push(self.itself());
        }
        changes
    }

    /// The changes that keep the whole cluster, whatever was kept of it before.
    pub(super) fn everything(self) -> Vec<Change> {
        let inventory = self.inventory;
        let ids = || inventory.hosts().map(|(_, host)| &*host.id);
        let entries = inventory
            .hosts()
            .flat_map(|(_, host)| inventory.vms_of(host));
        let tenants = inventory.tenants().map(|(id, facts)| TenantRow {
            id: text(id),
            body: json(facts),
        });
        let groups = inventory.groups().map(|entry| GroupRow {
            id: text(&entry.group.id),
            position: 0,
            body: json(entry.given()),
        });
        vec![
            self.itself(),
            Change::ReplaceInventory {
                cluster: self.cluster(),
                hosts: ids().filter_map(|id| self.host(id)).collect(),
                vms: entries
                    .filter_map(|entry| self.vm(&entry.vm.id, entry.pending))
                    .collect(),
                tenants: tenants.collect(),
                groups: groups.collect(),
                measured: ids().filter_map(|id| self.measured(id)).collect(),
            },
        ]
    }

    fn put_host(self, id: &str) -> Change {
        let cluster = self.cluster();
        match self.host(id) {
            Some(HostRow { id, position, body }) => Change::PutHost {
                cluster,
                id,
                position,
                body,
            },
            None => Change::RemoveHost {
                cluster,
                id: text(id),
            },
        }
    }

    fn put_measured(self, id: &str) -> Change {
        let cluster = self.cluster();
        match self.measured(id) {
            Some(MeasuredRow { id, body }) => Change::PutMeasured { cluster, id, body },
            None => Change::RemoveMeasured {
                cluster,
                id: text(id),
            },
        }
    }

    fn put_vm(self, id: &str, pending: bool) -> Change {
        let cluster = self.cluster();
        match self.vm(id, pending) {
            Some(VmRow { id, pending, body }) => Change::PutVm {
                cluster,
                id,
                pending,
                body,
            },
            None => Change::RemoveVm {
                cluster,
                id: text(id),
                pending,
            },
        }
    }

    fn put_tenant(self, id: &str) -> Change {
        let (cluster, id) = (self.cluster(), text(id));
        match self.inventory.tenant(&id) {
            Some(facts) => Change::PutTenant {
                cluster,
                id,
                body: json(facts),
            },
            None => Change::RemoveTenant { cluster, id },
        }
    }

    fn put_group(self, id: &str) -> Change {
        let (cluster, id) = (self.cluster(), text(id));
        match self.inventory.group(&id) {
            Some(entry) => Change::PutGroup {
                cluster,
                id,
                position: 0,
                body: json(entry.given()),
            },
            None => Change::RemoveGroup { cluster, id },
        }
    }

    /// What is kept of a host: without what is measured, which comes in often and is kept
    /// apart.
    fn host(self, id: &str) -> Option<HostRow> {
        let mut saved = self.inventory.saved_host(id)?;
        let slot = self.inventory.slot(id)?;
        for measurement in self.inventory.measured(self.inventory.host(slot)?) {
            saved.facts.unset(measurement.name);
            saved.facts.take_rows(measurement.name);
        }
        Some(HostRow {
            id: text(&saved.id),
            position: saved.listed,
            body: json(&saved),
        })
    }

    fn measured(self, id: &str) -> Option<MeasuredRow> {
        let saved = self.inventory.saved_measured(id)?;
        Some(MeasuredRow {
            id: text(id),
            body: json(&saved),
        })
    }

    fn vm(self, id: &str, pending: bool) -> Option<VmRow> {
        let saved = self.inventory.saved_vm(id, pending)?;
        Some(VmRow {
            id: text(id),
            pending,
            body: json(&saved),
        })
    }

    /// The change that keeps the cluster besides its rows.
    pub(super) fn itself(self) -> Change {
        let Self {
            name,
            settings,
            lost,
            inventory,
        } = self;
        let document = ClusterDocument {
            name: name.into(),
            now: None,
            seed: settings.seed,
            schema: (**inventory.schema()).clone(),
            facts: inventory.facts().clone(),
            tenants: Default::default(),
            hosts: Vec::new(),
            vms: Vec::new(),
            groups: Vec::new(),
        };
        let body = Body {
            document: serde_json::to_value(&document).unwrap_or_default(),
            settings: settings.clone(),
            lost: lost.clone(),
        };
        Change::PutCluster {
            cluster: self.cluster(),
            body: json(&body),
        }
    }
}

/// The inventory of a cluster from what was kept of it.
///
/// # Errors
/// If a row cannot be read, or does not fit the others.
pub(crate) fn rows(
    document: ClusterDocument,
    rows: SavedInventory,
    clock: i64,
) -> Result<Inventory, DeploymentError> {
    let name = document.name.clone();
    let facts = document.facts.clone();
    let mut inventory = Inventory::of_document(document, clock)?;
    let unread = |what: &str, id: &str, error: &dyn std::fmt::Display| {
        DeploymentError::Refused(format!(
            "cannot read from the store {what} \"{id}\" of cluster \"{name}\": {error}"
        ))
    };
    inventory.rank_together(|inventory| {
        rows.hosts.into_iter().try_for_each(|row| {
            let saved: SavedHost = read(&row.body).map_err(|it| unread("host", &row.id, &it))?;
            let restored = inventory.restore_host(saved);
            restored.map_err(|it| unread("host", &row.id, &it))
        })
    })?;
    for row in rows.tenants {
        let facts = read(&row.body).map_err(|it| unread("tenant", &row.id, &it))?;
        let set: Result<(), InventoryError> = inventory.set_tenant(row.id.as_str(), facts);
        set.map_err(|it| unread("tenant", &row.id, &it))?;
    }
    // Whether a VM had run before counts for the place that it has reserved.
    for row in rows.vacated {
        let saved: SavedVm = read(&row.body).map_err(|it| unread("VM", &row.id, &it))?;
        inventory
            .restore_vacated(&row.id, &saved.host)
            .map_err(|it| unread("VM", &row.id, &it))?;
    }
    for row in rows.vms {
        let saved: SavedVm = read(&row.body).map_err(|it| unread("VM", &row.id, &it))?;
        inventory
            .restore_vm(saved)
            .map_err(|it| unread("VM", &row.id, &it))?;
    }
    inventory.group_together(|inventory| {
        rows.groups.into_iter().try_for_each(|row| {
            let group: Group = read(&row.body).map_err(|it| unread("group", &row.id, &it))?;
            let set = inventory.set_group(group);
            set.map_err(|it| unread("group", &row.id, &it))
        })
    })?;
    // Nobody looks back behind the start.
    inventory.set_facts(facts)?;
    Ok(inventory)
}

pub(super) fn read<T: DeserializeOwned>(body: &str) -> serde_json::Result<T> {
    serde_json::from_str(body)
}
