//! Which answers and requests are compressed.

use std::convert::Infallible;

use axum::response::Sse;
use axum::response::sse::Event;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::*;

/// An event of many bytes.
pub(super) async fn stream() -> Sse<impl futures_util::Stream<Item = Result<Event, Infallible>>> {
    let event = Event::default().data("a host ".repeat(1000));
    Sse::new(futures_util::stream::once(async { Ok(event) }))
}

#[test]
fn large_answers_are_compressed_for_those_who_take_it() {
    let served = serving(Vec::new(), ApiLimits::default());
    let mut stream = served.connect();
    stream
        .write_all(b"GET /large HTTP/1.0\r\nhost: localhost\r\naccept-encoding: gzip, br\r\n\r\n")
        .unwrap();
    let answer = bytes(stream);
    let end = answer.windows(4).position(|it| it == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&answer[..end]).to_lowercase();
    assert!(head.contains("content-encoding: gzip"), "{head}");
    assert!(head.contains("vary: accept-encoding"), "{head}");
    let mut text = String::new();
    let mut body = GzDecoder::new(&answer[end + 4..]);
    body.read_to_string(&mut text).unwrap();
    assert_eq!(text, "large ".repeat(100_000));
    assert!(answer.len() < text.len() / 10, "{}", answer.len());
}

#[test]
fn small_answers_streams_of_events_and_what_nobody_asked_to_be_compressed_are_not() {
    let served = serving(Vec::new(), ApiLimits::default());
    for (path, head) in [
        ("GET /open", ["accept-encoding: gzip"].as_slice()),
        ("GET /stream", &["accept-encoding: gzip"]),
        ("GET /large", &[]),
    ] {
        let told = served.ask(path, head, "");
        assert_eq!(told.status, 200, "{told:?}");
        assert!(!told.head.contains("content-encoding"), "{path}: {told:?}");
        assert!(
            told.body.contains("open")
                || told.body.contains("large large")
                || told.body.contains("a host a host")
        );
    }
}

fn packed(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

/// Send a body of JSON in that encoding.
fn sent(served: &Served, encoding: &str, body: &[u8]) -> Told {
    let mut stream = served.connect();
    let head = format!(
        "POST /echo HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-encoding: {encoding}\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    told(stream)
}

#[test]
fn bodies_that_were_compressed_are_unpacked() {
    let served = serving(Vec::new(), ApiLimits::default());
    let small = b"{\"a\": 1}".to_vec();
    // More than is unpacked in one step.
    let large = format!("\"{}\"", "host ".repeat(300_000)).into_bytes();
    for body in [small, large[..(1 << 20) - 1].to_vec(), large] {
        let body = match body.last() {
            Some(b'}' | b'"') => body,
            _ => [&body[..], b"\""].concat(),
        };
        let told = sent(&served, "gzip", &packed(&body));
        assert_eq!(told.status, 200, "{told:?}");
        let (answer, asked): (serde_json::Value, serde_json::Value) = (
            serde_json::from_str(&told.body).unwrap(),
            serde_json::from_slice(&body).unwrap(),
        );
        assert_eq!(answer, asked);
        assert_eq!(sent(&served, "X-GZIP", &packed(&body)).status, 200);
        assert_eq!(sent(&served, "identity", &body).status, 200);
    }
}

#[test]
fn a_small_body_that_unpacks_to_a_large_one_is_refused() {
    let limits = ApiLimits {
        body: 2 << 20,
        ..ApiLimits::default()
    };
    let served = serving(Vec::new(), limits);
    let bomb = packed(&vec![b' '; 256 << 20]);
    assert!(bomb.len() < 1 << 20, "{}", bomb.len());
    for _ in 0..3 {
        sent(&served, "gzip", &bomb).problem(413, "too-large");
    }
}

#[test]
fn encodings_that_are_not_taken_are_named_with_those_that_are() {
    let served = serving(Vec::new(), ApiLimits::default());
    for encoding in ["br", "zstd", "gzip, gzip", "x"] {
        let told = sent(&served, encoding, b"{}");
        let detail = told.problem(415, "unsupported-type");
        assert!(detail.contains(&format!("\"{encoding}\"")), "{detail}");
        assert!(told.head.contains("accept-encoding: gzip"), "{told:?}");
    }
    let body = packed(b"{\"a\": 1}");
    for damaged in [&b"{}"[..], &body[..body.len() - 4], &body[..5]] {
        sent(&served, "gzip", damaged).problem(400, "bad-request");
    }
}
