//! Hosts that are emptied, as an operator does it.

use placewright_tests::server::Server;
use serde_json::{Value, json};

use super::deployment::{Api, cluster, vm};
use super::folder;

/// A cluster of three hosts, of which h0 runs v0 to v3 and h1 nothing.
fn four_on_one(api: &Api) {
    let mut document = cluster("c", 3);
    document["hosts"][2]["memory.total"] = json!("512 MiB");
    let vms = (0..4).map(|it| {
        let mut vm = vm(&format!("v{it}"));
        vm["host"] = json!("h0");
        vm
    });
    document["vms"] = json!(vms.collect::<Vec<_>>());
    let made = api.send("POST", "/v1/clusters?policy=worst-fit", &document);
    assert_eq!(made.status, 201, "{made:?}");
}

fn states(plan: &Value) -> Vec<&str> {
    let moves = plan["moves"].as_array().unwrap();
    moves
        .iter()
        .map(|it| it["state"].as_str().unwrap())
        .collect()
}

#[test]
fn a_host_is_emptied_in_steps_and_the_plan_says_how_far_it_is_after_a_kill() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    four_on_one(&api);
    let wanted = json!({"hosts": ["h0"], "dry-run": true, "max-in-flight": 2});
    let dry = api.send("POST", "/v1/clusters/c/evacuate", &wanted);
    assert_eq!((dry.status, dry.body.get("number")), (200, None), "{dry:?}");
    assert_eq!(api.get("/v1/clusters/c/plans").body["items"], json!([]));
    let wanted = json!({"hosts": ["h0"], "max-in-flight": 2});
    let made = api.send("POST", "/v1/clusters/c/evacuate", &wanted);
    assert_eq!(made.status, 201, "{made:?}");
    assert_eq!(made.body["origin"], json!("evacuation"));
    assert_eq!(made.body["hosts"], json!(["h0"]));
    assert_eq!(made.body["stuck"], json!([]));
    let first = &made.body["moves"][0];
    assert_eq!((&first["step"], &first["to"]), (&json!(1), &json!("h1")));
    assert_eq!(first["reason"], json!("host h0 is to be emptied"));

    let begin = |wanted: &Value| api.send("POST", "/v1/clusters/c/plans/1/begin", wanted);
    let bare = api.ask("POST", "/v1/clusters/c/plans/1/begin", &[], b"");
    let begun = bare.unwrap().body;
    assert_eq!(states(&begun), ["begun", "begun", "planned", "planned"]);
    assert!(begun["moves"][0]["expires"].is_i64(), "{begun}");
    let vm = first["vm"].as_str().unwrap();
    let confirmed = api.send("POST", "/v1/clusters/c/confirm", &json!({"vms": [vm]}));
    assert!(confirmed.status < 300, "{confirmed:?}");
    // Some clients send null where a body may be left out: it stands for none.
    let json_type = [("content-type", "application/json")];
    let null = api.ask(
        "POST",
        "/v1/clusters/c/plans/1/begin",
        &json_type,
        b" null\n",
    );
    let begun = null.unwrap().body;
    assert_eq!(states(&begun), ["confirmed", "begun", "begun", "planned"]);
    // Of what a caller approves by itself no more are begun than may be, either.
    let begun = begin(&json!({"moves": [4, made.body["moves"][2]["vm"]]})).body;
    assert_eq!(states(&begun), ["confirmed", "begun", "begun", "planned"]);
    let wrong = begin(&json!({"moves": [true]}));
    assert_eq!(wrong.status, 400, "{wrong:?}");
    assert_eq!(begin(&json!({"moves": ["nobody"]})).status, 404);
    assert_eq!(begin(&json!({"max-in-flight": 0})).status, 422);
    server.signal("KILL");
    server.ended();

    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let plan = api.get("/v1/clusters/c/plans/1").body;
    assert_eq!(states(&plan), ["confirmed", "begun", "begun", "planned"]);
    assert_eq!(plan["counted"]["begun"], json!(2));
    let cancelled = api.send("POST", "/v1/clusters/c/plans/1/cancel", &json!({}));
    let expected = ["confirmed", "cancelled", "cancelled", "cancelled"];
    assert_eq!(states(&cancelled.body), expected);
    let unknown = api.send("POST", "/v1/clusters/c/evacuate", &json!({"hosts": ["h9"]}));
    assert_eq!(unknown.status, 404);
    let nobody = api.send("POST", "/v1/clusters/c/evacuate", &json!({"hosts": []}));
    assert_eq!(nobody.status, 422);
}

#[test]
fn a_plan_moves_vms_off_a_host_in_maintenance_though_the_policy_balances_nothing() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    four_on_one(&api);
    let down = json!({"hosts": [{"id": "h0", "state": "maintenance"}]});
    let changed = api.send("POST", "/v1/clusters/c/inventory/changes", &down);
    assert_eq!(changed.status, 200, "{changed:?}");
    let plan = api.send("POST", "/v1/clusters/c/plans", &json!({})).body;
    assert_eq!(states(&plan).len(), 4, "{plan}");
    assert_eq!(
        plan["moves"][0]["reason"],
        json!("host h0 is in maintenance")
    );
    assert_eq!(plan["moves"][0]["cause"], json!("host-state"));
    assert_eq!(plan["max-in-flight"], json!(8));
    let plan = api.send("POST", "/v1/clusters/c/plans", &json!({"repairs": false}));
    assert_eq!(plan.body["moves"], json!([]), "{plan:?}");
}

#[test]
fn a_move_is_not_begun_when_the_reason_for_it_is_gone() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let host = |id: &str, state: &str| json!({"id": id, "state": state, "cpu": {"cores": 16}, "memory": {"total": "64 GiB"}});
    let vms = json!([{"id": "v", "host": "h1", "cpu": 1, "memory": "1 GiB"}]);
    let hosts = json!([host("h1", "maintenance"), host("h2", "up")]);
    let document = json!({"name": "k", "hosts": hosts, "vms": vms});
    assert_eq!(api.send("POST", "/v1/clusters", &document).status, 201);
    let plan = api.send("POST", "/v1/clusters/k/plans", &json!({})).body;
    assert_eq!(plan["moves"][0]["cause"], json!("host-state"));
    assert_eq!(plan["moves"][0].get("checked"), None);
    let up = api.send("PATCH", "/v1/clusters/k/hosts/h1", &json!({"state": "up"}));
    assert!(up.status < 300, "{up:?}");
    let begun = api.send("POST", "/v1/clusters/k/plans/1/begin", &json!({}));
    assert_eq!(states(&begun.body), ["stale"]);
    let step = &begun.body["moves"][0];
    let why = step["why"].as_str().unwrap();
    assert!(why.contains("host h1 is up again"), "{why}");
    assert!(step["checked"].is_i64(), "{step}");
    let reserved = api.get("/v1/clusters/k/reservations").body;
    assert_eq!(reserved["items"], json!([]));
}
