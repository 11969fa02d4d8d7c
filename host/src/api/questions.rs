//! Why not there, what if, how many more: asked of a copy of the cluster.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::document::{Document, aside, json};
use super::extract::{Path, Query};
use super::placing::{one, requests};
use super::problem::{Code, Problem};
use crate::deployment::cluster::Kept;
use crate::deployment::{Deployment, DeploymentError};

/// The most VMs that a question about room counts.
const MOST: usize = 100_000;

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new()
        .routes(routes!(why))
        .routes(routes!(capacity))
        .routes(routes!(failure))
}

async fn copy(deployment: &Deployment, cluster: &str) -> Result<Kept, Problem> {
    let cluster = deployment.cluster(cluster)?;
    Ok(cluster.turn(|state| state.copy()).await?)
}

async fn answer<T: Serialize + 'static>(
    kept: Kept,
    ask: impl FnOnce(&Kept) -> Result<T, DeploymentError> + Send + 'static,
) -> Result<Response, Problem> {
    let text = aside(move || {
        let answer = ask(&kept)?;
        Ok::<_, DeploymentError>(serde_json::to_string(&answer).unwrap_or_default())
    });
    Ok(json(text.await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct WhyQuery {
    /// Id of the host that is asked about.
    host: String,
}

/// Why a VM would not run on a host: which unit keeps it out, or how much worse it is
/// than the chosen one and through which unit. Nothing is changed.
#[utoipa::path(post, path = "/v1/clusters/{cluster}/why", tag = "questions",
    params(("cluster" = String, Path, description = "Name of the cluster"), WhyQuery),
    request_body(content = Object, description = "A VM, or a request with its VMs"),
    responses((status = OK, body = Object)))]
async fn why(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
    Query(query): Query<WhyQuery>,
    document: Document,
) -> Result<Response, Problem> {
    let found = deployment.cluster(&cluster)?;
    let request = one(requests(&deployment, &found, document).await?)?;
    let kept = copy(&deployment, &cluster).await?;
    answer(kept, move |kept| {
        Ok(kept.situation().why(&request, &query.host)?)
    })
    .await
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct CapacityQuery {
    /// Stop counting there; 10000 if not given.
    #[param(minimum = 1, maximum = 100000)]
    most: Option<usize>,
}

/// How many more VMs of this shape fit.
#[utoipa::path(post, path = "/v1/clusters/{cluster}/capacity", tag = "questions",
    params(("cluster" = String, Path, description = "Name of the cluster"), CapacityQuery),
    request_body(content = Object, description = "A VM"),
    responses((status = OK, body = Object)))]
async fn capacity(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
    Query(query): Query<CapacityQuery>,
    document: Document,
) -> Result<Response, Problem> {
    let most = query.most.unwrap_or(10_000);
    if !(1..=MOST).contains(&most) {
        let sentence = format!("\"most\" must be from 1 to {MOST}");
        return Err(Problem::new(Code::InvalidParameter, sentence));
    }
    let found = deployment.cluster(&cluster)?;
    let request = one(requests(&deployment, &found, document).await?)?;
    let kept = copy(&deployment, &cluster).await?;
    answer(kept, move |kept| {
        Ok(kept.situation().capacity(&request, most)?)
    })
    .await
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[into_params(parameter_in = Query)]
struct FailureQuery {
    /// Ids of the hosts that fail together, with commas between them; if not given, each
    /// host is supposed to fail alone.
    without: Option<String>,
}

/// What would happen if hosts failed: where their VMs would go, and which would find no
/// place; a list with one entry for the hosts that fail together. Without hosts: one for
/// each host of the cluster (N+1).
#[utoipa::path(post, path = "/v1/clusters/{cluster}/what-if", tag = "questions",
    params(("cluster" = String, Path, description = "Name of the cluster"), FailureQuery),
    responses((status = OK, body = Vec<serde_json::Value>)))]
async fn failure(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
    Query(query): Query<FailureQuery>,
) -> Result<Response, Problem> {
    let kept = copy(&deployment, &cluster).await?;
    let now = deployment.now();
    match query.without {
        Some(without) => {
            answer(kept, move |kept| {
                let hosts: Vec<String> = without.split(',').map(str::to_owned).collect();
                Ok([kept.situation().without_hosts(&hosts, now, None)?])
            })
            .await
        }
        None => {
            let ask = move |kept: &Kept| Ok(kept.situation().n_plus_one(now, None, |_, _| {})?);
            answer(kept, ask).await
        }
    }
}
