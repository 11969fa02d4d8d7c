//! A unit for tests of the runtime: to it, hosts with VMs of the request's groups cost more
//! in every call.

#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicU32, Ordering};

use placewright_sdk::prelude::*;

/// Other VMs of a group that run on the host.
#[derive(Row)]
struct Members {
    vms: i64,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[table("group-members")]
    members: Rows<Members>,
}

/// How many calls there were.
static CALLS: AtomicU32 = AtomicU32::new(0);

struct Growing;

impl RowWise for Growing {
    type Request = ();
    type Host = Host;
    type Settings = ();
    type Reason = ();
    type Need = u32;

    fn prepare((): &(), (): &()) -> Result<u32, Problem> {
        Ok(CALLS.fetch_add(1, Ordering::Relaxed))
    }
}

impl RowCost for Growing {
    fn cost(calls: &u32, host: &Host) -> f64 {
        let vms: i64 = host.members.iter().map(|row| row.vms).sum();
        vms as f64 * f64::from(*calls)
    }
}

placewright_sdk::export!(Growing: cost_function);
