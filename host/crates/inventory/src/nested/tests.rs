use std::sync::Arc;

use super::*;
use placewright_model::schema::Schema;
use placewright_model::{Entity, Host, RowChange, Vm, Write};

fn amount(name: &str, total: i64) -> Facts {
    Facts::new().with("name", name).with("total", total)
}

fn host(id: &str, amounts: &[(&str, i64)]) -> Host {
    let mut host = Host::new(id);
    for (name, total) in amounts {
        host.facts.push_row("amounts", amount(name, *total));
    }
    host
}

/// Name, total, used and pending of each amount of a host.
fn amounts(inventory: &Inventory, index: usize, slot: u32) -> Vec<(String, i64, i64, i64)> {
    let nested = inventory.nested(index);
    let value = |column: &str, row: usize| {
        let column = nested.column_index(column).unwrap();
        nested.column(column).integer(row).unwrap()
    };
    let rows = nested.span(slot);
    rows.map(|row| {
        let name = inventory.texts().text(value("name", row)).unwrap();
        (
            name.to_string(),
            value("total", row),
            value("used", row),
            value("pending", row),
        )
    })
    .collect()
}

#[test]
fn rows_below_hosts_follow_every_change_and_its_undoing() {
    let mut inventory = Inventory::new("test", Arc::new(Schema::default()));
    inventory
        .add_host(host("a", &[("cpu", 4), ("gpu", 1)]))
        .unwrap();
    let index = inventory.ensure_nested("amounts").unwrap();
    inventory.add_host(host("b", &[("cpu", 8)])).unwrap();
    assert_eq!(inventory.nested(index).packed_rows(), Some(3));
    let before = inventory.version();
    let mut vm = Vm::new("vm");
    let need = Facts::new().with("name", "cpu").with("need", 3);
    vm.facts.push_row("amounts", need);
    inventory.run_vm(vm, "b").unwrap();
    assert_eq!(amounts(&inventory, index, 1), [("cpu".into(), 8, 3, 0)]);
    inventory
        .set_host_rows("a", "amounts", vec![amount("gpu", 2)])
        .unwrap();
    assert_eq!(amounts(&inventory, index, 0), [("gpu".into(), 2, 0, 0)]);
    assert_eq!(inventory.nested(index).packed_rows(), None);
    let past = inventory.at_version(before).unwrap();
    assert_eq!(
        amounts(&past, index, 0),
        [("cpu".into(), 4, 0, 0), ("gpu".into(), 1, 0, 0)]
    );
    assert_eq!(amounts(&past, index, 1), [("cpu".into(), 8, 0, 0)]);
    inventory.remove_host("a").unwrap();
    assert_eq!(amounts(&inventory, index, 0), []);
}

/// A cluster of one host with 100 free pages of each of two sizes. The host's document gives these
/// numbers of them as pending.
fn with_pages(pending: [Option<i64>; 2]) -> Inventory {
    let mut inventory = Inventory::new("test", Arc::new(Schema::default()));
    let mut host = Host::new("a");
    for (size, pending) in [2_i64, 1024].into_iter().zip(pending) {
        let mut pages = Facts::new().with("size", size).with("free", 100_i64);
        if let Some(pending) = pending {
            pages.set("pending", pending);
        }
        host.facts.push_row("huge-pages", pages);
    }
    inventory.add_host(host).unwrap();
    inventory
}

/// A VM with so much memory, and with pages: the size of one, and how many.
fn paged(id: &str, memory: i64, pages: &[(i64, i64)]) -> Vm {
    let mut vm = Vm::new(id).with("memory", memory);
    for (size, count) in pages {
        let pages = Facts::new().with("size", *size).with("count", *count);
        vm.facts.push_row("huge-pages", pages);
    }
    vm
}

