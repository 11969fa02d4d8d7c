//! A client that listens to `/v1/events`.

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
        let address = server.url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        let after = after.map(|number| format!("Last-Event-ID: {number}\r\n"));
        let after = after.unwrap_or_default();
        write!(
            stream,
            "GET /v1/events HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\n{after}\r\n"
        )
        .unwrap();
        let mut lines = BufReader::new(stream).lines();
        while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
        Self { lines }
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
