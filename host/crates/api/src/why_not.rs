//! Why not there, asked of a recorded decision.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::decisions::past_within;
use placewright_deployment::Deployment;
use placewright_http::Caller;
use placewright_http::document::json;
use placewright_http::extract::{Path, Query};
use placewright_http::pool::Pool;
use placewright_http::problem::Problem;
use placewright_scheduler::questions::Why;

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new().routes(routes!(why))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct WhyQuery {
    /// Id of the host that is asked about.
    host: String,
    /// Name of a policy: tell how the decision comes out by it as it is now, with the units that
    /// are in force, on the inventory of then. If not given, by the policy and the units that
    /// decided.
    policy: Option<String>,
}

/// Why the VMs of a decision did not go to a host: on the inventory of then, the filter that kept
/// them off and the smallest changes of the request or the host that would have let it through,
/// or how much worse it was than the chosen one.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/decisions/{number}/why", operation_id = "ask_why_of_decision", tag = "decisions",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("number" = u64, Path, description = "Number of the decision"), WhyQuery),
    responses((status = OK, body = Why)))]
async fn why(
    State(deployment): State<Arc<Deployment>>,
    Extension(questions): Extension<Arc<Pool>>,
    Extension(caller): Extension<Caller>,
    Path((cluster, number)): Path<(String, u64)>,
    Query(query): Query<WhyQuery>,
) -> Result<Response, Problem> {
    let asked = (&questions, &caller);
    let WhyQuery { host, policy } = query;
    let decision = ((&*cluster, number), policy.as_deref());
    let ask = past_within(&deployment, asked, decision, move |past, cancel| {
        let why = past.why(&host, cancel)?;
        Ok(serde_json::to_string(&why).unwrap_or_default())
    });
    Ok(json(ask.await?))
}
