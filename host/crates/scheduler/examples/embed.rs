//! A scheduler in a program of one's own: loads units, makes a chain, places a hundred VMs on
//! four hosts, and explains one decision. It needs no server, no store and no command line.
//!
//!     cargo run --release -p placewright-scheduler --example embed

use std::error::Error;
use std::sync::Arc;

use placewright_scheduler::engine::generation::Generation;
use placewright_scheduler::engine::unit::Unit;
use placewright_scheduler::engine::{Engine, Limits};
use placewright_scheduler::inventory::Inventory;
use placewright_scheduler::model::schema::Schema;
use placewright_scheduler::model::{Host, Request, Vm};
use placewright_scheduler::policy::Policy;
use placewright_scheduler::{Scheduler, SchedulerOptions};

const GIB: i64 = 1 << 30;

const POLICY: &str = "
    filters = [{ unit = 'memory' }, { unit = 'cpu' }]
    costs = [{ unit = 'memory' }]
";

/// Place a hundred VMs, and explain one.
pub fn main() -> Result<(), Box<dyn Error>> {
    // Units are components; those that come with Placewright are in `placewright_plugins`.
    let engine = Engine::new(Limits::default(), None)?;
    let load = |name: &str| {
        let unit = placewright_plugins::UNITS.iter().find(|it| it.name == name);
        let unit = unit.ok_or_else(|| format!("no unit is called {name}"))?;
        Ok::<_, Box<dyn Error>>(Unit::load(&engine, unit.bytes, name)?)
    };
    let units = [load("memory")?, load("cpu")?];
    let generation = Generation::new(units)?;

    // The policy chains them: both keep hosts with room, and `memory` prefers the emptiest.
    let policy = Policy::load(POLICY, "mine.toml", &generation, Schema::built_in())?;

    let mut inventory = Inventory::new("rack-1", Arc::new(Schema::default()));
    for number in 1..=4 {
        let host = Host::new(format!("h{number}"))
            .with("cpu.cores", 32_i64)
            .with("memory.total", 128 * number * GIB);
        inventory.add_host(host)?;
    }
    let options = SchedulerOptions::default();
    let mut scheduler = Scheduler::new(inventory, Arc::new(policy), &generation, options)?;

    let mut last = 0;
    for number in 1..=100 {
        let vm = Vm::new(format!("web-{number}"))
            .with("cpu", 500_i64) // thousandths of a core
            .with("memory", 4 * GIB);
        let request = Request {
            members: vec![vm],
            ..Request::default()
        };
        let decision = scheduler.place(request)?;
        println!(
            "web-{number}: {}",
            decision.host.as_deref().unwrap_or("no host")
        );
        last = decision.number;
    }
    let explanation = scheduler.explain(last)?;
    println!("{}", serde_json::to_string_pretty(&explanation)?);
    Ok(())
}
