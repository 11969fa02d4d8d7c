//! The queue of spans that have ended, and the thread that sends them.
//!
//! The SDK's own processor has such a queue and such a thread, too. It does not count the spans
//! that it drops, and an operator has to know how many are missing.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use futures_executor::block_on;
use opentelemetry::trace::{SpanKind, Status};
use opentelemetry::{Context, Key, KeyValue};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{Span, SpanData, SpanExporter, SpanProcessor};

use super::spans::{REQUEST, STATUS};
use crate::telemetry::TraceMetrics;

/// Spans that may wait to be sent. Each has about one KiB.
pub(super) const QUEUE: usize = 8192;

/// Spans of one call of the collector.
const TOGETHER: usize = 512;

/// How long spans are collected for one call.
const COLLECTING: Duration = Duration::from_secs(1);

enum Message {
    Span(Box<SpanData>),
    Resource(Box<Resource>),
    /// All before is to be sent; then there is an answer, and with `true` it is the end.
    Flush(SyncSender<()>, bool),
}

/// Takes spans that have ended.
#[derive(Debug)]
pub(super) struct Sending {
    queue: SyncSender<Message>,
    metrics: TraceMetrics,
}

impl Sending {
    pub(super) fn start(
        exporter: impl SpanExporter + 'static,
        metrics: TraceMetrics,
        room: usize,
    ) -> io::Result<Self> {
        let (queue, spans) = sync_channel(room);
        let counted = metrics.clone();
        let thread = thread::Builder::new().name("traces".to_owned());
        thread.spawn(move || run(exporter, &spans, &counted))?;
        Ok(Self { queue, metrics })
    }

    fn settle(&self, ends: bool, limit: Duration) -> OTelSdkResult {
        let until = Instant::now() + limit;
        let (done, is_done) = sync_channel(1);
        let mut message = Message::Flush(done, ends);
        // The queue may be full.
        loop {
            match self.queue.try_send(message) {
                Ok(()) => break,
                Err(TrySendError::Full(again)) if Instant::now() < until => {
                    message = again;
                    thread::sleep(Duration::from_millis(5));
                }
                Err(TrySendError::Full(_)) => return Err(OTelSdkError::Timeout(limit)),
                Err(TrySendError::Disconnected(_)) => return Err(OTelSdkError::AlreadyShutdown),
            }
        }
        let left = until.saturating_duration_since(Instant::now());
        let timed_out = |_| OTelSdkError::Timeout(limit);
        is_done.recv_timeout(left).map_err(timed_out)
    }
}

impl SpanProcessor for Sending {
    fn on_start(&self, _: &mut Span, _: &Context) {}

    fn on_end(&self, span: SpanData) {
        // Whoever has ended it goes on at once, whatever becomes of it.
        if self.queue.try_send(Message::Span(Box::new(span))).is_err() {
            self.metrics.dropped.inc();
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.settle(false, Duration::from_secs(5))
    }

    fn shutdown_with_timeout(&self, limit: Duration) -> OTelSdkResult {
        self.settle(true, limit)
    }

    fn set_resource(&mut self, resource: &Resource) {
        // It is the first one in the queue.
        let _ = self
            .queue
            .try_send(Message::Resource(Box::new(resource.clone())));
    }
}

/// Send what comes until the end is asked for, or nobody is left to ask.
fn run(mut exporter: impl SpanExporter, spans: &Receiver<Message>, metrics: &TraceMetrics) {
    let mut batch = Vec::new();
    let mut failing = Failing::default();
    let mut until = Instant::now() + COLLECTING;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let asked = match spans.recv_timeout(left) {
            Ok(Message::Span(span)) => {
                batch.push(named(*span));
                if batch.len() < TOGETHER {
                    continue;
                }
                None
            }
            Ok(Message::Resource(resource)) => {
                exporter.set_resource(&resource);
                continue;
            }
            Ok(Message::Flush(done, ends)) => Some((done, ends)),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        send(&exporter, std::mem::take(&mut batch), metrics, &mut failing);
        until = Instant::now() + COLLECTING;
        if let Some((done, ends)) = asked {
            // Whoever asked may have given up.
            let _ = done.try_send(());
            if ends {
                return;
            }
        }
    }
}

fn send(
    exporter: &impl SpanExporter,
    batch: Vec<SpanData>,
    metrics: &TraceMetrics,
    failing: &mut Failing,
) {
    let spans = batch.len() as u64;
    if spans == 0 {
        return;
    }
    match block_on(exporter.export(batch)) {
        Ok(()) => {
            metrics.sent.inc_by(spans);
            failing.works();
        }
        Err(error) => {
            metrics.failed.inc_by(spans);
            failing.fails(&error);
        }
    }
}

/// Whether the collector takes nothing, so that the log tells of it once.
#[derive(Debug, Default)]
struct Failing(bool);

impl Failing {
    fn works(&mut self) {
        if std::mem::take(&mut self.0) {
            tracing::info!("the collector takes traces again");
        }
    }

    fn fails(&mut self, error: &OTelSdkError) {
        if !std::mem::replace(&mut self.0, true) {
            tracing::warn!(%error, "the collector does not take traces; those of now are lost");
        }
    }
}

/// The span of a request as the conventions of OpenTelemetry name it and its attributes.
fn named(mut span: SpanData) -> SpanData {
    if span.name != REQUEST {
        return span;
    }
    span.span_kind = SpanKind::Server;
    let (mut method, mut route) = (String::new(), String::new());
    for KeyValue { key, value, .. } in &mut span.attributes {
        let name = match key.as_str() {
            "method" => {
                method = value.to_string();
                "http.request.method"
            }
            "route" => {
                route = value.to_string();
                "http.route"
            }
            "id" => "placewright.request.id",
            "caller" => "placewright.caller",
            _ => continue,
        };
        *key = Key::from_static_str(name);
    }
    let failed = span.attributes.iter().any(|attribute| {
        let is_status = attribute.key.as_str() == STATUS;
        is_status && matches!(attribute.value, opentelemetry::Value::I64(500..))
    });
    if failed {
        span.status = Status::error("");
    }
    span.name = format!("{method} {route}").into();
    span
}
