//! Traces: what a request goes through, and how long each part of it takes, sent to a collector
//! by OTLP over HTTP.
//!
//! Off unless a collector is named. While they are off, each place that begins a span costs one
//! look at a flag. While they are on, spans that have ended wait in a bounded queue for a thread
//! that sends them: nobody else ever waits for the collector. Spans that find no place in the
//! queue are dropped and counted.
//!
//! Spans are those of `tracing`, so the log has the same ones; [`Carried`] takes them from the
//! thread of a request to that of a cluster.

mod client;
mod headers;
mod sending;
mod spans;

pub use headers::{HeadersError, read_headers};
pub(crate) use spans::turn_on;
pub use spans::{Carried, answered, are_on, continues, writing};

use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

use crate::telemetry::TraceMetrics;
use client::Client;
use sending::Sending;

/// How long the collector may take for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where traces go.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceOptions {
    /// The address of the collector: `http://` or `https://`, with the path of OTLP for traces.
    pub endpoint: String,
    /// Headers of each call, as names and values.
    pub headers: Vec<(String, String)>,
    /// The share of the traces that begin here which are sent, from 0 to 1.
    pub share: f64,
}

/// Why there are no traces.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The address is none.
    #[error("\"{endpoint}\" is no address of a collector: {why}")]
    Endpoint {
        /// As given.
        endpoint: String,
        /// What is wrong with it.
        why: String,
    },
    /// A header is none.
    #[error(transparent)]
    Header(#[from] HeadersError),
    /// The system has no thread to give.
    #[error("cannot start the thread that sends traces")]
    Thread(#[source] std::io::Error),
}

/// Traces of this process. Dropped, they go on; [`Traces::end`] ends them.
#[derive(Debug)]
pub struct Traces {
    provider: SdkTracerProvider,
}

/// The address with the path that collectors have, if it has none.
///
/// # Errors
/// If it is no address with `http` or `https`.
pub fn endpoint(text: &str) -> Result<String, TraceError> {
    let wrong = |why: &str| TraceError::Endpoint {
        endpoint: text.to_owned(),
        why: why.to_owned(),
    };
    let uri: ureq::http::Uri = text
        .parse()
        .map_err(|error: ureq::http::uri::InvalidUri| wrong(&error.to_string()))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(wrong("write http://HOST:4318 or https://HOST:4318"));
    }
    match uri.path() {
        "" | "/" if uri.query().is_none() => {
            Ok(format!("{}/v1/traces", text.trim_end_matches('/')))
        }
        _ => Ok(text.to_owned()),
    }
}

impl Traces {
    /// Begin to send spans to that collector. They come from the subscriber that has the
    /// [layer](Traces::layer).
    ///
    /// # Errors
    /// If the address is none, or there is no thread.
    pub fn start(options: &TraceOptions, metrics: TraceMetrics) -> Result<Self, TraceError> {
        let to = endpoint(&options.endpoint)?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Client::new(PATIENCE))
            .with_protocol(Protocol::HttpBinary)
            .with_timeout(PATIENCE)
            .with_endpoint(&to)
            .with_headers(options.headers.iter().cloned().collect())
            .build()
            .map_err(|error| TraceError::Endpoint {
                endpoint: to.clone(),
                why: error.to_string(),
            })?;
        Self::to(exporter, options.share, metrics, sending::QUEUE)
    }

    fn to(
        exporter: impl opentelemetry_sdk::trace::SpanExporter + 'static,
        share: f64,
        metrics: TraceMetrics,
        room: usize,
    ) -> Result<Self, TraceError> {
        let resource = Resource::builder()
            .with_service_name("placewright")
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .build();
        let sending = Sending::start(exporter, metrics, room).map_err(TraceError::Thread)?;
        // A trace that the caller has begun is sent if the caller says so.
        let sampler = Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(share)));
        let provider = SdkTracerProvider::builder()
            .with_resource(resource)
            .with_sampler(sampler)
            .with_span_processor(sending)
            .build();
        Ok(Self { provider })
    }

    /// What makes spans of the program to spans of traces, for the subscriber of the log.
    pub fn layer<S>(&self) -> impl Layer<S> + Send + Sync + 'static
    where
        S: tracing::Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    {
        let ours = filter_fn(|metadata| {
            metadata.is_span()
                && *metadata.level() <= tracing::Level::DEBUG
                && metadata.target().starts_with("placewright")
        });
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("placewright"))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_level(false)
            .with_tracked_inactivity(false)
            .with_context_activation(false)
            .with_filter(ours)
    }

    /// Send what waits, within that time, and no more. Whether all was sent.
    pub fn end(&self, limit: Duration) -> bool {
        spans::turn_off();
        self.provider.shutdown_with_timeout(limit).is_ok()
    }
}

#[cfg(test)]
mod tests;
