//! The audit log: who changed what, from where, and who was refused.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use placewright_tests::server::{Server, placewright};
use placewright_tests::waiting::wait_until;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::deployment::{Api, cluster, vm};
use super::reload::variant;
use super::roles::token;
use super::{folder, get};

/// The records in a folder of data.
fn records(data: &Path) -> Vec<Value> {
    let text = fs::read_to_string(data.join("audit.jsonl")).unwrap();
    // The last one may be half written.
    let whole = text.split_inclusive('\n').filter(|it| it.ends_with('\n'));
    whole.map(super::json).collect()
}

/// Wait for a record.
fn wait_for(data: &Path, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
    let find = || records(data).into_iter().find(|record| is_it(record));
    wait_until(what, || find().is_some());
    find().unwrap()
}

/// The text of all files.
fn text(data: &Path) -> String {
    let files = fs::read_dir(data).unwrap().flatten();
    let files = files.filter(|file| file.path().extension().is_some_and(|it| it == "jsonl"));
    // A full one gets another name meanwhile.
    let texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
    texts.collect()
}

/// Whether the log is intact, as the command says, and what it prints.
fn verify(data: &Path) -> (bool, Value) {
    let mut command = placewright(["audit", "verify", "--format", "json"]);
    let output = command.arg(data).output().unwrap();
    let found = super::json(&String::from_utf8_lossy(&output.stdout));
    let code = output.status.code();
    assert_eq!(code, Some(i32::from(found["intact"] == false)), "{found}");
    (code == Some(0), found)
}

/// A server with an admin and a viewer of one cluster, and their secrets.
fn with_tokens(data: &Path) -> (Server, String, String) {
    let (admin, of_admin) = token("admin", None);
    let (viewer, of_viewer) = token("viewer", Some("mine"));
    let configuration = data.join("placewright.toml");
    fs::write(&configuration, of_admin + "\n" + &of_viewer).unwrap();
    let server = Server::start(data, &["--config", configuration.to_str().unwrap()]);
    (server, admin, viewer)
}

#[test]
fn changes_are_recorded_with_who_made_them_and_what_came_of_them() {
    let data = folder();
    let (server, admin, viewer) = with_tokens(data.path());
    let admin = Api::with(&server, &admin);
    let made = admin.send("POST", "/v1/clusters?policy=none", &cluster("mine", 1));
    assert_eq!(made.status, 201);
    let placed = admin.send("POST", "/v1/clusters/mine/place", &vm("v"));
    assert_eq!(placed.status, 200);
    let confirm = json!({"vms": ["v"]});
    let confirmed = admin.send("POST", "/v1/clusters/mine/confirm", &confirm);
    assert_eq!(confirmed.status, 204);
    let unknown = admin.send("POST", "/v1/clusters/other/place", &vm("v"));
    assert_eq!(unknown.status, 404);
    // Neither changes anything.
    assert_eq!(
        Api::with(&server, &viewer).get("/v1/clusters/mine").status,
        200
    );
    admin.send("POST", "/v1/clusters/mine/why?host=h0", &vm("w"));
    server.signal("TERM");
    assert!(server.ended().0.success());

    let records = records(data.path());
    let calls: Vec<&Value> = records.iter().filter(|it| it["kind"] == "call").collect();
    let told: Vec<Value> = calls
        .iter()
        .map(|it| json!([it["by"], it["method"], it["path"], it["status"], it["code"]]))
        .collect();
    let by = "admin-all";
    assert_eq!(
        told,
        [
            json!([by, "POST", "/v1/clusters?policy=none", 201, null]),
            json!([by, "POST", "/v1/clusters/mine/place", 200, null]),
            json!([by, "POST", "/v1/clusters/mine/confirm", 204, null]),
            json!([by, "POST", "/v1/clusters/other/place", 404, "not-found"]),
        ]
    );
    let place = calls[1];
    assert_eq!(place["route"], "/v1/clusters/{cluster}/place");
    assert_eq!(place["cluster"], "mine");
    assert_eq!(
        (&place["vms"], &calls[2]["vms"]),
        (&json!("v"), &json!("v"))
    );
    assert_eq!(place["decision"], placed.body["number"]);
    assert_eq!(place["host"], placed.body["host"]);
    assert!(place["peer"].as_str().unwrap().starts_with("127.0.0.1:"));
    assert!(place["request"].is_string());
    let (first, last) = (&records[0], &records[records.len() - 1]);
    assert_eq!(first["what"], "server-started");
    assert_eq!(last["what"], "server-stopped");
    let (intact, found) = verify(data.path());
    assert!(intact, "{found}");
    assert_eq!(found["records"], records.len());
    assert_eq!(found["last"]["hash"], last["hash"]);
}

