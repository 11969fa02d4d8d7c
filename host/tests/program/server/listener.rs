//! A client that listens to a stream of events.

use std::io::{BufRead, BufReader, Lines, Write};
use std::net::TcpStream;

use placewright_tests::server::Server;
use serde_json::Value;

/// What a client hears.
pub(super) struct Listener {
    lines: Lines<BufReader<TcpStream>>,
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

    fn open_with(server: &Server, path: &str, header: &str, after: Option<u64>) -> Self {
        let address = server.url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        let after = after.map(|number| format!("Last-Event-ID: {number}\r\n"));
        let after = after.unwrap_or_default();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\n{header}{after}\r\n"
        )
        .unwrap();
        let mut lines = BufReader::new(stream).lines();
        while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
        Self { lines }
    }

    /// The next event with its name; None: the connection has ended.
    pub(super) fn named(&mut self) -> Option<(String, Value)> {
        let mut name = String::new();
        loop {
            let line = self.lines.next()?.ok()?;
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

impl Iterator for Listener {
    type Item = Value;

    /// The next event; None: the connection has ended.
    fn next(&mut self) -> Option<Value> {
        loop {
            let line = self.lines.next()?.ok()?;
            // One that was cut off by a kill was not heard.
            let data = line.strip_prefix("data: ").map(serde_json::from_str);
            if let Some(Ok(event)) = data {
                return Some(event);
            }
        }
    }
}
