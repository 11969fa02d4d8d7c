//! The smallest change that lets a host through: each one is made, and the filters asked again.

use placewright_inventory::Inventory;
use placewright_model::{Group, GroupRule, Request, Value};
use placewright_policy::Unheeded;
use placewright_scheduler::questions::{Changed, Limit, Needed, Standing, Way};
use placewright_scheduler::{Cancel, Scheduler, SchedulerOptions, split_mix};
use placewright_tests::scene::{GIB, cluster, request, vm};

use super::questions::{Scene, generation};

const MIB: i64 = 1 << 20;

const FILTERS: &str = "
    [[filters]]
    unit = 'memory'
    [[filters]]
    unit = 'cpu'
    [[filters]]
    unit = 'affinity'
    [[costs]]
    unit = 'even-distribution'
    name = 'even'
";

fn ways(inventory: &Inventory, request: &Request, host: &str) -> Vec<Way> {
    let scene = Scene::new(inventory.clone(), FILTERS);
    scene.ask().why(request, host).unwrap().ways
}

fn sentences(ways: &[Way]) -> Vec<&str> {
    ways.iter().map(|way| way.sentence.as_str()).collect()
}

/// The value that a change asks for, so many of its steps further.
fn value(inventory: &Inventory, change: &Needed, steps: i64) -> Option<Value> {
    let table = match change.of {
        Changed::Host => "hosts",
        _ => "members",
    };
    let column = inventory.schema().column(table, &change.column).unwrap();
    let text = change.after.as_deref()?;
    let value = match column.measure {
        Some(measure) => measure.parse(text, column.kind).unwrap(),
        None => match column.kind {
            placewright_model::Kind::Integer => Value::Integer(text.parse().unwrap()),
            placewright_model::Kind::Number => Value::Number(text.parse().unwrap()),
            placewright_model::Kind::Boolean => Value::Boolean(text.parse().unwrap()),
            placewright_model::Kind::Text => Value::from(text),
        },
    };
    let is_bytes = column.measure == Some(placewright_model::Measure::Bytes);
    Some(match value {
        Value::Integer(value) => Value::Integer(value + steps * if is_bytes { MIB } else { 1 }),
        Value::Number(value) => Value::Number(value + steps as f64 / 100.0),
        other => other,
    })
}

/// Make a change, so many of its steps further.
fn make(inventory: &mut Inventory, request: &mut Request, change: &Needed, steps: i64) {
    let id = change.id.clone().unwrap_or_else(|| "".into());
    match change.of {
        Changed::Host => {
            let value = value(inventory, change, steps);
            inventory
                .set_host_value(&id, &change.column, value)
                .unwrap();
        }
        Changed::Vm if *change.column == *"host" => inventory.remove_vm(&id).unwrap(),
        Changed::Vm => {
            let value = value(inventory, change, steps);
            let member = request.members.iter_mut().find(|vm| vm.id == id).unwrap();
            match value {
                Some(value) => member.facts.set(change.column.clone(), value),
                None => member.facts.unset(&change.column),
            }
        }
        Changed::Group => {
            let mut group = inventory.group(&id).unwrap().given().clone();
            group.vm_rule = Some(GroupRule::Negative { hard: false });
            inventory.set_group(group).unwrap();
        }
        Changed::Request | Changed::Quota => panic!("{change:?}"),
    }
}

/// Whether the host is left when these changes are made, one of them by so many steps more.
fn is_left(
    inventory: &Inventory,
    request: &Request,
    (host, way): (&str, &Way),
    more: Option<(usize, i64)>,
) -> bool {
    let (mut inventory, mut request) = (inventory.clone(), request.clone());
    for (number, change) in way.changes.iter().enumerate() {
        let steps = more.map_or(0, |(at, steps)| if at == number { steps } else { 0 });
        make(&mut inventory, &mut request, change, steps);
    }
    let scene = Scene::new(inventory, FILTERS);
    let left = scene.ask().remaining(&request).unwrap();
    left.iter().any(|id| **id == *host)
}

