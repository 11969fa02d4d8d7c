//! Dot product: of the hosts with enough free CPU and memory it prefers the one whose
//! free shares lie most in the direction of what is needed.

#![forbid(unsafe_code)]

use host_room::{Host, Reason, Request, Settings, Steps};
use placewright_sdk::prelude::*;

struct DotProduct;

impl RowWise for DotProduct {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    type Need = Steps;

    fn prepare(request: &Request, settings: &Settings) -> Result<Steps, Problem> {
        Ok(Steps::new(request, settings))
    }
}

impl RowFilter for DotProduct {
    fn keep(need: &Steps, host: &Host) -> Verdict<Reason> {
        need.keep(host)
    }
}

impl RowCost for DotProduct {
    /// Minus the product of the shares that are free and the shares that are needed:
    /// `cpu_free * cpu_need / cpu^2 + memory_free * memory_need / memory^2`, times the
    /// squares of both totals.
    fn cost(need: &Steps, host: &Host) -> f64 {
        let room = need.room(host);
        let by_cpu = product([room.cpu_free, room.cpu_need, room.memory, room.memory]);
        let by_memory = product([room.memory_free, room.memory_need, room.cpu, room.cpu]);
        0_i128.saturating_sub(by_cpu).saturating_sub(by_memory) as f64
    }
}

/// Four factors of 53 bits can exceed 128; nothing real comes near.
fn product(factors: [i128; 4]) -> i128 {
    factors.into_iter().fold(1, i128::saturating_mul)
}

placewright_sdk::export!(DotProduct: filter, cost_function);

#[cfg(test)]
mod tests {
    use host_room::Vm;

    use super::*;

    fn cost(used_cores: i64, used_gib: i64) -> f64 {
        let vm = Vm {
            cpu: Millicores::cores(1),
            memory: Bytes::gib(4),
        };
        let request = Request {
            vms: vec![vm].into(),
        };
        let settings = Settings::defaults().expect("all have defaults");
        let need = DotProduct::prepare(&request, &settings).expect("nothing is refused");
        let host = Host {
            cpu: Millicores::cores(8),
            cpu_overcommit: None,
            cpu_committed: Millicores::cores(used_cores),
            cpu_pending: Millicores(0),
            memory: Bytes::gib(16),
            memory_reserved: Bytes(0),
            memory_overcommit: 1.0,
            memory_committed: Bytes::gib(used_gib),
            memory_pending: Bytes(0),
        };
        DotProduct::cost(&need, &host)
    }

    #[test]
    fn prefers_free_shares_in_the_direction_of_the_need() {
        // In steps: 200 * 100 * 64^2 + 32 * 16 * 800^2, and 800 * 100 * 64^2 + 64 * 16 * 800^2.
        assert_eq!((cost(6, 8), cost(0, 0)), (-409_600_000.0, -983_040_000.0));
    }
}
