//! Decisions that were made: looked at, explained, made again.

mod wanted;

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{contract, moment};
use placewright_chain::Explanation;
use placewright_deployment::cluster::Past;
use placewright_deployment::{Deployment, DeploymentError, PageRoom};
use placewright_document::WrittenRequest;
use placewright_http::document::{aside, json, long, written};
use placewright_http::extract::{Json, Path, Query, Short};
use placewright_http::pool::Pool;
use placewright_http::problem::{Code, Problem};
use placewright_http::{Caller, Page, PageQuery};
use placewright_model::schema::Schema;
use placewright_model::{Request, Rfc3339};
use placewright_scheduler::{Cancel, DecisionShown, PlaceError, RunnerUp};
use placewright_store::{SavedDecision, Store};
use wanted::{DecisionsQuery, WantedDecisions};

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
#[schema(as = RecordedDecision)]
struct Recorded {
    /// Counts up from 1 in each cluster.
    #[schema(example = 17)]
    number: u64,
    /// When it was made, in seconds since 1970-01-01 UTC.
    #[schema(example = 1764000000)]
    at: i64,
    /// The same time.
    #[schema(value_type = String, format = DateTime)]
    time: Rfc3339,
    /// Who asked for it: the name of a token, or `anonymous` where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "ci")]
    by: Option<String>,
    /// What was decided.
    #[schema(value_type = DecisionShown)]
    decision: Value,
    /// What was asked for, with what was known of the VMs: a document that asks for the same.
    #[schema(value_type = contract::PlacementRequest)]
    request: Value,
    /// The hosts that would have been chosen next, best first, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<RunnerUp>)]
    runners_up: Option<Vec<RunnerUp>>,
}

impl Recorded {
    fn of(saved: SavedDecision, schema: &Schema) -> Self {
        let mut body: Value = serde_json::from_str(&saved.body).unwrap_or_default();
        let mut part = |name: &str| body.get_mut(name).map(Value::take).unwrap_or_default();
        let mut decision = part("decision");
        moment::complete(&mut decision, "expires");
        Self {
            number: saved.number,
            at: saved.at,
            time: Rfc3339(saved.at),
            by: part("by").as_str().map(str::to_owned),
            decision,
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

/// Decisions are read so many at a time: their requests may be large.
const PORTION: usize = 100;

/// Decisions that a page looks through at most for those that are wanted.
const LOOKED_THROUGH: usize = 10_000;

/// Some decisions, the newest first.
#[derive(Debug, Default)]
struct Listed {
    found: Vec<SavedDecision>,
    /// The last that was looked at, if there are more.
    next: Option<u64>,
}

/// A page of the wanted decisions, from before that number on: `limit` at most, fewer where they are
/// large or where few of those that are looked through are wanted.
fn some(
    store: &Store,
    cluster: &str,
    wanted: &WantedDecisions,
    mut before: Option<u64>,
    limit: usize,
) -> Result<Listed, DeploymentError> {
    let (mut found, mut room, mut looked_through) = (Vec::new(), PageRoom::default(), 0);
    loop {
        let most = match wanted.is_any() {
            true => PORTION.min(limit - found.len()),
            false => PORTION,
        };
        let mut portion = store.decisions(cluster, before, most + 1)?;
        let has_more = portion.len() > most;
        portion.truncate(most);
        looked_through += portion.len();
        let mut portion = portion.into_iter();
        let mut is_full = looked_through >= LOOKED_THROUGH;
        for decision in portion.by_ref() {
            before = Some(decision.number);
            if !wanted.fits(&decision.body) {
                continue;
            }
            let has_room = room.takes_bytes(decision.body.len());
            found.push(decision);
            is_full |= !has_room;
            if !has_room || found.len() >= limit {
                break;
            }
        }
        let has_more = has_more || portion.len() > 0;
        if !has_more || is_full || found.len() >= limit {
            let next = before.filter(|_| has_more);
            return Ok(Listed { found, next });
        }
    }
}

/// The decisions that are recorded, the newest first. Where they are large, a page has fewer. So it
/// has where few are wanted: it looks through 10,000 at most, and the next one goes on.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/decisions", operation_id = "list_decisions", tag = "decisions",
    params(("cluster" = String, Path, description = "Name of the cluster"), DecisionsQuery),
    responses((status = OK, body = Page<Recorded>)))]
async fn list(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
    Query(query): Query<DecisionsQuery>,
) -> Result<Response, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let (cluster, schema) = (cluster.name().clone(), cluster.schema());
    let page = PageQuery {
        limit: query.limit,
        after: query.after.clone(),
    };
    let limit = page.limit()?;
    let before = page.after_number("a decision")?;
    let wanted = WantedDecisions::from(query);
    written(move || {
        let Listed { found, next } = some(deployment.store(), &cluster, &wanted, before, limit)?;
        let items = found.into_iter().map(|saved| Recorded::of(saved, &schema));
        Ok::<_, DeploymentError>(Page {
            items: items.collect::<Vec<_>>(),
            next: next.map(|number| number.to_string()),
        })
    })
    .await
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
#[utoipa::path(get, path = "/v1/clusters/{cluster}/decisions/{number}", operation_id = "get_decision", tag = "decisions",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("number" = u64, Path, description = "Number of the decision"), ShowQuery),
    responses((status = OK, body = Recorded)))]
