//! How clusters are set: the policy that decides, and what is different from it there.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::patch::SettingsPatch;
use crate::unheeded::{self, WithUnheeded};
use placewright_chain::UnheededInCluster;
use placewright_deployment::cluster::{
    AutomaticRestart, ClusterSettings, Override, PeriodicBalance,
};
use placewright_deployment::durations;
use placewright_deployment::{Attach, Deployment};
use placewright_http::audit::Note;
use placewright_http::document::{aside, long};
use placewright_http::extract::{Json, Path};
use placewright_http::problem::{Code, Problem};
use placewright_http::{Caller, revision};
use placewright_model::budget::{Collection, Full};

/// How often a change that names no revision is made anew, because somebody else has changed the
/// settings since they were read.
const TRIES: usize = 10;

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new().routes(routes!(settings, set, change))
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
pub(super) struct NewSettings {
    /// Name of the policy that decides.
    #[schema(example = "general")]
    pub(super) policy: String,
    /// What is different from the policy in this cluster, by the entries' names, of 256 at most;
    /// left out, nothing is.
    #[serde(default)]
    pub(super) overrides: BTreeMap<String, Override>,
    /// Whether plans of moves are made from time to time; left out, none are.
    #[serde(default)]
    pub(super) balance: Option<PeriodicBalance>,
    /// Whether and how the server restarts VMs of hosts that are down or in error by itself;
    /// left out, it does not.
    #[serde(default)]
    pub(super) restart: Option<AutomaticRestart>,
    /// Seconds after which what was measured of hosts counts as absent; left out, it never
    /// does.
    #[serde(default, deserialize_with = "durations::seconds_if_any")]
    #[schema(minimum = 1, maximum = 2592000, example = 600)]
    pub(super) statistics_max_age: Option<i64>,
    /// Seconds after which what has come to run on a host counts as measured, though no later
    /// measurement has come; left out, only a measurement ends that.
    #[serde(default, deserialize_with = "durations::seconds_if_any")]
    #[schema(minimum = 1, maximum = 2592000, example = 600)]
    pub(super) unmeasured_max_age: Option<i64>,
    /// The revision, as it was read: it changes nothing, `If-Match` says which one is changed.
    #[serde(default, rename = "revision")]
    #[schema(value_type = u64, required = false, example = 3)]
    _revision: Option<u64>,
    /// The seed, as it was read: it changes nothing.
    #[serde(default, rename = "seed")]
    #[schema(value_type = u64, required = false, example = 7)]
    _seed: Option<u64>,
    /// What goes unheeded, as it was read: it changes nothing.
    #[serde(default, rename = "unheeded")]
    #[schema(value_type = Vec<UnheededInCluster>, required = false)]
    _unheeded: Option<Vec<UnheededAsRead>>,
}

/// What goes unheeded as it was read, of which nothing but its types is looked at.
#[derive(Debug, Clone, Deserialize)]
#[expect(dead_code, reason = "only its form matters")]
pub(super) struct UnheededAsRead {
    need: Option<String>,
    meaning: Option<String>,
    unheeded: Option<String>,
    count: Option<u64>,
    vms: Option<Vec<String>>,
    units: Option<Vec<String>>,
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
    Extension(note): Extension<Note>,
    Path(cluster): Path<String>,
    headers: HeaderMap,
    Json(new): Json<NewSettings>,
) -> Result<Response, Problem> {
    let revision = revision::wanted_of_known(&headers)?;
    check(&new)?;
    let known = deployment.cluster(&cluster)?.settings().revision;
    let settings = attach(&deployment, &caller, &cluster, new, revision).await?;
    if settings.revision == known {
        note.has_changed_nothing();
    }
    told(&deployment, &cluster, settings).await
}

/// Change some of how a cluster is set, by a merge patch after RFC 7396: null takes away what was
/// set, everything else stays. What comes of it is checked like settings that are put.
#[utoipa::path(patch, path = "/v1/clusters/{cluster}/settings", operation_id = "patch_cluster_settings", tag = "clusters",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("If-Match" = Option<String>, Header, description = "Revision that is changed, as its ETag; * for any")),
    request_body = SettingsPatch,
    responses((status = OK, body = WithUnheeded<ClusterSettings>,
        headers(("ETag" = String, description = "Of its revision, to be sent as If-Match")))))]
async fn change(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Extension(note): Extension<Note>,
    Path(cluster): Path<String>,
    headers: HeaderMap,
    Json(patch): Json<SettingsPatch>,
) -> Result<Response, Problem> {
    let given = revision::wanted_if_any(&headers)?;
    let mut tries = TRIES;
    loop {
        let known = ClusterSettings::clone(&deployment.cluster(&cluster)?.settings());
        let new = patch.clone().apply((&known).into())?;
        check(&new)?;
        // Whatever is set meanwhile is not overwritten with what was read before.
        let revision = Some(given.unwrap_or(known.revision));
        let attached = attach(&deployment, &caller, &cluster, new, revision).await;
        tries -= 1;
        match attached {
            Err(problem)
                if given.is_none() && tries > 0 && problem.code() == Code::RevisionChanged => {}
            attached => {
                let settings = attached?;
                if settings.revision == known.revision {
                    note.has_changed_nothing();
                }
                return told(&deployment, &cluster, settings).await;
            }
        }
    }
}

impl From<&ClusterSettings> for NewSettings {
    fn from(known: &ClusterSettings) -> Self {
        Self {
            policy: known.policy.to_string(),
            overrides: known.overrides.clone(),
            balance: known.balance,
            restart: known.restart,
            statistics_max_age: known.statistics_max_age,
            unmeasured_max_age: known.unmeasured_max_age,
            _revision: None,
            _seed: None,
            _unheeded: None,
        }
    }
}

/// Check that the numbers of settings are within their bounds.
fn check(new: &NewSettings) -> Result<(), Problem> {
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
    Ok(())
}

/// Set a cluster so.
async fn attach(
    deployment: &Arc<Deployment>,
    caller: &Caller,
    cluster: &str,
    new: NewSettings,
    revision: Option<u64>,
) -> Result<Arc<ClusterSettings>, Problem> {
    // A caller who may not read a policy may not attach it: its decisions would show what is in
    // it, and its owner could not change it any more.
    caller.policy(deployment, &new.policy)?;
    let (overrides, collection) = (new.overrides.len() as u64, Collection::Overrides);
    Full::check(collection, &cluster.into(), overrides, collection.bound())
        .map_err(|full| Problem::new(Code::Unprocessable, full))?;
    let (deployment, caller, cluster) = (deployment.clone(), caller.clone(), cluster.to_owned());
    aside(move || {
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
    })
    .await
}

/// How a cluster is set now, with what its policy does not check.
async fn told(
    deployment: &Deployment,
    cluster: &str,
    settings: Arc<ClusterSettings>,
) -> Result<Response, Problem> {
    let revision = settings.revision;
    let cluster = deployment.cluster(cluster)?;
    let told = unheeded::with(&cluster, (*settings).clone()).await?;
    Ok(([revision::etag(revision)], long(told).await?).into_response())
}
