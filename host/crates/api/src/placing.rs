//! VMs get places: one request, a batch, a migration; and what follows.

pub(super) mod named;

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::rejection::ExtensionRejection;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::contract;
use named::VmNamed;
use placewright_deployment::cluster::{BatchPlaced, Cluster, Failed, Key, Placed};
use placewright_deployment::{ClusterState, Deployment, DeploymentError};
use placewright_document::{Surroundings, read_requests};
use placewright_http::access::unauthorized;
use placewright_http::audit::Note;
use placewright_http::document::{Document, Weight, json};
use placewright_http::extract::{Json, Path, Query};
use placewright_http::gone::Gone;
use placewright_http::problem::{Code, Problem};
use placewright_http::{Caller, Permission, Streams};
use placewright_model::Request;
use placewright_scheduler::{Batch, BatchOrder, Cancel};

/// The longest that a request may wait for pending places to end.
const LONGEST_WAIT: f64 = 300.0;

/// VMs of a batch at most: it holds its cluster while it is decided.
const LARGEST_BATCH: usize = 10_000;

/// What a dry run of a batch may take, while others wait for a turn of the cluster, of a caller who
/// may only look.
const LONGEST_OF_VIEWER: Duration = Duration::from_secs(1);

/// Decisions of a search at most.
const LONGEST_SEARCH: usize = 100_000;

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new()
        .routes(routes!(place))
        .routes(routes!(migrate))
        .routes(routes!(batch))
        .routes(routes!(confirm))
        .routes(routes!(cancel))
}

#[derive(Debug, Clone, Copy, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[into_params(parameter_in = Query)]
struct PlaceQuery {
    /// If nobody is left only because of places that are reserved: seconds to wait once
    /// for a change of the cluster, and then to decide again; 0 if not given.
    #[param(minimum = 0, maximum = 300)]
    wait: Option<f64>,
    /// Decide, but change nothing: as "dry-run" in the request.
    #[serde(default)]
    dry_run: bool,
    /// As "all-or-nothing" in the request: its VMs go together anyway.
    #[serde(default)]
    all_or_nothing: bool,
}

/// Decide where a VM, or VMs that go together, run, and reserve their places until
/// "expires"; "reserve-for" in the request says for how many seconds. Without a host the
/// decision says why. A VM that runs is a conflict, unless its host is down or in error or
/// the request says "again": true. "force" names the host without asking any unit; it needs
/// the role admin. With a header Idempotency-Key the same request gets the
/// same answer again, also after a restart, for 24 hours or until there are too many of them
/// (`answer-bytes`); once the places are no longer held, it says
/// under "reservation" what has become of them: confirmed, expired, released, or ended if
/// that is all that is known. A dry run leaves nothing behind, and is tried anew.
#[utoipa::path(post, path = "/v1/clusters/{cluster}/place", operation_id = "place_vm", tag = "placing",
    params(("cluster" = String, Path, description = "Name of the cluster"), PlaceQuery),
    request_body(content = contract::OneRequest, description = "A VM, or a request with its VMs; in JSON or TOML"),
    responses((status = OK, body = contract::Placement, description = "The decision")))]
async fn place(
    State(deployment): State<Arc<Deployment>>,
    asking: Asking,
    Path(cluster): Path<String>,
    Query(query): Query<PlaceQuery>,
    headers: HeaderMap,
    document: Document,
) -> Result<Response, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let (requests, _weight) = requests(&deployment, &cluster, document).await?;
    let request = one(requests)?;
    may_force(&asking.caller, &cluster, &request)?;
    decide(
        &cluster,
        query,
        &headers,
        &asking,
        request,
        ClusterState::place,
    )
    .await
}

