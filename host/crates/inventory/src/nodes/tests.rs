use std::sync::Arc;

use crate::nested::{NUMA_NODES, PROMISED_NODE_PAGES};
use crate::{Inventory, Terms};
use placewright_document::InventoryChanges;
use placewright_model::schema::Schema;
use placewright_model::{Facts, Vm};

const GIB: i64 = 1 << 30;

/// A host of two nodes of 32 GiB, with four pages of 1 GiB and eight of 2 MiB on each.
fn cluster() -> Inventory {
    let mut inventory = Inventory::new("c", Arc::new(Schema::default()));
    change(
        &mut inventory,
        r#"{"attributes": {"hosts": {"numa-huge-pages":
            {"table": {"node": "integer", "size": "integer", "free": "integer"}}}},
        "hosts": [{"id": "h", "memory.total": "64 GiB", "numa-nodes": [
            {"index": 0, "memory": {"total": "32 GiB", "free": "20 GiB"}},
            {"index": 1, "memory": {"total": "32 GiB", "free": "20 GiB"}}]}]}"#,
    );
    report(&mut inventory, [4, 4]);
    for table in [NUMA_NODES, PROMISED_NODE_PAGES] {
        inventory.ensure_nested(table).unwrap();
    }
    inventory.advance(1000);
    inventory
}

fn change(inventory: &mut Inventory, text: &str) {
    let changes = InventoryChanges::read(text, "c.json", inventory.schema());
    inventory.change(changes.unwrap()).unwrap();
}

