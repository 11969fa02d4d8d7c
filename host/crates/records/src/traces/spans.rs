//! Spans that go on on another thread.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::Span;
use tracing::span::EnteredSpan;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// The name of the span of a request.
pub(super) const REQUEST: &str = "request";

/// The attribute of a request's span with the status of its answer.
pub(super) const STATUS: &str = "http.response.status_code";

/// Names of the headers of W3C Trace Context.
const PARENT: &str = "traceparent";
const STATE: &str = "tracestate";

/// Whether spans are sent anywhere: of the process, as the subscriber is.
static ON: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The span of whoever asked for what this thread does.
    static ASKED: RefCell<Option<Span>> = const { RefCell::new(None) };
}

/// Whether traces are on. One look at a flag, which is what everything here costs if they are
/// not.
pub fn are_on() -> bool {
    ON.load(Ordering::Relaxed)
}

pub(crate) fn turn_on() {
    ON.store(true, Ordering::Relaxed);
}

pub(super) fn turn_off() {
    ON.store(false, Ordering::Relaxed);
}

/// The headers by which a caller says in which trace it is.
struct Headers<'h> {
    parent: &'h str,
    state: Option<&'h str>,
}

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        match key {
            PARENT => Some(self.parent),
            STATE => self.state,
            _ => None,
        }
    }

    fn keys(&self) -> Vec<&str> {
        vec![PARENT, STATE]
    }
}

/// Make the span of a request a part of the trace that its caller is in, if it says so by the
/// W3C's `traceparent`. `header` gives the value of a header; one that is malformed says nothing.
pub fn continues<'h>(span: &Span, header: impl Fn(&str) -> Option<&'h str>) {
    if are_on()
        && let Some(parent) = header(PARENT)
    {
        let state = header(STATE);
        let context = TraceContextPropagator::new().extract(&Headers { parent, state });
        // It fails where the span is not traced.
        let _ = span.set_parent(context);
    }
}

/// Note what a request was answered with.
pub fn answered(span: &Span, status: u16) {
    if are_on() {
        span.set_attribute(STATUS, i64::from(status));
    }
}

/// The wait for a turn on another thread: the span of whoever asks, and that of the wait.
#[derive(Debug, Default)]
pub struct Carried(Option<(Span, Span)>);

impl Carried {
    /// The wait begins.
    pub fn waits() -> Self {
        Self(are_on().then(|| (Span::current(), tracing::debug_span!("queue"))))
    }

    /// Whether nothing is carried.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The wait is over and the turn begins, on the thread that takes it.
    pub fn begins(self) -> Turn {
        Turn(self.0.map(|(asked, wait)| {
            drop(wait);
            let turn = tracing::debug_span!(parent: &asked, "turn");
            ASKED.set(Some(asked));
            turn.entered()
        }))
    }
}

/// A turn, until this is dropped.
#[derive(Debug)]
pub struct Turn(Option<EnteredSpan>);

impl Drop for Turn {
    fn drop(&mut self) {
        if self.0.take().is_some() {
            ASKED.set(None);
        }
    }
}

/// The write of what this turn has changed, until the span is dropped: a part of the request, as
/// the turn has ended by then.
pub fn writing() -> Option<Span> {
    if !are_on() {
        return None;
    }
    let asked = ASKED.with_borrow(Clone::clone);
    asked.map(|asked| tracing::debug_span!(parent: &asked, "store"))
}