#[test]
fn what_a_row_was_before_a_change_and_is_after_it_is_recorded() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    api.send("POST", "/v1/clusters?policy=none", &cluster("mine", 1));
    let host = "/v1/clusters/mine/hosts/h0";
    let maintenance = json!({"state": "maintenance"});
    assert_eq!(api.send("PATCH", host, &maintenance).status, 200);
    let tenant = "/v1/clusters/mine/tenants/t";
    assert_eq!(api.send("PUT", tenant, &json!({"id": "t"})).status, 201);
    assert_eq!(api.send("DELETE", tenant, &Value::Null).status, 204);
    let changes = "/v1/clusters/mine/inventory/changes";
    let up = json!({"hosts": [{"id": "h0", "state": "up"}]});
    assert_eq!(api.send("POST", changes, &up).status, 200);
    server.signal("TERM");
    assert!(server.ended().0.success());
    let records = records(data.path());
    let sides = |path: &str, method: &str| {
        let is_it = |it: &&Value| it["path"] == path && it["method"] == method;
        let record = records.iter().find(is_it).unwrap();
        let side = |key: &str| record.get(key).and_then(Value::as_str).map(super::json);
        (side("before"), side("after"))
    };
    let state = |state: &str| Some(json!({"state": state}));
    assert_eq!(sides(host, "PATCH"), (state("up"), state("maintenance")));
    let row = Some(json!({"id": "t"}));
    assert_eq!(sides(tenant, "PUT"), (None, row.clone()));
    assert_eq!(sides(tenant, "DELETE"), (row, None));
    let (before, after) = sides(changes, "POST");
    let revision =
        |text: Option<Value>| -> u64 { text.unwrap().as_str().unwrap().parse().unwrap() };
    assert!(revision(after) > revision(before));
}

#[test]
fn refusals_are_recorded_and_logged_and_many_of_them_are_counted() {
    let data = folder();
    let (server, _, viewer) = with_tokens(data.path());
    let url = format!("{}/v1/clusters/theirs", server.url);
    for _ in 0..100 {
        assert_eq!(get(&url, Some("nobody's")).0, 401);
    }
    for _ in 0..60 {
        assert_eq!(get(&url, Some(&viewer)).0, 403);
    }
    server.signal("TERM");
    let (_, log) = server.ended();
    let lines = log.lines().map(super::json);
    let refused: Vec<Value> = lines.filter(|line| line["message"] == "refused").collect();
    assert!((2..20).contains(&refused.len()), "{log}");
    for line in &refused {
        assert_eq!(line["level"], "WARN", "{line}");
        assert!(line["peer"].is_string(), "{line}");
    }

    let records = records(data.path());
    let own = |by: Value| {
        let refusals = records.iter().filter(|it| it["kind"] == "refusal");
        refusals.filter(|it| it["by"] == by).count() as u64
    };
    let (unknown, viewers) = (own(Value::Null), own("viewer-mine".into()));
    assert!((10..100).contains(&unknown), "{unknown}");
    assert!((10..60).contains(&viewers), "{viewers}");
    let told = records.iter().filter(|it| it["what"] == "left-out");
    let left_out: u64 = told.clone().filter_map(|it| it["left-out"].as_u64()).sum();
    assert_eq!(unknown + viewers + left_out, 160);
    let named = told
        .filter_map(|it| it["message"].as_str())
        .collect::<String>();
    assert!(named.contains("of the token \"viewer-mine\""), "{named}");
    assert!(named.contains("of 127.0.0.1"), "{named}");
    let of_viewer = records.iter().find(|it| it["by"] == "viewer-mine").unwrap();
    assert_eq!(of_viewer["status"], 403);
    assert_eq!(of_viewer["code"], "forbidden");
    assert_eq!(of_viewer["path"], "/v1/clusters/theirs");
}

