//! A unit for tests of the runtime: what it says depends on the time, and it says that it
//! holds for good.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of the request.
#[derive(Row)]
struct Now {
    now: Seconds,
}

#[derive(Request)]
struct Request {
    request: Now,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[column("memory.total")]
    memory: Bytes,
}

struct Everlasting;

impl RowWise for Everlasting {
    type Request = Request;
    type Host = Host;
    type Settings = ();
    type Reason = ();
    type Need = Seconds;

    fn prepare(request: &Request, (): &()) -> Result<Seconds, Problem> {
        Ok(request.request.now)
    }

    fn until(_: &Seconds, _: &Host) -> i64 {
        FOR_GOOD
    }
}

impl RowCost for Everlasting {
    fn cost(now: &Seconds, host: &Host) -> f64 {
        (now.0 % 7 + host.memory.0 % 5) as f64
    }
}

placewright_sdk::export!(Everlasting: cost_function);