/// Decide where VMs that run are to be moved, other than where they are, and reserve
/// their places.
#[utoipa::path(post, path = "/v1/clusters/{cluster}/migrate", operation_id = "migrate_vm", tag = "placing",
    params(("cluster" = String, Path, description = "Name of the cluster"), PlaceQuery),
    request_body(content = contract::OneRequest, description = "A VM of which the id is enough, or a request with its VMs; in JSON or TOML"),
    responses((status = OK, body = contract::Placement, description = "The decision")))]
async fn migrate(
    State(deployment): State<Arc<Deployment>>,
    asking: Asking,
    Path(cluster): Path<String>,
    Query(query): Query<PlaceQuery>,
    headers: HeaderMap,
    document: Document,
) -> Result<Response, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let (requests, _weight) = requests(&deployment, &cluster, document).await?;
    let request = one(requests)?;
    may_force(&asking.caller, &cluster, &request)?;
    decide(
        &cluster,
        query,
        &headers,
        &asking,
        request,
        ClusterState::migrate,
    )
    .await
}

/// No unit is asked about a host that is forced: that is an admin's choice.
pub(super) fn may_force(
    caller: &Caller,
    cluster: &Cluster,
    request: &Request,
) -> Result<(), Problem> {
    match request.forced {
        Some(_) => caller.must(Permission::Force, Some(cluster.name())),
        None => Ok(()),
    }
}

/// Who asks, what is recorded of it, and what sees that it may not any more.
struct Asking {
    caller: Caller,
    note: Note,
    streams: Streams,
}

impl<S: Send + Sync> FromRequestParts<S> for Asking {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let missing = |rejection: ExtensionRejection| Problem::internal(&rejection);
        let note = Extension::from_request_parts(parts, state).await;
        let streams = Extension::from_request_parts(parts, state).await;
        let (Extension(note), Extension(streams)) =
            (note.map_err(missing)?, streams.map_err(missing)?);
        Ok(Self {
            caller: Caller::from_request_parts(parts, state).await?,
            note,
            streams,
        })
    }
}

type Decide = fn(&mut ClusterState, Request, Option<Key>) -> Result<Placed, DeploymentError>;

async fn decide(
    cluster: &Cluster,
    query: PlaceQuery,
    headers: &HeaderMap,
    Asking {
        caller,
        note,
        streams,
    }: &Asking,
    mut request: Request,
    decide: Decide,
) -> Result<Response, Problem> {
    note.is_about(request.members.iter().map(|vm| &vm.id));
    let wait = wait(query)?;
    request.dry_run |= query.dry_run;
    if request.dry_run {
        note.has_changed_nothing();
    }
    request.all_or_nothing |= query.all_or_nothing;
    let again = (!wait.is_zero()).then(|| request.clone());
    let key = key(headers, caller, again.is_some());
    let first_key = key.clone();
    let mut changes = cluster.changes();
    let grant = again.is_some().then(|| streams.grant(caller));
    let placed = cluster
        .turn_as(caller, move |state| decide(state, request, first_key))
        .await?;
    let (Some(request), Some(mut grant)) = (again.filter(|_| placed.passing), grant) else {
        return Ok(decided(placed, note));
    };
    // A time that is up, and a cluster that is gone, are told by the second try.
    let changed = changes.wait_for(|changes| *changes > placed.changes);
    let changed = tokio::time::timeout(wait, changed);
    let ended = tokio::select! {
        _ = changed => grant.is_over(),
        () = grant.over() => true,
    };
    if ended {
        return Err(unauthorized(
            "the token was taken away while the request waited, or may do other things by now; ask again",
        ));
    }
    let key = key.map(|key| Key {
        again: false,
        ..key
    });
    let request = Request { now: 0, ..request };
    let placed = cluster.turn_as(caller, move |state| decide(state, request, key));
    let placed = placed.await?;
    Ok(decided(placed, note))
}

fn decided(placed: Placed, note: &Note) -> Response {
    let response = answer(placed.body.to_string(), placed.repeated);
    if placed.host.is_none() {
        note.has_changed_nothing();
    }
    note.with(|record| {
        record.host = placed.host;
        record.decided = Some(placed.body);
    });
    response
}

