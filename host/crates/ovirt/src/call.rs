//! A request to one of the routes, read once for all of them, and how it is answered.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::fault::{Fault, response};
use super::import::{self, Element};
use super::site::Site;
use super::tree::{Format, Tree};
use placewright_http::audit::Note;
use placewright_http::document::{aside, turn};
use placewright_http::pool::Pool;
use placewright_http::{Caller, Problem};

/// A request.
pub(crate) struct Call {
    pub site: Arc<Site>,
    pub caller: Caller,
    /// Where questions that take long are asked.
    pub questions: Option<Arc<Pool>>,
    /// What the audit log is told.
    note: Option<Note>,
    /// The variable parts of the path.
    parts: Vec<(String, String)>,
    query: Vec<(String, String)>,
    path: String,
    /// By what the client finds again what it has asked for.
    correlation: Option<String>,
    body: Bytes,
    content_type: String,
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
    pub(crate) fn list(
        call: &Call,
        name: &'static str,
        elements: impl Iterator<Item = Tree>,
    ) -> Self {
        Self {
            status: StatusCode::OK,
            content: Content::Text(call.format.list(name, elements)),
            location: None,
        }
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
        let follow = self.query("follow").unwrap_or_default();
        follow.split(',').any(|path| {
            let first = path.trim().split('.').next();
            first == Some(link)
        })
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
    pub(crate) fn body(&self, name: &str) -> Result<Element, Fault> {
        read(&self.body, &self.content_type, name)
    }
}

/// Read a body: an element of that name in XML, or an object in JSON.
fn read(body: &[u8], content_type: &str, name: &str) -> Result<Element, Fault> {
    let text = std::str::from_utf8(body).map_err(|_| {
        Fault::syntax("the body is not in UTF-8: send it so, whatever its declaration says")
    })?;
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err(Fault::syntax(format!(
            "the body is empty; an element \"{name}\" belongs here"
        )));
    }
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    let is_json = match essence.to_ascii_lowercase().as_str() {
        "application/json" => true,
        "application/xml" | "text/xml" | "" => false,
        _ => {
            return Err(Fault::syntax(
                "send a body with Content-Type: application/xml or application/json",
            ));
        }
    };
    if !is_json && let Some(encoding) = declared_encoding(text) {
        return Err(Fault::syntax(format!(
            "the body declares the encoding \"{}\"; only UTF-8 is read",
            placewright_document::shown(encoding)
        )));
    }
    if is_json != text.starts_with('{') {
        let sentence = match is_json {
            true => "the body is to be JSON by its type, and is no object of JSON",
            false => "the body is to be XML by its type, and is none",
        };
        return Err(Fault::syntax(sentence));
    }
    let file = if is_json { "body.json" } else { "body.xml" };
    let element = import::parse(text, file).map_err(Fault::syntax)?;
    // An object of JSON has no name.
    match is_json || element.name == name {
        true => Ok(element),
        false => Err(Fault::syntax(format!(
            "an element \"{name}\" belongs here, and not \"{}\"",
            placewright_document::shown(&element.name)
        ))),
    }
}

/// The encoding that the declaration of a document in XML names, if it is another than UTF-8.
fn declared_encoding(text: &str) -> Option<&str> {
    let declaration = text.strip_prefix("<?xml")?.split("?>").next()?;
    let (_, after) = declaration.split_once("encoding")?;
    let value = after.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next()?;
    let encoding = value.get(1..)?.split(quote).next()?;
    let is_known = |known: &str| encoding.eq_ignore_ascii_case(known);
    (!["utf-8", "utf8", "us-ascii"].into_iter().any(is_known)).then_some(encoding)
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
    let is_read = parts.method == Method::GET;
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
    let query = form_urlencoded::parse(query).into_owned().collect();
    let correlation = parts.headers.get("correlation-id");
    let correlation = correlation.and_then(|it| it.to_str().ok());
    let correlation = correlation.map(str::to_owned);
    let whole_path = parts.uri.path().to_owned();
    let content_type = parts.headers.get(header::CONTENT_TYPE);
    let content_type = content_type.and_then(|it| it.to_str().ok());
    let content_type = content_type.unwrap_or_default().to_owned();
    let body = Bytes::from_request(Request::from_parts(parts, body), &()).await;
    let body = match body {
        Ok(body) => body,
        Err(rejection) => return rejection.into_response(),
    };
    // What is only read takes its turn as lists of the API do.
    let turn = match is_read {
        true => match turn().await {
            Ok(turn) => turn,
            Err(problem) => return problem.into_response(),
        },
        false => None,
    };
    let call = Call {
        site,
        caller,
        questions,
        note,
        parts: path,
        query,
        path: whole_path,
        correlation,
        body,
        content_type,
        format,
    };
    let carried_out = move || {
        let _turn = turn;
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
    aside(carried_out)
        .await
        .unwrap_or_else(IntoResponse::into_response)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(body: &[u8], content_type: &str) -> String {
        format!("{:?}", read(body, content_type, "filter").unwrap_err())
    }

    #[test]
    fn a_body_is_read_in_xml_and_in_json() {
        let xml = b"<filter>\n  <position>-1</position>\n  <scheduling_policy_unit id=\"u\"/>\n</filter>\n";
        let json = br#"{"position": "-1", "scheduling_policy_unit": {"id": "u"}}"#;
        for (body, kind) in [
            (&xml[..], "application/xml"),
            (&xml[..], "application/xml; charset=utf-8"),
            (&json[..], "application/json"),
        ] {
            let filter = read(body, kind, "filter").unwrap();
            assert_eq!(filter.get("position").unwrap().text, "-1", "{kind}");
            let unit = filter.get("scheduling_policy_unit").unwrap();
            assert_eq!(unit.get("id").unwrap().text, "u", "{kind}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let xml = "application/xml";
        let bomb = b"<!DOCTYPE a [<!ENTITY b \"bbbb\"><!ENTITY c \"&b;&b;\">]><filter>&c;</filter>";
        assert!(refused(bomb, xml).contains("document type"));
        let external =
            b"<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><filter>&b;</filter>";
        assert!(refused(external, xml).contains("document type"));
        assert!(refused(b"", xml).contains("empty"));
        assert!(refused(b"<weight/>", xml).contains("weight"));
        assert!(refused(b"{}", xml).contains("XML"));
        assert!(refused(b"<filter/>", "application/json").contains("JSON"));
        assert!(refused(b"<filter/>", "text/plain").contains("Content-Type"));
        let foreign = b"<?xml version='1.0' encoding='ISO-8859-1'?><filter/>";
        assert!(refused(foreign, xml).contains("ISO-8859-1"));
        assert!(refused(b"<filter>\xe4</filter>", xml).contains("UTF-8"));
        let deep = "<filter>".repeat(10_000) + &"</filter>".repeat(10_000);
        assert!(refused(deep.as_bytes(), xml).contains("deeper"));
    }
}
