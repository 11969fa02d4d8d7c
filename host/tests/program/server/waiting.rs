//! Nobody waits without bound for somebody else's cluster. The long turns are batches under a
//! unit that never answers: each of its decisions takes as long as one may.

use std::fs;
use std::path::Path;
use std::sync::mpsc;
use std::time::Instant;

use placewright_tests::server::Server;
use placewright_tests::units::component;
use placewright_tests::waiting::{LONG, wait_until};
use serde_json::{Value, json};

use super::deployment::{Answer, Api, cluster, vm};
use super::folder;
use super::roles::token;

/// A server on which a decision of the cluster "busy" takes 300 ms and comes to nothing, and
/// those of the cluster "good" go well.
fn start(data: &Path, words: &[&str]) -> Server {
    let units = data.join("units");
    fs::create_dir_all(&units).unwrap();
    fs::write(units.join("misbehaving.wasm"), component("misbehaving")).unwrap();
    let words = [&["--decision-hold", "300ms"], words].concat();
    let server = Server::start(data, &words);
    let api = Api::of(&server);
    wait_until("the unit", || {
        api.get("/v1/units/misbehaving").body["in-force"].is_string()
    });
    let entry = json!({"unit": "misbehaving", "settings": {"how": "loops-forever"}});
    let headers = [("content-type", "application/json"), ("if-none-match", "*")];
    let policy = json!({"filters": [&entry]}).to_string();
    let made = api.ask("PUT", "/v1/policies/busy", &headers, policy.as_bytes());
    assert_eq!(made.unwrap().status, 200);
    for (name, policy) in [("busy", "busy"), ("good", "worst-fit")] {
        let path = format!("/v1/clusters?policy={policy}");
        let made = api.send("POST", &path, &cluster(name, 2));
        assert_eq!(made.status, 201, "{made:?}");
    }
    server
}

fn batch(vms: usize) -> Value {
    let vms = (0..vms).map(|number| vm(&format!("b{number}")));
    json!({"vms": vms.collect::<Vec<_>>()})
}

/// Send a batch to the cluster "busy", and go on when it has its turn: others are told that
/// theirs does not come.
fn begin(api: &Api, vms: usize) -> mpsc::Receiver<Result<Answer, ureq::Error>> {
    let (done, answer) = mpsc::channel();
    let sent = api.clone();
    std::thread::spawn(move || {
        let path = "/v1/clusters/busy/place-batch";
        let _ = done.send(sent.try_send("POST", path, &batch(vms)));
    });
    // Once may be the machine's slowness; so often in a row is the batch.
    let mut in_a_row = 0;
    wait_until("the batch", || {
        let path = "/v1/clusters/busy/confirm";
        let waits = api.send("POST", path, &json!({"vms": []})).status == 504;
        in_a_row = if waits { in_a_row + 1 } else { 0 };
        in_a_row == 5
    });
    answer
}

#[test]
fn a_batch_ends_when_the_time_of_its_turn_is_up_and_says_so() {
    let data = folder();
    let server = start(data.path(), &["--turn-time", "1s"]);
    let api = Api::of(&server);
    let placed = api.send("POST", "/v1/clusters/busy/place-batch", &batch(100));
    assert_eq!(placed.status, 200, "{placed:?}");
    let undecided = placed.body["undecided"].as_array().unwrap().len();
    let failed = placed.body["failed"].as_array().unwrap().len();
    assert_eq!(undecided + failed, 100, "{placed:?}");
    assert!(undecided > 50, "{placed:?}");
    let why = placed.body["ended-early"].as_str().unwrap();
    assert!(why.contains("within 1 s"), "{why}");
}

#[test]
fn a_search_of_more_decisions_than_allowed_is_refused() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let made = api.send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 1));
    assert_eq!(made.status, 201);
    for search in ["100001", "18446744073709551615"] {
        let path = format!("/v1/clusters/c/place-batch?search={search}");
        let refused = api.send("POST", &path, &batch(1));
        assert_eq!(refused.status, 400, "{refused:?}");
        let detail = refused.body["detail"].as_str().unwrap();
        assert!(detail.contains("from 0 to 100000"), "{detail}");
    }
    let path = "/v1/clusters/c/place-batch?search=100000";
    assert_eq!(api.send("POST", path, &batch(1)).status, 200);
}

#[test]
fn units_policies_and_clusters_are_changed_and_read_while_a_turn_is_under_way() {
    let data = folder();
    let waits = ["--decision-wait", "200ms", "--turn-time", "10min"];
    let server = start(data.path(), &waits);
    let api = Api::of(&server);
    assert_eq!(api.get("/v1/clusters/busy/inventory").status, 200);
    let answer = begin(&api, 1000);
    // It would be under way for minutes. Each of these is answered meanwhile.
    let disabled = api.send("POST", "/v1/units/pod-binding/disable", &json!({}));
    assert!([200, 204].contains(&disabled.status), "{disabled:?}");
    assert_eq!(api.get("/v1/units").status, 200);
    let new = json!({"name": "p"});
    let cloned = api.send("POST", "/v1/policies/worst-fit/clone", &new);
    assert_eq!(cloned.status, 201, "{cloned:?}");
    let more = api.send("POST", "/v1/clusters?policy=p", &cluster("more", 1));
    assert_eq!(more.status, 201, "{more:?}");
    let placed = api.send("POST", "/v1/clusters/more/place", &vm("v"));
    assert_eq!(placed.status, 200, "{placed:?}");
    // Of the cluster itself, what was read before and has not changed.
    let listed = api.get("/v1/clusters").body;
    assert_eq!(listed["items"].as_array().unwrap().len(), 3);
    for path in ["", "/inventory", "/hosts", "/vms", "/groups", "/tenants"] {
        let read = api.get(&format!("/v1/clusters/busy{path}"));
        assert_eq!(read.status, 200, "{path}: {read:?}");
    }
    // Whoever wants a turn is told in time that there is none.
    let refused = api.send("POST", "/v1/clusters/busy/place", &vm("v"));
    assert_eq!(refused.status, 504, "{refused:?}");
    let detail = refused.body["detail"].as_str().unwrap();
    assert!(detail.contains("within 200 ms"), "{detail}");
    assert!(answer.try_recv().is_err(), "the turn has ended already");
}

