//! SIGHUP has a server read its tokens, its certificate and the keys that it trusts anew.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use placewright_engine::unit::Digest;
use placewright_tests::server::Server;
use serde_json::{Value, json};

use super::access::token;
use super::deployment::{Api, cluster, vm};
use super::reload::{self, replace, variant};
use super::{folder, get};

/// Wait until a metric has been counted so often.
fn wait_for(server: &Server, secret: &str, metric: &str, count: u64) {
    let (line, begin) = (
        format!("placewright_{metric}_total {count}"),
        Instant::now(),
    );
    loop {
        let (status, text) = get(&format!("{}/metrics", server.url), Some(secret));
        assert_eq!(status, 200, "{text}");
        if text.lines().any(|told| told == line) {
            return;
        }
        assert!(begin.elapsed() < Duration::from_secs(300), "{line}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The status of an answer to that secret.
fn status(server: &Server, secret: &str) -> u16 {
    get(&format!("{}/v1/clusters", server.url), Some(secret)).0
}

#[test]
fn tokens_are_read_anew_and_nothing_changes_where_something_is_wrong() {
    let data = folder();
    let (alice, of_alice) = token(&["--name", "alice", "--role", "admin"]);
    let (bob, of_bob) = token(&["--name", "bob", "--role", "admin"]);
    let config = data.path().join("placewright.toml");
    fs::write(&config, &of_alice).unwrap();
    let server = Server::start(data.path(), &["--config", &config.display().to_string()]);
    assert_eq!((status(&server, &alice), status(&server, &bob)), (200, 401));

    // Signatures are asked for now, and no key is there: nothing of the file is taken over.
    fs::write(&config, format!("require-signatures = true\n{of_bob}")).unwrap();
    server.signal("HUP");
    wait_for(&server, &alice, "configuration_reload_failures", 1);
    assert_eq!((status(&server, &alice), status(&server, &bob)), (200, 401));

    // Without tokens everybody might do everything.
    fs::write(&config, "tokens = 3").unwrap();
    server.signal("HUP");
    wait_for(&server, &alice, "configuration_reload_failures", 2);
    assert_eq!(status(&server, &alice), 200);

    fs::write(&config, &of_bob).unwrap();
    server.signal("HUP");
    let begin = Instant::now();
    while status(&server, &bob) != 200 {
        assert!(begin.elapsed() < Duration::from_secs(300));
    }
    assert_eq!(status(&server, &alice), 401);
    server.signal("TERM");
    let (ended, log) = server.ended();
    assert!(ended.success(), "{log}");
    assert!(log.contains("has no [[trusted-keys]]"), "{log}");
    assert!(!log.contains("pw_"), "{log}");
}

/// Write a certificate of its own and its key; gives the certificate.
fn certify(folder: &Path) -> Vec<u8> {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    fs::write(folder.join("tls.crt"), made.cert.pem()).unwrap();
    fs::write(folder.join("tls.key"), made.signing_key.serialize_pem()).unwrap();
    made.cert.der().to_vec()
}

#[test]
fn a_renewed_certificate_is_shown_to_connections_that_begin_later() {
    let data = folder();
    certify(data.path());
    let path = |name: &str| data.path().join(name).display().to_string();
    let words = [
        "--tls-certificate",
        &path("tls.crt"),
        "--tls-key",
        &path("tls.key"),
    ];
    let server = Server::start(data.path(), &words);
    let renewed = certify(data.path());
    let root = ureq::tls::Certificate::from_der(&renewed).to_owned();
    let tls = ureq::tls::TlsConfig::builder()
        .root_certs(ureq::tls::RootCerts::new_with_certs(&[root]))
        .build();
    let agent: ureq::Agent = ureq::Agent::config_builder().tls_config(tls).build().into();
    let port = server.url.rsplit(':').next().unwrap();
    let url = format!("https://localhost:{port}/v1/health");
    assert!(agent.get(&url).call().is_err(), "it is not shown yet");
    server.signal("HUP");
    let begin = Instant::now();
    while agent.get(&url).call().is_err() {
        assert!(begin.elapsed() < Duration::from_secs(300));
    }
    // A file that is no certificate leaves the one before in force.
    fs::write(data.path().join("tls.crt"), "nothing").unwrap();
    server.signal("HUP");
    assert!(agent.get(&url).call().is_ok());
}

#[test]
fn units_that_are_not_trusted_any_more_stop_deciding_when_the_configuration_is_read_anew() {
    let data = folder();
    let config = data.path().join("placewright.toml");
    fs::write(&config, "").unwrap();
    let server = Server::start(data.path(), &["--config", &config.display().to_string()]);
    let api = Api::of(&server);
    let made = api.send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 3));
    assert_eq!(made.status, 201, "{made:?}");
    let embedded = api.get("/v1/units/worst-fit").body["in-force"].clone();
    let bytes = variant(1);
    let path = data.path().join("units/worst-fit.wasm");
    replace(&path, &bytes);
    reload::wait_for(&api, &bytes, "what is not signed");
    let trusted = "[[trusted-keys]]\nname = 'release'\n\
        ed25519 = '4e8f43386527690ec1b853e90635085d5722a4b4bec4aa3985bb0fbc7d7d066d'\n";
    fs::write(&config, format!("require-signatures = true\n{trusted}")).unwrap();
    server.signal("HUP");
    let begin = Instant::now();
    let shown = loop {
        let shown = api.get("/v1/units/worst-fit").body;
        if shown["in-force"] == embedded {
            break shown;
        }
        assert!(begin.elapsed() < Duration::from_secs(300), "{shown}");
    };
    let why = shown["not-trusted"]["why"].as_str().unwrap();
    assert!(why.starts_with("it is not signed"), "{why}");
    let files = api.get("/v1/unit-files").body;
    let file = &files["items"][0];
    assert_eq!(file["offers"], Value::Null, "{files}");
    let trouble = file["trouble"].as_str().unwrap();
    assert!(trouble.starts_with("it is not signed"), "{trouble}");
    let placed = api.send("POST", "/v1/clusters/c/place", &vm("v"));
    assert_eq!(placed.status, 200, "{placed:?}");
    // Nor is it gone back to, and after a restart it is as before.
    let back = json!({"digest": Digest::of(&bytes).to_string()});
    let refused = api.send("POST", "/v1/units/worst-fit/rollback", &back);
    assert_eq!(refused.status, 422, "{refused:?}");
    server.signal("TERM");
    let (_, log) = server.ended();
    assert!(
        log.contains("is no longer trusted: it is not signed"),
        "{log}"
    );
    let server = Server::start(data.path(), &["--config", &config.display().to_string()]);
    let shown = Api::of(&server).get("/v1/units/worst-fit").body;
    assert_eq!(shown["in-force"], embedded, "{shown}");
}
