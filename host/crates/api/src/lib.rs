//! The HTTP API: thin. Each family of routes turns requests into the deployment's
//! calls; who may call what, limits, and what errors look like are the same for all.
//!
//! A request passes, from outside in: `observe` (span, metrics), `compression` of its
//! answer, every error to a problem, `audit` (what is recorded), panics, time limit, the rest of
//! its body if nobody reads it (`unread`), `guard` (who may), its body (`bodies`), repeated
//! requests (`idempotency`), the route.

#![forbid(unsafe_code)]

mod access;
mod audit;
mod bodies;
mod clusters;
mod compression;
mod connections;
mod decisions;
mod document;
mod entities;
mod events;
mod extract;
mod fault;
mod gone;
mod guard;
mod health;
mod idempotency;
mod inventory;
mod limits;
mod observe;
mod openapi;
mod pace;
mod pages;
mod permission;
mod placing;
mod plans;
mod policies;
mod pool;
mod problem;
mod questions;
mod reload;
mod reservations;
mod revision;
mod scoped;
mod server;
mod shadows;
mod stop;
mod tls;
mod unheeded;
mod units;
mod unread;

pub use access::{Access, AccessError, Caller, Secret, Token, Transport};
pub use extract::{Json, Path, Query};
pub use limits::ApiLimits;
pub use openapi::openapi;
pub use pages::{Page, PageQuery};
pub use permission::{BodySize, Permission, RULES, Role, Rule, Scope};
pub use problem::{Code, Problem, ProblemBody, ProblemError};
pub use reload::{Reload, Reloaded};
pub use server::{Handle, serve};
pub use stop::{Stop, Stopper};
pub use tls::{Tls, TlsError};

use std::num::NonZero;
use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::{Extension, Router};
use tower_http::catch_panic::CatchPanicLayer;
use utoipa_axum::router::OpenApiRouter;

use placewright_deployment::Deployment;
use placewright_records::audit::Audit;
use placewright_records::telemetry::Telemetry;

/// What the API stands on.
#[derive(Debug, Clone)]
pub struct Foundation {
    /// What decides.
    pub deployment: Arc<Deployment>,
    /// Who may call.
    pub access: Arc<Access>,
    /// What is counted.
    pub telemetry: Arc<Telemetry>,
    /// Where changes and refusals are recorded.
    pub audit: Audit,
    /// How much a request may take.
    pub limits: ApiLimits,
    /// When streams of events end.
    pub stop: Stop,
    /// What reads the configuration anew, if there is one.
    pub reload: Option<Arc<dyn Reload>>,
}

/// The routes, a file for each family. Each needs a rule in [`RULES`].
fn families() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::with_openapi(openapi::frame())
        .merge(health::routes())
        .merge(clusters::routes())
        .merge(unheeded::routes())
        .merge(inventory::routes())
        .merge(entities::routes())
        .merge(placing::routes())
        .merge(reservations::routes())
        .merge(decisions::routes())
        .merge(questions::routes())
        .merge(plans::routes())
        .merge(policies::routes())
        .merge(units::routes())
        .merge(shadows::routes())
        .merge(events::routes())
        .merge(reload::routes())
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
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let questions = pool::Pool::new(cores, foundation.deployment.question_time());
    // As one layer: of each layer by itself the router makes a boxed service, which has copies
    // of all those within it made for each request. From outside in.
    let layers = (
        from_fn_with_state(foundation.telemetry.clone(), observe::observe),
        (
            Extension(foundation.reload.clone()),
            Extension(connections::Streams::new(&limits)),
            Extension(foundation.stop.clone()),
            Extension(foundation.telemetry.clone()),
            Extension(questions),
            Extension(document::Readers::default()),
        ),
        compression::layer(),
        from_fn(problem::dress),
        from_fn_with_state(
            audit::Recorder::new(foundation.audit.clone()),
            audit::record,
        ),
        CatchPanicLayer::custom(problem::of_panic),
        from_fn_with_state(limits, limits::time),
        DefaultBodyLimit::disable(),
        from_fn_with_state(limits, unread::read_on),
        from_fn_with_state(guard, guard::admit),
        from_fn_with_state(bodies::Bodies::new(limits), bodies::take_in),
        from_fn_with_state(
            Arc::new(idempotency::Answers::default()),
            idempotency::remember,
        ),
    );
    routes.fallback(problem::unknown_route).layer(layers)
}

#[cfg(test)]
mod tests;
