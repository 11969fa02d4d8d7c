//! Current host: prefers the host where the VM runs now.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[table("current")]
    vms: Rows<Current>,
}

/// A VM of the request that runs on the host now: it is enough that there is a row.
#[derive(Row)]
struct Current {}

struct CurrentHost;

impl RowWise for CurrentHost {
    type Request = ();
    type Host = Host;
    type Settings = ();
    type Reason = ();
    type Need = ();

    fn prepare((): &(), (): &()) -> Result<(), Problem> {
        Ok(())
    }
}

impl RowCost for CurrentHost {
    /// Minus the number of VMs, usually one, that would not have to move.
    fn cost((): &(), host: &Host) -> f64 {
        0.0 - host.vms.len() as f64
    }
}

placewright_sdk::export!(CurrentHost: cost_function);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_where_the_vm_runs_costs_less() {
        let cost = |vms: usize| {
            let vms = (0..vms).map(|_| Current {}).collect();
            CurrentHost::cost(&(), &Host { vms })
        };
        assert_eq!([cost(0), cost(1), cost(2)], [0.0, -1.0, -2.0]);
    }
}