async fn show(
    State(deployment): State<Arc<Deployment>>,
    Extension(questions): Extension<Arc<Pool>>,
    Extension(caller): Extension<Caller>,
    Path((cluster, number)): Path<(String, u64)>,
    Query(query): Query<ShowQuery>,
) -> Result<Response, Problem> {
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
        let asked = (&questions, &caller);
        let gone = past(&deployment, asked, (&cluster, number), |_| Ok(())).await;
        let unknown = || Problem::not_found("decision", &number.to_string());
        return Err(gone.err().unwrap_or_else(unknown));
    };
    let mut recorded = Recorded::of(decision, &schema);
    if wanted > 0 {
        let runners_up = past(
            &deployment,
            (&questions, &caller),
            (&cluster, number),
            move |past| past.runners_up(wanted),
        );
        recorded.runners_up = Some(runners_up.await?);
    }
    long(recorded).await
}

/// Ask something of a recorded decision, with the cluster as it was then.
async fn past<T: Send + 'static>(
    deployment: &Arc<Deployment>,
    asked: (&Arc<Pool>, &Caller),
    decision: (&str, u64),
    ask: impl FnOnce(&Past) -> Result<T, DeploymentError> + Send + 'static,
) -> Result<T, Problem> {
    past_within(deployment, asked, (decision, None), |past, _| ask(past)).await
}

/// The same, where the answer takes many runs of the chain and may end early. `policy`: the name of
/// that by which the decision is made again, as it is now; None: that by which it was made.
pub(super) async fn past_within<T: Send + 'static>(
    deployment: &Arc<Deployment>,
    (questions, caller): (&Arc<Pool>, &Caller),
    ((cluster, number), policy): ((&str, u64), Option<&str>),
    ask: impl FnOnce(&Past, &Cancel) -> Result<T, DeploymentError> + Send + 'static,
) -> Result<T, Problem> {
    let policy = policy.map(|name| caller.policy(deployment, name));
    let policy = policy.transpose()?;
    let cluster = deployment.cluster(cluster)?;
    let next = cluster.read(|state| Ok(state.scheduler().next_number()));
    if !(1..next.await?).contains(&number) {
        return Err(Problem::not_found("decision", &number.to_string()));
    }
    let (deployment, of) = (deployment.clone(), cluster.clone());
    let work = move |cancel: Cancel| {
        let past = match policy {
            Some(policy) => deployment.past_by(&of, number, &policy)?,
            None => {
                let remembered = of.read(move |state| Ok(state.remembered(number))).wait()?;
                match remembered.map(|it| it.past()).transpose() {
                    Ok(Some(past)) => past,
                    // It takes longer, and the cluster does not wait for it.
                    _ => deployment.kept_past(of.name(), number)?,
                }
            }
        };
        cancel.check().map_err(PlaceError::from)?;
        ask(&past, &cancel)
    };
    questions.run((&caller.name, cluster.name()), work).await
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ExplainQuery {
    /// Name of a policy: tell how the decision comes out by it as it is now, with the units that
    /// are in force, on the inventory of then. If not given, by the policy and the units that
    /// decided.
    policy: Option<String>,
}

/// Why there, and why not elsewhere: the decision's chain is run again on the inventory
/// of then, and tells of every host why it was removed or what it cost.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/decisions/{number}/explanation", operation_id = "explain_decision", tag = "decisions",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("number" = u64, Path, description = "Number of the decision"), ExplainQuery),
    responses((status = OK, body = Explanation)))]
async fn explain(
    State(deployment): State<Arc<Deployment>>,
    Extension(questions): Extension<Arc<Pool>>,
    Extension(caller): Extension<Caller>,
    Path((cluster, number)): Path<(String, u64)>,
    Query(query): Query<ExplainQuery>,
) -> Result<Response, Problem> {
    let asked = (&questions, &caller);
    let decision = ((&*cluster, number), query.policy.as_deref());
    let text = past_within(&deployment, asked, decision, |past, _| {
        let explanation = past.explain()?;
        Ok(serde_json::to_string(&explanation).unwrap_or_default())
    });
    Ok(json(text.await?))
}

/// Whether a decision comes out the same again.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ReplayedDecision)]
struct Replayed {
    /// Whether the same host and costs came out, for the same reasons.
    same: bool,
}

impl Short for Replayed {}

/// Decide again, by the units of then on the inventory of then.
#[utoipa::path(post, path = "/v1/clusters/{cluster}/decisions/{number}/replay", operation_id = "replay_decision", tag = "decisions",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("number" = u64, Path, description = "Number of the decision")),
    responses((status = OK, body = Replayed)))]
async fn replay(
    State(deployment): State<Arc<Deployment>>,
    Extension(questions): Extension<Arc<Pool>>,
    Extension(caller): Extension<Caller>,
    Path((cluster, number)): Path<(String, u64)>,
) -> Result<Json<Replayed>, Problem> {
    let asked = (&questions, &caller);
    let same = past(&deployment, asked, (&cluster, number), Past::replay).await?;
    Ok(Json(Replayed { same }))
}
