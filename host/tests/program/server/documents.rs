//! Numbers and changes of clusters, as callers of the API send them.

use placewright_tests::server::Server;
use serde_json::{Value, json};

use super::deployment::Api;
use super::folder;

/// A cluster whose amounts are numbers.
fn cluster() -> Value {
    json!({
        "name": "c",
        "attributes": {"hosts": {"quota": {"kind": "integer", "measure": "cores"}}},
        "hosts": [
            {"id": "a", "cpu": {"cores": 8, "total": 7.5}, "memory.total": 1_u64 << 34, "attribute.quota": 2},
            {"id": "b", "cpu.cores": 8, "memory.total": "16 GiB", "attribute.quota": "250m"},
        ],
        "vms": [{"id": "v", "host": "a", "cpu": 4, "memory": 1 << 30}],
    })
}

#[test]
fn what_is_given_by_the_api_can_be_sent_back_as_it_is() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let made = api.send("POST", "/v1/clusters?policy=worst-fit", &cluster());
    assert_eq!(made.status, 201, "{made:?}");
    let vm = api.get("/v1/clusters/c/vms/v").body;
    assert_eq!((&vm["cpu"], &vm["memory"]), (&json!(4), &json!(1 << 30)));
    let host = api.get("/v1/clusters/c/hosts/a").body;
    assert_eq!(
        (&host["cpu.total"], &host["cpu.committed"]),
        (&json!(7.5), &json!(4))
    );
    let before = api.get("/v1/clusters/c/inventory").body;
    assert_eq!(before["hosts"][0]["cpu.total"], json!(7.5));
    assert_eq!(before["hosts"][0]["attribute.quota"], json!(2));
    assert_eq!(before["hosts"][1]["attribute.quota"], json!(0.25));
    let blind = api.send("PUT", "/v1/clusters/c/inventory", &before);
    assert_eq!(blind.status, 428, "{blind:?}");
    let headers = [("content-type", "application/json"), ("if-match", "*")];
    let text = before.to_string();
    let put = api.ask("PUT", "/v1/clusters/c/inventory", &headers, text.as_bytes());
    assert_eq!(put.unwrap().status, 200);
    assert_eq!(api.get("/v1/clusters/c/inventory").body, before);
    // 3.5 cores are left on a, 8 on b.
    let large = json!({"id": "large", "cpu": 5, "memory": "1 GiB"});
    let placed = api.send("POST", "/v1/clusters/c/place", &large);
    assert_eq!(placed.body["host"], json!("b"), "{placed:?}");
    assert!(placed.body.get("warnings").is_none(), "{placed:?}");
    let recorded = api.get("/v1/clusters/c/decisions/1").body;
    let request = &recorded["request"];
    assert_eq!(request["vms"][0]["cpu"], json!(5), "{recorded}");
    let cancelled = json!({"vms": ["large"]});
    assert_eq!(
        api.send("POST", "/v1/clusters/c/cancel", &cancelled).status,
        204
    );
    let again = api.send("POST", "/v1/clusters/c/place", request);
    assert_eq!(again.body["host"], json!("b"), "{again:?}");
    let tiny = json!({"id": "tiny", "cpu": "4m", "memory": 8192});
    let placed = api.send("POST", "/v1/clusters/c/place", &tiny);
    let warnings = placed.body["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 2, "{placed:?}");
    let changes = json!({"vms": [{"id": "v", "memory": 8192}]});
    let path = "/v1/clusters/c/inventory/changes";
    let changed = api.send("POST", path, &changes);
    let warned = changed.body["warnings"][0].as_str().unwrap();
    assert!(warned.contains("8192 bytes of memory"), "{warned}");
}

