//! What the running server tells of itself: every family of metrics, declared in one
//! place, and the set-up of logs.
//!
//! Families are plain structs that count; who counts holds a meter, a cheap handle
//! whose labels are looked up once.

mod audit;
mod capacity;
mod clusters;
mod configuration;
mod families;
mod http;
mod library;
mod log;
mod plain;
mod process;
mod quotas;
mod store;
mod traces;
mod units;

pub use audit::AuditMetrics;
pub use capacity::{Capacity, ClusterCapacity, StatisticsAge};
pub use clusters::{
    BalanceOutcome, ClusterFamilies, ClusterMeter, MoveChange, Outcome, ReservationEnd,
};
pub use configuration::ConfigurationMetrics;
pub use families::{MetricFamily, families};
pub use http::HttpFamilies;
pub use library::LibraryMetrics;
pub use log::{LogError, LogFormat, check_level, decision_span, start_log};
pub use plain::{PLAIN_METRICS_TYPE, plain};
pub use quotas::{QUOTAS_TOLD, QuotaAmount, QuotaLevel, QuotaRefusals};
pub use store::StoreMetrics;
pub use traces::TraceMetrics;
pub use units::{Breaker, UnitFamilies, UnitMeter};

use std::fmt;
use std::sync::{Mutex, PoisonError};

use capacity::CapacityFamilies;
use prometheus_client::encoding::text;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use quotas::QuotaFamilies;

/// The media type of [`Telemetry::text`].
pub const METRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What is told as it is when metrics are asked for.
#[derive(Debug)]
struct Levels {
    capacity: CapacityFamilies,
    quotas: QuotaFamilies,
}

/// All metrics of a server.
#[derive(Debug)]
pub struct Telemetry {
    registry: Registry,
    /// What clusters have, and what tenants hold. Held while it is set and written, so that nobody
    /// reads half of it.
    levels: Mutex<Levels>,
    /// Requests.
    pub http: HttpFamilies,
    /// Decisions, cluster by cluster.
    pub clusters: ClusterFamilies,
    /// Decisions that quotas refused, quota by quota.
    pub quota_refusals: QuotaRefusals,
    /// Calls, unit by unit.
    pub units: UnitFamilies,
    /// The set of units in force.
    pub library: LibraryMetrics,
    /// What is written to disk.
    pub store: StoreMetrics,
    /// What is taken over of the configuration.
    pub configuration: ConfigurationMetrics,
    /// What is written to the audit log.
    pub audit: AuditMetrics,
    /// What becomes of the spans of traces.
    pub traces: TraceMetrics,
}

impl Telemetry {
    /// All families, empty.
    pub fn new() -> Self {
        let mut root = Registry::default();
        // Under the names that they have in every program.
        process::register(&mut root);
        let registry = root.sub_registry_with_prefix("placewright");
        registry.register(
            "build",
            "The program that runs",
            Info::new([("version", env!("CARGO_PKG_VERSION"))]),
        );
        Self {
            levels: Mutex::new(Levels {
                capacity: CapacityFamilies::register(registry),
                quotas: QuotaFamilies::register(registry),
            }),
            quota_refusals: QuotaRefusals::register(registry),
            http: HttpFamilies::register(registry),
            clusters: ClusterFamilies::register(registry),
            units: UnitFamilies::register(registry),
            library: LibraryMetrics::register(registry),
            store: StoreMetrics::register(registry),
            configuration: ConfigurationMetrics::register(registry),
            audit: AuditMetrics::register(registry),
            traces: TraceMetrics::register(registry),
            registry: root,
        }
    }

    /// Every metric in the text format of OpenMetrics, with what clusters have and what tenants
    /// hold as it was told last.
    ///
    /// # Errors
    /// Never in practice: writing to a text does not fail.
    pub fn text(&self) -> Result<String, fmt::Error> {
        let _levels = self.levels.lock().unwrap_or_else(PoisonError::into_inner);
        self.write()
    }

    /// Every metric in the text format of OpenMetrics, with what these clusters have and what is
    /// held under these quotas, which are in the order of their names.
    ///
    /// # Errors
    /// As for [`Telemetry::text`].
    pub fn text_with(
        &self,
        clusters: &[ClusterCapacity],
        quotas: &[QuotaLevel],
    ) -> Result<String, fmt::Error> {
        let levels = self.levels.lock().unwrap_or_else(PoisonError::into_inner);
        levels.capacity.set(clusters);
        levels.quotas.set(quotas);
        self.write()
    }

    fn write(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        text::encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

impl Default for Telemetry {
    fn default() -> Self {
        Self::new()
    }
}

/// Seconds, from what a chain with kept answers takes up to the longest wait.
fn seconds() -> Histogram {
    Histogram::new([
        0.000_01, 0.000_03, 0.000_1, 0.000_3, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0,
        30.0,
    ])
}

#[cfg(test)]
mod tests;
