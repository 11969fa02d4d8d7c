//! A server's own history, exported, and replayed: the policy that decided decides the same again.

use std::fs;
use std::path::Path;

use placewright_tests::server::{Server, placewright};
use serde_json::{Value, json};

use super::deployment::{Api, vm};
use super::folder;

/// Run the program; it must end well. What it prints, and what it remarks.
fn run(words: &[&str]) -> (String, String) {
    let done = placewright(words).output().unwrap();
    let [out, err] = [&done.stdout, &done.stderr].map(|it| String::from_utf8_lossy(it));
    assert!(done.status.success(), "{words:?}: {out}{err}");
    (out.into_owned(), err.into_owned())
}

/// Ask for something, which must be done.
fn done(api: &Api, method: &str, path: &str, body: &Value) -> Value {
    let path = format!("/v1/clusters/c/{path}");
    let answer = api.send(method, &path, body);
    assert!(answer.status < 300, "{path}: {answer:?}");
    answer.body
}

/// Hosts of two sizes, of which one carries a VM already.
fn cluster() -> Value {
    let host = |number: usize, cores: i64| {
        let zone = if number.is_multiple_of(2) { "z0" } else { "z1" };
        json!({"id": format!("h{number}"), "zone": zone, "cpu.cores": cores, "memory.total": format!("{} GiB", 4 * cores)})
    };
    let hosts: Vec<Value> = (0..6)
        .map(|it| host(it, if it < 2 { 32 } else { 16 }))
        .collect();
    json!({
        "name": "c",
        "seed": 7,
        "hosts": hosts,
        "vms": [{"id": "first", "host": "h3", "cpu": 4, "memory": "8 GiB"}],
        "groups": [{"id": "apart", "vms": ["v1", "v2", "v3"], "rule": "negative", "hard": true}],
    })
}

/// What happens to it: places that are confirmed, given back or left, VMs that go, hosts that come,
/// fail and return, measurements, groups.
fn play(api: &Api, zones: bool) {
    let changes = |body: Value| done(api, "POST", "inventory/changes", &body);
    for number in 0..40 {
        let id = format!("v{number}");
        let cores = 1 + number % 4;
        let mut asked = json!({"id": id, "cpu": cores, "memory": format!("{} GiB", 2 * cores)});
        if zones && number % 7 == 3 {
            asked["zone"] = json!("z1");
        }
        if number % 9 == 5 {
            asked["excluded"] = json!(["h0"]);
        }
        done(api, "POST", "place", &asked);
        match number % 5 {
            0 | 1 | 3 => drop(done(api, "POST", "confirm", &json!({"vms": [id]}))),
            2 => drop(done(api, "POST", "cancel", &json!({"vms": [id]}))),
            // Confirmed by what somebody saw.
            _ => {
                let vm = done(api, "GET", &format!("vms/{id}"), &Value::Null);
                let host = vm["reserved"]["host"].clone();
                drop(changes(
                    json!({"vms": [{"id": id, "host": host, "cpu.usage": 0.5}]}),
                ));
            }
        }
        match number {
            8 => drop(changes(
                json!({"gone": {"vms": ["v1"]}, "statistics": [{"id": "h0", "cpu.usage": 0.7, "memory.free": "9 GiB"}]}),
            )),
            12 => drop(changes(json!({"hosts": [{"id": "h1", "state": "down"}]}))),
            16 => drop(changes(
                json!({"hosts": [{"id": "h9", "zone": "z1", "cpu.cores": 64, "memory.total": "256 GiB"}]}),
            )),
            20 => drop(changes(
                json!({"hosts": [{"id": "h1", "state": null}], "groups": [{"id": "apart", "add-vms": ["v22"]}]}),
            )),
            24 => drop(changes(
                json!({"vms": [{"id": "seen", "host": "h2", "cpu": 2, "memory": "4 GiB"}]}),
            )),
            28 => drop(changes(
                json!({"statistics": [{"id": "h0", "cpu.usage": 0.1}, {"id": "h9", "cpu.usage": 0.9}]}),
            )),
            32 => drop(done(api, "POST", "migrate", &json!({"id": "seen"}))),
            33 => drop(done(api, "POST", "confirm", &json!({"vms": ["seen"]}))),
            _ => {}
        }
    }
    // More than there is room for.
    done(
        api,
        "POST",
        "place",
        &json!({"id": "huge", "cpu": 500, "memory": "1 GiB"}),
    );
    done(api, "POST", "place?dry-run=true", &vm("tried"));
}

