//! The audit log, read through the API and by the command line.

use std::fs;
use std::path::Path;
use std::process::Output;

use placewright_tests::server::{Server, placewright};
use serde_json::{Value, json};

use super::deployment::{Answer, Api, cluster, vm};
use super::folder;
use super::roles::token;

/// A server with tokens of an admin and a viewer, whose files of the audit log are small; a
/// cluster; and what the two have done.
fn with_history(data: &Path, words: &[&str]) -> (Server, Api, Api) {
    let (admin, of_admin) = token("admin", None);
    let (viewer, of_viewer) = token("viewer", None);
    let configuration = data.join("placewright.toml");
    fs::write(&configuration, of_admin + "\n" + &of_viewer).unwrap();
    let secret = data.join("secret");
    fs::write(&secret, &admin).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    }
    let words = [&["--config", configuration.to_str().unwrap()], words].concat();
    let server = Server::start(data, &words);
    let (admin, viewer) = (Api::with(&server, &admin), Api::with(&server, &viewer));
    let made = admin.send("POST", "/v1/clusters?policy=none", &cluster("mine", 1));
    assert_eq!(made.status, 201);
    for id in ["v", "<img src=x>"] {
        let placed = admin.send("POST", "/v1/clusters/mine/place", &vm(id));
        assert_eq!(placed.status, 200, "{placed:?}");
    }
    let refused = viewer.send("POST", "/v1/clusters/mine/place", &vm("w"));
    assert_eq!(refused.status, 403);
    let unknown = admin.send(
        "DELETE",
        "/v1/clusters/mine/reservations/none",
        &Value::Null,
    );
    assert_eq!(unknown.status, 404);
    (server, admin, viewer)
}

fn items(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body["items"].as_array().unwrap().clone()
}

#[test]
fn admins_read_who_did_what_and_others_may_not() {
    let data = folder();
    let (_server, admin, viewer) = with_history(data.path(), &[]);
    assert_eq!(viewer.get("/v1/audit").status, 403);
    let calls = items(&admin.get("/v1/audit?kind=call"));
    let told: Vec<Value> = calls
        .iter()
        .map(|it| {
            json!([
                it["by"],
                it["method"],
                it["route"],
                it["result"],
                it["status"]
            ])
        })
        .collect();
    let place = json!([
        "admin-all",
        "POST",
        "/v1/clusters/{cluster}/place",
        "done",
        200
    ]);
    let reservations = "/v1/clusters/{cluster}/reservations/{vm}";
    assert_eq!(
        told,
        [
            json!(["admin-all", "DELETE", reservations, "failed", 404]),
            place.clone(),
            place,
            json!(["admin-all", "POST", "/v1/clusters", "done", 201]),
        ]
    );
    let decided: Vec<&Value> = calls.iter().map(|it| &it["decision"]).collect();
    assert_eq!(decided[1..3], [&json!(2), &json!(1)]);
    let refusals = items(&admin.get("/v1/audit?result=refused"));
    let told: Vec<Value> = refusals
        .iter()
        .map(|it| json!([it["kind"], it["by"], it["method"]]))
        .collect();
    assert_eq!(
        told,
        [
            json!(["refusal", "viewer-all", "GET"]),
            json!(["refusal", "viewer-all", "POST"]),
        ]
    );
    for (query, expected) in [
        ("by=viewer-all", 2),
        ("action=/place&by=admin-all", 2),
        (
            "action=post+/v1/clusters/%7Bcluster%7D/place&result=done",
            2,
        ),
        ("status=404", 1),
        ("text=%3Cimg&kind=call", 1),
        ("cluster=other", 0),
        ("kind=call&until=2001-01-01T00:00:00%2B02:00", 0),
        (
            "kind=call&since=2001-01-01T00:00:00Z&until=9999-12-31T23:59:59-23:59",
            4,
        ),
        ("kind=server&action=server-started", 1),
    ] {
        let found = items(&admin.get(&format!("/v1/audit?{query}")));
        assert_eq!(found.len(), expected, "{query}: {found:?}");
    }
    for query in [
        "kind=nothing",
        "action=unit-in-forse",
        "result=good",
        "since=yesterday",
        "after=x",
        "limit=0",
        "limit=1001",
        "colour=red",
    ] {
        let refused = admin.get(&format!("/v1/audit?{query}"));
        assert_eq!(refused.status, 400, "{query}: {refused:?}");
    }
}

