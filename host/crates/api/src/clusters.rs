//! Clusters: made, looked at, set, taken out.

mod patch;
mod settings;

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::contract;
use super::unheeded::{self, WithUnheeded};
use placewright_deployment::cluster::{Cluster, ClusterSettings, Counted, PausedUnit};
use placewright_deployment::{Attach, Deployment, DeploymentError};
use placewright_document::ClusterDocument;
use placewright_http::document::{Document, aside, long};
use placewright_http::extract::{Path, Query};
use placewright_http::problem::Problem;
use placewright_http::{Caller, Page, PageQuery};
use placewright_plugins::DEFAULT_POLICY;

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(show, remove))
        .merge(settings::routes())
}

/// A cluster.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = Cluster)]
struct ClusterShown {
    /// Its name.
    #[schema(value_type = String, example = "north")]
    name: Arc<str>,
    /// Left out of a cluster that is out of service.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ClusterSettings)]
    settings: Option<ClusterSettings>,
    /// Revision of the policy that decides. Left out of a cluster that is out of service.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u64, example = 3)]
    policy_revision: Option<u64>,
    /// Why nothing is decided: the policy cannot run, or the cluster is out of service.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "the policy has no unit \"memory\"")]
    broken: Option<String>,
    /// Units that keep failing and are not called for a while.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    paused: Vec<PausedUnit>,
    /// Units that answered differently though nothing had changed: their answers are not kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, value_type = Vec<String>, example = json!(["memory"]))]
    quarantined: Vec<Arc<str>>,
    /// How many of each there are. Left out of a cluster that is out of service.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Counted)]
    counted: Option<Counted>,
    /// Requests that wait for their turn.
    #[schema(example = 0)]
    waiting: usize,
    /// Of a document that was just sent: what is allowed and surely a mistake.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(example = json!(["VM \"web-3\" has no \"memory\": it counts as 0"]))]
    warnings: Vec<String>,
}

/// A cluster as it is after its last turn: nobody waits for the one that is under way.
fn shown(cluster: &Cluster) -> ClusterShown {
    let health = cluster.health();
    let is_dead = cluster.has_panicked();
    let dead = "a fault of the program has ended it; it is started again".to_owned();
    ClusterShown {
        name: cluster.name().clone(),
        settings: Some((*cluster.settings()).clone()),
        policy_revision: Some(health.policy_revision),
        broken: is_dead.then_some(dead).or(health.broken.clone()),
        paused: health.paused.clone(),
        quarantined: health.quarantined.clone(),
        counted: Some(cluster.counted()),
        waiting: cluster.waiting(),
        warnings: Vec::new(),
    }
}

/// A cluster that could not be read.
fn unread(name: Arc<str>, why: String) -> ClusterShown {
    ClusterShown {
        name,
        settings: None,
        policy_revision: None,
        broken: Some(why),
        paused: Vec::new(),
        quarantined: Vec::new(),
        counted: None,
        waiting: 0,
        warnings: Vec::new(),
    }
}

/// The clusters that the token is for, by name.
#[utoipa::path(get, path = "/v1/clusters", operation_id = "list_clusters", tag = "clusters", params(PageQuery),
    responses((status = OK, body = Page<ClusterShown>)))]
async fn list(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Query(page): Query<PageQuery>,
) -> Result<Response, Problem> {
    let clusters = deployment.clusters().into_iter();
    let running = clusters.filter(|cluster| caller.sees(cluster.name()));
    let broken = deployment.unread_clusters().into_iter();
    let broken = broken.filter(|it| caller.sees(&it.name));
    let broken = broken.map(|it| unread(it.name, it.why));
    let all = running.map(|cluster| shown(&cluster)).chain(broken);
    let page = page.page("clusters", all, |cluster: &ClusterShown| {
        cluster.name.to_string()
    })?;
    long(page).await
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct CreateQuery {
    /// Name of the policy that decides; general if not given.
    policy: Option<String>,
}

/// Make a cluster of a document: its name, hosts, VMs, groups and attributes.
#[utoipa::path(post, path = "/v1/clusters", operation_id = "create_cluster", tag = "clusters", params(CreateQuery),
    request_body(content = contract::ClusterDocument, description = "The cluster's document, in JSON or TOML"),
    responses((status = CREATED, body = WithUnheeded<ClusterShown>,
        headers(("Location" = String, description = "Path of the cluster")))))]
async fn create(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<CreateQuery>,
    document: Document,
) -> Result<Response, Problem> {
    let read = |text: &str, file| {
        // Nothing else says what it is called: the body is no file with a name.
        let document = ClusterDocument::read_as(text, file, "")?;
        match document.name.is_empty() {
            true => Err(DeploymentError::Refused(
                "a cluster needs \"name\"".to_owned(),
            )),
            false => Ok(document),
        }
    };
    let (document, weight) = document.read(read).await?;
    let created = aside(move || {
        let _weight = weight;
        let warnings = document.warnings();
        let attach = Attach {
            policy: query.policy.unwrap_or_else(|| DEFAULT_POLICY.to_owned()),
            by: Some(caller.name),
            ..Attach::default()
        };
        let cluster = deployment.create_cluster(document, attach)?;
        Ok::<_, DeploymentError>((cluster, warnings))
    });
    let (cluster, warnings) = created.await?;
    let shown = ClusterShown {
        warnings,
        ..shown(&cluster)
    };
    let created = unheeded::with(&cluster, shown).await?;
    let mut response = (StatusCode::CREATED, long(created).await?).into_response();
    // Names of clusters are plain; one that were not would be none of a header.
    if let Ok(location) = HeaderValue::from_str(&format!("/v1/clusters/{}", cluster.name())) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

/// A cluster.
#[utoipa::path(get, path = "/v1/clusters/{cluster}", operation_id = "get_cluster", tag = "clusters",
    params(("cluster" = String, Path, description = "Name of the cluster")),
    responses((status = OK, body = ClusterShown)))]
async fn show(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
) -> Result<Response, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    long(shown(&cluster)).await
}

/// Take a cluster out, with everything of it.
#[utoipa::path(delete, path = "/v1/clusters/{cluster}", operation_id = "delete_cluster", tag = "clusters",
    params(("cluster" = String, Path, description = "Name of the cluster")),
    responses((status = NO_CONTENT)))]
async fn remove(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path(cluster): Path<String>,
) -> Result<StatusCode, Problem> {
    aside(move || deployment.remove_cluster(&cluster, &caller)).await?;
    Ok(StatusCode::NO_CONTENT)
}