/// Send so many calls at once that change nothing, and read their answers.
fn fail(address: &str, secret: &str, calls: usize) {
    let mut stream = TcpStream::connect(address).unwrap();
    let call = format!(
        "DELETE /v1/clusters/none/reservations/{} HTTP/1.1\r\nHost: {address}\r\n\
         Authorization: Bearer {secret}\r\n",
        "v".repeat(200)
    );
    let calls = format!("{call}\r\n").repeat(calls - 1) + &call + "Connection: close\r\n\r\n";
    let mut asking = stream.try_clone().unwrap();
    let asking = std::thread::spawn(move || asking.write_all(calls.as_bytes()));
    let mut answers = Vec::new();
    stream.read_to_end(&mut answers).unwrap();
    asking.join().unwrap().unwrap();
}

#[test]
fn calls_that_change_nothing_fill_no_log_and_drive_out_no_record_of_a_change() {
    const CALLS: usize = 3000;
    let data = folder();
    let (server, admin, _) = with_tokens(data.path());
    let address = server.url.trim_start_matches("http://").to_owned();
    let flood: Vec<_> = (0..4)
        .map(|_| {
            let (address, admin) = (address.clone(), admin.clone());
            std::thread::spawn(move || fail(&address, &admin, CALLS))
        })
        .collect();
    let api = Api::with(&server, &admin);
    for number in 0..20 {
        let name = json!({"name": format!("p{number}")});
        let made = api.send("POST", "/v1/policies/worst-fit/clone", &name);
        assert_eq!(made.status, 201);
    }
    for thread in flood {
        thread.join().unwrap();
    }
    server.signal("TERM");
    assert!(server.ended().0.success());
    let records = records(data.path());
    let count = |is: &dyn Fn(&Value) -> bool| records.iter().filter(|it| is(it)).count();
    assert_eq!(count(&|it| it["status"] == 201), 20);
    assert_eq!(count(&|it| it["what"] == "policy-changed"), 20);
    let failed = count(&|it| it["status"] == 404);
    assert!((30..CALLS).contains(&failed), "{failed}");
    let told = records.iter().filter(|it| it["what"] == "left-out");
    let left_out: u64 = told.filter_map(|it| it["left-out"].as_u64()).sum();
    assert_eq!(left_out as usize + failed, 4 * CALLS);
    let longest = records.iter().map(|it| it.to_string().len()).max();
    assert!(longest < Some(1200), "{longest:?}");
    let strict = placewright(["audit", "verify", "--strict"])
        .arg(data.path())
        .status();
    assert!(strict.unwrap().success());
}