/// So many pages of 1 GiB are measured to be free on the nodes.
fn report(inventory: &mut Inventory, free: [i64; 2]) {
    let row = |node: usize, size: i64, free: i64| {
        format!(r#"{{"node": {node}, "size": {size}, "free": {free}}}"#)
    };
    let rows = [
        row(0, GIB, free[0]),
        row(1, GIB, free[1]),
        row(0, 2 << 20, 8),
        row(1, 2 << 20, 8),
    ];
    let rows = rows.join(", ");
    let text = format!(r#"{{"hosts": [{{"id": "h", "attribute.numa-huge-pages": [{rows}]}}]}}"#);
    change(inventory, &text);
}

/// Pages of 1 GiB, and virtual nodes of so many GiB that may be put on these nodes of the host.
fn paged(id: &str, pages: i64, nodes: &[(i64, &[i64])]) -> Vm {
    let mut vm = Vm::new(id).with("memory", 100 * GIB);
    let row = Facts::new().with("size", GIB).with("count", pages);
    vm.facts.push_row("huge-pages", row);
    for (index, (gib, allowed)) in (0_i64..).zip(nodes) {
        let mut node = Facts::new().with("index", index).with("memory", gib * GIB);
        for number in *allowed {
            node.push_row("host-nodes", Facts::new().with("index", *number));
        }
        vm.facts.push_row(NUMA_NODES, node);
    }
    vm
}

fn reserve(inventory: &mut Inventory, vm: Vm) {
    inventory.reserve_vm(Arc::new(vm), "h", None).unwrap();
}

/// Node, size in MiB, and pages that are promised.
fn promised(inventory: &mut Inventory) -> Vec<[i64; 3]> {
    let index = inventory.ensure_nested(PROMISED_NODE_PAGES).unwrap();
    let nested = inventory.nested(index);
    let columns =
        ["node", "size", "pending"].map(|name| nested.column(nested.column_index(name).unwrap()));
    let rows = nested.span(0);
    let row = |row| columns.map(|column| column.integer(row).unwrap());
    rows.map(row)
        .map(|[node, size, count]| [node, size >> 20, count])
        .collect()
}

/// GiB of the nodes that are promised to running VMs, to pending ones, and free as measured.
fn memory(inventory: &mut Inventory) -> Vec<[i64; 3]> {
    let index = inventory.ensure_nested(NUMA_NODES).unwrap();
    let nested = inventory.nested(index);
    let columns = ["memory.promised", "memory.pending", "memory.free"]
        .map(|name| nested.column(nested.column_index(name).unwrap()));
    let rows = nested.span(0);
    rows.map(|row| columns.map(|column| column.integer(row).unwrap() / GIB))
        .collect()
}

#[test]
fn pages_of_a_node_are_promised_until_they_are_measured() {
    let mut inventory = cluster();
    reserve(&mut inventory, paged("a", 3, &[(3, &[0])]));
    assert_eq!(promised(&mut inventory), [[0, 1024, 3]]);
    let pending = inventory.version();
    inventory.confirm_vm("a").unwrap();
    assert_eq!(promised(&mut inventory), [[0, 1024, 3]]);
    // A measurement of memory says nothing of pages.
    inventory.advance(1010);
    change(
        &mut inventory,
        r#"{"statistics": [{"id": "h", "memory.free": "1 GiB"}]}"#,
    );
    assert_eq!(promised(&mut inventory), [[0, 1024, 3]]);
    let running = inventory.version();
    report(&mut inventory, [1, 4]);
    assert_eq!(promised(&mut inventory), [] as [[i64; 3]; 0]);
    for version in [pending, running] {
        let mut past = inventory.at_version(version).unwrap();
        assert_eq!(promised(&mut past), [[0, 1024, 3]]);
    }
    inventory.remove_vm("a").unwrap();
    reserve(&mut inventory, paged("b", 2, &[(2, &[1])]));
    inventory.cancel_vm("b").unwrap();
    assert_eq!(promised(&mut inventory), [] as [[i64; 3]; 0]);
}

#[test]
fn who_grows_is_promised_what_it_does_not_hold() {
    let mut inventory = cluster();
    inventory.run_vm(paged("a", 2, &[(2, &[0])]), "h").unwrap();
    assert_eq!(promised(&mut inventory), [] as [[i64; 3]; 0]);
    let again = Arc::new(paged("a", 3, &[(3, &[0])]));
    inventory.reserve_in_place(again, Terms::default()).unwrap();
    assert_eq!(promised(&mut inventory), [[0, 1024, 1]]);
    inventory.confirm_vm("a").unwrap();
    assert_eq!(promised(&mut inventory), [[0, 1024, 1]]);
    report(&mut inventory, [1, 4]);
    assert_eq!(promised(&mut inventory), [] as [[i64; 3]; 0]);
}

#[test]
fn a_virtual_node_that_grows_may_have_to_be_on_another_node_than_before() {
    let mut inventory = cluster();
    inventory
        .run_vm(paged("a", 0, &[(24, &[0, 1])]), "h")
        .unwrap();
    assert_eq!(memory(&mut inventory), [[24, 0, 20], [0, 0, 20]]);
    let again = |gib: i64| Arc::new(paged("a", 0, &[(gib, &[0, 1])]));
    let terms = Terms::default();
    inventory.reserve_in_place(again(28), terms).unwrap();
    // Until then it may be on either: one has what it holds, the other all that it asks for.
    assert_eq!(memory(&mut inventory), [[0, 28, 20], [24, 0, 20]]);
    inventory.cancel_vm("a").unwrap();
    inventory.reserve_in_place(again(20), terms).unwrap();
    assert_eq!(memory(&mut inventory), [[24, 0, 20], [0, 0, 20]]);
}

#[test]
fn pages_count_on_nodes_where_there_are_enough_for_all() {
    let mut inventory = cluster();
    report(&mut inventory, [4, 3]);
    reserve(&mut inventory, paged("a", 3, &[(3, &[0, 1])]));
    assert_eq!(promised(&mut inventory), [[0, 1024, 3]]);
    reserve(&mut inventory, paged("b", 4, &[(4, &[0])]));
    assert_eq!(promised(&mut inventory), [[0, 1024, 4], [1, 1024, 3]]);
}

#[test]
fn memory_that_is_in_no_page_counts_as_memory_of_the_node() {
    let mut inventory = cluster();
    reserve(&mut inventory, paged("a", 1, &[(20, &[0])]));
    assert_eq!(promised(&mut inventory), [[0, 1024, 1]]);
    assert_eq!(memory(&mut inventory), [[0, 19, 20], [0, 0, 20]]);
    inventory.confirm_vm("a").unwrap();
    assert_eq!(memory(&mut inventory), [[19, 0, 1], [0, 0, 20]]);
    // The first node has the pages, as far as they go.
    reserve(&mut inventory, paged("b", 3, &[(2, &[0]), (2, &[1])]));
    let both = [[0, 1024, 3], [1, 1024, 1]];
    assert_eq!(promised(&mut inventory), both);
    assert_eq!(memory(&mut inventory), [[19, 0, 1], [0, 1, 20]]);
}

#[test]
fn what_was_measured_of_a_vm_that_is_vacated_is_free_on_its_node() {
    let mut inventory = cluster();
    let vm = paged("a", 2, &[(2, &[1])]);
    inventory.run_vm(vm, "h").unwrap();
    inventory.vacate("a").unwrap();
    let facts = &inventory.host(0).unwrap().facts;
    let rows = facts.rows("attribute.numa-huge-pages").iter();
    let free: Vec<_> = rows.map(|row| row.integer("free")).collect();
    assert_eq!(free, [Some(4), Some(6), Some(8), Some(8)]);
}
