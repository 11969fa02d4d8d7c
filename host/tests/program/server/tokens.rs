//! Tokens that admins issue and revoke while the server runs.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use placewright_tests::server::Server;
use serde_json::{Value, json};

use super::deployment::{Api, cluster};
use super::folder;
use super::listener::Listener;
use super::roles::token;

/// A server whose configuration has a token of an admin and one of a policy author.
fn start(data: &Path, lines: &str) -> Server {
    let configuration = data.join("placewright.toml");
    fs::write(&configuration, lines).unwrap();
    Server::start(data, &["--config", configuration.to_str().unwrap()])
}

/// A server with a cluster `beta`, as its admin calls it.
fn with_a_cluster(data: &Path) -> (Server, Api) {
    let (admin, lines) = token("admin", None);
    let server = start(data, &lines);
    let admin = Api::with(&server, &admin);
    let made = admin.send("POST", "/v1/clusters?policy=none", &cluster("beta", 1));
    assert_eq!(made.status, 201);
    (server, admin)
}

fn issue(api: &Api, wanted: &Value) -> (String, Value) {
    let issued = api.send("POST", "/v1/tokens", wanted);
    assert_eq!(issued.status, 201, "{issued:?}");
    let secret = issued.body["secret"].as_str().unwrap().to_owned();
    (secret, issued.body["token"].clone())
}

#[test]
fn a_token_is_issued_used_listed_and_revoked_and_a_restart_changes_nothing() {
    let data = folder();
    let (secret_of_admin, lines) = token("admin", None);
    let server = start(data.path(), &lines);
    let admin = Api::with(&server, &secret_of_admin);
    for name in ["east", "west"] {
        let made = admin.send("POST", "/v1/clusters?policy=none", &cluster(name, 1));
        assert_eq!(made.status, 201);
    }
    let wanted = json!({"name": "ci", "role": "operator", "clusters": ["east"]});
    let (secret, shown) = issue(&admin, &wanted);
    assert_eq!(shown["by"], "admin-all");
    assert_eq!(
        (&shown["origin"], &shown["expired"], &shown["clusters"]),
        (&"api".into(), &false.into(), &json!(["east"]))
    );
    let gone = issue(&admin, &json!({"name": "gone", "role": "viewer"})).0;
    assert_eq!(
        admin.send("DELETE", "/v1/tokens/gone", &Value::Null).status,
        204
    );

    let check = |server: &Server| {
        let (admin, ci) = (
            Api::with(server, &secret_of_admin),
            Api::with(server, &secret),
        );
        assert_eq!(ci.get("/v1/clusters/east").status, 200);
        assert_eq!(ci.get("/v1/clusters/west").status, 403);
        // It administers nothing.
        assert_eq!(ci.get("/v1/tokens").status, 403);
        assert_eq!(Api::with(server, &gone).get("/v1/clusters").status, 401);
        let listed = admin.get("/v1/tokens").body;
        let of_configuration = json!({
            "name": "admin-all", "role": "admin", "origin": "configuration", "expired": false,
        });
        assert_eq!(listed["items"], json!([of_configuration, shown]));
        assert_eq!(admin.get("/v1/tokens/ci").body, shown);
        let locked = admin.send("DELETE", "/v1/tokens/admin-all", &Value::Null);
        assert_eq!(locked.status, 423, "{locked:?}");
    };
    check(&server);
    drop(server);
    let server = start(data.path(), &lines);
    check(&server);
    let admin = Api::with(&server, &secret_of_admin);
    assert_eq!(
        admin.send("DELETE", "/v1/tokens/ci", &Value::Null).status,
        204
    );
    assert_eq!(
        Api::with(&server, &secret).get("/v1/clusters/east").status,
        401
    );
    drop(server);
    // No file of the server has what only the owner of the token knows.
    let mut files = 0;
    for entry in fs::read_dir(data.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = fs::read(&path).unwrap();
            let found = bytes
                .windows(secret.len())
                .any(|it| it == secret.as_bytes());
            assert!(!found, "{}", path.display());
            files += 1;
        }
    }
    assert!(files > 1);
}

#[test]
fn what_a_token_has_open_ends_when_it_is_revoked_or_expires() {
    let data = folder();
    let (server, admin) = with_a_cluster(data.path());
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let revoked = issue(&admin, &json!({"name": "revoked", "role": "viewer"})).0;
    let expiring = json!({"name": "expiring", "role": "viewer", "expires": now + 3});
    let expiring = issue(&admin, &expiring).0;
    let open = |token: &str| {
        ["/v1/events", "/v1/clusters/beta/inventory/follow"]
            .map(|path| Listener::open_as(&server, path, token))
    };
    let streams = [open(&revoked), open(&expiring)];
    let [of_revoked, of_expiring] = streams;
    for mut stream in of_expiring {
        while stream.named().is_some() {}
    }
    let refused = Api::with(&server, &expiring).get("/v1/clusters");
    assert_eq!(refused.status, 401);
    assert_eq!(refused.body["detail"], "the token \"expiring\" has expired");
    assert_eq!(admin.get("/v1/tokens/expiring").body["expired"], true);
    assert_eq!(Api::with(&server, &revoked).get("/v1/clusters").status, 200);
    assert_eq!(
        admin
            .send("DELETE", "/v1/tokens/revoked", &Value::Null)
            .status,
        204
    );
    for mut stream in of_revoked {
        while stream.named().is_some() {}
    }
}

