//! What a unit is asked while a trace of VMs is placed, and what of it is kept from
//! decision to decision.

use std::sync::Arc;

use serde::Serialize;

use crate::simulate::{Observer, Replay, ReplayError};
use placewright_engine::generation::Generation;
use placewright_policy::Policy;

/// What a unit was asked in a replay. All but the time is the same on every machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct TraceCost {
    /// The trace.
    pub trace: String,
    /// The policy that decided.
    pub policy: String,
    /// The hosts that it was replayed on.
    pub hosts: u32,
    /// VMs that came.
    pub arrivals: u64,
    /// Those that found a host.
    pub placed: u64,
    /// How often the unit was called.
    pub calls: u64,
    /// Hosts that it was asked about, all calls together.
    pub asked: u64,
    /// Hosts that it was not asked about again, since nothing had changed that it reads.
    pub reused: u64,
    /// Of those asked about, the ones that were asked to see whether it still says the
    /// same.
    pub checked: u64,
    /// Whether it once did not, so that its answers were not kept any more.
    pub quarantined: bool,
    /// Time in calls of it, with the making of their tables, in nanoseconds.
    pub time_ns: f64,
    /// FNV-1a, 64 bits, of all decisions.
    #[serde(rename = "decision-fnv1a64")]
    pub decision_fnv1a64: String,
}

/// Replay a trace under a policy, and tell what the unit of that name was asked.
///
/// # Errors
/// As for [`Replay::run`].
pub fn on_trace(
    replay: &Replay<'_>,
    policy: Arc<Policy>,
    generation: &Generation,
    unit: &str,
    observer: &mut dyn Observer,
) -> Result<TraceCost, ReplayError> {
    let report = replay.run(policy, generation, observer)?.report;
    let (mut calls, mut rows, mut time_ns) = (0, 0, 0.0);
    for call in report.calls.iter().filter(|call| call.unit == unit) {
        calls += call.calls;
        rows += call.rows;
        time_ns += call.time.as_secs_f64() * 1e9;
    }
    let reuse = report.reuse.as_ref();
    let of_unit = reuse.and_then(|reuse| reuse.units.iter().find(|of| *of.unit == *unit));
    let quarantined = reuse.is_some_and(|it| it.quarantined.iter().any(|name| name == unit));
    Ok(TraceCost {
        trace: report.trace.name,
        policy: report.policy,
        hosts: report.fleet.hosts,
        arrivals: report.trace.arrivals,
        placed: report.placed,
        calls,
        asked: of_unit.map_or(rows, |of| of.asked),
        reused: of_unit.map_or(0, |of| of.reused),
        checked: of_unit.map_or(0, |of| of.checked),
        quarantined,
        time_ns,
        decision_fnv1a64: report.decision_fnv1a64,
    })
}
