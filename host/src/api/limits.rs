//! How much a request may take.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};

use super::problem::{Code, Problem};

/// The limits of requests and connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApiLimits {
    /// Size of a body in bytes. A cluster of 10,000 hosts and 100,000 VMs has some 40 MB.
    pub body: usize,
    /// From the head of a request to the head of its answer.
    pub request: Duration,
    /// For the head of a request to arrive; a connection that is idle for so long is
    /// closed.
    pub header: Duration,
    /// Connections at the same time; more are closed at once.
    pub connections: usize,
}

impl Default for ApiLimits {
    fn default() -> Self {
        Self {
            body: 64 << 20,
            request: Duration::from_secs(60),
            header: Duration::from_secs(30),
            connections: 1024,
        }
    }
}

/// End requests that take too long. Whose fault it is shows in whether the body has
/// arrived.
pub(super) async fn time(
    State(limits): State<ApiLimits>,
    request: Request,
    next: Next,
) -> Response {
    let (request, arrived) = watched(request);
    match tokio::time::timeout(limits.request, next.run(request)).await {
        Ok(response) => response,
        Err(_) => {
            let seconds = limits.request.as_secs_f64();
            let arrived = arrived.is_none_or(|arrived| arrived.load(Ordering::Relaxed));
            match arrived {
                true => Problem::new(
                    Code::TimedOut,
                    format!("the request could not be carried out within {seconds} s"),
                ),
                false => Problem::new(
                    Code::RequestTimeout,
                    format!("the request's body did not arrive within {seconds} s"),
                ),
            }
            .into_response()
        }
    }
}

/// The request with a flag that says whether its body has been read; none if there is
/// no body.
fn watched(request: Request) -> (Request, Option<Arc<AtomicBool>>) {
    if request.body().is_end_stream() {
        return (request, None);
    }
    let arrived = Arc::new(AtomicBool::new(false));
    let (parts, body) = request.into_parts();
    let end = {
        let arrived = arrived.clone();
        stream::poll_fn(move |_| {
            arrived.store(true, Ordering::Relaxed);
            std::task::Poll::Ready(None::<Result<Bytes, axum::Error>>)
        })
    };
    let body = Body::from_stream(body.into_data_stream().chain(end));
    (Request::from_parts(parts, body), Some(arrived))
}
