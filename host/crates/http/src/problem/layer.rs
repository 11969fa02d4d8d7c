//! Makes every error of the layers below a problem.

use std::any::Any;

use axum::body::{Body, to_bytes};
use axum::extract::{Extension, Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::{Code, INTERNAL, Problem};
use crate::face::Faces;
use crate::observe::RequestId;

/// Sentences of libraries are told up to this length in bytes.
const SENTENCE: usize = 4096;

/// Write every problem as the clients of its face read it, with its request's id; make problems
/// of all other errors, such as the rejections of axum's extractors.
pub(crate) async fn dress(
    State(faces): State<Faces>,
    Extension(id): Extension<RequestId>,
    request: Request,
    next: Next,
) -> Response {
    let manners = faces.of(request.uri().path());
    let written = manners.problem;
    // Whoever mistypes an address in a browser reads a page, where the server has pages.
    let of_unknown = match manners.prefix.is_empty() && takes_pages(request.headers()) {
        true => faces.of("/").problem,
        false => written,
    };
    let mut response = next.run(request).await;
    let status = response.status();
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        return match problem.code() {
            Code::UnknownRoute => of_unknown(problem, id.as_str()),
            _ => written(problem, id.as_str()),
        };
    }
    if !(status.is_client_error() || status.is_server_error()) || is_written(&response) {
        return response;
    }
    let (parts, body) = response.into_parts();
    let sentence = sentence(body).await;
    let sentence = match sentence.trim() {
        "" => Code::of_status(status).title().to_owned(),
        told => told.to_owned(),
    };
    let mut problem = Problem::new(Code::of_status(status), sentence);
    for name in [header::ALLOW, header::RETRY_AFTER] {
        if let Some(value) = parts.headers.get(&name) {
            problem = problem.with_header(name, value.clone());
        }
    }
    written(problem, id.as_str())
}

/// Whether the client is one that shows pages.
fn takes_pages(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).into_iter();
    let mut kinds = accepted.filter_map(|value| value.to_str().ok());
    kinds.any(|kinds| kinds.contains("text/html"))
}

/// Whether a route wrote the error itself: those of the libraries are plain text or nothing.
fn is_written(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| !kind.as_bytes().starts_with(b"text/plain"))
}

async fn sentence(body: Body) -> String {
    let bytes = to_bytes(body, SENTENCE).await.unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A handler has panicked: a fault of ours, told in the log.
pub(crate) fn of_panic(panic: Box<dyn Any + Send>) -> Response {
    let sentence = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    tracing::error!(
        panic = sentence.unwrap_or("no message"),
        "a request's handler has panicked"
    );
    Problem::new(Code::Internal, INTERNAL).into_response()
}

/// No route has this path.
pub(crate) fn unknown_route(faces: &Faces, request: Request) -> Response {
    let path = request.uri().path();
    let directory = faces.of(path).directory;
    let path = placewright_document::shown(path);
    let sentence = match directory {
        "" => format!("there is no path \"{path}\""),
        directory => format!("there is no path \"{path}\"; {directory}"),
    };
    Problem::new(Code::UnknownRoute, sentence).into_response()
}
