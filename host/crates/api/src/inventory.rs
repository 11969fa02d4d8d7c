//! What a cluster consists of: whole documents, and changes in bulk.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::contract;
use placewright_deployment::cluster::{Changed, MayVanish, Replacement, WantedHosts, WantedVms};
use placewright_deployment::{Deployment, DeploymentError};
use placewright_document::{ClusterDocument, InventoryChanges, alternatives, shown};
use placewright_http::audit::Note;
use placewright_http::document::{Document, long, written};
use placewright_http::extract::{Path, Query};
use placewright_http::problem::{Code, Problem};
use placewright_http::revision::{etag, wanted, wanted_if_any};
use placewright_http::{Caller, Page, PageQuery};
use placewright_model::schema::Schema;

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new()
        .routes(routes!(whole, replace))
        .routes(routes!(change))
        .routes(routes!(hosts))
        .routes(routes!(vms))
        .routes(routes!(groups))
        .routes(routes!(tenants))
}

/// The whole cluster as a document. Its ETag is another one after every change of the
/// inventory, statistics included. Put again, the document changes nothing.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/inventory", operation_id = "get_inventory", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster")),
    responses((status = OK, body = contract::ClusterDocument, description = "The cluster's document",
        headers(("ETag" = String, description = "Of the inventory as it is")))))]
async fn whole(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
) -> Result<Response, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let snapshot = cluster.snapshot().await?;
    let revision = snapshot.revision();
    let text = written(move || Ok::<_, Problem>(snapshot.document()));
    Ok(([etag(revision)], text.await?).into_response())
}

#[derive(Debug, Clone, Copy, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[into_params(parameter_in = Query)]
struct ReplaceQuery {
    /// How many hosts of the inventory the document lacks. To be given where they are more than
    /// the option `vanishing-share` allows; any other number is refused.
    vanishing_hosts: Option<usize>,
    /// How many VMs that run the document lacks, likewise.
    vanishing_vms: Option<usize>,
}

/// Put a document in the place of the whole inventory. Places that decisions have
/// reserved and the document does not speak of are kept, and of those that it has as they
/// were, their ends and what goes with them. If-Match names the inventory that was read: it is
/// only put if that has not changed since. A document that lacks many of the hosts or VMs is
/// refused unless the request says how many.
#[utoipa::path(put, path = "/v1/clusters/{cluster}/inventory", operation_id = "put_inventory", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ReplaceQuery,
           ("If-Match" = Option<String>, Header, description = "ETag of the inventory that is replaced; * for any")),
    request_body(content = contract::ClusterDocument, description = "The cluster's document, in JSON or TOML"),
    responses((status = OK, body = Changed)))]
async fn replace(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Extension(note): Extension<Note>,
    Path(cluster): Path<String>,
    Query(query): Query<ReplaceQuery>,
    headers: HeaderMap,
    document: Document,
) -> Result<Response, Problem> {
    let revision = wanted(&headers)?;
    let may = MayVanish {
        share: deployment.vanishing_share(),
        hosts: query.vanishing_hosts,
        vms: query.vanishing_vms,
    };
    let cluster = deployment.cluster(&cluster)?;
    let (name, now) = (cluster.name().clone(), deployment.now());
    let read = document.read(move |text, file| {
        let document = ClusterDocument::read_as(text, file, &name)?;
        let warnings = document.warnings();
        let replacement = Replacement::of_document(document, now)?;
        Ok::<_, DeploymentError>((replacement, warnings))
    });
    let (replacement, warnings) = read.await?;
    let replaced = cluster.turn_as(&caller.name, move |state| {
        state.check_revision(revision)?;
        state.check_vanishing(&replacement, may)?;
        let before = state.revision();
        let counted = state.replace_and_tell(replacement)?;
        Ok((counted, (before, state.revision())))
    });
    let (counted, revisions) = replaced.await?;
    note.revised(revisions);
    long(Changed {
        counted,
        results: None,
        warnings,
    })
    .await
}

