//! What becomes of the spans of traces.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;

/// Metrics of traces.
#[derive(Debug, Clone, Default)]
pub struct TraceMetrics {
    /// Spans that the collector has taken.
    pub sent: Counter,
    /// Spans for which there was no room in the queue.
    pub dropped: Counter,
    /// Spans that the collector did not take.
    pub failed: Counter,
}

impl TraceMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register(
            "trace_spans",
            "Spans that the collector of traces has taken",
            metrics.sent.clone(),
        );
        registry.register(
            "trace_spans_dropped",
            "Spans for which the queue to the collector had no room",
            metrics.dropped.clone(),
        );
        registry.register(
            "trace_spans_failed",
            "Spans that the collector did not take",
            metrics.failed.clone(),
        );
        metrics
    }
}
