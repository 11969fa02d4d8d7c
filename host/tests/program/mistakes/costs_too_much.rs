//! Gives costs outside of the range that it declares.

use placewright_sdk::prelude::*;

#[derive(Row)]
struct Host {
    #[column("memory.total")]
    total: Bytes,
}

struct Dear;

impl RowWise for Dear {
    type Request = ();
    type Host = Host;
    type Settings = ();
    type Reason = ();
    type Need = ();

    fn prepare((): &(), (): &()) -> Result<(), Problem> {
        Ok(())
    }
}

impl RowCost for Dear {
    const RANGE: Option<(f64, f64)> = Some((0.0, 1.0));

    fn cost((): &(), host: &Host) -> f64 {
        match host.total {
            Bytes(0) => 0.0,
            _ => 2.0,
        }
    }
}

placewright_sdk::export!(Dear: cost_function);
