//! VMs whose hosts are down are started elsewhere, in the room that is there for it.

use std::sync::Arc;

use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_engine::{Engine, Limits};
use placewright_inventory::Inventory;
use placewright_plugins as plugins;
use placewright_policy::Policy;
use placewright_scheduler::questions::{FailureOptions, Restart, Situation};
use placewright_scheduler::{BalancePlan, Scheduler, SchedulerOptions};

use super::evacuation::cluster;

/// Half of each host is for VMs of hosts that fail.
const RESERVING: &str = "
[[filters]]
unit = 'memory'
[[filters]]
unit = 'failover-reserve'
settings = { reserve = 0.5 }
[[costs]]
unit = 'memory'
";

fn generation() -> Generation {
    let engine = Engine::new(Limits::default(), None).unwrap();
    let units = ["memory", "failover-reserve"].map(|name| {
        let unit = plugins::UNITS.iter().find(|unit| unit.name == name);
        let bytes = unit.expect("it comes with the program").bytes;
        Unit::load(&engine, bytes, name).unwrap()
    });
    Generation::new(units).unwrap()
}

/// A host that runs a VM which needs more than half of another one.
fn two_hosts() -> Inventory {
    cluster(&[("a", 10), ("b", 10)], &[("v", 6, "a"), ("off", 1, "a")])
}

fn scheduler(inventory: Inventory, generation: &Generation) -> Scheduler {
    let policy = Policy::load(RESERVING, "p.toml", generation, inventory.schema()).unwrap();
    let options = SchedulerOptions::default();
    Scheduler::new(inventory, Arc::new(policy), generation, options).unwrap()
}

fn moved(plan: &BalancePlan) -> Vec<&str> {
    plan.moves.iter().map(|it| &*it.vm).collect()
}

#[test]
fn the_room_that_a_policy_keeps_for_failures_is_for_vms_of_hosts_that_failed() {
    let units = generation();
    let hosts = ["a".into()];
    let mut up = scheduler(two_hosts(), &units);
    let emptied = up.plan_evacuation(1000, &hosts).unwrap();
    assert_eq!(moved(&emptied), ["off"], "{emptied:?}");
    assert_eq!(&*emptied.stuck[0].vm, "v");
    // A host that is up has nothing to be restarted.
    let restarts = up.plan_restarts(1000, &hosts, Restart::All).unwrap();
    assert_eq!(moved(&restarts), [""; 0]);

    let mut inventory = two_hosts();
    let down = Some("down".into());
    inventory.set_host_value("a", "state", down).unwrap();
    let mut scheduler = scheduler(inventory, &units);
    let plan = scheduler.plan_restarts(1000, &hosts, Restart::All).unwrap();
    assert_eq!(moved(&plan), ["v", "off"], "{plan:?}");
    // It is there for them when they are begun, too.
    for step in &plan.moves {
        scheduler.begin_move(step, 1000).unwrap();
    }
    let unknown = scheduler.plan_restarts(1000, &["z".into()], Restart::All);
    assert!(unknown.unwrap_err().to_string().contains('z'));
}

#[test]
fn what_if_a_host_fails_supposes_the_same() {
    let units = generation();
    let scheduler = scheduler(two_hosts(), &units);
    let situation = Situation {
        inventory: scheduler.inventory(),
        policy: scheduler.chain().policy(),
        generation: &units,
        options: scheduler.options(),
    };
    let failed = situation.without_hosts(&["a".to_owned()], 1000, FailureOptions::default());
    assert!(failed.unwrap().survived());
}