fn answer(body: String, repeated: bool) -> Response {
    let mut response = json(body);
    if repeated {
        let name = HeaderName::from_static("idempotency-replayed");
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static("true"));
    }
    response
}

fn wait(query: PlaceQuery) -> Result<Duration, Problem> {
    match query.wait.unwrap_or(0.0) {
        wait if (0.0..=LONGEST_WAIT).contains(&wait) => Ok(Duration::from_secs_f64(wait)),
        _ => Err(Problem::new(
            Code::InvalidParameter,
            format!("\"wait\" must be from 0 to {LONGEST_WAIT} seconds"),
        )),
    }
}

fn key(headers: &HeaderMap, caller: &Caller, again: bool) -> Option<Key> {
    let word = headers.get("idempotency-key")?.to_str().ok()?;
    Some(Key {
        caller: caller.name.clone(),
        word: word.to_owned(),
        again,
    })
}

/// What a document asks for, and what that takes in memory.
pub(super) async fn requests(
    deployment: &Arc<Deployment>,
    cluster: &Cluster,
    document: Document,
) -> Result<(Vec<Request>, Weight), Problem> {
    let (schema, now) = (cluster.schema(), deployment.now());
    let read = move |text: &str, file| {
        let surroundings = Surroundings {
            schema: &schema,
            now,
            hosts: None,
        };
        read_requests(text, file, surroundings).map_err(DeploymentError::from)
    };
    document.read(read).await
}

/// The only request of a document.
pub(super) fn one(mut requests: Vec<Request>) -> Result<Request, Problem> {
    match (requests.pop(), requests.len()) {
        (Some(request), 0) => Ok(request),
        _ => Err(Problem::new(
            Code::Unprocessable,
            "this route takes one VM, or several for the same host with \"together\": true; to place many VMs independently, use place-batch",
        )),
    }
}

#[derive(Debug, Clone, Copy, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[into_params(parameter_in = Query)]
struct BatchQuery {
    /// Place all VMs or none: as "all-or-nothing" in the request.
    all_or_nothing: bool,
    /// Take them in the order in which they are listed.
    listed: bool,
    /// Decide, but change nothing: as "dry-run" in the request.
    dry_run: bool,
    /// Plan as if none of these VMs had a place. Those that run go on running where they are
    /// until they are moved: a place is reserved only if the policy gives it as things are.
    from_nothing: bool,
    /// If VMs are left out, search for a better plan with at most so many decisions.
    #[param(maximum = 100000)]
    search: Option<usize>,
}

/// What came of a batch.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct BatchShown {
    /// Whether the places are reserved, all that were found. Otherwise each decision says
    /// whether its own is.
    reserved: bool,
    /// VMs for which there is no decision, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed: Vec<FailedTurn>,
    /// VMs on which nothing was decided because the batch ended early: place them with
    /// another one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>, required = false, example = json!(["web-9"]))]
    undecided: Vec<Arc<str>>,
    /// Why the batch ended early, or its search did: the time that a turn of a cluster may
    /// take was up.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "the time that a turn may take was up")]
    ended_early: Option<String>,
    /// VMs to which the policy's order gives no turn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>, example = json!(["web-10"]))]
    without_turn: Vec<Arc<str>>,
    /// In the order in which they were decided.
    #[serde(skip)]
    decisions: Vec<Arc<str>>,
}

/// VMs for which there is no decision.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FailedVms)]
struct FailedTurn {
    /// Ids of the VMs.
    #[schema(value_type = Vec<String>, example = json!(["web-3"]))]
    vms: Vec<Arc<str>>,
    /// Why there is no decision.
    #[schema(example = "the unit ran out of time")]
    because: String,
}

