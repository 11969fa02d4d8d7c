//! What a cluster consists of: whole documents, and changes in bulk.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize, Serializer};
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::contract;
use placewright_deployment::cluster::{Changed, MayVanish, Replacement, Snapshot};
use placewright_deployment::{Deployment, DeploymentError};
use placewright_document::{ClusterDocument, InventoryChanges};
use placewright_http::Caller;
use placewright_http::answers::Answers;
use placewright_http::audit::Note;
use placewright_http::document::{Document, long, written};
use placewright_http::extract::{Path, Query};
use placewright_http::problem::Problem;
use placewright_http::revision::{etag, wanted_if_any, wanted_of_known};

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new()
        .routes(routes!(whole, replace))
        .routes(routes!(change))
}

/// A cluster whose document is written row by row.
struct Whole(Arc<Snapshot>);

impl Serialize for Whole {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.document().serialize(serializer)
    }
}

/// The whole cluster as a document. Its ETag is another one after every change of the
/// inventory, statistics included. Put again, the document changes nothing.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/inventory", operation_id = "get_inventory", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster")),
    responses((status = OK, body = contract::ClusterDocument, description = "The cluster's document",
        headers(("ETag" = String, description = "Of the inventory as it is"),
            ("Inventory-Version" = u64, description = "The version to follow the inventory from")))))]
async fn whole(
    State(deployment): State<Arc<Deployment>>,
    Extension(answers): Extension<Arc<Answers>>,
    Extension(caller): Extension<Caller>,
    Path(cluster): Path<String>,
) -> Result<Response, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let making = answers.make(&caller, cluster.name()).await?;
    let snapshot = cluster.snapshot().await?;
    let (revision, version) = (snapshot.revision(), snapshot.version());
    let text = written(move || Ok::<_, Problem>(Whole(snapshot)));
    let version = [("inventory-version", version.to_string())];
    let mut response = ([etag(revision)], version, text.await?).into_response();
    response.extensions_mut().insert(making);
    Ok(response)
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
           ("If-Match" = Option<String>, Header, description = "ETag of the inventory that is replaced; * for any. Without it the answer is 428")),
    request_body(content = contract::ClusterDocument, description = "The cluster's document, in JSON or TOML"),
    responses((status = OK, body = Changed),
              (status = PRECONDITION_REQUIRED, description = "No If-Match is sent")))]
async fn replace(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Extension(note): Extension<Note>,
    Path(cluster): Path<String>,
    Query(query): Query<ReplaceQuery>,
    headers: HeaderMap,
    document: Document,
) -> Result<Response, Problem> {
    let revision = wanted_of_known(&headers)?;
    let may = MayVanish {
        share: deployment.vanishing_share(),
        hosts: query.vanishing_hosts,
        vms: query.vanishing_vms,
    };
    let cluster = deployment.cluster(&cluster)?;
    let (name, now) = (cluster.name().clone(), deployment.now());
    let bounds = deployment.bounds();
    let read = document.read(move |text, file| {
        let document = ClusterDocument::read_as(text, file, &name)?;
        let warnings = document.warnings();
        let replacement = Replacement::of_document(document, now, bounds)?;
        Ok::<_, DeploymentError>((replacement, warnings))
    });
    let ((replacement, warnings), weight) = read.await?;
    let replaced = cluster.turn_as(&caller, move |state| {
        let _weight = weight;
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
    let (changes, weight) = changes.await?;
    let changed = cluster.turn_as(&caller, move |state| {
        let _weight = weight;
        state.check_revision(revision)?;
        let before = state.revision();
        let changed = state.change_and_tell(changes)?;
        Ok((changed, (before, state.revision())))
    });
    let (changed, revisions) = changed.await?;
    note.revised(revisions);
    long(changed).await
}