/// Pending huge pages of the host in slot 0, row by row.
fn pending_pages(inventory: &Inventory, index: usize) -> Vec<i64> {
    let nested = inventory.nested(index);
    let pending = nested.column(nested.column_index("pending").unwrap());
    let rows = nested.span(0);
    rows.map(|row| pending.integer(row).unwrap()).collect()
}

#[test]
fn huge_pages_of_pending_vms_are_added_to_those_that_were_given() {
    let mut inventory = with_pages([Some(5), None]);
    let vm = |id: &str, pages: &[(i64, i64)]| Arc::new(paged(id, 0, pages));
    // A place that is reserved before anybody asks counts all the same.
    inventory
        .reserve_vm(vm("first", &[(2, 10)]), "a", None)
        .unwrap();
    let index = inventory.ensure_nested("huge-pages").unwrap();
    assert_eq!(pending_pages(&inventory, index), [15, 0]);
    let before = inventory.version();
    let second = vm("second", &[(1024, 3), (4, 1)]);
    inventory.reserve_vm(second, "a", None).unwrap();
    assert_eq!(pending_pages(&inventory, index), [15, 3]);
    let past = inventory.at_version(before).unwrap();
    assert_eq!(pending_pages(&past, index), [15, 0]);
    inventory.confirm_vm("first").unwrap();
    assert_eq!(
        pending_pages(&inventory, index),
        [15, 3],
        "no measurement shows them yet"
    );
    inventory.cancel_vm("second").unwrap();
    assert_eq!(pending_pages(&inventory, index), [15, 0]);
    inventory.remove_vm("first").unwrap();
    assert_eq!(pending_pages(&inventory, index), [5, 0]);
}

/// Memory of pending VMs that is to be in huge pages of the host in slot 0, row by row.
fn memory_in_pages(inventory: &Inventory, index: usize) -> Vec<i64> {
    let nested = inventory.nested(index);
    let memory = nested.column(nested.column_index("memory.pending").unwrap());
    let rows = nested.span(0);
    rows.map(|row| memory.integer(row).unwrap()).collect()
}

#[test]
fn memory_in_huge_pages_is_that_of_pending_vms_and_of_no_vm_that_runs() {
    let mut inventory = with_pages([Some(7); 2]);
    let index = inventory.ensure_nested("huge-pages").unwrap();
    let vm = |id: &str, memory: i64, pages: &[(i64, i64)]| Arc::new(paged(id, memory, pages));
    let mut reserve = |vm| inventory.reserve_vm(vm, "a", None).unwrap();
    reserve(vm("ordinary", 5000, &[]));
    reserve(vm("both", 3000, &[(2, 10), (1024, 2)]));
    reserve(vm("less", 7, &[(2, 5), (4, 1)]));
    assert_eq!(pending_pages(&inventory, index), [7 + 15, 7 + 2]);
    assert_eq!(memory_in_pages(&inventory, index), [20 + 7, 2048]);
    inventory.confirm_vm("both").unwrap();
    assert_eq!(pending_pages(&inventory, index), [7 + 15, 7 + 2]);
    assert_eq!(memory_in_pages(&inventory, index), [7, 0]);
    inventory.cancel_vm("less").unwrap();
    assert_eq!(memory_in_pages(&inventory, index), [0, 0]);
    // The VM grows by 1,100 bytes, of which 1,024 are one more page. Pages that replace ordinary
    // memory are no growth.
    let grown = vm("both", 4100, &[(2, 10), (1024, 3)]);
    inventory.reserve_vm(grown, "a", None).unwrap();
    assert_eq!(memory_in_pages(&inventory, index), [0, 1024]);
    inventory.cancel_vm("both").unwrap();
    let instead = vm("both", 3000, &[(2, 200), (1024, 2)]);
    inventory.reserve_vm(instead, "a", None).unwrap();
    assert_eq!(memory_in_pages(&inventory, index), [0, 0]);
}

