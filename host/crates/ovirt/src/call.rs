//! A request to one of the routes, read once for all of them, and how it is answered.

mod body;

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::fault::{Fault, response};
use super::import::Element;
use super::site::Site;
use super::tree::{Format, Tree};
use placewright_http::audit::Note;
use placewright_http::document::{Incoming, aside, turn};
use placewright_http::gone::{Cancel, Gone};
use placewright_http::pool::Pool;
use placewright_http::{Caller, Problem};

use body::Sent;

/// A list has so many bytes at most and one more element: it is in memory as a whole, and a server
/// is to stay below 1 GiB. A hundred thousand VMs have as many.
const LONGEST_LIST: usize = 256 << 20;

/// A request.
pub(crate) struct Call {
    pub site: Arc<Site>,
    pub caller: Caller,
    /// Where questions that take long are asked.
    pub questions: Option<Arc<Pool>>,
    /// When what is only read ends early: nobody waits for it any more.
    pub cancel: Cancel,
    /// What the audit log is told.
    note: Option<Note>,
    /// The variable parts of the path.
    parts: Vec<(String, String)>,
    query: Vec<(String, String)>,
    /// What is to be answered too of what is linked.
    follow: BTreeSet<String>,
    path: String,
    /// By what the client finds again what it has asked for.
    correlation: Option<String>,
    sent: Sent,
    /// How the client wants to be answered.
    format: Format,
}

/// What a request is answered with, if it is carried out.
pub(crate) struct Reply {
    status: StatusCode,
    content: Content,
    location: Option<String>,
}

enum Content {
    Tree(Tree),
    /// Written already, in the format of the call.
    Text(String),
}

/// What a route does. It may take its time.
pub(crate) type Handle = fn(&Call) -> Result<Reply, Fault>;

impl Reply {
    /// It is done, or shown.
    pub(crate) fn ok(tree: Tree) -> Self {
        Self {
            status: StatusCode::OK,
            content: Content::Tree(tree),
            location: None,
        }
    }

    /// A list that may be long is shown. Each element is written as soon as it is there, so that
    /// the trees of thousands are never in memory together.
    ///
    /// # Errors
    /// If nobody waits for it any more, or it is too long.
    pub(crate) fn list(
        call: &Call,
        name: &'static str,
        elements: impl Iterator<Item = Tree>,
    ) -> Result<Self, Fault> {
        let text = call.format.list(name, elements, |written| {
            call.goes_on()?;
            fits(written)
        })?;
        Ok(Self {
            status: StatusCode::OK,
            content: Content::Text(text),
            location: None,
        })
    }

    /// Something was made, and is found there.
    pub(crate) fn created(tree: Tree, location: String) -> Self {
        Self {
            status: StatusCode::CREATED,
            content: Content::Tree(tree),
            location: Some(location),
        }
    }

    /// An action is over.
    pub(crate) fn complete() -> Self {
        Self::ok(Tree::new("action").text("status", "complete"))
    }
}

impl Call {
    /// Tell the audit log which VM the request is about.
    pub(crate) fn is_about_vm(&self, vm: &Arc<str>) {
        if let Some(note) = &self.note {
            note.is_about([vm].iter());
        }
    }

    /// Tell the audit log which policy the request is about.
    pub(crate) fn is_about_policy(&self, policy: &Arc<str>) {
        if let Some(note) = &self.note {
            note.with(|record| record.policy = Some(policy.clone()));
        }
    }

    /// Tell the audit log which cluster the request is about.
    pub(crate) fn is_about_cluster(&self, cluster: &Arc<str>) {
        if let Some(note) = &self.note {
            note.with(|record| record.cluster = Some(cluster.clone()));
        }
    }

    /// The variable part of the path of that name.
    pub(crate) fn part(&self, name: &str) -> &str {
        let part = self.parts.iter().find(|(known, _)| known == name);
        part.map_or("", |(_, value)| value)
    }

    /// The id by which the client finds again what it has asked for, if it gives one.
    pub(crate) fn correlation(&self) -> Option<&str> {
        self.query("correlation_id").or(self.correlation.as_deref())
    }

    /// Whether the path is one of something in that collection.
    pub(crate) fn is_under(&self, collection: &str) -> bool {
        let rest = self.path.strip_prefix("/ovirt-engine/api/");
        rest.and_then(|rest| rest.split('/').next()) == Some(collection)
    }

    /// The query parameter of that name.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| &**value)
    }

    /// Whether what is linked under that name is to be answered too.
    pub(crate) fn follows(&self, link: &str) -> bool {
        self.follow.contains(link)
    }

    /// That somebody waits for what is read. It is to be asked at each of what there may be
    /// thousands of.
    ///
    /// # Errors
    /// If nobody does.
    pub(crate) fn goes_on(&self) -> Result<(), Fault> {
        Ok(self.cancel.check()?)
    }

    /// The most elements that a list may have, if the caller says so.
    ///
    /// # Errors
    /// If it is no number.
    pub(crate) fn most(&self) -> Result<usize, Fault> {
        match self.query("max").map(str::trim) {
            // As engines have it: all.
            None | Some("" | "-1") => Ok(usize::MAX),
            Some(max) => max
                .parse()
                .map_err(|_| Fault::syntax("\"max\" must be a number of elements, or -1 for all")),
        }
    }

    /// The body: an element of that name.
    ///
    /// # Errors
    /// If it is another one, or none.
    pub(crate) fn body(&self, name: &str) -> Result<&Element, Fault> {
        self.sent.element(name)
    }
}

