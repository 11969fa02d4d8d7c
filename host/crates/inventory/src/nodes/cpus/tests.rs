use std::sync::Arc;

use crate::Inventory;
use crate::nested::CPUS;
use placewright_model::schema::Schema;
use placewright_model::{Facts, Host, Vm};

/// Two nodes of four CPUs each; of these are some said to be a VM's own.
fn host(own: &[i64]) -> Host {
    let mut host = Host::new("h");
    for index in 0..2_i64 {
        let node = Facts::new()
            .with("index", index)
            .with("memory.total", 1_i64 << 40);
        host.facts.push_row("numa-nodes", node);
    }
    for cpu in 0..8_i64 {
        let row = Facts::new()
            .with("cpu", cpu)
            .with("numa", cpu / 4)
            .with("exclusive", own.contains(&cpu));
        host.facts.push_row(CPUS, row);
    }
    host
}

fn cluster(own: &[i64]) -> Inventory {
    let mut inventory = Inventory::new("c", Arc::new(Schema::default()));
    inventory.ensure_nested("numa-nodes").unwrap();
    inventory.add_host(host(own)).unwrap();
    inventory
}

/// With so many CPUs for itself, and a virtual node for each of these lists of nodes.
fn vm(id: &str, vcpus: i64, nodes: &[&[i64]]) -> Vm {
    let mut vm = Vm::new(id).with("cores", vcpus).with("exclusive", true);
    for (index, to) in (0_i64..).zip(nodes) {
        let mut node = Facts::new().with("index", index).with("memory", 0_i64);
        for to in *to {
            node.push_row("host-nodes", Facts::new().with("index", *to));
        }
        vm.facts.push_row("numa-nodes", node);
    }
    vm
}

fn with_pins(mut vm: Vm, cpus: &[i64]) -> Vm {
    for (vcpu, cpu) in (0_i64..).zip(cpus) {
        let pin = Facts::new().with("vcpu", vcpu).with("cpu", *cpu);
        vm.facts.push_row("pins", pin);
    }
    vm
}

/// Of each node: its CPUs, those promised, and those pending.
fn counted(inventory: &mut Inventory) -> Vec<[i64; 3]> {
    let index = inventory.ensure_nested("numa-nodes").unwrap();
    let nested = inventory.nested(index);
    let columns = ["cpus", "cpus.promised", "cpus.pending"];
    let columns = columns.map(|name| nested.column(nested.column_index(name).unwrap()));
    let rows = nested.span(0);
    rows.map(|row| columns.map(|column| column.integer(row).unwrap()))
        .collect()
}

#[test]
fn vms_with_cpus_for_themselves_take_those_of_the_nodes_that_they_are_pinned_to() {
    let mut inventory = cluster(&[]);
    inventory.run_vm(vm("a", 3, &[&[0]]), "h").unwrap();
    assert_eq!(counted(&mut inventory), [[4, 3, 0], [4, 0, 0]]);
    // Two of the first virtual node, one of the second.
    let both = Arc::new(vm("b", 3, &[&[0, 1], &[1]]));
    inventory.reserve_vm(both, "h", None).unwrap();
    assert_eq!(counted(&mut inventory), [[4, 3, 0], [4, 0, 3]]);
    inventory.confirm_vm("b").unwrap();
    assert_eq!(counted(&mut inventory), [[4, 3, 0], [4, 3, 0]]);
    let shared = vm("c", 2, &[&[0]]).with("exclusive", false);
    inventory.run_vm(shared, "h").unwrap();
    assert_eq!(counted(&mut inventory), [[4, 3, 0], [4, 3, 0]]);
    inventory.remove_vm("a").unwrap();
    // Where there is room, the node that may be put on either is counted on the other one.
    assert_eq!(counted(&mut inventory), [[4, 2, 0], [4, 1, 0]]);
}

#[test]
fn virtual_nodes_count_where_all_of_them_find_cpus() {
    let mut inventory = cluster(&[]);
    let both = vm("a", 6, &[&[0, 1], &[0]]);
    inventory.run_vm(both, "h").unwrap();
    assert_eq!(counted(&mut inventory), [[4, 3, 0], [4, 3, 0]]);
}

#[test]
fn a_virtual_node_has_its_memory_and_its_cpus_on_the_same_node() {
    let mut inventory = cluster(&[]);
    let large = |mut vm: Vm| {
        let mut nodes = vm.facts.take_rows("numa-nodes");
        for node in &mut nodes {
            node.set("memory", 1_i64 << 39);
        }
        vm.facts.set_rows("numa-nodes", nodes);
        vm
    };
    // One that shares CPUs has half of the memory of the first node.
    let shared = large(vm("a", 1, &[&[0]])).with("exclusive", false);
    inventory.run_vm(shared, "h").unwrap();
    inventory.run_vm(vm("b", 2, &[&[1]]), "h").unwrap();
    inventory
        .run_vm(large(vm("c", 2, &[&[0, 1]])), "h")
        .unwrap();
    assert_eq!(counted(&mut inventory), [[4, 2, 0], [4, 2, 0]]);
    // The first node has no memory for another, so that c is on the second one.
    let shared = large(vm("d", 1, &[&[0]])).with("exclusive", false);
    inventory.run_vm(shared, "h").unwrap();
    assert_eq!(counted(&mut inventory), [[4, 0, 0], [4, 4, 0]]);
}

