//! What is written to disk.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Metrics of the store.
#[derive(Debug)]
pub struct StoreMetrics {
    commits: Histogram,
    failures: Counter,
    /// Changes that wait to be written.
    pub queue: Gauge,
}

impl StoreMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let metrics = Self {
            commits: super::seconds(),
            failures: Counter::default(),
            queue: Gauge::default(),
        };
        registry.register(
            "store_commit_seconds",
            "How long commits took",
            metrics.commits.clone(),
        );
        registry.register(
            "store_failures",
            "Commits that failed",
            metrics.failures.clone(),
        );
        registry.register(
            "store_queue",
            "Changes that wait to be written",
            metrics.queue.clone(),
        );
        metrics
    }

    /// A commit has ended.
    pub fn committed(&self, took: Duration, well: bool) {
        self.commits.observe(took.as_secs_f64());
        if !well {
            self.failures.inc();
        }
    }
}
