//! Times of answers: in seconds, and the same after RFC 3339 beside them.

use std::collections::BTreeSet;

use placewright_model::{rfc3339, rfc3339_key};
use placewright_tests::server::Server;
use serde_json::{Value, json};

use super::deployment::{Api, vm};
use super::folder;

/// Compare the times of an answer, and note the keys of those in seconds.
#[track_caller]
fn compare(answer: &Value, found: &mut BTreeSet<String>) {
    match answer {
        Value::Array(items) => items.iter().for_each(|item| compare(item, found)),
        Value::Object(entries) => {
            for (key, value) in entries {
                compare(value, found);
                let beside = entries.get(&*rfc3339_key(key));
                if let (Some(seconds), Some(beside)) = (value.as_i64(), beside) {
                    assert_eq!(*beside, rfc3339(seconds), "{key}");
                    found.insert(key.clone());
                }
            }
        }
        _ => {}
    }
}

#[test]
fn whatever_has_a_time_in_seconds_has_the_same_after_rfc_3339() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let mut found = BTreeSet::new();
    let mut send = |method: &str, path: &str, body: Value| {
        let answer = api.send(method, path, &body);
        assert!(matches!(answer.status, 200..=204), "{path}: {answer:?}");
        compare(&answer.body, &mut found);
        answer.body
    };
    let host = |id: &str| {
        json!({
            "id": id, "cpu.cores": 8, "memory.total": "8 GiB",
            "created": "2026-11-26T09:00:00+01:00",
            "failures": [{"time": 1_795_680_000, "kind": "launch"}],
        })
    };
    let bindings = json!([{"host": "h", "start": 100, "end": 200}]);
    let cluster = json!({
        "name": "c", "hosts": [host("h"), host("i")],
        "vms": [{"id": "v", "host": "h", "cpu": 1, "memory": "1 GiB"}],
        "tenants": [{"id": "t", "bindings": bindings}],
    });
    send("POST", "/v1/clusters?policy=worst-fit", cluster);
    let statistics = json!({"statistics": [{"id": "h", "cpu.usage": 0.5}]});
    send("POST", "/v1/clusters/c/inventory/changes", statistics);
    let placed = send("POST", "/v1/clusters/c/place", vm("w"));
    assert!(placed["expires-time"].is_string(), "{placed}");
    let plan = send("POST", "/v1/clusters/c/evacuate", json!({"hosts": ["h"]}));
    let plan = format!("/v1/clusters/c/plans/{}", plan["number"]);
    send("POST", &format!("{plan}/begin"), Value::Null);
    for path in [
        "/v1/clusters/c/hosts",
        "/v1/clusters/c/hosts/h",
        "/v1/clusters/c/vms/w",
        "/v1/clusters/c/tenants",
        "/v1/clusters/c/tenants/t",
        "/v1/clusters/c/reservations",
        "/v1/clusters/c/decisions",
        "/v1/clusters/c/decisions/1",
        "/v1/clusters/c/sums",
        "/v1/policies/worst-fit",
        "/v1/events/recent",
        &plan,
    ] {
        send("GET", path, Value::Null);
    }
    let all = [
        "at",
        "checked",
        "created",
        "end",
        "expires",
        "measured",
        "next-expiry",
        "now",
        "since",
        "start",
        "time",
    ];
    assert_eq!(found, all.map(str::to_owned).into());
}

#[test]
fn what_is_shown_of_a_tenant_can_be_put_as_it_is_and_its_times_must_agree() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let bindings = json!([{"host": "h", "start": "1970-01-01T01:01:40+01:00"}]);
    let cluster = json!({"name": "c", "tenants": [{"id": "t", "bindings": bindings}]});
    let made = api.send("POST", "/v1/clusters?policy=none", &cluster);
    assert_eq!(made.status, 201, "{made:?}");
    let shown = api.get("/v1/clusters/c/tenants/t");
    let binding = json!({"host": "h", "start": 100, "start-time": "1970-01-01T00:01:40Z"});
    assert_eq!(shown.body["bindings"], json!([binding]), "{shown:?}");
    let tag = ("if-match", &*shown.etag.unwrap());
    let put = |body: &Value| {
        let kind = ("content-type", "application/json");
        let body = body.to_string();
        api.ask(
            "PUT",
            "/v1/clusters/c/tenants/t",
            &[kind, tag],
            body.as_bytes(),
        )
        .unwrap()
    };
    let mut other = shown.body.clone();
    other["bindings"][0]["start"] = 160.into();
    let refused = put(&other);
    assert_eq!(refused.status, 422, "{refused:?}");
    let told = refused.body.to_string();
    assert!(
        told.contains(r#"\"start-time\" says another time than \"start\""#),
        "{told}"
    );
    let again = put(&shown.body);
    assert!(matches!(again.status, 200 | 204), "{again:?}");
    assert_eq!(api.get("/v1/clusters/c/tenants/t").body, shown.body);
}

#[test]
fn a_time_under_a_key_for_rfc_3339_is_refused_where_it_is_another_thing() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let made = api.send("POST", "/v1/clusters", &json!({"name": "c"}));
    assert_eq!(made.status, 201, "{made:?}");
    for wrong in [
        json!(7),
        json!(1.5),
        json!("7"),
        json!("2026-11-26"),
        json!("2026-11-26T09:00:00"),
        json!(true),
        json!(["2026-11-26T09:00:00Z"]),
    ] {
        let host = json!({"id": "h", "created-time": wrong});
        let answer = api.send("PUT", "/v1/clusters/c/hosts/h", &host);
        assert_eq!(answer.status, 422, "{wrong}: {answer:?}");
        let told = answer.body["detail"].as_str().unwrap();
        assert!(
            told.contains("\"created-time\" must be a time after RFC 3339"),
            "{wrong}: {told}"
        );
    }
    assert_eq!(api.get("/v1/clusters/c/hosts/h").status, 404);
    let host = json!({"id": "h", "created-time": "2026-11-26T09:00:00+01:00"});
    let answer = api.send("PUT", "/v1/clusters/c/hosts/h", &host);
    assert_eq!(answer.status, 201, "{answer:?}");
    assert_eq!(answer.body["created"], json!(1_795_680_000));
}
