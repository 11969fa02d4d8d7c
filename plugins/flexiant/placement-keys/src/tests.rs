use compiled_keys::{HostKey, Level};

use super::*;

fn key(level: Level, name: &str, value: &str, weight: f64) -> ResourceKey {
    ResourceKey {
        level: level.number(),
        index: None,
        class: "sys".into(),
        name: name.into(),
        value: value.into(),
        weight: Some(weight),
    }
}

/// 16 CPUs and 64 GiB, each to be promised twice; all idle.
fn host(keys: &[(&str, f64)]) -> Host {
    let key = |&(name, value): &(&str, f64)| HostKey {
        name: name.into(),
        value,
    };
    Host {
        memory: Bytes::gib(64),
        memory_overcommit: 2.0,
        memory_committed: Bytes(0),
        memory_pending: Bytes(0),
        cpu: Millicores::cores(16),
        cpu_overcommit: Some(2.0),
        vcpus: 0,
        vcpus_pending: 0,
        load: Some(0.0),
        keys: keys.iter().map(key).collect(),
    }
}

fn cost(keys: Vec<ResourceKey>, host: &Host) -> f64 {
    let vm = Vm { keys: keys.into() };
    let need = PlacementKeys::prepare(&vm, &()).expect("nothing is refused");
    PlacementKeys::cost(&need, host)
}

#[test]
fn the_cost_is_minus_the_score() {
    let keys = || {
        vec![
            key(Level::Cluster, "tier", "1", 40.0),
            key(Level::Server, "rack", "0.5", -10.0),
        ]
    };
    let nearby = host(&[("tier", 0.75), ("rack", 0.5), ("other", 1.0)]);
    assert_eq!(cost(keys(), &nearby), -20.0);
    assert_eq!(cost(keys(), &host(&[("other", 1.0)])), 0.0);
}

#[test]
fn hosts_are_alike_to_a_vm_without_system_keys() {
    let customers = ResourceKey {
        class: "cust".into(),
        ..key(Level::Server, "tier", "1", 40.0)
    };
    assert_eq!(cost(vec![customers], &host(&[("tier", 1.0)])), 0.0);
    assert!(cost(vec![], &host(&[])).is_sign_positive());
}

#[test]
fn special_keys_say_how_contended_a_host_is() {
    let busy = Host {
        memory_committed: Bytes::gib(24),
        memory_pending: Bytes::gib(8),
        vcpus: 20,
        vcpus_pending: 4,
        load: Some(0.5),
        ..host(&[])
    };
    assert_eq!(busy.special(), [Some(0.25), Some(0.75), Some(0.5)]);
    assert_eq!(host(&[]).special(), [Some(0.0); 3]);
    let keys = vec![
        key(Level::Cluster, "#RAM", "0", 16.0),
        key(Level::Cluster, "#CPU", "0", 8.0),
        key(Level::Cluster, "#LOAD", "0", 4.0),
    ];
    assert_eq!(cost(keys, &busy), -(12.0 + 2.0 + 2.0));
}

#[test]
fn special_keys_go_from_none_to_all() {
    let overfull = Host {
        memory_committed: Bytes::gib(999),
        vcpus: 999,
        load: Some(1.5),
        ..host(&[])
    };
    assert_eq!(overfull.special(), [Some(1.0); 3]);
    let without_anything = Host {
        memory: Bytes(0),
        cpu: Millicores(0),
        load: None,
        ..host(&[])
    };
    assert_eq!(without_anything.special(), [Some(1.0), Some(1.0), None]);
}

#[test]
fn a_host_of_unknown_load_has_no_such_key() {
    let unmeasured = Host {
        load: None,
        ..host(&[])
    };
    let keys = vec![key(Level::Cluster, "#LOAD", "0", 10.0)];
    assert_eq!(cost(keys, &unmeasured), 0.0);
}

#[test]
fn reserved_and_special_names_of_a_host_are_not_compared() {
    let keys = vec![
        key(Level::Server, "_ssd", "1", 10.0),
        key(Level::Server, "#RAM", "1", 10.0),
        key(Level::Server, "#other", "1", 10.0),
    ];
    let named = host(&[("_ssd", 1.0), ("#RAM", 1.0), ("#other", 1.0)]);
    assert_eq!(cost(keys, &named), 0.0);
}

#[test]
fn what_is_no_key_is_refused() {
    let nowhere = ResourceKey {
        level: 99,
        ..key(Level::Server, "tier", "1", 1.0)
    };
    let vm = Vm {
        keys: vec![nowhere].into(),
    };
    let refused = PlacementKeys::prepare(&vm, &());
    assert!(matches!(refused, Err(Problem::Refused(_))));
}

#[test]
fn it_is_told_what_was_compiled_and_how_contended_hosts_are() {
    let keys = vec![
        key(Level::Cluster, "tier", "1", 40.0),
        key(Level::Server, "tier", "0.5", 20.0),
    ];
    let stage = Stage {
        vms: vec![Vm { keys: keys.into() }].into(),
        hosts: vec![
            host(&[]),
            Host {
                load: None,
                ..host(&[])
            },
        ]
        .into(),
    };
    let of_vm = |name, value| Fact::new(name, value).about("members", 0);
    let of_host = |name, row| Fact::new(name, 0.0).about("hosts", row);
    assert_eq!(
        PlacementKeys::explain(&stage, &()),
        Ok(vec![
            of_vm("value.tier", 0.5),
            of_vm("weight.tier", 20.0),
            of_host("#RAM", 0),
            of_host("#CPU", 0),
            of_host("#LOAD", 0),
            of_host("#RAM", 1),
            of_host("#CPU", 1),
        ])
    );
}

#[test]
fn the_cost_reads_nothing_of_the_vms_on_a_host() {
    let description = native_unit().describe();
    let reads = description
        .judge
        .map(|judge| judge.reads)
        .unwrap_or_default();
    let tables: Vec<_> = reads.iter().map(|read| read.table.as_str()).collect();
    assert_eq!(tables, ["members", "members/keys", "hosts", "hosts/keys"]);
}
