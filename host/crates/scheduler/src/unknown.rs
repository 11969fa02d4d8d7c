//! Names in requests that nothing in the cluster has: of hosts, networks and zones.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::PlaceError;
use placewright_chain::DecisionError;
use placewright_inventory::Inventory;
use placewright_model::{Facts, Request, Value, Vm, nearest};

/// That the cluster has every host which VMs to be placed name as theirs.
///
/// # Errors
/// If a VM is pinned to, prefers or scores a host that is not there, and the cluster does not
/// know it with that host.
pub fn check_named_hosts(inventory: &Inventory, members: &[Vm]) -> Result<(), PlaceError> {
    for member in members {
        let Some(host) = hosts_of(member).find(|host| inventory.slot(host).is_none()) else {
            continue;
        };
        let known = (inventory.running(&member.id)).or_else(|| inventory.pending(&member.id));
        // A host may have been taken out since, and the VM is not at fault.
        if known.is_some_and(|entry| entry.vm.pinning == member.pinning) {
            continue;
        }
        return Err(DecisionError::unknown_host(inventory, host).into());
    }
    Ok(())
}

fn hosts_of(vm: &Vm) -> impl Iterator<Item = &Arc<str>> {
    let pinning = &vm.pinning;
    let scored = pinning.location.iter().map(|(host, _)| host);
    (pinning.pinned.iter())
        .chain(&pinning.preferred)
        .chain(scored)
}

/// Of a request that finds no host: what it asks for by a name that no host of the cluster
/// has, sentence by sentence.
pub(super) fn names(inventory: &Inventory, request: &Request) -> Vec<String> {
    let mut sentences = Vec::new();
    for member in &request.members {
        let pinned = member.pinning.pinned.iter();
        for host in pinned.filter(|host| inventory.slot(host).is_none()) {
            sentences.push(format!(
                "VM \"{}\" is pinned to host \"{host}\", which is not in the cluster",
                member.id
            ));
        }
    }
    if let Some(zone) = request.facts.text("zone") {
        sentences.extend(missing("is in zone", zone, || zones(inventory)));
    }
    let nics = request.members.iter().flat_map(|vm| vm.facts.rows("nics"));
    let asked: BTreeSet<&str> = nics.filter_map(|nic| nic.text("network")).collect();
    for network in asked {
        sentences.extend(missing("has network", network, || networks(inventory)));
    }
    sentences
}

/// `no host of the cluster {has} "{name}"`, unless one does.
fn missing(has: &str, name: &str, known: impl Fn() -> BTreeSet<Arc<str>>) -> Option<String> {
    let known = known();
    if known.contains(name) {
        return None;
    }
    let meant = match nearest(name, known.iter().map(|known| &**known)) {
        Some(meant) => format!(" (did you mean \"{meant}\"?)"),
        None => String::new(),
    };
    Some(format!("no host of the cluster {has} \"{name}\"{meant}"))
}

fn zones(inventory: &Inventory) -> BTreeSet<Arc<str>> {
    let zones =
        inventory
            .hosts()
            .filter_map(|(slot, _)| match inventory.host_value(slot, "zone") {
                Some(Value::Text(zone)) => Some(zone),
                _ => None,
            });
    zones.collect()
}

fn networks(inventory: &Inventory) -> BTreeSet<Arc<str>> {
    let rows = inventory
        .hosts()
        .flat_map(|(_, host)| host.facts.rows("networks"));
    let names = rows.filter_map(|row: &Facts| match row.get("name") {
        Some(Value::Text(name)) => Some(name.clone()),
        _ => None,
    });
    names.collect()
}
