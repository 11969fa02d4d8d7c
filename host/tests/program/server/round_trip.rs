//! What is read can be put again, and only in the place of what was read.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use placewright_tests::server::Server;
use serde_json::json;

use super::deployment::{Api, cluster, vm};
use super::folder;

#[test]
fn an_inventory_is_put_only_in_the_place_of_the_one_that_was_read() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let made = api.send(
        "POST",
        "/v1/clusters?policy=pacemaker-minimal",
        &cluster("c", 2),
    );
    assert_eq!(made.status, 201, "{made:?}");
    let placed = api.send("POST", "/v1/clusters/c/place", &vm("v"));
    assert!(placed.body["expires"].is_i64(), "{placed:?}");
    let read = api.get("/v1/clusters/c/inventory");
    let tag = read.etag.clone().unwrap();
    let reserved = api.get("/v1/clusters/c/reservations/v").body;
    let put = |tag: &str, body: &serde_json::Value| {
        let headers = [("content-type", "application/json"), ("if-match", tag)];
        let path = "/v1/clusters/c/inventory";
        api.ask("PUT", path, &headers, body.to_string().as_bytes())
            .unwrap()
    };
    assert_eq!(put(&tag, &read.body).status, 200);
    assert_eq!(api.get("/v1/clusters/c/inventory").body, read.body);
    assert_eq!(api.get("/v1/clusters/c/reservations/v").body, reserved);

    let changed = json!({"statistics": [{"id": "h0", "cpu.usage": 0.5}]});
    let path = "/v1/clusters/c/inventory/changes";
    assert_eq!(api.send("POST", path, &changed).status, 200);
    let late = put(&tag, &read.body);
    assert_eq!(
        (late.status, &late.body["code"]),
        (412, &json!("revision-changed")),
        "{late:?}"
    );
    let mut other = read.body.clone();
    other["name"] = json!("d");
    let refused = put("*", &other);
    assert_eq!(refused.status, 422, "{refused:?}");
    let told = refused.body.to_string();
    assert!(told.contains("of cluster"), "{told}");
}

#[test]
fn who_asks_for_events_that_are_no_longer_remembered_is_told_to_begin_anew() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let address = server.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "GET /v1/events HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\nLast-Event-ID: 999999999\r\n\r\n"
    )
    .unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let first = lines.find(|line| line.starts_with("event:"));
    assert_eq!(first.as_deref(), Some("event: reset"));
}
