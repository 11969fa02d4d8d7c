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
    let no_text = server.ask("POST /count", &[], "\u{1}");
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
fn a_route_that_takes_no_body_and_no_such_parameter_refuses_them() {
    let server = plain();
    for body in ["", " ", "{}", " { } "] {
        let told = server.ask("POST /nothing?host=a", &[], body);
        assert_eq!((told.status, &*told.body), (200, "got \"\""), "{told:?}");
    }
    for body in [
        "{\"moves\": [1]}",
        "[]",
        "null",
        "{\"a\"",
        &"x".repeat(1 << 20),
    ] {
        let told = server.ask("POST /nothing", &["content-type: application/json"], body);
        let detail = told.problem(400, "bad-request");
        assert_eq!(
            detail,
            "this route takes no body, and this request has one; its query parameters are \"host\""
        );
    }
    for query in [
        "dry-run=true",
        "host=a&Host=b",
        "%68ost=a&x",
        "=a",
        "host[]=a",
    ] {
        let told = server.ask(&format!("POST /nothing?{query}"), &[], "");
        let detail = told.problem(400, "invalid-parameter");
        assert!(detail.ends_with("this route takes \"host\""), "{detail}");
    }
    let detail = server
        .get("/open?dry-run")
        .problem(400, "invalid-parameter");
    assert_eq!(
        detail,
        "unknown query parameter \"dry-run\"; this route takes none"
    );
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
fn a_client_that_sends_its_whole_body_before_it_reads_gets_the_refusal() {
    let token = Token {
        name: "viewer".into(),
        role: Role::Viewer,
        sha256: Secret::random().unwrap().sha256(),
        clusters: None,
    };
    let server = serving(
        vec![token],
        ApiLimits {
            body: 1000,
            ..ApiLimits::default()
        },
    );
    let json = "content-type: application/json";
    let large = "a".repeat(6 << 20);
    for _ in 0..10 {
        let refused = server.ask("POST /echo", &[json], &large);
        refused.problem(413, "too-large");
        // Refused by the layers before the body is read, and where no route reads it.
        let refused = server.ask("POST /count", &[json], &large);
        refused.problem(401, "unauthorized");
        let refused = server.ask("POST /nowhere", &[json], &large);
        refused.problem(404, "unknown-route");
    }
}

#[test]
fn a_client_that_waits_to_be_asked_for_its_body_is_not_asked_once_refused() {
    let server = plain();
    let mut stream = server.connect();
    let head = "POST /nowhere HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n\
                expect: 100-continue\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    // The connection ends, and nothing of the body was sent.
    told(stream).problem(404, "unknown-route");
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
            // A client that sends its whole head at once needs less, on a busy machine too.
            header: Duration::from_secs(5),
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
fn the_oldest_connection_without_a_token_is_closed_for_one_beyond_the_bound() {
    let server = serving(
        Vec::new(),
        ApiLimits {
            connections: 2,
            ..ApiLimits::default()
        },
    );
    let ask = |stream: &mut TcpStream| {
        let sent = stream.write_all(b"GET /open HTTP/1.1\r\nhost: localhost\r\n\r\n");
        let mut answer = Vec::new();
        let mut part = [0; 1024];
        while sent.is_ok() && !answer.ends_with(b"open") {
            match stream.read(&mut part) {
                Ok(bytes @ 1..) => answer.extend_from_slice(&part[..bytes]),
                _ => return false,
            }
        }
        answer.starts_with(b"HTTP/1.1 200")
    };
    // One after the other, so that the first is the oldest.
    let mut one = server.connect();
    assert!(ask(&mut one));
    let mut two = server.connect();
    assert!(ask(&mut two));
    let mut three = server.connect();
    assert!(ask(&mut three));
    let mut rest = Vec::new();
    // It returns only if the server closes.
    let _ = one.read_to_end(&mut rest);
    assert!(ask(&mut two) && ask(&mut three));
}

/// Ask often on one connection and never read, while the server goes on.
#[test]
fn who_takes_no_answers_is_closed_though_it_asks_on() {
    let server = serving(
        Vec::new(),
        ApiLimits {
            // Clients that read their answers need less, on a busy machine too.
            stall: Duration::from_secs(5),
            ..ApiLimits::default()
        },
    );
    let mut stream = server.connect();
    stream
        .set_write_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let requests = "GET /large HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(100);
    // The server reads no more once its answers are not taken, and closes then: nothing can
    // be written any more.
    let error = loop {
        if let Err(error) = stream.write_all(requests.as_bytes()) {
            break error;
        }
        assert_eq!(server.get("/open").status, 200);
    };
    let closed = [
        std::io::ErrorKind::ConnectionReset,
        std::io::ErrorKind::BrokenPipe,
    ];
    assert!(closed.contains(&error.kind()), "{error:?}");
}

#[test]
fn a_body_that_comes_by_drops_is_refused() {
    let server = serving(
        Vec::new(),
        ApiLimits {
            stall: Duration::from_millis(500),
            ..ApiLimits::default()
        },
    );
    let mut stream = server.connect();
    stream
        .write_all(
            b"POST /echo HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
              content-type: application/json\r\ncontent-length: 100000\r\n\r\n",
        )
        .unwrap();
    let mut drops = stream.try_clone().unwrap();
    let dropping = std::thread::spawn(move || {
        while drops.write_all(b" ").is_ok() {
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let detail = told(stream).problem(408, "request-timeout");
    assert!(detail.contains("too slowly"), "{detail}");
    dropping.join().unwrap();
}

#[test]
fn bodies_in_work_leave_room_for_those_of_others() {
    let (tokens, secrets): (Vec<Token>, Vec<Secret>) = ["greedy", "other"]
        .map(|name| {
            let secret = Secret::random().unwrap();
            let token = Token {
                name: name.into(),
                role: Role::Operator,
                sha256: secret.sha256(),
                clusters: None,
            };
            (token, secret)
        })
        .into_iter()
        .unzip();
    let server = serving(
        tokens,
        ApiLimits {
            body: 300_000,
            bodies: 600_000,
            ..ApiLimits::default()
        },
    );
    let head = |secret: &Secret| {
        format!(
            "POST /count HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\
             content-length: 250000\r\nconnection: close\r\n\r\n",
            secret.reveal()
        )
    };
    // The first one sends all but the end, and holds what it has sent.
    let begun = |secret| {
        let mut stream = server.connect();
        let body = "x".repeat(249_000);
        stream.write_all((head(secret) + &body).as_bytes()).unwrap();
        stream
    };
    let mut first = begun(&secrets[0]);
    // It comes later, or earlier: one of the two has no room.
    let second = begun(&secrets[0]);
    let mut other = begun(&secrets[1]);
    other.write_all("x".repeat(1000).as_bytes()).unwrap();
    assert_eq!(told(other).status, 200);
    let second = told(second);
    let refused = match second.status {
        429 => second,
        _ => {
            let _ = first.write_all(b"x");
            told(first)
        }
    };
    refused.problem(429, "too-many-requests");
    assert!(refused.head.contains("retry-after: 1"), "{refused:?}");
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
fn a_refusal_is_repeated_only_where_it_would_be_the_same_at_any_time() {
    let server = plain();
    for code in Code::ALL {
        let key = format!("idempotency-key: {}", code.word());
        server.shared.count.store(0, Ordering::Relaxed);
        let ask = || server.ask("POST /refused", &[&key], code.word());
        let first = ask();
        first.problem(code.status().as_u16(), code.word());
        assert!(!first.head.contains("idempotency-replayed"), "{first:?}");
        let again = ask();
        match code {
            Code::InvalidJson | Code::InvalidParameter | Code::UnsupportedType => {
                again.problem(code.status().as_u16(), code.word());
                assert!(
                    again.head.contains("idempotency-replayed: true"),
                    "{again:?}"
                );
            }
            _ => {
                assert_eq!((again.status, again.body.as_str()), (200, "1"), "{again:?}");
                // Now it has been carried out.
                let third = ask();
                assert_eq!((third.status, third.body.as_str()), (200, "1"));
                assert!(
                    third.head.contains("idempotency-replayed: true"),
                    "{third:?}"
                );
            }
        }
    }
}

#[test]
fn a_question_with_a_key_is_answered_anew() {
    let server = plain();
    let ask = || {
        server
            .ask("POST /question", &["idempotency-key: k"], "x")
            .body
    };
    assert_eq!([ask(), ask()], ["0", "1"]);
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
