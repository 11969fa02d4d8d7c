//! Placement keys over hosts that each carry many.

use std::sync::Arc;

use placewright_chain::Chain;
use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_engine::{Engine, Limits};
use placewright_inventory::Inventory;
use placewright_model::schema::Schema;
use placewright_model::{Facts, Host, Request, Vm};
use placewright_plugins as plugins;
use placewright_policy::Policy;

use crate::fleet::{Bench, Numbers, component};

const UNITS: [&str; 4] = [
    "memory-room",
    "placement-keys",
    "score-rounds",
    "customer-keys",
];
const GIB: i64 = 1 << 30;
/// Keys of every host, and of the VM.
const KEYS: usize = 20;
/// Levels of the resources that carry a VM's keys: cluster and server.
const LEVELS: [(i64, &str); 2] = [(0, "sys"), (9, "cust")];

/// Hosts with keys, half of which the VM has too.
pub(crate) fn bench(hosts: usize) -> Bench {
    let engine = Engine::new(Limits::default(), None).expect("an engine");
    let units =
        UNITS.map(|name| Unit::load(&engine, &component(name), name).expect("the unit loads"));
    let generation = Generation::new(units).expect("four names");
    let mut numbers = Numbers::new(11);
    let mut inventory = Inventory::new("bench", Arc::new(Schema::default()));
    for number in 0..hosts {
        let mut host = Host::new(format!("h{number:06}"))
            .with("cpu.cores", 40i64)
            .with("cpu.usage", numbers.below(100) as f64 / 100.0)
            .with("memory.total", 512 * GIB)
            .with("memory.free", 300 * GIB);
        for key in 0..KEYS {
            let value = numbers.below(10) as f64 / 10.0;
            let key = Facts::new()
                .with("name", format!("key-{key}").as_str())
                .with("value", value);
            host.facts.push_row("keys", key);
        }
        inventory.add_host(host).expect("a new host");
    }
    let mut vm = Vm::new("new").with("memory", 4 * GIB).with("cores", 2i64);
    for key in 0..KEYS {
        let (level, class) = LEVELS[key % 2];
        let key = Facts::new()
            .with("level", level)
            .with("class", class)
            .with("name", format!("key-{key}").as_str())
            .with("value", "0.5")
            .with("weight", 10.0);
        vm.facts.push_row("keys", key);
    }
    let document = plugins::policy("flexiant").expect("an embedded policy");
    let policy = Policy::load(document.text, "p.toml", &generation, inventory.schema())
        .expect("the policy fits the units");
    let chain =
        Chain::resolve(Arc::new(policy), &generation, &mut inventory).expect("the units are there");
    Bench {
        inventory,
        chain: Arc::new(chain),
        request: Request {
            members: vec![vm],
            ..Request::default()
        },
    }
}
