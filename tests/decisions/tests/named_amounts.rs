//! Named amounts under a policy that comes with the program: who finds no room is told
//! what each host is short of.

use std::sync::Arc;

use placewright_chain::Explanation;
use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_inventory::Inventory;
use placewright_model::schema::Schema;
use placewright_model::{Facts, Host, Value, Vm};
use placewright_plugins as plugins;
use placewright_scheduler::{Batch, Decision, Plan, Scheduler};
use placewright_tests::scene::scheduler;
use placewright_tests::units::engine;

const POLICY: &str = "pacemaker-utilization";
const UNITS: [&str; 5] = [
    "utilization",
    "host-score",
    "vm-count",
    "current-host",
    "placement-strategy",
];

/// A scheduler under the policy, of the components that come with the program.
fn planner(inventory: Inventory) -> Scheduler {
    let wanted = plugins::UNITS
        .iter()
        .filter(|unit| UNITS.contains(&unit.name));
    let units: Vec<Arc<Unit>> = wanted
        .map(|unit| Unit::load(engine(), unit.bytes, unit.name).unwrap())
        .collect();
    let generation = Generation::new(units).unwrap();
    scheduler(
        inventory,
        plugins::policy(POLICY).unwrap().text,
        &generation,
    )
}

/// A cluster of hosts with these totals.
fn cluster(hosts: &[(&str, &[(&str, i64)])]) -> Inventory {
    let mut inventory = Inventory::new("test", Arc::new(Schema::default()));
    for (id, totals) in hosts {
        let mut host = Host::new(*id);
        host.facts.set_rows("amounts", amounts(totals, "total"));
        inventory.add_host(host).unwrap();
    }
    inventory
}

fn vm(id: &str, priority: i64, needs: &[(&str, i64)]) -> Vm {
    let mut vm = Vm::new(id).with("priority", priority);
    vm.facts.set_rows("amounts", amounts(needs, "need"));
    vm
}

fn amounts(amounts: &[(&str, i64)], column: &str) -> Vec<Facts> {
    let row = |(name, amount): &(&str, i64)| Facts::new().with("name", *name).with(column, *amount);
    amounts.iter().map(row).collect()
}

fn plan(scheduler: &mut Scheduler, members: Vec<Vm>) -> Plan {
    let batch = Batch {
        members,
        from_nothing: true,
        dry_run: true,
        ..Batch::default()
    };
    scheduler.place_batch(batch).unwrap()
}

/// The decision of the last turn.
fn last(plan: &Plan) -> &Decision {
    plan.turns.last().unwrap().outcome.as_ref().unwrap()
}

/// What is short, host by host, and by how much.
fn shortages(explanation: &Explanation) -> Vec<(&str, &str, &Value)> {
    let facts = explanation.stages.iter().flat_map(|stage| &stage.facts);
    facts
        .map(|fact| {
            let (_, host) = fact.about.as_ref().unwrap();
            (host.as_str(), fact.name.as_str(), &fact.value)
        })
        .collect()
}

#[test]
fn who_finds_no_room_is_told_for_every_host_what_it_is_short_of_and_by_how_much() {
    let mut inventory = cluster(&[
        ("a", &[("cpu", 4), ("gpu", 1)]),
        ("b", &[("cpu", 6)]),
        ("c", &[("cpu", 64), ("gpu", 8)]),
    ]);
    let drained = Some("maintenance".into());
    inventory.set_host_value("c", "state", drained).unwrap();
    let mut scheduler = planner(inventory);
    let small = vm("small", 1, &[("cpu", 3)]);
    let large = vm("large", 0, &[("cpu", 3), ("gpu", 1)]);
    let plan = plan(&mut scheduler, vec![large, small]);
    assert_eq!(plan.host("small").map(|host| &**host), Some("a"));

    let decision = last(&plan);
    assert_eq!(
        (&*decision.request.members[0].id, &decision.host),
        ("large", &None)
    );
    let removed = decision.decided.removed.iter();
    let reasons: Vec<_> = removed
        .map(|it| (&*it.filter, &*it.reason, it.passing, it.hosts))
        .collect();
    let pending = "has too little of an amount that is needed while places on it are reserved";
    assert_eq!(
        reasons,
        [
            ("state", "is not up: its state is maintenance", false, 1),
            (
                "utilization",
                "has nothing of an amount that is needed",
                false,
                1
            ),
            ("utilization", pending, true, 1),
        ]
    );
    let explanation = scheduler.explain(decision.number).unwrap();
    assert_eq!(
        shortages(&explanation),
        [
            ("a", "short of cpu", &Value::Integer(2)),
            ("b", "short of gpu", &Value::Integer(1)),
        ]
    );
    let [drained] = &explanation.not_considered[..] else {
        panic!("one host is not considered");
    };
    assert_eq!(drained.reason, "is not up: its state is maintenance");
}

#[test]
fn who_runs_and_loses_its_room_to_a_higher_priority_is_told_what_was_taken() {
    let mut inventory = cluster(&[("a", &[("cpu", 4)])]);
    let old = vm("old", 0, &[("cpu", 3)]).with("stickiness", 1_000_000_i64);
    inventory.run_vm(old.clone(), "a").unwrap();
    let mut scheduler = planner(inventory);
    let plan = plan(&mut scheduler, vec![old, vm("new", 1, &[("cpu", 2)])]);
    assert_eq!(plan.host("new").map(|host| &**host), Some("a"));
    assert_eq!(plan.host("old"), None);
    let explanation = scheduler.explain(last(&plan).number).unwrap();
    let short = [("a", "short of cpu", &Value::Integer(1))];
    assert_eq!(shortages(&explanation), short);
}

#[test]
fn who_would_fit_but_for_its_scores_is_told_of_no_amount() {
    let mut scheduler = planner(cluster(&[("a", &[("cpu", 4)])]));
    let mut vm = vm("v", 0, &[("cpu", 4)]);
    vm.pinning.location.push(("a".into(), -1));
    let plan = plan(&mut scheduler, vec![vm]);
    assert_eq!(plan.host("v"), None);
    let decision = last(&plan);
    assert_eq!(&*decision.decided.removed[0].reason, "has a score below 0");
    let explanation = scheduler.explain(decision.number).unwrap();
    assert_eq!(shortages(&explanation), []);
}
