//! Units: what is in force and why, handed in, gone back to, taken out of use.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::contract;
use placewright_deployment::cluster::PausedUnit;
use placewright_deployment::{Deployment, ReplayWanted, UnitReplayed};
use placewright_engine::unit::{Digest, UnitShown};
use placewright_http::document::{aside, long, written};
use placewright_http::extract::{Json, Path, Query};
use placewright_http::pool::Pool;
use placewright_http::problem::{Code, Problem};
use placewright_http::{Caller, NumberedPageQuery, Page, PageQuery};
use placewright_library::history::Entry;
use placewright_library::live::{FileStatus, Library, LibraryOperationError, UnitStatus};
use placewright_library::stage::{
    Candidate, Outcome, ReplayReport, Source, Staging, Trials, UnitStaging,
};
use placewright_model::{Rfc3339, seconds_since_1970};
use placewright_scheduler::Cancel;

/// The header that a signature comes in: 64 bytes in hexadecimal or base64.
const SIGNATURE: &str = "x-unit-signature";

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new()
        .routes(routes!(list, upload))
        .routes(routes!(check))
        .routes(routes!(replay))
        .routes(routes!(show, withdraw))
        .routes(routes!(inspect))
        .routes(routes!(history))
        .routes(routes!(rollback))
        .routes(routes!(enable))
        .routes(routes!(disable))
        .routes(routes!(pin))
        .routes(routes!(unpin))
        .routes(routes!(files))
        .routes(routes!(stagings))
}

fn value(told: &impl Serialize) -> Value {
    serde_json::to_value(told).unwrap_or_default()
}

/// All units, by name: what is in force, and where it came from.
#[utoipa::path(get, path = "/v1/units", operation_id = "list_units", tag = "units", params(PageQuery),
    responses((status = OK, body = Page<UnitStatus>)))]
async fn list(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Query(page): Query<PageQuery>,
) -> Result<Response, Problem> {
    let library = deployment.library().clone();
    written(move || {
        let page = page.page("units", library.units(), |unit: &UnitStatus| {
            unit.name.clone()
        })?;
        let items = page.items.iter();
        Ok::<_, Problem>(Page {
            items: items.map(|unit| caller.shown_unit(value(unit))).collect(),
            next: page.next,
        })
    })
    .await
}

/// A candidate for a unit, and what became of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UnitCandidate)]
struct CandidateShown {
    /// When, in seconds since 1970-01-01 UTC.
    #[schema(example = 1764000000)]
    at: u64,
    /// The same time.
    #[schema(value_type = String, format = DateTime)]
    time: Rfc3339,
    /// The name that it gives itself, if it came so far.
    #[schema(required = true, example = "memory")]
    name: Option<String>,
    /// Its version, as it says.
    #[schema(required = true, example = "1.2.0")]
    version: Option<String>,
    /// SHA-256 of its bytes, in hexadecimal.
    #[schema(value_type = String, example = "9f2c41d07a3be85b6c1d4f90aa27e3518b64c0f2de91735a48cb06f17d3e259c")]
    digest: Digest,
    /// Where it came from.
    source: Source,
    /// What became of it.
    outcome: Outcome,
    /// What recorded decisions would have been, if it was tried on any; not told to tokens that
    /// are for some clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ReplayReport)]
    replay: Option<ReplayReport>,
}

impl From<&Entry> for CandidateShown {
    fn from(entry: &Entry) -> Self {
        let at = seconds_since_1970(entry.at);
        Self {
            at: u64::try_from(at).unwrap_or(0),
            time: Rfc3339(at),
            name: entry.name.clone(),
            version: entry.version.clone(),
            digest: entry.digest,
            source: entry.source.clone(),
            outcome: entry.outcome.clone(),
            replay: entry.replay.clone(),
        }
    }
}

/// The last candidate for a unit, if it was refused.
fn last_refused(deployment: &Deployment, unit: &str) -> Option<CandidateShown> {
    let history = deployment.library().history();
    let last = history.of(unit).next_back();
    let refused = last.filter(|entry| matches!(entry.outcome, Outcome::Refused { .. }));
    refused.map(CandidateShown::from)
}

