//! What happens, as a stream of server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{self, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use tokio::sync::broadcast::error::RecvError;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::problem::Problem;
use super::{Caller, Stop};
use crate::deployment::{Deployment, Event};

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new().routes(routes!(events))
}

/// What happens, as it happens: each event with its number as id, its kind as name, and
/// JSON as data. With a header Last-Event-ID it goes on after that event, as far as
/// events are remembered. Of clusters only those are told of that the token is for.
#[utoipa::path(get, path = "/v1/events", tag = "events",
    params(("Last-Event-ID" = Option<u64>, Header, description = "Number of the last event that was seen")),
    responses((status = OK, content_type = "text/event-stream", body = String)))]
async fn events(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Extension(stop): Extension<Stop>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<sse::Event, Infallible>>>, Problem> {
    let after = headers.get("last-event-id");
    let after = after.and_then(|id| id.to_str().ok()?.parse().ok());
    let after = after.unwrap_or_else(|| deployment.events().last());
    let (missed, to_come) = deployment.events().listen(after);
    let state = (missed.into_iter(), to_come, stop, caller);
    let events = stream::unfold(state, |(mut missed, mut to_come, mut stop, caller)| async {
        loop {
            let event = match missed.next() {
                Some(event) => event,
                None => tokio::select! {
                    event = to_come.recv() => match event {
                        Ok(event) => event,
                        // A listener that is too slow has missed some: the numbers tell.
                        Err(RecvError::Lagged(_)) => continue,
                        Err(RecvError::Closed) => return None,
                    },
                    () = stop.requested() => return None,
                },
            };
            if event.cluster.as_ref().is_none_or(|it| caller.sees(it)) {
                return Some((Ok(sent(&event)), (missed, to_come, stop, caller)));
            }
        }
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))))
}

fn sent(event: &Event) -> sse::Event {
    sse::Event::default()
        .id(event.number.to_string())
        .event(event.kind)
        .data(serde_json::to_string(event).unwrap_or_default())
}
