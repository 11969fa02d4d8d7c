//! The cluster as it would be after moves.

use placewright_inventory::{Inventory, InventoryError};
use placewright_model::Value;

/// The VM runs on the host in the slot `to` from now on, and what hosts measured of
/// it goes with it.
pub(super) fn carry(world: &mut Inventory, vm: &str, to: u32) -> Result<(), InventoryError> {
    let Some(entry) = world.running(vm) else {
        return Err(InventoryError::UnknownVm(vm.into()));
    };
    let (moved, from, shape) = (entry.vm.clone(), entry.slot, entry.shape);
    let Some(host) = world.host(to).map(|host| host.id.clone()) else {
        return Err(InventoryError::UnknownHost("".into()));
    };
    let used = moved.facts.number("memory.usage");
    let used = used.map_or(0, |share| (share * shape.memory as f64) as i64);
    world.run_vm((*moved).clone(), &host)?;
    if let Some(load) = shape.load.filter(|_| !shape.exclusive) {
        add_load(world, from, -load)?;
        add_load(world, to, load)?;
    }
    // What it has used is free again; where it goes it may use all that it was
    // promised.
    add_free_memory(world, from, used)?;
    add_free_memory(world, to, -shape.memory)
}

/// Add so many millicores to the load that a host measured.
fn add_load(world: &mut Inventory, slot: u32, load: i64) -> Result<(), InventoryError> {
    let (Some(Value::Number(usage)), Some(Value::Integer(total @ 1..))) = (
        world.host_value(slot, "cpu.usage"),
        world.host_value(slot, "cpu.total"),
    ) else {
        return Ok(());
    };
    let usage = (usage + load as f64 / total as f64).clamp(0.0, 1.0);
    measured(world, slot, "cpu.usage", Value::Number(usage))
}

/// Add so many bytes to the free memory that a host measured.
fn add_free_memory(world: &mut Inventory, slot: u32, memory: i64) -> Result<(), InventoryError> {
    let Some(Value::Integer(free)) = world.host_value(slot, "memory.free") else {
        return Ok(());
    };
    let free = free.saturating_add(memory).max(0);
    measured(world, slot, "memory.free", Value::Integer(free))
}

fn measured(
    world: &mut Inventory,
    slot: u32,
    column: &str,
    value: Value,
) -> Result<(), InventoryError> {
    match world.host(slot).map(|host| host.id.clone()) {
        Some(host) => world.set_host_value(&host, column, Some(value)),
        None => Ok(()),
    }
}
