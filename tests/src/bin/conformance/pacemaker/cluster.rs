//! Nodes as the hosts of a cluster, resources as its VMs.

use std::collections::BTreeMap;
use std::sync::Arc;

use placewright_inventory::Inventory;
use placewright_model::schema::Schema;
use placewright_model::{Facts, Host, Vm};
use placewright_scheduler::Batch;

use super::case::{Amount, Case, Node, Resource, Whole};

/// The nodes in their order, with what runs on them.
///
/// # Errors
/// Which field the cluster does not take.
pub(super) fn inventory(case: &Case) -> Result<Inventory, String> {
    let mut inventory = Inventory::new("vector", Arc::new(Schema::default()));
    for (number, node) in case.nodes.iter().enumerate() {
        inventory
            .add_host(host(node))
            .map_err(|error| format!("field nodes[{number}]: {error}"))?;
    }
    for (number, resource) in case.resources.iter().enumerate() {
        if let Some(node) = resource.node() {
            inventory
                .run_vm(vm(resource), node)
                .map_err(|error| format!("field resources[{number}]: {error}"))?;
        }
    }
    Ok(inventory)
}

/// A plan for all resources, made from nothing, only to see where they would go.
pub(super) fn batch(case: &Case) -> Batch {
    Batch {
        members: case.resources.iter().map(vm).collect(),
        draw: Some(0.0),
        from_nothing: true,
        dry_run: true,
        ..Batch::default()
    }
}

fn host(node: &Node) -> Host {
    let mut host = Host::new(node.name.as_str());
    if node.standby {
        host.facts.set("state", "maintenance");
    }
    host.facts.set_rows("amounts", amounts(&node.cap, "total"));
    host
}

fn vm(resource: &Resource) -> Vm {
    let mut vm = Vm::new(resource.id.as_str());
    if let Some(Whole(priority)) = resource.prio {
        vm.facts.set("priority", priority);
    }
    if let Some(Whole(stickiness)) = resource.stick {
        vm.facts.set("stickiness", stickiness);
    }
    vm.facts
        .set_rows("amounts", amounts(&resource.needs, "need"));
    let location = resource.loc.iter();
    vm.pinning.location = location
        .map(|(node, score)| (node.as_str().into(), score.0))
        .collect();
    vm
}

fn amounts(amounts: &BTreeMap<String, Amount>, column: &str) -> Vec<Facts> {
    let row = |(name, amount): (&String, &Amount)| {
        Facts::new()
            .with("name", name.as_str())
            .with(column, amount.0)
    };
    amounts.iter().map(row).collect()
}
