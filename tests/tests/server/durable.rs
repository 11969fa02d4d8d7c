//! A server is killed between any two calls of a day's work, and everything that it has
//! acknowledged is there again and can be explained.

use std::collections::BTreeMap;

use placewright_tests::server::Server;
use serde_json::{Value, json};

use super::deployment::{Api, cluster, vm};
use super::folder;

/// What is compared after each kill.
#[derive(Debug, Default)]
struct Acknowledged {
    /// What each decision was explained by when it had just been made.
    explanations: BTreeMap<u64, Value>,
    plans: Vec<Value>,
    version: u64,
}

impl Acknowledged {
    /// Ask after everything anew, and hold it against what was told before.
    fn compare(&mut self, api: &Api, document: &Value) {
        for (number, told) in &self.explanations {
            let path = format!("/v1/clusters/c/decisions/{number}");
            let again = api.get(&format!("{path}/explanation"));
            assert_eq!(again.status, 200, "{again:?}");
            assert_eq!(again.body, *told, "decision {number}");
            let replayed = api.send("POST", &format!("{path}/replay"), &json!({}));
            assert_eq!(replayed.body, json!({"same": true}), "decision {number}");
        }
        assert_eq!(
            api.get("/v1/clusters/c/plans").body["items"],
            json!(self.plans)
        );
        assert_eq!(api.get("/v1/clusters/c/inventory").body, *document);
        let version = version(api);
        assert!(
            version >= self.version,
            "{version} is before {}",
            self.version
        );
        self.version = version;
    }
}

fn version(api: &Api) -> u64 {
    let cluster = api.get("/v1/clusters/c").body;
    cluster["counted"]["version"].as_u64().unwrap()
}

/// A day's calls, each with what it answers when all is well.
fn calls() -> Vec<(&'static str, &'static str, Value, u16)> {
    let place = |id: &str| ("POST", "/v1/clusters/c/place", vm(id), 200);
    let changes = "/v1/clusters/c/inventory/changes";
    let usage = |host: &str, usage: f64| {
        let statistics = json!([{"id": host, "cpu.usage": usage}]);
        ("POST", changes, json!({"statistics": statistics}), 200)
    };
    vec![
        place("a"),
        ("POST", "/v1/clusters/c/confirm", json!({"vms": ["a"]}), 204),
        usage("h0", 0.7),
        place("b"),
        ("POST", "/v1/clusters/c/plans", json!({}), 201),
        place("d"),
        ("POST", "/v1/clusters/c/confirm", json!({"vms": ["b"]}), 204),
        usage("h1", 0.2),
        ("POST", changes, json!({"gone": {"vms": ["a"]}}), 200),
        ("POST", "/v1/clusters/c/plans", json!({}), 201),
        ("POST", "/v1/clusters/c/cancel", json!({"vms": ["d"]}), 204),
        place("e"),
    ]
}

#[test]
#[cfg(unix)]
fn a_kill_between_any_two_calls_takes_nothing_back() {
    let data = folder();
    let words = ["--durability", "normal"];
    let mut server = Server::start(data.path(), &words);
    let api = Api::of(&server);
    let made = api.send(
        "POST",
        "/v1/clusters?policy=even-distribution",
        &cluster("c", 3),
    );
    assert_eq!(made.status, 201, "{made:?}");
    let mut acknowledged = Acknowledged::default();
    for (method, path, body, status) in calls() {
        let api = Api::of(&server);
        let answer = api.send(method, path, &body);
        assert_eq!(answer.status, status, "{path}: {answer:?}");
        if let Some(number) = answer.body["number"]
            .as_u64()
            .filter(|_| path.ends_with("place"))
        {
            let path = format!("/v1/clusters/c/decisions/{number}/explanation");
            acknowledged
                .explanations
                .insert(number, api.get(&path).body);
        }
        acknowledged.plans = api.get("/v1/clusters/c/plans").body["items"]
            .as_array()
            .unwrap()
            .clone();
        acknowledged.version = version(&api);
        let document = api.get("/v1/clusters/c/inventory").body;
        server.signal("KILL");
        server.ended();
        server = Server::start(data.path(), &words);
        acknowledged.compare(&Api::of(&server), &document);
    }
    assert_eq!(acknowledged.explanations.len(), 4);
    assert_eq!(acknowledged.plans.len(), 2);
}
