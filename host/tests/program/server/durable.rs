//! A server is killed between any two calls of a day's work, and everything that it has
//! acknowledged is there again and can be explained.

use std::collections::BTreeMap;

use placewright_tests::server::Server;
use serde_json::{Value, json};

use super::deployment::{Answer, Api, cluster, vm};
use super::folder;
use super::listener::Listener;

/// What is compared after each kill.
#[derive(Debug, Default)]
struct Acknowledged {
    /// What each decision was explained by when it had just been made.
    explanations: BTreeMap<u64, Value>,
    plans: Vec<Value>,
    version: u64,
    /// The number of the last event that was heard.
    event: Option<u64>,
    /// Where each VM has got a place.
    hosts: BTreeMap<String, Value>,
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

/// The decisions of an answer.
fn decisions(answer: &Value) -> Vec<Value> {
    match answer["decisions"].as_array() {
        Some(decisions) => decisions.clone(),
        None => vec![answer.clone()],
    }
}

/// What is compared of an event: its kind, VM, host, decision and plan.
type Told = (String, [Value; 4]);

impl Acknowledged {
    /// What is told of a call that was answered so.
    fn events(&mut self, path: &str, sent: &Value, answer: &Answer) -> Vec<Told> {
        let number = &answer.body["number"];
        let told =
            |kind: &str, about: [&Value; 4]| vec![(kind.to_owned(), about.map(Value::clone))];
        let vm = sent["vms"][0].as_str().unwrap_or_default();
        let host = |known: &BTreeMap<String, Value>| known[vm].clone();
        let none = &Value::Null;
        match path.rsplit('/').next().unwrap() {
            "place" => {
                let (vm, host) = (&sent["id"], &answer.body["host"]);
                let id = vm.as_str().unwrap().to_owned();
                self.hosts.insert(id, host.clone());
                told("vm-placed", [vm, host, number, none])
            }
            "confirm" => told("vm-confirmed", [&json!(vm), &host(&self.hosts), none, none]),
            "cancel" => told("vm-cancelled", [&json!(vm), &host(&self.hosts), none, none]),
            "place-batch" | "place-batch?all-or-nothing=true" => decisions(&answer.body)
                .iter()
                .map(|it| {
                    let about = [&it["vms"][0], &it["host"], &it["number"], none];
                    ("vm-placed".to_owned(), about.map(Value::clone))
                })
                .collect(),
            "place-batch?dry-run=true" => Vec::new(),
            "plans" => told("plan-made", [none, none, none, number]),
            _ if sent.get("statistics").is_some() => Vec::new(),
            _ => told("inventory-changed", [none; 4]),
        }
    }

    /// What a listener hears of the cluster until everything so far is told, each with a
    /// number above those before.
    fn heard(&mut self, api: &Api, listener: Listener) -> Vec<Told> {
        let kind = [("content-type", "application/toml"), ("if-match", "*")];
        // The same document again would make no event.
        let round = self.event.unwrap_or_default();
        let policy = format!("# {round}\n[[filters]]\nunit = \"worst-fit\"\n");
        let put = api.ask("PUT", "/v1/policies/last", &kind, policy.as_bytes());
        let put = put.unwrap();
        assert!(put.status < 300, "{put:?}");
        let mut heard = Vec::new();
        for event in listener {
            let number = event["number"].as_u64();
            assert!(number > self.event, "{event} comes after {:?}", self.event);
            self.event = number;
            if event["policy"] == "last" {
                return heard;
            }
            if event["cluster"] == "c" {
                let about = ["vm", "host", "decision", "plan"].map(|key| event[key].clone());
                heard.push((event["kind"].as_str().unwrap().to_owned(), about));
            }
        }
        panic!("the events have ended after {heard:?}");
    }
}

fn version(api: &Api) -> u64 {
    let cluster = api.get("/v1/clusters/c").body;
    cluster["counted"]["version"].as_u64().unwrap()
}

/// A day's calls, each with what it answers when all is well.
fn calls() -> Vec<(&'static str, &'static str, Value, u16)> {
    let place = |id: &str| ("POST", "/v1/clusters/c/place", vm(id), 200);
    let batch = |how: &str, ids: [&str; 2]| {
        let path = match how {
            "dry-run" => "/v1/clusters/c/place-batch?dry-run=true",
            "all-or-nothing" => "/v1/clusters/c/place-batch?all-or-nothing=true",
            _ => "/v1/clusters/c/place-batch",
        };
        ("POST", path, json!({"vms": ids.map(vm)}), 200)
    };
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
        batch("dry-run", ["t", "u"]),
        batch("all-or-nothing", ["v", "w"]),
        batch("one by one", ["x", "y"]),
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
        let mut listener = Listener::open(&server, acknowledged.event);
        if let Some(last) = acknowledged.event {
            // What was heard before the kill is the end of what is remembered.
            let reset = listener.next().unwrap();
            assert_eq!(reset["kind"], "reset", "{reset}");
            assert!(
                reset["number"].as_u64() > Some(last),
                "{reset} after {last}"
            );
            acknowledged.event = reset["number"].as_u64();
        }
        let answer = api.send(method, path, &body);
        assert_eq!(answer.status, status, "{path}: {answer:?}");
        let events = acknowledged.events(path, &body, &answer);
        assert_eq!(acknowledged.heard(&api, listener), events, "{path}");
        let decided = decisions(&answer.body).into_iter();
        for decision in decided.filter(|_| path.contains("/place")) {
            let number = decision["number"].as_u64().unwrap();
            let path = format!("/v1/clusters/c/decisions/{number}/explanation");
            let explanation = api.get(&path).body;
            assert_eq!(explanation["chosen"], decision["host"]);
            acknowledged.explanations.insert(number, explanation);
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
    assert_eq!(acknowledged.explanations.len(), 10);
    assert_eq!(acknowledged.plans.len(), 2);
}
