//! Members of an affinity group, one at a time.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::json;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{One, shown};
use crate::contract;
use placewright_deployment::{Deployment, DeploymentError};
use placewright_document::{EntityKind, Extent, InventoryChanges};
use placewright_http::Caller;
use placewright_http::audit::Note;
use placewright_http::extract::Path;
use placewright_http::problem::Problem;
use placewright_http::revision::condition;

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new()
        .routes(routes!(add_vm, remove_vm))
        .routes(routes!(add_host, remove_host))
}

/// Add a VM to an affinity group, whether it runs or not. One that is in it already stays.
#[utoipa::path(put, path = "/v1/clusters/{cluster}/groups/{group}/vms/{vm}",
    operation_id = "put_group_vm", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("group" = String, Path, description = "Id of the group"),
           ("vm" = String, Path, description = "Id of the VM"),
           ("If-Match" = Option<String>, Header, description = "ETag of the group that is changed")),
    responses((status = OK, body = contract::Group, description = "The group as it is now",
        headers(("ETag" = String, description = "Of its document, to be sent as If-Match")))))]
async fn add_vm(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Extension(note): Extension<Note>,
    Path(path): Path<(String, String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    change(&deployment, (caller, note), path, &headers, "add-vms").await
}

/// Take a VM out of an affinity group. If it is not in it, nothing changes.
#[utoipa::path(delete, path = "/v1/clusters/{cluster}/groups/{group}/vms/{vm}",
    operation_id = "delete_group_vm", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("group" = String, Path, description = "Id of the group"),
           ("vm" = String, Path, description = "Id of the VM"),
           ("If-Match" = Option<String>, Header, description = "ETag of the group that is changed")),
    responses((status = OK, body = contract::Group, description = "The group as it is now",
        headers(("ETag" = String, description = "Of its document, to be sent as If-Match")))))]
async fn remove_vm(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Extension(note): Extension<Note>,
    Path(path): Path<(String, String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    change(&deployment, (caller, note), path, &headers, "remove-vms").await
}

/// Add a host to an affinity group. One that is in it already stays.
#[utoipa::path(put, path = "/v1/clusters/{cluster}/groups/{group}/hosts/{host}",
    operation_id = "put_group_host", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("group" = String, Path, description = "Id of the group"),
           ("host" = String, Path, description = "Id of the host"),
           ("If-Match" = Option<String>, Header, description = "ETag of the group that is changed")),
    responses((status = OK, body = contract::Group, description = "The group as it is now",
        headers(("ETag" = String, description = "Of its document, to be sent as If-Match")))))]
async fn add_host(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Extension(note): Extension<Note>,
    Path(path): Path<(String, String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    change(&deployment, (caller, note), path, &headers, "add-hosts").await
}

/// Take a host out of an affinity group. If it is not in it, nothing changes.
#[utoipa::path(delete, path = "/v1/clusters/{cluster}/groups/{group}/hosts/{host}",
    operation_id = "delete_group_host", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("group" = String, Path, description = "Id of the group"),
           ("host" = String, Path, description = "Id of the host"),
           ("If-Match" = Option<String>, Header, description = "ETag of the group that is changed")),
    responses((status = OK, body = contract::Group, description = "The group as it is now",
        headers(("ETag" = String, description = "Of its document, to be sent as If-Match")))))]
async fn remove_host(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Extension(note): Extension<Note>,
    Path(path): Path<(String, String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    change(&deployment, (caller, note), path, &headers, "remove-hosts").await
}

/// Do that with one member of a group. The answer is the group.
async fn change(
    deployment: &Deployment,
    (caller, note): (Caller, Note),
    (cluster, group, member): (String, String, String),
    headers: &HeaderMap,
    key: &str,
) -> Result<Response, Problem> {
    let condition = condition(headers)?;
    let one = One {
        cluster,
        kind: EntityKind::Group,
        id: group,
    };
    let cluster = deployment.cluster(&one.cluster)?;
    let change = json!({ key: [member] }).to_string();
    let about = (one.kind, &*one.id);
    let schema = cluster.schema();
    let changes = InventoryChanges::read_one(&change, "path.json", &schema, about, Extent::Change);
    let changes = changes.map_err(DeploymentError::from)?;
    let is_recorded = note.is_recorded();
    let changed = cluster.turn_as(&caller, move |state| {
        let before = one.before(state, is_recorded);
        let changed = state.change_entity(one.kind, &one.id, changes, condition)?;
        let entity = state.entity(one.kind, &one.id)?;
        Ok((before, entity, changed.warnings))
    });
    let (before, entity, warnings) = changed.await?;
    note.changed(before.as_ref(), Some(&entity.shown));
    shown(StatusCode::OK, entity, &warnings).await
}
