//! Documents in TOML and JSON: what is wrong with them is told, and what is right with them can
//! be used and written again.

use std::path::Path;

use placewright_document::{
    ClusterDocument, InventoryChanges, Problems, Surroundings, read_requests,
};
use placewright_inventory::Inventory;
use placewright_policy::Policy;
use placewright_tools::scenario::{Scenarios, Test};

use super::text;
use crate::world::{cluster as cluster_of_targets, schema, units};

/// Whoever wrote the document is told at least one sentence, and not without bound.
pub(super) fn assert_told(problems: &Problems) {
    let said = problems.to_string();
    assert!(!said.is_empty());
    assert!(said.len() < 1 << 20, "{} bytes are said", said.len());
}

/// A policy is checked against units that are there.
pub(crate) fn policy(input: &[u8]) {
    let Some(text) = text(input) else { return };
    match Policy::load(text, "fuzzed.toml", units(), &schema()) {
        Ok(policy) => {
            for unit in policy.units() {
                assert!(policy.names(&unit.name));
            }
            drop(policy.remarks());
        }
        Err(problems) => assert_told(&problems),
    }
    if let Err(problems) = Policy::read(text, "fuzzed.toml") {
        assert_told(&problems);
    }
}

/// A cluster becomes an inventory, or it is told why not.
pub(crate) fn cluster(input: &[u8]) {
    let Some(text) = text(input) else { return };
    let document = match ClusterDocument::read(text, "fuzzed.toml") {
        Ok(document) => document,
        Err(problems) => return assert_told(&problems),
    };
    drop(document.warnings());
    let (hosts, vms) = (document.hosts.len(), document.vms.len());
    match Inventory::of_document(document, 1000) {
        Ok(inventory) => {
            assert_eq!(inventory.host_count(), hosts);
            let held = inventory.running_count() + inventory.pending_count();
            assert!(held <= vms, "{held} of {vms}");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Changes are carried out whole or not at all.
pub(crate) fn changes(input: &[u8]) {
    let Some(text) = text(input) else { return };
    let changes = match InventoryChanges::read(text, "fuzzed.toml", &schema()) {
        Ok(changes) => changes,
        Err(problems) => return assert_told(&problems),
    };
    let mut inventory = cluster_of_targets();
    let before = seen(&inventory);
    match inventory.change(changes.clone()) {
        Ok(_) => {
            // What is so already changes nothing that could be refused.
            drop(inventory.change(changes));
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert_eq!(
                seen(&inventory),
                before,
                "nothing of it is carried out: {error}"
            );
        }
    }
}

/// What an inventory holds, as a text.
fn seen(inventory: &Inventory) -> String {
    let mut seen = format!("{:?}\n", inventory.facts());
    for (slot, host) in inventory.hosts() {
        seen.push_str(&format!("{slot} {:?}\n", inventory.saved_host(&host.id)));
        for vm in inventory.vms_of(host) {
            let saved = inventory.saved_vm(&vm.vm.id, vm.pending);
            seen.push_str(&format!("  {saved:?}\n"));
        }
    }
    for (id, facts) in inventory.tenants() {
        seen.push_str(&format!("{id} {facts:?}\n"));
    }
    for group in inventory.groups() {
        seen.push_str(&format!("{:?}\n", group.group));
    }
    seen
}

/// Requests name what they want, and nothing else.
pub(crate) fn request(input: &[u8]) {
    let Some(text) = text(input) else { return };
    let around = Surroundings {
        schema: &schema(),
        now: 1000,
        hosts: None,
    };
    match read_requests(text, "fuzzed.toml", around) {
        Ok(requests) => {
            for request in requests {
                assert!(!request.members.is_empty(), "{request:?}");
            }
        }
        Err(problems) => assert_told(&problems),
    }
}

/// Scenarios are read; those of a unit that is there are run.
pub(crate) fn scenario(input: &[u8]) {
    let Some(text) = text(input) else { return };
    // A folder in which there is nothing: a scenario may name documents beside it.
    let scenarios = match Scenarios::read(text, Path::new("/nonexistent/fuzzed.toml")) {
        Ok(scenarios) => scenarios,
        Err(problems) => return assert_told(&problems),
    };
    let unit = units().get("worst-fit").expect("it is one of them");
    match Test::new(&scenarios, unit, units()) {
        Ok(tests) => {
            for test in tests {
                drop(test.run());
            }
        }
        Err(problems) => assert_told(&problems),
    }
}
