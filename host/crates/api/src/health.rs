//! Whether the server lives, whether it can decide, and what it counts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CONTENT_TYPE, VARY};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{contract, openapi};
use placewright_deployment::Deployment;
use placewright_http::document::{aside, json};
use placewright_http::extract::{Json, Short};
use placewright_http::problem::{Code, Problem};
use placewright_records::telemetry::{METRICS_TYPE, PLAIN_METRICS_TYPE, Telemetry, plain};

/// A collector of metrics waits at most this long for clusters that are busy; of those that take
/// longer it gets the figures of the last snapshot.
const PATIENCE: Duration = Duration::from_secs(1);

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new()
        .routes(routes!(health))
        .routes(routes!(ready))
        .routes(routes!(metrics))
        .routes(routes!(document))
}

/// The server lives.
#[derive(Debug, Serialize, ToSchema)]
struct Health {
    /// Always "ok".
    #[schema(example = "ok")]
    status: &'static str,
    /// Version of the program.
    #[schema(example = "0.1.0")]
    version: &'static str,
}

/// Whether the server lives.
#[utoipa::path(
    get, path = "/v1/health", operation_id = "get_health", tag = "server",
    responses((status = OK, body = Health))
)]
async fn health() -> Json<Health> {
    Json(Health {
        status: "ok",
        version: env!("CARGO_PKG_VERSION"),
    })
}

/// The server can decide.
#[derive(Debug, Serialize, ToSchema)]
struct Ready {
    /// Always true.
    ready: bool,
    /// How many clusters stand still, or have a policy that cannot run; the others decide.
    #[serde(rename = "broken-clusters", skip_serializing_if = "is_zero")]
    #[schema(required = false, example = 0)]
    broken_clusters: usize,
}

impl Short for Health {}

impl Short for Ready {}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Whether the server can decide: the store is read, the units and policies that the folders
/// held at its start are in force or refused, and it does not stop.
#[utoipa::path(
    get, path = "/v1/ready", operation_id = "get_readiness", tag = "server",
    responses(
        (status = OK, body = Ready),
        (status = SERVICE_UNAVAILABLE, description = "Not yet, or not any more",
         body = placewright_http::problem::ProblemBody, content_type = "application/problem+json"),
    )
)]
async fn ready(
    State(deployment): State<Arc<Deployment>>,
    Extension(stop): Extension<placewright_http::Stop>,
) -> Result<Json<Ready>, Problem> {
    if stop.is_requested() {
        return Err(Problem::new(Code::Unavailable, "the server stops"));
    }
    match deployment.awaited().as_slice() {
        [] => Ok(Json(Ready {
            ready: true,
            broken_clusters: deployment.broken_clusters().len(),
        })),
        awaited => Err(Problem::new(
            Code::Unavailable,
            format!("the server waits for {}", awaited.join(", ")),
        )),
    }
}

/// All metrics, as text in the format of OpenMetrics; in the older text format of Prometheus for
/// who accepts `text/plain` and not OpenMetrics. A cluster that is out of service has none of
/// what its hosts have.
#[utoipa::path(
    get, path = "/metrics", operation_id = "get_metrics", tag = "server",
    responses((status = OK, content(
        (String = "application/openmetrics-text"), (String = "text/plain"))))
)]
async fn metrics(
    State(deployment): State<Arc<Deployment>>,
    Extension(telemetry): Extension<Arc<Telemetry>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let mut snapshots = Vec::new();
    let until = Instant::now() + PATIENCE;
    for cluster in deployment.clusters() {
        let left = until.saturating_duration_since(Instant::now());
        snapshots.extend(cluster.snapshot_within(left).await);
    }
    let is_plain = wants_plain(&headers);
    let now = deployment.now();
    let written = aside(move || {
        let capacity = snapshots.iter().map(|snapshot| snapshot.capacity(now));
        let capacity: Vec<_> = capacity.collect();
        let text = telemetry.text_with(&capacity, &deployment.quota_levels());
        let text = text.map_err(|error| Problem::internal(&error))?;
        Ok::<_, Problem>(match is_plain {
            true => plain(&text),
            false => text,
        })
    });
    let text = written.await?;
    let format = match is_plain {
        true => PLAIN_METRICS_TYPE,
        false => METRICS_TYPE,
    };
    Ok(([(CONTENT_TYPE, format), (VARY, "accept")], text).into_response())
}

/// Whether a collector reads the older text format alone.
fn wants_plain(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter();
    let accepted: Vec<&str> = accepted.filter_map(|it| it.to_str().ok()).collect();
    let names = |format: &str| accepted.iter().any(|it| it.contains(format));
    names("text/plain") && !names("openmetrics-text")
}

/// This API in OpenAPI 3.1.
#[utoipa::path(
    get, path = "/v1/openapi.json", operation_id = "get_openapi", tag = "server",
    responses((status = OK, body = contract::OpenApiDocument))
)]
async fn document(headers: HeaderMap) -> Response {
    match openapi::text() {
        Some(text) => text.answer(&headers),
        None => json(openapi::openapi().to_string()),
    }
}
