//! What is written to disk.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Metrics of the store.
#[derive(Debug, Clone)]
pub struct StoreMetrics {
    commits: Histogram,
    failures: Counter,
    waiting: Gauge,
}

impl StoreMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let metrics = Self {
            commits: super::seconds(),
            failures: Counter::default(),
            waiting: Gauge::default(),
        };
        registry.register(
            "store_commit_seconds",
            "Time from a change until it was stored",
            metrics.commits.clone(),
        );
        registry.register(
            "store_failures",
            "Changes that could not be stored",
            metrics.failures.clone(),
        );
        registry.register(
            "store_waiting",
            "Changes that wait to be stored",
            metrics.waiting.clone(),
        );
        metrics
    }

    /// What a turn changed waits to be kept.
    pub fn submitted(&self) {
        self.waiting.inc();
    }

    /// It is kept, or cannot be.
    pub fn kept(&self, took: Duration, well: bool) {
        self.waiting.dec();
        self.commits.observe(took.as_secs_f64());
        if !well {
            self.failures.inc();
        }
    }
}
