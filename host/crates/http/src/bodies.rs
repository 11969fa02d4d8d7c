//! Takes in the bodies of requests: no larger than the route needs, not slower than a line
//! that works, and not more of all together than there is memory for.
//!
//! Handlers get a body that is whole and unpacked. What it takes of the budget is given back
//! when the request is answered and nobody reads it any more. A route that takes no body
//! refuses one, so that nothing that was sent is passed over.

mod encoding;

use encoding::{Encoding, unpack};

use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::{Extensions, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use tokio::time::Instant;

use super::access::{Access, Caller};
use super::budget::{Budget, Held, Purpose};
use super::extract::quoted_list;
use super::guard::OnCluster;
use super::limits::{ApiLimits, Arrived};
use super::pace::{Pace, SLOWEST};
use super::permission::{BodySize, Rule};
use super::problem::{Code, Problem};

/// Bodies up to this size are not counted: there are no more of them than connections.
const SMALL: usize = 64 << 10;

/// What bodies take.
const BODIES: Purpose = Purpose {
    what: "the bodies of requests in work",
    option: Some("request-bodies"),
};

/// As much is read of a body that a route does not take, to see whether anything is in it.
const NOTHING: usize = 1 << 10;

/// What bodies are taken in by.
#[derive(Debug, Clone)]
pub(super) struct Bodies {
    limits: ApiLimits,
    budget: Arc<Budget>,
}

impl Bodies {
    pub(super) fn new(limits: ApiLimits) -> Self {
        Self {
            limits,
            budget: Arc::new(Budget::new(BODIES, limits.bodies, limits.body)),
        }
    }
}

/// Take in the body before the request goes on.
pub(super) async fn take_in(
    State(bodies): State<Bodies>,
    request: Request,
    next: Next,
) -> Response {
    let rule = request.extensions().get::<&'static Rule>().copied();
    // What no route takes is not read.
    let Some(rule) = rule.filter(|_| !request.body().is_end_stream()) else {
        return next.run(request).await;
    };
    let most = match rule.body {
        BodySize::Nothing => NOTHING,
        size => size.bytes(&bodies.limits),
    };
    let caller = request.extensions().get::<Caller>();
    let caller = caller.map(|caller| caller.name.clone());
    let cluster = request.extensions().get::<OnCluster>();
    let cluster = cluster.map(|OnCluster(name)| name.clone());
    let (mut parts, body) = request.into_parts();
    let encoding = match Encoding::of(&parts.headers) {
        Ok(encoding) => encoding,
        Err(problem) => return problem.into_response(),
    };
    let told = body.size_hint().exact();
    if told.is_some_and(|told| told > most as u64) {
        return too_large(rule, most).into_response();
    }
    let mut taking = Taking {
        bodies: &bodies,
        rule,
        most,
        held: Held::new(&bodies.budget, caller.as_ref(), cluster.as_ref()),
    };
    let arrived = parts
        .extensions
        .get::<Arrived>()
        .cloned()
        .unwrap_or_default();
    arrived.comes(true);
    let whole = taking.whole(body).await;
    arrived.comes(false);
    let read = taking.read(whole, encoding).await;
    match read.and_then(|whole| still_allowed(&parts.extensions).map(|()| whole)) {
        Ok(whole) => {
            if encoding == Encoding::Gzip {
                parts.headers.remove(header::CONTENT_ENCODING);
                parts.headers.remove(header::CONTENT_LENGTH);
            }
            let held = Arc::new(taking.held);
            parts.extensions.insert(held.clone());
            let response = next
                .run(Request::from_parts(parts, Body::from(whole)))
                .await;
            drop(held);
            response
        }
        Err(problem) => problem.into_response(),
    }
}

/// That the caller's token counts still: a body may have been on its way for long.
fn still_allowed(of_request: &Extensions) -> Result<(), Problem> {
    match (of_request.get::<Arc<Access>>(), of_request.get::<Caller>()) {
        (Some(access), Some(caller)) => access.must_count(caller),
        _ => Ok(()),
    }
}

/// A body that comes in.
struct Taking<'b> {
    bodies: &'b Bodies,
    rule: &'static Rule,
    most: usize,
    held: Held,
}

