//! What a VM takes of a host is what it asks for, less what it holds there now; and what is
//! promised counts until it is given back.

use std::sync::Arc;

use placewright_document::InventoryChanges;
use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_engine::{Engine, Limits};
use placewright_inventory::Inventory;
use placewright_model::schema::Schema;
use placewright_model::{Facts, Host, Request, Value, Vm};
use placewright_plugins as plugins;
use placewright_policy::Policy;
use placewright_scheduler::{Batch, Decision, PlaceError, Scheduler, SchedulerOptions};
use placewright_tests::scene::GIB;

/// What the units look after that may be needed of a host.
const UNITS: [&str; 10] = [
    "memory",
    "cpu",
    "utilization",
    "huge-pages",
    "gpus",
    "numa",
    "host-device",
    "network",
    "first-fit",
    "gpu-fit",
];

thread_local! {
    static GENERATION: Generation = {
        let engine = Engine::new(Limits::default(), None).unwrap();
        let units = UNITS.map(|name| {
            let unit = plugins::UNITS.iter().find(|unit| unit.name == name);
            let bytes = unit.expect("it comes with the program").bytes;
            Unit::load(&engine, bytes, name).unwrap()
        });
        Generation::new(units).unwrap()
    };
}

/// Filters with these units; who has a place costs nothing.
fn scheduler(inventory: Inventory, units: &[&str]) -> Scheduler {
    let mut policy = "unheeded = 'ignore'\n".to_owned();
    for unit in units {
        policy += &format!("[[filters]]\nunit = '{unit}'\n");
        if *unit == "cpu" {
            policy += "settings = { overcommit = 1.0 }\n";
        }
        if *unit == "memory" {
            policy += "settings = { overhead = 0, overhead-share = 0.0, overhead-per-vcpu = 0 }\n";
        }
        if *unit == "host-device" {
            policy += "settings = { anywhere = true }\n";
        }
        if ["gpus", "gpu-fit"].contains(unit) {
            policy += &format!("[[effects]]\nunit = '{unit}'\n");
        }
    }
    GENERATION.with(|generation| {
        let policy = Policy::load(&policy, "p.toml", generation, inventory.schema()).unwrap();
        let options = SchedulerOptions::default();
        Scheduler::new(inventory, Arc::new(policy), generation, options).unwrap()
    })
}

fn host(id: &str) -> Host {
    let mut host = Host::new(id)
        .with("cpu.cores", 4_i64)
        .with("memory.total", 16 * GIB);
    let amount = Facts::new().with("name", "disk").with("total", 10_i64);
    host.facts.push_row("amounts", amount);
    let pages = Facts::new().with("size", 2_i64 << 20).with("free", 10_i64);
    host.facts.push_row("huge-pages", pages);
    for index in [0_i64, 1] {
        host.facts
            .push_row("gpus", Facts::new().with("index", index));
        let node = Facts::new()
            .with("index", index)
            .with("memory.total", 8 * GIB);
        host.facts.push_row("numa-nodes", node);
    }
    for cpu in 0..8_i64 {
        let cpu = Facts::new().with("cpu", cpu).with("numa", cpu / 4);
        host.facts.push_row("cpus", cpu);
    }
    for name in ["card", "stick"] {
        let device = Facts::new().with("name", name).with("free", true);
        host.facts.push_row("devices", device);
    }
    host
}

fn cluster(hosts: &[&str]) -> Inventory {
    let mut inventory = Inventory::new("c", Arc::new(Schema::default()));
    for id in hosts {
        inventory.add_host(host(id)).unwrap();
    }
    inventory.advance(1000);
    inventory
}

fn again(vm: Vm) -> Request {
    Request {
        members: vec![vm],
        now: 1000,
        again: true,
        ..Request::default()
    }
}

fn place(scheduler: &mut Scheduler, vm: Vm) -> Option<Arc<str>> {
    let decided: Result<Arc<Decision>, PlaceError> = scheduler.place(again(vm));
    decided.unwrap().host.clone()
}

