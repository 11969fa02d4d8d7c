use compiled_keys::number;
use placewright_sdk::contract::{Operation, Value};

use super::*;

fn host_key(name: &str, value: f64, weight: f64, sticky: bool) -> NodeKey {
    NodeKey {
        name: name.into(),
        value,
        weight: Some(weight),
        sticky: Some(sticky),
    }
}

fn own_key(level: Level, class: &str, name: &str) -> OwnKey {
    OwnKey {
        level: level.number(),
        class: class.into(),
        name: name.into(),
    }
}

fn vm(keys: Vec<OwnKey>) -> Vm {
    Vm {
        running: false,
        keys: keys.into(),
    }
}

fn placement(vms: Vec<Vm>, keys: Vec<NodeKey>) -> Placement {
    Placement {
        vms: vms.into(),
        hosts: vec![ChosenHost { keys: keys.into() }].into(),
    }
}

fn changes(vms: Vec<Vm>, keys: Vec<NodeKey>) -> Vec<(u32, Operation)> {
    let changes = PlacementKeys::placed(&placement(vms, keys), &()).expect("nothing is refused");
    let changes = changes.into_contract().into_iter();
    changes
        .map(|change| (change.entity, change.operation))
        .collect()
}

/// A copy as it is written.
fn copy(name: &str, value: &str, weight: f64) -> Vec<Option<Value>> {
    vec![
        Some(Value::Integer(9)),
        Some(Value::Text("sys".into())),
        Some(Value::Text(name.into())),
        Some(Value::Text(value.into())),
        Some(Value::Number(weight)),
    ]
}

#[test]
fn a_vm_that_starts_gets_the_sticky_keys_of_the_host_and_no_others() {
    let keys = vec![
        host_key("ds", 0.5, 30.0, true),
        host_key("tier", 1.0, 30.0, false),
        host_key("_ssd", 1.0, 20.0, true),
        host_key("#RAM", 1.0, 20.0, true),
        NodeKey {
            sticky: None,
            ..host_key("rack", 1.0, 20.0, true)
        },
    ];
    let appended = Operation::Append(copy("ds", "0.5", 30.0));
    assert_eq!(changes(vec![vm(vec![])], keys), [(0, appended)]);
}

#[test]
fn the_system_key_of_that_name_on_the_server_is_replaced() {
    let keys = vec![
        own_key(Level::Cluster, "sys", "ds"),
        own_key(Level::Server, "cust", "ds"),
        own_key(Level::Server, "sys", "other"),
        own_key(Level::Server, "sys", "ds"),
    ];
    let replaced = Operation::Set((3, copy("ds", "-2", -40.0)));
    let sticky = vec![host_key("ds", -2.0, -40.0, true)];
    assert_eq!(changes(vec![vm(keys)], sticky), [(0, replaced)]);
}

#[test]
fn every_vm_that_is_started_gets_them_and_none_that_is_moved() {
    let moved = Vm {
        running: true,
        ..vm(vec![])
    };
    let sticky = vec![host_key("ds", 1.0, 30.0, true)];
    let appended = || Operation::Append(copy("ds", "1", 30.0));
    assert_eq!(
        changes(vec![vm(vec![]), moved, vm(vec![])], sticky),
        [(0, appended()), (2, appended())]
    );
}

#[test]
fn a_copy_has_exactly_the_value_of_the_host() {
    for value in [0.1, 1e300, -1e-300, 1.0 / 3.0, 123_456_789.0] {
        let key = host_key("ds", value, 1.0, true);
        assert_eq!(number(&key.copy().value), Some(value));
    }
}

#[test]
fn a_sticky_key_that_is_there_twice_is_refused() {
    let key = || host_key("ds", 1.0, 30.0, true);
    let twice = placement(vec![vm(vec![])], vec![key(), key()]);
    let refused = PlacementKeys::placed(&twice, &());
    assert!(matches!(refused, Err(Problem::Refused(_))));
}
