//! Requests that are sent again because their answer was lost: with the same
//! `Idempotency-Key` they are carried out once, and answered alike.
//!
//! Answers are kept in memory, within bounds. What must hold over a restart, the
//! deployment keeps with what it decided.
//!
//! Stored are successes, and what is wrong with a request whatever the server's state: a body
//! that is no JSON or of another type, a wrong parameter. All other refusals changed
//! nothing and may be other ones by now (there is such a cluster, the VM's place was given
//! back, there is room again), so the request is tried once more. Questions, which change
//! nothing, are asked again.

mod answers;

pub(super) use answers::Answers;

use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};
use tracing::Instrument;

use self::answers::{Answer, Content, Found, Key};
use super::access::Caller;
use super::permission::{Permission, Rule};
use super::problem::{Code, Problem};

/// Names a request, so that it is carried out once.
pub(super) const HEADER: HeaderName = HeaderName::from_static("idempotency-key");

/// Says that an answer is that of an earlier request.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

const LONGEST_KEY: usize = 255;

/// Carry out a POST with a key once.
pub(super) async fn remember(
    State(answers): State<Arc<Answers>>,
    request: Request,
    next: Next,
) -> Response {
    let key = match key(&request) {
        Ok(Some(key)) => key,
        Ok(None) => return next.run(request).await,
        Err(problem) => return problem.into_response(),
    };
    let (parts, body) = request.into_parts();
    // The size was limited outside.
    let whole = Request::from_parts(parts.clone(), body);
    let body = match Bytes::from_request(whole, &()).await {
        Ok(body) => body,
        Err(rejection) => return rejection.into_response(),
    };
    let digest: [u8; 32] = Sha256::digest(&body).into();
    match answers.begin(&key, digest) {
        Found::Answer(answer) => match replayed(&answer) {
            Some(response) => response,
            None => next.run(Request::from_parts(parts, Body::from(body))).await,
        },
        Found::InFlight => Problem::new(
            Code::Conflict,
            "a request with this Idempotency-Key is being carried out; ask again",
        )
        .into_response(),
        Found::Other => Problem::new(
            Code::KeyReused,
            "this Idempotency-Key was used for another request; take a new one",
        )
        .into_response(),
        Found::Nothing(slot) => {
            let request = Request::from_parts(parts, Body::from(body));
            let rule = request.extensions().get::<&'static Rule>();
            let elsewhere = rule.is_some_and(|rule| rule.is_remembered);
            // A client that goes does not end what it began, and finds it done.
            let work = async move {
                let response = next.run(request).await;
                match kept(response, elsewhere).await {
                    (response, Some(answer)) => {
                        slot.keep(answer);
                        response
                    }
                    (response, None) => response,
                }
            };
            match tokio::spawn(work.in_current_span()).await {
                Ok(response) => response,
                Err(error) => match error.try_into_panic() {
                    Ok(panic) => super::problem::of_panic(panic),
                    Err(error) => Problem::internal(&error).into_response(),
                },
            }
        }
    }
}

/// The key of a request, if it is one that changes something and has a key.
fn key(request: &Request) -> Result<Option<Key>, Problem> {
    let Some(given) = request.headers().get(HEADER) else {
        return Ok(None);
    };
    let rule = request.extensions().get::<&'static Rule>();
    let is_question = request.extensions().get() == Some(&Permission::View)
        || rule.is_some_and(|rule| rule.is_answered_anew);
    if request.method() != Method::POST {
        // These do the same when they are repeated.
        return Ok(None);
    }
    let given = given.to_str().ok().filter(|key| {
        let visible = key.bytes().all(|byte| byte.is_ascii_graphic());
        visible && (1..=LONGEST_KEY).contains(&key.len())
    });
    let given = given.ok_or_else(|| {
        Problem::new(
            Code::InvalidParameter,
            format!("Idempotency-Key must be 1 to {LONGEST_KEY} visible characters of ASCII"),
        )
    })?;
    if is_question {
        // It changes nothing.
        return Ok(None);
    }
    let caller = request.extensions().get::<Caller>();
    Ok(Some(Key {
        caller: caller.map(|caller| caller.name.clone()),
        path: request.uri().to_string(),
        key: given.to_owned(),
    }))
}

/// Whether a refusal would be the same at any time.
fn is_for_good(problem: &Problem) -> bool {
    matches!(
        problem.code(),
        Code::InvalidJson | Code::InvalidParameter | Code::UnsupportedType
    )
}

/// Whether the answer says that nobody may store it, such as one with a secret.
fn must_not_be_stored(response: &Response) -> bool {
    let control = response.headers().get(header::CACHE_CONTROL);
    control.is_some_and(|control| control == "no-store")
}

/// The response, and what is to be kept of it, if anything is. What succeeded may be kept
/// `elsewhere`.
async fn kept(response: Response, elsewhere: bool) -> (Response, Option<Answer>) {
    let answer = |response: &Response, content| Answer {
        status: response.status(),
        headers: response.headers().clone(),
        content,
    };
    if let Some(problem) = response.extensions().get::<Problem>() {
        let content = is_for_good(problem).then(|| Content::Problem(problem.clone()));
        let answer = content.map(|content| answer(&response, content));
        return (response, answer);
    }
    if !response.status().is_success() || must_not_be_stored(&response) {
        return (response, None);
    }
    if elsewhere {
        let answer = answer(&response, Content::Elsewhere);
        return (response, Some(answer));
    }
    let (parts, body) = response.into_parts();
    match to_bytes(body, usize::MAX).await {
        Ok(body) => {
            let response = Response::from_parts(parts, Body::from(body.clone()));
            let answer = answer(&response, Content::Body(body));
            (response, Some(answer))
        }
        Err(error) => (Problem::internal(&error).into_response(), None),
    }
}

/// The answer once more; None if it is kept elsewhere.
fn replayed(answer: &Answer) -> Option<Response> {
    let value = HeaderValue::from_static("true");
    let again = |problem: Problem| problem.with_header(REPLAYED, value.clone()).into_response();
    Some(match &answer.content {
        Content::Elsewhere => return None,
        Content::Problem(problem) => again(problem.clone()),
        Content::TooLarge => again(Problem::new(
            Code::Gone,
            format!(
                "the request with this Idempotency-Key was carried out and answered with status {}; \
                 its answer was too large to be stored: look up what it changed",
                answer.status.as_u16()
            ),
        )),
        Content::Body(body) => {
            let parts = (answer.status, answer.headers.clone(), body.clone());
            let mut response = parts.into_response();
            response.headers_mut().insert(REPLAYED, value);
            response
        }
    })
}
