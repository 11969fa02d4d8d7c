//! Reads an integer column as a number.

use placewright_sdk::prelude::*;

#[derive(Row)]
struct Host {
    #[column("memory.total")]
    total: f64,
}

struct Largest;

impl RowWise for Largest {
    type Request = ();
    type Host = Host;
    type Settings = ();
    type Reason = ();
    type Need = ();

    fn prepare((): &(), (): &()) -> Result<(), Problem> {
        Ok(())
    }
}

impl RowCost for Largest {
    fn cost((): &(), host: &Host) -> f64 {
        -host.total
    }
}

placewright_sdk::export!(Largest: cost_function);
