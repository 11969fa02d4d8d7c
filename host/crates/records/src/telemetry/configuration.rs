//! How often the configuration was read anew, and until when what it names is good.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// Metrics of what a running server takes over of its configuration.
#[derive(Debug)]
pub struct ConfigurationMetrics {
    /// It was read and is in force.
    pub reloads: Counter,
    /// Something was wrong with it, and all stayed as it was.
    pub failures: Counter,
    /// One value, or none where requests do not come by TLS.
    certificate: Family<[(&'static str, &'static str); 0], Gauge>,
}

impl ConfigurationMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let metrics = Self {
            reloads: Counter::default(),
            failures: Counter::default(),
            certificate: Family::default(),
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
        registry.register(
            "tls_certificate_not_after_timestamp_seconds",
            "When the server's certificate ends, in seconds since 1970-01-01 UTC",
            metrics.certificate.clone(),
        );
        metrics
    }

    /// The server shows a certificate that ends then, in seconds since 1970-01-01 UTC.
    pub fn certificate_ends(&self, at: i64) {
        self.certificate.get_or_create(&[]).set(at);
    }
}
