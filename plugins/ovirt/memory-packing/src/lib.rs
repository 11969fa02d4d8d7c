//! Memory packing: the less memory a host has left to promise, the less it costs,
//! down to a limit; a host with less than that costs the more, the less it has.

#![forbid(unsafe_code)]

use host_load::memory::{Host, Left, Request, mib};
use placewright_sdk::prelude::*;

#[derive(Settings)]
struct Settings {
    /// A host left with less memory to promise than this is over-utilised.
    #[setting(default = 0, least = 0)]
    low_memory: Bytes,
    /// A host left with more than this is under-utilised: over-utilised ones cost
    /// more than it. If not set, they cost most of all.
    #[setting(least = 0)]
    high_memory: Option<Bytes>,
}

struct MemoryPacking;

impl WholeTable for MemoryPacking {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = ();
}

impl TableCost for MemoryPacking {
    fn cost(
        request: &Request,
        hosts: &Rows<Host>,
        settings: &Settings,
    ) -> Result<Vec<f64>, Problem> {
        let left = Left::of(request, hosts);
        let scale = Scale::new(left.most, settings);
        Ok(left.after.iter().map(|after| scale.cost(*after)).collect())
    }
}

/// The least and the greatest cost.
const BEST: f32 = 1.0;
const WORST: f32 = 1000.0;

/// How much more than the most that a host has left the scale reaches, so that an
/// over-utilised host can cost more than any other.
const BEYOND: f32 = 1.1;

/// From memory to costs, in MiB.
struct Scale {
    low: f32,
    high: f32,
    end: f32,
}

impl Scale {
    fn new(most: f32, settings: &Settings) -> Self {
        let high = settings.high_memory.map_or(f64::INFINITY, mib);
        Self {
            low: mib(settings.low_memory) as f32,
            high: high as f32,
            end: most * BEYOND,
        }
    }

    fn cost(&self, after: f32) -> f64 {
        let counted = if after < self.low {
            self.end.min(self.high + (self.low - after))
        } else {
            after
        };
        if self.end <= 0.0 {
            return f64::from(BEST);
        }
        f64::from(BEST + (counted / self.end * (WORST - BEST)).trunc())
    }
}

placewright_sdk::export!(
    MemoryPacking: table_cost_function,
    aliases = [
        "OptimalForMemoryPowerSaving",
        "9dfe6086-646d-43b8-8eef-4d94de8472c8",
    ]
);

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(low: i64, high: Option<i64>) -> Scale {
        let settings = Settings {
            low_memory: Bytes::mib(low),
            high_memory: high.map(Bytes::mib),
        };
        Scale::new(924.0, &settings)
    }

    #[test]
    fn the_fuller_host_costs_less() {
        let scale = scale(0, None);
        let costs = [scale.cost(0.0), scale.cost(796.0), scale.cost(824.0)];
        assert_eq!(costs, [1.0, 783.0, 810.0]);
        assert_eq!(scale.cost(924.0), 909.0);
    }

    #[test]
    fn costs_at_a_step_are_those_of_floats_of_32_bits() {
        // 77 of 1221 is exactly 63 of 999, and in floats of 64 bits a little less.
        let scale = Scale::new(1_110.0, &Settings::defaults().expect("all have defaults"));
        assert_eq!(scale.cost(77.0), 64.0);
    }

    #[test]
    fn a_host_with_too_little_costs_more_than_an_under_utilised_one() {
        let scale = scale(100, Some(500));
        let costs = [scale.cost(500.0), scale.cost(99.0), scale.cost(0.0)];
        assert!(costs.is_sorted_by(|one, next| one < next), "{costs:?}");
        assert!(scale.cost(100.0) < scale.cost(500.0));
    }

    #[test]
    fn without_a_high_limit_a_host_with_too_little_costs_most() {
        assert_eq!(scale(600, None).cost(296.0), 1000.0);
        assert_eq!(scale(600, Some(900)).cost(296.0), 1000.0);
        assert_eq!(scale(0, None).cost(-1.0), 1000.0);
    }

    #[test]
    fn where_nobody_has_memory_all_are_equal() {
        let scale = Scale::new(0.0, &Settings::defaults().expect("all have defaults"));
        assert_eq!([scale.cost(0.0), scale.cost(-5.0)], [1.0, 1.0]);
    }
}
