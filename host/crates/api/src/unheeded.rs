//! Needs of VMs that no filter of the cluster's policy checks.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use placewright_chain::UnheededInCluster;
use placewright_deployment::Deployment;
use placewright_deployment::cluster::Cluster;
use placewright_http::document::{aside, written};
use placewright_http::extract::Path;
use placewright_http::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new().routes(routes!(list))
}

/// An answer, and which needs of VMs go unheeded in the cluster that it is about.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct WithUnheeded<T> {
    #[serde(flatten)]
    inner: T,
    /// Needs of VMs that have a place which no filter of the policy checks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unheeded: Vec<UnheededInCluster>,
}

/// The answer with the needs that go unheeded in the cluster now.
pub(super) async fn with<T>(cluster: &Cluster, inner: T) -> Result<WithUnheeded<T>, Problem> {
    let unheeded = unheeded(cluster).await?;
    Ok(WithUnheeded { inner, unheeded })
}

/// Needs of VMs that have a place in the cluster which no filter of its policy checks: what
/// becomes of a request with each, which VMs have it, and which units check it.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/unheeded", operation_id = "list_unheeded_needs", tag = "clusters",
    params(("cluster" = String, Path, description = "Name of the cluster")),
    responses((status = OK, body = Vec<UnheededInCluster>)))]
async fn list(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
) -> Result<Response, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let snapshot = cluster.snapshot_with_rules().await?;
    written(move || Ok::<_, Problem>(snapshot.unheeded())).await
}

async fn unheeded(cluster: &Cluster) -> Result<Vec<UnheededInCluster>, Problem> {
    let snapshot = cluster.snapshot_with_rules().await?;
    aside(move || Ok::<_, Problem>(snapshot.unheeded())).await
}
