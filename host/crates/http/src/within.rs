//! The routes of one face, asked by another face of the same server.
//!
//! A console shows what the API answers. It asks the API's own routes, without a socket, in the
//! name of whoever has asked for the page: it can do nothing that its user could not do by the
//! API, and the sentence of a refusal is the API's.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, FromRequestParts, MatchedPath, Request, State};
use axum::http::Extensions;
use axum::http::request::Parts;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use tower::ServiceExt;

use super::access::{Access, Caller, unauthorized};
use super::actions::Actions;
use super::answers::Answers;
use super::audit::Note;
use super::connections::Streams;
use super::document::Readers;
use super::extract::check_query;
use super::face::Face;
use super::guard::{Rules, check_scope};
use super::observe::RequestId;
use super::pool::Pool;
use super::problem::Problem;
use super::stop::Stop;
use placewright_records::audit::Audit;
use placewright_records::telemetry::Telemetry;

/// The routes of a face, for another face.
#[derive(Debug, Clone)]
pub struct Within(Router);

/// Who asks: what of a request goes on to the requests that are made to answer it.
#[derive(Debug, Clone)]
pub struct Asker(Extensions);

impl Within {
    /// The routes of that face, each under its rule.
    pub fn new(face: Face) -> Self {
        let rules = Rules::new(face.rules.iter());
        // What a body may have was limited where it came in.
        let layers = (
            DefaultBodyLimit::disable(),
            from_fn_with_state(rules, admit),
        );
        Self(face.routes.layer(layers))
    }

    /// Ask in the name of that caller.
    ///
    /// # Errors
    /// The problem that the route answers with. An answer with another status that a route has
    /// written itself is no error.
    pub async fn ask(
        &self,
        asker: &Asker,
        mut request: Request<Body>,
    ) -> Result<Response, Problem> {
        request.extensions_mut().extend(asker.0.clone());
        let answered: Result<Response, Infallible> = self.0.clone().oneshot(request).await;
        let Ok(mut response) = answered;
        match response.extensions_mut().remove::<Problem>() {
            Some(problem) => Err(problem),
            None => Ok(response),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Asker {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let mut kept = Extensions::new();
        // Not all of them: those of the router say which path was matched.
        keep::<Caller>(&parts.extensions, &mut kept);
        keep::<Note>(&parts.extensions, &mut kept);
        keep::<RequestId>(&parts.extensions, &mut kept);
        keep::<Streams>(&parts.extensions, &mut kept);
        keep::<Stop>(&parts.extensions, &mut kept);
        keep::<Readers>(&parts.extensions, &mut kept);
        keep::<Arc<Answers>>(&parts.extensions, &mut kept);
        keep::<Arc<Pool>>(&parts.extensions, &mut kept);
        keep::<Arc<Telemetry>>(&parts.extensions, &mut kept);
        keep::<Audit>(&parts.extensions, &mut kept);
        keep::<Actions>(&parts.extensions, &mut kept);
        keep::<Arc<Access>>(&parts.extensions, &mut kept);
        Ok(Self(kept))
    }
}

fn keep<T: Clone + Send + Sync + 'static>(all: &Extensions, kept: &mut Extensions) {
    if let Some(one) = all.get::<T>() {
        kept.insert(one.clone());
    }
}

/// Let the request through if its caller has what the route needs.
async fn admit(State(rules): State<Rules>, mut request: Request, next: Next) -> Response {
    match check(&rules, &mut request).await {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

async fn check(rules: &Rules, request: &mut Request) -> Result<(), Problem> {
    let path = request.extensions().get::<MatchedPath>().cloned();
    let path = path.as_ref().map_or("", MatchedPath::as_str);
    let rule = rules.of(path, request.method())?;
    let Some((permission, scope)) = rule.permission(request.uri().query()) else {
        return check_query(request.uri(), rule.query);
    };
    let caller = request.extensions().get::<Caller>().cloned();
    let caller = caller.ok_or_else(|| unauthorized("nobody knows who asks"))?;
    check_scope(&caller, permission, scope, request).await?;
    request.extensions_mut().insert(permission);
    check_query(request.uri(), rule.query)
}
