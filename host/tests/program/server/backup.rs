//! Copies of a running server: made while it decides, checked, restored, and served again.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use placewright_tests::server::{Server, placewright};
use placewright_tests::waiting::{Ends, wait_until};
use serde_json::{Value, json};

use super::deployment::{Api, cluster, vm};
use super::folder;
use super::roles::token;

/// Run the program; it must end with this code. What it prints.
pub(super) fn run(words: &[&str], code: i32) -> String {
    let done = placewright(words).output().unwrap();
    let [out, err] = [&done.stdout, &done.stderr].map(|it| String::from_utf8_lossy(it));
    assert_eq!(done.status.code(), Some(code), "{words:?}: {out}{err}");
    format!("{out}{err}")
}

pub(super) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// All that clients can read of a cluster, but for what counts the reads.
fn all_of(api: &Api, cluster: &str) -> Vec<Value> {
    let paths = [
        "settings",
        "inventory",
        "reservations?limit=1000",
        "decisions?limit=1000",
        "plans",
    ];
    let of_cluster = paths.map(|path| format!("/v1/clusters/{cluster}/{path}"));
    let others = ["/v1/policies/mine", "/v1/policies/mine/history"].map(str::to_owned);
    let read = |path: &String| {
        let answer = api.get(path);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.body
    };
    of_cluster.iter().chain(&others).map(read).collect()
}

/// All entries of a list, page by page.
fn list(api: &Api, path: &str) -> Vec<Value> {
    let (mut all, mut after) = (Vec::new(), String::new());
    loop {
        let page = api.get(&format!("{path}?limit=1000{after}"));
        assert_eq!(page.status, 200, "{path}: {page:?}");
        all.extend(page.body["items"].as_array().unwrap().iter().cloned());
        match page.body["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => return all,
        }
    }
}

/// Where each decision of a list put its VM, by its number.
fn places(decisions: &[Value]) -> BTreeMap<u64, (String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let decided = decisions.iter().map(|it| {
        let decision = &it["decision"];
        let place = (text(&decision["vms"][0]), text(&decision["host"]));
        (it["number"].as_u64().unwrap(), place)
    });
    decided.collect()
}

#[test]
fn a_copy_made_under_load_has_every_decision_up_to_one_and_none_after_it() {
    let (data, home) = (folder(), folder());
    let words = ["--recorded-decisions", "100000"];
    let server = Server::start(data.path(), &words);
    let api = Api::of(&server);
    let made = api.send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 20));
    assert_eq!(made.status, 201, "{made:?}");
    let copies = ["first", "second", "third"].map(|name| home.path().join(name));
    let (ends, answered) = (AtomicBool::new(false), Mutex::new(BTreeMap::new()));
    let before = std::thread::scope(|scope| {
        // Also if something is wrong.
        let _ends = Ends(&ends);
        for client in 0..8 {
            let (api, ends, answered) = (api.clone(), &ends, &answered);
            scope.spawn(move || {
                let mut number = 0;
                while !ends.load(Ordering::Acquire) {
                    let id = format!("v{client}-{number}");
                    let answer = api.send("POST", "/v1/clusters/c/place", &vm(&id));
                    assert_eq!(answer.status, 200, "{answer:?}");
                    let host = answer.body["host"].as_str().unwrap().to_owned();
                    let decision = answer.body["number"].as_u64().unwrap();
                    answered.lock().unwrap().insert(decision, (id, host));
                    number += 1;
                }
            });
        }
        let placed = || answered.lock().unwrap().len();
        let reach = |wanted: usize| wait_until("VMs placed", || placed() >= wanted);
        let copied = copies.iter().map(|copy| {
            reach(placed() + 50);
            let before = *answered.lock().unwrap().last_key_value().unwrap().0;
            run(&["--server", &server.url, "backup", text(copy)], 0);
            reach(placed() + 20);
            before
        });
        copied.collect::<Vec<u64>>()
    });
    drop(server);
    let answered = answered.into_inner().unwrap();
    for (copy, before) in copies.iter().zip(before) {
        let said = run(&["store", "check", text(copy)], 0);
        assert!(said.contains("is whole"), "{said}");
        let restored = copy.with_extension("restored");
        run(&["restore", text(copy), "--data", text(&restored)], 0);
        let server = Server::start(&restored, &words);
        let api = Api::of(&server);
        let decided = places(&list(&api, "/v1/clusters/c/decisions"));
        let last = decided.len() as u64;
        // Every decision up to the last one, among them all that were answered before the copy.
        assert!(decided.keys().copied().eq(1..=last), "{last}");
        assert!(
            (before..=answered.len() as u64).contains(&last),
            "{before}, {last}"
        );
        // What clients were answered.
        let expected: BTreeMap<u64, (String, String)> = answered.clone().into_iter().collect();
        let expected = expected
            .range(..=last)
            .map(|(number, place)| (*number, place.clone()));
        assert!(expected.eq(decided.clone()));
        // What was decided, and the place that it reserved: both or neither.
        let reserved = list(&api, "/v1/clusters/c/reservations");
        let reserved: BTreeMap<u64, (String, String)> = reserved
            .iter()
            .map(|it| {
                let text = |key: &str| it[key].as_str().unwrap().to_owned();
                (it["decision"].as_u64().unwrap(), (text("vm"), text("host")))
            })
            .collect();
        assert_eq!(reserved, decided);
        let sums = api.get("/v1/clusters/c/sums").body;
        assert_eq!(sums["pending"], last, "{sums}");
        assert_eq!(
            sums["cpu"]["reserved"].as_f64(),
            Some(last as f64),
            "{sums}"
        );
        let more = api.send("POST", "/v1/clusters/c/place", &vm("more"));
        assert_eq!(more.body["number"], last + 1, "{more:?}");
    }
}