#[test]
fn successful_calls_after_which_everything_is_as_before_have_few_records() {
    const CALLS: usize = 60;
    let data = folder();
    let (server, admin, _) = with_tokens(data.path());
    let api = Api::with(&server, &admin);
    let made = api.send("POST", "/v1/clusters?policy=worst-fit", &cluster("mine", 1));
    assert_eq!(made.status, 201);
    let none = json!({"vms": []});
    let tried = json!({"id": "w", "cpu": 1, "memory": 1, "dry-run": true});
    let measured = |measured: i64| {
        let of_host = json!({"id": "h0", "cpu.usage": 0.5, "measured": measured});
        json!({"statistics": [of_host]})
    };
    let now = api.send(
        "POST",
        "/v1/clusters/mine/inventory/changes",
        &measured(1000),
    );
    assert_eq!(now.status, 200);
    let nowhere = json!({"vms": [{"id": "x", "cpu": 1, "memory": "8 TiB"}]});
    let calls = [
        ("POST", "inventory/changes", &json!({})),
        ("POST", "inventory/changes", &measured(900)),
        ("POST", "confirm", &none),
        ("POST", "cancel", &none),
        ("POST", "place", &tried),
        ("POST", "place-batch", &nowhere),
        ("PATCH", "settings", &json!({})),
    ];
    for _ in 0..CALLS {
        for (method, path, body) in calls {
            let answer = api.send(method, &format!("/v1/clusters/mine/{path}"), body);
            assert!((200..300).contains(&answer.status), "{path}: {answer:?}");
        }
    }
    let placed = api.send("POST", "/v1/clusters/mine/place", &vm("v"));
    assert_eq!(placed.status, 200);
    server.signal("TERM");
    assert!(server.ended().0.success());
    let records = records(data.path());
    let of = |end: &str| {
        let path = |it: &&Value| it["path"].as_str().is_some_and(|path| path.ends_with(end));
        records.iter().filter(path).count()
    };
    let told = records.iter().filter(|it| it["what"] == "left-out");
    let left_out: u64 = told.filter_map(|it| it["left-out"].as_u64()).sum();
    let ends = [
        "/changes",
        "/confirm",
        "/cancel",
        "/place",
        "/place-batch",
        "/settings",
    ];
    let recorded: usize = ends.into_iter().map(of).sum();
    assert_eq!(left_out as usize + recorded, calls.len() * CALLS + 2);
    // Thirty of one token in ten seconds.
    assert!(recorded < calls.len() * CALLS / 2, "{recorded}");
    // The one that changed something has its record.
    assert!(records.iter().any(|it| it["vms"] == "v"));
}

#[test]
fn a_strict_check_fails_where_records_of_changes_were_lost() {
    let data = folder();
    for lost in [0, 3] {
        let hashed = format!(
            "\"previous\":\"{}\",\"sequence\":1,\"at\":\"2026-01-01T00:00:00Z\",\"lost\":{lost}}}",
            "0".repeat(64)
        );
        let hash = hex::encode(Sha256::digest(&hashed));
        let line = format!("{{\"hash\":\"{hash}\",{hashed}\n");
        fs::write(data.path().join("audit.jsonl"), line).unwrap();
        let check = |words: &[&str]| {
            let mut command = placewright(["audit", "verify"]);
            let output = command.args(words).arg(data.path()).output().unwrap();
            (
                output.status.code(),
                String::from_utf8(output.stdout).unwrap(),
            )
        };
        assert_eq!(check(&[]).0, Some(0));
        let (code, said) = check(&["--strict"]);
        assert_eq!(code, Some(i32::from(lost > 0)), "{said}");
    }
}

#[test]
fn what_comes_by_folders_and_signals_is_recorded_with_its_way() {
    let data = folder();
    let (server, admin, _) = with_tokens(data.path());
    let admin = Api::with(&server, &admin);
    let policy = "[[filters]]\nunit = \"worst-fit\"\n";
    fs::write(data.path().join("policies/mine.toml"), policy).unwrap();
    let changed = wait_for(data.path(), "the policy", |it| it["policy"] == "mine");
    assert_eq!(changed["what"], "policy-changed");
    assert_eq!(changed["origin"], "folder");
    fs::write(data.path().join("units/mine.wasm"), variant(1)).unwrap();
    let unit = wait_for(data.path(), "the unit", |it| it["what"] == "unit-in-force");
    assert_eq!(unit["origin"], "folder");
    server.signal("HUP");
    let is_read = |it: &Value| it["what"] == "configuration-read";
    let read = wait_for(data.path(), "the configuration", is_read);
    assert_eq!(read["origin"], "signal");
    let name = unit["unit"].as_str().unwrap();
    let pinned = admin.send("POST", &format!("/v1/units/{name}/pin"), &Value::Null);
    assert_eq!(pinned.status, 204);
    let pinned = wait_for(data.path(), "the pin", |it| it["what"] == "unit-pinned");
    assert_eq!(
        (&pinned["origin"], &pinned["by"]),
        (&"api".into(), &"admin-all".into())
    );
}

