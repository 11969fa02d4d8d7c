//! What VMs take counts until a measurement shows it.

use std::collections::BTreeSet;

use super::*;
use crate::Nested;
use placewright_document::InventoryChanges;
use placewright_model::schema::Schema;
use placewright_model::{Host, Value, Vm};

const GIB: i64 = 1 << 30;

fn cluster() -> Inventory {
    let mut inventory = Inventory::new("c", Arc::new(Schema::default()));
    let mut host = Host::new("h").with("memory.total", 64 * GIB);
    let pages = Facts::new().with("size", 2_i64 << 20).with("free", 100_i64);
    host.facts.push_row(HUGE_PAGES, pages);
    let node = Facts::new()
        .with("index", 0_i64)
        .with("memory.total", 32 * GIB)
        .with("memory.free", 10 * GIB);
    host.facts.push_row(NUMA_NODES, node);
    inventory.add_host(host).unwrap();
    inventory.advance(1000);
    report(&mut inventory, r#""memory.free": "10 GiB""#);
    for table in [HUGE_PAGES, NUMA_NODES] {
        inventory.ensure_nested(table).unwrap();
    }
    inventory
}

fn report(inventory: &mut Inventory, text: &str) {
    let text = format!(r#"{{"statistics": [{{"id": "h", {text}}}]}}"#);
    let changes = InventoryChanges::read(&text, "c.json", inventory.schema()).unwrap();
    inventory.change(changes).unwrap();
}

fn free(inventory: &Inventory) -> i64 {
    match inventory.host_value(0, MEMORY_FREE) {
        Some(Value::Integer(bytes)) => bytes / GIB,
        other => panic!("{other:?}"),
    }
}

fn in_table(inventory: &Inventory, table: usize, column: &str) -> i64 {
    let nested: &Nested = inventory.nested(table);
    let column = nested.column_index(column).unwrap();
    let row = nested.span(0).start;
    nested.column(column).integer(row).unwrap()
}

#[test]
fn swap_is_less_by_what_vms_not_measured_yet_take_beyond_the_free_memory() {
    let mut inventory = cluster();
    report(
        &mut inventory,
        r#""memory.free": "3 GiB", "swap.free": "2 GiB""#,
    );
    let columns = [
        "memory.free",
        "swap.free",
        "memory.unmeasured",
        "vms.unmeasured",
    ];
    let seen = |inventory: &Inventory| {
        columns.map(|column| match inventory.host_value(0, column) {
            Some(Value::Integer(value)) if column != "vms.unmeasured" => value / GIB,
            Some(Value::Integer(value)) => value,
            other => panic!("{other:?}"),
        })
    };
    assert_eq!(seen(&inventory), [3, 2, 0, 0]);
    for id in ["v", "w"] {
        let vm = Vm::new(id).with("memory", 2 * GIB);
        inventory.reserve_vm(Arc::new(vm), "h", None).unwrap();
        inventory.confirm_vm(id).unwrap();
    }
    assert_eq!(seen(&inventory), [0, 1, 4, 2]);
    let transaction = inventory.begin();
    inventory.remove_vm("v").unwrap();
    assert_eq!(seen(&inventory), [1, 2, 2, 1]);
    inventory.roll_back(transaction);
    assert_eq!(seen(&inventory), [0, 1, 4, 2]);
    // Swap is measured, and memory is not.
    report(&mut inventory, r#""swap.free": "1 GiB""#);
    assert_eq!(seen(&inventory), [0, 0, 4, 2]);
    inventory.advance(1020);
    report(
        &mut inventory,
        r#""memory.free": "1 GiB", "swap.free": "1 GiB""#,
    );
    assert_eq!(seen(&inventory), [1, 1, 0, 0]);
}

#[test]
fn a_vm_that_is_reported_with_other_memory_takes_that_much_less_what_is_measured() {
    let mut inventory = cluster();
    confirm(&mut inventory, Vm::new("v").with("memory", 5 * GIB));
    assert_eq!(free(&inventory), 5);
    let run = |inventory: &mut Inventory, gib: i64| {
        let vm = Vm::new("v").with("memory", gib * GIB);
        inventory.run_vm(vm, "h").unwrap();
    };
    run(&mut inventory, 1);
    assert_eq!(free(&inventory), 9);
    inventory.advance(1010);
    report(&mut inventory, r#""memory.free": "9 GiB""#);
    assert_eq!(free(&inventory), 9);
    run(&mut inventory, 4);
    assert_eq!(free(&inventory), 6);
    run(&mut inventory, 1);
    assert_eq!(free(&inventory), 9);
}

fn confirm(inventory: &mut Inventory, vm: Vm) {
    let id = vm.id.clone();
    inventory.reserve_vm(Arc::new(vm), "h", None).unwrap();
    inventory.confirm_vm(&id).unwrap();
}

fn vm(gib: i64) -> Vm {
    Vm::new("v").with("memory", gib * GIB)
}

#[test]
fn who_is_put_where_a_place_was_reserved_is_unmeasured_until_another_value_is_given() {
    let mut old = cluster();
    old.reserve_vm(Arc::new(vm(4)), "h", None).unwrap();
    let put = |old: &Inventory, free: &str| {
        let mut put = cluster();
        report(&mut put, &format!("\"memory.free\": \"{free}\""));
        put.run_vm(vm(4), "h").unwrap();
        put.stays_as_in(old);
        put.unmeasured_as_in(old);
        put
    };
    let same = put(&old, "10 GiB");
    assert_eq!(free(&same), 6, "it has only just come to run");
    assert_eq!(free(&put(&same, "10 GiB")), 6, "that is nothing new");
    assert_eq!(free(&put(&same, "7 GiB")), 7, "that shows it");
    // Nothing was reserved for it: who put it there knows of it.
    assert_eq!(free(&put(&cluster(), "10 GiB")), 10);
    // One that is put with more has grown.
    let mut grown = cluster();
    grown.run_vm(vm(7), "h").unwrap();
    let mut before = cluster();
    before.run_vm(vm(4), "h").unwrap();
    grown.unmeasured_as_in(&before);
    assert_eq!(free(&grown), 7);
}

#[test]
fn a_vm_in_huge_pages_alone_is_one_that_memory_does_not_show() {
    let unmeasured = |inventory: &Inventory| inventory.host_value(0, "vms.unmeasured");
    let mut inventory = cluster();
    let mut in_pages = Vm::new("v").with("memory", 64_i64 << 20);
    let pages = Facts::new().with("size", 2_i64 << 20).with("count", 32_i64);
    in_pages.facts.push_row(HUGE_PAGES, pages);
    confirm(&mut inventory, in_pages);
    assert_eq!(unmeasured(&inventory), Some(Value::Integer(1)));
    assert_eq!(free(&inventory), 10);
    inventory.advance(1010);
    report(
        &mut inventory,
        r#""memory.free": "9 GiB", "measured": 1010"#,
    );
    assert_eq!(unmeasured(&inventory), Some(Value::Integer(0)));
}

#[test]
fn what_came_since_a_measurement_counts_until_a_later_one() {
    let mut inventory = cluster();
    confirm(&mut inventory, vm(4));
    assert_eq!(free(&inventory), 6);
    let before = inventory.version();
    // One of the same second may have been made before.
    report(&mut inventory, r#""memory.free": "10 GiB""#);
    assert_eq!(free(&inventory), 6);
    inventory.advance(1010);
    report(&mut inventory, r#""cpu.usage": 0.5, "measured": 1010"#);
    assert_eq!(free(&inventory), 6, "that says nothing of memory");
    report(
        &mut inventory,
        r#""memory.free": "7 GiB", "measured": 1010"#,
    );
    assert_eq!(free(&inventory), 7);
    assert_eq!(free(&inventory.at_version(before).unwrap()), 6);
    inventory.remove_vm("v").unwrap();
    assert_eq!(
        free(&inventory),
        7,
        "what has left is not free before it is measured"
    );
}

#[test]
fn who_leaves_before_any_measurement_leaves_what_was_measured() {
    let mut inventory = cluster();
    confirm(&mut inventory, vm(4));
    inventory.remove_vm("v").unwrap();
    assert_eq!(free(&inventory), 10);
    confirm(&mut inventory, vm(40));
    assert_eq!(free(&inventory), 0, "never less than none");
}

#[test]
fn growth_is_unmeasured_and_what_was_there_is_not() {
    let mut inventory = cluster();
    inventory.run_vm(vm(4), "h").unwrap();
    assert_eq!(free(&inventory), 10, "the operator knows of it");
    confirm(&mut inventory, vm(7));
    assert_eq!(free(&inventory), 7);
    // What is told of a VM leaves that as it is.
    let text = r#"{"vms": [{"id": "v", "name": "web"}]}"#;
    let changes = InventoryChanges::read(text, "c.json", inventory.schema()).unwrap();
    inventory.change(changes).unwrap();
    assert_eq!(free(&inventory), 7);
    let text = r#"{"hosts": [{"id": "h", "memory.free": "9 GiB"}]}"#;
    let changes = InventoryChanges::read(text, "c.json", inventory.schema()).unwrap();
    inventory.change(changes).unwrap();
    assert_eq!(free(&inventory), 9, "an operator says how it is");
    confirm(&mut inventory, vm(8));
    assert_eq!(free(&inventory), 8);
    let same = Some(Value::Integer(9 * GIB));
    inventory.set_host_value("h", MEMORY_FREE, same).unwrap();
    assert_eq!(
        free(&inventory),
        9,
        "and so does who embeds, with the same value"
    );
}

#[test]
fn huge_pages_and_numa_nodes_are_taken_until_they_are_measured() {
    let mut inventory = cluster();
    let (pages, nodes) = (0, 1);
    let mut paged = vm(1);
    let row = Facts::new().with("size", 2_i64 << 20).with("count", 30_i64);
    paged.facts.push_row(HUGE_PAGES, row);
    confirm(&mut inventory, paged);
    assert_eq!(in_table(&inventory, pages, "pending"), 30);
    let mut divided = vm(3);
    divided.id = "w".into();
    let mut node = Facts::new().with("index", 0_i64).with("memory", 3 * GIB);
    node.push_row("host-nodes", Facts::new().with("index", 0_i64));
    divided.facts.push_row(NUMA_NODES, node);
    confirm(&mut inventory, divided);
    assert_eq!(in_table(&inventory, nodes, "memory.free"), 7 * GIB);
    assert_eq!(in_table(&inventory, nodes, "memory.promised"), 3 * GIB);
    let saved = inventory.saved_vm("w", false).unwrap();
    inventory.remove_vm("w").unwrap();
    inventory.restore_vm(saved).unwrap();
    assert_eq!(in_table(&inventory, nodes, "memory.free"), 7 * GIB);
    inventory.advance(1010);
    let before = inventory.version();
    report(
        &mut inventory,
        r#""huge-pages": [{"size": "2 MiB", "free": 70}],
           "numa-nodes": [{"index": 0, "memory": {"total": "32 GiB", "free": "8 GiB"}}]"#,
    );
    assert_eq!(in_table(&inventory, pages, "pending"), 0);
    assert_eq!(in_table(&inventory, nodes, "memory.free"), 8 * GIB);
    assert!(inventory.take_back(before));
    assert_eq!(in_table(&inventory, pages, "pending"), 30);
}

/// A VM with so many pages of 2 MiB, so much strict memory on node 0, and so many vCPUs.
fn large(pages: i64, gib: i64, cores: i64) -> [Vm; 3] {
    let mut paged = Vm::new("p").with("memory", GIB);
    let row = Facts::new().with("size", 2_i64 << 20).with("count", pages);
    paged.facts.push_row(HUGE_PAGES, row);
    let mut divided = Vm::new("d").with("memory", gib * GIB);
    let mut node = Facts::new().with("index", 0_i64).with("memory", gib * GIB);
    node.push_row("host-nodes", Facts::new().with("index", 0_i64));
    divided.facts.push_row(NUMA_NODES, node);
    [paged, divided, Vm::new("b").with("cpu", cores * 1000)]
}

#[test]
fn growth_of_pages_nodes_and_load_is_unmeasured_and_what_was_there_is_not() {
    let mut inventory = cluster();
    let measured = r#""cpu.usage": 0.25, "huge-pages": [{"size": "2 MiB", "free": 90}],
        "numa-nodes": [{"index": 0, "memory": {"total": "32 GiB", "free": "8 GiB"}}]"#;
    report(&mut inventory, r#""cpu.usage": 0.25"#);
    for vm in large(10, 2, 1) {
        confirm(&mut inventory, vm);
    }
    inventory.advance(1010);
    report(&mut inventory, measured);
    let taken = |inventory: &Inventory| {
        [
            in_table(inventory, 0, "pending"),
            in_table(inventory, 1, "memory.free") / GIB,
            in_table(inventory, 1, "memory.promised") / GIB,
            sums(inventory)[1],
        ]
    };
    assert_eq!(taken(&inventory), [0, 8, 2, 0]);
    for vm in large(25, 5, 12) {
        confirm(&mut inventory, vm);
    }
    assert_eq!(taken(&inventory), [15, 5, 5, 11]);
    // It grows once more before anything is measured, and is restored as it was.
    for vm in large(30, 6, 14) {
        confirm(&mut inventory, vm);
    }
    assert_eq!(taken(&inventory), [20, 4, 6, 13]);
    for id in ["p", "d", "b"] {
        let saved = inventory.saved_vm(id, false).unwrap();
        inventory.remove_vm(id).unwrap();
        inventory.restore_vm(saved).unwrap();
    }
    assert_eq!(taken(&inventory), [20, 4, 6, 13]);
    let before = inventory.version();
    inventory.advance(1020);
    report(&mut inventory, measured);
    assert_eq!(taken(&inventory), [0, 8, 6, 0]);
    assert!(inventory.take_back(before));
    assert_eq!(taken(&inventory), [20, 4, 6, 13]);
    for vm in large(5, 1, 1) {
        confirm(&mut inventory, vm);
    }
    assert_eq!(taken(&inventory), [0, 8, 1, 0], "what shrinks is measured");
}

#[test]
fn pages_of_another_size_are_unmeasured() {
    let mut inventory = cluster();
    let paged = |size: i64| {
        let mut vm = vm(1);
        let row = Facts::new().with("size", size).with("count", 4_i64);
        vm.facts.push_row(HUGE_PAGES, row);
        vm
    };
    inventory.run_vm(paged(1 << 30), "h").unwrap();
    assert_eq!(in_table(&inventory, 0, "pending"), 0);
    confirm(&mut inventory, paged(2 << 20));
    assert_eq!(in_table(&inventory, 0, "pending"), 4);
}

#[test]
fn a_host_that_is_given_back_as_it_was_read_shows_nothing_new() {
    let mut inventory = cluster();
    for vm in large(30, 4, 1) {
        confirm(&mut inventory, vm);
    }
    confirm(&mut inventory, vm(3));
    let taken = |inventory: &Inventory| {
        let nodes = in_table(inventory, 1, "memory.free") / GIB;
        [in_table(inventory, 0, "pending"), nodes, free(inventory)]
    };
    let before = taken(&inventory);
    assert_eq!(before[..2], [30, 6]);
    let give = |inventory: &mut Inventory, pages: i64, free: i64| {
        let text = format!(
            r#"{{"hosts": [{{"id": "h", "memory.free": "{free} GiB",
            "huge-pages": [{{"size": "2 MiB", "free": {pages}}}],
            "numa-nodes": [{{"index": 0, "memory": {{"total": "32 GiB", "free": "{free} GiB"}}}}]}}]}}"#
        );
        let changes = InventoryChanges::read(&text, "c.json", inventory.schema());
        inventory.change(changes.unwrap()).unwrap();
    };
    give(&mut inventory, 100, 10);
    assert_eq!(taken(&inventory), before);
    give(&mut inventory, 90, 9);
    assert_eq!(taken(&inventory), [0, 9, 9]);
}

#[test]
fn free_memory_that_is_given_back_as_it_is_shown_is_no_measurement() {
    let mut inventory = cluster();
    confirm(&mut inventory, vm(4));
    let text = r#"{"hosts": [{"id": "h", "memory.free": "6 GiB", "name": "rack 1"}]}"#;
    let changes = InventoryChanges::read(text, "c.json", inventory.schema()).unwrap();
    inventory.change(changes).unwrap();
    assert_eq!(free(&inventory), 6);
    let host = inventory.host(0).unwrap();
    let measured: Vec<&str> = inventory.measured(host).map(|it| &**it.name).collect();
    assert_eq!(measured, [MEMORY_FREE]);
    inventory.remove_vm("v").unwrap();
    assert_eq!(free(&inventory), 10);
}

fn sums(inventory: &Inventory) -> [i64; 2] {
    ["load.pending", "vcpus.unmeasured"].map(|column| match inventory.host_value(0, column) {
        Some(Value::Integer(sum)) => sum,
        other => panic!("{column}: {other:?}"),
    })
}

fn busy(id: &str, usage: Option<f64>) -> Vm {
    let vm = Vm::new(id).with("cpu", 4000_i64);
    usage.map_or(vm.clone(), |usage| vm.with("cpu.usage", usage))
}

#[test]
fn load_counts_until_the_use_of_cpus_is_measured() {
    let mut inventory = cluster();
    inventory.add_host(Host::new("other")).unwrap();
    report(&mut inventory, r#""cpu.usage": 0.25"#);
    inventory.run_vm(busy("moved", Some(0.5)), "other").unwrap();
    confirm(&mut inventory, busy("moved", Some(0.5)));
    confirm(&mut inventory, busy("new", None));
    assert_eq!(sums(&inventory), [2000, 4]);
    inventory.advance(1010);
    report(&mut inventory, r#""memory.free": "7 GiB""#);
    assert_eq!(sums(&inventory), [2000, 4], "that says nothing of CPUs");
    let before = inventory.version();
    report(&mut inventory, r#""cpu.usage": 0.75"#);
    assert_eq!(sums(&inventory), [0, 0]);
    assert_eq!(sums(&inventory.at_version(before).unwrap()), [2000, 4]);
    let touched = inventory.touched_since(before).unwrap();
    let vms = BTreeSet::from(["moved", "new"].map(Into::into));
    assert_eq!(touched.measured_vms, vms, "they are stored anew");
    assert!(touched.vms.is_empty(), "they are as they were");
}

#[test]
fn load_of_a_host_whose_use_of_cpus_nobody_measures_does_not_count() {
    let mut inventory = cluster();
    confirm(&mut inventory, busy("new", None));
    assert_eq!(sums(&inventory), [0, 0]);
}

#[test]
fn load_counts_though_the_first_measurement_that_arrives_is_one_of_before() {
    let mut inventory = cluster();
    inventory.advance(1100);
    confirm(&mut inventory, busy("new", None).with("memory", GIB));
    let measured = |inventory: &mut Inventory, at: i64| {
        let text =
            format!(r#"{{"statistics": [{{"id": "h", "measured": {at}, "cpu.usage": 0.5}}]}}"#);
        let changes = InventoryChanges::read(&text, "c.json", inventory.schema());
        inventory.change(changes.unwrap()).unwrap();
    };
    let before = inventory.version();
    measured(&mut inventory, 1070);
    assert_eq!(sums(&inventory)[1], 4);
    assert_eq!(sums(&inventory.at_version(before).unwrap()), [0, 0]);
    inventory.advance(1200);
    measured(&mut inventory, 1150);
    assert_eq!(sums(&inventory), [0, 0]);
}

#[test]
fn what_came_to_run_long_ago_counts_as_measured_if_a_setting_says_so() {
    let mut inventory = cluster();
    confirm(&mut inventory, vm(4));
    assert_eq!(inventory.next_measured(), None);
    inventory.set_unmeasured_max_age(Some(60));
    assert_eq!(inventory.next_measured(), Some(1061));
    inventory.advance(1060);
    assert_eq!(free(&inventory), 6);
    let before = inventory.version();
    inventory.advance(1061);
    assert_eq!(free(&inventory), 10);
    assert_eq!(inventory.next_measured(), None);
    assert_eq!(free(&inventory.at_version(before).unwrap()), 6);
}

#[test]
fn a_measurement_is_later_than_what_came_before_the_clock_went_back() {
    let mut inventory = cluster();
    inventory.advance(2000);
    confirm(&mut inventory, vm(4));
    inventory.set_clock_back(1500);
    inventory.advance(1501);
    report(&mut inventory, r#""memory.free": "6 GiB""#);
    assert_eq!(free(&inventory), 6);
}