#[test]
fn ordinary_memory_that_replaces_huge_pages_is_none_of_the_memory_in_pages() {
    let mut inventory = with_pages([None; 2]);
    let index = inventory.ensure_nested("huge-pages").unwrap();
    let running = paged("v", 3000, &[(2, 10), (1024, 2)]);
    inventory.run_vm(running, "a").unwrap();
    let mut asks = |memory, pages: &[(i64, i64)]| {
        let again = Arc::new(paged("v", memory, pages));
        inventory.reserve_vm(again, "a", None).unwrap();
        let in_pages = memory_in_pages(&inventory, index);
        assert_eq!(pending_pages(&inventory, index), [0, 0]);
        inventory.cancel_vm("v").unwrap();
        assert_eq!(memory_in_pages(&inventory, index), [0, 0]);
        in_pages
    };
    // It has 932 of ordinary memory, and no more of memory is pending.
    assert_eq!(asks(3000, &[(2, 10), (1024, 1)]), [0, -1024]);
    assert_eq!(asks(3000, &[]), [-20, -2048]);
    // Of 2,048 in pages, 1,024 become ordinary memory and the VM has 1,024 less.
    assert_eq!(asks(1976, &[(2, 10)]), [0, -1024]);
    assert_eq!(asks(932, &[]), [0, 0]);
    // It grows by 500 besides.
    assert_eq!(asks(3500, &[(2, 10), (1024, 1)]), [0, -1024]);
}

/// What is free of each GPU of the host in slot 0.
fn free_gpus(inventory: &Inventory, index: usize) -> Vec<i64> {
    let nested = inventory.nested(index);
    let free = nested.column(nested.column_index("free").unwrap());
    let rows = nested.span(0);
    rows.map(|row| free.integer(row).unwrap()).collect()
}

#[test]
fn gpus_are_taken_with_a_place_and_free_again_without_it() {
    let mut inventory = Inventory::new("test", Arc::new(Schema::default()));
    let mut host = Host::new("a");
    for (index, taken) in [(0i64, None), (1, Some(100i64))] {
        let mut gpu = Facts::new().with("index", index);
        if let Some(taken) = taken {
            gpu.set("taken", taken);
        }
        host.facts.push_row("gpus", gpu);
    }
    inventory.add_host(host).unwrap();
    let index = inventory.ensure_nested("gpus").unwrap();
    assert_eq!(free_gpus(&inventory, index), [1000, 900]);
    let give = |inventory: &mut Inventory, vm: &str, gpus: &[(i64, i64)]| {
        inventory
            .reserve_vm(Arc::new(Vm::new(vm)), "a", None)
            .unwrap();
        let write = |(index, share): &(i64, i64)| {
            let row = Facts::new().with("index", *index).with("share", *share);
            Write::row(Entity::Placement(vm.into()), "gpus", RowChange::Append(row))
        };
        let writes: Vec<Write> = gpus.iter().map(write).collect();
        inventory.apply(&writes).unwrap();
    };
    give(&mut inventory, "part", &[(1, 250)]);
    let one_placed = inventory.version();
    // The host has no third GPU: the VM's share of one changes no free amount.
    give(&mut inventory, "two", &[(0, 1000), (1, 600), (2, 1000)]);
    assert_eq!(free_gpus(&inventory, index), [0, 50]);
    inventory.confirm_vm("two").unwrap();
    assert_eq!(free_gpus(&inventory, index), [0, 50]);
    let past = inventory.at_version(one_placed).unwrap();
    assert_eq!(free_gpus(&past, index), [1000, 650]);
    inventory.remove_vm("two").unwrap();
    assert_eq!(free_gpus(&inventory, index), [1000, 650]);
    inventory.cancel_vm("part").unwrap();
    assert_eq!(free_gpus(&inventory, index), [1000, 900]);
    let mut late = inventory.at_version(one_placed).unwrap();
    late.rebuild_nested(index);
    assert_eq!(free_gpus(&late, index), [1000, 650]);
}