/// That a list may be longer than that.
fn fits(written: usize) -> Result<(), Fault> {
    match written < LONGEST_LIST {
        true => Ok(()),
        false => Err(Fault::refused(format!(
            "the list has more than {} MiB: ask for fewer with \"max\" or \"search\", or page by page, as in search=page 1",
            LONGEST_LIST >> 20
        ))),
    }
}

/// Of what is linked, the names of what a parameter `follow` asks for: of a path, the first one.
fn followed(follow: &str) -> BTreeSet<String> {
    let first = |path: &str| path.trim().split('.').next().map(str::to_owned);
    follow.split(',').filter_map(first).collect()
}

/// How a caller wants to be answered.
fn format(headers: &HeaderMap) -> Format {
    let accept = headers.get_all(header::ACCEPT).iter();
    let wanted = accept.filter_map(|it| it.to_str().ok());
    for kind in wanted.flat_map(|it| it.split(',')) {
        match kind.split(';').next().unwrap_or_default().trim() {
            "application/json" => return Format::Json,
            "application/xml" | "text/xml" => return Format::Xml,
            _ => {}
        }
    }
    Format::Xml
}

/// Carry a request out and answer it.
pub(crate) async fn answer(site: Arc<Site>, handle: Handle, request: Request) -> Response {
    let format = format(request.headers());
    let (mut parts, body) = request.into_parts();
    let is_read = [Method::GET, Method::HEAD].contains(&parts.method);
    let Some(caller) = parts.extensions.get::<Caller>().cloned() else {
        // The guard lets nobody through to these routes without one.
        return Problem::new(
            placewright_http::Code::Unauthorized,
            "nobody knows who calls",
        )
        .into_response();
    };
    let questions = parts.extensions.get::<Arc<Pool>>().cloned();
    let note = parts.extensions.get::<Note>().cloned();
    let path = RawPathParams::from_request_parts(&mut parts, &()).await;
    let path = match path {
        Ok(path) => path,
        Err(rejection) => return Fault::syntax(rejection.body_text()).response(format),
    };
    let path = path.iter();
    let path = path.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let path = path.collect();
    let query = parts.uri.query().unwrap_or_default().as_bytes();
    let query: Vec<_> = form_urlencoded::parse(query).into_owned().collect();
    let follow = query.iter().find(|(known, _)| known == "follow");
    let follow = follow.map_or_else(BTreeSet::new, |(_, follow)| followed(follow));
    let correlation = parts.headers.get("correlation-id");
    let correlation = correlation.and_then(|it| it.to_str().ok());
    let correlation = correlation.map(str::to_owned);
    let whole_path = parts.uri.path().to_owned();
    let content_type = parts.headers.get(header::CONTENT_TYPE);
    let content_type = content_type.and_then(|it| it.to_str().ok());
    let content_type = content_type.unwrap_or_default().to_owned();
    let incoming = Incoming::of(&parts.extensions);
    let body = Bytes::from_request(Request::from_parts(parts, body), &()).await;
    let body = match body {
        Ok(body) => body,
        Err(rejection) => return rejection.into_response(),
    };
    let (sent, weight) = match body::read(incoming, body, &content_type).await {
        Ok(read) => read,
        Err(problem) => return problem.into_response(),
    };
    // What is only read takes its turn as lists of the API do, and ends when nobody waits for it.
    let gone = Gone::default();
    let (turn, cancel) = match is_read {
        true => (turn().await, gone.cancel()),
        false => {
            let cluster = caller.counts_for();
            let place = site.writes.place(&caller.name, cluster.as_ref());
            (place.await.map(Some), Cancel::default())
        }
    };
    let turn = match turn {
        Ok(turn) => turn,
        Err(problem) => return problem.into_response(),
    };
    let call = Call {
        site,
        caller,
        questions,
        cancel,
        note,
        parts: path,
        query,
        follow,
        path: whole_path,
        correlation,
        sent,
        format,
    };
    let carried_out = move || {
        let _held = (turn, weight);
        Ok::<_, Problem>(match handle(&call) {
            Ok(reply) => {
                let text = match reply.content {
                    Content::Tree(tree) => format.document(&tree),
                    Content::Text(text) => text,
                };
                let mut response = response(reply.status, text, format);
                let location = reply.location.as_deref().map(HeaderValue::from_str);
                if let Some(Ok(location)) = location {
                    response.headers_mut().insert(header::LOCATION, location);
                }
                response
            }
            Err(fault) => fault.response(format),
        })
    };
    let answered = aside(carried_out).await;
    drop(gone);
    answered.unwrap_or_else(IntoResponse::into_response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_bounded() {
        assert!(fits(0).is_ok() && fits(LONGEST_LIST - 1).is_ok());
        assert!(format!("{:?}", fits(LONGEST_LIST)).contains("256 MiB"));
    }

    #[test]
    fn of_what_is_followed_the_first_part_counts() {
        let follow = followed("steps, hosts.nics,,hosts");
        assert!(follow.contains("steps") && follow.contains("hosts"));
        assert!(!follow.contains("nics"));
        assert_eq!(follow.len(), 3);
    }
}
