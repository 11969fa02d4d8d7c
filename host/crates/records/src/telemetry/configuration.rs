//! How often the configuration was read anew.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;

/// Metrics of what a running server takes over of its configuration.
#[derive(Debug)]
pub struct ConfigurationMetrics {
    /// It was read and is in force.
    pub reloads: Counter,
    /// Something was wrong with it, and all stayed as it was.
    pub failures: Counter,
}

impl ConfigurationMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let metrics = Self {
            reloads: Counter::default(),
            failures: Counter::default(),
        };
        registry.register(
            "configuration_reloads",
            "Times that tokens, certificate and trusted keys were reloaded",
            metrics.reloads.clone(),
        );
        registry.register(
            "configuration_reload_failures",
            "Reloads that were refused because something was wrong",
            metrics.failures.clone(),
        );
        metrics
    }
}
