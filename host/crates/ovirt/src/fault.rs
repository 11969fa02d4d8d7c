//! What errors look like to oVirt's clients: a fault with a reason and a detail.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::tree::{Format, Tree};
use placewright_deployment::DeploymentError;
use placewright_document::shortened;
use placewright_http::gone::InterruptedError;
use placewright_http::{CarriedOut, Code, Problem};

/// Why a request was not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    status: StatusCode,
    reason: &'static str,
    detail: String,
    /// Whether what was asked for was done all the same.
    was_carried_out: bool,
}

/// The reason that an engine gives for nearly everything.
const FAILED: &str = "Operation Failed";

impl Fault {
    fn new(status: StatusCode, reason: &'static str, detail: impl ToString) -> Self {
        Self {
            status,
            reason,
            detail: shortened(detail.to_string()),
            was_carried_out: false,
        }
    }

    /// A body, or a value in it, cannot be read.
    pub(crate) fn syntax(detail: impl ToString) -> Self {
        let reason = "Request syntactically incorrect.";
        Self::new(StatusCode::BAD_REQUEST, reason, detail)
    }

    /// Something that is needed for an operation was not given, such as the `name` of a
    /// `SchedulingPolicy` for `add`.
    pub(crate) fn incomplete(what: &str, field: &str, operation: &str) -> Self {
        let detail = format!("{what} [{field}] required for {operation}");
        Self::new(StatusCode::BAD_REQUEST, "Incomplete parameters", detail)
    }

    /// What was asked for does not go together with what there is: a list in brackets, as
    /// engines write it.
    pub(crate) fn refused(detail: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::BAD_REQUEST, FAILED, format!("[{detail}]"))
    }

    /// The same while something else uses it.
    pub(crate) fn in_use(detail: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::CONFLICT, FAILED, format!("[{detail}]"))
    }

    /// Something that never changes is given another value.
    pub(crate) fn immutable(detail: impl ToString) -> Self {
        let reason = "Broken immutability constraint";
        Self::new(StatusCode::CONFLICT, reason, detail)
    }

    /// There is no such thing.
    pub(crate) fn not_found(what: &str, id: &str) -> Self {
        let id = placewright_document::shown(id);
        Self::new(
            StatusCode::NOT_FOUND,
            FAILED,
            format!("[there is no {what} \"{id}\"]"),
        )
    }

    /// The element that says so.
    fn tree(&self) -> Tree {
        Tree::new("fault")
            .text("detail", &self.detail)
            .text("reason", self.reason)
    }

    /// The answer.
    pub(crate) fn response(&self, format: Format) -> Response {
        let mut response = response(self.status, format.document(&self.tree()), format);
        if self.was_carried_out {
            response.extensions_mut().insert(CarriedOut);
        }
        response
    }
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        let was_carried_out = problem.was_carried_out();
        let body = problem.body(None);
        let status = match body.status {
            // Engines know no finer ones.
            422 | 423 => StatusCode::BAD_REQUEST,
            412 | 428 => StatusCode::CONFLICT,
            status => StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        };
        let sentences: Vec<&str> = match body.errors.len() {
            0 | 1 => vec![&body.detail],
            _ => body.errors.iter().map(|it| &*it.message).collect(),
        };
        Self {
            was_carried_out,
            ..Self::new(status, FAILED, format!("[{}]", sentences.join(", ")))
        }
    }
}

impl From<InterruptedError> for Fault {
    fn from(error: InterruptedError) -> Self {
        Problem::from(error).into()
    }
}

impl From<DeploymentError> for Fault {
    fn from(error: DeploymentError) -> Self {
        match error {
            DeploymentError::InUse { .. } => Self::in_use(error),
            error => Problem::from(error).into(),
        }
    }
}

/// A problem of the layers above the routes, as the clients of this face read it.
pub(crate) fn of_layer(problem: Problem, _request: &str) -> Response {
    let (code, headers) = (problem.code(), problem.headers());
    let mut response = Fault::from(problem).response(Format::Xml);
    response.headers_mut().extend(headers);
    if code == Code::Unauthorized {
        // The two ways in which a token may come.
        let ways =
            HeaderValue::from_static("Bearer realm=\"placewright\", Basic realm=\"placewright\"");
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, ways);
    }
    response
}

/// A text in a format as an answer.
pub(crate) fn response(status: StatusCode, text: String, format: Format) -> Response {
    let kind = match format {
        // In lower case: clients compare it so.
        Format::Xml => "application/xml; charset=utf-8",
        Format::Json => "application/json",
    };
    (status, [(header::CONTENT_TYPE, kind)], text).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_have_the_statuses_that_engines_have() {
        let status = |code| Fault::from(Problem::new(code, "why")).status.as_u16();
        for (code, expected) in [
            (Code::Unauthorized, 401),
            (Code::Forbidden, 403),
            (Code::NotFound, 404),
            (Code::RevisionChanged, 409),
            (Code::Locked, 400),
            (Code::InvalidDocument, 400),
            (Code::Unavailable, 503),
        ] {
            assert_eq!(status(code), expected, "{code:?}");
        }
    }

    #[test]
    fn a_fault_of_what_was_carried_out_all_the_same_is_marked() {
        let is_marked = |problem: Problem| {
            let response = Fault::from(problem).response(Format::Xml);
            response.extensions().get::<CarriedOut>().is_some()
        };
        let problem = Problem::new(Code::Unavailable, "why");
        assert!(!is_marked(problem.clone()));
        assert!(is_marked(problem.of_what_was_carried_out()));
    }

    #[test]
    fn a_fault_has_a_reason_and_a_detail() {
        let fault = Fault::incomplete("SchedulingPolicy", "name", "add");
        assert_eq!(
            fault.tree().json(),
            serde_json::json!({
                "detail": "SchedulingPolicy [name] required for add",
                "reason": "Incomplete parameters",
            })
        );
    }
}
