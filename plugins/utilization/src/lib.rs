//! Utilization: keeps the hosts that have as much free of every named amount as the
//! VMs need together.

#![forbid(unsafe_code)]

mod explain;
mod need;

use named_amounts::{HostAmount, Name};
use placewright_sdk::prelude::*;

use need::Need;

/// An amount that a VM needs.
#[derive(Row)]
struct VmAmount {
    name: Name,
    need: i64,
}

/// What is read of each VM to be placed.
#[derive(Row)]
struct Vm {
    #[table("amounts")]
    amounts: Rows<VmAmount>,
}

/// All VMs that are to be placed together on one host.
#[derive(Request)]
struct Request {
    #[table("members")]
    vms: Rows<Vm>,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[table("amounts")]
    amounts: Rows<HostAmount>,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// has nothing of an amount that is needed
    Lacking,
    /// has too little of an amount that is needed
    TooLittle,
    /// has too little of an amount that is needed while places on it are reserved
    #[reason(passing)]
    TooLittleWhilePending,
}

struct Utilization;

impl RowWise for Utilization {
    type Request = Request;
    type Host = Host;
    type Settings = ();
    type Reason = Reason;
    type Need = Need<Name>;

    fn prepare(request: &Request, (): &()) -> Result<Need<Name>, Problem> {
        let mut needs = Vec::new();
        for vm in &request.vms {
            needs.extend(vm.amounts.iter().map(|amount| (amount.name, amount.need)));
        }
        Need::sum(needs)
    }
}

impl RowFilter for Utilization {
    fn keep(Need(needs): &Need<Name>, host: &Host) -> Verdict<Reason> {
        if needs.is_empty() {
            return Verdict::Keep;
        }
        let mut verdict = Verdict::Keep;
        let mut amounts = host.amounts.iter();
        for (name, need) in needs {
            let wanted = |amount: &HostAmount| amount.name == *name;
            // Hosts and VMs mostly name their amounts in one order.
            let found = amounts.find(wanted).or_else(|| {
                amounts = host.amounts.iter();
                amounts.find(wanted)
            });
            match found {
                None => return Verdict::Remove(Reason::Lacking),
                Some(amount) if amount.unused() < *need => {
                    return Verdict::Remove(Reason::TooLittle);
                }
                Some(amount) if amount.free < *need => {
                    verdict = Verdict::Remove(Reason::TooLittleWhilePending);
                }
                Some(_) => {}
            }
        }
        verdict
    }
}

placewright_sdk::export!(Utilization: filter, explain);

#[cfg(test)]
mod tests;
