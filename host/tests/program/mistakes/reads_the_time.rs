//! Reads the time, and does not say until when an answer holds.

use placewright_sdk::prelude::*;

#[derive(Row)]
struct Clock {
    now: Seconds,
}

#[derive(Request)]
struct Request {
    #[table("request")]
    clock: Clock,
}

#[derive(Row)]
struct Host {
    #[column("memory.total")]
    total: Bytes,
}

struct Nightly;

impl RowWise for Nightly {
    type Request = Request;
    type Host = Host;
    type Settings = ();
    type Reason = ();
    /// Whether it is night.
    type Need = bool;

    fn prepare(request: &Request, (): &()) -> Result<bool, Problem> {
        Ok(request.clock.now.0.rem_euclid(86_400) < 6 * 3600)
    }
}

impl RowCost for Nightly {
    fn cost(night: &bool, host: &Host) -> f64 {
        match night {
            true => host.total.0 as f64,
            false => 0.0,
        }
    }
}

placewright_sdk::export!(Nightly: cost_function);
