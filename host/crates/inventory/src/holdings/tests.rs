use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::vm::Terms;
use placewright_model::schema::Schema;
use placewright_model::{Facts, Host};

const HOSTS: [&str; 3] = ["h0", "h1", "h2"];

fn cluster() -> Inventory {
    let mut inventory = Inventory::new("c", Arc::new(Schema::default()));
    for host in HOSTS {
        inventory.add_host(Host::new(host)).unwrap();
    }
    inventory
}

fn vm(id: &str, tenant: &str, cpu: i64) -> Vm {
    let vm = Vm::new(id).with("cpu", cpu).with("memory", cpu * 10);
    match tenant {
        "" => vm,
        _ => vm.with("tenant", tenant),
    }
}

fn held(inventory: &Inventory, tenant: &str) -> (i128, i128, i128, i128) {
    let held = inventory.held_by_tenant(tenant);
    (held.cpu, held.memory, held.gpus, held.vms)
}

/// What tenants hold, counted anew: of each VM the greatest of each kind at its places.
fn recounted(inventory: &Inventory) -> BTreeMap<Arc<str>, Holding> {
    let mut of_vms: BTreeMap<(Arc<str>, Arc<str>), Holding> = BTreeMap::new();
    let hosts = inventory.hosts();
    for entry in hosts.flat_map(|(_, host)| inventory.vms_of(host)) {
        let facts = &entry.vm.facts;
        let Some(tenant) = facts.text("tenant") else {
            continue;
        };
        let shape = Shape::of(facts);
        let gpus = entry.vm.gpus().unwrap_or(0) * facts.integer("gpu.share").unwrap_or(1000);
        let holding = Holding {
            cpu: shape.cpu.into(),
            memory: shape.memory.into(),
            gpus: gpus.into(),
            vms: 1,
        };
        let key = (tenant.into(), entry.vm.id.clone());
        let known = of_vms.entry(key).or_default();
        *known = known.max(holding);
    }
    let mut sums: BTreeMap<Arc<str>, Holding> = BTreeMap::new();
    for ((tenant, _), holding) in of_vms {
        let sum = sums.entry(tenant).or_default();
        *sum = sum.plus(holding);
    }
    sums
}

fn counted(inventory: &Inventory) -> BTreeMap<Arc<str>, Holding> {
    let held = inventory.held_by_tenants();
    held.map(|(tenant, holding)| (tenant.clone(), *holding))
        .collect()
}

#[test]
fn a_vm_that_moves_holds_no_more_and_one_that_grows_what_it_will_have() {
    let mut inventory = cluster();
    inventory.run_vm(vm("v", "t", 1000), "h0").unwrap();
    assert_eq!(held(&inventory, "t"), (1000, 10_000, 0, 1));
    let moved = Arc::new(vm("v", "t", 1000));
    assert!(inventory.would_hold(&moved).unwrap().1.is_none());
    inventory.reserve_vm(moved, "h1", None).unwrap();
    assert_eq!(held(&inventory, "t"), (1000, 10_000, 0, 1));
    inventory.cancel_vm("v").unwrap();
    let grown = Arc::new(vm("v", "t", 1500));
    assert_eq!(inventory.would_hold(&grown).unwrap().1.cpu, 500);
    inventory.reserve_in_place(grown, Terms::default()).unwrap();
    assert_eq!(held(&inventory, "t"), (1500, 15_000, 0, 1));
    inventory.confirm_vm("v").unwrap();
    assert_eq!(held(&inventory, "t"), (1500, 15_000, 0, 1));
    inventory.run_vm(vm("v", "other", 100), "h0").unwrap();
    assert_eq!(held(&inventory, "t"), (0, 0, 0, 0));
    inventory.remove_vm("v").unwrap();
    assert_eq!(inventory.held_by_tenants().count(), 0);
}

#[test]
fn shares_of_gpus_count_as_such_and_a_named_model_is_one_gpu() {
    let mut inventory = cluster();
    let shared = vm("a", "t", 1).with("gpu.count", 3).with("gpu.share", 250);
    inventory.run_vm(shared, "h0").unwrap();
    assert_eq!(held(&inventory, "t").2, 750);
    let mut named = vm("b", "t", 1);
    named
        .facts
        .set_rows("gpu-models", vec![Facts::new().with("model", "A100")]);
    inventory.run_vm(named, "h0").unwrap();
    assert_eq!(held(&inventory, "t").2, 1750);
    inventory.run_vm(vm("c", "", 1), "h0").unwrap();
    assert_eq!(held(&inventory, "t").3, 2);
}

