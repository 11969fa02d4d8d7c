//! Decisions that were made: looked at, explained, made again.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::document::{aside, json};
use super::extract::{Json, Path, Query};
use super::problem::{Code, Problem};
use super::{Page, PageQuery};
use crate::deployment::cluster::Past;
use crate::deployment::{Deployment, DeploymentError};
use crate::document::WrittenRequest;
use crate::model::Request;
use crate::model::schema::Schema;
use crate::scheduler::RunnerUp;
use crate::store::SavedDecision;

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(show))
        .routes(routes!(explain))
        .routes(routes!(replay))
}

/// A decision as it was recorded.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
struct Recorded {
    number: u64,
    /// When it was made, in seconds since 1970-01-01 UTC.
    at: i64,
    /// Who asked for it: the name of a token, or `anonymous` where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    /// What was decided.
    #[schema(value_type = Object)]
    decision: Value,
    /// What was asked for, with what was known of the VMs: a document that asks for the same.
    #[schema(value_type = Object)]
    request: Value,
    /// The hosts that would have been chosen next, best first, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    runners_up: Option<Vec<RunnerUp>>,
}

impl Recorded {
    fn of(saved: SavedDecision, schema: &Schema) -> Self {
        let mut body: Value = serde_json::from_str(&saved.body).unwrap_or_default();
        let mut part = |name: &str| body.get_mut(name).map(Value::take).unwrap_or_default();
        Self {
            number: saved.number,
            at: saved.at,
            by: part("by").as_str().map(str::to_owned),
            decision: part("decision"),
            request: request(part("request"), schema),
            runners_up: None,
        }
    }
}

/// A recorded request as the document that asks for it; as it was recorded, where it is none
/// of this version of the program.
fn request(recorded: Value, schema: &Schema) -> Value {
    let read = Request::deserialize(&recorded).ok();
    let written = read.and_then(|request| {
        let request = &request;
        serde_json::to_value(WrittenRequest { schema, request }).ok()
    });
    written.unwrap_or(recorded)
}

/// The decisions that are recorded, the newest first.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/decisions", tag = "decisions",
    params(("cluster" = String, Path, description = "Name of the cluster"), PageQuery),
    responses((status = OK, body = Page<Recorded>)))]
async fn list(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
    Query(page): Query<PageQuery>,
) -> Result<Json<Page<Recorded>>, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let (cluster, schema) = (cluster.name().clone(), cluster.schema());
    let limit = page.limit()?;
    let before = match &page.after {
        None => None,
        Some(after) => Some(after.parse::<u64>().map_err(|_| {
            let sentence = "\"after\" must be the number of a decision";
            Problem::new(Code::InvalidParameter, sentence)
        })?),
    };
    let found = aside(move || {
        let found = deployment.store().decisions(&cluster, before, limit + 1);
        found.map_err(DeploymentError::from)
    });
    let mut found = found.await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().map(|decision| decision.number.to_string());
    Ok(Json(Page {
        items: found
            .into_iter()
            .map(|saved| Recorded::of(saved, &schema))
            .collect(),
        next: last.filter(|_| more),
    }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ShowQuery {
    /// Tell, too, which hosts would have been chosen next, so many at most, with what
    /// they cost: the decision's chain is run again on the inventory of then. 0 if not
    /// given. There are none where selections decide: then the decision tells shares.
    #[param(minimum = 0, maximum = 100)]
    runners_up: Option<usize>,
}

/// A decision as it was recorded.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/decisions/{number}", tag = "decisions",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("number" = u64, Path, description = "Number of the decision"), ShowQuery),
    responses((status = OK, body = Recorded)))]
async fn show(
    State(deployment): State<Arc<Deployment>>,
    Path((cluster, number)): Path<(String, u64)>,
    Query(query): Query<ShowQuery>,
) -> Result<Json<Recorded>, Problem> {
    let wanted = query.runners_up.unwrap_or_default();
    if wanted > 100 {
        let sentence = "\"runners-up\" must be from 0 to 100";
        return Err(Problem::new(Code::InvalidParameter, sentence));
    }
    let found = deployment.cluster(&cluster)?;
    let (name, schema) = (found.name().clone(), found.schema());
    let store = deployment.store().clone();
    let found = aside(move || store.decision(&name, number).map_err(DeploymentError::from));
    let Some(decision) = found.await? else {
        return Err(Problem::not_found("decision", &number.to_string()));
    };
    let mut recorded = Recorded::of(decision, &schema);
    if wanted > 0 {
        let past = past(&deployment, &cluster, number).await?;
        recorded.runners_up = Some(aside(move || past.runners_up(wanted)).await?);
    }
    Ok(Json(recorded))
}

async fn past(deployment: &Arc<Deployment>, cluster: &str, number: u64) -> Result<Past, Problem> {
    let cluster = deployment.cluster(cluster)?;
    let next = cluster.turn(|state| Ok(state.scheduler().next_number()));
    if !(1..next.await?).contains(&number) {
        return Err(Problem::not_found("decision", &number.to_string()));
    }
    let remembered = cluster.turn(move |state| Ok(state.past(number).ok()));
    match remembered.await? {
        Some(past) => Ok(past),
        // It takes longer, and the cluster does not wait for it.
        None => {
            let (deployment, name) = (deployment.clone(), cluster.name().clone());
            Ok(aside(move || deployment.kept_past(&name, number)).await?)
        }
    }
}

/// Why there, and why not elsewhere: the decision's chain is run again on the inventory
/// of then, and tells of every host why it was removed or what it cost.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/decisions/{number}/explanation", tag = "decisions",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("number" = u64, Path, description = "Number of the decision")),
    responses((status = OK, body = Object)))]
async fn explain(
    State(deployment): State<Arc<Deployment>>,
    Path((cluster, number)): Path<(String, u64)>,
) -> Result<Response, Problem> {
    let past = past(&deployment, &cluster, number).await?;
    let text = aside(move || {
        let explanation = past.explain()?;
        Ok::<_, DeploymentError>(serde_json::to_string(&explanation).unwrap_or_default())
    });
    Ok(json(text.await?))
}

/// Whether a decision comes out the same again.
#[derive(Debug, Serialize, ToSchema)]
struct Replayed {
    /// Whether the same host and costs came out, for the same reasons.
    same: bool,
}

/// Decide again, by the units of then on the inventory of then.
#[utoipa::path(post, path = "/v1/clusters/{cluster}/decisions/{number}/replay", tag = "decisions",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("number" = u64, Path, description = "Number of the decision")),
    responses((status = OK, body = Replayed)))]
async fn replay(
    State(deployment): State<Arc<Deployment>>,
    Path((cluster, number)): Path<(String, u64)>,
) -> Result<Json<Replayed>, Problem> {
    let past = past(&deployment, &cluster, number).await?;
    let same = aside(move || past.replay()).await?;
    Ok(Json(Replayed { same }))
}
