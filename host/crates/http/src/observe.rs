//! A span and the metrics of each request.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use tracing::Instrument;

use super::problem::ToldBefore;
use placewright_records::telemetry::Telemetry;
use placewright_records::traces;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longer ids of clients are not taken over.
const LONGEST_ID: usize = 64;

/// Names a request in the log: the client's own `X-Request-Id`, or one of ours.
#[derive(Debug, Clone)]
pub struct RequestId(Arc<str>);

impl RequestId {
    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As text that is shared.
    pub(super) fn shared(&self) -> Arc<str> {
        self.0.clone()
    }

    fn of(request: &Request) -> Self {
        let given = request.headers().get(REQUEST_ID);
        let good = |id: &&str| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            !id.is_empty() && id.len() <= LONGEST_ID && id.bytes().all(plain)
        };
        match given.and_then(|id| id.to_str().ok()).filter(good) {
            Some(given) => Self(given.into()),
            None => Self::fresh(),
        }
    }

    fn fresh() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        // Ids of one run differ by the number, those of two runs by the beginning.
        static RUN: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
        let run = RUN.get_or_init(|| getrandom::u32().unwrap_or_else(|_| std::process::id()));
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(format!("{run:08x}-{number:x}").into())
    }
}

/// Carry the request out in a span of its own, and count it.
pub(super) async fn observe(
    State(telemetry): State<Arc<Telemetry>>,
    mut request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let in_flight = telemetry.http.began();
    let id = RequestId::of(&request);
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("unmatched", MatchedPath::as_str);
    let method = request.method().clone();
    let span = tracing::info_span!(
        "request",
        id = id.as_str(),
        %method,
        route,
        caller = tracing::field::Empty
    );
    traces::continues(&span, |name| request.headers().get(name)?.to_str().ok());
    request.extensions_mut().insert(id.clone());
    let mut response = next.run(request).instrument(span.clone()).await;
    drop(in_flight);
    let (status, took) = (response.status(), began.elapsed());
    traces::answered(&span, status.as_u16());
    telemetry
        .http
        .answered(method.as_str(), route, status.as_u16(), took);
    // That a unit is paused is told once, when it is: not by every request meanwhile.
    let is_told = response.extensions().get::<ToldBefore>().is_some();
    span.in_scope(|| match status.is_server_error() && !is_told {
        true => tracing::warn!(status = status.as_u16(), ?took, "answered"),
        false => tracing::debug!(status = status.as_u16(), ?took, "answered"),
    });
    if let Ok(value) = HeaderValue::from_str(id.as_str()) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    response
}
