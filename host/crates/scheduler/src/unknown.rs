//! Names in requests that nothing in the cluster has: of VMs, hosts, networks and zones.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::PlaceError;
use placewright_chain::DecisionError;
use placewright_document::{grouped, shown};
use placewright_inventory::Inventory;
use placewright_model::{Facts, NamedVm, Request, Value, Vm, nearest};

/// So many VMs that are not known are kept, those that come first. Others are only counted.
const MOST: usize = 100;

/// A sentence names so many of them.
const NAMED: usize = 5;

/// VMs of a request that are named only, and that the cluster does not know: one at least.
#[derive(Debug, Clone, PartialEq)]
pub struct UnknownVms {
    told: Vec<UnknownVm>,
    /// How many there are besides.
    more: usize,
}

/// One of them.
#[derive(Debug, Clone, PartialEq)]
pub struct UnknownVm {
    /// As it was named.
    pub named: NamedVm,
    /// The VM of the cluster that was probably meant.
    pub nearest: Option<Arc<str>>,
}

impl UnknownVms {
    /// Those that are told, in their order, at most 100.
    pub fn iter(&self) -> impl Iterator<Item = &UnknownVm> {
        self.told.iter()
    }
}

impl fmt::Display for UnknownVm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NamedVm { path, id } = &self.named;
        write!(
            f,
            "{path} \"{}\": there is no such VM in the cluster",
            shown(id)
        )?;
        match &self.nearest {
            Some(near) => write!(f, " (did you mean \"{}\"?)", shown(near)),
            None => Ok(()),
        }
    }
}

impl fmt::Display for UnknownVms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for unknown in self.told.iter().take(NAMED) {
            write!(f, "{unknown}; ")?;
        }
        match (self.told.len() + self.more).saturating_sub(NAMED) {
            0 => {}
            more => write!(f, "and {} more; ", grouped(more))?,
        }
        f.write_str(
            "a VM that is named only is one that runs or has a place reserved: of a new one say what it needs, as {\"id\": \"web-1\", \"cpu\": 2, \"memory\": \"4 GiB\"}",
        )
    }
}

impl std::error::Error for UnknownVms {}

/// That the cluster knows every VM of a request which is named only.
///
/// # Errors
/// Those that it does not know.
pub fn check_named_vms(inventory: &Inventory, named: &[NamedVm]) -> Result<(), PlaceError> {
    let is_known =
        |vm: &&NamedVm| inventory.running(&vm.id).is_some() || inventory.pending(&vm.id).is_some();
    let mut unknown = named.iter().filter(|vm| !is_known(vm));
    let told: Vec<&NamedVm> = unknown.by_ref().take(MOST).collect();
    if told.is_empty() {
        return Ok(());
    }
    let hosts = inventory.hosts();
    let known = hosts.flat_map(|(_, host)| inventory.vms_of(host));
    // Of many names the nearest is not looked for.
    let known: Vec<&Arc<str>> = known.take(LONG).map(|entry| &entry.vm.id).collect();
    let near = |id: &str| {
        let found = nearest(id, known.iter().map(|it| &***it))?;
        Some(Arc::from(found))
    };
    let told = told
        .into_iter()
        .enumerate()
        .map(|(position, vm)| UnknownVm {
            named: vm.clone(),
            nearest: (position < NAMED).then(|| near(&vm.id)).flatten(),
        });
    Err(PlaceError::UnknownVms(UnknownVms {
        told: told.collect(),
        more: unknown.count(),
    }))
}

/// More names than the nearest is looked for in.
const LONG: usize = 1001;

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