/// A unit that is not called for a while in a cluster.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PausedUnitOfCluster)]
struct Paused {
    /// Name of the cluster.
    #[schema(value_type = String, example = "north")]
    cluster: Arc<str>,
    #[serde(flatten)]
    paused: PausedUnit,
}

/// A unit that is or was in force under its name.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
struct KnownUnit {
    #[serde(flatten)]
    status: UnitStatus,
    /// Names of the policies that use it.
    #[schema(example = json!(["general"]))]
    policies: Vec<String>,
    /// The clusters in which it is not called for a while because it keeps failing.
    paused: Vec<Paused>,
    /// The last candidate for it, if that was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = CandidateShown)]
    refused: Option<CandidateShown>,
}

/// A unit that was never in force.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
struct AwaitedUnit {
    /// The name.
    #[schema(example = "memory")]
    name: String,
    /// Its file, while that is being staged; not told to tokens that are for some clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "memory-1.3.0.wasm")]
    staging: Option<PathBuf>,
    /// The last candidate for it, if that was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = CandidateShown)]
    refused: Option<CandidateShown>,
}

/// A unit.
#[derive(Debug, ToSchema)]
#[schema(as = UnitDetails)]
#[serde(untagged)]
#[expect(dead_code, reason = "says what of the two is answered")]
enum UnitDetails {
    /// One that is or was in force.
    Known(Box<KnownUnit>),
    /// One that was never in force.
    Awaited(Box<AwaitedUnit>),
}

/// A unit: what is in force, what it says of itself, the policies that use it, and the clusters
/// in which it is not called for a while because it keeps failing (`paused`). If the last
/// candidate for it was refused, `refused` says why. Of a unit that was never in force only these
/// are told: its file, under `staging`, while it is being staged, and why it was refused.
#[utoipa::path(get, path = "/v1/units/{unit}", operation_id = "get_unit", tag = "units",
    params(("unit" = String, Path, description = "Name of the unit")),
    responses((status = OK, body = UnitDetails)))]
async fn show(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path(unit): Path<String>,
) -> Result<Response, Problem> {
    let mut paused = Vec::new();
    for cluster in deployment.clusters() {
        if caller.sees(cluster.name()) && cluster.uses(&unit) {
            let told = cluster.health().paused.clone().into_iter();
            let name = cluster.name().clone();
            paused.extend(told.filter(|it| it.unit == unit).map(|it| Paused {
                cluster: name.clone(),
                paused: it,
            }));
        }
    }
    let shown = aside(move || {
        let units = deployment.library().units();
        let status = units.into_iter().find(|known| known.name == unit);
        let Some(status) = status else {
            let awaited = AwaitedUnit {
                staging: deployment.library().staging().remove(&unit),
                refused: last_refused(&deployment, &unit),
                name: unit,
            };
            if awaited.staging.is_none() && awaited.refused.is_none() {
                return Err(Problem::not_found("unit", &awaited.name));
            }
            return Ok(caller.shown_unit(value(&awaited)));
        };
        let mut policies = Trials::users(&*deployment, &unit);
        policies.retain(|policy| caller.policy(&deployment, policy).is_ok());
        let known = KnownUnit {
            status,
            policies,
            paused,
            refused: last_refused(&deployment, &unit),
        };
        Ok::<_, Problem>(caller.shown_unit(value(&known)))
    });
    long(shown.await?).await
}

/// What the unit in force is: its parts, what they read, the reasons that they give, and
/// its settings.
#[utoipa::path(get, path = "/v1/units/{unit}/inspection", operation_id = "inspect_unit", tag = "units",
    params(("unit" = String, Path, description = "Name of the unit, or another name that policies may call it by")),
    responses((status = OK, body = UnitShown)))]
async fn inspect(
    State(deployment): State<Arc<Deployment>>,
    Path(unit): Path<String>,
) -> Result<Response, Problem> {
    let current = deployment.library().current();
    written(move || {
        let found = placewright_policy::unit_named(&current, &unit).map(UnitShown::new);
        found.ok_or_else(|| Problem::not_found("unit in force", &unit))
    })
    .await
}

