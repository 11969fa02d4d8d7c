//! A cluster at a glance: sums, decisions by the minute, columns of hosts, whether its groups are kept.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use placewright_deployment::Deployment;
use placewright_deployment::cluster::{
    ClusterRates, ClusterSums, GroupStanding, HostColumns, HostSchema, WantedStandings,
};
use placewright_document::shown;
use placewright_http::document::written;
use placewright_http::extract::{Path, Query};
use placewright_http::problem::{Code, Problem};
use placewright_http::{Page, PageQuery};

/// Columns that are given at once at most.
const MOST: usize = 64;

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new()
        .routes(routes!(sums))
        .routes(routes!(rates))
        .routes(routes!(columns))
        .routes(routes!(schema))
        .routes(routes!(standings))
}

/// What the hosts of a cluster have together, and what of it is promised: CPU in cores, memory
/// in bytes, of the hosts that are up.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/sums", operation_id = "get_sums", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster")),
    responses((status = OK, body = ClusterSums)))]
async fn sums(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
) -> Result<Response, Problem> {
    let snapshot = deployment.cluster(&cluster)?.snapshot().await?;
    written(move || Ok::<_, Problem>(snapshot.sums())).await
}

/// How many decisions a cluster has made in each minute of the last hour, by how they ended, but for
/// those that were only tried. They are counted from the start of the server on.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/rates", operation_id = "get_rates", tag = "decisions",
    params(("cluster" = String, Path, description = "Name of the cluster")),
    responses((status = OK, body = ClusterRates)))]
async fn rates(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
) -> Result<axum::Json<ClusterRates>, Problem> {
    let now = deployment.now();
    Ok(axum::Json(deployment.cluster(&cluster)?.rates(now)))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ColumnsQuery {
    /// Names of columns of hosts, with commas between them: `id,state,cpu.committed`.
    #[param(pattern = "[^, ]")]
    columns: String,
}

/// Columns of all hosts, in the order of the hosts' ids: a fraction of what the rows take.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/host-columns", operation_id = "get_host_columns", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"), ColumnsQuery),
    responses((status = OK, body = HostColumns)))]
async fn columns(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
    Query(query): Query<ColumnsQuery>,
) -> Result<Response, Problem> {
    let names = query.columns.split(',').map(|name| name.trim().to_owned());
    let names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
    if !(1..=MOST).contains(&names.len()) {
        let sentence = format!("\"columns\" must name from 1 to {MOST} columns of hosts");
        return Err(Problem::new(Code::InvalidParameter, sentence));
    }
    let snapshot = deployment.cluster(&cluster)?.snapshot().await?;
    written(move || {
        snapshot.host_columns(&names).map_err(|(name, nearest)| {
            let meant = nearest.map_or_else(String::new, |it| format!(" (did you mean \"{it}\"?)"));
            let name = shown(&name);
            let sentence = format!("hosts have no column \"{name}\"{meant}");
            Problem::new(Code::InvalidParameter, sentence)
        })
    })
    .await
}

/// The columns that hosts of a cluster may have, attributes of the cluster included: what kind of
/// values they have, in what these are measured, and what they mean.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/host-schema", operation_id = "get_host_schema", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster")),
    responses((status = OK, body = HostSchema)))]
async fn schema(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
) -> Result<Response, Problem> {
    let schema = deployment.cluster(&cluster)?.schema();
    written(move || Ok::<_, Problem>(HostSchema::of(&schema))).await
}

/// Which groups are wanted: all that fit everything that is given.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct StandingsQuery {
    /// Entries at most, from 1 to 1000; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// Begin after this entry: the `next` of the page before.
    after: Option<String>,
    /// true: only groups that are kept; false: only those that are broken.
    kept: Option<bool>,
    /// true: only groups with a rule that must be kept; false: only others.
    hard: Option<bool>,
    /// Only groups that this VM is in by its id.
    vm: Option<String>,
    /// Only groups with this in their id or name, in letters of either case.
    text: Option<String>,
}

/// Of the groups of a cluster, by id: whether they are kept by where their VMs are, and which
/// VMs break them. Of the VMs of a group the first ones are named, and all are counted.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/group-standings", operation_id = "list_group_standings", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"), StandingsQuery),
    responses((status = OK, body = Page<GroupStanding>)))]
async fn standings(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
    Query(query): Query<StandingsQuery>,
) -> Result<Response, Problem> {
    let page = PageQuery {
        limit: query.limit,
        after: query.after,
    };
    let wanted = WantedStandings {
        kept: query.kept,
        hard: query.hard,
        vm: query.vm,
        text: query.text,
    };
    let snapshot = deployment.cluster(&cluster)?.snapshot().await?;
    written(move || {
        let list = "group-standings";
        let groups = snapshot.group_standings(wanted, page.after_key(list)?);
        page.page(list, groups, |group| group.id.to_string())
    })
    .await
}
