//! What of an inventory is different from an earlier version, for whoever has a copy.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::{Snapshot, shown};
use placewright_inventory::Inventory;

/// A kind of what an inventory consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntityKind {
    /// Hosts.
    Hosts,
    /// VMs that run or have a place reserved.
    Vms,
    /// Affinity groups.
    Groups,
    /// Tenants.
    Tenants,
}

impl EntityKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Hosts, Self::Vms, Self::Groups, Self::Tenants];

    /// Its name in paths and documents.
    pub fn word(self) -> &'static str {
        match self {
            Self::Hosts => "hosts",
            Self::Vms => "vms",
            Self::Groups => "groups",
            Self::Tenants => "tenants",
        }
    }
}

/// What has changed of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedOfKind {
    /// Of what kind.
    pub kind: EntityKind,
    /// Those that are new or different, as their routes show them, by id.
    pub items: Vec<Value>,
    /// The ids of those that are not there any more.
    pub gone: Vec<Arc<str>>,
}

impl Snapshot {
    /// What has changed since an earlier version of the inventory; kinds without a change are
    /// left out. None if that version is not remembered, or if something of the cluster as a
    /// whole has changed, such as its columns: then everything may have changed.
    pub fn changed_since(&self, version: u64) -> Option<Vec<ChangedOfKind>> {
        let inventory = self.inventory();
        // A version that is still to come is one of another inventory.
        if version > inventory.version() {
            return None;
        }
        let touched = self
            .recently_changed()
            .between(version, inventory.version())?;
        if touched.facts {
            return None;
        }
        let hosts = touched.hosts.into_iter().chain(touched.noted).collect();
        let vms: BTreeSet<_> = touched.vms.into_iter().map(|(id, _)| id).collect();
        let all = [
            of_kind(inventory, EntityKind::Hosts, hosts, shown::host),
            of_kind(inventory, EntityKind::Vms, vms, shown::vm),
            of_kind(inventory, EntityKind::Groups, touched.groups, shown::group),
            of_kind(
                inventory,
                EntityKind::Tenants,
                touched.tenants,
                shown::tenant,
            ),
        ];
        Some(all.into_iter().flatten().collect())
    }
}

fn of_kind(
    inventory: &Inventory,
    kind: EntityKind,
    ids: BTreeSet<Arc<str>>,
    shown: impl Fn(&Inventory, &str) -> Option<Value>,
) -> Option<ChangedOfKind> {
    if ids.is_empty() {
        return None;
    }
    let (mut items, mut gone) = (Vec::new(), Vec::new());
    for id in ids {
        match shown(inventory, &id) {
            Some(item) => items.push(item),
            None => gone.push(id),
        }
    }
    Some(ChangedOfKind { kind, items, gone })
}