/// What became of candidates for a unit, the newest first.
#[utoipa::path(get, path = "/v1/units/{unit}/history", operation_id = "list_unit_candidates", tag = "units",
    params(("unit" = String, Path, description = "Name of the unit"), NumberedPageQuery),
    responses((status = OK, body = Page<CandidateShown>)))]
async fn history(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path(unit): Path<String>,
    Query(page): Query<PageQuery>,
) -> Result<Response, Problem> {
    written(move || {
        let history = deployment.library().history();
        let entries = history
            .of(&unit)
            .rev()
            .map(|entry| value(&CandidateShown::from(entry)))
            .enumerate();
        let has_entries = history.of(&unit).next().is_some();
        if !has_entries
            && !deployment
                .library()
                .units()
                .iter()
                .any(|it| it.name == unit)
        {
            return Err(Problem::not_found("unit", &unit));
        }
        let after = page.after_number("an entry")?;
        let is_after = move |(number, _): &(usize, Value), _: &str| Some(*number as u64) > after;
        let page = page.page_after(entries, is_after, |(number, _)| number.to_string())?;
        Ok::<_, Problem>(Page {
            items: page
                .items
                .into_iter()
                .map(|(_, entry)| caller.shown_unit(entry))
                .collect(),
            next: page.next,
        })
    })
    .await
}

/// The bytes of a unit. Their type must be told: pages of other sites can send bytes of no
/// type, or of a form's, without asking whether they may.
pub(super) fn candidate(headers: &HeaderMap, bytes: Bytes) -> Result<Candidate, Problem> {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    let known = ["application/wasm", "application/octet-stream"];
    if !known
        .iter()
        .any(|known| essence.eq_ignore_ascii_case(known))
    {
        let sentence = "send the component with Content-Type: application/wasm";
        return Err(Problem::new(Code::UnsupportedType, sentence));
    }
    if bytes.is_empty() {
        let sentence = "the body is empty; the component belongs here";
        return Err(Problem::new(Code::BadRequest, sentence));
    }
    let signature = headers.get(SIGNATURE).map(|it| Arc::from(it.as_bytes()));
    Ok(Candidate {
        bytes: Arc::from(&bytes[..]),
        signature,
    })
}

/// What was done with a candidate, step by step. One that was refused is a problem of
/// the request.
///
/// # Errors
/// If it cannot be written.
pub(super) async fn staged(staging: Staging) -> Result<Response, Problem> {
    let status = match &staging.outcome {
        Outcome::Refused { .. } => StatusCode::UNPROCESSABLE_ENTITY,
        _ => StatusCode::OK,
    };
    Ok((status, long(staging).await?).into_response())
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[into_params(parameter_in = Query)]
struct UploadQuery {
    /// Put it in force even if policies cannot run with it. Their clusters decide nothing until
    /// they have other policies; the step `policies` names them. False if not given.
    override_policies: bool,
}

/// Hand in a unit: it is staged, each step is told, and it comes into force or is
/// refused while the last good one goes on. It stands in front of a file of its name
/// until that changes.
#[utoipa::path(put, path = "/v1/units", operation_id = "put_unit", tag = "units",
    params(UploadQuery, ("X-Unit-Signature" = Option<String>, Header, description = "ed25519 signature in hexadecimal or base64")),
    request_body(description = "The component, at most as large as the option request-body says",
        content((contract::Component = "application/wasm"), (contract::Component = "application/octet-stream"))),
    responses((status = OK, body = Staging, description = "In force"),
              (status = UNPROCESSABLE_ENTITY, body = Staging, description = "Refused, and why")))]
async fn upload(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<UploadQuery>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Result<Response, Problem> {
    let candidate = candidate(&headers, bytes)?;
    let library = deployment.library().clone();
    let staging = aside(move || {
        Ok::<_, Problem>(match query.override_policies {
            true => library.upload_overriding_policies(&candidate, &caller),
            false => library.upload(&candidate, &caller),
        })
    });
    staged(staging.await?).await
}

/// Go through all steps but the last, and change nothing.
#[utoipa::path(post, path = "/v1/units/check", operation_id = "check_unit", tag = "units",
    params(("X-Unit-Signature" = Option<String>, Header, description = "ed25519 signature in hexadecimal or base64")),
    request_body(description = "The component, at most as large as the option request-body says",
        content((contract::Component = "application/wasm"), (contract::Component = "application/octet-stream"))),
    responses((status = OK, body = Staging, description = "It would come into force"),
              (status = UNPROCESSABLE_ENTITY, body = Staging, description = "Refused, and why")))]
