//! The set of units in force.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Metrics of reloads.
#[derive(Debug)]
pub struct LibraryMetrics {
    /// Number of the generation in force.
    pub generation: Gauge,
    /// Units in force.
    pub units: Gauge,
    /// Files that were refused so far.
    pub refusals: Counter,
    /// Files that came into force so far.
    pub accepted: Counter,
    /// Seconds from a file being settled to its unit being in force.
    pub admission_seconds: Histogram,
}

impl LibraryMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let metrics = Self {
            generation: Gauge::default(),
            units: Gauge::default(),
            refusals: Counter::default(),
            accepted: Counter::default(),
            admission_seconds: super::seconds(),
        };
        registry.register(
            "library_generation",
            "Number of the generation of units in force",
            metrics.generation.clone(),
        );
        registry.register("library_units", "Units in force", metrics.units.clone());
        registry.register(
            "library_refusals",
            "Files that were refused",
            metrics.refusals.clone(),
        );
        registry.register(
            "library_accepted",
            "Files that came into force",
            metrics.accepted.clone(),
        );
        registry.register(
            "library_admission_seconds",
            "From a settled file to its unit in force",
            metrics.admission_seconds.clone(),
        );
        metrics
    }
}
