//! One host, VM, group or tenant: its row of the cluster's document, read, put, changed in
//! part, taken out.

mod kinds;
mod members;
mod operations;

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, routing};
use serde_json::{Value, json};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use kinds::{Entity, Group, Host, Tenant, Vm};
use placewright_deployment::cluster::{ClusterState, EntityShown};
use placewright_deployment::{Deployment, DeploymentError};
use placewright_document::{EntityKind, Extent, InventoryChanges};
use placewright_http::Caller;
use placewright_http::audit::Note;
use placewright_http::document::{Document, long};
use placewright_http::extract::Path;
use placewright_http::problem::Problem;
use placewright_http::revision::{condition, etag};

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new()
        .routes(routes_of::<Host>())
        .routes(routes_of::<Vm>())
        .routes(routes_of::<Group>())
        .routes(routes_of::<Tenant>())
        .merge(members::routes())
}

fn routes_of<E: Entity>() -> UtoipaMethodRouter<Arc<Deployment>> {
    let methods = routing::get(show::<E>)
        .put(put::<E>)
        .patch(change::<E>)
        .delete(remove::<E>);
    (Vec::new(), operations::paths::<E>(), methods)
}

/// The entity that a path names.
struct One {
    cluster: String,
    kind: EntityKind,
    id: String,
}

impl One {
    fn of<E: Entity>((cluster, id): (String, String)) -> Self {
        Self {
            cluster,
            kind: E::KIND,
            id,
        }
    }

    /// Read what a request says of it.
    async fn read(
        &self,
        deployment: &Deployment,
        document: Document,
        extent: Extent,
    ) -> Result<InventoryChanges, Problem> {
        let schema = deployment.cluster(&self.cluster)?.schema();
        let (kind, id) = (self.kind, self.id.clone());
        let read = move |text: &str, file: &'static str| {
            InventoryChanges::read_one(text, file, &schema, (kind, &id), extent)
                .map_err(DeploymentError::from)
        };
        // It is small enough to be carried out without counting any more.
        let (changes, _) = document.read(read).await?;
        Ok(changes)
    }

    /// Its row before it changes, for the audit log if there is one.
    fn before(&self, state: &mut ClusterState, is_recorded: bool) -> Option<Value> {
        let entity = is_recorded.then(|| state.entity(self.kind, &self.id));
        entity?.ok().map(|entity| entity.shown)
    }

    /// Where it is found, if its id can stand in a header.
    fn location(&self) -> Option<HeaderValue> {
        let is_plain = |id: &str| {
            id.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
        };
        let path = format!(
            "/v1/clusters/{}/{}/{}",
            self.cluster,
            self.kind.list(),
            self.id
        );
        match is_plain(&self.cluster) && is_plain(&self.id) {
            true => HeaderValue::from_str(&path).ok(),
            false => None,
        }
    }
}

/// The entity as it is now, with what is allowed in what was sent and surely a mistake.
async fn shown(
    status: StatusCode,
    entity: EntityShown,
    warnings: &[String],
) -> Result<Response, Problem> {
    let EntityShown { mut shown, tag } = entity;
    if let (false, Some(columns)) = (warnings.is_empty(), shown.as_object_mut()) {
        columns.insert("warnings".to_owned(), json!(warnings));
    }
    Ok((status, [etag(tag)], long(shown).await?).into_response())
}

async fn show<E: Entity>(
    State(deployment): State<Arc<Deployment>>,
    Path(path): Path<(String, String)>,
) -> Result<Response, Problem> {
    let one = One::of::<E>(path);
    let cluster = deployment.cluster(&one.cluster)?;
    let entity = cluster.read(move |state| state.entity(one.kind, &one.id));
    shown(StatusCode::OK, entity.await?, &[]).await
}

async fn put<E: Entity>(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Extension(note): Extension<Note>,
    Path(path): Path<(String, String)>,
    headers: HeaderMap,
    document: Document,
) -> Result<Response, Problem> {
    let one = One::of::<E>(path);
    let condition = condition(&headers)?;
    let changes = one.read(&deployment, document, Extent::Whole).await?;
    let location = one.location();
    let cluster = deployment.cluster(&one.cluster)?;
    let is_recorded = note.is_recorded();
    let put = cluster.turn_as(&caller, move |state| {
        let before = one.before(state, is_recorded);
        let (is_new, changed) = state.put_entity(one.kind, &one.id, changes, condition)?;
        let entity = state.entity(one.kind, &one.id)?;
        Ok((is_new, before, entity, changed.warnings))
    });
    let (is_new, before, entity, warnings) = put.await?;
    note.changed(before.as_ref(), Some(&entity.shown));
    if !is_new {
        return shown(StatusCode::OK, entity, &warnings).await;
    }
    let mut response = shown(StatusCode::CREATED, entity, &warnings).await?;
    if let Some(location) = location {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

async fn change<E: Entity>(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Extension(note): Extension<Note>,
    Path(path): Path<(String, String)>,
    headers: HeaderMap,
    document: Document,
) -> Result<Response, Problem> {
    let one = One::of::<E>(path);
    let condition = condition(&headers)?;
    let changes = one.read(&deployment, document, Extent::Change).await?;
    let cluster = deployment.cluster(&one.cluster)?;
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

async fn remove<E: Entity>(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Extension(note): Extension<Note>,
    Path(path): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let one = One::of::<E>(path);
    let condition = condition(&headers)?;
    let cluster = deployment.cluster(&one.cluster)?;
    let is_recorded = note.is_recorded();
    let removed = cluster.turn_as(&caller, move |state| {
        let before = one.before(state, is_recorded);
        state.remove_entity(one.kind, &one.id, condition)?;
        Ok(before)
    });
    let before = removed.await?;
    note.changed(before.as_ref(), None);
    Ok(StatusCode::NO_CONTENT)
}
