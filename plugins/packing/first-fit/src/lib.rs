//! First fit: keeps the hosts with enough free CPU and memory and holds them all for
//! equal, so that the policy's tie rule decides (`id`: the first of them).

#![forbid(unsafe_code)]

use host_room::{Host, Need, Reason, Request};
use placewright_sdk::prelude::*;

struct FirstFit;

impl RowWise for FirstFit {
    type Request = Request;
    type Host = Host;
    type Settings = ();
    type Reason = Reason;
    type Need = Need;

    fn prepare(request: &Request, (): &()) -> Result<Need, Problem> {
        Ok(Need::of(request))
    }
}

impl RowFilter for FirstFit {
    fn keep(need: &Need, host: &Host) -> Verdict<Reason> {
        need.keep(host)
    }
}

impl RowCost for FirstFit {
    const RANGE: Option<(f64, f64)> = Some((0.0, 0.0));

    fn cost(_: &Need, _: &Host) -> f64 {
        0.0
    }
}

placewright_sdk::export!(FirstFit: filter, cost_function);
