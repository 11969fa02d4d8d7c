//! The stream of what happens.

use std::io::{BufRead, BufReader};

use serde_json::Value;
use ureq::http::Response;
use ureq::{Body, BodyReader};

use crate::ClientError;

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its number, by which the stream goes on after it.
    pub number: Option<u64>,
    /// What kind of thing it is.
    pub kind: String,
    /// What there is to tell of it.
    pub data: Value,
}

/// The stream of what happens, as it happens; over when the server ends it.
pub struct Events {
    lines: BufReader<BodyReader<'static>>,
    server: String,
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Events").finish_non_exhaustive()
    }
}

impl Events {
    pub(crate) fn new(response: Response<Body>, server: &str) -> Self {
        Self {
            lines: BufReader::new(response.into_body().into_reader()),
            server: server.to_owned(),
        }
    }
}

impl Iterator for Events {
    type Item = Result<Event, ClientError>;

    fn next(&mut self) -> Option<Self::Item> {
        match next(&mut self.lines) {
            Ok(event) => event.map(Ok),
            Err(error) => Some(Err(ClientError::Unreachable {
                server: self.server.clone(),
                source: Box::new(ureq::Error::Io(error)),
            })),
        }
    }
}

/// The next event of a stream of the type text/event-stream; None: it is over.
fn next(lines: &mut impl BufRead) -> std::io::Result<Option<Event>> {
    let (mut number, mut kind, mut data) = (None, String::new(), String::new());
    let mut line = String::new();
    loop {
        line.clear();
        if lines.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let text = line.trim_end_matches(['\n', '\r']);
        if text.is_empty() {
            if data.is_empty() && kind.is_empty() {
                continue;
            }
            return Ok(Some(Event {
                number,
                kind,
                data: serde_json::from_str(&data).unwrap_or(Value::String(data)),
            }));
        }
        let (field, value) = text.split_once(':').unwrap_or((text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => number = value.parse().ok(),
            "event" => value.clone_into(&mut kind),
            "data" => {
                if !data.is_empty() {
                    data.push('\n');
                }
                data.push_str(value);
            }
            // A comment keeps the connection alive; other fields are none of ours.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn events_are_read_one_by_one_and_comments_are_none() {
        let text = ": hello\n\nid: 7\nevent: vm-placed\ndata: {\"vm\":\ndata: \"a\"}\n\n: still\n\nevent: reset\ndata: lost\n\nid: 9";
        let mut lines = text.as_bytes();
        let first = next(&mut lines).unwrap().unwrap();
        assert_eq!(
            first,
            Event {
                number: Some(7),
                kind: "vm-placed".to_owned(),
                data: json!({"vm": "a"}),
            }
        );
        let second = next(&mut lines).unwrap().unwrap();
        assert_eq!(second.data, json!("lost"));
        assert_eq!(
            next(&mut lines).unwrap(),
            None,
            "an event that is cut off is none"
        );
    }
}
