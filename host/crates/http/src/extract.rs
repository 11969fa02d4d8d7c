//! What requests bring, with a problem for everything that is wrong with it.

mod sentences;
mod strict;

pub(crate) use sentences::listed as quoted_list;

use std::collections::BTreeMap;

use axum::extract::path::ErrorKind;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, OptionalFromRequest, Request};
use axum::http::request::Parts;
use axum::http::{Uri, header};

use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::headers::media_type;
use super::permission::ANY;
use super::problem::{Code, Problem, ProblemError, ProblemPlace};
use placewright_document::shown;
use strict::Strict;

/// A body in JSON: of requests, and of `Short` answers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Json<T>(pub T);

/// What is some kilobytes in JSON at most, so that it is written on a thread that serves. All
/// other answers are written by [`super::document::written`] on others.
pub trait Short {}

/// The variable parts of the path.
#[derive(Debug, Clone, Copy)]
pub struct Path<T>(pub T);

/// The parameters after the question mark, each of which may be given again: lists.
#[derive(Debug, Clone, Copy)]
pub struct Lists<T>(pub T);

/// The parameters after the question mark.
#[derive(Debug, Clone, Copy)]
pub struct Query<T>(pub T);

impl<T, S> FromRequest<S> for Json<T>
where
    T: DeserializeOwned,
    S: Send + Sync,
{
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        if let Some(problem) = no_json(&request) {
            return Err(problem.into_response());
        }
        let bytes = axum::body::Bytes::from_request(request, state)
            .await
            .map_err(IntoResponse::into_response)?;
        read(&bytes).map(Json).map_err(IntoResponse::into_response)
    }
}

/// A body that may be left out: null stands for none, as clients in some languages send it.
impl<T, S> OptionalFromRequest<S> for Json<T>
where
    T: DeserializeOwned,
    S: Send + Sync,
{
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Option<Self>, Response> {
        let problem = no_json(&request);
        let bytes = axum::body::Bytes::from_request(request, state)
            .await
            .map_err(IntoResponse::into_response)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        if let Some(problem) = problem {
            return Err(problem.into_response());
        }
        if bytes.trim_ascii() == b"null" {
            return Ok(None);
        }
        let read = read(&bytes).map(Json);
        read.map(Some).map_err(IntoResponse::into_response)
    }
}

fn no_json(request: &Request) -> Option<Problem> {
    let essence = match media_type(request.headers()) {
        Ok(essence) => essence,
        Err(problem) => return Some(problem),
    };
    if essence == "application/json" || essence.ends_with("+json") {
        return None;
    }
    let given = match essence.as_str() {
        "" => "of no type".to_owned(),
        kind => format!("of the type \"{}\"", placewright_document::shown(kind)),
    };
    Some(Problem::new(
        Code::UnsupportedType,
        format!("the body is {given}; send JSON with Content-Type: application/json"),
    ))
}

/// The problem for a body in another encoding than UTF-8.
pub(crate) fn not_utf8() -> Problem {
    let sentence = "the body is not UTF-8: send JSON and TOML in UTF-8";
    Problem::new(Code::InvalidJson, sentence)
}

/// The text of a body, without a byte order mark.
fn text_of(bytes: &[u8]) -> Result<&str, Problem> {
    // Of UTF-16 without a mark every other byte is none of a text in JSON.
    let begin = &bytes[..bytes.len().min(2)];
    let text = std::str::from_utf8(bytes).ok();
    let text = text.filter(|_| !begin.contains(&0)).ok_or_else(not_utf8)?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Read a body in JSON.
fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let bytes = text_of(bytes)?.as_bytes();
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(Problem::new(
            Code::InvalidJson,
            "the body is empty; JSON belongs here",
        ));
    }
    if bytes.trim_ascii_start().first() != Some(&b'{') && wants_object::<T>() {
        return Err(Problem::new(
            Code::InvalidJson,
            sentences::no_object(serde_json::from_str::<T>("{}").err().as_ref()),
        ));
    }
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let read = serde_path_to_error::deserialize(Strict(&mut json)).map_err(|error| {
        let path = error.path().to_string();
        refused(path, &error.into_inner())
    })?;
    json.end().map_err(|error| refused(String::new(), &error))?;
    Ok(read)
}

/// Whether only an object is read. A list of an object's values in their order is read too, but
/// it is none that a caller means.
fn wants_object<T: DeserializeOwned>() -> bool {
    let takes = |text: &str| match serde_json::from_str::<T>(text) {
        Ok(_) => true,
        Err(error) => !error.to_string().starts_with("invalid type"),
    };
    takes("{}") && !takes("0")
}

