//! Nodes and VMs of the vectors as hosts, VMs and rows of keys.

use std::sync::Arc;

use placewright_document::PlacedVm;
use placewright_inventory::{Inventory, InventoryError};
use placewright_model::schema::Schema;
use placewright_model::{Facts, Host, Vm};

use super::form::{Key, Level, Mebibytes, Node, NodeKey, NodeVm, Offered, Resources, State};

/// The levels below the server, of disks and NICs.
const DISK_OFFER: i64 = 10;
const DISK: i64 = 11;
const NETWORK_OFFER: i64 = 12;
const NETWORK: i64 = 13;
const NIC_OFFER: i64 = 14;
const NIC: i64 = 15;

/// A cluster of these nodes, with the VMs that run there.
///
/// # Errors
/// What the inventory does not take, and why.
pub(super) fn inventory<'a>(
    nodes: impl IntoIterator<Item = &'a Node>,
) -> Result<Inventory, String> {
    let mut inventory = Inventory::new("vector", Arc::new(Schema::default()));
    for node in nodes {
        let refused = |error: InventoryError| format!("node {}: {error}", node.id);
        inventory.add_host(host(node)).map_err(refused)?;
        for (number, vm) in node.vms.iter().enumerate() {
            run(&mut inventory, &node.id, number, vm).map_err(refused)?;
        }
    }
    Ok(inventory)
}

fn host(node: &Node) -> Host {
    let mut host = Host::new(node.id.as_str())
        .with("state", state(node.state))
        .with("memory.total", node.ram_mb.bytes())
        .with("memory.overcommit", node.ram_ratio)
        .with("memory.free", node.free_ram_mb.bytes())
        .with("cpu.cores", node.pcpus)
        .with("cpu.overcommit", node.cpu_ratio)
        .with("cpu.usage", node.load);
    let keys = node.keys.iter();
    let keys = keys.map(|(name, key)| host_key(name, key)).collect();
    host.facts.set_rows("keys", keys);
    host
}

/// The state of a host by its word in documents.
pub(super) fn state(state: State) -> &'static str {
    match state {
        State::Running => "up",
        State::Maintenance => "maintenance",
        State::Error => "error",
        State::Offline => "down",
    }
}

/// A row of `hosts/keys`.
pub(super) fn host_key(name: &str, key: &NodeKey) -> Facts {
    let mut row = Facts::new().with("name", name).with("value", key.v);
    if let Some(weight) = key.w {
        row.set("weight", weight);
    }
    if let Some(sticky) = key.sticky {
        row.set("sticky", sticky);
    }
    row
}

/// A VM runs on a host, with keys that were fixed when it was placed there.
fn run(
    inventory: &mut Inventory,
    host: &str,
    number: usize,
    vm: &NodeVm,
) -> Result<(), InventoryError> {
    let mut placed = Facts::new();
    for (name, value) in &vm.ckeys {
        let key = Facts::new()
            .with("name", name.as_str())
            .with("value", *value);
        placed.push_row("fixed-keys", key);
    }
    let placed = PlacedVm {
        vm: machine(&format!("{host}/{number}"), vm.ram_mb, vm.vcpus),
        placed,
        host: host.into(),
        pending: false,
    };
    let writes = placed.writes();
    inventory.run_vm(placed.vm, host)?;
    inventory.apply(&writes)
}

/// A VM without keys.
pub(super) fn machine(id: &str, memory: Mebibytes, vcpus: i64) -> Vm {
    Vm::new(id)
        .with("memory", memory.bytes())
        .with("cpu", vcpus.saturating_mul(1000))
        .with("cores", vcpus)
}

/// The same VM, made of these resources.
pub(super) fn made_of(mut vm: Vm, resources: &Resources) -> Vm {
    vm.facts.set_rows("keys", keys(resources));
    vm
}

/// The rows of `members/keys`: those of every disk and NIC, though only the first
/// count.
fn keys(resources: &Resources) -> Vec<Facts> {
    let mut rows = Vec::new();
    for (level, keys) in single(resources) {
        rows.extend(keys.iter().map(|key| resource_key(level as i64, key)));
    }
    for (index, Offered { offer, keys }) in (0_i64..).zip(&resources.disks) {
        for (level, keys) in [(DISK_OFFER, offer), (DISK, keys)] {
            rows.extend(keys.iter().map(|key| numbered(level, index, key)));
        }
    }
    for (index, nic) in (0_i64..).zip(&resources.nics) {
        for (level, keys) in [
            (NETWORK_OFFER, &nic.network.offer),
            (NETWORK, &nic.network.keys),
            (NIC_OFFER, &nic.offer),
            (NIC, &nic.keys),
        ] {
            rows.extend(keys.iter().map(|key| numbered(level, index, key)));
        }
    }
    rows
}

fn single(resources: &Resources) -> [(Level, &[Key]); 10] {
    [
        (Level::Cluster, &resources.cluster),
        (Level::BillingEntity, &resources.billing_entity),
        (Level::CustomerOffer, &resources.customer_offer),
        (Level::Customer, &resources.customer),
        (Level::ImageOffer, &resources.image_offer),
        (Level::Image, &resources.image),
        (Level::VdcOffer, &resources.vdc_offer),
        (Level::Vdc, &resources.vdc),
        (Level::ServerOffer, &resources.server_offer),
        (Level::Server, &resources.server),
    ]
}

/// A row of `members/keys`.
pub(super) fn resource_key(level: i64, key: &Key) -> Facts {
    Facts::new()
        .with("level", level)
        .with("class", key.c.word())
        .with("name", key.n.as_str())
        .with("value", key.v.as_str())
        .with("weight", key.w)
}

fn numbered(level: i64, index: i64, key: &Key) -> Facts {
    resource_key(level, key).with("index", index)
}
