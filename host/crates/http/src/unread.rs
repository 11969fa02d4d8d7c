//! Reads on when a request is refused before its body has been read.
//!
//! A connection that is closed while its client still sends is reset, and with it goes the
//! answer that says why. So what is left of a body is read and thrown away, within bounds,
//! while the answer is on its way.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::Response;
use futures_util::StreamExt;
use http_body::{Frame, SizeHint};
use tokio::runtime::Handle;

use super::limits::ApiLimits;
use super::pace::Pace;

/// Bytes of one body that are thrown away: a client that sends more than this beyond what a
/// route takes has not looked at its limits at all.
const MOST: usize = 128 << 20;

/// A client that is still sending does so now.
const STRETCH: Duration = Duration::from_secs(2);

/// Give the routes a body whose rest is read even if they drop it.
pub(super) async fn read_on(
    State(limits): State<ApiLimits>,
    request: Request,
    next: Next,
) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    // Such a client sends only what it is asked for.
    let waits = waits(request.headers());
    let request = request.map(|body| {
        Body::new(ReadOn {
            body,
            asked: !waits,
            longest: limits.request,
        })
    });
    next.run(request).await
}

fn waits(headers: &HeaderMap) -> bool {
    let expect = headers.get(header::EXPECT);
    expect.is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}

/// A body that is read to its end, by whom it was given to or, once that drops it, by a task.
struct ReadOn {
    body: Body,
    /// Whether the client sends it, or waits to be asked.
    asked: bool,
    /// The longest that the task may take.
    longest: Duration,
}

impl HttpBody for ReadOn {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.asked = true;
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for ReadOn {
    fn drop(&mut self) {
        if self.body.is_end_stream() || !self.asked {
            return;
        }
        let body = std::mem::take(&mut self.body);
        // Outside of a runtime nobody serves the connection any more.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(tokio::time::timeout(self.longest, throw_away(body)));
        }
    }
}

/// Read up to the end, to the bound, or until the client is too slow.
async fn throw_away(body: Body) {
    let mut pace = Pace::new(STRETCH);
    let mut frames = body.into_data_stream();
    let mut rest = MOST;
    while let Some(ends) = pace.ends() {
        let Ok(Some(Ok(frame))) = tokio::time::timeout_at(ends, frames.next()).await else {
            return;
        };
        pace.moved(frame.len());
        match rest.checked_sub(frame.len()) {
            Some(less) => rest = less,
            None => return,
        }
    }
}
