//! Plans of moves: made, looked at, begun, cancelled.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Schema, Type};
use utoipa::openapi::{KnownFormat, RefOr, SchemaFormat};
use utoipa::{IntoParams, PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::placing::named::{self, VmNamed};
use super::whole;
use placewright_deployment::Deployment;
use placewright_deployment::cluster::{Begin, MoveNamed, PlanShown, USUAL_IN_FLIGHT, only_tried};
use placewright_deployment::durations;
use placewright_http::audit::Note;
use placewright_http::document::{long, written};
use placewright_http::extract::{Json, Path, Query};
use placewright_http::pool::Pool;
use placewright_http::problem::{Code, Problem};
use placewright_http::{Caller, NumberedPageQuery, Page, PageQuery};
use placewright_scheduler::BalanceOptions;

/// Moves of one plan at most.
const MOST_MOVES: usize = 10_000;

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new()
        .routes(routes!(list, plan))
        .routes(routes!(evacuate))
        .routes(routes!(show))
        .routes(routes!(begin))
        .routes(routes!(cancel))
}

/// How a plan is made. What is left out is as usual.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[schema(as = PlanRequest)]
struct PlanWanted {
    /// A move is made only if it lowers the policy's cost by more than this.
    #[schema(minimum = 0, example = 0.1)]
    margin: Option<f64>,
    /// Seconds for which a VM stays where it was moved to.
    #[serde(deserialize_with = "durations::seconds_if_any")]
    #[schema(minimum = 0, example = 3600)]
    cool_down: Option<i64>,
    /// The most moves.
    #[serde(default, deserialize_with = "whole::number_if_any")]
    #[schema(minimum = 1, maximum = 10000, example = 20)]
    moves: Option<usize>,
    /// Whether what is wrong with the cluster is put right first: VMs on hosts that are not up,
    /// hard groups that are broken, hosts that have promised more than they may. True if not
    /// given.
    repairs: Option<bool>,
    /// How many moves may be under way at once; 8 if not given.
    #[serde(default, deserialize_with = "whole::number_if_any")]
    #[schema(minimum = 1, example = 8)]
    max_in_flight: Option<usize>,
    /// Make the plan, and do not keep it. False if not given.
    dry_run: Option<bool>,
}

/// Whether a plan is only tried.
#[derive(Debug, Clone, Copy, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[into_params(parameter_in = Query)]
struct PlanQuery {
    /// Make the plan, and do not keep it: as "dry-run" in the request.
    dry_run: bool,
}

/// Hosts that are to be emptied.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[schema(as = Evacuation)]
struct Evacuate {
    /// Their ids.
    #[schema(min_items = 1, example = json!(["h1", "h2"]))]
    hosts: Vec<String>,
    /// Make the plan, and do not keep it.
    #[serde(default)]
    dry_run: bool,
    /// How many moves may be under way at once; 8 if not given.
    #[serde(default, deserialize_with = "whole::number_if_any")]
    #[schema(minimum = 1, example = 8)]
    max_in_flight: Option<usize>,
}

/// Which moves are begun.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[schema(as = PlanBegin)]
struct BeginWanted {
    /// Only these: numbers of steps, counted from 1, or ids of VMs. What a hard group keeps
    /// together with one of them is begun with it.
    moves: Option<Vec<MoveReference>>,
    /// How many moves of the plan may be under way at once, in place of what the plan says.
    #[serde(default, deserialize_with = "whole::number_if_any")]
    #[schema(minimum = 1, example = 8)]
    max_in_flight: Option<usize>,
    /// Seconds for which the places of these moves are reserved, at most the server's option
    /// longest-reservation, which is 24 h if not set; as long as its option reservation says if
    /// not given.
    #[serde(deserialize_with = "durations::seconds_if_any")]
    #[schema(minimum = 1, example = 120)]
    reserve_for: Option<i64>,
    /// Whether the plan goes on by itself: as one of these moves is confirmed, the next ones are
    /// begun in the same way. False ends that; if not given, it stays as it is. A move whose
    /// reservation ends unconfirmed holds up no others, and is begun again after the next one
    /// that ends.
    auto: Option<bool>,
}

/// A move of a plan.
#[derive(Debug, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "the number of a step, or the id of a VM in quotation marks"
)]
enum MoveReference {
    /// By its step, counted from 1.
    Step(usize),
    /// By its VM: the first that is not confirmed.
    Vm(VmNamed),
}

impl PartialSchema for MoveReference {
    fn schema() -> RefOr<Schema> {
        let step = ObjectBuilder::new()
            .schema_type(Type::Integer)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
            .minimum(Some(0))
            .description(Some("By its step, counted from 1"))
            .examples([1]);
        // Generators do not look into alternatives of alternatives.
        let either = named::or_named(OneOfBuilder::new().item(step));
        let meaning = "A move of a plan: by its step, or by its VM, the first move of it that is not confirmed";
        either.description(Some(meaning)).into()
    }
}