/// That each way lets the host through, that one step less of any change does not, and that it
/// is told whether the host would be chosen.
fn check(inventory: &Inventory, request: &Request, host: &str) -> Vec<Way> {
    let ways = ways(inventory, request, host);
    for way in &ways {
        assert!(is_left(inventory, request, (host, way), None), "{way:?}");
        for (number, change) in way.changes.iter().enumerate() {
            let less = match change.bound {
                Limit::AtMost => 1,
                Limit::AtLeast => -1,
                Limit::Exactly => continue,
            };
            let nearer = is_left(inventory, request, (host, way), Some((number, less)));
            assert!(!nearer, "{way:?}: less of {change:?} is enough");
        }
        let (mut inventory, mut request) = (inventory.clone(), request.clone());
        for change in &way.changes {
            make(&mut inventory, &mut request, change, 0);
        }
        let scene = Scene::new(inventory, FILTERS);
        let (decision, _) = scene.ask().decide(&request).unwrap();
        assert_eq!(
            way.chosen,
            decision.host.as_deref() == Some(host),
            "{way:?}"
        );
    }
    ways
}

#[test]
fn the_greatest_amount_that_passes_is_told_to_the_mebibyte() {
    let mut inventory = cluster(2);
    inventory
        .run_vm(vm("b").with("memory", 60 * GIB), "h0")
        .unwrap();
    let wanted = request(vm("a").with("memory", 8 * GIB));
    let ways = check(&inventory, &wanted, "h0");
    let first = &ways[0].changes[0];
    assert_eq!(
        (first.of, &*first.column, first.bound),
        (Changed::Vm, "memory", Limit::AtMost)
    );
    assert_eq!(first.before.as_deref(), Some("8 GiB"));
    assert!(
        ways[0].sentence.starts_with("memory of VM a is at most "),
        "{ways:?}"
    );
    let all = sentences(&ways);
    let tells = |what: &str| all.iter().any(|sentence| sentence.contains(what));
    assert!(tells("memory.total of host h0 is at least "), "{all:?}");
    assert!(tells("VM b is not on host h0"), "{all:?}");
}

#[test]
fn each_change_is_enough_and_one_step_less_of_it_is_not() {
    let (mut one, mut two, mut kept_out) = (0, 0, 0);
    for seed in 0..40_u64 {
        let mut state = seed;
        let mut below = |bound: u64| {
            state = state.wrapping_add(1);
            (split_mix(seed, state) % bound) as i64
        };
        let mut inventory = cluster(3);
        for number in 0..4 {
            let resident = vm(&format!("r{number}"))
                .with("memory", (1 + below(40)) * GIB + below(1000) * MIB)
                .with("cpu", 100 * (1 + below(80)));
            let host = format!("h{}", below(3));
            inventory.run_vm(resident, &host).unwrap();
        }
        let wanted = vm("a")
            .with("memory", (1 + below(90)) * GIB + below(1 << 20))
            .with("cpu", 100 * (1 + below(240)));
        if below(3) == 0 {
            apart(&mut inventory, &["a", "r0"]);
        }
        let wanted = request(wanted);
        for host in ["h0", "h1", "h2"] {
            let ways = check(&inventory, &wanted, host);
            kept_out += usize::from(!ways.is_empty());
            one += ways.iter().filter(|way| way.changes.len() == 1).count();
            two += ways.iter().filter(|way| way.changes.len() == 2).count();
        }
    }
    assert!(
        kept_out >= 20 && one >= 20 && two >= 5,
        "{kept_out} {one} {two}"
    );
}

fn apart(inventory: &mut Inventory, vms: &[&str]) {
    let group = Group {
        vms: vms.iter().map(|id| (*id).into()).collect(),
        vm_rule: Some(GroupRule::Negative { hard: true }),
        ..Group::new("apart")
    };
    inventory.set_group(group).unwrap();
}

#[test]
fn a_hard_rule_in_the_way_is_told_with_the_vm_that_keeps_it() {
    let mut inventory = cluster(2);
    inventory.run_vm(vm("b"), "h0").unwrap();
    apart(&mut inventory, &["a", "b"]);
    let ways = check(&inventory, &request(vm("a")), "h0");
    assert_eq!(
        sentences(&ways),
        [
            "the rules of group apart are not hard",
            "VM b is not on host h0"
        ]
    );
}