/// Memory promised and pending on each node of the host in slot 0.
fn promised(inventory: &mut Inventory) -> Vec<[i64; 2]> {
    let index = inventory.ensure_nested(NUMA_NODES).unwrap();
    let nested = inventory.nested(index);
    let columns = ["memory.promised", "memory.pending"]
        .map(|name| nested.column(nested.column_index(name).unwrap()));
    let rows = nested.span(0);
    rows.map(|row| columns.map(|column| column.integer(row).unwrap()))
        .collect()
}

fn divided(id: &str, nodes: &[(i64, &[i64])]) -> Vm {
    let mut vm = Vm::new(id);
    for (index, (memory, allowed)) in (0_i64..).zip(nodes) {
        let mut node = Facts::new().with("index", index).with("memory", *memory);
        for number in *allowed {
            node.push_row("host-nodes", Facts::new().with("index", *number));
        }
        vm.facts.push_row(NUMA_NODES, node);
    }
    vm
}

fn with_nodes(free: Option<[i64; 2]>) -> Inventory {
    let mut inventory = Inventory::new("test", Arc::new(Schema::default()));
    let mut host = Host::new("a");
    for index in 0..2_i64 {
        let mut node = Facts::new()
            .with("index", index)
            .with("memory.total", 32_i64);
        if let Some(free) = free {
            node.set("memory.free", free[usize::try_from(index).unwrap()]);
        }
        host.facts.push_row(NUMA_NODES, node);
    }
    inventory.add_host(host).unwrap();
    inventory
}

#[test]
fn virtual_nodes_count_where_all_of_them_can_be() {
    let mut inventory = with_nodes(None);
    let vm = divided("a", &[(20, &[0, 1]), (20, &[0])]);
    inventory.reserve_vm(Arc::new(vm), "a", None).unwrap();
    assert_eq!(promised(&mut inventory), [[0, 20], [0, 20]]);
    inventory.confirm_vm("a").unwrap();
    assert_eq!(promised(&mut inventory), [[20, 0], [20, 0]]);
    // The growth of a virtual node goes where the memory of all virtual nodes fits.
    let mut inventory = with_nodes(None);
    inventory.run_vm(divided("a", &[(10, &[0])]), "a").unwrap();
    inventory.run_vm(divided("b", &[(20, &[0])]), "a").unwrap();
    let again = Arc::new(divided("a", &[(30, &[0, 1])]));
    let terms = crate::Terms::default();
    inventory.reserve_in_place(again, terms).unwrap();
    assert_eq!(promised(&mut inventory), [[30, 0], [0, 30]]);
    // Who comes is where memory is measured to be free.
    let mut inventory = with_nodes(Some([5, 30]));
    let vm = Arc::new(divided("a", &[(20, &[0, 1])]));
    inventory.reserve_vm(vm, "a", None).unwrap();
    assert_eq!(promised(&mut inventory), [[0, 0], [0, 20]]);
}

#[test]
fn gpus_without_numbers_count_where_all_of_them_can_be() {
    let mut inventory = Inventory::new("test", Arc::new(Schema::default()));
    let mut host = Host::new("a");
    for index in 0..2_i64 {
        host.facts.push_row(GPUS, Facts::new().with("index", index));
    }
    inventory.add_host(host).unwrap();
    let index = inventory.ensure_nested(GPUS).unwrap();
    for (id, share) in [("a", 300_i64), ("b", 600), ("d", 700), ("e", 400)] {
        let vm = Vm::new(id).with("gpu.share", share);
        inventory.run_vm(vm, "a").unwrap();
    }
    assert_eq!(free_gpus(&inventory, index), [0, 0]);
    // Another share of a GPU that it has is the difference, whatever its number.
    inventory.remove_vm("e").unwrap();
    let again = Arc::new(Vm::new("b").with("gpu.share", 900_i64));
    let terms = crate::Terms::default();
    inventory.reserve_in_place(again, terms).unwrap();
    let free = free_gpus(&inventory, index);
    assert_eq!(free.iter().sum::<i64>(), 100);
}
