//! Utilization: keeps the hosts that have as much free of every named amount as the
//! VMs need together.

#![forbid(unsafe_code)]

mod explain;
mod need;

use named_amounts::{HostAmount, Name, common_names};
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

#[derive(Clone, Copy, Debug, PartialEq, Reason)]
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
        // Hosts and VMs mostly name their amounts in one order: one pass finds them all.
        let mut verdict = Verdict::Keep;
        let mut needs_left = needs.iter();
        let mut wanted = needs_left.next();
        for amount in &host.amounts {
            let Some((name, need)) = wanted else { break };
            if amount.name == *name {
                verdict = worse(verdict, covers(&amount, *need));
                wanted = needs_left.next();
            }
        }
        match wanted {
            None => verdict,
            Some(_) => in_any_order(needs, host),
        }
    }

    /// Amount by amount, if all hosts have the same ones in one order and nothing is needed
    /// besides.
    fn keep_all(Need(needs): &Need<Name>, hosts: &Rows<Host>) -> Option<Vec<Verdict<Reason>>> {
        let (amounts,) = hosts.columns()?;
        let (names, free, pending) = amounts.columns();
        let names = common_names(&amounts, names)?;
        let mut verdicts = vec![Verdict::Keep; hosts.len()];
        for need in needs {
            let place = names.iter().position(|name| *name == need.0.0)?;
            let columns = (&free[place..], &pending[place..]);
            judge(&mut verdicts, *need, columns, names.len());
        }
        Some(verdicts)
    }
}

/// Judges hosts by one amount that is needed: every so many values of the columns, what is
/// free and what is pending, are those of a host.
#[inline(never)]
fn judge(
    verdicts: &mut [Verdict<Reason>],
    (name, need): (Name, i64),
    (free, pending): (&[i64], &[i64]),
    every: usize,
) {
    let mut place = 0;
    for verdict in verdicts {
        if need > free[place] {
            let (free, pending) = (free[place], pending[place]);
            let amount = HostAmount {
                name,
                free,
                pending,
            };
            *verdict = worse(*verdict, covers(&amount, need));
        }
        place += every;
    }
}

/// Whether a host that has this amount keeps room for the need.
#[inline(always)]
fn covers(amount: &HostAmount, need: i64) -> Verdict<Reason> {
    if need <= amount.free {
        Verdict::Keep
    } else if need <= amount.unused() {
        Verdict::Remove(Reason::TooLittleWhilePending)
    } else {
        Verdict::Remove(Reason::TooLittle)
    }
}

/// What two amounts come to: waiting helps only if it helps both.
#[inline(always)]
fn worse(a: Verdict<Reason>, b: Verdict<Reason>) -> Verdict<Reason> {
    match (a, b) {
        (Verdict::Remove(Reason::TooLittle), _) | (_, Verdict::Keep) => a,
        _ => b,
    }
}

/// The same where each amount has to be looked for.
#[cold]
fn in_any_order(needs: &[(Name, i64)], host: &Host) -> Verdict<Reason> {
    let mut verdict = Verdict::Keep;
    for (name, need) in needs {
        let found = host.amounts.iter().find(|amount| amount.name == *name);
        let Some(amount) = found else {
            return Verdict::Remove(Reason::Lacking);
        };
        verdict = worse(verdict, covers(&amount, *need));
        if verdict == Verdict::Remove(Reason::TooLittle) {
            break;
        }
    }
    verdict
}

placewright_sdk::export!(Utilization: filter, explain);

#[cfg(test)]
mod tests;
