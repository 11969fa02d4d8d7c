//! Reservations as clients see them: what they are told, and what a kill leaves.

use placewright_tests::server::Server;
use placewright_tests::waiting::wait_until;
use serde_json::{Value, json};

use super::deployment::{Answer, Api, cluster, vm};
use super::folder;

const RESERVATIONS: &str = "/v1/clusters/c/reservations";

fn place(api: &Api, request: &Value) -> Answer {
    api.send("POST", "/v1/clusters/c/place", request)
}

fn keyed(api: &Api, path: &str, body: &Value) -> Answer {
    let headers = [
        ("content-type", "application/json"),
        ("idempotency-key", "k"),
    ];
    let path = format!("/v1/clusters/c/{path}");
    let body = body.to_string();
    api.ask("POST", &path, &headers, body.as_bytes()).unwrap()
}

fn confirm(api: &Api, body: &Value) -> Answer {
    api.send("POST", "/v1/clusters/c/confirm", body)
}

fn reserved_for(id: &str, seconds: i64) -> Value {
    let mut request = vm(id);
    request["reserve-for"] = json!(seconds);
    request
}

/// The status, the code and the sentence of a problem.
fn problem(answer: &Answer) -> (u16, &str, &str) {
    let text = |key: &str| answer.body[key].as_str().unwrap_or_default();
    (answer.status, text("code"), text("detail"))
}

#[test]
fn a_reservation_ends_in_time_although_nobody_asks_for_anything() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    api.send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 2));
    let placed = place(&api, &reserved_for("short", 1));
    assert_eq!(placed.body["reserved"], true, "{placed:?}");
    assert_eq!(place(&api, &vm("long")).status, 200);
    let counts = r#"placewright_reservations_ended_total{cluster="c",how="expired"} 1"#;
    wait_until("the end of a reservation", || {
        api.get("/metrics").body.as_str().unwrap().contains(counts)
    });
    let left = api.get(RESERVATIONS).body;
    assert_eq!(left["items"].as_array().unwrap().len(), 1, "{left}");
    assert_eq!(left["items"][0]["vm"], "long");
    let ended = api.get(&format!("{RESERVATIONS}/short"));
    let host = placed.body["host"].as_str().unwrap();
    let sentence = format!(
        "there is no reservation of VM \"short\": the place reserved for it on {host} has expired: place it again"
    );
    assert_eq!(problem(&ended), (409, "reservation-ended", &*sentence));
}

#[test]
fn a_kill_leaves_reservations_with_their_ends_and_what_came_of_them() {
    let data = folder();
    let mut server = Server::start(data.path(), &["--longest-reservation", "2 h"]);
    let api = Api::of(&server);
    api.send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 3));
    let placed = place(&api, &reserved_for("held", 3600)).body;
    assert_eq!(keyed(&api, "place", &vm("released")).status, 200);
    let batch = json!({"vms": [vm("b0"), vm("b1")], "all-or-nothing": true});
    assert_eq!(place(&api, &vm("confirmed")).status, 200);
    let path = format!("{RESERVATIONS}/released");
    assert_eq!(api.send("DELETE", &path, &json!({})).status, 204);
    let confirmed = json!({"vms": ["confirmed"]});
    assert_eq!(confirm(&api, &confirmed).status, 204);
    let path = format!("{RESERVATIONS}/held/renew");
    let renewed = api.ask("POST", &path, &[], b"").unwrap().body;
    assert_eq!(renewed["decision"], placed["number"]);
    assert!(renewed["expires"].as_i64() < placed["expires"].as_i64());
    let long = api.send("POST", &path, &json!({"reserve-for": 7201}));
    assert_eq!(
        problem(&long),
        (
            422,
            "unprocessable",
            "\"reserve-for\" must be from 1 to 7200 s, not 7201 s"
        )
    );
    let before = api.get(RESERVATIONS).body;
    server.signal("KILL");
    server.ended();

    server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    assert_eq!(api.get(RESERVATIONS).body, before);
    assert_eq!(api.get(&format!("{RESERVATIONS}/held")).body, renewed);
    // What was done before is a success once more.
    assert_eq!(confirm(&api, &confirmed).status, 204);
    let path = format!("{RESERVATIONS}/released");
    assert_eq!(api.send("DELETE", &path, &json!({})).status, 204);
    let again = keyed(&api, "place", &vm("released"));
    assert_eq!(
        (again.status, &again.body["reservation"]),
        (200, &json!("released"))
    );
    let host = api.get("/v1/clusters/c/vms/confirmed").body["host"].clone();
    let cancelled = api.send("POST", "/v1/clusters/c/cancel", &confirmed);
    let sentence = format!(
        "VM \"confirmed\" already runs on {}; there is no reservation to cancel",
        host.as_str().unwrap()
    );
    assert_eq!(problem(&cancelled), (409, "vm-runs", &*sentence));
    let unknown = confirm(&api, &json!({"vms": ["nobody"]}));
    assert_eq!(problem(&unknown).0, 404);
    // A batch keeps its answer, too.
    let batch = |api: &Api| {
        let headers = [
            ("content-type", "application/json"),
            ("idempotency-key", "batch"),
        ];
        let path = "/v1/clusters/c/place-batch";
        let body = batch.to_string();
        api.ask("POST", path, &headers, body.as_bytes()).unwrap()
    };
    let first = batch(&api).body;
    assert_eq!(first["reserved"], true, "{first}");
    server.signal("KILL");
    server.ended();
    server = Server::start(data.path(), &[]);
    assert_eq!(batch(&Api::of(&server)).body, first);
}

