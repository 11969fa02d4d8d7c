//! Why not there, what if, how many more: asked of a copy of the cluster.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::contract;
use super::placing::{may_force, one, requests};
use placewright_deployment::cluster::Cluster;
use placewright_deployment::{Deployment, DeploymentError};
use placewright_document::{Word, shown};
use placewright_http::Caller;
use placewright_http::document::{Document, json};
use placewright_http::extract::{Lists, Path, Query};
use placewright_http::pool::Pool;
use placewright_http::problem::{Code, Problem};
use placewright_scheduler::questions::{
    Capacity, Failure, FailureOptions, HostCosts, QuestionError, Restart, Situation,
    USUAL_CAPACITY, Why,
};

/// The most VMs that a question about room counts.
const MOST: usize = 100_000;

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new()
        .routes(routes!(why))
        .routes(routes!(capacity))
        .routes(routes!(costs))
        .routes(routes!(failure))
}

/// Ask something of the cluster as it is.
async fn answer<T: Serialize + 'static>(
    cluster: &Cluster,
    (questions, caller): (&Arc<Pool>, &Caller),
    ask: impl FnOnce(Situation<'_>) -> Result<T, QuestionError> + Send + 'static,
) -> Result<Response, Problem> {
    let snapshot = cluster.snapshot_with_rules().await?;
    let work = move |cancel| {
        let kept = snapshot.kept()?;
        let options = kept.options(cancel);
        let answer = ask(kept.situation_by(&options))?;
        Ok::<_, DeploymentError>(serde_json::to_string(&answer).unwrap_or_default())
    };
    let text = questions.run((&caller.name, cluster.name()), work);
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
#[utoipa::path(post, path = "/v1/clusters/{cluster}/why", operation_id = "ask_why", tag = "questions",
    params(("cluster" = String, Path, description = "Name of the cluster"), WhyQuery),
    request_body(content = contract::OneRequest, description = "A VM, or a request with its VMs; in JSON or TOML"),
    responses((status = OK, body = Why)))]
async fn why(
    State(deployment): State<Arc<Deployment>>,
    Extension(questions): Extension<Arc<Pool>>,
    Extension(caller): Extension<Caller>,
    Path(cluster): Path<String>,
    Query(query): Query<WhyQuery>,
    document: Document,
) -> Result<Response, Problem> {
    let found = deployment.cluster(&cluster)?;
    let (requests, _weight) = requests(&deployment, &found, document).await?;
    let request = one(requests)?;
    may_force(&caller, &found, &request)?;
    answer(&found, (&questions, &caller), move |situation| {
        situation.why(&request, &query.host)
    })
    .await
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[into_params(parameter_in = Query)]
struct CapacityQuery {
    /// Stop counting there; 10000 if not given.
    #[param(minimum = 1, maximum = 100000)]
    at_most: Option<usize>,
}

/// How many more VMs of this shape fit.
#[utoipa::path(post, path = "/v1/clusters/{cluster}/capacity", operation_id = "ask_capacity", tag = "questions",
    params(("cluster" = String, Path, description = "Name of the cluster"), CapacityQuery),
    request_body(content = contract::OneRequest, description = "A VM, or a request with its VMs; in JSON or TOML"),
    responses((status = OK, body = Capacity)))]
async fn capacity(
    State(deployment): State<Arc<Deployment>>,
    Extension(questions): Extension<Arc<Pool>>,
    Extension(caller): Extension<Caller>,
    Path(cluster): Path<String>,
    Query(query): Query<CapacityQuery>,
    document: Document,
) -> Result<Response, Problem> {
    let most = query.at_most.unwrap_or(USUAL_CAPACITY);
    if !(1..=MOST).contains(&most) {
        let sentence = format!("\"at-most\" must be from 1 to {MOST}");
        return Err(Problem::new(Code::InvalidParameter, sentence));
    }
    let found = deployment.cluster(&cluster)?;
    let (requests, _weight) = requests(&deployment, &found, document).await?;
    let request = one(requests)?;
    answer(&found, (&questions, &caller), move |situation| {
        situation.capacity(&request, most)
    })
    .await
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct CostsQuery {
    /// Name of the policy that is supposed to decide; that of the cluster if not given.
    policy: Option<String>,
}

/// What a VM would cost on every host, tier by tier, and which entry of the policy removes the
/// others: under the policy of the cluster, or under another one that need not decide anywhere.
/// Nothing is changed.
#[utoipa::path(post, path = "/v1/clusters/{cluster}/host-costs", operation_id = "ask_host_costs", tag = "questions",
    params(("cluster" = String, Path, description = "Name of the cluster"), CostsQuery),
    request_body(content = contract::OneRequest, description = "A VM, or a request with its VMs; in JSON or TOML"),
    responses((status = OK, body = HostCosts)))]
