//! A request for a page: who sends it, what it says, and how it asks the API.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderName, StatusCode, header};
use serde_json::Value;

use crate::format::Moment;
use crate::openid::OpenId;
use crate::session::{Cookie, Scheme};
use crate::told;
use crate::url::{self, Pairs};
use placewright_http::audit::Note;
use placewright_http::extract::parameter;
use placewright_http::pool::{Permit, Pool};
use placewright_http::{Access, Asker, Caller, Permission, Problem, Within};

/// Entries of a page of the API at most.
const PAGE: usize = 1000;

/// What all pages are made from.
#[derive(Debug)]
pub(crate) struct Console {
    /// The API.
    pub(crate) api: Within,
    /// Who may call.
    pub(crate) access: Arc<Access>,
    /// How a session is kept by a browser.
    pub(crate) cookie: Cookie,
    /// How people sign in by a provider, if they do.
    pub(crate) openid: Option<Arc<OpenId>>,
    /// Since when there are pages: since the server started.
    pub(crate) since: Moment,
    /// Where pages wait their turn: while one is made, all that it reads is in memory.
    pub(crate) pages: Arc<Pool>,
}

/// Pages that are made at the same time; half of them for one caller, and all but one for the
/// callers of one cluster.
const PAGES: usize = 8;

/// Where pages wait their turn.
pub(crate) fn pages() -> Arc<Pool> {
    Pool::new("pages of the console", PAGES, Duration::MAX)
}

/// A request for a page.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) console: Arc<Console>,
    asker: Asker,
    /// What is noted of it for the audit log.
    note: Option<Note>,
    pub(crate) caller: Caller,
    /// Its query.
    pub(crate) query: Pairs,
    /// The colour scheme that was chosen.
    pub(crate) scheme: Scheme,
    /// What the page has to tell of a deed that led to it.
    pub(crate) told: Option<String>,
    /// Its turn, until the page is made.
    _turn: Arc<Permit>,
}

/// An answer of the API.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    /// What it is of that was read or changed: to be sent back with a change as If-Match.
    pub(crate) tag: Option<String>,
    pub(crate) body: Value,
}

impl FromRequestParts<Arc<Console>> for Ask {
    type Rejection = Problem;

    async fn from_request_parts(
        parts: &mut Parts,
        console: &Arc<Console>,
    ) -> Result<Self, Problem> {
        let caller = Caller::from_request_parts(parts, console).await?;
        let note = parts.extensions.get::<Note>().cloned();
        let Ok(asker) = Asker::from_request_parts(parts, console).await;
        let cluster = caller.counts_for();
        let turn = console.pages.place(&caller.name, cluster.as_ref());
        let turn = turn.await?;
        Ok(Self {
            console: console.clone(),
            asker,
            note,
            caller,
            query: url::pairs(parts.uri.query().unwrap_or_default()),
            scheme: Scheme::of(&parts.headers),
            told: told::of(parts, console.cookie),
            _turn: Arc::new(turn),
        })
    }
}

