//! Why a call has no answer.

use std::time::Duration;

use serde_json::Value;

use crate::scheme;

/// Why a call has no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The address is none.
    #[error(
        "\"{0}\" is no address of a server: it is http:// or https://, a host, and its port if it has another than usual, as http://127.0.0.1:7425"
    )]
    Address(String),
    /// The certificates of authorities cannot be used.
    #[error("the certificates of the authority cannot be used: {0}")]
    Certificates(String),
    /// The call cannot be sent as it is.
    #[error("the call cannot be sent: {0}")]
    Unsendable(String),
    /// The server cannot be reached, or does not answer in time.
    #[error("cannot ask {server}")]
    Unreachable {
        /// Where the server was looked for.
        server: String,
        /// What went wrong.
        source: Box<ureq::Error>,
    },
    /// The server speaks TLS and was asked without it, or the other way round.
    #[error("{}", of_scheme(.server, .other))]
    Scheme {
        /// Where the server was looked for.
        server: String,
        /// Where it answers.
        other: String,
    },
    /// The certificate of the server is signed by nobody who is trusted.
    #[error(
        "cannot ask {server}: its certificate is signed by an authority that is unknown here; name the authority's certificates with --authority, in PLACEWRIGHT_AUTHORITY or in the context"
    )]
    Authority {
        /// Where the server was looked for.
        server: String,
    },
    /// What comes back is no answer of such a server.
    #[error("{server} answers in a way that is not understood: is it a Placewright server?")]
    Unreadable {
        /// Where the server was looked for.
        server: String,
    },
    /// What the server answers cannot be written where it is to go.
    #[error("the answer cannot be written")]
    Unwritten(#[source] std::io::Error),
    /// The server refuses the call.
    #[error("{0}")]
    Refused(Box<Refusal>),
}

impl ClientError {
    /// That a call of `server` ended in an error of the connection.
    pub(crate) fn of_connection(server: &str, error: ureq::Error) -> Self {
        let server = server.to_owned();
        // The layers between wrap it in errors that have no words for it but these.
        if error.to_string().contains("UnknownIssuer") {
            return Self::Authority { server };
        }
        match scheme::other(&server, &error) {
            Some(other) => Self::Scheme { server, other },
            None => Self::Unreachable {
                server,
                source: Box::new(error),
            },
        }
    }
}

fn of_scheme(server: &str, other: &str) -> String {
    match other.starts_with("https://") {
        true => format!("cannot ask {server}: the server speaks TLS here: write {other}"),
        false => format!("cannot ask {server}: the server speaks no TLS here: write {other}"),
    }
}

/// Why the server refuses a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The server.
    pub server: String,
    /// The status of the answer, from 300 on.
    pub status: u16,
    /// The kind of problem, for programs; empty if it is not told.
    pub code: String,
    /// What was wrong, and what to do about it.
    pub detail: String,
    /// Everything that is wrong with what was sent, each a sentence with its place.
    pub errors: Vec<String>,
    /// Names the request in the server's log.
    pub request: Option<String>,
    /// How long the server asks to wait.
    pub retry_after: Option<Duration>,
    /// The body as it came.
    pub body: Value,
}

impl Refusal {
    pub(crate) fn read(server: &str, status: u16, body: Value, retry_after: Option<&str>) -> Self {
        let text = |key: &str| body.get(key).and_then(Value::as_str).map(str::to_owned);
        let errors = body.get("errors").and_then(Value::as_array);
        let errors = errors.into_iter().flatten().map(error).collect();
        // A unit that is refused comes with what was found, and where.
        let found = body["outcome"]["why"].as_str();
        let code = found.map_or("", |_| "unit-refused").to_owned();
        let found = match found {
            Some(why) => format!("the unit is refused: {why}"),
            None => "it gives no reason".to_owned(),
        };
        Self {
            server: server.to_owned(),
            status,
            code: text("code").unwrap_or(code),
            detail: text("detail").unwrap_or(found),
            errors,
            request: text("instance"),
            retry_after: retry_after
                .and_then(|seconds| seconds.trim().parse().ok())
                .map(Duration::from_secs),
            body,
        }
    }
}

/// One thing that is wrong: `body:3:7: vms[0].cpu: must be ...`.
fn error(error: &Value) -> String {
    let place = &error["place"];
    let message = error["message"].as_str().unwrap_or_default();
    let mut sentence = String::new();
    for part in ["file", "line", "column", "path"] {
        match &place[part] {
            // The sentence begins with the entry of the list.
            Value::String(way) if part == "path" && names_entry(message, way) => {}
            Value::String(text) => sentence.push_str(&format!("{text}: ")),
            Value::Number(number) => {
                // As compilers write places.
                let before = sentence.trim_end_matches(": ").len();
                sentence.truncate(before);
                sentence.push_str(&format!(":{number}: "));
            }
            _ => {}
        }
    }
    sentence.push_str(message);
    if let Some(suggestion) = error["suggestion"].as_str() {
        sentence.push_str(&format!(" (did you mean \"{suggestion}\"?)"));
    }
    sentence
}

/// Whether a sentence begins with the entry of a list in which the value is to which the way
/// leads: `vms[17] "web-3": ...`.
fn names_entry(sentence: &str, way: &str) -> bool {
    let entry = sentence.split([' ', ':']).next().unwrap_or_default();
    entry.ends_with(']') && way.starts_with(entry)
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} answers {}: {}",
            self.server, self.status, self.detail
        )?;
        // One error is the detail itself.
        if self.errors.len() > 1 || self.errors.iter().any(|it| !self.detail.contains(it)) {
            for error in &self.errors {
                write!(f, "\n  {error}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_refusal_is_told_in_the_servers_words_with_places() {
        let body = json!({
            "code": "invalid-document", "detail": "2 problems", "instance": "urn:x",
            "errors": [
                {"place": {"file": "body", "line": 3, "column": 7, "path": "vms[0].cpu"}, "message": "must be a number", "suggestion": null},
                {"place": {"file": "body", "line": 1, "column": 9, "path": "vms[1].cpu"}, "message": "vms[1] \"web-3\": must be a number"},
                {"place": {"file": "query"}, "message": "there is no \"limt\"", "suggestion": "limit"},
            ],
        });
        let refusal = Refusal::read("http://s", 422, body, Some("7"));
        assert_eq!(refusal.retry_after, Some(Duration::from_secs(7)));
        assert_eq!(
            refusal.to_string(),
            "http://s answers 422: 2 problems\n  body:3:7: vms[0].cpu: must be a number\n  body:1:9: vms[1] \"web-3\": must be a number\n  query: there is no \"limt\" (did you mean \"limit\"?)"
        );
        let unit =
            json!({"outcome": {"result": "refused", "why": "it is not a WebAssembly component"}});
        let refusal = Refusal::read("http://s", 422, unit, None);
        assert_eq!(refusal.code, "unit-refused");
        assert_eq!(
            refusal.to_string(),
            "http://s answers 422: the unit is refused: it is not a WebAssembly component"
        );
    }
}
