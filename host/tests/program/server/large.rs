//! A cluster of many hosts and VMs comes back whole.

use placewright_tests::server::Server;
use serde_json::{Value, json};

use super::deployment::{Api, vm};
use super::folder;

const HOSTS: usize = 500;
const VMS: usize = 5000;

/// Hosts with rows below them, and VMs in groups.
fn document() -> Value {
    let hosts = (0..HOSTS).map(|it| {
        json!({
            "id": format!("h{it:03}"), "cpu.cores": 64, "memory.total": "256 GiB",
            "networks": [{"name": "management"}],
        })
    });
    let vms = (0..VMS).map(|it| {
        json!({
            "id": format!("vm{it:04}"), "host": format!("h{:03}", it % HOSTS),
            "cpu": "1 cores", "memory": format!("{} GiB", 1 + it % 4),
        })
    });
    let groups = (0..50).map(|it| {
        let members = [it, it + 100, it + 200].map(|vm| format!("vm{vm:04}"));
        json!({"id": format!("g{it}"), "vms": members, "rule": "negative"})
    });
    json!({
        "name": "c", "hosts": hosts.collect::<Vec<_>>(), "vms": vms.collect::<Vec<_>>(),
        "groups": groups.collect::<Vec<_>>(),
    })
}

#[test]
fn many_hosts_and_vms_are_all_there_after_a_restart() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let path = "/v1/clusters?policy=even-distribution";
    let made = api.send("POST", path, &document());
    assert_eq!(made.status, 201, "{:?}", made.body["errors"][0]);
    for number in 0..20 {
        let placed = api.send("POST", "/v1/clusters/c/place", &vm(&format!("p{number}")));
        assert!(placed.body["host"].is_string(), "{placed:?}");
    }
    let ids: Vec<String> = (0..10).map(|number| format!("p{number}")).collect();
    let confirmed = api.send("POST", "/v1/clusters/c/confirm", &json!({"vms": ids}));
    assert_eq!(confirmed.status, 204, "{confirmed:?}");
    let inventory = |api: &Api| api.get("/v1/clusters/c/inventory").body;
    let counted = |api: &Api| {
        let mut counted = api.get("/v1/clusters/c").body["counted"].clone();
        // Versions begin anew.
        counted.as_object_mut().unwrap().remove("version");
        counted
    };
    let (before, count) = (inventory(&api), counted(&api));
    assert_eq!(before["hosts"].as_array().map(Vec::len), Some(HOSTS));
    assert_eq!(count["vms"], json!(VMS + 10));
    assert_eq!(count["pending"], json!(10));
    // What it says in its last moment counts as much as what it said before.
    server.signal("KILL");
    server.ended();

    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    assert_eq!(api.get("/v1/ready").status, 200);
    assert_eq!(counted(&api), count);
    assert_eq!(inventory(&api), before);
    let placed = api.send("POST", "/v1/clusters/c/place", &vm("last"));
    assert!(placed.body["host"].is_string(), "{placed:?}");
    assert_eq!(placed.body["number"], json!(21));
}