/// Place many VMs, each seeing the ones before it, in the order that the policy gives. VMs
/// of one request go on one host, and so do those that hard groups keep together while a host takes
/// them all: they are placed in one decision. The VMs may belong to
/// several tenants: each is placed for its own. VMs that run are a conflict, as for one VM, unless the plan is made from nothing.
/// A plan from nothing reserves the places that the policy gives as things are, with the VMs of
/// the plan where they still run; a decision of which the place is not reserved says why under
/// `warnings`. With a
/// header Idempotency-Key the same request gets the same answer again, as for one VM. What
/// takes longer than a turn of a cluster may (`turn-time`) ends with what is decided by then,
/// and the answer says so under `ended-early` and `undecided`; so does a dry run of the role viewer
/// that has taken a second, once others wait for a turn.
#[utoipa::path(post, path = "/v1/clusters/{cluster}/place-batch", operation_id = "place_batch", tag = "placing",
    params(("cluster" = String, Path, description = "Name of the cluster"), BatchQuery),
    request_body(content = contract::Requests, description = "A list of VMs under vms, or of requests under requests; in JSON or TOML"),
    responses((status = OK, body = contract::BatchPlacement)))]
async fn batch(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Extension(note): Extension<Note>,
    Path(cluster): Path<String>,
    Query(query): Query<BatchQuery>,
    headers: HeaderMap,
    document: Document,
) -> Result<Response, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    if let Some(search) = query.search
        && search > LONGEST_SEARCH
    {
        let sentence = format!("\"search\" must be from 0 to {LONGEST_SEARCH} decisions");
        return Err(Problem::new(Code::InvalidParameter, sentence));
    }
    let (requests, _weight) = requests(&deployment, &cluster, document).await?;
    let batch = of_requests(requests, query)?;
    if batch.dry_run || batch.members.is_empty() {
        note.has_changed_nothing();
    }
    note.is_about(batch.members.iter().map(|vm| &vm.id));
    let key = key(&headers, &caller, false);
    // What is only tried is of no use without the caller.
    let gone = Gone::default();
    let cancel = match batch.dry_run {
        true if caller
            .must(Permission::Operate, Some(cluster.name()))
            .is_ok() =>
        {
            gone.cancel()
        }
        // Whoever may change nothing keeps nobody from it.
        true => cluster.giving_way(gone.cancel(), LONGEST_OF_VIEWER),
        false => Cancel::default(),
    };
    let placed = cluster
        .turn_as(&caller, move |state| {
            state.place_batch_unless(cancel, batch, key)
        })
        .await?;
    let repeated = placed.repeated;
    if placed.with_places == 0 {
        note.has_changed_nothing();
    }
    note.with(|record| record.after = Some(batch_counted(&placed)));
    Ok(answer(batch_shown(placed), repeated))
}

fn of_requests(requests: Vec<Request>, query: BatchQuery) -> Result<Batch, Problem> {
    let batch = Batch::of_requests(requests);
    let batch = batch.map_err(|error| Problem::new(Code::Unprocessable, error.to_string()))?;
    let batch = Batch {
        from_nothing: query.from_nothing,
        dry_run: query.dry_run || batch.dry_run,
        all_or_nothing: query.all_or_nothing || batch.all_or_nothing,
        search: query.search,
        order: match query.listed {
            true => BatchOrder::Listed,
            false => BatchOrder::Policy,
        },
        ..batch
    };
    match batch.members.len() {
        0..=LARGEST_BATCH => Ok(batch),
        vms => Err(Problem::new(
            Code::TooLarge,
            format!("a batch has at most {LARGEST_BATCH} VMs, this one {vms}"),
        )),
    }
}

/// What came of a batch, in numbers.
fn batch_counted(placed: &BatchPlaced) -> String {
    let failed = placed.turns.iter().filter(|turn| turn.is_err()).count();
    format!(
        "{} decisions, {failed} failed, {} VMs undecided; places are {}reserved",
        placed.turns.len() - failed,
        placed.undecided.len(),
        if placed.reserved { "" } else { "not " }
    )
}

