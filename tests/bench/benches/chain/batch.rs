//! A batch planned from nothing: many VMs over hosts with two named amounts, by
//! majority of what is free.

use std::sync::Arc;

use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_engine::{Engine, Limits};
use placewright_inventory::Inventory;
use placewright_model::schema::Schema;
use placewright_model::{Facts, Host, Vm};
use placewright_plugins as plugins;
use placewright_policy::Policy;
use placewright_scheduler::{Batch, Scheduler, SchedulerOptions};

use crate::fleet::{Numbers, component};

const UNITS: [&str; 5] = [
    "utilization",
    "host-score",
    "placement-strategy",
    "vm-count",
    "current-host",
];

/// A scheduler over `hosts` hosts, and a batch of `vms` VMs that fill most of them.
pub(crate) fn batch(hosts: usize, vms: usize) -> (Scheduler, Batch) {
    let engine = Engine::new(Limits::default(), None).expect("an engine");
    let units =
        UNITS.map(|name| Unit::load(&engine, &component(name), name).expect("the unit loads"));
    let generation = Generation::new(units).expect("five names");
    let mut numbers = Numbers::new(7);
    let mut inventory = Inventory::new("bench", Arc::new(Schema::default()));
    for number in 0..hosts {
        let mut host = Host::new(format!("n{number:05}"));
        for (name, least) in [("cpu", 16), ("memory", 64)] {
            let total = least << numbers.below(3);
            let amount = Facts::new().with("name", name).with("total", total);
            host.facts.push_row("amounts", amount);
        }
        inventory.add_host(host).expect("a new host");
    }
    let members = (0..vms).map(|number| {
        let mut vm = Vm::new(format!("r{number:05}")).with("priority", numbers.below(4) as i64);
        for (name, most) in [("cpu", 12), ("memory", 48)] {
            let need = 1 + numbers.below(most) as i64;
            let amount = Facts::new().with("name", name).with("need", need);
            vm.facts.push_row("amounts", amount);
        }
        vm
    });
    let batch = Batch {
        members: members.collect(),
        from_nothing: true,
        dry_run: true,
        ..Batch::default()
    };
    let document = plugins::policy("pacemaker-balanced").expect("an embedded policy");
    let policy = Policy::load(document.text, "p.toml", &generation, inventory.schema())
        .expect("the policy fits the units");
    let options = SchedulerOptions {
        recorded: 0,
        ..SchedulerOptions::default()
    };
    let scheduler = Scheduler::new(inventory, Arc::new(policy), &generation, options)
        .expect("the units are there");
    (scheduler, batch)
}
