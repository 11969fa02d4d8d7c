//! What happens, as a stream of server-sent events.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{self, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use placewright_deployment::{Deployment, Event, Listening};
use placewright_document::Word;
use placewright_http::problem::{Code, Problem};
use placewright_http::{Caller, Stop};
use placewright_http::{OpenStream, Streams};

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new().routes(routes!(events))
}

/// What happens, as it happens: each event with its number as id, its kind as name, and
/// JSON as data. Numbers count up, also over restarts, which skip some. With a header
/// Last-Event-ID it goes on after that event. Where events that were asked for are no
/// longer remembered, or a listener was too slow, an event `reset` comes first: then read
/// anew what you follow. A token that is for some clusters is told of those alone, and of
/// units and its policies in sentences that name no others. The stream ends when the token is taken
/// away, or gets another role or other clusters.
#[utoipa::path(get, path = "/v1/events", operation_id = "stream_events", tag = "events",
    params(("Last-Event-ID" = Option<u64>, Header, description = "Number of the last event that was seen")),
    responses((status = OK, content_type = "text/event-stream", body = Event)))]
async fn events(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Extension(stop): Extension<Stop>,
    Extension(streams): Extension<Streams>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<sse::Event, Infallible>>>, Problem> {
    let after = last_event_id(&headers)?;
    let stream = streams.open(&caller)?;
    let Listening {
        lost,
        missed,
        to_come,
    } = deployment
        .events()
        .listen_as(after, |cluster| caller.sees(cluster));
    let reset = lost.map(|number| Arc::new(Event::reset(number, deployment.now())));
    let told = Told {
        missed: reset.into_iter().chain(missed).collect(),
        to_come,
        stop,
        caller,
        deployment,
        stream,
    };
    let events = stream::unfold(told, |mut told| async {
        let event = told.next().await?;
        Some((Ok(sent(&event)), told))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))))
}

/// The number that a stream goes on after, as the header Last-Event-ID says.
///
/// # Errors
/// If the header has something else than a number.
pub(super) fn last_event_id(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
    let Some(given) = headers.get("last-event-id") else {
        return Ok(None);
    };
    let number = given.to_str().ok().and_then(|it| it.trim().parse().ok());
    number.map(Some).ok_or_else(|| {
        let sentence = "Last-Event-ID must be the number of an event, as its \"id\" says";
        Problem::new(Code::InvalidParameter, sentence)
    })
}

/// What one listener is told of.
struct Told {
    missed: VecDeque<Arc<Event>>,
    to_come: Receiver<Arc<Event>>,
    stop: Stop,
    caller: Caller,
    deployment: Arc<Deployment>,
    /// Counts the listener for its token, and says when that may listen no more.
    stream: OpenStream,
}

impl Told {
    /// The next event that the caller may see; None: there will be none.
    async fn next(&mut self) -> Option<Event> {
        let mut lags = false;
        loop {
            if self.stream.is_over() {
                return None;
            }
            let event = match self.missed.pop_front() {
                Some(event) => event,
                None => tokio::select! {
                    event = self.to_come.recv() => match event {
                        Ok(event) => event,
                        Err(RecvError::Lagged(_)) => {
                            lags = true;
                            continue;
                        }
                        Err(RecvError::Closed) => return None,
                    },
                    () = self.stop.requested() => return None,
                    () = self.stream.over() => return None,
                },
            };
            if lags {
                let reset = Event::reset(event.number - 1, event.at);
                self.missed.push_front(event);
                return Some(reset);
            }
            if let Some(event) = self.caller.told_of(&self.deployment, &event) {
                return Some(event);
            }
        }
    }
}

fn sent(event: &Event) -> sse::Event {
    sse::Event::default()
        .id(event.number.to_string())
        .event(event.kind.word())
        .data(serde_json::to_string(event).unwrap_or_default())
}
