//! What units cost: by cluster, and by unit.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use placewright_deployment::Deployment;
use placewright_deployment::cluster::UnitCost;
use placewright_http::document::written;
use placewright_http::extract::{Path, Query};
use placewright_http::problem::Problem;
use placewright_http::{Caller, Page, PageQuery};

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new()
        .routes(routes!(of_cluster))
        .routes(routes!(of_unit))
}

/// What the units of a cluster's policy have cost its decisions in time and memory, by name of
/// the unit. Counting begins anew whenever the policy or one of its units changes.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/unit-costs", operation_id = "list_unit_costs_of_cluster", tag = "units",
    params(("cluster" = String, Path, description = "Name of the cluster"), PageQuery),
    responses((status = OK, body = Page<UnitCost>)))]
async fn of_cluster(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
    Query(page): Query<PageQuery>,
) -> Result<Response, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let costs = cluster.read(|state| Ok(state.unit_costs())).await?;
    written(move || page.page("unit-costs", costs, |cost: &UnitCost| cost.unit.to_string())).await
}

/// What a unit has cost in time and memory in each cluster whose policy uses it, by name of the
/// cluster. Counting begins anew whenever the policy of the cluster or one of its units changes.
#[utoipa::path(get, path = "/v1/units/{unit}/costs", operation_id = "list_costs_of_unit", tag = "units",
    params(("unit" = String, Path, description = "Name of the unit"), PageQuery),
    responses((status = OK, body = Page<UnitCost>)))]
async fn of_unit(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path(unit): Path<String>,
    Query(page): Query<PageQuery>,
) -> Result<Response, Problem> {
    if deployment.library().current().get(&unit).is_none() {
        return Err(Problem::not_found("unit in force", &unit));
    }
    let clusters = deployment.clusters().into_iter();
    let using = clusters.filter(|cluster| caller.sees(cluster.name()) && cluster.uses(&unit));
    // All are asked before the first has answered.
    let asked: Vec<_> = using
        .map(|cluster| cluster.read(|state| Ok(state.unit_costs())))
        .collect();
    let mut costs = Vec::new();
    for answer in asked {
        let of_cluster: Vec<UnitCost> = answer.await?;
        costs.extend(of_cluster.into_iter().find(|cost| *cost.unit == unit));
    }
    written(move || page.page("costs", costs, |cost: &UnitCost| cost.cluster.to_string())).await
}
