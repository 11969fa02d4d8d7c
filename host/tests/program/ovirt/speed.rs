//! How long answers take in a large cluster.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Engine;

/// Hosts of the cluster.
const HOSTS: usize = 2000;

/// Units of the policy.
const UNITS: usize = 20;

/// How often each is asked.
const TIMES: usize = 21;

/// The median of the times that a question takes.
fn measured(engine: &Engine, path: &str) -> Duration {
    let mut times: Vec<Duration> = (0..TIMES)
        .map(|_| {
            let begin = Instant::now();
            let (status, answer) = engine.xml("GET", path, "");
            let took = begin.elapsed();
            assert_eq!(status, 200, "{answer}");
            took
        })
        .collect();
    times.sort_unstable();
    times[TIMES / 2]
}

#[test]
#[ignore = "it measures: cargo test --release --test program -- --ignored --nocapture speed"]
fn how_long_answers_take() {
    let engine = Engine::start();
    let host = |number: usize| {
        json!({
            "id": format!("big{number}"), "state": "up", "cpu.sockets": 2, "cpu.cores": 16,
            "cpu.threads": 32, "memory.total": "64 GiB", "memory.free": "60 GiB", "cpu.usage": 0.1,
        })
    };
    let vm = |number: usize| {
        let host = format!("big{}", number % HOSTS);
        json!({"id": format!("vm{number}"), "host": host, "cpu": 2, "memory": "2 GiB", "state": "up"})
    };
    let cluster = json!({
        "name": "Big",
        "hosts": (0..HOSTS).map(host).collect::<Vec<_>>(),
        "vms": (0..2 * HOSTS).map(vm).collect::<Vec<_>>(),
    });
    let made = engine.send(
        "POST",
        "/v1/clusters?policy=ovirt-evenly-distributed",
        &cluster,
    );
    assert_eq!(made.0, 201, "{}", made.1);
    let policy = engine.policy("large");
    let kind = "application/json";
    let path = "/ovirt-engine/api/schedulingpolicyunits";
    let (_, units) = engine.ask("GET", path, kind, b"");
    let units: Value = serde_json::from_str(&units).unwrap();
    let mut added = 0;
    for unit in units["scheduling_policy_unit"].as_array().unwrap() {
        let (list, element) = match unit["type"].as_str() {
            Some("filter") => ("filters", "filter"),
            Some("weight") => ("weights", "weight"),
            _ => continue,
        };
        let id = unit["id"].as_str().unwrap();
        let body = format!("<{element}><scheduling_policy_unit id=\"{id}\"/></{element}>");
        let answer = engine.xml("POST", &format!("{policy}/{list}"), &body);
        added += usize::from(answer.0 == 200);
        if added == UNITS {
            break;
        }
    }
    assert_eq!(added, UNITS);
    let (_, vms) = engine.xml("GET", "vms?search=name=vm7", "");
    let (_, after) = vms.split_once("href=\"/ovirt-engine/api/vms/").unwrap();
    let (vm, _) = after.split_once('"').unwrap();
    for (what, path) in [
        (
            "a policy of 20 units",
            format!("{policy}?follow=filters,weights"),
        ),
        (
            "the list of 2,000 hosts",
            "hosts?search=cluster=Big".to_owned(),
        ),
        (
            "2,000 hosts with statistics",
            "hosts?search=cluster=Big&follow=statistics".to_owned(),
        ),
        (
            "the hosts where a VM could go",
            format!("hosts?migration_target_of={vm}&max=1"),
        ),
        (
            "all of the hosts where a VM could go",
            format!("hosts?migration_target_of={vm}"),
        ),
    ] {
        println!("{what}: {:?}", measured(&engine, &path));
    }
}
