//! Bodies that are documents, and what is done with them off the threads that serve.

use axum::extract::{FromRequest, Request};
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::problem::{Code, Problem};

/// The body of a request: a document, in JSON or TOML.
#[derive(Debug, Clone)]
pub struct Document {
    /// The text.
    pub text: String,
    /// What problems call it, with the ending of its language.
    pub file: &'static str,
}

impl<S: Send + Sync> FromRequest<S> for Document {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let kind = request.headers().get(header::CONTENT_TYPE);
        let kind = kind.map(|kind| String::from_utf8_lossy(kind.as_bytes()).into_owned());
        let kind = kind.unwrap_or_default();
        let essence = kind.split(';').next().unwrap_or_default().trim();
        let file = match essence.to_ascii_lowercase().as_str() {
            "application/json" => "body.json",
            "application/toml" | "text/toml" => "body.toml",
            _ => {
                let sentence =
                    "send a document with Content-Type: application/json or application/toml";
                return Err(Problem::new(Code::UnsupportedType, sentence).into_response());
            }
        };
        let bytes = axum::body::Bytes::from_request(request, state)
            .await
            .map_err(IntoResponse::into_response)?;
        let text = String::from_utf8(bytes.into()).map_err(|_| {
            Problem::new(Code::InvalidJson, "the body is not UTF-8").into_response()
        })?;
        Ok(Self { text, file })
    }
}

/// Do work that takes its time on a thread that may take it.
///
/// # Errors
/// Those of the work.
pub(super) async fn aside<T, E>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, Problem>
where
    T: Send + 'static,
    E: Into<Problem> + Send + 'static,
{
    let span = tracing::Span::current();
    match tokio::task::spawn_blocking(move || span.in_scope(work)).await {
        Ok(done) => done.map_err(Into::into),
        Err(error) => Err(Problem::internal(&error)),
    }
}

/// An answer whose JSON is there already.
pub(super) fn json(text: impl Into<axum::body::Body>) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (kind, text.into()).into_response()
}
