use compiled_keys::Level;
use placewright_sdk::contract::{Change, Operation, Value};

use super::*;

fn key(class: &str, name: &str, value: &str, weight: f64) -> ResourceKey {
    ResourceKey {
        level: Level::Server.number(),
        index: None,
        class: class.into(),
        name: name.into(),
        value: value.into(),
        weight: Some(weight),
    }
}

fn fixed(keys: &[(&str, f64)]) -> Rows<HostKey> {
    let key = |&(name, value): &(&str, f64)| HostKey {
        name: name.into(),
        value,
    };
    keys.iter().map(key).collect()
}

fn host(keys: &[(&str, f64)], vms: &[&[(&str, f64)]]) -> Host {
    Host {
        keys: fixed(keys),
        vms: vms
            .iter()
            .map(|keys| PlacedVm { keys: fixed(keys) })
            .collect(),
    }
}

fn cost(keys: Vec<ResourceKey>, host: &Host) -> f64 {
    let vm = Vm { keys: keys.into() };
    let need = CustomerKeys::prepare(&vm, &()).expect("nothing is refused");
    CustomerKeys::cost(&need, host)
}

#[test]
fn vms_of_a_group_attract_each_other_the_more_the_more_there_are() {
    let group = || vec![key("cust", "Group1", "1", 100.0)];
    let costs = [
        cost(group(), &host(&[], &[])),
        cost(
            group(),
            &host(&[], &[&[("Group1", 1.0)], &[("other", 1.0)]]),
        ),
        cost(
            group(),
            &host(&[], &[&[("Group1", 1.0)], &[("Group1", 0.5)]]),
        ),
    ];
    assert_eq!(costs, [0.0, -100.0, -150.0]);
}

#[test]
fn a_negative_weight_keeps_vms_apart() {
    let apart = vec![key("be", "Repel1", "1", -100.0)];
    assert_eq!(cost(apart, &host(&[], &[&[("Repel1", 1.0)]])), 100.0);
}

#[test]
fn only_reserved_keys_of_the_host_are_offered_to_customers() {
    let keys = vec![key("cust", "_ssd", "1", 8.0), key("cust", "tier", "1", 4.0)];
    let offering = host(&[("_ssd", 1.0), ("tier", 1.0)], &[]);
    assert_eq!(cost(keys, &offering), -8.0);
}

#[test]
fn reserved_keys_that_vms_ask_for_count_like_those_of_the_host() {
    let keys = vec![key("cust", "_ssd", "1", 8.0)];
    let both = host(&[("_ssd", 1.0)], &[&[("_ssd", 1.0)]]);
    assert_eq!(cost(keys, &both), -16.0);
}

#[test]
fn system_keys_do_not_count() {
    let keys = vec![key("sys", "Group1", "1", 100.0)];
    assert_eq!(cost(keys, &host(&[], &[&[("Group1", 1.0)]])), 0.0);
}

#[test]
fn what_is_compiled_of_the_keys_is_fixed_for_each_vm() {
    let vm = |keys: Vec<ResourceKey>| Vm { keys: keys.into() };
    let below = ResourceKey {
        level: Level::Nic.number(),
        ..key("cust", "Group1", "0.5", 1.0)
    };
    let placement = Placement {
        vms: vec![
            vm(vec![key("sys", "tier", "1", 1.0)]),
            vm(vec![
                key("be", "Group1", "1", 1.0),
                below,
                key("be", "_a", "2", 1.0),
            ]),
        ]
        .into(),
    };
    let changes = CustomerKeys::placed(&placement, &()).expect("nothing is refused");
    let fixed = |name: &str, value| Change {
        write: 0,
        entity: 1,
        operation: Operation::Append(vec![
            Some(Value::Text(name.into())),
            Some(Value::Number(value)),
        ]),
    };
    assert_eq!(
        changes.into_contract(),
        [fixed("Group1", 0.5), fixed("_a", 2.0)]
    );
}

#[test]
fn it_is_told_what_was_compiled() {
    let vm = Vm {
        keys: vec![key("cust", "Group1", "1", -100.0)].into(),
    };
    let placement = Placement {
        vms: vec![vm].into(),
    };
    assert_eq!(
        CustomerKeys::explain(&placement, &()),
        Ok(vec![
            Fact::new("value.Group1", 1.0).about("members", 0),
            Fact::new("weight.Group1", -100.0).about("members", 0),
        ])
    );
}