#[test]
fn cpus_that_are_known_by_number_count_where_they_are() {
    let mut inventory = cluster(&[]);
    let pinned = with_pins(vm("a", 3, &[&[0]]), &[3, 4, 5]);
    inventory.run_vm(pinned, "h").unwrap();
    assert_eq!(counted(&mut inventory), [[4, 1, 0], [4, 2, 0]]);
    let again = with_pins(vm("a", 4, &[&[0]]), &[2, 3, 4, 5]);
    let terms = crate::Terms::default();
    inventory.reserve_in_place(Arc::new(again), terms).unwrap();
    assert_eq!(counted(&mut inventory), [[4, 1, 1], [4, 2, 0]]);
}

#[test]
fn growth_on_a_node_counts_and_what_is_held_is_not_counted_twice() {
    let mut inventory = cluster(&[]);
    inventory.run_vm(vm("a", 2, &[&[0]]), "h").unwrap();
    let terms = crate::Terms::default();
    let again = Arc::new(vm("a", 3, &[&[0]]));
    inventory.reserve_in_place(again, terms).unwrap();
    assert_eq!(counted(&mut inventory), [[4, 2, 1], [4, 0, 0]]);
}

#[test]
fn cpus_that_are_said_to_be_some_vms_own_are_those_of_the_vms_that_run() {
    let mut inventory = cluster(&[0, 1]);
    assert_eq!(counted(&mut inventory), [[4, 2, 0], [4, 0, 0]]);
    inventory.run_vm(vm("a", 2, &[&[0]]), "h").unwrap();
    assert_eq!(counted(&mut inventory), [[4, 2, 0], [4, 0, 0]]);
    inventory.run_vm(vm("b", 1, &[&[0]]), "h").unwrap();
    assert_eq!(counted(&mut inventory), [[4, 3, 0], [4, 0, 0]]);
    let rows = vec![Facts::new().with("cpu", 0_i64).with("numa", 0_i64)];
    inventory.set_host_rows("h", CPUS, rows).unwrap();
    let index = inventory.ensure_nested("numa-nodes").unwrap();
    let nested = inventory.nested(index);
    let all = nested.column(nested.column_index("cpus").unwrap());
    let rows = nested.span(0);
    let all: Vec<_> = rows.map(|row| all.integer(row)).collect();
    assert_eq!(all, [Some(1), None]);
}

/// How many virtual nodes of VMs that share CPUs are on each node.
fn sharers(inventory: &mut Inventory) -> Vec<i64> {
    let index = inventory.ensure_nested("numa-nodes").unwrap();
    let nested = inventory.nested(index);
    let column = nested.column(nested.column_index("cpus.sharers").unwrap());
    let rows = nested.span(0);
    rows.map(|row| column.integer(row).unwrap()).collect()
}

#[test]
fn virtual_nodes_of_vms_that_share_cpus_are_counted_on_their_nodes() {
    let shared = |id: &str, nodes: &[&[i64]]| vm(id, 2, nodes).with("exclusive", false);
    let mut inventory = cluster(&[]);
    inventory.run_vm(shared("a", &[&[0]]), "h").unwrap();
    inventory
        .reserve_vm(Arc::new(shared("b", &[&[0], &[1]])), "h", None)
        .unwrap();
    inventory.run_vm(vm("own", 1, &[&[1]]), "h").unwrap();
    assert_eq!(sharers(&mut inventory), [2, 1]);
    inventory.cancel_vm("b").unwrap();
    assert_eq!(sharers(&mut inventory), [1, 0]);
    // One that grows is there once, and where it goes besides.
    let terms = crate::Terms::default();
    let again = |nodes: &[&[i64]]| Arc::new(shared("a", nodes).with("memory", 1_i64));
    inventory.reserve_in_place(again(&[&[0]]), terms).unwrap();
    assert_eq!(sharers(&mut inventory), [1, 0]);
    inventory.cancel_vm("a").unwrap();
    inventory.reserve_in_place(again(&[&[1]]), terms).unwrap();
    assert_eq!(sharers(&mut inventory), [1, 1]);
    inventory.confirm_vm("a").unwrap();
    assert_eq!(sharers(&mut inventory), [0, 1]);
    // One that is to have CPUs for itself shares its old ones until then.
    let own = Arc::new(vm("a", 2, &[&[1]]));
    inventory.reserve_in_place(own, terms).unwrap();
    assert_eq!(sharers(&mut inventory), [0, 1]);
    inventory.confirm_vm("a").unwrap();
    assert_eq!(sharers(&mut inventory), [0, 0]);
    let back = Arc::new(shared("a", &[&[1]]));
    inventory.reserve_in_place(back, terms).unwrap();
    assert_eq!(sharers(&mut inventory), [0, 1]);
}

#[test]
fn a_vm_that_only_prefers_nodes_shares_none_of_their_cpus() {
    let mut inventory = cluster(&[]);
    let mut vm = Vm::new("a").with("cores", 2_i64);
    let mut node = Facts::new()
        .with("index", 0_i64)
        .with("memory", 0_i64)
        .with("mode", "preferred");
    node.push_row("host-nodes", Facts::new().with("index", 0_i64));
    vm.facts.push_row("numa-nodes", node);
    inventory.run_vm(vm, "h").unwrap();
    assert_eq!(sharers(&mut inventory), [0, 0]);
}
