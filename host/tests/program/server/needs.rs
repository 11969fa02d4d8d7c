//! Needs that no filter of a cluster's policy checks, as clients of a server see them.

use placewright_tests::server::Server;
use serde_json::json;

use super::deployment::{Api, cluster, vm};
use super::{folder, get};

#[test]
fn needs_that_no_filter_checks_are_refused_and_told_when_a_policy_is_attached() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let made = api.send(
        "POST",
        "/v1/clusters?policy=pacemaker-minimal",
        &cluster("c", 2),
    );
    assert_eq!(made.status, 201, "{made:?}");
    assert!(made.body.get("unheeded").is_none(), "{made:?}");
    let mut pinned = vm("v");
    pinned["pinned"] = json!(["h1"]);

    let refused = api.send("POST", "/v1/clusters/c/place", &pinned);
    assert_eq!(
        (refused.status, &refused.body["code"]),
        (422, &json!("unheeded-need")),
        "{refused:?}"
    );
    let detail = refused.body["detail"].as_str().unwrap();
    for part in ["(pinned)", "pin-to-host", "unheeded-needs"] {
        assert!(detail.contains(part), "{part}: {detail}");
    }
    let batch = json!({"vms": [pinned, vm("w")]});
    let placed = api.send("POST", "/v1/clusters/c/place-batch?dry-run=true", &batch);
    assert_eq!(placed.body["failed"][0]["vms"], json!(["v"]), "{placed:?}");
    assert_eq!(placed.body["decisions"].as_array().unwrap().len(), 1);

    let text = "unheeded = 'warn'\n[[filters]]\nunit = 'memory'\n";
    let put = api.ask(
        "PUT",
        "/v1/policies/warning",
        &[("if-none-match", "*"), ("content-type", "application/toml")],
        text.as_bytes(),
    );
    assert!(put.unwrap().status < 300);
    let any = [("if-match", "*"), ("content-type", "application/json")];
    let attach = |policy: &str| {
        let body = json!({"policy": policy}).to_string();
        api.ask("PUT", "/v1/clusters/c/settings", &any, body.as_bytes())
            .unwrap()
    };
    assert_eq!(attach("warning").status, 200);
    let warned = api.send("POST", "/v1/clusters/c/place", &pinned);
    assert_eq!(
        (warned.status, &warned.body["unheeded"][0]["need"]),
        (200, &json!("pinned")),
        "{warned:?}"
    );
    let (_, metrics) = get(&format!("{}/metrics", server.url), None);
    let counted = metrics
        .lines()
        .find(|line| line.contains("unheeded_needs_total{"));
    assert!(
        counted.is_some_and(|line| line.contains("need=\"pinned\"") && line.ends_with(" 1")),
        "{counted:?}"
    );

    let attached = attach("pacemaker-minimal");
    let told = &attached.body["unheeded"][0];
    assert_eq!(
        (&told["need"], &told["vms"], &told["unheeded"]),
        (&json!("pinned"), &json!(["v"]), &json!("refuse")),
        "{attached:?}"
    );
    let unheeded = api.get("/v1/clusters/c/unheeded");
    assert_eq!((unheeded.status, &unheeded.body[0]), (200, told));

    server.signal("TERM");
    let (_, log) = server.ended();
    assert!(
        log.contains("needs one of the hosts that it is pinned to"),
        "{log}"
    );
}