fn value(inventory: &Inventory, host: &str, column: &str) -> i64 {
    let slot = inventory.slot(host).unwrap();
    match inventory.host_value(slot, column) {
        Some(Value::Integer(value)) => value,
        other => panic!("{column}: {other:?}"),
    }
}

/// A unit, and a VM that needs so much of what it looks after, of which a host has 4.
type Kind = (&'static str, fn(i64) -> Vm);

fn small() -> Vm {
    Vm::new("v").with("cpu", 100_i64).with("memory", GIB / 8)
}

const KINDS: [Kind; 9] = [
    ("memory", |quarters| {
        small().with("memory", quarters * 4 * GIB)
    }),
    ("cpu", |cores| small().with("cpu", cores * 1000)),
    ("first-fit", |cores| small().with("cpu", cores * 1000)),
    ("gpu-fit", |quarters| {
        small().with("memory", quarters * 4 * GIB)
    }),
    ("utilization", |quarters| {
        let need = Facts::new()
            .with("name", "disk")
            .with("need", quarters * 10 / 4);
        let mut vm = small();
        vm.facts.push_row("amounts", need);
        vm
    }),
    ("huge-pages", |quarters| {
        let pages = Facts::new()
            .with("size", 2_i64 << 20)
            .with("count", quarters * 10 / 4);
        let mut vm = small();
        vm.facts.push_row("huge-pages", pages);
        vm
    }),
    ("gpus", |halves| small().with("gpu.count", (halves + 1) / 2)),
    ("numa", |quarters| {
        let mut node = Facts::new()
            .with("index", 0_i64)
            .with("memory", quarters * 2 * GIB)
            .with("mode", "strict");
        node.push_row("host-nodes", Facts::new().with("index", 0_i64));
        let mut vm = small();
        vm.facts.push_row("numa-nodes", node);
        vm
    }),
    ("numa", |cpus| {
        let mut node = Facts::new()
            .with("index", 0_i64)
            .with("memory", GIB / 8)
            .with("mode", "strict");
        node.push_row("host-nodes", Facts::new().with("index", 0_i64));
        let mut vm = small().with("cores", cpus).with("exclusive", true);
        vm.facts.push_row("numa-nodes", node);
        vm
    }),
];

#[test]
fn a_vm_that_is_placed_again_takes_the_growth_alone() {
    for (unit, of) in KINDS {
        let mut inventory = cluster(&["a"]);
        inventory.run_vm(of(3), "a").unwrap();
        let mut scheduler = scheduler(inventory, &[unit]);
        // Huge pages are measured: what is there is left of what the VM has taken.
        let left = if unit == "huge-pages" { 3 } else { 0 };
        assert!(place(&mut scheduler, of(3)).is_some(), "{unit}: unchanged");
        assert!(place(&mut scheduler, of(1)).is_some(), "{unit}: smaller");
        scheduler.inventory_mut().cancel_vm("v").unwrap();
        assert!(place(&mut scheduler, of(4)).is_some(), "{unit}: larger");
        scheduler.inventory_mut().cancel_vm("v").unwrap_or(());
        let too_large = place(&mut scheduler, of(5 + left));
        assert_eq!(too_large, None, "{unit}: too large");
    }
}

#[test]
fn growth_is_pending_until_it_is_confirmed_and_in_force_then() {
    for (unit, of) in KINDS {
        let mut inventory = cluster(&["a"]);
        inventory.run_vm(of(1), "a").unwrap();
        let mut scheduler = scheduler(inventory, &[unit]);
        if unit == "gpus" {
            // One GPU does for 1 and for 2.
            assert!(place(&mut scheduler, of(3)).is_some());
        } else {
            assert!(place(&mut scheduler, of(2)).is_some());
        }
        assert!(scheduler.inventory().pending("v").is_some(), "{unit}");
        let other = || {
            let mut vm = of(if unit == "gpus" { 1 } else { 3 });
            vm.id = "w".into();
            vm
        };
        let left = if unit == "huge-pages" { 2 } else { 0 };
        if left == 0 {
            let mut request = again(other());
            request.dry_run = true;
            let refused = scheduler.place(request).unwrap();
            assert_eq!(refused.host, None, "{unit}: while it is pending");
        }
        scheduler.inventory_mut().confirm_vm("v").unwrap();
        let running = scheduler.inventory().running("v").unwrap();
        let expected = of(if unit == "gpus" { 3 } else { 2 });
        assert_eq!(*running.vm, expected, "{unit}: in force");
        let mut request = again(other());
        request.dry_run = true;
        if left == 0 {
            assert_eq!(scheduler.place(request).unwrap().host, None, "{unit}");
        }
    }
}

#[test]
fn sums_have_the_growth_once_and_come_back_to_what_they_were() {
    let of = |cores: i64, gib: i64| {
        Vm::new("v")
            .with("cpu", cores * 1000)
            .with("memory", gib * GIB)
    };
    let mut inventory = cluster(&["a", "b"]);
    inventory.run_vm(of(1, 8), "a").unwrap();
    let mut scheduler = scheduler(inventory, &["memory", "cpu"]);
    let sums = |scheduler: &Scheduler| {
        let columns = [
            "cpu.committed",
            "cpu.pending",
            "memory.committed",
            "memory.pending",
            "vms.count",
            "vms.pending",
            "vms.migrating",
            "vcpus",
            "vcpus.unmeasured",
        ];
        columns.map(|column| value(scheduler.inventory(), "a", column))
    };
    let before = sums(&scheduler);
    assert_eq!(before, [1000, 0, 8 * GIB, 0, 1, 0, 0, 1, 0]);
    let grow = |scheduler: &mut Scheduler| {
        let mut request = again(of(3, 4));
        request.allowed = vec!["a".into()];
        assert_eq!(scheduler.place(request).unwrap().host.as_deref(), Some("a"));
    };
    grow(&mut scheduler);
    let grown = [1000, 2000, 8 * GIB, 0, 1, 0, 0, 1, 2];
    assert_eq!(sums(&scheduler), grown);
    scheduler.inventory_mut().cancel_vm("v").unwrap();
    assert_eq!(sums(&scheduler), before);
    grow(&mut scheduler);
    scheduler.inventory_mut().confirm_vm("v").unwrap();
    assert_eq!(sums(&scheduler), [3000, 0, 4 * GIB, 0, 1, 0, 0, 3, 0]);
    // The operator moves it: nothing of it is left.
    grow(&mut scheduler);
    scheduler.inventory_mut().run_vm(of(3, 4), "b").unwrap();
    assert_eq!(sums(&scheduler), [0, 0, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn a_vm_that_stays_as_it_is_stays_where_too_much_is_promised() {
    for (unit, of) in KINDS {
        let mut inventory = cluster(&["a"]);
        inventory.run_vm(of(3), "a").unwrap();
        let mut other = of(3);
        other.id = "other".into();
        inventory.run_vm(other, "a").unwrap();
        let mut scheduler = scheduler(inventory, &[unit]);
        assert!(place(&mut scheduler, of(3)).is_some(), "{unit}");
        assert!(scheduler.inventory().pending("v").is_none(), "{unit}");
    }
}

#[test]
fn a_plan_from_nothing_is_made_as_if_no_vm_of_it_were_anywhere() {
    for (unit, of) in KINDS {
        let mut inventory = cluster(&["a", "b"]);
        let vm = |id: &str| {
            let mut vm = of(3);
            vm.id = id.into();
            vm
        };
        for id in ["v0", "v1"] {
            inventory.run_vm(vm(id), "a").unwrap();
        }
        if unit == "gpus" {
            continue;
        }
        if unit == "huge-pages" {
            continue;
        }
        let mut scheduler = scheduler(inventory, &[unit]);
        let batch = Batch {
            members: vec![vm("v0"), vm("v1")],
            now: 1000,
            from_nothing: true,
            ..Batch::default()
        };
        let plan = scheduler.place_batch(batch).unwrap();
        let mut hosts: Vec<_> = plan.turns.iter().map(|turn| turn.host().cloned()).collect();
        hosts.sort();
        assert_eq!(hosts, [Some("a".into()), Some("b".into())], "{unit}");
    }
}

#[test]
fn memory_of_a_numa_node_is_promised_once() {
    let (unit, of) = KINDS[7];
    let mut scheduler = scheduler(cluster(&["a"]), &[unit]);
    let vm = |id: &str, quarters| {
        let mut vm = of(quarters);
        vm.id = id.into();
        vm
    };
    assert!(place(&mut scheduler, vm("a", 3)).is_some());
    assert!(
        place(&mut scheduler, vm("b", 2)).is_none(),
        "while a is pending"
    );
    scheduler.inventory_mut().confirm_vm("a").unwrap();
    assert!(place(&mut scheduler, vm("b", 2)).is_none(), "when a runs");
    assert!(place(&mut scheduler, vm("b", 1)).is_some());
}

#[test]
fn a_vm_that_runs_with_gpus_has_them_whether_or_not_it_is_known_which() {
    let vm = |id: &str, count: i64| {
        let mut vm = small().with("gpu.count", count);
        vm.id = id.into();
        vm
    };
    let mut inventory = cluster(&["a"]);
    inventory.run_vm(vm("old", 1), "a").unwrap();
    let mut scheduler = scheduler(inventory, &["gpus"]);
    assert!(place(&mut scheduler, vm("two", 2)).is_none());
    assert!(place(&mut scheduler, vm("one", 1)).is_some());
    assert!(place(&mut scheduler, vm("more", 1)).is_none());
}

#[test]
fn a_device_that_a_vm_is_to_get_where_it_runs_is_nobody_elses() {
    let with = |id: &str, names: &[&str]| {
        let mut vm = small();
        vm.id = id.into();
        for name in names {
            let device = Facts::new().with("name", *name);
            vm.facts.push_row("devices", device);
        }
        vm
    };
    let mut inventory = cluster(&["a"]);
    inventory.run_vm(with("v", &["card"]), "a").unwrap();
    let mut scheduler = scheduler(inventory, &["host-device"]);
    assert!(place(&mut scheduler, with("v", &["card", "stick"])).is_some());
    assert_eq!(place(&mut scheduler, with("w", &["stick"])), None);
    scheduler.inventory_mut().cancel_vm("v").unwrap();
    assert!(place(&mut scheduler, with("w", &["stick"])).is_some());
}

#[test]
fn a_virtual_function_of_a_network_card_is_promised_once_until_it_is_measured() {
    let mut inventory = Inventory::new("c", Arc::new(Schema::default()));
    let text = r#"{"attributes": {"hosts": {"virtual-functions":
        {"table": {"network": "text", "free": "integer"}}}}}"#;
    let changes = InventoryChanges::read(text, "c.json", inventory.schema());
    inventory.change(changes.unwrap()).unwrap();
    let mut a = host("a");
    let free = |free: i64| Facts::new().with("network", "red").with("free", free);
    a.facts.push_row("attribute.virtual-functions", free(1));
    inventory.add_host(a).unwrap();
    inventory.advance(1000);
    let with = |id: &str, cards: usize| {
        let mut vm = small();
        vm.id = id.into();
        for _ in 0..cards {
            let card = Facts::new()
                .with("network", "red")
                .with("passthrough", true);
            vm.facts.push_row("nics", card);
        }
        vm
    };
    let mut scheduler = scheduler(inventory, &["network"]);
    assert!(place(&mut scheduler, with("v", 1)).is_some());
    assert!(place(&mut scheduler, with("w", 1)).is_none());
    scheduler.inventory_mut().confirm_vm("v").unwrap();
    assert!(place(&mut scheduler, with("w", 1)).is_none());
    assert!(place(&mut scheduler, with("x", 0)).is_some());
    let measure = |scheduler: &mut Scheduler, free: i64| {
        let inventory = scheduler.inventory_mut();
        inventory.advance(inventory.clock() + 10);
        let text = format!(
            r#"{{"statistics": [{{"id": "a", "attribute.virtual-functions": [{{"network": "red", "free": {free}}}]}}]}}"#
        );
        let changes = InventoryChanges::read(&text, "c.json", inventory.schema());
        inventory.change(changes.unwrap()).unwrap();
    };
    measure(&mut scheduler, 0);
    assert!(place(&mut scheduler, with("w", 1)).is_none());
    // It stays as it is, and does not grow.
    assert!(place(&mut scheduler, with("v", 1)).is_some());
    assert!(place(&mut scheduler, with("v", 2)).is_none());
    measure(&mut scheduler, 1);
    assert!(place(&mut scheduler, with("v", 2)).is_some());
    assert!(place(&mut scheduler, with("w", 1)).is_none());
}

/// A host of two nodes of 8 GiB, with four pages of 1 GiB on each.
fn cluster_with_pages() -> Inventory {
    let mut inventory = Inventory::new("c", Arc::new(Schema::default()));
    let text = r#"{"attributes": {"hosts": {"numa-huge-pages":
        {"table": {"node": "integer", "size": "integer", "free": "integer"}}}}}"#;
    let changes = InventoryChanges::read(text, "c.json", inventory.schema());
    inventory.change(changes.unwrap()).unwrap();
    let mut host = host("a");
    for node in [0_i64, 1] {
        let row = Facts::new()
            .with("node", node)
            .with("size", GIB)
            .with("free", 4_i64);
        host.facts.push_row("attribute.numa-huge-pages", row);
    }
    inventory.add_host(host).unwrap();
    inventory.advance(1000);
    inventory
}

