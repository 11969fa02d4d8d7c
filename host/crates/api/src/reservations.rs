//! Places that are reserved: listed, looked at, renewed, released.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use placewright_deployment::Deployment;
use placewright_deployment::cluster::Reservation;
use placewright_deployment::durations;
use placewright_http::document::long;
use placewright_http::extract::{Json, Path, Query};
use placewright_http::problem::Problem;
use placewright_http::{Caller, Page, PageQuery};

/// What cursors of the list begin with.
const LIST: &str = "reservations";

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new()
        .routes(routes!(list_reservations))
        .routes(routes!(show_reservation, release_reservation))
        .routes(routes!(renew_reservation))
}

/// For how long a reservation is renewed. What is left out is as usual.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[schema(as = ReservationRenewal)]
struct Renewal {
    /// Seconds from now on, from 1 to the server's option longest-reservation, which is 24 h if
    /// not set. 0, until it is confirmed or released, is refused unless that option or the
    /// option reservation is 0.
    #[serde(deserialize_with = "durations::seconds_if_any")]
    #[schema(minimum = 0, example = 600)]
    reserve_for: Option<i64>,
}

/// The places that are reserved for VMs which do not run there yet, by VM.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/reservations", operation_id = "list_reservations", tag = "placing",
    params(("cluster" = String, Path, description = "Name of the cluster"), PageQuery),
    responses((status = OK, body = Page<Reservation>)))]
async fn list_reservations(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
    Query(page): Query<PageQuery>,
) -> Result<Response, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let most = page.limit()?;
    let after = page.after_key(LIST)?.map(str::to_owned);
    let listed = cluster.read(move |state| Ok(state.reservations(after.as_deref(), most)));
    let (items, next) = listed.await?;
    let next = next.map(|vm| format!("{LIST}:{vm}"));
    long(Page { items, next }).await
}

/// The place that is reserved for a VM. If there is none any more, the answer says what
/// became of it.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/reservations/{vm}", operation_id = "get_reservation", tag = "placing",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("vm" = String, Path, description = "Id of the VM")),
    responses((status = OK, body = Reservation)))]
async fn show_reservation(
    State(deployment): State<Arc<Deployment>>,
    Path((cluster, vm)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let shown = cluster.read(move |state| state.reservation(&vm));
    long(shown.await?).await
}

/// Keep a place reserved for longer: as long as usual from now on, or for a duration.
#[utoipa::path(post, path = "/v1/clusters/{cluster}/reservations/{vm}/renew", operation_id = "renew_reservation", tag = "placing",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("vm" = String, Path, description = "Id of the VM")),
    request_body = Option<Renewal>, responses((status = OK, body = Reservation)))]
async fn renew_reservation(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path((cluster, vm)): Path<(String, String)>,
    renewal: Option<Json<Renewal>>,
) -> Result<Response, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let Json(Renewal { reserve_for }) = renewal.unwrap_or_default();
    let renewed = cluster.turn_as(&caller, move |state| state.renew(&vm, reserve_for));
    long(renewed.await?).await
}

/// Give the place back that is reserved for a VM. If that has ended already, nothing
/// changes; if the VM runs there, that is a conflict.
#[utoipa::path(delete, path = "/v1/clusters/{cluster}/reservations/{vm}", operation_id = "delete_reservation", tag = "placing",
    params(("cluster" = String, Path, description = "Name of the cluster"),
           ("vm" = String, Path, description = "Id of the VM")),
    responses((status = NO_CONTENT)))]
async fn release_reservation(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path((cluster, vm)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    cluster
        .turn_as(&caller, move |state| state.cancel_and_tell(&[vm]))
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