/// Carry out changes, all of them or none: hosts, VMs, tenants and groups that are new
/// or different, attributes that are added, statistics, and what is gone. Of what is known
/// already only what is given changes, and null takes a value away. Of a group, `add-vms`,
/// `remove-vms`, `add-hosts` and `remove-hosts` change some members, `vms` and `hosts` give
/// all. Statistics may say when they were `measured`. With `"missing": "ignore"`, entries
/// about hosts and VMs that are not there are passed over, and the answer has a result for
/// each entry. With If-Match nothing is changed unless the inventory is as it was read.
#[utoipa::path(post, path = "/v1/clusters/{cluster}/inventory/changes", operation_id = "change_inventory", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("If-Match" = Option<String>, Header, description = "ETag of the inventory that is changed")),
    request_body(content = contract::InventoryChanges, description = "Attributes, lists under tenants, hosts, statistics, vms and groups, and ids under gone"),
    responses((status = OK, body = Changed)))]
async fn change(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Extension(note): Extension<Note>,
    Path(cluster): Path<String>,
    headers: HeaderMap,
    document: Document,
) -> Result<Response, Problem> {
    let revision = wanted_if_any(&headers)?;
    let cluster = deployment.cluster(&cluster)?;
    let schema = cluster.schema();
    let changes = document.read(move |text, file| {
        InventoryChanges::read(text, file, &schema).map_err(DeploymentError::from)
    });
    let changes = changes.await?;
    let changed = cluster.turn_as(&caller.name, move |state| {
        state.check_revision(revision)?;
        let before = state.revision();
        let changed = state.change_and_tell(changes)?;
        Ok((changed, (before, state.revision())))
    });
    let (changed, revisions) = changed.await?;
    note.revised(revisions);
    long(changed).await
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
#[utoipa::path(get, path = "/v1/clusters/{cluster}/hosts", operation_id = "list_hosts", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"), HostsQuery),
    responses((status = OK, body = Page<contract::Host>)))]
async fn hosts(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
    Query(query): Query<HostsQuery>,
) -> Result<Response, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let (after, page) = (query.after, PageQuery::of(query.limit));
    let (most, state) = (page.limit()?, query.state);
    check_state(state.as_deref())?;
    let wanted = WantedHosts { state };
    let snapshot = cluster.snapshot().await?;
    written(move || {
        let (items, next) = snapshot.hosts_shown(&wanted, after.as_deref(), most);
        let next = next.map(|id| id.to_string());
        Ok::<_, Problem>(Page { items, next })
    })
    .await
}

/// Check that hosts can be in a state.
fn check_state(state: Option<&str>) -> Result<(), Problem> {
    let column = Schema::built_in().column("hosts", "state");
    let known = column.map_or(&[][..], |column| column.choices);
    match state {
        Some(state) if !known.iter().any(|it| **it == *state) => {
            let words: Vec<&str> = known.iter().map(|it| &**it).collect();
            let sentence = format!(
                "\"state\" must be {}, not \"{}\"",
                alternatives(&words),
                shown(state)
            );
            Err(Problem::new(Code::InvalidParameter, sentence))
        }
        _ => Ok(()),
    }
}

/// The affinity groups of a cluster, by id.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/groups", operation_id = "list_groups", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"), PageQuery),
    responses((status = OK, body = Page<contract::Group>)))]
async fn groups(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
    Query(page): Query<PageQuery>,
) -> Result<Response, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let snapshot = cluster.snapshot().await?;
    written(move || page.page(snapshot.groups_shown(), id)).await
}

/// The tenants of a cluster, by id.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/tenants", operation_id = "list_tenants", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"), PageQuery),
    responses((status = OK, body = Page<contract::Tenant>)))]
async fn tenants(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
    Query(page): Query<PageQuery>,
) -> Result<Response, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let snapshot = cluster.snapshot().await?;
    written(move || page.page(snapshot.tenants_shown(), id)).await
}

/// The id of a row.
fn id(row: &Value) -> String {
    row["id"].as_str().unwrap_or_default().to_owned()
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
#[utoipa::path(get, path = "/v1/clusters/{cluster}/vms", operation_id = "list_vms", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"), VmsQuery),
    responses((status = OK, body = Page<contract::Vm>)))]
async fn vms(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
    Query(query): Query<VmsQuery>,
) -> Result<Response, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let (after, page) = (query.after, PageQuery::of(query.limit));
    let most = page.limit()?;
    let wanted = WantedVms {
        host: query.host,
        tenant: query.tenant,
        pending: query.pending,
    };
    let snapshot = cluster.snapshot().await?;
    written(move || {
        let (items, next) = snapshot.vms_shown(&wanted, after.as_deref(), most);
        let next = next.map(|id| id.to_string());
        Ok::<_, Problem>(Page { items, next })
    })
    .await
}
