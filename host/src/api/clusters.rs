//! Clusters: made, looked at, set, taken out.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::document::{Document, aside};
use super::extract::{Json, Path, Query};
use super::problem::{Code, Problem};
use super::unheeded::{self, WithUnheeded};
use super::{Caller, Page, PageQuery, revision};
use crate::deployment::cluster::{
    Cluster, ClusterSettings, Counted, Override, PausedUnit, PeriodicBalance,
};
use crate::deployment::{Attach, Deployment, DeploymentError};
use crate::document::ClusterDocument;
use crate::plugins::DEFAULT_POLICY;

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(show, remove))
        .routes(routes!(settings, set))
}

/// A cluster.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
struct ClusterShown {
    #[schema(value_type = String)]
    name: Arc<str>,
    settings: ClusterSettings,
    /// Revision of the policy that decides.
    policy_revision: u64,
    /// Why nothing is decided, if the policy cannot run.
    #[serde(skip_serializing_if = "Option::is_none")]
    broken: Option<String>,
    /// Units that keep failing and are not called for a while.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    paused: Vec<PausedUnit>,
    /// Units that answered differently though nothing had changed: their answers are not kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, value_type = Vec<String>)]
    quarantined: Vec<Arc<str>>,
    counted: Counted,
    /// Requests that wait for their turn.
    waiting: usize,
    /// Of a document that was just sent: what is allowed and surely a mistake.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

async fn shown(cluster: &Cluster) -> Result<ClusterShown, Problem> {
    let told = cluster.turn(|state| {
        let broken = state.broken().map(str::to_owned);
        let failing = (state.paused_units(), state.quarantined_units());
        let revision = state.attached().revision;
        Ok((revision, broken, failing, state.counted()))
    });
    let (policy_revision, broken, (paused, quarantined), counted) = told.await?;
    Ok(ClusterShown {
        name: cluster.name().clone(),
        settings: (*cluster.settings()).clone(),
        policy_revision,
        broken,
        paused,
        quarantined,
        counted,
        waiting: cluster.waiting(),
        warnings: Vec::new(),
    })
}

/// The clusters that the token is for, by name.
#[utoipa::path(get, path = "/v1/clusters", tag = "clusters", params(PageQuery),
    responses((status = OK, body = Page<ClusterShown>)))]
async fn list(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Query(page): Query<PageQuery>,
) -> Result<Json<Page<ClusterShown>>, Problem> {
    let clusters = deployment.clusters().into_iter();
    let seen = clusters.filter(|cluster| caller.sees(cluster.name()));
    let Page { items, next } = page.page(seen, |cluster| cluster.name().to_string())?;
    let mut shown_items = Vec::with_capacity(items.len());
    for cluster in items {
        shown_items.push(shown(&cluster).await?);
    }
    Ok(Json(Page {
        items: shown_items,
        next,
    }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct CreateQuery {
    /// Name of the policy that decides; general if not given.
    policy: Option<String>,
}

/// Make a cluster of a document: its name, hosts, VMs, groups and attributes.
#[utoipa::path(post, path = "/v1/clusters", tag = "clusters", params(CreateQuery),
    request_body(content = Object, description = "The cluster's document"),
    responses((status = CREATED, body = WithUnheeded<ClusterShown>,
        headers(("Location" = String, description = "Path of the cluster")))))]
async fn create(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<CreateQuery>,
    Document { text, file }: Document,
) -> Result<Response, Problem> {
    let created = aside(move || {
        let document = ClusterDocument::read(&text, file)?;
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
        ..shown(&cluster).await?
    };
    let created = unheeded::with(&cluster, shown).await?;
    let mut response = (StatusCode::CREATED, Json(created)).into_response();
    // Names of clusters are plain; one that were not would be none of a header.
    if let Ok(location) = HeaderValue::from_str(&format!("/v1/clusters/{}", cluster.name())) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

/// A cluster.
#[utoipa::path(get, path = "/v1/clusters/{cluster}", tag = "clusters",
    params(("cluster" = String, Path, description = "Name of the cluster")),
    responses((status = OK, body = ClusterShown)))]
async fn show(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
) -> Result<Json<ClusterShown>, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    Ok(Json(shown(&cluster).await?))
}

/// Take a cluster out, with everything of it.
#[utoipa::path(delete, path = "/v1/clusters/{cluster}", tag = "clusters",
    params(("cluster" = String, Path, description = "Name of the cluster")),
    responses((status = NO_CONTENT)))]
async fn remove(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path(cluster): Path<String>,
) -> Result<StatusCode, Problem> {
    aside(move || deployment.remove_cluster(&cluster, &caller.name)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// How a cluster is set: its policy, and what is different from it there.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/settings", tag = "clusters",
    params(("cluster" = String, Path, description = "Name of the cluster")),
    responses((status = OK, body = ClusterSettings)))]
async fn settings(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
) -> Result<Response, Problem> {
    let settings = deployment.cluster(&cluster)?.settings();
    Ok(with_tag(&settings))
}

fn with_tag(settings: &ClusterSettings) -> Response {
    ([revision::etag(settings.revision)], Json(settings)).into_response()
}

/// New settings of a cluster.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct NewSettings {
    /// Name of the policy that decides.
    policy: String,
    /// What is different from the policy in this cluster, by the entries' names; left
    /// out, nothing is.
    #[serde(default)]
    overrides: BTreeMap<String, Override>,
    /// Whether plans of moves are made from time to time; left out, none are.
    #[serde(default)]
    balance: Option<PeriodicBalance>,
    /// Seconds after which what was measured of hosts counts as absent; left out, it never
    /// does.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 2592000)]
    statistics_max_age: Option<i64>,
}

/// Attach a policy to a cluster, with what is different there. Without overrides those
/// that were set are reset.
#[utoipa::path(put, path = "/v1/clusters/{cluster}/settings", tag = "clusters",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("If-Match" = Option<String>, Header, description = "Revision that is changed, as its ETag; * for any")),
    request_body = NewSettings,
    responses((status = OK, body = WithUnheeded<ClusterSettings>)))]
async fn set(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path(cluster): Path<String>,
    headers: HeaderMap,
    Json(new): Json<NewSettings>,
) -> Result<Response, Problem> {
    let revision = revision::wanted(&headers)?;
    if let Some(balance) = new.balance
        && !(10..=2_592_000).contains(&balance.every)
    {
        let sentence = "\"balance\": \"every\" must be from 10 to 2592000 seconds";
        return Err(Problem::new(Code::Unprocessable, sentence));
    }
    if let Some(age) = new.statistics_max_age
        && !(1..=2_592_000).contains(&age)
    {
        let sentence = "\"statistics-max-age\" must be from 1 to 2592000 seconds";
        return Err(Problem::new(Code::Unprocessable, sentence));
    }
    let (attached, name) = (deployment.clone(), cluster.clone());
    let settings = aside(move || {
        let attach = Attach {
            policy: new.policy,
            overrides: new.overrides,
            balance: new.balance,
            statistics_max_age: new.statistics_max_age,
            revision,
            by: Some(caller.name),
        };
        deployment.attach(&cluster, attach)
    });
    let settings: Arc<ClusterSettings> = settings.await?;
    let revision = settings.revision;
    let cluster = attached.cluster(&name)?;
    let told = unheeded::with(&cluster, (*settings).clone()).await?;
    Ok(([revision::etag(revision)], Json(told)).into_response())
}