/// The VMs and the host of each decision that a server has recorded from that one on, in order.
fn recorded(api: &Api, from: u64) -> Vec<(Vec<String>, Value)> {
    let page = api.get("/v1/clusters/c/decisions?limit=1000");
    let decisions = page.body["items"].as_array().unwrap().iter().rev();
    let told = decisions.filter(|it| {
        let is_dry = it["request"]["dry-run"] == json!(true);
        it["number"].as_u64() >= Some(from) && !is_dry
    });
    let one = |decision: &Value| {
        let vms = decision["request"]["vms"].as_array().unwrap().iter();
        let vms = vms.map(|vm| vm["id"].as_str().unwrap().to_owned());
        (vms.collect(), decision["decision"]["host"].clone())
    };
    told.map(one).collect()
}

/// The same of the decisions that a replay has written.
fn replayed(file: &Path) -> Vec<(Vec<String>, Value)> {
    let text = fs::read_to_string(file).unwrap();
    let one = |line: &str| {
        let decision: Value = serde_json::from_str(line).unwrap();
        let vms = serde_json::from_value(decision["vms"].clone()).unwrap();
        (vms, decision["host"].clone())
    };
    text.lines().map(one).collect()
}

#[test]
fn the_policy_that_decided_decides_the_same_in_a_replay_of_what_was_exported() {
    for policy in ["general", "even-distribution", "power-saving"] {
        let (data, home) = (folder(), folder());
        let server = Server::start(data.path(), &[]);
        let api = Api::of(&server);
        let path = format!("/v1/clusters?policy={policy}");
        let made = api.send("POST", &path, &cluster());
        assert_eq!(made.status, 201, "{made:?}");
        // Only this policy heeds zones.
        play(&api, policy == "general");
        let file = |name: &str| home.path().join(format!("{policy}-{name}"));
        let [start, events, decisions] =
            ["start.json", "events.jsonl", "decisions.jsonl"].map(file);
        let [start, events] = [&start, &events].map(|it| it.to_str().unwrap());
        let of_server = ["--server", &server.url, "export", "--cluster", "c"];
        let words = ["--start", start, "--events", events];
        let (out, err) = run(&[&of_server[..], &words[..]].concat());
        assert!(out.contains("Decisions 1 to "), "{out}");
        assert_eq!(err, "");
        let written = decisions.to_str().unwrap();
        let policy = format!("--policy={policy}");
        run(&[
            "simulate",
            "--cluster",
            start,
            "--events",
            events,
            &policy,
            "--decisions",
            written,
            "--statistics=off",
            "--format=json",
        ]);
        let (then, now) = (recorded(&api, 1), replayed(&decisions));
        for (place, (then, now)) in then.iter().zip(&now).enumerate() {
            assert_eq!(then, now, "{policy}: decision {}", place + 1);
        }
        assert_eq!(then.len(), now.len());
        let hosts: std::collections::BTreeSet<String> =
            then.iter().map(|(_, host)| host.to_string()).collect();
        assert!(hosts.len() > 3, "{policy}: all VMs went to {hosts:?}");
        // Nothing is written over.
        let again = placewright([&of_server[..], &words[..]].concat())
            .output()
            .unwrap();
        assert_eq!(again.status.code(), Some(2));
    }
}

#[test]
fn how_far_a_history_reaches_back_is_told() {
    let data = folder();
    let server = Server::start(data.path(), &["--recorded-decisions", "16"]);
    let api = Api::of(&server);
    let made = api.send("POST", "/v1/clusters?policy=worst-fit", &cluster());
    assert_eq!(made.status, 201, "{made:?}");
    let none = api.get("/v1/clusters/c/history");
    assert!(none.status >= 400, "{none:?}");
    assert!(
        none.body["detail"]
            .to_string()
            .contains("nothing is recorded"),
        "{none:?}"
    );
    for number in 0..60 {
        done(&api, "POST", "place", &vm(&format!("w{number}")));
    }
    let history = api.get("/v1/clusters/c/history").body;
    let first = history["first-decision"].as_u64().unwrap();
    assert!(first > 1, "{history}");
    assert_eq!(history["last-decision"], 60);
    let notes = history["notes"].to_string();
    let expected = format!(
        "it does not reach back further than decision {first}: a cluster records its last 16 decisions"
    );
    assert!(notes.contains(&expected), "{notes}");
    // What was before is in the document of the start.
    let vms = history["start"]["vms"].as_array().unwrap();
    assert_eq!(vms.len() as u64, 1 + first - 1);
    let later = api.get("/v1/clusters/c/history?since=99999999999");
    assert!(later.status >= 400, "{later:?}");
}