impl ToSchema for MoveReference {}

impl From<MoveReference> for MoveNamed {
    fn from(reference: MoveReference) -> Self {
        match reference {
            MoveReference::Step(step) => Self::Step(step),
            MoveReference::Vm(vm) => Self::Vm(vm.id()),
        }
    }
}

/// How many moves may be under way at once.
fn in_flight(wanted: Option<usize>) -> Result<Option<usize>, Problem> {
    match wanted {
        Some(0) => {
            let wrong =
                "\"max-in-flight\" must be 1 or more: cancel the plan to begin nothing more";
            Err(Problem::new(Code::Unprocessable, wrong))
        }
        wanted => Ok(wanted),
    }
}

impl PlanWanted {
    fn options(&self) -> Result<BalanceOptions, Problem> {
        let usual = BalanceOptions::default();
        let options = BalanceOptions {
            margin: self.margin.unwrap_or(usual.margin),
            cool_down: self.cool_down.unwrap_or(usual.cool_down),
            moves: self.moves.unwrap_or(usual.moves),
            repairs: self.repairs.unwrap_or(usual.repairs),
        };
        let wrong = match &options {
            it if !(it.margin >= 0.0 && it.margin.is_finite()) => "\"margin\" must be 0 or more",
            it if it.cool_down < 0 => "\"cool-down\" must be 0 seconds or more",
            it if !(1..=MOST_MOVES).contains(&it.moves) => "\"moves\" must be from 1 to 10000",
            _ => return Ok(options),
        };
        Err(Problem::new(Code::Unprocessable, wrong))
    }
}

/// The plans that are remembered, oldest first.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/plans", operation_id = "list_plans", tag = "plans",
    params(("cluster" = String, Path, description = "Name of the cluster"), NumberedPageQuery),
    responses((status = OK, body = Page<PlanShown>)))]
async fn list(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
    Query(page): Query<PageQuery>,
) -> Result<Response, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let plans = cluster.read(|state| Ok(state.plans())).await?;
    let after = page.after_number("a plan")?;
    let is_after = move |plan: &PlanShown, _: &str| plan.number > after;
    let named = |plan: &PlanShown| plan.number.unwrap_or(0).to_string();
    written(move || page.page_after(plans, is_after, named)).await
}

/// Plan moves: first of VMs on hosts that are in maintenance, down or faulty, of VMs that break
/// hard groups, and off hosts that have promised more than they may; then those that the policy's
/// balance unit proposes, that its chain would make, and that lower its cost. Nothing is begun.
/// A dry run is not kept, and has no number.
#[utoipa::path(post, path = "/v1/clusters/{cluster}/plans", operation_id = "create_plan", tag = "plans",
    params(("cluster" = String, Path, description = "Name of the cluster"), PlanQuery),
    request_body = PlanWanted,
    responses((status = CREATED, body = PlanShown), (status = OK, body = PlanShown)))]
async fn plan(
    State(deployment): State<Arc<Deployment>>,
    Extension(questions): Extension<Arc<Pool>>,
    Extension(note): Extension<Note>,
    Extension(caller): Extension<Caller>,
    Path(cluster): Path<String>,
    Query(query): Query<PlanQuery>,
    Json(wanted): Json<PlanWanted>,
) -> Result<Response, Problem> {
    let options = wanted.options()?;
    let cluster = deployment.cluster(&cluster)?;
    let max_in_flight = in_flight(wanted.max_in_flight)?.or(Some(USUAL_IN_FLIGHT));
    let planner = cluster.read(|state| state.planner()).await?;
    let about = (&caller.name, cluster.name());
    let plan = move |cancel| planner.unless(cancel).plan(&options);
    let plan = questions.run(about, plan).await?;
    if query.dry_run || wanted.dry_run == Some(true) {
        note.has_changed_nothing();
        return written(move || Ok::<_, Problem>(only_tried(plan, max_in_flight))).await;
    }
    // A new plan moves nothing: its record in the audit log gives way to those of changes.
    note.has_changed_nothing();
    let kept = cluster.turn_as(&caller, move |state| {
        state.remember_plan(plan, max_in_flight)
    });
    Ok((StatusCode::CREATED, long(kept.await?).await?).into_response())
}

/// Plan how hosts are emptied: none of them takes a VM, and every VM that runs there is placed
/// by the policy, one on top of the other. Nothing is begun; the plan says what cannot go, and
/// why. A dry run is not kept, and has no number.
#[utoipa::path(post, path = "/v1/clusters/{cluster}/evacuate", operation_id = "evacuate_hosts", tag = "plans",
    params(("cluster" = String, Path, description = "Name of the cluster"), PlanQuery),
    request_body = Evacuate,
    responses((status = CREATED, body = PlanShown), (status = OK, body = PlanShown)))]
