//! What a token may do depends on the clusters that a policy decides in.

use std::fs;

use placewright_tests::server::{Server, placewright};
use placewright_tests::waiting::wait_until;
use serde_json::json;

use super::deployment::{Api, cluster};
use super::folder;

/// A token, and the lines of the configuration that make it known.
pub(crate) fn token(role: &str, cluster: Option<&str>) -> (String, String) {
    let name = format!("{role}-{}", cluster.unwrap_or("all"));
    let mut command = placewright(["token", "new", "--name", &name, "--role", role]);
    if let Some(cluster) = cluster {
        command.args(["--cluster", cluster]);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let secret = said.lines().find(|line| line.starts_with("pw_"));
    let lines = String::from_utf8(output.stdout).unwrap();
    (secret.unwrap().to_owned(), lines)
}

#[test]
fn a_policy_is_edited_only_with_rights_on_every_cluster_where_it_decides() {
    let data = folder();
    let (admin, of_admin) = token("admin", None);
    let (author, of_author) = token("policy-author", Some("mine"));
    let configuration = data.path().join("placewright.toml");
    fs::write(&configuration, of_admin + "\n" + &of_author).unwrap();
    let server = Server::start(data.path(), &["--config", configuration.to_str().unwrap()]);
    let (admin, author) = (Api::with(&server, &admin), Api::with(&server, &author));
    author.send(
        "POST",
        "/v1/policies/worst-fit/clone",
        &json!({"name": "p"}),
    );
    for name in ["mine", "theirs"] {
        let made = admin.send("POST", "/v1/clusters?policy=none", &cluster(name, 1));
        assert_eq!(made.status, 201);
    }
    let attach = |api: &Api, cluster: &str| {
        let headers = [("content-type", "application/json"), ("if-match", "*")];
        let path = format!("/v1/clusters/{cluster}/settings");
        api.ask("PUT", &path, &headers, br#"{"policy": "p"}"#)
            .unwrap()
            .status
    };
    let edit = |api: &Api| {
        let headers = [("content-type", "application/json"), ("if-match", "*")];
        let text = br#"{"filters": [{"unit": "worst-fit"}]}"#;
        api.ask("PUT", "/v1/policies/p", &headers, text)
            .unwrap()
            .status
    };
    assert_eq!(
        (attach(&author, "mine"), attach(&author, "theirs")),
        (200, 403)
    );
    assert_eq!(edit(&author), 200);
    assert_eq!(attach(&admin, "theirs"), 200);
    assert_eq!((edit(&author), edit(&admin)), (403, 200));
}

#[test]
fn a_viewer_may_try_whatever_can_be_tried_and_change_nothing() {
    let data = folder();
    let (admin, of_admin) = token("admin", None);
    let (viewer, of_viewer) = token("viewer", None);
    let configuration = data.path().join("placewright.toml");
    fs::write(&configuration, of_admin + "\n" + &of_viewer).unwrap();
    let server = Server::start(data.path(), &["--config", configuration.to_str().unwrap()]);
    let (admin, viewer) = (Api::with(&server, &admin), Api::with(&server, &viewer));
    let host = |id: &str| json!({"id": id, "cpu.cores": 8, "memory.total": "8 GiB"});
    let made = json!({
        "name": "c", "hosts": [host("h"), host("i")],
        "vms": [{"id": "v", "host": "h", "cpu": 1, "memory": "1 GiB"}],
    });
    assert_eq!(admin.send("POST", "/v1/clusters", &made).status, 201);
    let state = || {
        ["inventory", "plans", "reservations"]
            .map(|path| admin.get(&format!("/v1/clusters/c/{path}")).body)
    };
    let before = state();
    let vm = json!({"id": "w", "cpu": 1, "memory": "1 GiB"});
    for (path, body) in [
        ("place", vm.clone()),
        ("place-batch", json!({"vms": [vm]})),
        ("migrate", json!({"id": "v"})),
        ("evacuate", json!({"hosts": ["h"]})),
        ("plans", json!({})),
    ] {
        let ask = |query: &str| {
            let path = format!("/v1/clusters/c/{path}{query}");
            viewer.send("POST", &path, &body)
        };
        assert!(ask("?dry-run=true").status < 300, "{path}");
        for query in ["", "?dry-run=false", "?dry%2Drun=true"] {
            assert_eq!(ask(query).status, 403, "{path}{query}");
        }
        // What the query says twice is not understood.
        assert_eq!(ask("?dry-run=true&dry-run=false").status, 400, "{path}");
    }
    let forced = json!({"id": "w", "cpu": 1, "force": "h"});
    let told = viewer.send("POST", "/v1/clusters/c/place?dry-run=true", &forced);
    assert_eq!(told.status, 403, "{told:?}");
    assert_eq!(state(), before);
    for rule in placewright_api::RULES {
        assert_eq!(
            rule.to_try.is_some(),
            rule.query.contains(&"dry-run"),
            "{}",
            rule.path
        );
    }
}

/// What a stream of events sends from the first event on: up to the one that is awaited, and what
/// comes with it without a pause.
fn events(server: &Server, token: &str, awaited: &str) -> String {
    use std::io::{Read, Write};
    let address = server.url.trim_start_matches("http://");
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    write!(
        stream,
        "GET /v1/events HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\nlast-event-id: 0\r\n\r\n"
    )
    .unwrap();
    let (mut bytes, mut buffer) = (Vec::new(), [0; 1 << 16]);
    loop {
        let text = String::from_utf8_lossy(&bytes);
        let patience = match text.contains(awaited) {
            true => std::time::Duration::from_secs(1),
            false => std::time::Duration::from_secs(300),
        };
        stream.set_read_timeout(Some(patience)).unwrap();
        match stream.read(&mut buffer) {
            Ok(read @ 1..) => bytes.extend_from_slice(&buffer[..read]),
            _ => return text.into_owned(),
        }
    }
}

#[test]
fn a_token_for_one_cluster_finds_no_trace_of_another_one_in_anything_that_it_reads() {
    let data = folder();
    let (admin, of_admin) = token("admin", None);
    let (viewer, of_viewer) = token("viewer", Some("mine"));
    let (author, of_author) = token("policy-author", Some("clandestine"));
    let (local, of_local) = token("admin", Some("mine"));
    let configuration = data.path().join("placewright.toml");
    let tokens = [of_admin, of_viewer, of_author, of_local].join("\n");
    fs::write(&configuration, tokens).unwrap();
    let server = Server::start(data.path(), &["--config", configuration.to_str().unwrap()]);
    let (root, api) = (Api::with(&server, &admin), Api::with(&server, &viewer));
    let author = Api::with(&server, &author);
    // A policy and a unit of somebody else's, which are for the other cluster alone.
    let policy = br#"{"filters": [{"unit": "worst-fit"}]}"#;
    let headers = [("content-type", "application/json"), ("if-none-match", "*")];
    let put = author.ask("PUT", "/v1/policies/secretive", &headers, policy);
    assert_eq!(put.unwrap().status, 200);
    for (name, policy) in [("mine", "none"), ("clandestine", "secretive")] {
        let path = format!("/v1/clusters?policy={policy}");
        assert_eq!(root.send("POST", &path, &cluster(name, 1)).status, 201);
    }
    fs::write(data.path().join("policies/whispered.toml"), "filters = 3\n").unwrap();
    let unit = data.path().join("units/worst-fit.wasm");
    fs::write(&unit, super::reload::variant(1)).unwrap();
    fs::write(data.path().join("units/rumour.wasm"), b"no component").unwrap();
    // So that there is something to be found.
    let told = events(&server, &admin, "whispered");
    wait_until("the file of a unit looked at", || {
        let files = root.get("/v1/unit-files").body.to_string();
        files.contains("rumour")
    });
    let folder_name = data.path().file_name().unwrap().to_str().unwrap();
    let traces = ["clandestine", "secretive", "whispered", folder_name];
    for trace in traces {
        assert!(told.contains(trace), "{trace}: {told}");
    }

    let told = events(&server, &viewer, "unit-in-force");
    assert!(told.contains("unit-in-force"), "{told}");
    let mut answers = vec![("/v1/events".to_owned(), told)];
    for rule in placewright_api::RULES {
        let is_stream = rule.path == "/v1/events" || rule.path.ends_with("/follow");
        if rule.method != "GET" || is_stream {
            continue;
        }
        let path = rule.path.replace("{cluster}", "mine");
        let path = path.replace("{unit}", "worst-fit");
        // With a typing error, so that nothing proposes the name that was meant.
        let path = path.replace("{policy}", "secretiv");
        let path = path.replace("{number}", "1");
        let path = ["{host}", "{vm}", "{group}", "{tenant}"]
            .iter()
            .fold(path, |path, part| path.replace(part, "x"));
        answers.push((path.clone(), api.get(&path).body.to_string()));
    }
    assert!(answers.len() > 25);
    // Nor does a change that is refused propose it.
    let path = "/v1/clusters/mine/settings";
    let headers = [("content-type", "application/json"), ("if-match", "*")];
    let attach = |token: &str| {
        let body = br#"{"policy": "secretiv"}"#;
        let refused = Api::with(&server, token).ask("PUT", path, &headers, body);
        let refused = refused.unwrap();
        assert_eq!(refused.status, 404, "{}", refused.body);
        refused.body.to_string()
    };
    assert!(attach(&admin).contains("did you mean"));
    answers.push((path.to_owned(), attach(&local)));
    for path in ["/v1/policies/secretive", "/v1/policies/secretive/history"] {
        let answer = api.get(path);
        assert_eq!(answer.status, 404, "{path}: {}", answer.body);
    }
    for (path, answer) in &answers {
        for trace in traces {
            let found = answer.contains(trace);
            assert!(!found, "{path} tells of \"{trace}\": {answer}");
        }
    }
}