#[test]
fn a_sync_loop_sends_what_it_knows_and_is_told_what_became_of_it() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let made = api.send("POST", "/v1/clusters?policy=worst-fit", &cluster());
    assert_eq!(made.status, 201, "{made:?}");
    let path = "/v1/clusters/c/inventory/changes";
    let group = json!({"groups": [{"id": "g", "vms": ["v"], "rule": "negative", "hard": true}]});
    assert_eq!(api.send("POST", path, &group).status, 200);
    let member = json!({"groups": [{"id": "g", "add-vms": ["w"]}]});
    assert_eq!(api.send("POST", path, &member).status, 200);
    let group = api.get("/v1/clusters/c/inventory").body["groups"][0].clone();
    assert_eq!(
        (&group["vms"], &group["rule"], &group["hard"]),
        (&json!(["v", "w"]), &json!("negative"), &json!(true))
    );

    let gone = json!({"statistics": [{"id": "nowhere", "cpu.usage": 0.5}, {"id": "a", "cpu.usage": 0.5}], "gone": {"vms": ["x"]}});
    let refused = api.send("POST", path, &gone);
    assert_eq!(refused.status, 404, "{refused:?}");
    let mut lenient = gone;
    lenient["missing"] = json!("ignore");
    let changed = api.send("POST", path, &lenient);
    let results = json!([
        {"kind": "gone-vm", "id": "x", "result": "missing"},
        {"kind": "statistics", "id": "nowhere", "result": "missing"},
        {"kind": "statistics", "id": "a", "result": "applied"},
    ]);
    assert_eq!(changed.body["results"], results, "{changed:?}");
    let host = api.get("/v1/clusters/c/hosts/a").body;
    let about = &host["statistics"]["cpu.usage"];
    assert!(about["measured"].is_i64(), "{host}");
    let withdrawn = json!({"statistics": [{"id": "a", "cpu.usage": null}]});
    assert_eq!(api.send("POST", path, &withdrawn).status, 200);
    let host = api.get("/v1/clusters/c/hosts/a").body;
    assert!(host.get("cpu.usage").is_none(), "{host}");

    let misspelt = api.send("POST", path, &json!({"remove": []}));
    assert_eq!(misspelt.status, 422, "{misspelt:?}");
    let said = misspelt.body.to_string();
    assert!(said.contains("\\\"gone\\\""), "{said}");
    for key in ["statistics-max-age", "unmeasured-max-age"] {
        let settings = json!({"policy": "worst-fit", key: 0});
        let headers = [("content-type", "application/json"), ("if-match", "*")];
        let body = settings.to_string();
        let set = api.ask("PUT", "/v1/clusters/c/settings", &headers, body.as_bytes());
        assert_eq!(set.unwrap().status, 422, "{key}");
    }
}

#[test]
fn a_decision_that_is_no_longer_recorded_is_gone_and_one_that_was_never_made_is_unknown() {
    let data = folder();
    let server = Server::start(data.path(), &["--recorded-decisions", "2"]);
    let api = Api::of(&server);
    let made = api.send("POST", "/v1/clusters?policy=worst-fit", &cluster());
    assert_eq!(made.status, 201, "{made:?}");
    let vm = json!({"id": "n", "cpu": 1, "memory": "1 GiB"});
    for _ in 0..4 {
        let placed = api.send("POST", "/v1/clusters/c/place?dry-run=true", &vm);
        assert_eq!(placed.status, 200, "{placed:?}");
    }
    for path in ["decisions/1", "decisions/1/explanation"] {
        let gone = api.get(&format!("/v1/clusters/c/{path}"));
        assert_eq!(gone.status, 410, "{path}: {gone:?}");
        assert_eq!(
            gone.body["detail"],
            json!(
                "decision 1 is no longer recorded: a cluster records its last 2 decisions \
                 (--recorded-decisions), of which 3 is the oldest"
            )
        );
        let unknown = path.replace('1', "9");
        let unknown = api.get(&format!("/v1/clusters/c/{unknown}"));
        assert_eq!(unknown.status, 404, "{unknown:?}");
    }
    assert_eq!(api.get("/v1/clusters/c/decisions/3").status, 200);
}