/// Pages of 1 GiB, and a virtual node of so many GiB that may be put on these nodes.
fn paged(id: &str, pages: i64, gib: i64, allowed: &[i64]) -> Vm {
    let mut vm = Vm::new(id).with("cpu", 100_i64).with("memory", gib * GIB);
    let row = Facts::new().with("size", GIB).with("count", pages);
    vm.facts.push_row("huge-pages", row);
    let mut node = Facts::new().with("index", 0_i64).with("memory", gib * GIB);
    for number in allowed {
        node.push_row("host-nodes", Facts::new().with("index", *number));
    }
    vm.facts.push_row("numa-nodes", node);
    vm
}

#[test]
fn huge_pages_of_a_numa_node_are_promised_once() {
    let mut scheduler = scheduler(cluster_with_pages(), &["numa"]);
    assert!(place(&mut scheduler, paged("a", 4, 4, &[0])).is_some());
    assert!(place(&mut scheduler, paged("b", 1, 1, &[0])).is_none());
    scheduler.inventory_mut().confirm_vm("a").unwrap();
    assert!(place(&mut scheduler, paged("b", 1, 1, &[0])).is_none());
    // It stays, and goes where there are some left.
    assert!(place(&mut scheduler, paged("a", 4, 4, &[0])).is_some());
    assert!(place(&mut scheduler, paged("b", 3, 3, &[0, 1])).is_some());
    assert!(place(&mut scheduler, paged("c", 2, 2, &[0, 1])).is_none());
    assert!(place(&mut scheduler, paged("c", 1, 1, &[0, 1])).is_some());
}

#[test]
fn a_vm_with_one_huge_page_takes_the_rest_of_its_memory_of_its_node() {
    let mut scheduler = scheduler(cluster_with_pages(), &["numa"]);
    assert!(place(&mut scheduler, paged("a", 1, 6, &[0])).is_some());
    assert!(place(&mut scheduler, paged("b", 1, 6, &[0])).is_none());
    scheduler.inventory_mut().confirm_vm("a").unwrap();
    assert!(place(&mut scheduler, paged("b", 1, 6, &[0])).is_none());
    assert!(place(&mut scheduler, paged("b", 1, 4, &[0])).is_some());
}

#[test]
fn a_vm_of_pages_that_grows_needs_what_it_does_not_hold() {
    let mut scheduler = scheduler(cluster_with_pages(), &["numa"]);
    assert!(place(&mut scheduler, paged("a", 2, 2, &[0])).is_some());
    scheduler.inventory_mut().confirm_vm("a").unwrap();
    assert!(place(&mut scheduler, paged("a", 5, 5, &[0])).is_none());
    assert!(place(&mut scheduler, paged("a", 4, 4, &[0])).is_some());
    assert!(place(&mut scheduler, paged("b", 1, 1, &[0])).is_none());
}
