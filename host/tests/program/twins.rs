//! A unit in another language beside its twin, the unit `cpu` in Rust: the same answers to
//! the same calls, and the same decisions.

use std::sync::Arc;
use std::time::Duration;

use placewright_chain::{Chain, Runner};
use placewright_engine::contract::{Answers, Call, Part};
use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_inventory::Inventory;
use placewright_model::schema::Schema;
use placewright_model::{Host, Request, Vm};
use placewright_scheduler::{Scheduler, SchedulerOptions};
use placewright_tests::scene::{GIB, policy};
use placewright_tests::units;

/// Limits by time are no part of the claims: other tests run beside these.
const PATIENT: Duration = Duration::from_secs(300);

/// Hosts of which some lack a topology, full to different degrees.
fn fleet() -> Inventory {
    let mut inventory = Inventory::new("test", Arc::new(Schema::default()));
    for number in 0..24_i64 {
        let id = format!("h{number:02}");
        let mut host = Host::new(id.as_str()).with("memory.total", 256 * GIB);
        host = match number % 3 {
            0 => host.with("cpu.total", (number % 7) * 4_000),
            1 => host.with("cpu.cores", 8 + number % 5),
            _ => host
                .with("cpu.sockets", 2_i64)
                .with("cpu.cores", 16_i64)
                .with("cpu.threads", 32_i64),
        };
        if number % 4 == 1 {
            host = host.with("cpu.overcommit", 0.5 * (number % 8) as f64);
        }
        inventory.add_host(host).unwrap();
        for place in 0..number % 6 {
            let running = vm(&format!("v{number}-{place}"), number + place);
            inventory.run_vm(running, &id).unwrap();
        }
    }
    inventory
}

fn vm(id: &str, number: i64) -> Vm {
    Vm::new(id)
        .with("cores", 1 + number % 7)
        .with("memory", GIB)
        .with("cpu", 700 * (1 + number % 5))
        .with("exclusive", number % 4 == 3)
}

/// One VM or several, which is new or runs already.
fn request(number: i64) -> Request {
    let new = |member: i64| vm(&format!("n{number}-{member}"), number + member);
    let mut members: Vec<Vm> = (0..=number % 3).map(new).collect();
    if number % 5 == 4 {
        members.push(vm("v11-2", 13));
    }
    Request {
        members,
        ..Request::default()
    }
}

/// A filter and a cost function of the unit.
fn text(unit: &str, settings: &str) -> String {
    let part = |list| format!("[[{list}]]\nunit = '{unit}'\nsettings = {{ {settings} }}\n");
    part("filters") + &part("costs")
}

/// Both are asked about the hosts of many requests, and answer alike.
pub(crate) fn answer_alike(rust: &Arc<Unit>, other: &Unit) {
    let generation = Generation::new([rust.clone()]).unwrap();
    let mut asked = 0;
    for settings in [
        "",
        "overcommit = 1.5",
        "overcommit = 0.6, count-threads-as-cores = true",
        "require-topology = true",
    ] {
        let mut inventory = fleet();
        let policy = policy(&text("cpu", settings), &generation).unwrap();
        let chain = Chain::resolve(Arc::new(policy), &generation, &mut inventory).unwrap();
        let mut runner = Runner::new(Arc::new(chain), PATIENT);
        let mut twins = [rust, other].map(|it| it.instantiate(Part::Judge).unwrap());
        for number in 0..15 {
            runner.explain(&inventory, &request(number), 0.5).unwrap();
            let calls: Vec<Call> = runner.calls().map(|(_, call)| call.clone()).collect();
            for call in calls {
                let rows = call.rows[1] as usize;
                asked += rows;
                let [one, other] = twins
                    .each_mut()
                    .map(|twin| twin.judge(Answers::BOTH, &call, rows, PATIENT));
                assert_eq!(one.unwrap(), other.unwrap(), "{settings}, request {number}");
            }
        }
    }
    assert!(asked > 500, "{asked} hosts are too few to tell");
}

/// In a chain with another unit, either decides as the other would.
pub(crate) fn decide_alike(rust: Arc<Unit>, other: Arc<Unit>) {
    let decided = |unit: Arc<Unit>| -> Vec<_> {
        let generation = Generation::new([unit.clone(), units::unit("memory")]).unwrap();
        let text = text(unit.name(), "overcommit = 2.0") + "[[filters]]\nunit = 'memory'\n";
        let options = SchedulerOptions {
            chain_limit: PATIENT,
            ..SchedulerOptions::default()
        };
        let policy = Arc::new(policy(&text, &generation).unwrap());
        let mut scheduler = Scheduler::new(fleet(), policy, &generation, options).unwrap();
        let place = |number| {
            let members = vec![vm(&format!("n{number}"), number)];
            let request = Request {
                members,
                ..Request::default()
            };
            scheduler.place(request).unwrap().host.clone()
        };
        (0..60).map(place).collect()
    };
    let [rust, other] = [rust, other].map(decided);
    assert!(rust.iter().any(Option::is_some));
    assert_eq!(rust, other);
}
