//! Quotas: how much tenants may hold, in one cluster or in all together.

mod document;

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use document::{QuotaDocument, QuotaPatch};
use placewright_deployment::{Deployment, DeploymentError, QuotaRecord, QuotaUse};
use placewright_http::audit::Note;
use placewright_http::document::{aside, long, written};
use placewright_http::extract::{Json, Path, Query};
use placewright_http::problem::Problem;
use placewright_http::{Caller, Page, PageQuery, revision};
use placewright_model::rfc3339;
use placewright_scheduler::{HoldingShown, QuotaLimits};

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(show, put, change, remove))
}

/// How much a tenant may hold, and how much it holds.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Quota)]
struct QuotaShown {
    /// What it is called.
    #[schema(value_type = String, example = "shop-north")]
    name: Arc<str>,
    /// The tenant, as VMs name it.
    #[schema(value_type = String, example = "shop")]
    tenant: Arc<str>,
    /// The cluster in which it is limited; not there: in all together.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "north")]
    cluster: Option<Arc<str>>,
    /// What it may hold there at most.
    limits: QuotaLimits,
    /// What it holds there now: what its VMs that run have, and what is reserved for others and
    /// for growth. It may be more than the limits, which hold for what is asked for.
    used: HoldingShown,
    /// Counts up with every change of the quota; its ETag.
    #[schema(example = 3)]
    revision: u64,
    /// When the quota was changed last.
    #[schema(format = DateTime)]
    at: String,
    /// Who changed it last.
    #[schema(example = "ci")]
    by: String,
}

impl From<QuotaUse> for QuotaShown {
    fn from((record, used): QuotaUse) -> Self {
        let QuotaRecord {
            name,
            revision,
            at,
            by,
            quota,
        } = QuotaRecord::clone(&record);
        Self {
            name,
            tenant: quota.tenant,
            cluster: quota.cluster,
            limits: quota.limits,
            used: used.into(),
            revision,
            at: rfc3339(at),
            by,
        }
    }
}

/// Which quotas.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct QuotasQuery {
    /// Entries at most, from 1 to 1000; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// Begin after this entry: the `next` of the page before.
    after: Option<String>,
    /// Those of this tenant alone.
    tenant: Option<String>,
    /// Those that hold in this cluster: its own, and those of all clusters together.
    cluster: Option<String>,
}

/// Whether a quota is shown to a caller: one of a cluster that its token is for, or of all
/// clusters together, since that holds there as well.
fn is_shown(caller: &Caller, record: &QuotaRecord) -> bool {
    let cluster = record.quota.cluster.as_deref();
    cluster.is_none_or(|cluster| caller.sees(cluster))
}

/// All quotas, by name; of a token that is for some clusters those of these clusters, and those
/// of all clusters together.
#[utoipa::path(get, path = "/v1/quotas", operation_id = "list_quotas", tag = "quotas", params(QuotasQuery),
    responses((status = OK, body = Page<QuotaShown>)))]
async fn list(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<QuotasQuery>,
) -> Result<Response, Problem> {
    written(move || {
        if let Some(cluster) = &query.cluster {
            deployment.cluster(cluster)?;
        }
        let page = PageQuery {
            limit: query.limit,
            after: query.after,
        };
        let is_wanted = |record: &QuotaRecord| {
            let (tenant, cluster) = (&record.quota.tenant, record.quota.cluster.as_deref());
            let is_of_tenant = (query.tenant.as_deref()).is_none_or(|it| **tenant == *it);
            let is_there = match (query.cluster.as_deref(), cluster) {
                (Some(wanted), Some(cluster)) => wanted == cluster,
                _ => true,
            };
            is_of_tenant && is_there && is_shown(&caller, record)
        };
        let quotas = deployment.quotas().into_iter();
        let shown = quotas.filter(|(record, _)| is_wanted(record));
        page.page("quotas", shown.map(QuotaShown::from), |quota| {
            quota.name.to_string()
        })
    })
    .await
}

async fn with_tag(status: StatusCode, quota: QuotaShown) -> Result<Response, Problem> {
    let tag = [revision::etag(quota.revision)];
    Ok((status, tag, long(quota).await?).into_response())
}

/// What the audit log has of a quota: what is held under it is none of its own.
fn recorded(record: &QuotaRecord) -> Option<Value> {
    serde_json::to_value(&record.quota).ok()
}

/// A quota, with what the tenant holds.
#[utoipa::path(get, path = "/v1/quotas/{quota}", operation_id = "get_quota", tag = "quotas",
    params(("quota" = String, Path, description = "Name of the quota")),
    responses((status = OK, body = QuotaShown,
        headers(("ETag" = String, description = "Of its revision, to be sent as If-Match")))))]
