//! The inventory of a cluster followed: what changes in it, as a stream of server-sent events.

mod frames;

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Uri, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use tokio::sync::watch::Receiver;
use tokio::time::{Instant, sleep, sleep_until};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::contract;
use super::events::last_event_id;
use placewright_deployment::Deployment;
use placewright_deployment::cluster::{Cluster, EntityKind};
use placewright_http::compression::takes_gzip;
use placewright_http::extract::{Path, Query, repeated};
use placewright_http::problem::{Code, Problem};
use placewright_http::shared_stream::{Coding, Part, SharedStream};
use placewright_http::{Caller, OpenStream, Stop, Streams};

use frames::{Follower, Frame, Frames};

/// A stream on which nothing was sent for so long gets a comment, so that nobody between takes
/// it for dead.
const QUIET: Duration = Duration::from_secs(15);

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    let frames = Extension(Arc::<Frames>::default());
    OpenApiRouter::new().routes(routes!(follow)).layer(frames)
}

/// What is sent of an inventory that is followed.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct InventoryEvent {
    /// The version of the inventory that is reached when all events with it have been read.
    #[schema(example = 4711)]
    version: u64,
    /// Those that are new or different, each as its own route shows it: hosts, VMs, groups or
    /// tenants, as the name of the event says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<contract::Entity>)]
    items: Vec<serde_json::Value>,
    /// The ids of those that are not there any more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>, example = json!(["web-2"]))]
    gone: Vec<Arc<str>>,
}

impl InventoryEvent {
    /// A version by itself.
    fn bare(version: u64) -> Self {
        Self {
            version,
            items: Vec::new(),
            gone: Vec::new(),
        }
    }
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct FollowQuery {
    /// Begin after this version: that of the last event that was read, or of
    /// `inventory-version` in the headers of the inventory. From now on if not given.
    after: Option<u64>,
}

/// What changes in a cluster's inventory, as it changes. Events are called `hosts`, `vms`,
/// `groups` and `tenants`; each has the version that it leads to, the `items` that are new or
/// different, whole, and the ids of those that are `gone`. First comes `begin` with the version
/// that the stream begins after, unless `after` or a header Last-Event-ID gives it. Where that
/// is not remembered, too much has changed at once, or the columns of the cluster have become
/// others, `reset` comes: read the inventory anew and go on. Changes within 200 ms come
/// together, and within a second where thousands follow. The stream ends with the cluster, and when
/// the token is taken away or gets another role or other clusters. It is compressed, event by
/// event, for clients that accept gzip. A host comes when something that is given or measured of it
/// changes; what its VMs take follows from them.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/inventory/follow", operation_id = "follow_inventory", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"), FollowQuery,
        ("kind" = inline(Option<Vec<contract::FollowedKind>>), Query, description = "Only events of this name: hosts, vms, groups or tenants. Given again for more; all if not given"),
        ("Last-Event-ID" = Option<u64>, Header, description = "Version of the last event that was read; goes before `after`")),
    responses((status = OK, content_type = "text/event-stream", body = InventoryEvent)))]
#[expect(
    clippy::too_many_arguments,
    reason = "each is a part of the request or of the server"
)]
async fn follow(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Extension(stop): Extension<Stop>,
    Extension(streams): Extension<Streams>,
    Extension(frames): Extension<Arc<Frames>>,
    Path(cluster): Path<String>,
    Query(query): Query<FollowQuery>,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, Problem> {
    let kinds = kinds(&uri)?;
    let cluster = deployment.cluster(&cluster)?;
    let last = last_event_id(&headers)?;
    let stream = streams.open(&caller)?;
    let coding = match takes_gzip(&headers) {
        true => Coding::Gzip,
        false => Coding::Plain,
    };
    let part = |text| Part::new(coding, text).map_err(|error| Problem::internal(&error));
    let changed = cluster.changes();
    let (at, first) = match last.or(query.after) {
        Some(version) => (version, None),
        None => {
            let version = cluster.snapshot().await?.version();
            (
                version,
                Some(part(frames::event("begin", InventoryEvent::bare(version)))?),
            )
        }
    };
    let following = Following {
        frames: frames.of(&cluster, coding),
        sent: SharedStream::new(coding),
        quiet: part(Bytes::from_static(b": quiet\n\n"))?,
        cluster,
        kinds,
        at,
        to_send: first.into_iter().collect(),
        rests_until: Instant::now(),
        changed,
        stop,
        stream,
    };
    let events = stream::unfold(following, |mut following| async {
        let bytes = following.bytes().await?;
        Some((Ok::<_, Infallible>(bytes), following))
    });
    let kind = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache"),
        (header::VARY, "accept-encoding"),
    ];
    let answer = (kind, Body::from_stream(events));
    Ok(match coding {
        Coding::Gzip => ([(header::CONTENT_ENCODING, "gzip")], answer).into_response(),
        Coding::Plain => answer.into_response(),
    })
}

