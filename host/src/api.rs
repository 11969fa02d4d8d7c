//! The HTTP API: thin. Each family of routes turns requests into the deployment's
//! calls; who may call what, limits, and what errors look like are the same for all.
//!
//! A request passes, from outside in: `observe` (span, metrics), every error to a
//! problem, panics too, time limit, size limit, `guard` (who may), repeated
//! requests (`idempotency`), the route.

mod access;
mod clusters;
mod connections;
mod decisions;
mod document;
mod events;
mod extract;
mod fault;
mod guard;
mod health;
mod idempotency;
mod inventory;
mod limits;
mod observe;
mod openapi;
mod pages;
mod permission;
mod placing;
mod plans;
mod policies;
mod problem;
mod questions;
mod reservations;
mod revision;
mod server;
mod shadows;
mod stop;
mod tls;
mod unheeded;
mod units;

pub use access::{Access, AccessError, Caller, Secret, Token};
pub use extract::{Json, Path, Query};
pub use limits::ApiLimits;
pub use openapi::openapi;
pub use pages::{Page, PageQuery};
pub use permission::{Permission, RULES, Role, Rule, Scope};
pub use problem::{Code, Problem, ProblemBody, ProblemError};
pub use server::{Handle, serve};
pub use stop::{Stop, Stopper};
pub use tls::{Tls, TlsError};

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::{Extension, Router};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::limit::RequestBodyLimitLayer;
use utoipa_axum::router::OpenApiRouter;

use crate::deployment::Deployment;
use crate::telemetry::Telemetry;

/// What the API stands on.
#[derive(Debug, Clone)]
pub struct Foundation {
    /// What decides.
    pub deployment: Arc<Deployment>,
    /// Who may call.
    pub access: Arc<Access>,
    /// What is counted.
    pub telemetry: Arc<Telemetry>,
    /// How much a request may take.
    pub limits: ApiLimits,
    /// When streams of events end.
    pub stop: Stop,
}

/// The routes, a file for each family. Each needs a rule in [`RULES`].
fn families() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::with_openapi(openapi::frame())
        .merge(health::routes())
        .merge(clusters::routes())
        .merge(unheeded::routes())
        .merge(inventory::routes())
        .merge(placing::routes())
        .merge(reservations::routes())
        .merge(decisions::routes())
        .merge(questions::routes())
        .merge(plans::routes())
        .merge(policies::routes())
        .merge(units::routes())
        .merge(shadows::routes())
        .merge(events::routes())
}

/// The whole API.
pub fn router(foundation: &Foundation) -> Router {
    let (routes, _) = families().split_for_parts();
    layered(
        routes.with_state(foundation.deployment.clone()),
        foundation,
        RULES,
    )
}

/// Routes under everything that is the same for all of them; `rules` says who may call
/// which.
pub fn layered(routes: Router, foundation: &Foundation, rules: &'static [Rule]) -> Router {
    let limits = foundation.limits;
    let guard = guard::Guard::new(foundation.access.clone(), rules);
    routes
        .fallback(problem::unknown_route)
        .layer(from_fn_with_state(
            Arc::new(idempotency::Answers::default()),
            idempotency::remember,
        ))
        .layer(from_fn_with_state(guard, guard::admit))
        .layer(DefaultBodyLimit::disable())
        .layer(RequestBodyLimitLayer::new(limits.body))
        .layer(from_fn_with_state(limits, limits::time))
        .layer(CatchPanicLayer::custom(problem::of_panic))
        .layer(from_fn(problem::dress))
        .layer(Extension(foundation.telemetry.clone()))
        .layer(Extension(foundation.stop.clone()))
        .layer(from_fn_with_state(
            foundation.telemetry.clone(),
            observe::observe,
        ))
}

#[cfg(test)]
mod tests;
