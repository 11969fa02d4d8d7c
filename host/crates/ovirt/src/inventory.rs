//! Hosts and VMs of all clusters that a caller is shown, and their ids.

use std::sync::Arc;

use super::call::Call;
use super::clusters;
use super::fault::Fault;
use super::ids::{self, Ids};
use super::tree::Tree;
use placewright_deployment::Cluster;
use placewright_deployment::cluster::Snapshot;
use placewright_inventory::{HostEntry, Inventory, VmEntry};
use uuid::Uuid;

/// A cluster as it was at one time.
pub(crate) struct Part {
    pub cluster: Arc<Cluster>,
    snapshot: Arc<Snapshot>,
    /// Id of the cluster in oVirt.
    id: String,
    /// Path of the cluster.
    href: String,
    host_ids: Ids,
    vm_ids: Ids,
}

impl Part {
    /// The cluster as it is.
    pub(crate) fn of(cluster: Arc<Cluster>) -> Result<Self, Fault> {
        let snapshot = tokio::runtime::Handle::current().block_on(cluster.snapshot())?;
        let name = cluster.name();
        let (id, href) = (clusters::id(name), clusters::href(name));
        let (host_ids, vm_ids) = (Ids::new("host", name), Ids::new("vm", name));
        Ok(Self {
            cluster,
            snapshot,
            id,
            href,
            host_ids,
            vm_ids,
        })
    }

    pub(crate) fn inventory(&self) -> &Inventory {
        self.snapshot.inventory()
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        self.cluster.name()
    }

    /// The cluster, as what belongs to it names it.
    pub(crate) fn reference(&self) -> Tree {
        Tree::new("cluster").at(&self.href, &self.id)
    }

    /// Id of a host in oVirt.
    pub(crate) fn host_id(&self, host: &str) -> String {
        self.host_ids.of(host)
    }

    /// Id of a VM in oVirt.
    pub(crate) fn vm_id(&self, vm: &str) -> String {
        self.vm_ids.of(vm)
    }

    /// The hosts, by id.
    pub(crate) fn hosts(&self) -> Vec<(u32, &HostEntry)> {
        let mut hosts: Vec<_> = self.inventory().hosts().collect();
        hosts.sort_by(|one, other| one.1.id.cmp(&other.1.id));
        hosts
    }

    /// The host of that id in oVirt.
    pub(crate) fn host(&self, id: &str) -> Option<(u32, &HostEntry)> {
        let inventory = self.inventory();
        if !ids::is_uuid(id) {
            return None;
        }
        // Its own id, most often, where hosts come from an engine.
        if let Some(slot) = inventory.slot(id) {
            return Some((slot, inventory.host(slot)?));
        }
        let id = Uuid::parse_str(id).ok()?;
        let mut hosts = inventory.hosts();
        hosts.find(|(_, host)| self.host_ids.is_made_of(id, &host.id))
    }

    /// The VMs that have a place, once each: where they run, if they do.
    pub(crate) fn vms(&self) -> impl Iterator<Item = &VmEntry> {
        let inventory = self.inventory();
        let hosts = inventory.hosts();
        let entries = hosts.flat_map(|(_, host)| inventory.vms_of(host));
        entries.filter(|entry| !entry.pending || inventory.running(&entry.vm.id).is_none())
    }

    /// The VM of that id here, where it runs or else has a place reserved.
    pub(crate) fn vm_by_key(&self, key: &str) -> Option<&VmEntry> {
        let inventory = self.inventory();
        inventory.running(key).or_else(|| inventory.pending(key))
    }

    /// The VM of that id in oVirt.
    pub(crate) fn vm(&self, id: &str) -> Option<&VmEntry> {
        if !ids::is_uuid(id) {
            return None;
        }
        if let Some(own) = self.vm_by_key(id) {
            return Some(own);
        }
        let id = Uuid::parse_str(id).ok()?;
        self.vms()
            .find(|entry| self.vm_ids.is_made_of(id, &entry.vm.id))
    }
}

/// The clusters that the caller is shown, each as it is.
pub(crate) fn parts(call: &Call) -> Result<Vec<Part>, Fault> {
    clusters::all(call).into_iter().map(Part::of).collect()
}
