//! Which answers are compressed.

use std::convert::Infallible;

use axum::response::Sse;
use axum::response::sse::Event;
use flate2::read::GzDecoder;

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
