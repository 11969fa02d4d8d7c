//! The program as a server.

mod access;
mod answers;
#[cfg(unix)]
mod audit;
mod audit_reading;
mod authority;
mod backup;
mod bounds;
mod bulk;
mod cluster_settings;
mod configuration;
#[cfg(target_os = "linux")]
mod crowds;
pub(crate) mod deployment;
mod documents;
mod durable;
mod entities;
mod evacuation;
mod export;
mod first_start;
mod follow;
#[cfg(target_os = "linux")]
mod full_disk;
mod general;
#[cfg(unix)]
pub(crate) mod generated;
mod glance;
#[cfg(unix)]
mod hangup;
mod hostile;
mod kill;
mod large;
mod limits;
mod listener;
mod lists;
mod memory;
mod needs;
mod openapi;
mod python_client;
mod quotas;
mod read_back;
mod reload;
mod reload_route;
mod remote;
mod reservations;
mod restarts;
pub(crate) mod roles;
mod round_trip;
#[cfg(unix)]
mod standing_still;
mod sweep;
mod times;
#[cfg(unix)]
mod tokens;
mod traces;
mod two_lanes;
mod unit_costs;
#[cfg(unix)]
mod upgrade;
mod waiting;

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use placewright_tests::server::Server;
use placewright_tests::waiting::LONG;
use serde_json::Value;
use tempfile::TempDir;

/// A client to which every answer is one.
fn client() -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        // More than a request may wait for room. One that is never answered fails its test.
        .timeout_global(Some(2 * LONG));
    config.build().into()
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// Status and body of an answer to GET, with a token if there is one.
fn get(url: &str, token: Option<&str>) -> (u16, String) {
    let mut request = client().get(url);
    if let Some(token) = token {
        request = request.header("Authorization", format!("Bearer {token}"));
    }
    let mut answer = request.call().unwrap();
    let body = answer.body_mut().read_to_string().unwrap();
    (answer.status().as_u16(), body)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_server_tells_that_it_lives_is_ready_and_what_it_counts() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let url = |path: &str| format!("{}{path}", server.url);
    let (status, body) = get(&url("/v1/health"), None);
    assert_eq!((status, &json(&body)["status"]), (200, &"ok".into()));
    // The folders are looked at first.
    let (mut status, mut body) = get(&url("/v1/ready"), None);
    while status == 503 {
        (status, body) = get(&url("/v1/ready"), None);
    }
    assert_eq!((status, &json(&body)["ready"]), (200, &true.into()));
    let (status, body) = get(&url("/metrics"), None);
    assert_eq!(status, 200);
    let counted =
        "placewright_http_requests_total{method=\"GET\",route=\"/v1/health\",status=\"200\"} 1";
    assert!(body.lines().any(|line| line == counted), "{body}");
    assert!(body.contains("placewright_build_info"), "{body}");
    for name in [
        "process_resident_memory_bytes ",
        "process_start_time_seconds ",
    ] {
        assert!(body.lines().any(|line| line.starts_with(name)), "{body}");
    }
    let (status, body) = get(&url("/v1/openapi.json"), None);
    let document = json(&body);
    assert_eq!((status, &document["openapi"]), (200, &"3.1.0".into()));
    assert!(document["paths"]["/v1/ready"]["get"].is_object());
}

#[test]
#[cfg(unix)]
fn a_signal_ends_a_server_cleanly() {
    for signal in ["TERM", "INT"] {
        let data = folder();
        let server = Server::start(data.path(), &[]);
        // A connection that does nothing does not hold it up.
        let address = server.url.trim_start_matches("http://");
        let mut idle = TcpStream::connect(address).unwrap();
        idle.write_all(b"GET /v1/health HTTP/1.1\r\nhost: localhost\r\n\r\n")
            .unwrap();
        let mut first = [0; 12];
        idle.read_exact(&mut first).unwrap();
        server.signal(signal);
        let (status, log) = server.ended();
        assert_eq!(status.code(), Some(0), "{log}");
        assert!(log.contains("\"message\":\"stopped\""), "{log}");
    }
}

#[test]
fn a_second_server_on_the_same_address_says_so() {
    let (data, other) = (folder(), folder());
    let server = Server::start(data.path(), &[]);
    let address = server.url.trim_start_matches("http://");
    let output = placewright_tests::server::placewright(["serve", "--listen", address, "--data"])
        .arg(other.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains(&format!("cannot listen on {address}")),
        "{said}"
    );
}

/// A server with a certificate of its own, and a client that trusts it.
fn with_tls(data: &Path) -> (Server, ureq::Agent) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (certificate, key) = (data.join("tls.crt"), data.join("tls.key"));
    fs::write(&certificate, made.cert.pem()).unwrap();
    fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let (certificate, key) = (certificate.display().to_string(), key.display().to_string());
    let words = ["--tls-certificate", &certificate, "--tls-key", &key];
    let server = Server::start(data, &words);
    let root = ureq::tls::Certificate::from_der(made.cert.der()).to_owned();
    let tls = ureq::tls::TlsConfig::builder()
        .root_certs(ureq::tls::RootCerts::new_with_certs(&[root]))
        .build();
    let trusting = ureq::Agent::config_builder().tls_config(tls).build();
    (server, trusting.into())
}

#[test]
fn requests_come_by_tls_if_there_is_a_certificate() {
    let data = folder();
    let (server, trusting) = with_tls(data.path());
    assert!(server.url.starts_with("https://"));
    let port = server.url.rsplit(':').next().unwrap();
    let url = format!("https://localhost:{port}/v1/health");
    assert_eq!(trusting.get(&url).call().unwrap().status().as_u16(), 200);
    assert!(client().get(&url).call().is_err(), "nobody vouches for it");
    let plain = client().get(format!("http://localhost:{port}/v1/health"));
    assert!(plain.call().is_err(), "plain requests are not answered");
}

#[test]
#[cfg(unix)]
fn a_second_signal_ends_a_server_at_once() {
    let data = folder();
    let (server, trusting) = with_tls(data.path());
    let port = server.url.rsplit(':').next().unwrap();
    // A client that has not shown yet what it wants holds the server up.
    let silent = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    // It was accepted before this one.
    let url = format!("https://localhost:{port}/v1/health");
    assert_eq!(trusting.get(&url).call().unwrap().status().as_u16(), 200);
    server.signal("TERM");
    server.signal("INT");
    let (status, log) = server.ended();
    assert!(matches!(status.code(), Some(130 | 143)), "{status}: {log}");
    assert!(log.contains("stopping at once"), "{log}");
    drop(silent);
}
