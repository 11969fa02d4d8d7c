//! Clients that are slow, malformed, greedy, or gone.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::*;

fn plain() -> Served {
    serving(Vec::new(), ApiLimits::default())
}

#[test]
fn errors_of_every_layer_are_problems() {
    let server = plain();
    let unknown = server.get("/nowhere").problem(404, "unknown-route");
    assert!(unknown.contains("\"/nowhere\""), "{unknown}");
    let wrong = server.ask("DELETE /echo", &[], "");
    wrong.problem(405, "method-not-allowed");
    assert!(wrong.head.contains("allow: post"), "{wrong:?}");
    server.get("/panic").problem(500, "internal");
    server.get("/forgotten").problem(403, "forbidden");
    let json = &["content-type: application/json"];
    let broken = server.ask("POST /echo", json, "{\"a\": \n tru}");
    let detail = broken.problem(400, "invalid-json");
    assert!(
        detail.starts_with("\"a\" in line 2 of the body"),
        "{detail}"
    );
    server
        .ask("POST /echo", json, "")
        .problem(400, "invalid-json");
    let kind = server.ask("POST /echo", &["content-type: text/xml"], "<a/>");
    let detail = kind.problem(415, "unsupported-type");
    assert!(detail.contains("\"text/xml\""), "{detail}");
    // What axum's own extractors refuse.
    let no_text = server.ask("POST /count", &["content-encoding: x"], "\u{1}");
    assert_eq!(no_text.status, 200);
    assert_eq!(server.ask("POST /echo", json, "[1, 2]").body, "[1,2]");
}

#[test]
fn what_is_no_http_ends_its_connection_alone() {
    let server = plain();
    for garbage in [
        "\r\n\r\n\r\n".to_owned(),
        "\u{0}\u{1}\u{2}garbage\r\n\r\n".to_owned(),
        "GET /open HTTP/9.9\r\n\r\n".to_owned(),
        "GET /open HTTP/1.1\r\ncontent-length: -1\r\n\r\n".to_owned(),
        "POST /echo HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n".to_owned(),
        format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(1 << 20)),
        format!("GET /open HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(10_000)),
    ] {
        let mut stream = server.connect();
        // The server may close before everything is sent.
        let _ = stream.write_all(garbage.as_bytes());
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let answer = told(stream);
        assert!(matches!(answer.status, 0 | 400..=499), "{answer:?}");
        assert_eq!(server.get("/open").status, 200);
    }
}

#[test]
fn bodies_are_limited_whether_their_size_is_told_or_not() {
    let server = serving(
        Vec::new(),
        ApiLimits {
            body: 1000,
            ..ApiLimits::default()
        },
    );
    let json = "content-type: application/json";
    let large = format!("\"{}\"", "a".repeat(2000));
    server
        .ask("POST /echo", &[json], &large)
        .problem(413, "too-large");
    let mut stream = server.connect();
    let head = format!(
        "POST /echo HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{json}\r\n\
         transfer-encoding: chunked\r\n\r\n"
    );
    let chunk = format!("{:x}\r\n{large}\r\n0\r\n\r\n", large.len());
    stream.write_all((head + &chunk).as_bytes()).unwrap();
    told(stream).problem(413, "too-large");
}

#[test]
fn requests_that_take_too_long_are_ended_and_the_fault_is_told() {
    let server = serving(
        Vec::new(),
        ApiLimits {
            request: Duration::from_millis(200),
            ..ApiLimits::default()
        },
    );
    server.get("/slow").problem(504, "timed-out");
    let mut stream = server.connect();
    stream
        .write_all(
            b"POST /echo HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
              content-type: application/json\r\ncontent-length: 10\r\n\r\n1",
        )
        .unwrap();
    told(stream).problem(408, "request-timeout");
}

