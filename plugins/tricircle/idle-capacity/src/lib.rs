//! Idle capacity: leaves out hosts of which any resource is used up to a threshold,
//! and prefers those whose scarcest resource has the largest share free.
//!
//! Both look at what was last reported of a host, not at what is placed on it
//! since. A host of which nothing was reported yet counts as idle.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[column("attribute.threshold")]
    threshold: Option<f64>,
    #[table("usage")]
    usage: Rows<Usage>,
}

/// Reported use of one resource.
#[derive(Row)]
struct Usage {
    used: i64,
    total: i64,
}

#[derive(Settings)]
struct Settings {
    /// How much of a resource may be used before the host takes no more, where the
    /// host has no threshold of its own (attribute.threshold).
    #[setting(default = 90, least = 0, measure = "percent")]
    threshold: f64,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// has a resource that is used up to its threshold
    Exhausted,
}

/// A share, in millionths of a percent: whole numbers, so that a threshold is met
/// exactly, also one with a fraction.
#[derive(Clone, Copy)]
struct Threshold(i64);

/// The whole, in the same unit.
const WHOLE: i128 = 100 * 1_000_000;

impl Threshold {
    fn percent(percent: f64) -> Self {
        // The cast keeps what is absurdly large within bounds.
        Self((percent * 1e6).round() as i64)
    }

    fn is_met(self, usage: &Usage) -> bool {
        let used = i128::from(usage.used) * WHOLE;
        used >= i128::from(self.0) * i128::from(usage.total)
    }
}

/// The resources of which there are any: others are not limited.
fn resources(host: &Host) -> impl Iterator<Item = Usage> {
    host.usage.iter().filter(|usage| usage.total > 0)
}

struct IdleCapacity;

impl RowWise for IdleCapacity {
    type Request = ();
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    /// The threshold of hosts that have none of their own.
    type Need = Threshold;

    fn prepare((): &(), settings: &Settings) -> Result<Threshold, Problem> {
        Ok(Threshold::percent(settings.threshold))
    }
}

impl RowFilter for IdleCapacity {
    fn keep(default: &Threshold, host: &Host) -> Verdict<Reason> {
        let threshold = host.threshold.map_or(*default, Threshold::percent);
        let exhausted = resources(host).any(|usage| threshold.is_met(&usage));
        Verdict::keep_if(!exhausted, Reason::Exhausted)
    }
}

impl RowCost for IdleCapacity {
    /// Minus the free share of the resource of which the smallest share is free.
    fn cost(_: &Threshold, host: &Host) -> f64 {
        let free = resources(host)
            .map(|usage| usage.total.saturating_sub(usage.used) as f64 / usage.total as f64);
        -free.fold(1.0, f64::min)
    }
}

placewright_sdk::export!(
    IdleCapacity: filter, cost_function,
    aliases = ["idle_capacity"]
);

#[cfg(test)]
mod tests;
