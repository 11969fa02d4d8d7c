//! What the program uses of the machine.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

/// Pages of memory have this size on every Linux machine that matters; the kernel says
/// so in pages.
const PAGE: u64 = 4096;

pub(super) fn register(registry: &mut Registry) {
    registry.register_collector(Box::new(Process {
        started: SystemTime::now(),
    }));
}

/// Read when metrics are asked for.
#[derive(Debug)]
struct Process {
    started: SystemTime,
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), fmt::Error> {
        let started = self.started.duration_since(UNIX_EPOCH);
        let started = started.map_or(0.0, |since| since.as_secs_f64());
        let mut gauge = |name: &str, help: &str, value: f64| {
            let gauge = ConstGauge::new(value);
            let encoder = encoder.encode_descriptor(
                name,
                help,
                None,
                prometheus_client::metrics::MetricType::Gauge,
            )?;
            gauge.encode(encoder)
        };
        gauge(
            "process_start_time_seconds",
            "When the process began, in seconds since 1970-01-01 UTC.",
            started,
        )?;
        if let Some(bytes) = resident() {
            gauge(
                "process_resident_memory_bytes",
                "Resident memory in bytes.",
                bytes as f64,
            )?;
        }
        Ok(())
    }
}

/// Resident memory in bytes, where the platform tells.
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * PAGE)
}
