//! What units have cost a cluster: time, by quantiles, and memory.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use placewright_chain::UnitTime;
use serde::Serialize;

use super::ClusterState;

/// What a unit has cost the decisions of a cluster since the cluster's policy or one of its units
/// changed last, or since the server began.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct UnitCost {
    /// Name of the unit.
    #[schema(value_type = String, example = "memory")]
    pub unit: Arc<str>,
    /// Name of the cluster.
    #[schema(value_type = String, example = "north")]
    pub cluster: Arc<str>,
    /// How often it was called.
    #[schema(example = 12040)]
    pub calls: u64,
    /// Hosts that it was asked about, counted in every call.
    #[schema(example = 96000)]
    pub rows: u64,
    /// Hosts that it would have been asked about besides, had its answers not been cached.
    #[schema(example = 1104000)]
    pub rows_reused: u64,
    /// Time of all calls in seconds, making their tables and reading their answers included.
    #[schema(example = 1.75)]
    pub seconds: f64,
    /// The part of the time of all units of the cluster that it took, from 0 to 1.
    #[schema(example = 0.25)]
    pub share: f64,
    /// The time in microseconds within which half of its calls ended. Like the other quantiles
    /// it is too great by an eighth at most.
    #[schema(example = 110.0)]
    pub median_us: f64,
    /// The time in microseconds within which 95 of 100 calls ended.
    #[schema(example = 180.0)]
    pub p95_us: f64,
    /// The time in microseconds within which 99 of 100 calls ended.
    #[schema(example = 240.0)]
    pub p99_us: f64,
    /// The longest call in microseconds.
    #[schema(example = 1900.0)]
    pub longest_us: f64,
    /// The wall time in microseconds that all units of a decision may take together.
    #[schema(example = 1000000.0)]
    pub limit_us: f64,
    /// The most linear memory in bytes that an instance of it had after a call.
    #[schema(example = 1179648)]
    pub memory: u64,
    /// The linear memory in bytes that an instance may have.
    #[schema(example = 67108864)]
    pub memory_limit: u64,
}

fn microseconds(time: Duration) -> f64 {
    // Nanoseconds are exact up to four months.
    time.as_nanos() as f64 / 1e3
}

impl ClusterState {
    /// What the units of the chain that decides have cost so far, by name. Calls that no decision
    /// of the cluster makes are not counted, as those for plans.
    pub fn unit_costs(&self) -> Vec<UnitCost> {
        // A unit may be called for several entries.
        let mut by_unit: BTreeMap<Arc<str>, UnitTime> = BTreeMap::new();
        for time in self.scheduler.times() {
            by_unit
                .entry(time.unit.clone())
                .and_modify(|sum| sum.merge(time))
                .or_insert_with(|| time.clone());
        }
        let whole: Duration = by_unit.values().map(|time| time.time).sum();
        let reused = self.scheduler.unit_reuse();
        let limit = self.scheduler.options().chain_limit;
        // All units are loaded by one engine.
        let mut units = self.generation.units();
        let memory_limit = units.next().map_or(0, |unit| unit.engine().limits().memory) as u64;
        let cost = |(unit, time): (Arc<str>, UnitTime)| {
            let reused = reused.iter().filter(|it| it.unit == unit);
            let quantile = |share| microseconds(time.durations.quantile(share));
            UnitCost {
                calls: time.calls,
                rows: time.rows,
                rows_reused: reused.map(|it| it.reused).sum(),
                seconds: time.time.as_secs_f64(),
                share: match whole.is_zero() {
                    true => 0.0,
                    false => time.time.as_secs_f64() / whole.as_secs_f64(),
                },
                median_us: quantile(0.5),
                p95_us: quantile(0.95),
                p99_us: quantile(0.99),
                longest_us: microseconds(time.durations.longest()),
                limit_us: microseconds(limit),
                memory: time.memory as u64,
                memory_limit,
                cluster: self.name.clone(),
                unit,
            }
        };
        by_unit.into_iter().map(cost).collect()
    }
}
