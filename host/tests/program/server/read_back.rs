//! What is read can be put again, and what is not understood is refused.

use placewright_tests::server::Server;
use serde_json::json;

use super::deployment::{Api, cluster, vm};
use super::folder;

const ANY: [(&str, &str); 2] = [("content-type", "application/json"), ("if-match", "*")];

/// A cluster `c` of three hosts, with a VM `v` that runs.
fn made(server: &Server) -> Api {
    let api = Api::of(server);
    let made = api.send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 3));
    assert_eq!(made.status, 201, "{made:?}");
    let mut runs = vm("v");
    runs["host"] = json!("h1");
    assert_eq!(api.send("PUT", "/v1/clusters/c/vms/v", &runs).status, 201);
    api
}

#[test]
fn what_is_read_of_settings_quotas_and_rows_can_be_put_again() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = made(&server);
    let quota = json!({"tenant": "acme", "limits": {"vms": 3}});
    let new = [("content-type", "application/json"), ("if-none-match", "*")];
    let quota = api.ask("PUT", "/v1/quotas/gold", &new, quota.to_string().as_bytes());
    assert_eq!(quota.unwrap().status, 201);
    for path in ["/v1/quotas/gold", "/v1/clusters/c/settings"] {
        let read = api.get(path).body;
        let again = api.ask("PUT", path, &ANY, read.to_string().as_bytes());
        let again = again.unwrap();
        assert_eq!(again.status, 200, "{path}: {again:?}");
        let mut now = api.get(path).body;
        // When it was changed last, and which revision that made.
        for key in ["revision", "at"] {
            if read.get(key).is_some() {
                now[key] = read[key].clone();
            }
        }
        assert_eq!(now, read, "{path}");
    }
    // The id is that of the path: a change of nothing changes nothing.
    for path in ["/v1/clusters/c/hosts/h0", "/v1/clusters/c/vms/v"] {
        let before = api.get(path).body;
        let changed = api.send("PATCH", path, &json!({}));
        assert_eq!(
            (changed.status, &changed.body),
            (200, &before),
            "{changed:?}"
        );
    }
    let tenant = api.send("PUT", "/v1/clusters/c/tenants/t", &json!({}));
    assert_eq!(tenant.status, 201, "{tenant:?}");
}

#[test]
fn filters_and_conditions_that_are_not_understood_are_refused() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = made(&server);
    for (path, sentence) in [
        (
            "/v1/events/recent?kind=vm-plcaed",
            "did you mean \"vm-placed\"?",
        ),
        ("/v1/audit?status=999", "from 100 to 599"),
        ("/v1/clusters/c/plans/abc", "\"abc\" where a number stands"),
    ] {
        let refused = api.get(path);
        let detail = refused.body["detail"].as_str().unwrap_or_default();
        assert!(
            refused.status == 400 && detail.contains(sentence),
            "{refused:?}"
        );
    }
    assert_eq!(api.get("/v1/events/recent?kind=cluster").status, 200);
    for path in ["/v1/events", "/v1/clusters/c/inventory/follow"] {
        let refused = api.ask("GET", path, &[("last-event-id", "abc")], b"");
        let refused = refused.unwrap();
        assert_eq!(refused.status, 400, "{refused:?}");
    }
    // A condition that would not be checked.
    let path = "/v1/clusters/c";
    let refused = api.ask("DELETE", path, &[("if-match", "\"7\"")], b"");
    assert_eq!(refused.unwrap().status, 400);
    assert_eq!(api.get(path).status, 200);
}
