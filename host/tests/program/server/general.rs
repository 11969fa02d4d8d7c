//! The policy that decides where none is named, and policies by which hosts can be no
//! place, as clients of a server see them.

use placewright_tests::server::Server;
use serde_json::{Value, json};

use super::deployment::{Api, vm};
use super::folder;

/// The only removal of the decision.
fn removal(explanation: &Value) -> &Value {
    &explanation["stages"][0]["hosts"][0]["removed"]
}

#[test]
fn a_cluster_without_a_policy_gets_the_one_that_checks_every_need() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let host = json!({
        "id": "h", "cpu.total": "8 cores", "cpu.overcommit": 1.5, "memory.total": "64 GiB"
    });
    let made = api.send(
        "POST",
        "/v1/clusters",
        &json!({"name": "c", "hosts": [host]}),
    );
    assert_eq!(made.status, 201, "{made:?}");
    let settings = api.get("/v1/clusters/c/settings");
    assert_eq!(settings.body["policy"], json!("general"), "{settings:?}");

    let mut with_gpus = vm("v");
    with_gpus["gpu.count"] = json!(2);
    let refused = api.send("POST", "/v1/clusters/c/place", &with_gpus);
    assert_eq!(refused.body["host"], Value::Null, "{refused:?}");
    let explained = api.get("/v1/clusters/c/decisions/1/explanation").body;
    assert_eq!(removal(&explained)["unit"], json!("gpus"), "{explained}");

    // 12 cores may be promised, by what the host says; 8 by the policy.
    let mut large = vm("large");
    (large["cpu"], large["cores"]) = (json!("10 cores"), json!(1));
    let placed = api.send("POST", "/v1/clusters/c/place", &large);
    assert_eq!(placed.body["host"], json!("h"), "{placed:?}");
    large["id"] = json!("larger");
    let full = api.send("POST", "/v1/clusters/c/place", &large);
    assert_eq!(full.body["host"], Value::Null, "{full:?}");
    let explained = api.get("/v1/clusters/c/decisions/3/explanation").body;
    let values = removal(&explained)["values"].as_array().unwrap();
    for (table, column, value) in [
        ("hosts", "cpu.overcommit", "150.0 %"),
        ("settings", "overcommit", "100.0 %"),
    ] {
        let seen = json!({"table": table, "column": column, "value": value});
        assert!(values.contains(&seen), "{seen}: {explained}");
    }
}

#[test]
fn a_recorded_decision_tells_how_it_comes_out_by_another_policy() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let host =
        |id: &str, memory: &str| json!({"id": id, "cpu.total": "8 cores", "memory.total": memory});
    let made = api.send(
        "POST",
        "/v1/clusters?policy=best-fit",
        &json!({"name": "c", "hosts": [host("small", "8 GiB"), host("large", "64 GiB")]}),
    );
    assert_eq!(made.status, 201, "{made:?}");
    let placed = api.send("POST", "/v1/clusters/c/place", &vm("v"));
    assert_eq!(placed.body["host"], json!("small"), "{placed:?}");
    // What has come since is not in it.
    let changes = json!({"hosts": [host("huge", "1 TiB")]});
    api.send("POST", "/v1/clusters/c/inventory/changes", &changes);
    let by = |policy: &str| {
        let path = format!("/v1/clusters/c/decisions/1/explanation?policy={policy}");
        api.get(&path)
    };
    for (policy, host) in [("best-fit", "small"), ("worst-fit", "large")] {
        let explained = by(policy).body;
        assert_eq!(explained["chosen"], json!(host), "{explained}");
        assert_eq!(explained["policy"], json!(policy), "{explained}");
        let path = format!("/v1/clusters/c/decisions/1/why?host=small&policy={policy}");
        let why = api.get(&path).body;
        assert_eq!(why["chosen"], json!(host), "{why}");
    }
    let unknown = by("no-such-policy");
    assert_eq!(unknown.status, 404, "{unknown:?}");
    // It was asked, and nothing else.
    let decisions = api.get("/v1/clusters/c/decisions").body;
    assert_eq!(decisions["items"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_host_that_the_score_of_ganeti_rules_out_is_no_place() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let host = json!({"id": "h", "cpu.total": "8 cores", "memory.total": "8 GiB"});
    let cluster = json!({"name": "c", "hosts": [host]});
    let made = api.send("POST", "/v1/clusters?policy=ganeti", &cluster);
    assert_eq!(made.status, 201, "{made:?}");
    let fits = api.send("POST", "/v1/clusters/c/place", &vm("v"));
    let mut large = vm("large");
    large["memory"] = json!("500 GiB");
    let refused = api.send("POST", "/v1/clusters/c/place", &large);
    assert_eq!(
        (&fits.body["host"], &refused.body["host"]),
        (&json!("h"), &Value::Null),
        "{fits:?}, {refused:?}"
    );
    let why = &refused.body["removed"][0]["reason"];
    let reason = "costs infinitely much, so it cannot take the VM";
    assert_eq!(*why, json!(reason), "{refused:?}");
}
