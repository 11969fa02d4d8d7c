//! What happened to a cluster, to be replayed.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::moment;
use placewright_deployment::{Deployment, History};
use placewright_http::Caller;
use placewright_http::answers::Answers;
use placewright_http::document::written;
use placewright_http::extract::{Path, Query};
use placewright_http::problem::Problem;
use placewright_model::seconds_since_1970;

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new().routes(routes!(history))
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[into_params(parameter_in = Query)]
struct HistoryQuery {
    /// Beginning of the history: RFC 3339, or seconds since 1970-01-01 UTC; if not given, as far
    /// back as it is recorded.
    #[param(
        pattern = "^([+]?[0-9]+|[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})?)$",
        example = "2026-11-20T12:00:00Z"
    )]
    since: Option<String>,
}

/// What happened to a cluster, as far as it is recorded: its document when a decision was made,
/// and events from then on, as `placewright simulate` reads them. Of what happened between two
/// decisions it is told as of the later one.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/history", operation_id = "get_history", tag = "decisions",
    params(("cluster" = String, Path, description = "Name of the cluster"), HistoryQuery),
    responses((status = OK, body = History)))]
async fn history(
    State(deployment): State<Arc<Deployment>>,
    Extension(answers): Extension<Arc<Answers>>,
    Extension(caller): Extension<Caller>,
    Path(cluster): Path<String>,
    Query(query): Query<HistoryQuery>,
) -> Result<Response, Problem> {
    let since = moment::of_query("since", query.since.as_deref())?;
    let since = since.map_or(i64::MIN, seconds_since_1970);
    let name = deployment.cluster(&cluster)?.name().clone();
    let making = answers.make(&caller, &name).await?;
    let mut response = written(move || deployment.history(&cluster, since)).await?;
    response.extensions_mut().insert(making);
    Ok(response)
}