#[test]
fn a_restored_server_has_all_that_the_copy_s_had() {
    let (data, home) = (folder(), folder());
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let policy = b"name = \"mine\"\n[[filters]]\nunit = \"memory\"\n[[costs]]\nunit = \"worst-fit\"\nfactor = 1.0\n";
    let headers = [("content-type", "application/toml"), ("if-none-match", "*")];
    let put = api
        .ask("PUT", "/v1/policies/mine", &headers, policy)
        .unwrap();
    assert_eq!(put.status, 200, "{put:?}");
    let made = api.send("POST", "/v1/clusters?policy=mine", &cluster("c", 5));
    assert_eq!(made.status, 201, "{made:?}");
    for number in 0..10 {
        let vm = json!({"id": format!("v{number}"), "cpu": 1, "memory": "1 GiB"});
        let placed = api.send("POST", "/v1/clusters/c/place", &vm);
        assert_eq!(placed.status, 200, "{placed:?}");
    }
    let confirmed = json!({"vms": ["v0", "v1", "v2"]});
    assert!(
        api.send("POST", "/v1/clusters/c/confirm", &confirmed)
            .status
            < 300
    );
    let plan = api.send("POST", "/v1/clusters/c/evacuate", &json!({"hosts": ["h0"]}));
    assert!(plan.status < 300, "{plan:?}");
    let was = all_of(&api, "c");
    let copy = home.path().join("copy.db");
    let said = run(&["--server", &server.url, "backup", text(&copy)], 0);
    assert!(said.starts_with("Saved: "), "{said}");
    // A file is not written over.
    let refused = run(&["--server", &server.url, "backup", text(&copy)], 2);
    assert!(refused.contains("is there already"), "{refused}");
    // Into a folder that is in use.
    let used = run(&["restore", text(&copy), "--data", text(data.path())], 2);
    assert!(used.contains("in use"), "{used}");
    drop(server);
    let there = run(&["restore", text(&copy), "--data", text(data.path())], 2);
    assert!(there.contains("there is a store already"), "{there}");
    let restored = home.path().join("restored");
    run(&["restore", text(&copy), "--data", text(&restored)], 0);
    let server = Server::start(&restored, &[]);
    assert_eq!(all_of(&Api::of(&server), "c"), was);
}

#[test]
fn only_an_admin_may_make_a_copy_and_the_audit_log_says_who_did() {
    let data = folder();
    let (admin, of_admin) = token("admin", None);
    let (author, of_author) = token("policy-author", None);
    let configuration = data.path().join("placewright.toml");
    fs::write(&configuration, of_admin + "\n" + &of_author).unwrap();
    let server = Server::start(data.path(), &["--config", text(&configuration)]);
    let refused = Api::with(&server, &author).send("POST", "/v1/backup", &Value::Null);
    assert_eq!(refused.status, 403, "{refused:?}");
    let url = format!("{}/v1/backup", server.url);
    let mut answer = ureq::post(&url)
        .header("authorization", format!("Bearer {admin}"))
        .send_empty()
        .unwrap();
    assert_eq!(answer.headers()["content-type"], "application/octet-stream");
    let bytes = answer.body_mut().read_to_vec().unwrap();
    assert!(bytes.starts_with(b"SQLite format 3\0"));
    // It is written beside the answer.
    let is_recorded = || {
        let audit = fs::read_to_string(data.path().join("audit.jsonl")).unwrap();
        let mut of_backup = audit.lines().filter(|it| it.contains("/v1/backup"));
        of_backup.any(|it| it.contains("admin-all") && it.contains("\"status\":200"))
    };
    wait_until("a record of it", is_recorded);
}

#[test]
fn a_damaged_store_is_found() {
    let (data, home) = (folder(), folder());
    let server = Server::start(data.path(), &[]);
    let made = Api::of(&server).send("POST", "/v1/clusters", &cluster("c", 50));
    assert_eq!(made.status, 201, "{made:?}");
    let copy = home.path().join("copy.db");
    run(&["--server", &server.url, "backup", text(&copy)], 0);
    let mut bytes = fs::read(&copy).unwrap();
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 4096].fill(0x5a);
    fs::write(&copy, bytes).unwrap();
    let said = run(&["store", "check", text(&copy)], 1);
    assert!(said.contains("is damaged"), "{said}");
    // So is a copy that was cut short, and what is no database at all.
    let whole = fs::read(&copy).unwrap();
    for (name, bytes) in [("cut.db", &whole[..50_000]), ("no.db", &b"hello\n"[..])] {
        let file = home.path().join(name);
        fs::write(&file, bytes).unwrap();
        let said = run(&["store", "check", text(&file)], 1);
        assert!(said.contains("is damaged"), "{said}");
        assert!(!said.contains("stop the server"), "{said}");
    }
    let said = run(
        &[
            "restore",
            text(&copy),
            "--data",
            text(&home.path().join("new")),
        ],
        2,
    );
    assert!(said.contains("is damaged"), "{said}");
    let said = run(
        &["store", "check", text(&home.path().join("nothing.db"))],
        2,
    );
    assert!(said.contains("name a copy of a store"), "{said}");
}