async fn check(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Result<Response, Problem> {
    let candidate = candidate(&headers, bytes)?;
    let library = deployment.library().clone();
    let staging =
        aside(move || Ok::<_, Problem>(library.try_out(&candidate, &caller.name))).await?;
    staged(staging).await
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ReplayQuery {
    /// How many of each cluster's newest decisions are made again; 200 if not given.
    #[param(minimum = 1, maximum = 10000)]
    decisions: Option<usize>,
    /// How many of each cluster's decisions that differ are explained; 5 if not given.
    #[param(minimum = 0, maximum = 100)]
    examples: Option<usize>,
}

impl ReplayQuery {
    fn wanted(&self) -> Result<ReplayWanted, Problem> {
        let wanted = ReplayWanted {
            decisions: self.decisions.unwrap_or(200),
            examples: self.examples.unwrap_or(5),
        };
        let wrong = match wanted {
            it if !(1..=10_000).contains(&it.decisions) => "\"decisions\" must be from 1 to 10000",
            it if it.examples > 100 => "\"examples\" must be from 0 to 100",
            _ => return Ok(wanted),
        };
        Err(Problem::new(Code::InvalidParameter, wrong))
    }
}

/// Make recorded decisions again with a candidate, and change nothing: what would come
/// out differently, and why, cluster by cluster.
#[utoipa::path(post, path = "/v1/units/replay", operation_id = "replay_unit", tag = "units",
    params(ReplayQuery, ("X-Unit-Signature" = Option<String>, Header, description = "ed25519 signature in hexadecimal or base64")),
    request_body(description = "The component, at most as large as the option request-body says",
        content((contract::Component = "application/wasm"), (contract::Component = "application/octet-stream"))),
    responses((status = OK, body = UnitReplayed),
              (status = UNPROCESSABLE_ENTITY, body = Staging, description = "Refused, and why")))]
async fn replay(
    State(deployment): State<Arc<Deployment>>,
    Extension(questions): Extension<Arc<Pool>>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<ReplayQuery>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Result<Response, Problem> {
    let wanted = query.wanted()?;
    let candidate = candidate(&headers, bytes)?;
    // Of all clusters.
    let about = (&caller.name.clone(), &Arc::from(""));
    let replay =
        move |cancel: Cancel| deployment.replay_unit(&candidate, &caller.name, wanted, &cancel);
    let replayed = questions.run(about, replay).await?;
    match &replayed.staging.outcome {
        Outcome::Refused { .. } => staged(replayed.staging).await,
        _ => long(replayed).await,
    }
}

/// To which bytes a unit goes back.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
struct RollbackTo {
    /// The digest, 64 hexadecimal digits or the first 8 of them or more: one that was in force
    /// before. If not given, the last one that was.
    #[schema(example = "9f2c41d07a3be85b6c1d4f90aa27e3518b64c0f2de91735a48cb06f17d3e259c")]
    digest: Option<String>,
}

/// Go back to an earlier digest: the one that was in force before, if none is named.
#[utoipa::path(post, path = "/v1/units/{unit}/rollback", operation_id = "roll_back_unit", tag = "units",
    params(("unit" = String, Path, description = "Name of the unit")),
    request_body = Option<RollbackTo>,
    responses((status = OK, body = Staging, description = "In force"),
              (status = UNPROCESSABLE_ENTITY, body = Staging, description = "Refused, and why")))]
async fn rollback(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path(unit): Path<String>,
    to: Option<Json<RollbackTo>>,
) -> Result<Response, Problem> {
    let Json(RollbackTo { digest }) = to.unwrap_or_default();
    let library = deployment.library().clone();
    let staging = aside(move || {
        let digest = match digest {
            Some(digest) => library.digest_of(&unit, &digest)?,
            None => library.digest_before(&unit)?,
        };
        library.rollback(&unit, digest, &caller)
    });
    let staging = staging.await?;
    staged(staging).await
}