#[test]
fn pages_go_on_over_files_that_are_full_and_say_where_one_is_missing() {
    let data = folder();
    let (_server, admin, _) = with_history(data.path(), &["--audit-log-size", "2 KiB"]);
    let full = || {
        let names = fs::read_dir(data.path()).unwrap().flatten();
        let names = names.map(|it| it.path());
        let is_full = |it: &std::path::PathBuf| {
            let name = it.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with("audit.0") && name.ends_with(".jsonl")
        };
        let mut names: Vec<std::path::PathBuf> = names.filter(is_full).collect();
        names.sort();
        names
    };
    let mut host = 0;
    while full().len() < 3 {
        let row = json!({"id": format!("n{host}"), "cpu.cores": 4, "memory.total": "8 GiB"});
        let path = format!("/v1/clusters/mine/hosts/n{host}");
        assert_eq!(admin.send("PUT", &path, &row).status, 201);
        host += 1;
        // Written by now.
        items(&admin.get("/v1/audit?limit=1"));
    }
    let all = || {
        let (mut all, mut gaps, mut after) = (Vec::new(), Vec::new(), String::new());
        loop {
            let page = admin.get(&format!("/v1/audit?limit=7{after}"));
            all.extend(items(&page));
            gaps.extend(page.body["gaps"].as_array().unwrap().clone());
            match page.body["next"].as_str() {
                Some(next) => after = format!("&after={next}"),
                None => return (all, gaps),
            }
        }
    };
    let (records, gaps) = all();
    assert_eq!(gaps, [] as [Value; 0]);
    let numbers: Vec<u64> = records
        .iter()
        .filter_map(|it| it["sequence"].as_u64())
        .collect();
    let expected: Vec<u64> = (1..=numbers[0]).rev().collect();
    assert_eq!(numbers, expected);
    fs::remove_file(&full()[1]).unwrap();
    let (_, gaps) = all();
    assert_eq!(gaps.len(), 1, "{gaps:?}");
    assert_eq!(gaps[0]["kind"], "missing", "{gaps:?}");
    assert!(gaps[0]["records"].as_u64().unwrap() > 1, "{gaps:?}");
}

/// What `placewright audit list` with these words prints and says.
fn list(server: &Server, data: &Path, words: &str) -> Output {
    let output = placewright(["--server", &server.url, "--token-file"])
        .arg(data.join("secret"))
        .args(["audit", "list"])
        .args(words.split_whitespace())
        .output();
    output.unwrap()
}

#[test]
fn the_command_line_lists_records_and_shows_texts_as_texts() {
    let data = folder();
    let (server, ..) = with_history(data.path(), &[]);
    let listed = list(&server, data.path(), "--by admin-all --since 1h");
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert_eq!(listed.status.code(), Some(0), "{text}");
    for expected in ["DELETE /v1/clusters", "decision 2", "failed 404"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let listed = list(&server, data.path(), "--kind call --limit 2 --format json");
    let body = super::json(&String::from_utf8_lossy(&listed.stdout));
    let next = body["next"].as_str().unwrap();
    assert_eq!(body["items"].as_array().unwrap().len(), 2, "{body}");
    let words = format!("--kind call --after {next} --format json");
    let rest = list(&server, data.path(), &words);
    let body = super::json(&String::from_utf8_lossy(&rest.stdout));
    assert_eq!(body["items"].as_array().unwrap().len(), 2, "{body}");
    let wrong = list(&server, data.path(), "--since yesterday");
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn a_server_whose_log_is_no_file_says_so() {
    for (destination, expected) in [("off", "no audit log"), ("log", "standard error")] {
        let data = folder();
        let server = Server::start(data.path(), &["--audit-log", destination]);
        let answer = Api::of(&server).get("/v1/audit");
        assert_eq!(answer.status, 422, "{answer:?}");
        let detail = answer.body["detail"].as_str().unwrap();
        assert!(detail.contains(expected), "{detail}");
    }
}
