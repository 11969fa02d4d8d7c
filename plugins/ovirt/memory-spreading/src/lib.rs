//! Memory spreading: the more memory a host has left to promise, the less it costs,
//! between 1 and 1000 measured against the host that has most.

#![forbid(unsafe_code)]

use host_load::memory::{Host, Left, Request};
use placewright_sdk::prelude::*;

struct MemorySpreading;

impl WholeTable for MemorySpreading {
    type Request = Request;
    type Host = Host;
    type Settings = ();
    type Reason = ();
}

/// The cost of a host that has the least.
const WORST: f32 = 1000.0;

impl TableCost for MemorySpreading {
    fn cost(request: &Request, hosts: &Rows<Host>, (): &()) -> Result<Vec<f64>, Problem> {
        let left = Left::of(request, hosts);
        let cost = |after: &f32| cost(*after, left.most);
        Ok(left.after.iter().map(cost).collect())
    }
}

/// 1 for a host that has all of the most and gives none of it, 1000 for one with a
/// single MiB left; more for less.
fn cost(after: f32, most: f32) -> f64 {
    if most <= 1.0 {
        return f64::from(WORST);
    }
    let saved = (after - 1.0) * (WORST - 1.0) / (most - 1.0);
    f64::from(WORST) - (f64::from(saved) + 0.5).floor()
}

placewright_sdk::export!(
    MemorySpreading: table_cost_function,
    aliases = [
        "OptimalForMemoryEvenDistribution",
        "4134247a-9c58-4b9a-8593-530bb9e37c59",
    ]
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_with_the_most_is_best_and_one_with_nothing_is_beyond_worst() {
        assert_eq!(cost(924.0, 924.0), 1.0);
        assert_eq!(cost(1.0, 924.0), 1000.0);
        assert_eq!(cost(-4.0, 924.0), 1005.0);
    }

    #[test]
    fn between_them_costs_are_whole_and_half_is_rounded_against_the_cost() {
        assert_eq!(cost(796.0, 924.0), 140.0);
        assert_eq!(cost(124.0, 924.0), 867.0);
        // 1000 - 499.5, of which the half is rounded up.
        assert_eq!(cost(2.0, 3.0), 500.0);
    }

    #[test]
    fn where_nobody_has_memory_all_are_worst() {
        assert_eq!(cost(0.0, 0.0), 1000.0);
        assert_eq!(cost(1.0, 1.0), 1000.0);
    }
}