#[test]
fn a_server_ends_in_time_although_a_turn_is_under_way() {
    let data = folder();
    let words = ["--shutdown-time", "2s", "--turn-time", "10min"];
    let words = [&words[..], &["--decision-wait", "200ms"]].concat();
    let server = start(data.path(), &words);
    let api = Api::of(&server);
    let placed = api.send("POST", "/v1/clusters/good/place", &vm("v"));
    assert_eq!(placed.status, 200);
    let _answer = begin(&api, 1000);
    let asked = Instant::now();
    server.signal("TERM");
    let (_, log) = server.ended();
    assert!(asked.elapsed() < LONG, "{log}");
    assert!(log.contains("is abandoned"), "{log}");
    // What was acknowledged is there.
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let vm = api.get("/v1/clusters/good/vms/v");
    assert_eq!(vm.status, 200, "{vm:?}");
}

#[test]
fn a_question_ends_when_its_time_is_up() {
    let data = folder();
    let server = Server::start(data.path(), &["--question-time", "1ms"]);
    let api = Api::of(&server);
    let made = api.send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 200));
    assert_eq!(made.status, 201);
    let path = "/v1/clusters/c/capacity?at-most=100000";
    let refused = api.send("POST", path, &vm("v"));
    assert_eq!(refused.status, 504, "{refused:?}");
    let detail = refused.body["detail"].as_str().unwrap();
    assert!(detail.contains("within 0.001 s"), "{detail}");
}

#[test]
fn a_policy_of_somebody_else_that_decides_nowhere_is_not_edited_or_removed() {
    let data = folder();
    let (admin, of_admin) = token("admin", None);
    let (ours, of_ours) = token("policy-author", Some("ours"));
    let (theirs, of_theirs) = token("policy-author", Some("theirs"));
    let configuration = data.path().join("placewright.toml");
    fs::write(&configuration, [of_admin, of_ours, of_theirs].join("\n")).unwrap();
    let server = Server::start(data.path(), &["--config", configuration.to_str().unwrap()]);
    let [admin, ours, theirs] = [&admin, &ours, &theirs].map(|secret| Api::with(&server, secret));
    let new = json!({"name": "p"});
    let cloned = ours.send("POST", "/v1/policies/worst-fit/clone", &new);
    assert_eq!(cloned.status, 201, "{cloned:?}");
    let edit = |api: &Api| {
        let headers = [("content-type", "application/json"), ("if-match", "*")];
        let text = br#"{"filters": [{"unit": "worst-fit"}]}"#;
        let edited = api.ask("PUT", "/v1/policies/p", &headers, text);
        edited.unwrap().status
    };
    let remove = |api: &Api| {
        let headers = [("if-match", "*")];
        let removed = api.ask("DELETE", "/v1/policies/p", &headers, b"");
        removed.unwrap().status
    };
    assert_eq!((edit(&theirs), remove(&theirs)), (403, 403));
    // Somebody who may everywhere changes it, and it stays the author's.
    assert_eq!((edit(&admin), edit(&ours), edit(&theirs)), (200, 200, 403));
    assert_eq!(remove(&ours), 204);
    // Its name is free.
    let cloned = theirs.send("POST", "/v1/policies/worst-fit/clone", &new);
    assert_eq!(cloned.status, 201, "{cloned:?}");
    assert_eq!(edit(&ours), 403);
}

#[test]
fn a_policy_of_more_than_a_mebibyte_is_refused() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let headers = [("content-type", "application/toml"), ("if-none-match", "*")];
    let text = |bytes: usize| {
        let policy = "[[filters]]\nunit = \"worst-fit\"\n#";
        format!("{policy}{}", "x".repeat(bytes - policy.len()))
    };
    let put = |bytes: usize| {
        let text = text(bytes);
        let put = api.ask("PUT", "/v1/policies/p", &headers, text.as_bytes());
        put.unwrap()
    };
    let refused = put((1 << 20) + 1);
    assert_eq!(refused.status, 413, "{refused:?}");
    assert_eq!(put(1 << 20).status, 200);
    // As many of its earlier revisions stay as have a mebibyte together.
    let headers = [("content-type", "application/toml"), ("if-match", "*")];
    for round in 0..6 {
        // The same again would make no revision.
        let text = text((300 << 10) + round);
        let put = api.ask("PUT", "/v1/policies/p", &headers, text.as_bytes());
        assert_eq!(put.unwrap().status, 200);
    }
    let (mut seen, mut path) = (Vec::new(), "/v1/policies/p/history".to_owned());
    loop {
        let page = api.get(&path).body;
        let items = page["items"].as_array().unwrap();
        seen.extend(items.iter().map(|it| it["revision"].as_u64().unwrap()));
        match page["next"].as_str() {
            Some(next) => path = format!("/v1/policies/p/history?after={next}"),
            None => break,
        }
    }
    assert_eq!(seen, [7, 6, 5, 4]);
}