async fn alter(
    deployment: &Deployment,
    caller: Caller,
    unit: String,
    alter: fn(&Library, &str, &str) -> Result<(), LibraryOperationError>,
) -> Result<StatusCode, Problem> {
    let library = deployment.library().clone();
    aside(move || alter(&library, &unit, &caller.name)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// End what was handed in or gone back to: the file, or what comes with the program, is
/// in force again.
#[utoipa::path(delete, path = "/v1/units/{unit}", operation_id = "withdraw_unit", tag = "units",
    params(("unit" = String, Path, description = "Name of the unit")),
    responses((status = NO_CONTENT)))]
async fn withdraw(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path(unit): Path<String>,
) -> Result<StatusCode, Problem> {
    alter(&deployment, caller, unit, Library::withdraw).await
}

/// Have the unit of that name in force again.
#[utoipa::path(post, path = "/v1/units/{unit}/enable", operation_id = "enable_unit", tag = "units",
    params(("unit" = String, Path, description = "Name of the unit")),
    responses((status = NO_CONTENT)))]
async fn enable(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path(unit): Path<String>,
) -> Result<StatusCode, Problem> {
    alter(&deployment, caller, unit, Library::enable).await
}

/// Have no unit of that name in force. Refused while policies use it.
#[utoipa::path(post, path = "/v1/units/{unit}/disable", operation_id = "disable_unit", tag = "units",
    params(("unit" = String, Path, description = "Name of the unit")),
    responses((status = NO_CONTENT)))]
async fn disable(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path(unit): Path<String>,
) -> Result<StatusCode, Problem> {
    alter(&deployment, caller, unit, Library::disable).await
}

/// Keep what is in force, whatever its file becomes.
#[utoipa::path(post, path = "/v1/units/{unit}/pin", operation_id = "pin_unit", tag = "units",
    params(("unit" = String, Path, description = "Name of the unit")),
    responses((status = NO_CONTENT)))]
async fn pin(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path(unit): Path<String>,
) -> Result<StatusCode, Problem> {
    alter(&deployment, caller, unit, Library::pin).await
}

/// Take the pin off.
#[utoipa::path(post, path = "/v1/units/{unit}/unpin", operation_id = "unpin_unit", tag = "units",
    params(("unit" = String, Path, description = "Name of the unit")),
    responses((status = NO_CONTENT)))]
async fn unpin(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path(unit): Path<String>,
) -> Result<StatusCode, Problem> {
    alter(&deployment, caller, unit, Library::unpin).await
}

/// The files of the watched folder, by path: what each offers, and what is wrong with it.
#[utoipa::path(get, path = "/v1/unit-files", operation_id = "list_unit_files", tag = "units", params(PageQuery),
    responses((status = OK, body = Page<FileStatus>)))]
async fn files(
    State(deployment): State<Arc<Deployment>>,
    Query(page): Query<PageQuery>,
) -> Result<Response, Problem> {
    let library = deployment.library().clone();
    let path = |file: &FileStatus| file.path.display().to_string();
    written(move || page.page("unit-files", library.files(), path)).await
}

/// The candidates that are being staged now, with the steps that were taken and the one that is
/// being taken, in the order in which they began. Of one that is not in the list any more the
/// history of its unit says what became of it.
#[utoipa::path(get, path = "/v1/unit-stagings", operation_id = "list_unit_stagings", tag = "units", params(NumberedPageQuery),
    responses((status = OK, body = Page<UnitStaging>)))]
async fn stagings(
    State(deployment): State<Arc<Deployment>>,
    Query(page): Query<PageQuery>,
) -> Result<Response, Problem> {
    let library = deployment.library().clone();
    written(move || {
        let after = page.after_number("a candidate")?;
        let is_after = move |staging: &UnitStaging, _: &str| Some(staging.number) > after;
        page.page_after(library.under_way(), is_after, |staging| {
            staging.number.to_string()
        })
    })
    .await
}
