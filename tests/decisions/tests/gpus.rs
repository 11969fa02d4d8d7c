//! GPUs under the policies that come with the program: who gets which, and that they are
//! free again.

use std::sync::Arc;

use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_inventory::Inventory;
use placewright_model::schema::Schema;
use placewright_model::{Facts, Host, Vm};
use placewright_plugins as plugins;
use placewright_scheduler::{Decision, Scheduler};
use placewright_tests::scene::{request, scheduler};
use placewright_tests::units::engine;

const UNITS: [&str; 6] = [
    "fgd",
    "gpu-best-fit",
    "gpu-clustering",
    "gpu-dot-product",
    "gpu-fit",
    "gpu-packing",
];

/// Half GPUs and whole ones, as they usually come here.
const TYPICAL: &str = "
[[settings.typical]]
cpu = 1
gpus = 1
share = 500
weight = 1
[[settings.typical]]
cpu = 1
gpus = 1
share = 1000
weight = 3
";

fn host(id: &str, gpus: i64) -> Host {
    let mut host = Host::new(id)
        .with("cpu.cores", 16i64)
        .with("memory.total", 64i64 << 30)
        .with("gpu.model", "T4");
    let rows = (0..gpus).map(|index| Facts::new().with("index", index));
    host.facts.set_rows("gpus", rows.collect());
    host
}

/// Two hosts of two GPUs, under one of the policies.
fn cluster(policy: &str) -> Scheduler {
    let mut inventory = Inventory::new("test", Arc::new(Schema::default()));
    inventory.add_host(host("a", 2)).unwrap();
    inventory.add_host(host("b", 2)).unwrap();
    let units = plugins::UNITS
        .iter()
        .filter(|unit| UNITS.contains(&unit.name));
    let units: Vec<Arc<Unit>> = units
        .map(|unit| Unit::load(engine(), unit.bytes, unit.name).unwrap())
        .collect();
    let text = plugins::policy(policy).unwrap().text;
    let text = match policy {
        "gpu-fgd" => format!("{text}{TYPICAL}"),
        _ => text.to_owned(),
    };
    scheduler(inventory, &text, &Generation::new(units).unwrap())
}

fn vm(id: &str, gpus: i64, share: i64) -> Vm {
    Vm::new(id)
        .with("cpu", 1000i64)
        .with("memory", 1i64 << 30)
        .with("gpu.count", gpus)
        .with("gpu.share", share)
}

fn place(scheduler: &mut Scheduler, vm: Vm) -> Arc<Decision> {
    scheduler.place(request(vm)).unwrap()
}

/// The host of a VM, and its GPUs there: index and share.
fn gpus_of(scheduler: &Scheduler, vm: &str) -> (String, Vec<(i64, i64)>) {
    let inventory = scheduler.inventory();
    let entry = inventory.pending(vm).or(inventory.running(vm)).unwrap();
    let host = inventory.host(entry.slot).unwrap().id.to_string();
    let row = |row: &Facts| (row.integer("index").unwrap(), row.integer("share").unwrap());
    (host, entry.placed_rows("gpus").iter().map(row).collect())
}

#[test]
fn every_policy_gives_the_gpus_that_were_asked_for_and_no_more_than_there_are() {
    for policy in [
        "gpu-random",
        "gpu-dot-product",
        "gpu-clustering",
        "gpu-packing",
        "gpu-best-fit",
        "gpu-fgd",
    ] {
        let mut scheduler = cluster(policy);
        for number in 0..4 {
            let id = format!("whole-{number}");
            let decision = place(&mut scheduler, vm(&id, 1, 1000));
            assert!(decision.host.is_some(), "{policy}: {id}");
        }
        let mut taken: Vec<_> = (0..4)
            .map(|number| gpus_of(&scheduler, &format!("whole-{number}")))
            .collect();
        taken.sort();
        let one = |host: &str, index: i64| (host.to_owned(), vec![(index, 1000)]);
        assert_eq!(
            taken,
            [one("a", 0), one("a", 1), one("b", 0), one("b", 1)],
            "{policy}"
        );
        let decision = place(&mut scheduler, vm("late", 1, 1));
        assert_eq!(decision.host, None, "{policy}");
        let removed = &decision.decided.removed[0];
        assert_eq!(
            &*removed.reason, "has too few GPUs with enough free",
            "{policy}"
        );
        // Room again: exactly where it went from.
        let (host, gpus) = gpus_of(&scheduler, "whole-2");
        scheduler.inventory_mut().cancel_vm("whole-2").unwrap();
        place(&mut scheduler, vm("late", 1, 1000));
        assert_eq!(gpus_of(&scheduler, "late"), (host, gpus), "{policy}");
    }
}

