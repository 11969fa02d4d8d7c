//! The layers that are the same for all routes of a server.

use std::num::NonZero;
use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::{Extension, Router};
use tower_http::catch_panic::CatchPanicLayer;

use super::face::{Face, Faces};
use super::{
    Access, ApiLimits, Stop, actions, answers, audit, bodies, compression, connections, document,
    guard, idempotency, limits, observe, pool, problem, unread,
};
use placewright_deployment::Deployment;
use placewright_records::audit::Audit;
use placewright_records::telemetry::Telemetry;

/// What all faces of a server stand on.
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
}

/// Faces beside each other, under everything that is the same for all of them.
pub fn router(foundation: &Foundation, faces: Vec<Face>) -> Router {
    let manners = Faces::new(&faces);
    let rules = faces.iter().flat_map(|face| face.rules);
    let actions = actions::Actions::new(rules.clone());
    let limits = foundation.limits;
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let answers = Arc::new(answers::Answers::new(&limits));
    let guard = guard::Guard::new(
        foundation.access.clone(),
        manners.clone(),
        rules,
        answers.clone(),
        pool::Pool::new("lists and other long answers", cores + 1, limits.request),
    );
    // One place more than cores: one cluster has all but one.
    let limit = foundation.deployment.question_time();
    let questions = pool::Pool::new("questions", cores + 1, limit);
    // As one layer: of each layer by itself the router makes a boxed service, which has copies
    // of all those within it made for each request. From outside in.
    let layers = (
        from_fn_with_state(foundation.telemetry.clone(), observe::observe),
        (
            Extension(connections::Streams::new(
                &limits,
                foundation.access.clone(),
            )),
            Extension(foundation.access.clone()),
            Extension(foundation.stop.clone()),
            Extension(foundation.telemetry.clone()),
            Extension(foundation.audit.clone()),
            Extension(questions),
            Extension(document::Readers::default()),
            Extension(answers.clone()),
            Extension(actions),
        ),
        compression::layer(),
        from_fn_with_state(manners.clone(), problem::dress),
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
    let routes = faces.into_iter().map(|face| face.routes);
    routes
        .fold(Router::new(), Router::merge)
        .fallback(async move |request| problem::unknown_route(&manners, request))
        .layer(layers)
}
