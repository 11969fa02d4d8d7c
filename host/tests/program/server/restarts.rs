//! A server that restarts VMs of hosts that are down by itself.

use placewright_tests::server::{Server, placewright};
use placewright_tests::waiting::wait_until;
use serde_json::{Value, json};

use super::deployment::{Api, cluster, vm};
use super::{folder, get};

/// Two VMs on h0, and two hosts with room.
fn fleet(api: &Api) {
    let mut document = cluster("c", 3);
    let vms = ["v0", "v1"].map(|id| {
        let mut vm = vm(id);
        vm["host"] = json!("h0");
        vm
    });
    document["vms"] = json!(vms);
    let made = api.send("POST", "/v1/clusters?policy=worst-fit", &document);
    assert_eq!(made.status, 201, "{made:?}");
}

/// A command for the cluster that ends well: what it prints.
fn run(server: &Server, words: &[&str]) -> String {
    let output = placewright(["--server", &server.url])
        .args(words)
        .args(["--cluster", "c"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The plans, once there is one of which moves are under way.
fn begun(api: &Api) -> Value {
    let mut plans = Value::Null;
    wait_until("a plan of which moves are under way", || {
        plans = api.get("/v1/clusters/c/plans").body["items"].clone();
        plans[0]["counted"]["begun"].as_u64() > Some(0)
    });
    plans
}

#[test]
fn vms_of_a_host_that_is_down_are_begun_to_be_restarted_and_everybody_is_told_by_whom() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    fleet(&api);
    let sentence = run(&server, &["restarts", "show"]);
    assert!(sentence.contains("restarts no VMs"), "{sentence}");
    let sentence = run(&server, &["restarts", "on", "--settle", "0"]);
    assert!(
        sentence.contains("down or in error for 0 s, 8 at once"),
        "{sentence}"
    );
    let settings = api.get("/v1/clusters/c/settings").body;
    let expected = json!({"settle": 0, "max-in-flight": 8, "vms": "all"});
    assert_eq!(settings["restart"], expected);

    let down = json!({"hosts": [{"id": "h0", "state": "down"}]});
    let changed = api.send("POST", "/v1/clusters/c/inventory/changes", &down);
    assert_eq!(changed.status, 200, "{changed:?}");
    let plan = &begun(&api)[0];
    assert_eq!(
        (&plan["by"], &plan["hosts"]),
        (&json!("restart"), &json!(["h0"]))
    );
    let moves = plan["moves"].as_array().unwrap();
    assert!(moves.iter().all(|it| it["live"] == json!(false)), "{plan}");

    // The event follows when the plan is stored.
    let mut told = Value::Null;
    wait_until("an event of a restart", || {
        let events = api.get("/v1/events/recent?kind=restart-begun").body;
        told = events["items"][0].clone();
        !told.is_null()
    });
    assert_eq!((&told["by"], &told["plan"]), (&json!("restart"), &json!(1)));
    let (_, metrics) = get(&format!("{}/metrics", server.url), None);
    let counted = r#"placewright_restarts_total{cluster="c",how="begun"} 2"#;
    assert!(metrics.contains(counted), "{metrics}");
    assert!(metrics.contains(r#"placewright_restarts_stuck{cluster="c"} 0"#));

    let vms = json!({"vms": ["v0", "v1"]});
    let confirmed = api.send("POST", "/v1/clusters/c/confirm", &vms);
    assert!(confirmed.status < 300, "{confirmed:?}");
    let plan = api.get("/v1/clusters/c/plans/1").body;
    assert_eq!(plan["counted"]["confirmed"], json!(2));
    let sentence = run(&server, &["restarts", "off"]);
    assert!(sentence.contains("restarts no VMs"), "{sentence}");
    assert_eq!(api.get("/v1/clusters/c/settings").body.get("restart"), None);
    server.signal("TERM");
    server.ended();
    let records = std::fs::read_to_string(data.path().join("audit.jsonl")).unwrap();
    let begun = records.lines().find(|it| it.contains("restart-begun"));
    let begun: Value = serde_json::from_str(begun.unwrap()).unwrap();
    assert_eq!(
        (&begun["origin"], &begun["by"]),
        (&json!("server"), &json!("restart"))
    );
}

#[test]
fn what_restarts_may_be_set_to_is_bounded() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    fleet(&api);
    let headers = [("content-type", "application/json"), ("if-match", "*")];
    let put = |settings: &Value| {
        let body = settings.to_string();
        let answer = api.ask("PUT", "/v1/clusters/c/settings", &headers, body.as_bytes());
        answer.unwrap()
    };
    for (wrong, key) in [
        (json!({"settle": -1}), "settle"),
        (json!({"settle": 3601}), "settle"),
        (json!({"max-in-flight": 0}), "max-in-flight"),
        (json!({"max-in-flight": 1001}), "max-in-flight"),
    ] {
        let settings = json!({"policy": "worst-fit", "restart": wrong});
        let refused = put(&settings);
        assert_eq!(refused.status, 422, "{refused:?}");
        let told = refused.body.to_string();
        assert!(
            told.contains(key) && told.contains("must be from"),
            "{told}"
        );
    }
    let settings = json!({"policy": "worst-fit", "restart": {"vms": "some"}});
    let refused = put(&settings);
    assert!((400..500).contains(&refused.status), "{refused:?}");
    assert_eq!(api.get("/v1/clusters/c/settings").body.get("restart"), None);
}
