//! Hosts and VMs of all clusters that a caller is shown, and their ids.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::call::Call;
use super::clusters;
use super::fault::Fault;
use super::ids::{self, Ids};
use super::tree::Tree;
use super::vms;
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
    hosts: OnceLock<Named<u32>>,
    vms: OnceLock<Named<Arc<str>>>,
}

/// What leads from UUIDs that are made of ids, and from names, to what has them. It is made once
/// somebody asks for one: a body may name thousands, and each would be looked for among all.
struct Named<T> {
    made: HashMap<Uuid, T>,
    names: HashMap<String, T>,
}

impl<T: Clone> Named<T> {
    /// Of things with their ids and names; of several with one name, the first one has it.
    fn of(ids: &Ids, all: impl Iterator<Item = (Arc<str>, String, T)>) -> Self {
        let mut named = Self {
            made: HashMap::new(),
            names: HashMap::new(),
        };
        for (id, name, it) in all {
            if let Some(made) = ids.made_of(&id) {
                named.made.entry(made).or_insert_with(|| it.clone());
            }
            named.names.entry(name).or_insert(it);
        }
        named
    }
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
            hosts: OnceLock::new(),
            vms: OnceLock::new(),
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
        let slot = *self.named_hosts().made.get(&Uuid::parse_str(id).ok()?)?;
        Some((slot, inventory.host(slot)?))
    }

    /// The host that is called so.
    pub(crate) fn host_by_name(&self, name: &str) -> Option<&HostEntry> {
        self.inventory().host(*self.named_hosts().names.get(name)?)
    }

    fn named_hosts(&self) -> &Named<u32> {
        self.hosts.get_or_init(|| {
            let hosts = self.hosts().into_iter();
            let hosts = hosts.map(|(slot, host)| {
                let name = host.facts.text("name").unwrap_or(&host.id);
                (host.id.clone(), name.to_owned(), slot)
            });
            Named::of(&self.host_ids, hosts)
        })
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
        let made = &self.named_vms().made;
        self.vm_by_key(made.get(&Uuid::parse_str(id).ok()?)?)
    }

    /// The VM that is called so.
    pub(crate) fn vm_by_name(&self, name: &str) -> Option<&VmEntry> {
        self.vm_by_key(self.named_vms().names.get(name)?)
    }

    fn named_vms(&self) -> &Named<Arc<str>> {
        self.vms.get_or_init(|| {
            let vms = self.vms().map(|entry| {
                let id = &entry.vm.id;
                (id.clone(), vms::name(entry), id.clone())
            });
            Named::of(&self.vm_ids, vms)
        })
    }
}

/// The clusters that the caller is shown, each as it is.
pub(crate) fn parts(call: &Call) -> Result<Vec<Part>, Fault> {
    clusters::all(call).into_iter().map(Part::of).collect()
}