fn refused(path: String, error: &serde_json::Error) -> Problem {
    let number = |number: usize| u32::try_from(number).ok().filter(|number| *number > 0);
    // The place is told apart from the sentence.
    let place = format!(" at line {} column {}", error.line(), error.column());
    let sentence = error.to_string();
    let sentence = sentence.strip_suffix(&place).unwrap_or(&sentence);
    let sentence = sentences::plain(sentence);
    let path = Some(path).filter(|path| !path.is_empty() && path != ".");
    let at = match &path {
        Some(path) => format!("\"{path}\" in line {}", error.line()),
        None => format!("line {}", error.line()),
    };
    Problem::new(Code::InvalidJson, format!("{at} of the body: {sentence}")).with_error(
        ProblemError {
            place: ProblemPlace {
                file: "body".to_owned(),
                line: number(error.line()),
                column: number(error.column()),
                path,
            },
            message: sentence,
            suggestion: None,
        },
    )
}

impl<T: Serialize + Short> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(text) => ([(header::CONTENT_TYPE, "application/json")], text).into_response(),
            Err(error) => Problem::internal(&error).into_response(),
        }
    }
}

impl<T, S> FromRequestParts<S> for Lists<T>
where
    T: DeserializeOwned,
    S: Send + Sync,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Query(pairs) = Query::<Vec<(String, String)>>::from_request_parts(parts, state).await?;
        let mut lists: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, value) in pairs {
            lists.entry(name).or_default().push(value);
        }
        let lists = lists.into_iter().map(|(name, values)| {
            let values: Vec<_> = values.into_iter().map(serde_json::Value::from).collect();
            (name, values.into())
        });
        let lists = serde_json::Value::Object(lists.collect());
        serde_json::from_value(lists).map(Self).map_err(|error| {
            let query = parts.uri.query().unwrap_or_default();
            parameter("query", &sentences::of_query(&error.to_string(), query))
        })
    }
}

impl<T, S> FromRequestParts<S> for Path<T>
where
    T: DeserializeOwned + Send,
    S: Send + Sync,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = axum::extract::Path::<T>::from_request_parts(parts, state).await;
        path.map(|axum::extract::Path(values)| Self(values))
            .map_err(|rejection: PathRejection| parameter("path", &of_path(&rejection)))
    }
}

/// What is wrong with a path, in the words of the API.
fn of_path(rejection: &PathRejection) -> String {
    let PathRejection::FailedToDeserializePathParams(failed) = rejection else {
        return rejection.body_text();
    };
    let must_be = |given: &str, expected: &str| match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => {
            format!(
                "the path has \"{}\" where a number stands: 0 or more",
                shown(given)
            )
        }
        _ => format!(
            "the path has \"{}\", which cannot stand there",
            shown(given)
        ),
    };
    match failed.kind() {
        ErrorKind::ParseErrorAtKey {
            value,
            expected_type,
            ..
        }
        | ErrorKind::ParseErrorAtIndex {
            value,
            expected_type,
            ..
        }
        | ErrorKind::ParseError {
            value,
            expected_type,
        } => must_be(value, expected_type),
        ErrorKind::InvalidUtf8InPathParam { .. } => "the path is not UTF-8".to_owned(),
        _ => rejection.body_text(),
    }
}

impl<T, S> FromRequestParts<S> for Query<T>
where
    T: DeserializeOwned,
    S: Send + Sync,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        read_query(&parts.uri).map(Self)
    }
}

/// Check that the parameters of a query are texts: what is no UTF-8 would be read as something else.
fn check_texts(query: &str) -> Result<(), Problem> {
    match query.split('&').find(|pair| !is_utf8(pair)) {
        Some(pair) => Err(parameter("query", &sentences::no_utf8(pair))),
        None => Ok(()),
    }
}

fn read_query<T: DeserializeOwned>(uri: &Uri) -> Result<T, Problem> {
    let query = uri.query().unwrap_or_default();
    check_texts(query)?;
    axum::extract::Query::<T>::try_from_uri(uri)
        .map(|axum::extract::Query(values)| values)
        .map_err(|rejection: QueryRejection| {
            parameter("query", &sentences::of_query(&rejection.body_text(), query))
        })
}

/// Whether a part of a query is a text once its bytes are no longer written as `%FF`.
fn is_utf8(part: &str) -> bool {
    percent_encoding::percent_decode_str(part)
        .decode_utf8()
        .is_ok()
}

/// Check that a request has no query parameters but these, or any where [`ANY`] says so.
///
/// # Errors
/// The first one that is unknown, and those that are known.
pub fn check_query(uri: &Uri, known: &[&str]) -> Result<(), Problem> {
    let query = uri.query().unwrap_or_default();
    if query.is_empty() || known == ANY {
        return check_texts(query);
    }
    let pairs: Vec<(String, String)> = read_query(uri)?;
    let unknown = pairs.iter().find(|(name, _)| !known.contains(&&**name));
    match unknown {
        Some((name, _)) => Err(parameter("query", &sentences::unknown(name, known))),
        None => Ok(()),
    }
}

/// The values of a query parameter that may be given several times, in their order.
pub fn repeated(uri: &Uri, name: &str) -> impl Iterator<Item = String> {
    let pairs = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(uri);
    // What cannot be read was refused before.
    let pairs = pairs.map(|axum::extract::Query(pairs)| pairs);
    let pairs = pairs.unwrap_or_default().into_iter();
    let named = pairs.filter(move |(known, _)| known == name);
    named.map(|(_, value)| value)
}