#[test]
fn a_host_that_is_named_must_be_that_of_the_place_and_a_vm_that_runs_is_not_placed() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    api.send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 2));
    assert_eq!(place(&api, &vm("v")).body["host"], "h0");
    let wrong = confirm(&api, &json!({"vms": ["v"], "host": "h1"}));
    assert_eq!(
        problem(&wrong),
        (
            409,
            "other-host",
            "VM \"v\" has no place reserved on h1: its place is reserved on h0"
        )
    );
    let twice = place(&api, &vm("v"));
    assert_eq!(problem(&twice).1, "vm-reserved");
    let right = json!({"vms": ["v"], "host": "h0"});
    assert_eq!(confirm(&api, &right).status, 204);
    assert_eq!(confirm(&api, &right).status, 204);
    let placed = place(&api, &vm("v"));
    let sentence =
        "VM \"v\" runs on h0; use migrate to move it, or \"again\": true to place it again";
    assert_eq!(problem(&placed), (409, "vm-runs", sentence));
    let batch = "/v1/clusters/c/place-batch";
    let placed = api.send("POST", batch, &json!({"vms": [vm("w"), vm("v")]}));
    assert_eq!(problem(&placed), (409, "vm-runs", sentence));
    let changes = json!({"hosts": [{"id": "h0", "state": "error"}]});
    let changed = api.send("POST", "/v1/clusters/c/inventory/changes", &changes);
    assert_eq!(changed.status, 200);
    assert_eq!(place(&api, &vm("v")).body["host"], "h1");
}

#[test]
fn a_dry_run_is_asked_for_in_the_same_ways_of_one_vm_and_of_many() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    api.send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 2));
    let many = json!({"vms": [vm("v"), vm("w")]});
    for (verb, body) in [("place", vm("v")), ("place-batch", many)] {
        let path = format!("/v1/clusters/c/{verb}");
        let mut said = body.clone();
        said["dry-run"] = json!(true);
        said["all-or-nothing"] = json!(true);
        let asked = format!("{path}?dry-run=true&all-or-nothing=true");
        for answer in [
            api.send("POST", &path, &said),
            api.send("POST", &asked, &body),
        ] {
            assert_eq!(
                (answer.status, &answer.body["reserved"]),
                (200, &json!(false))
            );
            let kept = &api.get("/v1/clusters/c/decisions").body["items"][0];
            assert_eq!(kept["decision"]["reserved"], false, "{kept}");
        }
    }
    assert_eq!(api.get(RESERVATIONS).body["items"], json!([]));
}

#[test]
fn whatever_a_request_says_of_a_vm_that_runs_is_reserved_and_in_force_once_it_is_confirmed() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let cluster = json!({
        "name": "c",
        "attributes": {"vms": {"os": "text"}},
        "hosts": [{"id": "h", "cpu.cores": 4, "memory.total": "8 GiB"}],
        "vms": [{"id": "v", "host": "h", "cpu": 1, "memory": "1 GiB"}],
    });
    assert_eq!(api.send("POST", "/v1/clusters", &cluster).status, 201);
    let again = |more: Value| {
        let mut request = json!({"id": "v", "again": true, "cpu": 1, "memory": "1 GiB"});
        for (key, value) in more.as_object().unwrap() {
            request[key] = value.clone();
        }
        let placed = api.send("POST", "/v1/clusters/c/place", &request);
        assert_eq!(placed.status, 200, "{placed:?}");
        placed.body["reserved"] == true
    };
    // What it is already, whether that was said or goes without saying, and what is measured.
    assert!(!again(json!({})));
    assert!(!again(
        json!({"migratable": true, "ha": false, "cpu.usage": 0.5})
    ));
    for (key, value) in [
        ("migratable", json!(false)),
        ("ha", json!(true)),
        ("attribute.os", json!("bsd")),
        ("priority", json!(7)),
    ] {
        for (end, then) in [("cancel", &Value::Null), ("confirm", &value)] {
            assert!(again(json!({ key: value })), "{key}");
            let path = format!("/v1/clusters/c/{end}");
            let ended = api.send("POST", &path, &json!({"vms": ["v"]}));
            assert_eq!(ended.status, 204, "{ended:?}");
            assert_eq!(api.get("/v1/clusters/c/vms/v").body[key], *then, "{end}");
        }
        assert!(!again(json!({ key: value })), "{key}");
    }
}

