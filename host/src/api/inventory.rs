//! What a cluster consists of: whole documents, and changes in bulk.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::document::{Document, aside, json};
use super::extract::{Json, Path, Query};
use super::problem::Problem;
use super::revision::{etag, wanted_if_any};
use super::{Caller, Page, PageQuery};
use crate::deployment::cluster::{Changed, WantedHosts, WantedVms};
use crate::deployment::{Deployment, DeploymentError};
use crate::document::{ClusterDocument, InventoryChanges};

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new()
        .routes(routes!(whole, replace))
        .routes(routes!(change))
        .routes(routes!(hosts))
        .routes(routes!(host, remove_host))
        .routes(routes!(vms))
        .routes(routes!(vm, remove_vm))
        .routes(routes!(groups))
        .routes(routes!(remove_group))
        .routes(routes!(tenants))
}

/// The whole cluster as a document. Its ETag is another one after every change of the
/// inventory, statistics included. Put again, the document changes nothing.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/inventory", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster")),
    responses((status = OK, body = Object, description = "The cluster's document")))]
async fn whole(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
) -> Result<Response, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let whole = cluster.turn(|state| {
        let document = state.document();
        Ok((document, state.revision()))
    });
    let (document, revision) = whole.await?;
    let text =
        aside(move || serde_json::to_string(&document).map_err(|error| Problem::internal(&error)));
    Ok(([etag(revision)], json(text.await?)).into_response())
}

/// Put a document in the place of the whole inventory. Places that decisions have
/// reserved and the document does not speak of are kept, and of those that it has as they
/// were, their ends and what goes with them. With If-Match it is only put if the inventory
/// has not changed since.
#[utoipa::path(put, path = "/v1/clusters/{cluster}/inventory", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("If-Match" = Option<String>, Header, description = "ETag of the inventory that is replaced")),
    request_body(content = Object, description = "The cluster's document"),
    responses((status = OK, body = Changed)))]
async fn replace(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path(cluster): Path<String>,
    headers: HeaderMap,
    Document { text, file }: Document,
) -> Result<Json<Changed>, Problem> {
    let revision = wanted_if_any(&headers)?;
    let cluster = deployment.cluster(&cluster)?;
    let name = cluster.name().clone();
    let document =
        aside(move || ClusterDocument::read_as(&text, file, &name).map_err(DeploymentError::from));
    let document = document.await?;
    let warnings = document.warnings();
    let replaced = cluster.turn_as(&caller.name, move |state| {
        state.check_revision(revision)?;
        state.replace_and_tell(document)
    });
    Ok(Json(Changed {
        counted: replaced.await?,
        results: None,
        warnings,
    }))
}

/// Carry out changes, all of them or none: hosts, VMs, tenants and groups that are new
/// or different, attributes that are added, statistics, and what is gone. Of what is known
/// already only what is given changes, and null takes a value away. Of a group, `add-vms`,
/// `remove-vms`, `add-hosts` and `remove-hosts` change some members, `vms` and `hosts` give
/// all. Statistics may say when they were `measured`. With `"missing": "ignore"`, entries
/// about hosts and VMs that are not there are passed over, and the answer has a result for
/// each entry. With If-Match nothing is changed unless the inventory is as it was read.
#[utoipa::path(post, path = "/v1/clusters/{cluster}/inventory/changes", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("If-Match" = Option<String>, Header, description = "ETag of the inventory that is changed")),
    request_body(content = Object, description = "Attributes, lists under tenants, hosts, statistics, vms and groups, and ids under gone"),
    responses((status = OK, body = Changed)))]
async fn change(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path(cluster): Path<String>,
    headers: HeaderMap,
    Document { text, file }: Document,
) -> Result<Json<Changed>, Problem> {
    let revision = wanted_if_any(&headers)?;
    let cluster = deployment.cluster(&cluster)?;
    let schema = cluster.schema();
    let changes =
        aside(move || InventoryChanges::read(&text, file, &schema).map_err(DeploymentError::from));
    let changes = changes.await?;
    Ok(Json(
        cluster
            .turn_as(&caller.name, move |state| {
                state.check_revision(revision)?;
                state.change_and_tell(changes)
            })
            .await?,
    ))
}

/// Which hosts are wanted.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct HostsQuery {
    /// Entries at most, from 1 to 1000; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// Begin after this entry: the `next` of the page before.
    after: Option<String>,
    /// Only hosts in this state: up, maintenance, down or error.
    state: Option<String>,
}

/// The hosts of a cluster, by id.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/hosts", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"), HostsQuery),
    responses((status = OK, body = Page<Value>)))]
async fn hosts(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
    Query(query): Query<HostsQuery>,
) -> Result<Json<Page<Value>>, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let (after, page) = (query.after, PageQuery::of(query.limit));
    let (most, state) = (page.limit()?, query.state);
    let wanted = WantedHosts { state };
    let shown = cluster.turn(move |state| Ok(state.hosts_shown(&wanted, after.as_deref(), most)));
    let (items, next) = shown.await?;
    let next = next.map(|id| id.to_string());
    Ok(Json(Page { items, next }))
}

