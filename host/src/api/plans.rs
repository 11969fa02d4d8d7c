//! Plans of moves: made, looked at, begun, cancelled.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::document::aside;
use super::extract::{Json, Path, Query};
use super::problem::{Code, Problem};
use super::{Page, PageQuery};
use crate::deployment::Deployment;
use crate::deployment::cluster::{PlanShown, Step};
use crate::scheduler::BalanceOptions;

/// Moves of one plan at most.
const MOST_MOVES: usize = 10_000;

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new()
        .routes(routes!(list, plan))
        .routes(routes!(show))
        .routes(routes!(begin))
        .routes(routes!(cancel))
}

/// How a plan is made. What is left out is as usual.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
struct PlanWanted {
    /// A move is made only if it lowers the policy's cost by more than this.
    #[schema(minimum = 0)]
    margin: Option<f64>,
    /// Seconds for which a VM stays where it was moved to.
    #[schema(minimum = 0)]
    cool_down: Option<i64>,
    /// The most moves.
    #[schema(minimum = 1, maximum = 10000)]
    moves: Option<usize>,
}

impl PlanWanted {
    fn options(&self) -> Result<BalanceOptions, Problem> {
        let usual = BalanceOptions::default();
        let options = BalanceOptions {
            margin: self.margin.unwrap_or(usual.margin),
            cool_down: self.cool_down.unwrap_or(usual.cool_down),
            moves: self.moves.unwrap_or(usual.moves),
        };
        let wrong = match &options {
            it if !(it.margin >= 0.0 && it.margin.is_finite()) => "\"margin\" must be 0 or more",
            it if it.cool_down < 0 => "\"cool-down\" must be 0 seconds or more",
            it if !(1..=MOST_MOVES).contains(&it.moves) => "\"moves\" must be from 1 to 10000",
            _ => return Ok(options),
        };
        Err(Problem::new(Code::Unprocessable, wrong))
    }
}

/// The plans that are remembered, oldest first.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/plans", tag = "plans",
    params(("cluster" = String, Path, description = "Name of the cluster"), PageQuery),
    responses((status = OK, body = Page<PlanShown>)))]
async fn list(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
    Query(page): Query<PageQuery>,
) -> Result<Json<Page<PlanShown>>, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let plans = cluster.turn(|state| Ok(state.plans())).await?;
    let is_after =
        |plan: &PlanShown, after: &str| after.parse().is_ok_and(|it: u64| plan.number > it);
    let page = page.page_after(plans, is_after, |plan| plan.number.to_string())?;
    Ok(Json(page))
}

/// Plan moves that the policy's balance unit proposes, that its chain would make, and
/// that lower its cost. Nothing is begun.
#[utoipa::path(post, path = "/v1/clusters/{cluster}/plans", tag = "plans",
    params(("cluster" = String, Path, description = "Name of the cluster")),
    request_body = PlanWanted, responses((status = CREATED, body = PlanShown)))]
async fn plan(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
    Json(wanted): Json<PlanWanted>,
) -> Result<Response, Problem> {
    let options = wanted.options()?;
    let cluster = deployment.cluster(&cluster)?;
    let planner = cluster.turn(|state| state.planner()).await?;
    let plan = aside(move || planner.plan(&options)).await?;
    let shown = cluster
        .turn(move |state| Ok(state.remember_plan(plan)))
        .await?;
    Ok((StatusCode::CREATED, Json(shown)).into_response())
}

/// A plan.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/plans/{number}", tag = "plans",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("number" = u64, Path, description = "Number of the plan")),
    responses((status = OK, body = PlanShown)))]
async fn show(
    State(deployment): State<Arc<Deployment>>,
    Path((cluster, number)): Path<(String, u64)>,
) -> Result<Json<PlanShown>, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let plans = cluster.turn(|state| Ok(state.plans())).await?;
    let plan = plans.into_iter().find(|plan| plan.number == number);
    plan.map(Json)
        .ok_or_else(|| Problem::not_found("plan", &number.to_string()))
}

/// Begin the next moves of a plan, as many as are legal while those before are under
/// way: their places are reserved. Begin again when they are confirmed.
#[utoipa::path(post, path = "/v1/clusters/{cluster}/plans/{number}/begin", tag = "plans",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("number" = u64, Path, description = "Number of the plan")),
    responses((status = OK, body = Step)))]
async fn begin(
    State(deployment): State<Arc<Deployment>>,
    Path((cluster, number)): Path<(String, u64)>,
) -> Result<Json<Step>, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    Ok(Json(
        cluster.turn(move |state| state.begin_plan(number)).await?,
    ))
}

/// How many places were given back.
#[derive(Debug, Serialize, ToSchema)]
struct Cancelled {
    places: usize,
}

/// Give back the places of the moves that were begun and are not confirmed; no more of
/// them are begun.
#[utoipa::path(post, path = "/v1/clusters/{cluster}/plans/{number}/cancel", tag = "plans",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("number" = u64, Path, description = "Number of the plan")),
    responses((status = OK, body = Cancelled)))]
async fn cancel(
    State(deployment): State<Arc<Deployment>>,
    Path((cluster, number)): Path<(String, u64)>,
) -> Result<Json<Cancelled>, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let places = cluster.turn(move |state| state.cancel_plan(number)).await?;
    Ok(Json(Cancelled { places }))
}