#[test]
fn two_changes_are_told_where_one_is_not_enough() {
    let inventory = cluster(2);
    let wanted = request(vm("a").with("memory", 100 * GIB).with("cpu", 20_000_i64));
    let ways = check(&inventory, &wanted, "h0");
    let columns = ways[0].changes.iter().map(|change| &*change.column);
    let mut columns: Vec<&str> = columns.collect();
    columns.sort_unstable();
    assert_eq!(columns, ["cpu", "memory"]);
    assert!(ways[0].sentence.contains(", and "), "{ways:?}");
}

#[test]
fn a_host_that_is_not_up_is_to_be_up_and_more_where_that_is_not_enough() {
    let mut inventory = cluster(2);
    inventory
        .set_host_value("h1", "state", Some("down".into()))
        .unwrap();
    let ways = check(&inventory, &request(vm("a")), "h1");
    assert_eq!(sentences(&ways), ["state of host h1 is up instead of down"]);
    let large = request(vm("a").with("memory", 200 * GIB));
    let ways = check(&inventory, &large, "h1");
    assert!(ways.iter().all(|way| way.changes.len() == 2), "{ways:?}");
    assert_eq!(&*ways[0].changes[1].column, "memory");
}

#[test]
fn hosts_that_the_request_leaves_out_are_to_be_allowed() {
    let inventory = cluster(3);
    for wanted in [
        Request {
            excluded: vec!["h2".into()],
            ..request(vm("a"))
        },
        Request {
            allowed: vec!["h0".into()],
            ..request(vm("a"))
        },
    ] {
        let ways = ways(&inventory, &wanted, "h2");
        assert_eq!(sentences(&ways), ["the request allows host h2"]);
    }
}

#[test]
fn of_a_host_that_was_left_nothing_is_told() {
    let inventory = cluster(2);
    assert!(ways(&inventory, &request(vm("a")), "h0").is_empty());
    assert!(ways(&inventory, &request(vm("a")), "h1").is_empty());
}

#[test]
fn a_recorded_decision_is_asked_on_the_inventory_of_then() {
    let mut inventory = cluster(2);
    inventory
        .run_vm(vm("b").with("memory", 62 * GIB), "h0")
        .unwrap();
    let scene = Scene::new(inventory, FILTERS);
    let mut scheduler: Scheduler = scene.scheduler();
    let decision = scheduler.place(request(vm("a"))).unwrap();
    assert_eq!(decision.host.as_deref(), Some("h1"));
    let ask = |scheduler: &Scheduler| {
        let past = scheduler.past(decision.number).unwrap();
        past.why("h0", &Cancel::default()).unwrap()
    };
    let then = ask(&scheduler);
    assert!(
        matches!(then.standing, Standing::Removed { .. }),
        "{then:?}"
    );
    assert!(!then.ways.is_empty(), "{then:?}");
    scheduler.inventory_mut().remove_vm("b").unwrap();
    assert_eq!(ask(&scheduler), then);
    let past = scheduler.past(decision.number).unwrap();
    let error = past.why("h9", &Cancel::default()).unwrap_err();
    assert!(error.to_string().contains("no host \"h9\""), "{error}");
}

#[test]
fn a_question_whose_time_is_up_ends() {
    let mut inventory = cluster(2);
    inventory
        .run_vm(vm("b").with("memory", 62 * GIB), "h0")
        .unwrap();
    let policy = placewright_tests::scene::policy(FILTERS, generation()).unwrap();
    let mut scheduler = Scheduler::new(
        inventory,
        policy.into(),
        generation(),
        SchedulerOptions {
            unheeded: Unheeded::Ignore,
            ..SchedulerOptions::default()
        },
    )
    .unwrap();
    let number = scheduler.place(request(vm("a"))).unwrap().number;
    let past = scheduler.past(number).unwrap();
    let over = Cancel::default().within(std::time::Duration::ZERO);
    let error = past.why("h0", &over).unwrap_err();
    assert!(error.to_string().contains("not finished within"), "{error}");
}