/// Have the restarts of these VMs confirmed as they are begun, one after the other.
fn restarted(api: &Api, vms: &[&String]) {
    let mut waiting: Vec<&String> = vms.to_vec();
    while !waiting.is_empty() {
        waiting.retain(|id| {
            let vm = done(api, "GET", &format!("vms/{id}"), &Value::Null);
            let is_begun = vm["reserved"]["host"].is_string();
            if is_begun {
                done(api, "POST", "confirm", &json!({ "vms": [id] }));
            }
            !is_begun
        });
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// Ids and hosts of the VMs that run.
fn running(api: &Api) -> std::collections::BTreeMap<String, Value> {
    let page = api.get("/v1/clusters/c/vms?limit=1000").body;
    let vms = page["items"].as_array().unwrap().iter();
    let vms = vms.filter(|it| !it["host"].is_null());
    vms.map(|it| (it["id"].as_str().unwrap().to_owned(), it["host"].clone()))
        .collect()
}

#[test]
fn after_restarts_by_the_server_a_replay_decides_the_same_on_the_vms_where_they_were_restarted() {
    let (data, home) = (folder(), folder());
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let made = api.send("POST", "/v1/clusters?policy=general", &cluster());
    assert_eq!(made.status, 201, "{made:?}");
    let restart = json!({"policy": "general", "restart": {"settle": 0, "max-in-flight": 1}});
    let headers = [("content-type", "application/json"), ("if-match", "*")];
    let set = api.ask(
        "PUT",
        "/v1/clusters/c/settings",
        &headers,
        restart.to_string().as_bytes(),
    );
    assert_eq!(set.unwrap().status, 200);
    let mut decided = Vec::new();
    let mut place = |number: usize| {
        let id = format!("w{number}");
        let cores = 1 + number % 3;
        let asked = json!({"id": id, "cpu": cores, "memory": format!("{} GiB", 2 * cores)});
        let decision = done(&api, "POST", "place", &asked);
        done(&api, "POST", "confirm", &json!({"vms": [id]}));
        decided.push((vec![id], decision["host"].clone()));
    };
    (0..20).for_each(&mut place);
    let before = running(&api);
    let lost: Vec<&String> = before
        .iter()
        .filter(|(_, host)| **host == json!("h0"))
        .map(|(id, _)| id)
        .collect();
    assert!(lost.len() > 1, "{before:?}");
    let state = |state: Value| {
        let changes = json!({"hosts": [{"id": "h0", "state": state}]});
        done(&api, "POST", "inventory/changes", &changes);
    };
    // What is restarted from now on is in no measurement.
    let measured = |number| {
        let id = format!("h{number}");
        json!({"id": id, "cpu.usage": 0.2, "memory.free": "40 GiB"})
    };
    let measured: Vec<Value> = (0..6).map(measured).collect();
    let changes = json!({ "statistics": measured });
    done(&api, "POST", "inventory/changes", &changes);
    state(json!("down"));
    restarted(&api, &lost);
    let after = running(&api);
    (20..30).for_each(&mut place);
    state(Value::Null);
    (30..40).for_each(&mut place);

    let [start, events, decisions] =
        ["start.json", "events.jsonl", "decisions.jsonl"].map(|it| home.path().join(it));
    let [start, file, written] = [&start, &events, &decisions].map(|it| it.to_str().unwrap());
    let of_server = ["--server", &server.url, "export", "--cluster", "c"];
    run(&[&of_server[..], &["--start", start, "--events", file]].concat());
    let text = fs::read_to_string(&events).unwrap();
    let lines = text.lines().map(|it| serde_json::from_str(it).unwrap());
    let lines: Vec<Value> = lines.collect();
    for id in &lost {
        let restarted = lines.iter().map(|it| it["reserve"].clone());
        let is_forced = |it: &Value| !it["force"].is_null();
        // As the contract says: a request with its VMs, and never a VM by itself.
        let restarted = restarted.filter(|it| it["vms"][0]["id"] == json!(id) && is_forced(it));
        let hosts: Vec<Value> = restarted.map(|it| it["force"].clone()).collect();
        assert_eq!(hosts, [after[*id].clone()], "{id}: {text}");
        assert_ne!(hosts, [json!("h0")]);
    }
    let words = ["simulate", "--cluster", start, "--events", file];
    let options = [
        "--policy=general",
        "--statistics=off",
        "--decisions",
        written,
    ];
    run(&[&words[..], &options[..]].concat());
    let mut again = replayed(&decisions);
    let restarts: Vec<(Vec<String>, Value)> = (lost.iter())
        .map(|id| (vec![(*id).clone()], after[*id].clone()))
        .collect();
    let before = again.len();
    // Each VM is placed once by a decision, on h0, and once by its restart.
    again.retain(|it| !restarts.contains(it));
    assert_eq!(before - again.len(), lost.len());
    assert_eq!(again, decided);
}
