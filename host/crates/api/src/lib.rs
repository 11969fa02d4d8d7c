//! The HTTP API: thin. Each family of routes turns requests into the deployment's
//! calls; who may call what, limits, and what errors look like are those of all faces
//! (`placewright-http`). Read [`face`] and [`RULES`] first.

#![forbid(unsafe_code)]

mod audit;
mod backup;
mod clusters;
mod contract;
mod decisions;
mod drafts;
mod entities;
mod events;
mod follow;
mod glance;
mod health;
mod history;
mod inventory;
mod lists;
mod moment;
mod openapi;
mod placing;
mod plans;
mod policies;
mod questions;
mod quotas;
mod recent;
mod reload;
mod reservations;
mod rules;
mod shadows;
mod tokens;
mod unheeded;
mod unit_costs;
mod units;
mod whole;
mod why_not;

pub use openapi::openapi;
pub use reload::{Reload, Reloaded};
pub use rules::RULES;

use std::sync::Arc;

use axum::Extension;
use utoipa_axum::router::OpenApiRouter;

use placewright_deployment::Deployment;
use placewright_http::Face;

/// The routes, a file for each family. Each needs a rule in [`RULES`].
fn families(reload: Option<Arc<dyn Reload>>) -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::with_openapi(openapi::frame())
        .merge(health::routes())
        .merge(clusters::routes())
        .merge(unheeded::routes())
        .merge(unit_costs::routes())
        .merge(inventory::routes())
        .merge(follow::routes())
        .merge(lists::routes())
        .merge(glance::routes())
        .merge(entities::routes())
        .merge(placing::routes())
        .merge(reservations::routes())
        .merge(decisions::routes())
        .merge(history::routes())
        .merge(why_not::routes())
        .merge(questions::routes())
        .merge(drafts::routes())
        .merge(plans::routes())
        .merge(policies::routes())
        .merge(units::routes())
        .merge(shadows::routes())
        .merge(events::routes())
        .merge(recent::routes())
        .merge(quotas::routes())
        .merge(tokens::routes())
        .merge(audit::routes())
        .merge(backup::routes())
        .merge(reload::routes().layer(Extension(reload)))
}

/// The API as a face of a server. `reload` reads the configuration anew, if there is one.
pub fn face(deployment: Arc<Deployment>, reload: Option<Arc<dyn Reload>>) -> Face {
    let (routes, _) = families(reload).split_for_parts();
    Face::new(
        "",
        routes.with_state(deployment),
        RULES,
        "/v1/openapi.json lists all of them",
    )
}