/// The kinds that a request names; all if it names none.
fn kinds(uri: &Uri) -> Result<Vec<EntityKind>, Problem> {
    let kinds: Vec<EntityKind> = repeated(uri, "kind")
        .map(|word| {
            let found = EntityKind::ALL.into_iter().find(|kind| kind.word() == word);
            found.ok_or_else(|| {
                let sentence =
                    format!("\"kind\" is hosts, vms, groups or tenants, and not \"{word}\"");
                Problem::new(Code::InvalidParameter, sentence)
            })
        })
        .collect::<Result<_, _>>()?;
    Ok(match kinds.is_empty() {
        true => EntityKind::ALL.to_vec(),
        false => kinds,
    })
}

/// One who follows an inventory.
struct Following {
    frames: Follower,
    cluster: Arc<Cluster>,
    kinds: Vec<EntityKind>,
    /// The version that it was sent last.
    at: u64,
    to_send: VecDeque<Part>,
    sent: SharedStream,
    /// What is sent when nothing happens.
    quiet: Part,
    /// Nothing is asked for before.
    rests_until: Instant,
    changed: Receiver<u64>,
    stop: Stop,
    /// Counts for its token, and says when that may follow no more.
    stream: OpenStream,
}

impl Following {
    /// The bytes that are to be sent next; None: there will be nothing more.
    async fn bytes(&mut self) -> Option<Bytes> {
        if let Some(head) = self.sent.begin() {
            return Some(head);
        }
        match self.next().await {
            Some(part) => Some(self.sent.next(&part)),
            None => self.sent.end(),
        }
    }

    /// What is to be sent next; None: there will be nothing more.
    async fn next(&mut self) -> Option<Part> {
        loop {
            if self.stream.is_over() {
                return None;
            }
            if let Some(part) = self.to_send.pop_front() {
                return Some(part);
            }
            let (cluster, at) = (self.cluster.clone(), self.at);
            let has_changed = move |_: &u64| cluster.counted().version != at;
            tokio::select! {
                changed = self.changed.wait_for(has_changed) => changed.map(|_| ()).ok()?,
                () = sleep(QUIET) => return Some(self.quiet.clone()),
                () = self.stop.requested() => return None,
                () = self.stream.over() => return None,
            }
            tokio::select! {
                () = sleep_until(self.rests_until) => {}
                () = self.stop.requested() => return None,
            }
            // What cannot be read now, such as while a cluster has too much to do, is tried again.
            let frame = self
                .frames
                .after(&self.cluster, self.at)
                .await
                .ok()
                .flatten();
            self.rests_until = Instant::now() + self.frames.pause();
            if let Some(frame) = frame {
                self.at = frame.version;
                self.send(frame);
            }
        }
    }

    /// Have those events sent that are wanted.
    fn send(&mut self, frame: Frame) {
        let kinds = &self.kinds;
        let is_wanted = |kind: Option<EntityKind>| kind.is_none_or(|it| kinds.contains(&it));
        let events = frame.events.into_iter();
        let wanted = events.filter(|(kind, _)| is_wanted(*kind));
        self.to_send.extend(wanted.map(|(_, part)| part));
    }
}
