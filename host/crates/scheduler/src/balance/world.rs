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
    let was_measured = entry.has_measured_load();
    // Measured free memory does not contain huge pages.
    let memory = entry.measured_memory();
    let Some(host) = world.host(to).map(|host| host.id.clone()) else {
        return Err(InventoryError::UnknownHost("".into()));
    };
    let used = moved.facts.number("memory.usage");
    let used = used.map_or(0, |share| (share * memory as f64) as i64);
    world.run_vm((*moved).clone(), &host)?;
    let load = shape.load.filter(|_| !shape.exclusive);
    // What no measurement showed of it where it ran, the cluster counted besides, and no longer
    // does.
    if let Some(load) = load.filter(|_| was_measured) {
        add_load(world, from, -load)?;
    }
    // What it has used is free again.
    if from != to {
        add_free_memory(world, from, used)?;
    }
    // Where it goes its load is added to what was measured, whether its place was reserved or not. Of
    // memory nothing is estimated: all that it was promised is in no measurement yet.
    world.count_load_as_measured(vm, from != to);
    if let Some(load) = load {
        add_load(world, to, load)?;
    }
    Ok(())
}

/// Add so many millicores to the load that a host measured.
fn add_load(world: &mut Inventory, slot: u32, load: i64) -> Result<(), InventoryError> {
    let Some(host) = world.host(slot) else {
        return Ok(());
    };
    let (Some(usage), Some(Value::Integer(total @ 1..))) = (
        host.facts.number("cpu.usage"),
        world.host_value(slot, "cpu.total"),
    ) else {
        return Ok(());
    };
    let usage = (usage + load as f64 / total as f64).clamp(0.0, 1.0);
    let host = host.id.clone();
    world.estimate_host_value(&host, "cpu.usage", Value::Number(usage))
}

/// Add so many bytes to the free memory that a host measured.
fn add_free_memory(world: &mut Inventory, slot: u32, memory: i64) -> Result<(), InventoryError> {
    let Some(host) = world.host(slot) else {
        return Ok(());
    };
    let Some(free) = host.facts.integer("memory.free") else {
        return Ok(());
    };
    let (host, free) = (host.id.clone(), free.saturating_add(memory).max(0));
    world.estimate_host_value(&host, "memory.free", Value::Integer(free))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use placewright_model::schema::Schema;
    use placewright_model::{Facts, Host, Vm};

    use super::*;

    const GIB: i64 = 1 << 30;

    /// Three hosts of which 6 GiB are measured to be free and half of the CPUs in use; the first
    /// has a VM.
    fn world() -> Inventory {
        let mut world = Inventory::new("c", Arc::new(Schema::default()));
        for id in ["a", "b", "c"] {
            let host = Host::new(id)
                .with("cpu.total", 10_000_i64)
                .with("cpu.usage", 0.5)
                .with("memory.total", 16 * GIB)
                .with("memory.free", 6 * GIB);
            world.add_host(host).unwrap();
        }
        let vm = Vm::new("v")
            .with("cpu", 2000_i64)
            .with("cpu.usage", 0.5)
            .with("memory", 3 * GIB)
            .with("memory.usage", 0.5);
        world.run_vm(vm, "a").unwrap();
        world
    }

    /// What counts as free memory of the hosts, in tenths of GiB, and as use of their CPUs, in percent.
    fn measured(world: &Inventory) -> [[i64; 2]; 3] {
        [0, 1, 2].map(|slot| {
            let Some(Value::Integer(free)) = world.host_value(slot, "memory.free") else {
                panic!("no free memory")
            };
            let Some(Value::Number(usage)) = world.host_value(slot, "cpu.usage") else {
                panic!("no use of CPUs")
            };
            [free * 10 / GIB, (usage * 100.0).round() as i64]
        })
    }

    #[test]
    fn what_a_vm_takes_counts_once_where_it_goes_and_what_it_used_is_free_where_it_was() {
        for is_reserved in [false, true] {
            let mut world = world();
            let mut go = |host: &str| {
                if is_reserved {
                    let vm = world.running("v").unwrap().vm.clone();
                    world.reserve_vm(vm, host, None).unwrap();
                }
                let slot = world.slot(host).unwrap();
                carry(&mut world, "v", slot).unwrap();
                measured(&world)
            };
            assert_eq!(go("b"), [[75, 40], [30, 60], [60, 50]], "{is_reserved}");
            assert_eq!(go("c"), [[75, 40], [60, 50], [30, 60]], "{is_reserved}");
        }
    }

    #[test]
    fn huge_pages_and_memory_of_nodes_are_taken_where_a_vm_goes() {
        for is_reserved in [false, true] {
            let row = |columns: &[(&str, i64)]| {
                let columns = columns.iter();
                columns.fold(Facts::new(), |row, (name, value)| row.with(*name, *value))
            };
            let mut world = Inventory::new("c", Arc::new(Schema::default()));
            for id in ["a", "b"] {
                let mut host = Host::new(id)
                    .with("memory.total", 16 * GIB)
                    .with("memory.free", 6 * GIB);
                let pages = row(&[("size", GIB), ("free", 4)]);
                host.facts.push_row("huge-pages", pages);
                let memory = [("memory.total", 8 * GIB), ("memory.free", 5 * GIB)];
                let node = memory.iter().chain(&[("index", 0)]).copied();
                host.facts
                    .push_row("numa-nodes", row(&node.collect::<Vec<_>>()));
                world.add_host(host).unwrap();
            }
            let tables = ["huge-pages", "numa-nodes"];
            let tables = tables.map(|table| world.ensure_nested(table).unwrap());
            let mut vm = Vm::new("v").with("memory", 3 * GIB);
            let pages = row(&[("size", GIB), ("count", 2)]);
            vm.facts.push_row("huge-pages", pages);
            let node = row(&[("index", 0), ("memory", 3 * GIB)]);
            let node = node.with_row("host-nodes", row(&[("index", 0)]));
            vm.facts.push_row("numa-nodes", node);
            world.run_vm(vm.clone(), "a").unwrap();
            if is_reserved {
                world.reserve_vm(Arc::new(vm), "b", None).unwrap();
            }
            carry(&mut world, "v", 1).unwrap();
            let taken = [("pending", 1), ("memory.free", GIB)]
                .into_iter()
                .zip(tables);
            let taken = taken.map(|((column, one), table)| {
                let nested = world.nested(table);
                let row = nested.span(1).start;
                let column = nested.column_index(column).unwrap();
                nested.column(column).integer(row).unwrap() / one
            });
            assert_eq!(taken.collect::<Vec<_>>(), [2, 4], "{is_reserved}");
            // What is in pages is none of the memory that is measured to be free.
            let memory = world.host_value(1, "memory.free");
            assert_eq!(memory, Some(Value::Integer(5 * GIB)), "{is_reserved}");
        }
    }

    #[test]
    fn what_no_measurement_shows_of_others_counts_still_and_of_the_vm_no_longer() {
        let mut world = world();
        for id in ["new", "other"] {
            let vm = Vm::new(id).with("memory", GIB);
            world.reserve_vm(Arc::new(vm), "b", None).unwrap();
            world.confirm_vm(id).unwrap();
        }
        assert_eq!(measured(&world)[1][0], 40);
        carry(&mut world, "v", 1).unwrap();
        assert_eq!(measured(&world)[1][0], 10);
        carry(&mut world, "new", 2).unwrap();
        assert_eq!(measured(&world).map(|[free, _]| free), [75, 20, 50]);
        world.remove_vm("other").unwrap();
        assert_eq!(measured(&world)[1][0], 30);
    }
}