async fn show(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path(quota): Path<String>,
) -> Result<Response, Problem> {
    let found = match deployment.quota(&quota) {
        Ok(found) if is_shown(&caller, &found.0) => found,
        Ok(_) => return Err(Problem::not_found("quota", &quota)),
        Err(error) => return Err(caller.told_error(error)),
    };
    with_tag(StatusCode::OK, found.into()).await
}

/// Make a quota, or put another one in its place. From then on nothing is placed with which the
/// tenant would hold more than it allows; what is held already stays. A tenant has at most one
/// quota in each cluster, and one in all clusters together.
#[utoipa::path(put, path = "/v1/quotas/{quota}", operation_id = "put_quota", tag = "quotas",
    params(("quota" = String, Path, description = "Name of the quota: 1 to 64 letters, digits, \"-\", \"_\" and \".\""),
           ("If-Match" = Option<String>, Header, description = "Revision that is changed, as its ETag; * for any"),
           ("If-None-Match" = Option<String>, Header, description = "* to make a new quota")),
    request_body = QuotaDocument,
    responses((status = OK, body = QuotaShown, description = "The quota as it is now",
                  headers(("ETag" = String, description = "Of its revision, to be sent as If-Match"))),
              (status = CREATED, body = QuotaShown, description = "The quota, which is new",
                  headers(("ETag" = String, description = "Of its revision, to be sent as If-Match"))),
              (status = PRECONDITION_REQUIRED, description = "Neither If-Match nor If-None-Match: * is sent")))]
async fn put(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Extension(note): Extension<Note>,
    Path(quota): Path<String>,
    headers: HeaderMap,
    Json(document): Json<QuotaDocument>,
) -> Result<Response, Problem> {
    let revision = revision::wanted(&headers)?;
    let put = move || {
        let wanted = document.quota(&quota)?;
        let before = deployment.quota(&quota).ok();
        let (is_new, put) = deployment.put_quota(&quota, wanted, revision, &caller)?;
        let before = before.and_then(|(record, _)| recorded(&record));
        note.changed(before.as_ref(), recorded(&put.0).as_ref());
        Ok::<_, DeploymentError>((is_new, QuotaShown::from(put)))
    };
    let (is_new, shown) = aside(put).await?;
    let status = match is_new {
        true => StatusCode::CREATED,
        false => StatusCode::OK,
    };
    with_tag(status, shown).await
}

/// Change some of a quota; null removes a limit, or the cluster, everything else stays.
#[utoipa::path(patch, path = "/v1/quotas/{quota}", operation_id = "patch_quota", tag = "quotas",
    params(("quota" = String, Path, description = "Name of the quota"),
           ("If-Match" = Option<String>, Header, description = "Revision that is changed, as its ETag; * for any")),
    request_body = QuotaPatch,
    responses((status = OK, body = QuotaShown,
        headers(("ETag" = String, description = "Of its revision, to be sent as If-Match")))))]
async fn change(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Extension(note): Extension<Note>,
    Path(quota): Path<String>,
    headers: HeaderMap,
    Json(patch): Json<QuotaPatch>,
) -> Result<Response, Problem> {
    let revision = revision::wanted_if_any(&headers)?;
    let change = move || {
        let mut before = None;
        let apply = |quota: &mut _| {
            before = serde_json::to_value(&*quota).ok();
            patch.apply(quota);
        };
        let changed = deployment.change_quota(&quota, apply, revision, &caller)?;
        note.changed(before.as_ref(), recorded(&changed.0).as_ref());
        Ok::<_, DeploymentError>(QuotaShown::from(changed))
    };
    with_tag(StatusCode::OK, aside(change).await?).await
}

/// Remove a quota: its tenant is limited by it no more.
#[utoipa::path(delete, path = "/v1/quotas/{quota}", operation_id = "delete_quota", tag = "quotas",
    params(("quota" = String, Path, description = "Name of the quota"),
           ("If-Match" = Option<String>, Header, description = "Revision that is removed, as its ETag; * for any")),
    responses((status = NO_CONTENT)))]
async fn remove(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Extension(note): Extension<Note>,
    Path(quota): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let revision = revision::wanted_if_any(&headers)?;
    let remove = move || {
        let removed = deployment.remove_quota(&quota, revision, &caller)?;
        note.changed(recorded(&removed).as_ref(), None);
        Ok::<_, DeploymentError>(())
    };
    aside(remove).await?;
    Ok(StatusCode::NO_CONTENT)
}
