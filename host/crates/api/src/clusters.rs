//! Clusters: made, looked at, set, taken out.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::contract;
use super::unheeded::{self, WithUnheeded};
use placewright_chain::UnheededInCluster;
use placewright_deployment::cluster::{
    AutomaticRestart, Cluster, ClusterSettings, Counted, Override, PausedUnit, PeriodicBalance,
};
use placewright_deployment::{Attach, Deployment, DeploymentError};
use placewright_document::ClusterDocument;
use placewright_http::document::{Document, aside, long};
use placewright_http::extract::{Json, Path, Query};
use placewright_http::problem::{Code, Problem};
use placewright_http::{Caller, Page, PageQuery, revision};
use placewright_model::budget::{Collection, Full};
use placewright_plugins::DEFAULT_POLICY;

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(show, remove))
        .routes(routes!(settings, set))
}

/// A cluster.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = Cluster)]
struct ClusterShown {
    /// Its name.
    #[schema(value_type = String)]
    name: Arc<str>,
    /// Left out of a cluster that is out of service.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ClusterSettings)]
    settings: Option<ClusterSettings>,
    /// Revision of the policy that decides. Left out of a cluster that is out of service.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u64)]
    policy_revision: Option<u64>,
    /// Why nothing is decided: the policy cannot run, or the cluster is out of service.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    broken: Option<String>,
    /// Units that keep failing and are not called for a while.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    paused: Vec<PausedUnit>,
    /// Units that answered differently though nothing had changed: their answers are not kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, value_type = Vec<String>)]
    quarantined: Vec<Arc<str>>,
    /// How many of each there are. Left out of a cluster that is out of service.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Counted)]
    counted: Option<Counted>,
    /// Requests that wait for their turn.
    waiting: usize,
    /// Of a document that was just sent: what is allowed and surely a mistake.
    #[serde(skip_serializing_if = "Vec::is_empty")]
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
    let page = page.page(all, |cluster: &ClusterShown| cluster.name.to_string())?;
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
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    revision::none(&headers)?;
    aside(move || deployment.remove_cluster(&cluster, &caller.name)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// How a cluster is set: its policy, and what is different from it there.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/settings", operation_id = "get_cluster_settings", tag = "clusters",
    params(("cluster" = String, Path, description = "Name of the cluster")),
    responses((status = OK, body = ClusterSettings,
        headers(("ETag" = String, description = "Of its revision, to be sent as If-Match")))))]
async fn settings(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
) -> Result<Response, Problem> {
    let settings = deployment.cluster(&cluster)?.settings();
    let tag = [revision::etag(settings.revision)];
    Ok((tag, long(ClusterSettings::clone(&settings)).await?).into_response())
}

/// New settings of a cluster.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct NewSettings {
    /// Name of the policy that decides.
    policy: String,
    /// What is different from the policy in this cluster, by the entries' names, of 256 at most;
    /// left out, nothing is.
    #[serde(default)]
    overrides: BTreeMap<String, Override>,
    /// Whether plans of moves are made from time to time; left out, none are.
    #[serde(default)]
    balance: Option<PeriodicBalance>,
    /// Whether and how the server restarts VMs of hosts that are down or in error by itself;
    /// left out, it does not.
    #[serde(default)]
    restart: Option<AutomaticRestart>,
    /// Seconds after which what was measured of hosts counts as absent; left out, it never
    /// does.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 2592000)]
    statistics_max_age: Option<i64>,
    /// Seconds after which what has come to run on a host counts as measured, though no later
    /// measurement has come; left out, only a measurement ends that.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 2592000)]
    unmeasured_max_age: Option<i64>,
    /// The revision, as it was read: it changes nothing, `If-Match` says which one is changed.
    #[serde(default, rename = "revision")]
    #[schema(value_type = u64, required = false)]
    _revision: Option<IgnoredAny>,
    /// The seed, as it was read: it changes nothing.
    #[serde(default, rename = "seed")]
    #[schema(value_type = u64, required = false)]
    _seed: Option<IgnoredAny>,
    /// What goes unheeded, as it was read: it changes nothing.
    #[serde(default, rename = "unheeded")]
    #[schema(value_type = Vec<UnheededInCluster>, required = false)]
    _unheeded: Option<IgnoredAny>,
}

/// Attach a policy to a cluster, with what is different there. Without overrides those
/// that were set are reset.
#[utoipa::path(put, path = "/v1/clusters/{cluster}/settings", operation_id = "put_cluster_settings", tag = "clusters",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("If-Match" = Option<String>, Header, description = "Revision that is changed, as its ETag; * for any")),
    request_body = NewSettings,
    responses((status = OK, body = WithUnheeded<ClusterSettings>,
                  headers(("ETag" = String, description = "Of its revision, to be sent as If-Match"))),
              (status = PRECONDITION_REQUIRED, description = "No If-Match is sent")))]
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
    if let Some(Err(sentence)) = new.restart.map(|restart| restart.check()) {
        return Err(Problem::new(Code::Unprocessable, sentence));
    }
    for (key, age) in [
        ("statistics-max-age", new.statistics_max_age),
        ("unmeasured-max-age", new.unmeasured_max_age),
    ] {
        if age.is_some_and(|age| !(1..=2_592_000).contains(&age)) {
            let sentence = format!("\"{key}\" must be from 1 to 2592000 seconds");
            return Err(Problem::new(Code::Unprocessable, sentence));
        }
    }
    // A caller who may not read a policy may not attach it: its decisions would show what is in
    // it, and its owner could not change it any more.
    caller.policy(&deployment, &new.policy)?;
    let (overrides, collection) = (new.overrides.len() as u64, Collection::Overrides);
    Full::check(
        collection,
        &cluster.as_str().into(),
        overrides,
        collection.bound(),
    )
    .map_err(|full| Problem::new(Code::Unprocessable, full))?;
    let (attached, name) = (deployment.clone(), cluster.clone());
    let settings = aside(move || {
        let attach = Attach {
            policy: new.policy,
            overrides: new.overrides,
            balance: new.balance,
            restart: new.restart,
            statistics_max_age: new.statistics_max_age,
            unmeasured_max_age: new.unmeasured_max_age,
            revision,
            by: Some(caller.name.clone()),
        };
        let attached = deployment.attach(&cluster, attach);
        attached.map_err(|error| caller.told_error(error))
    });
    let settings: Arc<ClusterSettings> = settings.await?;
    let revision = settings.revision;
    let cluster = attached.cluster(&name)?;
    let told = unheeded::with(&cluster, (*settings).clone()).await?;
    Ok(([revision::etag(revision)], long(told).await?).into_response())
}
