//! What errors look like: problem details after RFC 9457.

mod code;
mod layer;

pub use code::Code;
pub(crate) use layer::{dress, of_panic, unknown_route};

use std::fmt;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use placewright_document::{self as document, Problems, grouped, shortened};

/// The media type of problem details.
pub const PROBLEM_TYPE: &str = "application/problem+json";

/// Why a request was not carried out. Turns into an answer.
#[derive(Debug, Clone)]
pub struct Problem {
    code: Code,
    detail: String,
    errors: Vec<ProblemError>,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Whether what was asked for was done all the same.
    was_carried_out: bool,
}

/// Problem details after RFC 9457.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemBody {
    /// Names the kind of problem; a URN.
    #[serde(rename = "type")]
    #[schema(example = "urn:placewright:problem:not-found")]
    pub kind: String,
    /// The kind of problem in a few words.
    #[schema(value_type = String, example = "Not found")]
    pub title: &'static str,
    /// The status of the answer.
    #[schema(example = 404)]
    pub status: u16,
    /// The last part of `type`, for programs.
    #[schema(value_type = String, example = "not-found")]
    pub code: &'static str,
    /// What was wrong with this request, and what to do about it.
    #[schema(example = "there is no cluster \"north\"")]
    pub detail: String,
    /// Names this request, as in the server's log and the header X-Request-Id; a URN.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "urn:placewright:request:01JDK3ZQ8Y")]
    pub instance: Option<String>,
    /// Everything that is wrong with a document, or with the values of a request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ProblemError>,
}

/// One thing that is wrong with what was sent.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ProblemError {
    /// Where it stands.
    pub place: ProblemPlace,
    /// What is wrong, and what to do about it.
    #[schema(example = "\"memory\" must be an amount in bytes")]
    pub message: String,
    /// The name that was probably meant.
    #[schema(required = true, example = "memory")]
    pub suggestion: Option<String>,
}

/// A place in what was sent.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub struct ProblemPlace {
    /// "body", the name of a document, "query" or "path".
    #[schema(example = "body")]
    pub file: String,
    /// Line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u32, example = 3)]
    pub line: Option<u32>,
    /// Character in the line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u32, example = 14)]
    pub column: Option<u32>,
    /// The way to the value: `members[0].cpu`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "vms[17].memory")]
    pub path: Option<String>,
}

impl From<&document::Problem> for ProblemError {
    fn from(problem: &document::Problem) -> Self {
        Self {
            place: ProblemPlace {
                file: problem.place.file.to_string(),
                line: Some(problem.place.line),
                column: Some(problem.place.column),
                path: problem.path.clone(),
            },
            message: problem.sentence(),
            suggestion: problem.suggestion.clone(),
        }
    }
}

impl Problem {
    /// A problem of a kind; `detail` is a sentence that says what to do.
    pub fn new(code: Code, detail: impl fmt::Display) -> Self {
        let header = match code {
            Code::Unauthorized => Some((
                header::WWW_AUTHENTICATE,
                HeaderValue::from_static("Bearer realm=\"placewright\""),
            )),
            Code::Unavailable | Code::TooManyRequests => {
                Some((header::RETRY_AFTER, HeaderValue::from_static("1")))
            }
            _ => None,
        };
        Self {
            code,
            detail: shortened(detail.to_string()),
            errors: Vec::new(),
            headers: header.into_iter().collect(),
            was_carried_out: false,
        }
    }

    /// There is no such thing: `what` is its kind, as in "cluster".
    pub fn not_found(what: &str, name: &str) -> Self {
        let name = document::shown(name);
        Self::new(Code::NotFound, format!("there is no {what} \"{name}\""))
    }

    /// Something went wrong that is no fault of the request. The error is written to
    /// the log and not told to the client.
    pub fn internal(error: &(dyn std::error::Error + 'static)) -> Self {
        tracing::error!(error, "a request failed");
        Self::new(Code::Internal, INTERNAL)
    }

    /// A document is wrong; `what` says which, as in "the policy".
    pub fn document(what: &str, problems: &Problems) -> Self {
        let errors: Vec<ProblemError> = problems.iter().map(ProblemError::from).collect();
        let detail = match errors.as_slice() {
            [only] => format!("{what} is wrong: {}", only.message),
            several if problems.more() == 0 => format!(
                "{what} is wrong in {} ways; each is in \"errors\"",
                several.len()
            ),
            several => format!(
                "{what} is wrong in {} ways; {} of them are in \"errors\", and there are {} more",
                grouped(several.len() + problems.more()),
                several.len(),
                grouped(problems.more())
            ),
        };
        Self {
            errors,
            ..Self::new(Code::InvalidDocument, detail)
        }
    }

    /// The same, with one more thing that is wrong.
    #[must_use]
    pub fn with_error(mut self, mut error: ProblemError) -> Self {
        error.message = shortened(error.message);
        error.place.path = error.place.path.map(shortened);
        self.errors.push(error);
        self
    }

    /// The same, with a header of the answer.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value));
        self
    }

    /// The same of a request that was carried out, or is being carried out, all the same.
    #[must_use]
    pub fn of_what_was_carried_out(mut self) -> Self {
        self.was_carried_out = true;
        self
    }

    /// Whether the request was carried out, or is being carried out, all the same.
    pub fn was_carried_out(&self) -> bool {
        self.was_carried_out
    }

    /// Its kind.
    pub fn code(&self) -> Code {
        self.code
    }

    /// What was wrong.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// The details as they are sent; `request` is the id of the request.
    pub fn body(self, request: Option<&str>) -> ProblemBody {
        ProblemBody {
            kind: format!("urn:placewright:problem:{}", self.code.word()),
            title: self.code.title(),
            status: self.code.status().as_u16(),
            code: self.code.word(),
            detail: self.detail,
            instance: request.map(|id| format!("urn:placewright:request:{id}")),
            errors: self.errors,
        }
    }

    /// The headers that its answer has besides those of its body.
    pub fn headers(&self) -> HeaderMap {
        self.headers.iter().cloned().collect()
    }
}

/// Marks an answer that is an error of a request that was carried out all the same: what it has
/// changed is there, or will be.
#[derive(Debug, Clone, Copy)]
pub struct CarriedOut;

/// Marks an answer whose cause is in the log already.
#[derive(Debug, Clone, Copy)]
pub(super) struct ToldBefore;

/// Problem details after RFC 9457; `request` is the id of the request.
pub fn json(problem: Problem, request: &str) -> Response {
    let kind = [(header::CONTENT_TYPE, PROBLEM_TYPE)];
    let headers = problem.headers();
    let (status, is_told) = (problem.code.status(), problem.code == Code::UnitPaused);
    let text = serde_json::to_vec(&problem.body(Some(request))).unwrap_or_default();
    let mut response = (status, kind, headers, text).into_response();
    if is_told {
        response.extensions_mut().insert(ToldBefore);
    }
    response
}

/// What a client is told where the fault is ours.
const INTERNAL: &str =
    "something went wrong in the server; its log tells more under the id of this request";

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.word(), self.detail)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.code.status().into_response();
        if self.was_carried_out {
            response.extensions_mut().insert(CarriedOut);
        }
        // The outermost layer knows the request's id and makes the body.
        response.extensions_mut().insert(self);
        response
    }
}
