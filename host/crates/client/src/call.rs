//! What is sent.

use std::fmt::Write;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use ureq::http;

use crate::ClientError;

/// What stands as it is in a segment of a path or in a query.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// Bytes that chance makes of the key of a call.
const KEY: usize = 16;

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// It reads.
    Get,
    /// It decides, asks or changes.
    Post,
    /// It puts something in the place of what is there.
    Put,
    /// It changes parts.
    Patch,
    /// It takes away.
    Delete,
}

impl Method {
    /// As it is sent.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// A body and its type.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// JSON.
    Json(String),
    /// A document in TOML.
    Toml(String),
    /// A component of a unit.
    Component(Vec<u8>),
}

impl Content {
    fn kind(&self) -> &'static str {
        match self {
            Self::Json(_) => "application/json",
            Self::Toml(_) => "application/toml",
            Self::Component(_) => "application/wasm",
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Json(text) | Self::Toml(text) => text.as_bytes(),
            Self::Component(bytes) => bytes,
        }
    }
}

/// A call, below `/v1`.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    method: Method,
    path: String,
    headers: Vec<(&'static str, String)>,
    content: Option<Content>,
    is_repeatable: bool,
}

impl Call {
    /// A call of what lies at the end of that way below `/v1`; each segment may be any text.
    pub fn new<'a>(method: Method, way: impl IntoIterator<Item = &'a str>) -> Self {
        Self::below("/v1", method, way)
    }

    /// A call of what stands beside the versions of the API: `/metrics`.
    pub fn of_root<'a>(method: Method, way: impl IntoIterator<Item = &'a str>) -> Self {
        Self::below("", method, way)
    }

    fn below<'a>(root: &str, method: Method, way: impl IntoIterator<Item = &'a str>) -> Self {
        let mut path = String::from(root);
        for segment in way {
            let _ = write!(path, "/{}", utf8_percent_encode(segment, PLAIN));
        }
        Self {
            method,
            path,
            headers: Vec::new(),
            content: None,
            // What it does twice, it does as once.
            is_repeatable: matches!(method, Method::Get),
        }
    }

    /// Read.
    pub fn get<'a>(way: impl IntoIterator<Item = &'a str>) -> Self {
        Self::new(Method::Get, way)
    }

    /// Decide, ask or change.
    pub fn post<'a>(way: impl IntoIterator<Item = &'a str>) -> Self {
        Self::new(Method::Post, way)
    }

    /// The same with a query parameter. A parameter may be added several times; all values are sent.
    #[must_use]
    pub fn query(mut self, name: &str, value: impl ToString) -> Self {
        let separator = if self.path.contains('?') { '&' } else { '?' };
        let value = value.to_string();
        let _ = write!(
            self.path,
            "{separator}{}={}",
            utf8_percent_encode(name, PLAIN),
            utf8_percent_encode(&value, PLAIN)
        );
        self
    }

    /// The same with a header.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// The same with a body.
    #[must_use]
    pub fn content(mut self, content: Content) -> Self {
        self.content = Some(content);
        self
    }

    /// The same with JSON as its body.
    #[must_use]
    pub fn json(self, value: &Value) -> Self {
        self.content(Content::Json(value.to_string()))
    }

    /// The same with a key of its own: however often it is sent, it is carried out once.
    ///
    /// # Errors
    /// If the system gives nothing by chance.
    pub fn once(mut self) -> Result<Self, ClientError> {
        let mut key = [0; KEY];
        getrandom::fill(&mut key).map_err(|error| ClientError::Unsendable(error.to_string()))?;
        self.is_repeatable = true;
        Ok(self.header("idempotency-key", hex::encode(key)))
    }

    /// The same, which changes nothing and so may be repeated.
    #[must_use]
    pub fn repeatable(mut self) -> Self {
        self.is_repeatable = true;
        self
    }

    /// What is called: `GET /v1/clusters`.
    pub fn line(&self) -> String {
        format!("{} {}", self.method.name(), self.path)
    }

    /// The same, which is made once: that the server asks to wait is an answer, too.
    #[must_use]
    pub fn unrepeated(mut self) -> Self {
        self.is_repeatable = false;
        self
    }

    pub(crate) fn may_be_repeated(&self) -> bool {
        self.is_repeatable
    }

    pub(crate) fn is_stream(&self) -> bool {
        let headers = self.headers.iter();
        headers
            .filter(|(name, _)| *name == "accept")
            .any(|(_, value)| value == "text/event-stream")
    }

    pub(crate) fn request(
        &self,
        server: &str,
        token: Option<&str>,
    ) -> http::Result<http::Request<Option<Vec<u8>>>> {
        let mut request = http::Request::builder()
            .method(self.method.name())
            .uri(format!("{server}{}", self.path));
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        if let Some(content) = &self.content {
            request = request.header("content-type", content.kind());
        }
        let bytes = match (&self.content, self.method) {
            (Some(content), _) => Some(content.bytes().to_vec()),
            // A length of 0 is told.
            (None, Method::Post | Method::Put | Method::Patch) => Some(Vec::new()),
            (None, Method::Get | Method::Delete) => None,
        };
        request.body(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_can_be_part_of_a_path_and_of_a_query() {
        let call = Call::get(["clusters", "a/b", "hosts", "h 1?"]).query("state", "up&down");
        assert_eq!(
            call.line(),
            "GET /v1/clusters/a%2Fb/hosts/h%201%3F?state=up%26down"
        );
    }

    #[test]
    fn what_stands_beside_the_versions_of_the_api_is_called_there() {
        let call = Call::of_root(Method::Get, ["metrics"]);
        assert_eq!(call.line(), "GET /metrics");
        assert!(call.may_be_repeated());
    }

    #[test]
    fn calls_with_a_key_may_be_repeated_and_their_keys_differ() {
        let call = || Call::post(["clusters", "c", "place"]);
        assert!(!call().may_be_repeated());
        let (one, other) = (call().once().unwrap(), call().once().unwrap());
        assert!(one.may_be_repeated());
        assert_ne!(one, other);
    }
}