#[test]
fn a_head_that_does_not_arrive_ends_its_connection() {
    let server = serving(
        Vec::new(),
        ApiLimits {
            header: Duration::from_secs(1),
            ..ApiLimits::default()
        },
    );
    let mut silent = server.connect();
    let mut slow = server.connect();
    slow.write_all(b"GET /open HTTP/1.1\r\nhost: loc").unwrap();
    for stream in [&mut silent, &mut slow] {
        let mut rest = Vec::new();
        // It returns only if the server closes.
        let _ = stream.read_to_end(&mut rest);
    }
    assert_eq!(server.get("/open").status, 200);
}

#[test]
fn connections_beyond_the_bound_are_closed_until_others_end() {
    let server = serving(
        Vec::new(),
        ApiLimits {
            connections: 2,
            ..ApiLimits::default()
        },
    );
    let ask = |stream: &mut TcpStream| {
        let sent = stream.write_all(b"GET /open HTTP/1.1\r\nhost: localhost\r\n\r\n");
        let mut first = [0; 12];
        sent.and_then(|()| stream.read_exact(&mut first)).is_ok() && first == *b"HTTP/1.1 200"
    };
    let (mut one, mut two) = (server.connect(), server.connect());
    assert!(ask(&mut one) && ask(&mut two));
    assert!(!ask(&mut server.connect()));
    drop(one);
    // The server notices in its own time.
    while !ask(&mut server.connect()) {
        std::thread::yield_now();
    }
}

#[test]
fn a_stop_finishes_what_has_begun_and_accepts_nothing_more() {
    let mut server = plain();
    let mut stream = server.connect();
    stream
        .write_all(b"GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .unwrap();
    server.begun.blocking_recv().unwrap();
    server
        .handle
        .graceful_shutdown(Some(Duration::from_secs(600)));
    while TcpStream::connect(server.address).is_ok() {
        std::thread::yield_now();
    }
    server.shared.ends.add_permits(1);
    let answer = told(stream);
    assert_eq!((answer.status, answer.body.as_str()), (200, "slow"));
    let ended = server.thread.take().unwrap().join().unwrap();
    assert!(ended.is_ok());
}

#[test]
fn a_repeated_request_is_carried_out_once() {
    let server = plain();
    let ask = |key: &str, body| {
        let key = format!("idempotency-key: {key}");
        server.ask("POST /count", &[&key], body)
    };
    let first = ask("a", "x");
    let again = ask("a", "x");
    assert_eq!((first.body.as_str(), again.body.as_str()), ("0", "0"));
    assert!(again.head.contains("idempotency-replayed: true"));
    assert!(!first.head.contains("idempotency-replayed"));
    assert_eq!(ask("b", "x").body, "1");
    ask("a", "y").problem(422, "key-reused");
    ask(&"k".repeat(300), "x").problem(400, "invalid-parameter");
    assert_eq!(server.shared.count.load(Ordering::Relaxed), 2);
}

#[test]
fn requests_are_counted_by_route() {
    let server = plain();
    server.get("/open");
    server.get("/clusters/a");
    server.get("/clusters/b");
    server.get("/nowhere/1");
    let text = server.telemetry.text().unwrap();
    for line in [
        "placewright_http_requests_total{method=\"GET\",route=\"/open\",status=\"200\"} 1",
        "placewright_http_requests_total{method=\"GET\",route=\"/clusters/{cluster}\",status=\"200\"} 2",
        "placewright_http_requests_total{method=\"GET\",route=\"unmatched\",status=\"404\"} 1",
        "placewright_http_requests_in_flight 0",
    ] {
        assert!(text.lines().any(|told| told == line), "{line}\n{text}");
    }
}

#[test]
fn a_client_may_name_its_request() {
    let server = plain();
    let named = server.ask("GET /open", &["x-request-id: mine-1"], "");
    assert!(named.head.contains("x-request-id: mine-1"), "{named:?}");
    let odd = server.ask("GET /open", &["x-request-id: a b\u{e9}"], "");
    assert!(!odd.head.contains("a b"), "{odd:?}");
}