/// A host: what was given of it, what its VMs add up to, and which they are.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/hosts/{host}", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("host" = String, Path, description = "Id of the host")),
    responses((status = OK, body = Object)))]
async fn host(
    State(deployment): State<Arc<Deployment>>,
    Path((cluster, host)): Path<(String, String)>,
) -> Result<Json<Value>, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let shown = cluster.turn(move |state| {
        let hosts = state.inventory().hosts().map(|(_, known)| &*known.id);
        let unknown = || DeploymentError::unknown("host", &host, hosts);
        state.host_shown(&host).ok_or_else(unknown)
    });
    Ok(Json(shown.await?))
}

/// Take a host out of the cluster.
#[utoipa::path(delete, path = "/v1/clusters/{cluster}/hosts/{host}", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("host" = String, Path, description = "Id of the host")),
    responses((status = NO_CONTENT)))]
async fn remove_host(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path((cluster, host)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    remove(&deployment, &caller, &cluster, "hosts", &host).await
}

/// A VM runs no more, and has no place reserved any more.
#[utoipa::path(delete, path = "/v1/clusters/{cluster}/vms/{vm}", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("vm" = String, Path, description = "Id of the VM")),
    responses((status = NO_CONTENT)))]
async fn remove_vm(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path((cluster, vm)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    remove(&deployment, &caller, &cluster, "vms", &vm).await
}

/// The affinity groups of a cluster, by id.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/groups", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"), PageQuery),
    responses((status = OK, body = Page<Value>)))]
async fn groups(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
    Query(page): Query<PageQuery>,
) -> Result<Json<Page<Value>>, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let groups = cluster.turn(|state| Ok(state.groups_shown())).await?;
    Ok(Json(page.page(groups, id)?))
}

/// Take an affinity group out of the cluster.
#[utoipa::path(delete, path = "/v1/clusters/{cluster}/groups/{group}", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("group" = String, Path, description = "Id of the group")),
    responses((status = NO_CONTENT)))]
async fn remove_group(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path((cluster, group)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    let (of, id) = (deployment.cluster(&cluster)?, group.clone());
    let there = of.turn(move |state| {
        let known = state.inventory().groups().map(|entry| &*entry.group.id);
        match state.inventory().group(&id) {
            Some(_) => Ok(()),
            None => Err(DeploymentError::unknown("group", &id, known)),
        }
    });
    there.await?;
    remove(&deployment, &caller, &cluster, "groups", &group).await
}

/// The tenants of a cluster, by id.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/tenants", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"), PageQuery),
    responses((status = OK, body = Page<Value>)))]
async fn tenants(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
    Query(page): Query<PageQuery>,
) -> Result<Json<Page<Value>>, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let tenants = cluster.turn(|state| Ok(state.tenants_shown())).await?;
    Ok(Json(page.page(tenants, id)?))
}

/// The id of a row.
fn id(row: &Value) -> String {
    row["id"].as_str().unwrap_or_default().to_owned()
}

/// Take something out, as a change that says that it is gone does.
async fn remove(
    deployment: &Arc<Deployment>,
    caller: &Caller,
    cluster: &str,
    list: &str,
    id: &str,
) -> Result<StatusCode, Problem> {
    let cluster = deployment.cluster(cluster)?;
    let gone = serde_json::json!({ "gone": { list: [id] } }).to_string();
    let changes = InventoryChanges::read(&gone, "request", &cluster.schema());
    let changes = changes.map_err(DeploymentError::from)?;
    let changed = cluster.turn_as(&caller.name, |state| state.change_and_tell(changes));
    changed.await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Which VMs are wanted.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct VmsQuery {
    /// Entries at most, from 1 to 1000; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// Begin after this entry: the `next` of the page before.
    after: Option<String>,
    /// Only VMs that run on this host or have a place reserved there.
    host: Option<String>,
    /// Only VMs of this tenant.
    tenant: Option<String>,
    /// true: only VMs for which a place is reserved; false: only those that run.
    pending: Option<bool>,
}

/// The VMs of a cluster that run or have a place reserved, by id.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/vms", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"), VmsQuery),
    responses((status = OK, body = Page<Value>)))]
async fn vms(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
    Query(query): Query<VmsQuery>,
) -> Result<Json<Page<Value>>, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let (after, page) = (query.after, PageQuery::of(query.limit));
    let most = page.limit()?;
    let wanted = WantedVms {
        host: query.host,
        tenant: query.tenant,
        pending: query.pending,
    };
    let shown = cluster.turn(move |state| Ok(state.vms_shown(&wanted, after.as_deref(), most)));
    let (items, next) = shown.await?;
    let next = next.map(|id| id.to_string());
    Ok(Json(Page { items, next }))
}

/// A VM: where it runs, and where it has a place reserved.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/vms/{vm}", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("vm" = String, Path, description = "Id of the VM")),
    responses((status = OK, body = Object)))]
async fn vm(
    State(deployment): State<Arc<Deployment>>,
    Path((cluster, vm)): Path<(String, String)>,
) -> Result<Json<Value>, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let shown = cluster.turn(move |state| {
        let shown = state.vm_shown(&vm);
        shown.ok_or_else(|| DeploymentError::unknown("VM", &vm, []))
    });
    Ok(Json(shown.await?))
}