/// Decisions are JSON already: they are put in behind the rest.
fn batch_shown(placed: BatchPlaced) -> String {
    let (mut decisions, mut failed) = (Vec::with_capacity(placed.turns.len()), Vec::new());
    for turn in placed.turns {
        match turn {
            Ok(body) => decisions.push(body),
            Err(Failed { vms, because }) => failed.push(FailedTurn { vms, because }),
        }
    }
    let shown = BatchShown {
        reserved: placed.reserved,
        failed,
        undecided: placed.undecided,
        ended_early: placed.ended_early,
        without_turn: placed.without_turn,
        decisions,
    };
    let mut text = serde_json::to_string(&shown).unwrap_or_default();
    text.pop();
    text.push_str(",\"decisions\":[");
    text.push_str(&shown.decisions.join(","));
    text.push_str("]}");
    text
}

/// VMs that run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ConfirmedVms)]
struct Confirmed {
    /// Their ids, or tables with them.
    vms: Vec<VmNamed>,
    /// The host on which they run. If their places are on another one, that is a conflict.
    #[serde(default)]
    #[schema(example = "h1")]
    host: Option<String>,
}

/// VMs, by id.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = VmReferences)]
struct Vms {
    /// Their ids, or tables with them.
    vms: Vec<VmNamed>,
}

/// Do something in a turn; gives whether nothing of the inventory is different for it.
fn unless_unchanged<T>(
    state: &mut ClusterState,
    deed: impl FnOnce(&mut ClusterState) -> Result<T, DeploymentError>,
) -> Result<bool, DeploymentError> {
    let before = state.inventory().version();
    deed(state)?;
    Ok(state.inventory().version() == before)
}

/// VMs run where their places were reserved: all of them, or nothing is changed. This can
/// be repeated: for a VM that runs there already nothing changes. A place that has ended in
/// the meantime, or is on another host than the one that is named, is a conflict.
#[utoipa::path(post, path = "/v1/clusters/{cluster}/confirm", operation_id = "confirm_vms", tag = "placing",
    params(("cluster" = String, Path, description = "Name of the cluster")),
    request_body = Confirmed, responses((status = NO_CONTENT)))]
async fn confirm(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Extension(note): Extension<Note>,
    Path(cluster): Path<String>,
    Json(Confirmed { vms, host }): Json<Confirmed>,
) -> Result<StatusCode, Problem> {
    let vms = named::ids(vms);
    note.is_about(vms.iter());
    let cluster = deployment.cluster(&cluster)?;
    let confirmed = cluster.turn_as(&caller, move |state| {
        unless_unchanged(state, |state| state.confirm_and_tell(&vms, host.as_deref()))
    });
    if confirmed.await? {
        note.has_changed_nothing();
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Places that were reserved for VMs are given back: all of them, or nothing is changed.
/// This can be repeated: for a VM whose place has ended already nothing changes. A VM that
/// runs without a place reserved is a conflict.
#[utoipa::path(post, path = "/v1/clusters/{cluster}/cancel", operation_id = "cancel_vms", tag = "placing",
    params(("cluster" = String, Path, description = "Name of the cluster")),
    request_body = Vms, responses((status = NO_CONTENT)))]
async fn cancel(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Extension(note): Extension<Note>,
    Path(cluster): Path<String>,
    Json(Vms { vms }): Json<Vms>,
) -> Result<StatusCode, Problem> {
    let vms = named::ids(vms);
    note.is_about(vms.iter());
    let cluster = deployment.cluster(&cluster)?;
    let cancelled = cluster.turn_as(&caller, move |state| {
        unless_unchanged(state, |state| state.cancel_and_tell(&vms))
    });
    if cancelled.await? {
        note.has_changed_nothing();
    }
    Ok(StatusCode::NO_CONTENT)
}
