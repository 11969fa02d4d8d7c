//! How much a request may take.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::problem::{Code, Problem};

/// The limits of requests and connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApiLimits {
    /// Size in bytes of the body of an inventory or a unit; other routes take less. A cluster
    /// of 10,000 hosts and 100,000 VMs has some 40 MB.
    pub body: usize,
    /// Size in bytes of the bodies of all requests in work, those up to 64 KiB not counted.
    pub bodies: usize,
    /// Size in bytes of all answers that are on their way, as they are held: those over 1 MiB are
    /// compressed. Those up to 64 KiB are not counted.
    pub answers: usize,
    /// From the head of a request to the head of its answer.
    pub request: Duration,
    /// For the head of a request to arrive; a connection that is idle for so long is
    /// closed.
    pub header: Duration,
    /// Whoever sends a body, or takes an answer, by less than 8 KiB a second for so long is
    /// too slow, and its connection is closed.
    pub stall: Duration,
    /// Connections at the same time. A quarter of them is for callers that have shown a
    /// token, and where there is no place for one more, the oldest connection that has shown
    /// none is closed.
    pub connections: usize,
    /// Connections from one address that have shown no token; for more, the oldest of them
    /// are closed.
    pub connections_per_address: usize,
    /// Connections that have shown the same token.
    pub connections_per_token: usize,
    /// Streams of events for the same token.
    pub streams_per_token: usize,
}

impl Default for ApiLimits {
    fn default() -> Self {
        Self {
            body: 64 << 20,
            bodies: 256 << 20,
            answers: 256 << 20,
            request: Duration::from_secs(60),
            header: Duration::from_secs(30),
            stall: Duration::from_secs(10),
            connections: 1024,
            connections_per_address: 512,
            connections_per_token: 512,
            streams_per_token: 64,
        }
    }
}

/// End requests that take too long. Whose fault it is shows in whether the body has
/// arrived.
pub(super) async fn time(
    State(limits): State<ApiLimits>,
    mut request: Request,
    next: Next,
) -> Response {
    let arrived = Arrived::default();
    request.extensions_mut().insert(arrived.clone());
    match tokio::time::timeout(limits.request, next.run(request)).await {
        Ok(response) => response,
        Err(_) => {
            let seconds = limits.request.as_secs_f64();
            match arrived.is_whole() {
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

/// Whether the body of a request is being taken in.
#[derive(Debug, Clone, Default)]
pub(super) struct Arrived {
    comes: Arc<AtomicBool>,
}

impl Arrived {
    /// It comes in, or it has come.
    pub(super) fn comes(&self, comes: bool) {
        self.comes.store(comes, Ordering::Relaxed);
    }

    fn is_whole(&self) -> bool {
        !self.comes.load(Ordering::Relaxed)
    }
}
