//! What came out of a replay, in figures.

use std::time::Duration;

use placewright_chain::{ReuseCounts, UnitReuse};
use placewright_scheduler::Scheduler;
use serde::{Serialize, Serializer};

use super::balance::Balanced;
use super::fleet::Fleet;
use super::spread::Spread;
use super::tally::{Load, Usage};
use super::trace::Form;

/// The figures of a replay. Field for field what `--format json` prints.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Report {
    /// What was replayed.
    pub trace: TraceShown,
    /// The hosts that it was replayed on.
    pub fleet: Fleet,
    /// The policy that decided.
    pub policy: String,
    /// The units that it called.
    pub units: Vec<UnitUsed>,
    /// Whether hosts reported measured load and free memory.
    pub statistics: bool,
    /// VMs that got a host.
    pub placed: u64,
    /// VMs that got none.
    pub rejected: u64,
    /// What these would have needed.
    pub rejected_cores: f64,
    /// The same in millicores, exact.
    pub rejected_millicores: i64,
    /// What these would have needed, in bytes.
    pub rejected_memory_bytes: i64,
    /// The most VMs that ran at once.
    pub peak_vms: u32,
    /// The most hosts that had a VM at once.
    pub peak_used_hosts: u32,
    /// Hosts that had a VM on average, up to the last arrival.
    pub mean_used_hosts: f64,
    /// The most of the fleet's CPU that was promised at once, in percent.
    pub peak_cpu_pct: f64,
    /// The most of the fleet's memory that was promised at once, in percent.
    pub peak_memory_pct: f64,
    /// VMs that still run at the end.
    pub end_vms: u32,
    /// Hosts that still have a VM at the end.
    pub end_used_hosts: u32,
    /// Hosts that were, on average up to the last arrival, empty, loaded up to 10 %
    /// of their CPU, up to 20 % and so on.
    pub mean_hosts_by_load: Vec<f64>,
    /// What the passes of the balance unit came to, if there were to be any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub balance: Option<Balanced>,
    /// FNV-1a, 64 bits, of all decisions.
    pub decision_fnv1a64: String,
    /// Wall time of the replay.
    #[serde(serialize_with = "as_seconds", rename = "seconds")]
    pub time: Duration,
    /// Arrivals per second of wall time, passes of the balance unit apart: these have seconds of
    /// their own.
    pub decisions_per_second: f64,
    /// What each call of the chain took.
    pub calls: Vec<CallTime>,
    /// What keeping units' answers has brought; none if they were not kept.
    pub reuse: Option<Reused>,
}

/// What keeping answers has brought in a replay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Reused {
    /// How often answers were used again.
    #[serde(flatten)]
    pub counts: ReuseCounts,
    /// The same, unit by unit.
    pub units: Vec<UnitReuse>,
    /// Units that did not say the same again, and whose answers were not kept from then
    /// on.
    pub quarantined: Vec<String>,
}

/// A trace, and what of it was replayed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct TraceShown {
    /// The file.
    pub name: String,
    /// What kind of file.
    pub form: Form,
    /// How many VMs came.
    pub arrivals: u64,
    /// How many rows were left out because they are measured on another scale.
    pub left_out_other_scale: usize,
    /// How many rows were left out because no host is large enough.
    pub left_out_too_large: usize,
}

/// A unit that decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct UnitUsed {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// SHA-256 of its component.
    pub digest: String,
}

/// What one call of the chain took, all decisions together.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct CallTime {
    /// The unit.
    pub unit: String,
    /// How often it was called.
    pub calls: u64,
    /// Hosts that it was asked about.
    pub rows: u64,
    /// Time in it, the making and reading of its tables included.
    #[serde(serialize_with = "as_seconds", rename = "seconds")]
    pub time: Duration,
    /// Its share of the replay's time, in percent.
    pub share_pct: f64,
}

impl CallTime {
    /// What each call of a scheduler's chain took, in a replay that took `time`.
    pub(super) fn of(scheduler: &Scheduler, time: Duration) -> Vec<Self> {
        let calls = scheduler.times().map(|call| Self {
            unit: call.unit.to_string(),
            calls: call.calls,
            rows: call.rows,
            time: call.time,
            share_pct: percent(call.time.as_secs_f64(), time.as_secs_f64()),
        });
        calls.collect()
    }
}

impl Reused {
    /// What keeping answers has brought a scheduler; None if it does not keep any.
    pub(super) fn of(scheduler: &Scheduler) -> Option<Self> {
        let counts = scheduler.reuse_counts();
        let quarantined = scheduler.quarantined().iter();
        (counts.decisions > 0).then(|| Self {
            counts,
            units: scheduler.unit_reuse(),
            quarantined: quarantined.map(|it| it.unit.to_string()).collect(),
        })
    }
}

/// What was replayed, on what, under what.
pub(super) struct Setting {
    pub(super) trace: TraceShown,
    pub(super) fleet: Fleet,
    pub(super) policy: String,
    pub(super) units: Vec<UnitUsed>,
    pub(super) statistics: bool,
}

/// What was counted.
pub(super) struct Counts<'a> {
    pub(super) placed: u64,
    pub(super) rejected: Load,
    pub(super) now: Usage,
    pub(super) peak: Usage,
    pub(super) spread: &'a Spread,
    pub(super) hash: String,
    pub(super) balance: Option<Balanced>,
    pub(super) reuse: Option<Reused>,
}

impl Report {
    pub(super) fn new(
        setting: Setting,
        counts: Counts<'_>,
        time: Duration,
        calls: Vec<CallTime>,
    ) -> Self {
        let Counts {
            now,
            peak,
            rejected,
            ..
        } = counts;
        Self {
            reuse: counts.reuse,
            placed: counts.placed,
            rejected: u64::from(rejected.vms),
            rejected_cores: rejected.cpu as f64 / 1000.0,
            rejected_millicores: rejected.cpu,
            rejected_memory_bytes: rejected.memory,
            peak_vms: peak.load.vms,
            peak_used_hosts: peak.hosts,
            mean_used_hosts: rounded(counts.spread.mean_used_hosts()),
            peak_cpu_pct: percent(peak.load.cpu as f64, setting.fleet.total_cpu()),
            peak_memory_pct: percent(peak.load.memory as f64, setting.fleet.total_memory()),
            end_vms: now.load.vms,
            end_used_hosts: now.hosts,
            mean_hosts_by_load: counts.spread.mean_hosts().map(rounded).to_vec(),
            balance: counts.balance,
            decision_fnv1a64: counts.hash,
            time,
            decisions_per_second: rate(
                setting.trace.arrivals,
                outside_passes(time, counts.balance),
            ),
            calls,
            trace: setting.trace,
            fleet: setting.fleet,
            policy: setting.policy,
            units: setting.units,
            statistics: setting.statistics,
        }
    }
}

/// The time of a replay in which decisions were made, and no pass of the balance unit.
pub(super) fn outside_passes(time: Duration, balance: Option<Balanced>) -> Duration {
    time.saturating_sub(balance.map_or(Duration::ZERO, |balance| balance.time))
}

pub(super) fn rate(count: u64, time: Duration) -> f64 {
    let seconds = time.as_secs_f64();
    match seconds > 0.0 {
        true => (count as f64 / seconds).round(),
        false => 0.0,
    }
}

/// A share in percent, with two decimals.
pub(super) fn percent(part: f64, whole: f64) -> f64 {
    match whole > 0.0 {
        true => rounded(part / whole * 100.0),
        false => 0.0,
    }
}

pub(super) fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

pub(super) fn as_seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((time.as_secs_f64() * 1e6).round() / 1e6)
}