impl Ask {
    /// A parameter of the query that says something.
    pub(crate) fn param(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// A parameter that may be one of these words; None: it is not given. A page that ignored
    /// another word would show a whole list as if it were filtered.
    ///
    /// # Errors
    /// If it is another word.
    pub(crate) fn one_of(&self, name: &str, words: &[&str]) -> Result<Option<&str>, Problem> {
        let given = self.param(name).filter(|given| !given.is_empty());
        if let Some(given) = given.filter(|given| !words.contains(given)) {
            let sentence = format!(
                "\"{name}\" must be one of {}, not \"{}\"",
                words.join(", "),
                placewright_document::shown(given)
            );
            return Err(parameter("query", &sentence));
        }
        Ok(given)
    }

    /// The request is a question or a check, though others of its route change something: the audit
    /// log does not tell of it as of a change.
    pub(crate) fn only_asks(&self) {
        if let Some(note) = &self.note {
            note.only_asks();
        }
    }

    /// Whether the caller may do that in this cluster.
    pub(crate) fn may(&self, permission: Permission, cluster: Option<&str>) -> bool {
        match cluster {
            Some(_) => self.caller.must(permission, cluster).is_ok(),
            None => self.caller.must_everywhere(permission).is_ok(),
        }
    }

    /// Read something.
    pub(crate) async fn get(&self, path: &str) -> Result<Value, Problem> {
        Ok(self.send("GET", path, Sent::Nothing).await?.body)
    }

    /// Read something that may not be there: None stands for any problem.
    pub(crate) async fn get_if(&self, path: &str) -> Option<Value> {
        self.get(path).await.ok()
    }

    /// Read something with the tag that a change of it sends back.
    pub(crate) async fn get_tagged(&self, path: &str) -> Result<(Value, String), Problem> {
        let answer = self.send("GET", path, Sent::Nothing).await?;
        Ok((answer.body, answer.tag.unwrap_or_default()))
    }

    /// Send a change of what has this tag. An empty one stands for something new.
    pub(crate) async fn change(
        &self,
        (method, path): (&str, &str),
        tag: &str,
        body: &Value,
    ) -> Result<Answer, Problem> {
        let condition = match tag {
            "" => (header::IF_NONE_MATCH, "*".to_owned()),
            tag => (header::IF_MATCH, tag.to_owned()),
        };
        let sent = match body {
            Value::Null => Sent::Headers(vec![condition]),
            body => Sent::Document {
                kind: "application/json",
                text: body.to_string().into(),
                headers: vec![condition],
            },
        };
        self.send(method, path, sent).await
    }

    /// Read a list, so many entries at most, page by page. `path` may have a query.
    pub(crate) async fn list(&self, path: &str, most: usize) -> Result<Vec<Value>, Problem> {
        let mut all = Vec::new();
        let mut after: Option<String> = None;
        let joint = if path.contains('?') { '&' } else { '?' };
        while all.len() < most {
            let limit = (most - all.len()).min(PAGE);
            let mut page = format!("{path}{joint}limit={limit}");
            if let Some(after) = &after {
                page.push('&');
                page.push_str(&url::query([("after", Some(after.as_str()))]));
            }
            let mut page = self.get(&page).await?;
            if let Value::Array(items) = page["items"].take() {
                all.extend(items);
            }
            match page["next"].as_str() {
                Some(next) => after = Some(next.to_owned()),
                None => break,
            }
        }
        Ok(all)
    }

    /// Send something.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        sent: Sent<'_>,
    ) -> Result<Answer, Problem> {
        let response = self.stream(method, path, sent).await?;
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await;
        let bytes = bytes.map_err(|error| Problem::internal(&error))?;
        let body = match bytes.is_empty() {
            true => Value::Null,
            false => serde_json::from_slice(&bytes).map_err(|error| Problem::internal(&error))?,
        };
        let tag = parts.headers.get(header::ETAG);
        let tag = tag.and_then(|tag| tag.to_str().ok());
        Ok(Answer {
            status: parts.status,
            tag: tag.map(str::to_owned),
            body,
        })
    }

    /// The same; the answer is handed on as it comes.
    pub(crate) async fn stream(
        &self,
        method: &str,
        path: &str,
        sent: Sent<'_>,
    ) -> Result<axum::response::Response, Problem> {
        let mut request = Request::builder().method(method).uri(path);
        let body = match sent {
            Sent::Nothing => Body::empty(),
            Sent::Headers(headers) => {
                for (name, value) in headers {
                    request = request.header(name, value);
                }
                Body::empty()
            }
            Sent::Json(value) => {
                request = request.header(header::CONTENT_TYPE, "application/json");
                Body::from(value.to_string())
            }
            Sent::Document {
                kind,
                text,
                headers,
            } => {
                request = request.header(header::CONTENT_TYPE, kind);
                for (name, value) in headers {
                    request = request.header(name, value);
                }
                Body::from(text)
            }
        };
        let request = request.body(body);
        let request = request.map_err(|error| Problem::internal(&error))?;
        self.console.api.ask(&self.asker, request).await
    }
}

/// What is sent with a request to the API.
#[derive(Debug, Clone)]
pub(crate) enum Sent<'s> {
    Nothing,
    Headers(Vec<(HeaderName, String)>),
    Json(&'s Value),
    Document {
        kind: &'static str,
        text: Bytes,
        headers: Vec<(HeaderName, String)>,
    },
}