async fn evacuate(
    State(deployment): State<Arc<Deployment>>,
    Extension(questions): Extension<Arc<Pool>>,
    Extension(note): Extension<Note>,
    Extension(caller): Extension<Caller>,
    Path(cluster): Path<String>,
    Query(query): Query<PlanQuery>,
    Json(wanted): Json<Evacuate>,
) -> Result<Response, Problem> {
    if wanted.hosts.is_empty() {
        let wrong = "\"hosts\" must name the hosts that are to be emptied";
        return Err(Problem::new(Code::Unprocessable, wrong));
    }
    let max_in_flight = in_flight(wanted.max_in_flight)?.or(Some(USUAL_IN_FLIGHT));
    let cluster = deployment.cluster(&cluster)?;
    let planner = cluster.read(|state| state.planner()).await?;
    let hosts: Vec<Arc<str>> = wanted
        .hosts
        .iter()
        .map(|host| host.as_str().into())
        .collect();
    let about = (&caller.name, cluster.name());
    let plan = move |cancel| planner.unless(cancel).evacuate(&hosts);
    let plan = questions.run(about, plan).await?;
    if query.dry_run || wanted.dry_run {
        note.has_changed_nothing();
        return written(move || Ok::<_, Problem>(only_tried(plan, max_in_flight))).await;
    }
    // A new plan moves nothing: its record in the audit log gives way to those of changes.
    note.has_changed_nothing();
    let kept = cluster.turn_as(&caller, move |state| {
        state.remember_plan(plan, max_in_flight)
    });
    Ok((StatusCode::CREATED, long(kept.await?).await?).into_response())
}

/// A plan.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/plans/{number}", operation_id = "get_plan", tag = "plans",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("number" = u64, Path, description = "Number of the plan")),
    responses((status = OK, body = PlanShown)))]
async fn show(
    State(deployment): State<Arc<Deployment>>,
    Path((cluster, number)): Path<(String, u64)>,
) -> Result<Response, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    long(cluster.read(move |state| state.plan(number)).await?).await
}

/// Begin moves of a plan: all in order, or those that are named, as many as may be under way at
/// once. Each is held against the policy as things are, its place is reserved, and what the
/// policy's effects have follow is written. Begin again when they are confirmed, or have the next
/// ones begun then by themselves with `auto`. The answer is the plan, in which each move says how far it is.
#[utoipa::path(post, path = "/v1/clusters/{cluster}/plans/{number}/begin", operation_id = "begin_plan", tag = "plans",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("number" = u64, Path, description = "Number of the plan")),
    request_body = Option<BeginWanted>, responses((status = OK, body = PlanShown)))]
async fn begin(
    State(deployment): State<Arc<Deployment>>,
    Extension(note): Extension<Note>,
    Extension(caller): Extension<Caller>,
    Path((cluster, number)): Path<(String, u64)>,
    wanted: Option<Json<BeginWanted>>,
) -> Result<Response, Problem> {
    let Json(wanted) = wanted.unwrap_or_default();
    let begin = Begin {
        max_in_flight: in_flight(wanted.max_in_flight)?,
        moves: (wanted.moves).map(|moves| moves.into_iter().map(MoveNamed::from).collect()),
        reserve_for: wanted.reserve_for,
        auto: wanted.auto,
    };
    let cluster = deployment.cluster(&cluster)?;
    let begun = cluster.turn_as(&caller, move |state| {
        let before = state.plan(number)?;
        let begun = state.begin_plan(number, &begin)?;
        if (before.counted, before.auto) == (begun.counted, begun.auto) {
            note.has_changed_nothing();
        }
        Ok(begun)
    });
    long(begun.await?).await
}

/// Give back the places of the moves that were begun and are not confirmed; no more of
/// them are begun. The answer is the plan.
#[utoipa::path(post, path = "/v1/clusters/{cluster}/plans/{number}/cancel", operation_id = "cancel_plan", tag = "plans",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("number" = u64, Path, description = "Number of the plan")),
    responses((status = OK, body = PlanShown)))]
async fn cancel(
    State(deployment): State<Arc<Deployment>>,
    Extension(note): Extension<Note>,
    Extension(caller): Extension<Caller>,
    Path((cluster, number)): Path<(String, u64)>,
) -> Result<Response, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let cancelled = cluster.turn_as(&caller, move |state| {
        if state.is_plan_idle(number) {
            note.has_changed_nothing();
        }
        state.cancel_plan(number)
    });
    long(cancelled.await?).await
}
