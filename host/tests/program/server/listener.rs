//! A client that listens to a stream of events.

use std::io::{BufRead, BufReader, Lines, Write};
use std::net::TcpStream;
use std::time::Instant;

use flate2::read::GzDecoder;
use placewright_tests::server::Server;
use placewright_tests::waiting::LONG;
use serde_json::Value;

/// What a client hears.
pub(super) struct Listener {
    lines: Lines<Box<dyn BufRead + Send>>,
    has_ended_well: bool,
}

impl Listener {
    /// Listen on from the event of that number, or from now on. What happens after this
    /// returns is heard.
    pub(super) fn open(server: &Server, after: Option<u64>) -> Self {
        Self::open_at(server, "/v1/events", after)
    }

    /// The same of the stream at that path.
    pub(super) fn open_at(server: &Server, path: &str, after: Option<u64>) -> Self {
        Self::open_with(server, path, "", after)
    }

    /// The same for whoever shows that token, with what happened from the beginning on.
    pub(super) fn open_as(server: &Server, path: &str, token: &str) -> Self {
        let header = format!("Authorization: Bearer {token}\r\n");
        Self::open_with(server, path, &header, Some(0))
    }

    /// The same of a stream that is compressed, which nobody between cuts into chunks.
    pub(super) fn open_compressed(server: &Server, path: &str, after: Option<u64>) -> Self {
        let header = "Accept-Encoding: gzip\r\n";
        let (head, stream) = asked(server, path, "1.0", header, after);
        assert!(head.contains("content-encoding: gzip\r\n"), "{head}");
        assert!(head.contains("vary: accept-encoding\r\n"), "{head}");
        let stream: Box<dyn BufRead + Send> = Box::new(BufReader::new(GzDecoder::new(stream)));
        Self::of(stream)
    }

    fn of(stream: Box<dyn BufRead + Send>) -> Self {
        Self {
            lines: stream.lines(),
            has_ended_well: false,
        }
    }

    fn open_with(server: &Server, path: &str, header: &str, after: Option<u64>) -> Self {
        let (head, stream) = asked(server, path, "1.1", header, after);
        assert!(!head.contains("content-encoding"), "{head}");
        let stream: Box<dyn BufRead + Send> = Box::new(stream);
        Self::of(stream)
    }

    /// Whether it has ended, and not because what came could not be read.
    pub(super) fn has_ended_well(&self) -> bool {
        self.has_ended_well
    }

    /// The next event with its name; None: the connection has ended.
    pub(super) fn named(&mut self) -> Option<(String, Value)> {
        let (mut name, begin) = (String::new(), Instant::now());
        loop {
            // An idle connection gets a line now and then.
            assert!(begin.elapsed() < LONG, "no event came in {LONG:?}");
            let line = self.lines.next();
            self.has_ended_well = line.is_none();
            let line = line?.ok()?;
            // The last chunk of an answer; the connection itself stays open.
            if line == "0" {
                return None;
            }
            if let Some(said) = line.strip_prefix("event: ") {
                said.clone_into(&mut name);
            }
            let data = line.strip_prefix("data: ").map(serde_json::from_str);
            if let Some(Ok(event)) = data {
                return Some((name, event));
            }
        }
    }
}

/// The head of the answer, and what follows it.
fn asked(
    server: &Server,
    path: &str,
    version: &str,
    header: &str,
    after: Option<u64>,
) -> (String, BufReader<TcpStream>) {
    let address = server.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let after = after.map(|number| format!("Last-Event-ID: {number}\r\n"));
    let after = after.unwrap_or_default();
    write!(
        stream,
        "GET {path} HTTP/{version}\r\nHost: {address}\r\nAccept: text/event-stream\r\n{header}{after}\r\n"
    )
    .unwrap();
    let (mut head, mut stream) = (String::new(), BufReader::new(stream));
    while !head.ends_with("\r\n\r\n") && stream.read_line(&mut head).unwrap() > 0 {}
    (head, stream)
}

impl Iterator for Listener {
    type Item = Value;

    /// The next event; None: the connection has ended.
    fn next(&mut self) -> Option<Value> {
        let begin = Instant::now();
        loop {
            assert!(begin.elapsed() < LONG, "no event came in {LONG:?}");
            let line = self.lines.next()?.ok()?;
            // One that was cut off by a kill was not heard.
            let data = line.strip_prefix("data: ").map(serde_json::from_str);
            if let Some(Ok(event)) = data {
                return Some(event);
            }
        }
    }
}