impl Taking<'_> {
    /// The body that has come in as the route reads it: unpacked, and nothing where the route
    /// takes nothing.
    async fn read(
        &mut self,
        whole: Result<Bytes, Problem>,
        encoding: Encoding,
    ) -> Result<Bytes, Problem> {
        let whole = match encoding {
            Encoding::Identity => whole?,
            Encoding::Gzip => {
                let too_large = || too_large(self.rule, self.most);
                unpack(whole?, self.most, &mut self.held, too_large).await?
            }
        };
        match self.rule.body {
            BodySize::Nothing if !holds_nothing(&whole) => Err(takes_none(self.rule)),
            BodySize::Nothing => Ok(Bytes::new()),
            _ => Ok(whole),
        }
    }

    async fn whole(&mut self, body: Body) -> Result<Bytes, Problem> {
        let told = body.size_hint().exact().unwrap_or(0);
        let told = usize::try_from(told).unwrap_or(usize::MAX).min(self.most);
        let mut pace = Pace::new(self.bodies.limits.stall);
        let mut frames = body.into_data_stream();
        let mut whole: Vec<u8> = Vec::new();
        loop {
            let frame = self.in_time(&mut pace, frames.next()).await?;
            let frame = match frame {
                None => return Ok(whole.into()),
                Some(frame) => frame.map_err(|error| broken(&error))?,
            };
            if whole.len() + frame.len() > self.most {
                return Err(too_large(self.rule, self.most));
            }
            if whole.is_empty() && frame.len() == told && told <= SMALL {
                return Ok(frame);
            }
            pace.moved(frame.len());
            if whole.len() + frame.len() > SMALL {
                let waits = Instant::now();
                self.held.grow_to(whole.len() + frame.len()).await?;
                // Others may have kept this one waiting. The more it holds, the faster the rest
                // is to come.
                pace.waited(waits.elapsed());
                pace.hold(self.held.bytes(), self.bodies.limits.request);
            }
            if whole.is_empty() {
                // More is not asked for before it comes: it may never come.
                whole.reserve(told.min(SMALL));
            }
            whole.extend_from_slice(&frame);
        }
    }

    /// What comes of the body next, unless that is too late. Where others wait for room, less
    /// time may pass.
    async fn in_time<T>(
        &self,
        pace: &mut Pace,
        next: impl Future<Output = T>,
    ) -> Result<T, Problem> {
        let mut next = std::pin::pin!(next);
        loop {
            let Some(looks) = pace.looks() else {
                return Ok(next.await);
            };
            match tokio::time::timeout_at(looks, &mut next).await {
                Ok(next) => return Ok(next),
                Err(_) if pace.is_over() => return Err(self.too_slow()),
                Err(_) if self.held.is_wanted() && pace.is_behind() => {
                    return Err(self.too_slow());
                }
                Err(_) => {}
            }
        }
    }

    fn too_slow(&self) -> Problem {
        let seconds = self.bodies.limits.stall.as_secs_f64();
        Problem::new(
            Code::RequestTimeout,
            format!(
                "the request's body arrives too slowly: at least {} KiB a second must, over any {seconds} s, and more of a large one",
                SLOWEST >> 10
            ),
        )
    }
}

/// Whether there is nothing in a body that a route could pass over: some clients send an object
/// without keys with every request.
fn holds_nothing(body: &[u8]) -> bool {
    let body = body.trim_ascii();
    let inner = body.strip_prefix(b"{").and_then(|it| it.strip_suffix(b"}"));
    body.is_empty() || inner.is_some_and(|inner| inner.trim_ascii().is_empty())
}

fn takes_none(rule: &Rule) -> Problem {
    let instead = match rule.query {
        [] => String::new(),
        known => format!("; its query parameters are {}", quoted_list(known)),
    };
    let sentence = format!("this route takes no body, and this request has one{instead}");
    Problem::new(Code::BadRequest, sentence)
}

fn too_large(rule: &Rule, most: usize) -> Problem {
    if rule.body == BodySize::Nothing {
        return takes_none(rule);
    }
    let mut sentence = format!("the body is too large: this route takes at most {most} bytes");
    if rule.body == BodySize::Whole {
        sentence.push_str(", as the option request-body says");
    }
    Problem::new(Code::TooLarge, sentence)
}

fn broken(error: &axum::Error) -> Problem {
    tracing::debug!(%error, "a body was not read to its end");
    Problem::new(
        Code::BadRequest,
        "the request's body ended early, or is not written as HTTP asks for",
    )
}
