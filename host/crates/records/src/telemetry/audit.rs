//! What is written to the audit log.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// Metrics of the audit log.
#[derive(Debug, Clone, Default)]
pub struct AuditMetrics {
    /// Records that were written.
    pub records: Counter,
    /// Records for which there was no room in the queue.
    pub lost: Counter,
    /// Writes that failed.
    pub failures: Counter,
    /// The number of the last record that was written.
    pub sequence: Gauge,
}

impl AuditMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register(
            "audit_records",
            "Records written to the audit log",
            metrics.records.clone(),
        );
        registry.register(
            "audit_records_lost",
            "Records for which the queue of the audit log had no room",
            metrics.lost.clone(),
        );
        registry.register(
            "audit_write_failures",
            "Writes to the audit log that failed",
            metrics.failures.clone(),
        );
        registry.register(
            "audit_sequence",
            "Number of the last record of the audit log",
            metrics.sequence.clone(),
        );
        metrics
    }
}