#[test]
fn a_request_whose_token_is_revoked_while_its_body_arrives_is_not_carried_out() {
    let data = folder();
    let (server, admin) = with_a_cluster(data.path());
    let operator = issue(&admin, &json!({"name": "late", "role": "operator"})).0;
    let body = json!({"hosts": [{"id": "late", "cpu.cores": 1}]}).to_string();
    let mut socket = TcpStream::connect(server.url.strip_prefix("http://").unwrap()).unwrap();
    let head = format!(
        "POST /v1/clusters/beta/inventory/changes HTTP/1.1\r\nhost: localhost\r\n\
         authorization: Bearer {operator}\r\ncontent-type: application/json\r\n\
         expect: 100-continue\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    socket.write_all(head.as_bytes()).unwrap();
    let mut lines = BufReader::new(socket.try_clone().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    // The request was let in, and its body is waited for.
    assert!(line.starts_with("HTTP/1.1 100"), "{line}");
    let revoked = admin.send("DELETE", "/v1/tokens/late", &Value::Null);
    assert_eq!(revoked.status, 204);
    socket.write_all(body.as_bytes()).unwrap();
    line.clear();
    while !line.starts_with("HTTP/1.1 ") {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0, "no answer");
    }
    assert!(line.starts_with("HTTP/1.1 401"), "{line}");
    assert_eq!(admin.get("/v1/clusters/beta/hosts/late").status, 404);
}

#[test]
fn the_secret_is_in_one_answer_alone() {
    let data = folder();
    let (secret, lines) = token("admin", None);
    let server = start(data.path(), &lines);
    let admin = Api::with(&server, &secret);
    let headers = [
        ("content-type", "application/json"),
        ("idempotency-key", "k"),
    ];
    let body = br#"{"name": "ci", "role": "viewer"}"#;
    let issued = admin.ask("POST", "/v1/tokens", &headers, body).unwrap();
    assert_eq!(issued.status, 201, "{issued:?}");
    let secret = issued.body["secret"].as_str().unwrap().to_owned();
    let again = admin.ask("POST", "/v1/tokens", &headers, body).unwrap();
    assert_eq!(again.status, 409, "{again:?}");
    for path in ["/v1/tokens", "/v1/tokens/ci"] {
        let shown = admin.get(path).body.to_string();
        assert!(shown.contains("ci") && !shown.contains(&secret), "{shown}");
    }
    server.signal("TERM");
    let (_, log) = server.ended();
    assert!(!log.contains(&secret), "{log}");
}

#[test]
fn a_token_that_is_wrong_is_refused_with_what_is_allowed() {
    let data = folder();
    let (secret, lines) = token("admin", None);
    let (author, of_author) = token("policy-author", None);
    let (of_cluster, of_cluster_lines) = token("admin", Some("east"));
    let server = start(
        data.path(),
        &format!("{lines}\n{of_author}\n{of_cluster_lines}"),
    );
    let admin = Api::with(&server, &secret);
    for (body, status, part) in [
        (json!({"name": "x", "role": "root"}), 400, "viewer"),
        (json!({"name": "x"}), 400, "role"),
        (
            json!({"name": "x", "role": "viewer", "end": 3}),
            400,
            "expires",
        ),
        (
            json!({"name": "x/y", "role": "viewer"}),
            422,
            "cannot be a name",
        ),
        (
            json!({"name": "x", "role": "viewer", "expires": 1}),
            422,
            "later than now",
        ),
        (
            json!({"name": "x", "role": "viewer", "clusters": []}),
            422,
            "leave it out",
        ),
        (
            json!({"name": "admin-all", "role": "viewer"}),
            409,
            "already",
        ),
    ] {
        let refused = admin.send("POST", "/v1/tokens", &body);
        assert_eq!(refused.status, status, "{body}: {refused:?}");
        assert!(
            refused.body.to_string().contains(part),
            "{body}: {refused:?}"
        );
    }
    for secret in [author, of_cluster] {
        let api = Api::with(&server, &secret);
        let refused = api.send(
            "POST",
            "/v1/tokens",
            &json!({"name": "x", "role": "viewer"}),
        );
        assert_eq!(refused.status, 403, "{refused:?}");
    }
    assert_eq!(
        admin.get("/v1/tokens").body["items"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    assert_eq!(admin.get("/v1/tokens/x").status, 404);

    let data = folder();
    let open = Server::start(data.path(), &[]);
    let wanted = json!({"name": "x", "role": "admin"});
    let refused = Api::of(&open).send("POST", "/v1/tokens", &wanted);
    assert_eq!(refused.status, 409, "{refused:?}");
    assert_eq!(Api::of(&open).get("/v1/tokens").body["items"], json!([]));
}