#[test]
fn the_chain_goes_on_after_a_kill_and_a_torn_record_and_an_edit_is_named() {
    let data = folder();
    let mut placed = 0;
    for round in 0..3 {
        let server = Server::start(data.path(), &["--audit-log-size", "4000"]);
        let api = Api::of(&server);
        if round == 0 {
            api.send("POST", "/v1/clusters?policy=none", &cluster("mine", 1));
        }
        for _ in 0..20 {
            placed += 1;
            let done = api.send(
                "POST",
                "/v1/clusters/mine/place",
                &vm(&format!("v{placed}")),
            );
            assert_eq!(done.status, 200);
            // Records are written some milliseconds later, all that are there by then at once.
            let written = format!("\"vms\":\"v{placed}\"");
            wait_until("the record", || text(data.path()).contains(&written));
        }
        // By SIGKILL.
        drop(server);
        let mut log = fs::OpenOptions::new()
            .append(true)
            .open(data.path().join("audit.jsonl"))
            .unwrap();
        log.write_all(b"{\"hash\":\"0123").unwrap();
    }
    let server = Server::start(data.path(), &[]);
    server.signal("TERM");
    server.ended();
    let (intact, found) = verify(data.path());
    assert!(intact, "{found}");
    let files: Vec<String> = serde_json::from_value(found["files"].clone()).unwrap();
    assert!(files.len() > 3, "{found}");
    assert_eq!(text(data.path()).matches("\"what\":\"torn\"").count(), 3);

    let edited = Path::new(&files[1]);
    let text = fs::read_to_string(edited).unwrap();
    fs::write(
        edited,
        text.replacen("/v1/clusters/mine", "/v1/clusters/nine", 1),
    )
    .unwrap();
    let (intact, found) = verify(data.path());
    assert!(!intact, "{found}");
    assert_eq!(found["broken"]["file"], files[1]);
    assert!(found["broken"]["line"].as_u64() > Some(0), "{found}");
    let output = placewright(["audit", "verify"]).arg(data.path()).output();
    let said = String::from_utf8(output.unwrap().stdout).unwrap();
    assert!(said.contains(&format!("BROKEN at {}:", files[1])), "{said}");
}

#[test]
fn records_go_to_standard_error_or_nowhere_if_the_admin_says_so() {
    let data = folder();
    let server = Server::start(data.path(), &["--audit-log", "log"]);
    Api::of(&server).send("POST", "/v1/clusters?policy=none", &cluster("mine", 1));
    server.signal("TERM");
    let (_, log) = server.ended();
    let records: Vec<&str> = log
        .lines()
        .filter(|it| it.starts_with("{\"hash\":"))
        .collect();
    assert!(
        records
            .iter()
            .any(|it| it.contains("/v1/clusters?policy=none")),
        "{log}"
    );
    assert!(!data.path().join("audit.jsonl").exists());

    let server = Server::start(data.path(), &["--audit-log", "off"]);
    server.signal("TERM");
    let (_, log) = server.ended();
    assert!(!log.contains("{\"hash\":"), "{log}");
    assert!(!data.path().join("audit.jsonl").exists());
}

#[test]
fn what_cannot_be_read_is_no_broken_log() {
    let data = folder();
    let output = placewright(["audit", "verify"]).arg(data.path()).output();
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("cannot read"), "{said}");
}