#[test]
fn what_a_request_takes_from_a_vm_it_has_no_more_once_that_is_confirmed() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let cluster = json!({
        "name": "c",
        "hosts": [{
            "id": "h", "cpu.cores": 4, "memory.total": "8 GiB", "devices": [{"name": "d"}],
            "amounts": [{"name": "licences", "total": 1}],
        }],
        "vms": [{
            "id": "v", "host": "h", "cpu": 1, "memory": "1 GiB", "priority": 3, "pinned": ["h"],
            "devices": [{"name": "d"}], "amounts": [{"name": "licences", "need": 1}],
        }],
    });
    assert_eq!(api.send("POST", "/v1/clusters", &cluster).status, 201);
    let keys = ["devices", "amounts", "pinned", "priority"];
    let vm = || {
        let vm = api.get("/v1/clusters/c/vms/v").body;
        keys.map(|key| vm.get(key).filter(|it| **it != json!([])).is_some())
    };
    let place = |request: Value| {
        let placed = api.send("POST", "/v1/clusters/c/place", &request);
        assert_eq!(placed.status, 200, "{placed:?}");
        placed.body
    };
    // What is not given stays.
    assert_ne!(place(json!({"id": "v", "again": true}))["reserved"], true);
    assert_eq!(vm(), [true; 4]);
    let placed = place(
        json!({"id": "v", "again": true, "devices": [], "amounts": null, "pinned": [], "priority": null}),
    );
    assert_eq!(placed["reserved"], true, "{placed}");
    let other = json!({"id": "w", "cpu": 1, "devices": [{"name": "d"}], "dry-run": true});
    assert_eq!(place(other.clone())["host"], Value::Null, "it has it still");
    // The request can be asked again as it was recorded.
    let recorded = api.get(&format!("/v1/clusters/c/decisions/{}", placed["number"]));
    let asked = &recorded.body["request"]["vms"][0];
    assert_eq!(asked.get("devices"), Some(&Value::Null), "{asked}");
    let confirmed = api.send("POST", "/v1/clusters/c/confirm", &json!({"vms": ["v"]}));
    assert_eq!(confirmed.status, 204, "{confirmed:?}");
    assert_eq!(vm(), [false; 4]);
    assert_eq!(place(other)["host"], "h");
}

#[test]
fn a_batch_from_nothing_reserves_no_place_that_a_running_vm_still_takes() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let document = json!({
        "name": "full",
        "hosts": [{"id": "h1", "cpu.cores": 16, "memory.total": "16 GiB"}],
        "vms": [{"id": "v", "host": "h1", "cpu": 1, "memory": "10 GiB"}],
    });
    assert_eq!(api.send("POST", "/v1/clusters", &document).status, 201);
    let batch = |query: &str| {
        let path = format!("/v1/clusters/full/place-batch?from-nothing=true&listed=true{query}");
        let vms = json!({"vms": [{"id": "x", "cpu": 1, "memory": "10 GiB"}, {"id": "v"}]});
        api.send("POST", &path, &vms).body
    };
    // On paper there is room for one of them, and it is the first.
    let planned = batch("&dry-run=true");
    assert_eq!(planned["decisions"][0]["host"], "h1");
    assert_eq!(planned["decisions"][0].get("warnings"), None, "{planned}");
    let answer = batch("");
    let decision = &answer["decisions"][0];
    assert_eq!(answer["reserved"], false, "{answer}");
    assert_eq!(decision["host"], "h1");
    assert_eq!(decision["reserved"], false);
    let warning = decision["warnings"][0].as_str().unwrap_or_default();
    assert!(warning.contains("no place is reserved"), "{decision}");
    let host = api.get("/v1/clusters/full/hosts/h1").body;
    assert_eq!(host["memory.pending"], 0, "{host}");
    assert_eq!(api.get("/v1/clusters/full/reservations/x").status, 404);
}

#[test]
fn reservations_are_turned_over_page_by_page_and_cursors_of_other_lists_are_refused() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    api.send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 2));
    for id in ["x1", "x2", "x3"] {
        assert_eq!(place(&api, &vm(id)).status, 200);
    }
    let (mut seen, mut after) = (Vec::new(), String::new());
    loop {
        let page = api.get(&format!("{RESERVATIONS}?limit=1{after}")).body;
        seen.push(page["items"][0]["vm"].clone());
        match page["next"].as_str() {
            Some(next) => {
                assert!(next.starts_with("reservations:"), "{next}");
                after = format!("&after={next}");
            }
            None => break,
        }
    }
    assert_eq!(seen, ["x1", "x2", "x3"]);
    for wrong in ["zzz", "hosts:h1", "vms:x3", "x1", "%00", ""] {
        let told = api.get(&format!("{RESERVATIONS}?after={wrong}"));
        assert_eq!(problem(&told).0, 400, "{wrong}: {told:?}");
        assert!(problem(&told).2.contains("\"after\""), "{told:?}");
    }
}