/// That something is wrong with the parameters in `file`, which is "query" or "path".
pub fn parameter(file: &str, sentence: &str) -> Problem {
    Problem::new(Code::InvalidParameter, sentence).with_error(ProblemError {
        place: ProblemPlace {
            file: file.to_owned(),
            ..ProblemPlace::default()
        },
        message: sentence.to_owned(),
        suggestion: None,
    })
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Wanted {
        #[expect(dead_code, reason = "only its form matters")]
        members: Vec<Member>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Member {
        #[expect(dead_code, reason = "only its form matters")]
        cpu: i64,
    }

    fn problem(body: &str) -> serde_json::Value {
        let problem = read::<Wanted>(body.as_bytes()).unwrap_err();
        serde_json::to_value(problem.body(None)).unwrap()
    }

    #[test]
    fn what_is_wrong_with_a_body_is_told_with_its_place() {
        let told = problem("{\"members\": [{\"cpu\": 1},\n {\"cpu\": \"x\"}]}");
        assert_eq!(told["status"], 400);
        assert_eq!(told["code"], "invalid-json");
        let place = &told["errors"][0]["place"];
        assert_eq!(place["path"], "members[1].cpu");
        assert_eq!(
            (&place["line"], &place["file"]),
            (&2.into(), &"body".into())
        );
        let message = told["errors"][0]["message"].as_str().unwrap();
        assert_eq!(message, "it is the text \"x\" and must be a whole number");
        assert!(!message.contains("line"), "{message}");
    }

    #[test]
    fn a_body_is_read_in_utf_8_with_a_byte_order_mark_or_without() {
        let body = "{\"members\": [{\"cpu\": 1}]}";
        assert!(read::<Wanted>(format!("\u{feff}{body}").as_bytes()).is_ok());
        let little: Vec<u8> = body.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let marked = [&[0xff, 0xfe][..], &little].concat();
        let big: Vec<u8> = body.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for other in [little, marked, big, b"{\"members\xff\": []}".to_vec()] {
            let told = read::<Wanted>(&other).unwrap_err().body(None);
            let told = serde_json::to_value(told).unwrap();
            assert_eq!(
                told["detail"],
                "the body is not UTF-8: send JSON and TOML in UTF-8"
            );
        }
    }

    #[test]
    fn a_body_that_is_no_object_is_told_what_belongs_there() {
        for body in ["[\"web-c\"]", "[[1]]", "\"web\"", "3"] {
            let told = problem(body);
            assert_eq!(
                told["detail"], "the body must be an object such as {\"members\": ...}",
                "{body}"
            );
        }
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "kebab-case")]
    #[expect(dead_code, reason = "only its form matters")]
    struct Asked {
        limit: Option<u64>,
        dry_run: Option<bool>,
        share: Option<f64>,
        text: Option<String>,
    }

    #[test]
    fn what_is_wrong_with_a_query_is_told_with_what_was_sent_and_what_is_allowed() {
        for (query, told) in [
            (
                "limit=abc",
                "the query parameter \"limit\" must be a whole number from 1 to 1000, not \"abc\"",
            ),
            (
                "text=a&limit=",
                "the query parameter \"limit\" must be a whole number from 1 to 1000, not \"\"",
            ),
            (
                "dry-run=yes",
                "the query parameter \"dry-run\" must be true or false, not \"yes\"",
            ),
            (
                "share=much+more",
                "the query parameter \"share\" must be a number, not \"much more\"",
            ),
            (
                "limit=1&text=a%ffb",
                "the query parameter \"text\" is not UTF-8: it was sent as \"a%ffb\"; each byte of a letter that is not ASCII is written as %XX",
            ),
            (
                "%c3%28=1",
                "the name of the query parameter \"%c3%28\" is not UTF-8; each byte of a letter that is not ASCII is written as %XX",
            ),
        ] {
            let uri: Uri = format!("/v1/x?{query}").parse().unwrap();
            let problem = read_query::<Asked>(&uri).unwrap_err();
            let problem = serde_json::to_value(problem.body(None)).unwrap();
            assert_eq!(problem["detail"], told, "{query}");
            assert_eq!(
                (&problem["status"], &problem["code"]),
                (&400.into(), &"invalid-parameter".into())
            );
        }
        let uri: Uri = "/v1/x?text=%C3%BC%25&limit=5".parse().unwrap();
        let read: Asked = read_query(&uri).unwrap();
        assert_eq!(read.text.as_deref(), Some("ü%"));
        assert!(check_query(&"/v1/x?a=%ff".parse().unwrap(), ANY).is_err());
    }

    #[test]
    fn what_is_no_json_or_too_much_of_it_is_refused() {
        for body in [
            "",
            "  ",
            "{",
            "{\"members\": []} x",
            "[1",
            "{\"member\": []}",
            "\u{fffd}",
        ] {
            assert_eq!(problem(body)["status"], 400, "{body}");
        }
        let deep = "[".repeat(100_000);
        assert_eq!(problem(&deep)["code"], "invalid-json");
    }
}
