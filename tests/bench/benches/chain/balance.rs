//! A cluster of mirrored VMs that is to be balanced by Ganeti's score.

use std::fmt::Write;
use std::sync::Arc;

use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_engine::{Engine, Limits};
use placewright_inventory::Inventory;
use placewright_plugins as plugins;
use placewright_policy::Policy;
use placewright_scheduler::{Scheduler, SchedulerOptions};

use crate::fleet::component;

/// A scheduler under the policy `ganeti`, its nodes unevenly used.
pub(crate) fn scheduler(nodes: u64, instances: u64) -> Scheduler {
    let text = cluster(nodes, instances);
    let document = placewright_tools::ganeti::read(&text, "bench.data", None);
    let inventory = Inventory::of_document(document.expect("the text is well formed"), 0);
    let inventory = inventory.expect("the cluster fits the schema");
    let engine = Engine::new(Limits::default(), None).expect("an engine");
    let unit = Unit::load(&engine, &component("ganeti-score"), "ganeti-score");
    let generation = Generation::new([unit.expect("the unit loads")]).expect("one name");
    let policy = plugins::policy("ganeti").expect("it comes with the program");
    let policy = Policy::load(policy.text, "ganeti.toml", &generation, inventory.schema());
    let policy = Arc::new(policy.expect("the policy fits the unit"));
    let options = SchedulerOptions::default();
    Scheduler::new(inventory, policy, &generation, options).expect("the unit is there")
}

/// A file of htools. An instance has 1 to 4 GiB and vCPUs, a node room for thirty.
fn cluster(nodes: u64, instances: u64) -> String {
    let mut seed = 7_u64;
    let mut below = |bound: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % bound
    };
    let mut taken = vec![(0, 0); nodes as usize];
    let mut lines = String::new();
    for number in 0..instances {
        // The first nodes get more.
        let primary = below(nodes).min(below(nodes));
        let secondary = (primary + 1 + below(nodes - 1)) % nodes;
        let size = 1 + below(4);
        taken[primary as usize].0 += size * 1024;
        for node in [primary, secondary] {
            taken[node as usize].1 += size * 10_240;
        }
        writeln!(
            lines,
            "i{number:04}|{}|{}|{size}|running|Y|n{primary:03}|n{secondary:03}|drbd||1",
            size * 1024,
            size * 10_240,
        )
        .expect("a text takes everything");
    }
    let mut text = "group|id|preferred||\n\n".to_owned();
    for (number, (memory, disk)) in taken.iter().enumerate() {
        let (free, disk) = (131_072 - memory, 4_194_304 - disk);
        writeln!(
            text,
            "n{number:03}|131072|0|{free}|4194304|{disk}|32|N|id|4"
        )
        .expect("a text takes everything");
    }
    text + "\n" + &lines + "\n\n"
}