#[test]
fn two_gpus_are_two_of_one_host() {
    for policy in ["gpu-fgd", "gpu-best-fit"] {
        let mut scheduler = cluster(policy);
        place(&mut scheduler, vm("one", 1, 1000));
        place(&mut scheduler, vm("two", 2, 1000));
        assert_eq!(gpus_of(&scheduler, "one").0, "a", "{policy}");
        let both = ("b".to_owned(), vec![(0, 1000), (1, 1000)]);
        assert_eq!(gpus_of(&scheduler, "two"), both, "{policy}");
        assert_eq!(
            place(&mut scheduler, vm("more", 2, 1000)).host,
            None,
            "{policy}"
        );
    }
}

#[test]
fn halves_come_together_on_one_gpu() {
    let halves = |policy: &str| {
        let mut scheduler = cluster(policy);
        for id in ["first", "second"] {
            place(&mut scheduler, vm(id, 1, 500));
        }
        let (first, second) = (gpus_of(&scheduler, "first"), gpus_of(&scheduler, "second"));
        (first.0 == second.0, first.1 == second.1)
    };
    for policy in [
        "gpu-dot-product",
        "gpu-clustering",
        "gpu-packing",
        "gpu-best-fit",
        "gpu-fgd",
    ] {
        assert_eq!(halves(policy), (true, true), "{policy}");
    }
}

#[test]
fn clustering_prefers_company_of_the_same_size() {
    let mut scheduler = cluster("gpu-clustering");
    place(&mut scheduler, vm("whole", 1, 1000));
    assert_eq!(gpus_of(&scheduler, "whole").0, "a");
    let mut elsewhere = request(vm("half", 1, 500));
    elsewhere.excluded = vec!["a".into()];
    scheduler.place(elsewhere).unwrap();
    // a is fuller, but b runs a half.
    place(&mut scheduler, vm("another half", 1, 500));
    assert_eq!(gpus_of(&scheduler, "another half").0, "b");
}

#[test]
fn gpus_stay_with_a_vm_that_runs_and_go_with_it() {
    let mut scheduler = cluster("gpu-packing");
    place(&mut scheduler, vm("vm", 2, 1000));
    scheduler.inventory_mut().confirm_vm("vm").unwrap();
    assert_eq!(gpus_of(&scheduler, "vm").1, [(0, 1000), (1, 1000)]);
    assert_eq!(
        place(&mut scheduler, vm("b", 2, 1000)).host.as_deref(),
        Some("b")
    );
    assert_eq!(place(&mut scheduler, vm("c", 1, 100)).host, None);
    scheduler.inventory_mut().remove_vm("vm").unwrap();
    assert_eq!(
        place(&mut scheduler, vm("c", 1, 100)).host.as_deref(),
        Some("a")
    );
}

#[test]
fn a_decision_about_gpus_is_explained_on_the_inventory_as_it_was() {
    let mut scheduler = cluster("gpu-fgd");
    let first = place(&mut scheduler, vm("first", 1, 500));
    for number in 0..3 {
        place(&mut scheduler, vm(&format!("more-{number}"), 1, 1000));
    }
    let explanation = scheduler.explain(first.number).unwrap();
    let kept: Vec<_> = explanation.stages[0]
        .hosts
        .iter()
        .map(|host| host.removed.is_none())
        .collect();
    assert_eq!(kept, [true, true]);
}

#[test]
fn models_that_a_vm_does_not_accept_keep_hosts_out() {
    let mut scheduler = cluster("gpu-fgd");
    let accepting = |id: &str, model: &str| {
        let mut vm = vm(id, 1, 500);
        vm.facts
            .push_row("gpu-models", Facts::new().with("model", model));
        vm
    };
    let refused = place(&mut scheduler, accepting("picky", "A10"));
    let reason = &refused.decided.removed[0].reason;
    assert_eq!(&**reason, "has no GPUs of a model that the VM accepts");
    assert!(
        place(&mut scheduler, accepting("content", "T4"))
            .host
            .is_some()
    );
}

#[test]
fn typical_shapes_that_make_no_sense_are_refused_with_their_row() {
    let mut inventory = Inventory::new("test", Arc::new(Schema::default()));
    inventory.add_host(host("a", 1)).unwrap();
    let units = plugins::UNITS.iter().filter(|unit| unit.name == "fgd");
    let units = units.map(|unit| Unit::load(engine(), unit.bytes, unit.name).unwrap());
    let units = Generation::new(units.collect::<Vec<_>>()).unwrap();
    let text = plugins::policy("gpu-fgd").unwrap().text;
    let wrong = TYPICAL.replace("share = 500", "share = 5000");
    let policy = placewright_tests::scene::policy(&format!("{text}{wrong}"), &units).unwrap();
    let made = Scheduler::new(inventory, Arc::new(policy), &units, Default::default());
    let said = made.err().unwrap().to_string();
    assert!(
        said.contains("row 1 of typical: share must be from 0 to 1000"),
        "{said}"
    );
}
