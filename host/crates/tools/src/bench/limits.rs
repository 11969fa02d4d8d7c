//! What was measured, beside the limits in force.

use serde::Serialize;

use super::{CallCost, LoadCost};
use placewright_engine::Limits;

/// One limit, and how near the unit comes to it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct LimitShown {
    /// What is limited.
    pub limit: &'static str,
    /// In what both are measured.
    pub measure: &'static str,
    /// The most that was measured.
    pub used: f64,
    /// The most that is allowed.
    pub allowed: f64,
    /// Whether it is kept to.
    pub kept: bool,
}

impl LimitShown {
    fn new(limit: &'static str, measure: &'static str, used: f64, allowed: f64) -> Self {
        Self {
            limit,
            measure,
            used,
            allowed,
            kept: used <= allowed,
        }
    }

    /// All limits that can be measured, in a fixed order.
    pub(super) fn all(load: &LoadCost, calls: &[CallCost]) -> Vec<Self> {
        let limits = Limits::default();
        let most =
            |of: fn(&CallCost) -> Option<f64>| calls.iter().filter_map(of).fold(0.0_f64, f64::max);
        let time = most(|cost| Some(cost.time_ns?.upper / 1e9));
        let instructions = most(|cost| Some(cost.instructions? as f64));
        let memory = most(|cost| Some(cost.memory_after_bytes as f64));
        let fuel = Limits::reproducible().fuel;
        let fuel = fuel.map(|fuel| {
            Self::new(
                "instructions of a call where they are limited",
                "count",
                instructions,
                fuel as f64,
            )
        });
        let mut all = vec![
            Self::new(
                "time of a whole chain",
                "seconds",
                time,
                limits.time.as_secs_f64(),
            ),
            Self::new(
                "memory of an instance",
                "bytes",
                memory,
                limits.memory as f64,
            ),
            Self::new(
                "size of the component",
                "bytes",
                load.bytes as f64,
                limits.file as f64,
            ),
            Self::new(
                "time to compile",
                "seconds",
                load.compiled_ns / 1e9,
                limits.compile_time.as_secs_f64(),
            ),
        ];
        all.extend(fuel);
        all
    }
}