#[test]
fn a_vacated_vm_is_held_until_it_runs_again_and_its_new_place_adds_only_growth() {
    let mut inventory = cluster();
    inventory.run_vm(vm("v", "t", 1000), "h0").unwrap();
    let before = inventory.version();
    inventory.vacate("v").unwrap();
    assert_eq!(held(&inventory, "t"), (1000, 10_000, 0, 1));
    let grown = Arc::new(vm("v", "t", 1200));
    assert_eq!(inventory.would_hold(&grown).unwrap().1.cpu, 200);
    inventory.reserve_vm(grown, "h1", None).unwrap();
    inventory.confirm_vm("v").unwrap();
    assert_eq!(held(&inventory, "t"), (1200, 12_000, 0, 1));
    assert!(inventory.take_back(before));
    assert_eq!(counted(&inventory), recounted(&inventory));
}

#[test]
fn tenants_that_hold_something_else_are_told_of_once() {
    let mut inventory = cluster();
    inventory.run_vm(vm("a", "t", 1000), "h0").unwrap();
    assert_eq!(inventory.take_changed_holdings(), ChangedHoldings::All);
    let none = || ChangedHoldings::Of(HashSet::new());
    assert_eq!(inventory.take_changed_holdings(), none());
    inventory.run_vm(vm("b", "u", 1000), "h0").unwrap();
    inventory.run_vm(vm("c", "", 1000), "h0").unwrap();
    let changed = ChangedHoldings::Of(HashSet::from(["u".into()]));
    assert_eq!(inventory.take_changed_holdings(), changed);
    inventory.remove_vm("b").unwrap();
    assert_eq!(inventory.take_changed_holdings(), changed);
    assert_eq!(inventory.take_changed_holdings(), none());
}

/// Something that happens to a VM.
#[derive(Debug, Clone)]
enum Happens {
    Runs(usize),
    Reserves(usize),
    Grows,
    Confirmed,
    Cancelled,
    Removed,
    TimePasses,
    TakenBack(u64),
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        (0..3usize).prop_map(Happens::Runs),
        (0..3usize).prop_map(Happens::Reserves),
        Just(Happens::Grows),
        Just(Happens::Confirmed),
        Just(Happens::Cancelled),
        Just(Happens::Removed),
        Just(Happens::TimePasses),
        (0..20u64).prop_map(Happens::TakenBack),
    ]
}

proptest! {
    #[test]
    fn what_tenants_hold_is_what_a_count_of_all_vms_says(
        story in prop::collection::vec(
            (happens(), 0..4usize, prop::sample::select(vec!["", "t", "u"]), 1..4i64),
            1..60,
        ),
    ) {
        let mut inventory = cluster();
        for (happens, number, tenant, cpu) in story {
            let id = format!("v{number}");
            let vm = vm(&id, tenant, cpu * 500).with("gpu.count", cpu - 1);
            let clock = inventory.clock();
            // What is refused changes nothing.
            let done = match happens {
                Happens::Runs(host) => inventory.run_vm(vm, HOSTS[host]),
                Happens::Reserves(host) => {
                    inventory.reserve_vm(Arc::new(vm), HOSTS[host], Some(clock + cpu))
                }
                Happens::Grows => match inventory.pending(&id) {
                    None => inventory.reserve_in_place(Arc::new(vm), Terms::default()),
                    Some(_) => Ok(()),
                },
                Happens::Confirmed => inventory.confirm_vm(&id),
                Happens::Cancelled => inventory.cancel_vm(&id),
                Happens::Removed => inventory.remove_vm(&id),
                Happens::TimePasses => {
                    inventory.advance(clock + 1);
                    Ok(())
                }
                Happens::TakenBack(versions) => {
                    let version = inventory.version().saturating_sub(versions);
                    prop_assert!(inventory.take_back(version.max(inventory.oldest_version())));
                    Ok(())
                }
            };
            drop(done);
            prop_assert_eq!(counted(&inventory), recounted(&inventory));
        }
    }
}