async fn costs(
    State(deployment): State<Arc<Deployment>>,
    Extension(questions): Extension<Arc<Pool>>,
    Extension(caller): Extension<Caller>,
    Path(cluster): Path<String>,
    Query(query): Query<CostsQuery>,
    document: Document,
) -> Result<Response, Problem> {
    let policy = query.policy.as_deref();
    let policy = policy.map(|name| caller.policy(&deployment, name));
    let policy = policy.transpose()?;
    let found = deployment.cluster(&cluster)?;
    let (requests, _weight) = requests(&deployment, &found, document).await?;
    let request = one(requests)?;
    may_force(&caller, &found, &request)?;
    let snapshot = found.snapshot_with_rules().await?;
    let of = found.clone();
    let work = move |cancel| {
        let kept = snapshot.kept()?;
        let costs = deployment.host_costs((&*of, kept), policy.as_deref(), &request, cancel)?;
        Ok::<_, DeploymentError>(serde_json::to_string(&costs).unwrap_or_default())
    };
    let text = questions.run((&caller.name, found.name()), work);
    Ok(json(text.await?))
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[into_params(parameter_in = Query)]
struct FailureQuery {
    /// Id of a host that fails. Given again for more hosts: these fail together. If not given,
    /// each host is supposed to fail alone.
    without: Vec<String>,
    /// Which VMs are restarted: `ha`, those whose `ha` is true, or `all`; `all` if not given, as
    /// a plan moves all VMs of hosts that are down.
    #[param(schema_with = restarts, required = false)]
    restart: Vec<String>,
}

fn restarts() -> RefOr<Schema> {
    contract::one_of_words(Restart::WORDS.iter().map(|(word, _)| *word))
}

impl FailureQuery {
    fn options(&self) -> Result<FailureOptions, Problem> {
        let restart = match self.restart.as_slice() {
            [] => Restart::default(),
            [word] => Restart::from_word(word).ok_or_else(|| {
                let sentence = format!("\"restart\" must be ha or all, not \"{}\"", shown(word));
                Problem::new(Code::InvalidParameter, sentence)
            })?,
            _ => {
                let sentence = "\"restart\" can be given once only";
                return Err(Problem::new(Code::InvalidParameter, sentence));
            }
        };
        Ok(FailureOptions {
            search: None,
            restart,
        })
    }
}

/// What follows if some hosts fail.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = SurvivedFailure)]
struct FailureShown {
    /// Whether every VM that is restarted finds another host.
    survived: bool,
    /// The hosts, and what becomes of their VMs.
    #[serde(flatten)]
    failure: Failure,
}

/// What follows if hosts fail.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = WhatIf)]
struct FailuresShown {
    /// Whether each of the failures is survived.
    survived: bool,
    /// One for the hosts that fail together, or one for each host of the cluster.
    failures: Vec<FailureShown>,
}

impl FailuresShown {
    fn new(failures: Vec<Failure>) -> Self {
        let failures = failures.into_iter().map(|failure| FailureShown {
            survived: failure.survived(),
            failure,
        });
        let failures: Vec<FailureShown> = failures.collect();
        Self {
            survived: failures.iter().all(|failure| failure.survived),
            failures,
        }
    }
}

/// What would happen if hosts failed: which of their VMs would be restarted, where these would
/// go, and which would find no place. Without hosts: of each host of the cluster by itself (N+1).
#[utoipa::path(post, path = "/v1/clusters/{cluster}/what-if", operation_id = "ask_what_if", tag = "questions",
    params(("cluster" = String, Path, description = "Name of the cluster"), FailureQuery),
    responses((status = OK, body = FailuresShown)))]
async fn failure(
    State(deployment): State<Arc<Deployment>>,
    Extension(questions): Extension<Arc<Pool>>,
    Extension(caller): Extension<Caller>,
    Path(cluster): Path<String>,
    Lists(query): Lists<FailureQuery>,
) -> Result<Response, Problem> {
    let options = query.options()?;
    let found = deployment.cluster(&cluster)?;
    let now = deployment.now();
    answer(&found, (&questions, &caller), move |situation| {
        let failures = match query.without.is_empty() {
            true => situation.n_plus_one(now, options, |_, _| {})?,
            false => vec![situation.without_hosts(&query.without, now, options)?],
        };
        Ok(FailuresShown::new(failures))
    })
    .await
}
