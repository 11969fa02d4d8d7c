//! Candidates beside units in force: they judge what is decided, and decide nothing.

use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::contract;
use super::units::{candidate, staged};
use placewright_deployment::{Deployment, ShadowShown};
use placewright_http::Caller;
use placewright_http::document::{aside, written};
use placewright_http::extract::{Path, Query};
use placewright_http::problem::{Code, Problem};
use placewright_library::stage::Staging;

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new()
        .routes(routes!(begin))
        .routes(routes!(show, discard))
        .routes(routes!(promote))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ShadowQuery {
    /// Judge every so many decisions; 1, if not given, is all of them. The cluster waits
    /// while a candidate judges.
    #[param(minimum = 1, maximum = 1000000)]
    every: Option<u64>,
}

/// Let a candidate judge what is decided in the clusters that use the unit of its name.
#[utoipa::path(post, path = "/v1/units/shadow", operation_id = "begin_shadow", tag = "units",
    params(ShadowQuery, ("X-Unit-Signature" = Option<String>, Header, description = "ed25519 signature in hexadecimal or base64")),
    request_body(description = "The component, at most as large as the option request-body says",
        content((contract::Component = "application/wasm"), (contract::Component = "application/octet-stream"))),
    responses((status = OK, body = Staging, description = "It judges from now on"),
              (status = UNPROCESSABLE_ENTITY, body = Staging, description = "Refused, and why")))]
async fn begin(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<ShadowQuery>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Result<Response, Problem> {
    let every = query.every.unwrap_or(1);
    if !(1..=1_000_000).contains(&every) {
        let sentence = "\"every\" must be from 1 to 1000000";
        return Err(Problem::new(Code::InvalidParameter, sentence));
    }
    let candidate = candidate(&headers, bytes)?;
    let staging = aside(move || deployment.begin_shadow(&candidate, &caller, every)).await?;
    staged(staging).await
}

/// What the candidate has come to so far: agreement of choices and ranks, time, failures.
#[utoipa::path(get, path = "/v1/units/{unit}/shadow", operation_id = "get_shadow", tag = "units",
    params(("unit" = String, Path, description = "Name of the unit")),
    responses((status = OK, body = ShadowShown)))]
async fn show(
    State(deployment): State<Arc<Deployment>>,
    Path(unit): Path<String>,
) -> Result<Response, Problem> {
    written(move || deployment.shadow(&unit)).await
}

/// End the candidate.
#[utoipa::path(delete, path = "/v1/units/{unit}/shadow", operation_id = "discard_shadow", tag = "units",
    params(("unit" = String, Path, description = "Name of the unit")),
    responses((status = NO_CONTENT)))]
async fn discard(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path(unit): Path<String>,
) -> Result<StatusCode, Problem> {
    aside(move || deployment.discard_shadow(&unit, &caller.name)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Stage the candidate as if it had been handed in now.
#[utoipa::path(post, path = "/v1/units/{unit}/shadow/promote", operation_id = "promote_shadow", tag = "units",
    params(("unit" = String, Path, description = "Name of the unit")),
    responses((status = OK, body = Staging, description = "In force"),
              (status = UNPROCESSABLE_ENTITY, body = Staging, description = "Refused, and why")))]
async fn promote(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path(unit): Path<String>,
) -> Result<Response, Problem> {
    let staging = aside(move || deployment.promote_shadow(&unit, &caller)).await?;
    staged(staging).await
}
