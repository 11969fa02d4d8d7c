//! A server whose files can grow no more, as on a full disk: it reads, says of each change what
//! became of it, and goes on by itself when there is room.

use std::process::Command;

use placewright_tests::server::{Server, placewright};
use placewright_tests::target_folder;
use placewright_tests::waiting::wait_until;
use serde_json::{Value, json};

use super::deployment::{Answer, Api, cluster, vm};
use super::folder;

/// A server that is told of a file that cannot grow, and not ended for it.
fn start(data: &std::path::Path) -> Server {
    let mut command = placewright(["serve", "--listen", "127.0.0.1:0", "--log-format", "json"]);
    command
        .arg("--cache")
        .arg(target_folder().join("serve-cache"))
        .arg("--data")
        .arg(data);
    let mut told = Command::new("sh");
    told.args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"])
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => told.env(name, value),
            None => told.env_remove(name),
        };
    }
    let server = Server::spawn(told);
    until_ready(&Api::of(&server));
    server
}

fn until_ready(api: &Api) {
    wait_until("a server that is ready", || {
        api.get("/v1/ready").status == 200
    });
}

/// No file of the server grows beyond so many bytes from now on; None: each may.
fn bound(server: &Server, bytes: Option<u64>) {
    let bytes = bytes.map_or("unlimited".to_owned(), |bytes| bytes.to_string());
    let set = Command::new("prlimit")
        .args(["--pid", &server.id().to_string()])
        .arg(format!("--fsize={bytes}:unlimited"))
        .status();
    assert!(set.is_ok_and(|status| status.success()), "prlimit");
}

/// That it was not done, or was done and is not stored, and a sentence says so.
fn is_told(answer: &Answer) -> bool {
    let sentence = answer.body["detail"].as_str().unwrap_or_default();
    let was_made = sentence.starts_with("the change was made but could not be stored: ");
    assert!(matches!(answer.status, 503 | 507), "{answer:?}");
    assert!(sentence.contains("placewright.db"), "{answer:?}");
    was_made
}

fn ids(api: &Api) -> Vec<Value> {
    let listed = api.get("/v1/clusters/c/vms");
    assert_eq!(listed.status, 200, "{listed:?}");
    let items = listed.body["items"].as_array().cloned();
    let items = items.unwrap_or_default().into_iter();
    items.map(|vm| vm["id"].clone()).collect()
}

#[test]
fn a_server_whose_files_cannot_grow_reads_and_stores_what_was_changed_once_they_can() {
    let data = folder();
    let server = start(data.path());
    let api = Api::of(&server);
    let made = api.send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 3));
    assert_eq!(made.status, 201, "{made:?}");
    let place = |id: &str| {
        let mut wanted = vm(id);
        wanted["reserve-for"] = json!(86_400);
        api.send("POST", "/v1/clusters/c/place", &wanted)
    };
    assert_eq!(place("before").status, 200);

    // The first page of a file can be written anew, and nothing behind it.
    bound(&server, Some(4096));
    let mut expected = vec![json!("before")];
    for number in 0..20 {
        let id = format!("full-{number:02}");
        assert!(is_told(&place(&id)), "{id} has its place");
        expected.push(json!(id));
    }
    let confirmed = json!({"vms": ["before"]});
    assert!(is_told(&api.send(
        "POST",
        "/v1/clusters/c/confirm",
        &confirmed
    )));
    let new = api.send(
        "POST",
        "/v1/clusters?policy=worst-fit",
        &cluster("other", 1),
    );
    assert!(!is_told(&new), "there is no such cluster");
    assert_eq!(api.get("/v1/clusters/other").status, 404);
    // What is there is read, as often as somebody asks.
    for _ in 0..3 {
        for path in [
            "/v1/health",
            "/v1/clusters",
            "/v1/clusters/c",
            "/v1/clusters/c/inventory",
            "/v1/clusters/c/hosts",
            "/v1/clusters/c/hosts/h0",
            "/v1/clusters/c/vms/before",
            "/v1/clusters/c/reservations",
            "/v1/clusters/c/reservations/full-00",
            "/v1/clusters/c/plans",
            "/v1/clusters/c/decisions",
            "/v1/policies",
            "/v1/units",
            "/metrics",
        ] {
            let read = api.get(path);
            assert_eq!(read.status, 200, "{path}: {read:?}");
        }
        assert_eq!(ids(&api), expected);
    }
    let ready = api.get("/v1/ready");
    assert_eq!(ready.status, 503, "{ready:?}");

    // There is room: the server finds out by itself, and all of it is stored.
    bound(&server, None);
    until_ready(&api);
    assert_eq!(place("after").status, 200);
    expected.insert(0, json!("after"));
    server.signal("KILL");
    let (_, log) = server.ended();
    assert!(!log.contains("panicked"), "{log}");
    let server = start(data.path());
    let api = Api::of(&server);
    assert_eq!(ids(&api), expected);
    let confirmed = api.get("/v1/clusters/c/reservations/before");
    assert_eq!(confirmed.body["code"], "vm-runs", "{confirmed:?}");
    let reserved = api.get("/v1/clusters/c/reservations/full-19");
    assert_eq!(reserved.status, 200, "{reserved:?}");
}

#[test]
fn a_server_answers_also_when_nobody_reads_its_log_any_more() {
    let data = folder();
    let mut command = placewright(["serve", "--listen", "127.0.0.1:0", "--log-format", "json"]);
    command
        .arg("--cache")
        .arg(target_folder().join("serve-cache"))
        .arg("--data")
        .arg(data.path());
    let (server, log) = Server::spawn_and_read(command);
    until_ready(&Api::of(&server));
    drop(log);
    let api = Api::of(&server);
    let made = api.send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 3));
    assert_eq!(made.status, 201, "{made:?}");
    // Each of these is a line of the log.
    for _ in 0..3 {
        let foreign = api.ask("GET", "/v1/clusters", &[("host", "evil.example")], b"");
        assert_eq!(foreign.unwrap().status, 403);
    }
    let placed = api.send("POST", "/v1/clusters/c/place", &vm("v"));
    assert_eq!(placed.status, 200, "{placed:?}");
    let removed = api.send("DELETE", "/v1/clusters/c", &Value::Null);
    assert_eq!(removed.status, 204, "{removed:?}");
}
