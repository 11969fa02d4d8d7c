//! Worst fit: spreads. Of the hosts with enough free CPU and memory it prefers the
//! one on which the most of both, as shares of the host's totals, stays free.

#![forbid(unsafe_code)]

use host_room::{Host, Reason, Request, Settings, Steps};
use placewright_sdk::prelude::*;

struct WorstFit;

impl RowWise for WorstFit {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    type Need = Steps;

    fn prepare(request: &Request, settings: &Settings) -> Result<Steps, Problem> {
        Ok(Steps::new(request, settings))
    }
}

impl RowFilter for WorstFit {
    fn keep(need: &Steps, host: &Host) -> Verdict<Reason> {
        need.keep(host)
    }
}

impl RowCost for WorstFit {
    /// Minus what stays free: `cpu_left / cpu + memory_left / memory`, times both
    /// totals.
    fn cost(need: &Steps, host: &Host) -> f64 {
        -need.room(host).left() as f64
    }
}

placewright_sdk::export!(WorstFit: filter, cost_function);

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
        let need = WorstFit::prepare(&request, &settings).expect("nothing is refused");
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
        WorstFit::cost(&need, &host)
    }

    #[test]
    fn prefers_the_host_that_is_emptier_afterwards() {
        // In steps: (200 - 100) * 64 + (32 - 16) * 800, and (800 - 100) * 64 + (64 - 16) * 800.
        assert_eq!((cost(6, 8), cost(0, 0)), (-19_200.0, -83_200.0));
    }
}
