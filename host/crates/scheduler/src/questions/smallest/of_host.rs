//! What can be changed of the host.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::lever::{Lever, MEMBERS, Place};
use super::trial::World;
use placewright_model::schema::Source;
use placewright_model::{Facts, Kind, Request, Value};

/// So many VMs of the host are tried at most: the smallest.
const RESIDENTS: usize = 32;

/// The columns of the host that filters read, where an operator gives them.
pub(super) fn columns(
    levers: &mut Vec<Lever>,
    world: &World<'_>,
    reads: &BTreeSet<(String, String)>,
) {
    let (inventory, host) = (&world.inventory, world.host());
    let Some(slot) = inventory.slot(host) else {
        return;
    };
    let columns = reads.iter().filter(|(table, _)| table == "hosts");
    for (_, name) in columns {
        let Some(column) = inventory.schema().column("hosts", name) else {
            continue;
        };
        let fixed = ["name", "address", "created", "state"];
        if column.source != Source::Given || fixed.contains(&name.as_str()) {
            continue;
        }
        let before = inventory.host_value(slot, name);
        let place = || Place::Host(name.as_str().into());
        match before {
            Some(value @ (Value::Integer(_) | Value::Number(_))) => {
                levers.extend(Lever::more(place(), value.clone(), &column));
                levers.extend(Lever::less(place(), value, column.measure, 0));
            }
            Some(value @ Value::Boolean(_)) => {
                let other = Value::Boolean(value != Value::Boolean(true));
                levers.push(Lever::once(place(), Some(value), Some(other)));
            }
            before if column.kind == Kind::Text => {
                let asked = asked_for(world.request(), name);
                let others = asked.into_iter().filter(|it| before.as_ref() != Some(it));
                let others = others.map(|it| Lever::once(place(), before.clone(), Some(it)));
                levers.extend(others);
            }
            _ => {}
        }
    }
}

/// The texts that a request asks for where hosts have this column.
fn asked_for(request: &Request, column: &str) -> Vec<Value> {
    let members = request.members.iter().take(MEMBERS);
    let of_facts = |facts: &Facts| facts.get(column).cloned();
    let mut texts: Vec<Value> = (request.facts.get(column).cloned().into_iter())
        .chain(members.clone().filter_map(|vm| of_facts(&vm.facts)))
        .collect();
    match column {
        "gpu.model" => {
            let models = members.flat_map(|vm| vm.facts.rows("gpu-models"));
            texts.extend(models.filter_map(|row| row.get("model").cloned()));
        }
        "status.external" => texts.push("ok".into()),
        _ => {}
    }
    texts.retain(|text| matches!(text, Value::Text(_)));
    let mut different: Vec<Value> = Vec::new();
    for text in texts {
        if !different.contains(&text) {
            different.push(text);
        }
    }
    different.truncate(MEMBERS);
    different
}

/// The VMs of the host, the smallest first.
pub(super) fn residents(levers: &mut Vec<Lever>, world: &World<'_>) {
    let (inventory, request) = (&world.inventory, world.request());
    let slot = inventory.slot(world.host());
    let Some(host) = slot.and_then(|slot| inventory.host(slot)) else {
        return;
    };
    let members: BTreeSet<&Arc<str>> = request.members.iter().map(|vm| &vm.id).collect();
    let residents = inventory.vms_of(host);
    let mut residents: Vec<(i64, i64, &Arc<str>)> = residents
        .map(|entry| (entry.shape.memory, entry.shape.cpu, &entry.vm.id))
        .filter(|(_, _, id)| !members.contains(id))
        .collect();
    residents.sort_unstable();
    let smallest = residents.into_iter().take(RESIDENTS);
    levers.extend(smallest.map(|(_, _, id)| {
        let before = Value::Text(world.host().clone());
        Lever::once(Place::Elsewhere(id.clone()), Some(before), None)
    }));
}
