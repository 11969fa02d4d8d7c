//! Preferred hosts: a VM that starts and names hosts that it prefers costs much on
//! every other one. One that runs already prefers nothing.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of each VM to be placed.
#[derive(Row)]
struct Vm {
    #[column("has-preferred", gate)]
    has_preferred: bool,
    running: bool,
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
    #[table("preferred")]
    preferred: Rows<Preferred>,
}

/// A member that prefers the host.
#[derive(Row)]
struct Preferred {
    member: i64,
}

/// The cost of a host that a VM does not prefer: more than that of any host on the
/// usual scale from 1 to 1000, even with a factor, as in oVirt's scheduler.
const NOT_PREFERRED: i64 = 10_000;

/// The numbers of the members that prefer hosts and start, ascending.
struct Choosy(Vec<i64>);

struct PreferredHosts;

impl RowWise for PreferredHosts {
    type Request = Request;
    type Host = Host;
    type Settings = ();
    type Reason = ();
    type Need = Choosy;

    fn prepare(request: &Request, (): &()) -> Result<Choosy, Problem> {
        let members = (0..).zip(&request.vms);
        let choosy = members.filter(|(_, vm)| vm.has_preferred && !vm.running);
        Ok(Choosy(choosy.map(|(member, _)| member).collect()))
    }
}

impl RowCost for PreferredHosts {
    fn cost(choosy: &Choosy, host: &Host) -> f64 {
        let here = host.preferred.iter();
        let here = here.filter(|row| choosy.0.binary_search(&row.member).is_ok());
        let elsewhere = choosy.0.len().saturating_sub(here.count());
        (elsewhere as i64).saturating_mul(NOT_PREFERRED) as f64
    }
}

placewright_sdk::export!(
    PreferredHosts: cost_function,
    aliases = ["PreferredHosts", "591cdb81-ba67-45b4-9642-e28f61a97d57"]
);

#[cfg(test)]
mod tests {
    use super::*;

    /// Members are (has preferred hosts, runs).
    fn cost(members: &[(bool, bool)], preferred: &[i64]) -> f64 {
        let vm = |&(has_preferred, running): &(bool, bool)| Vm {
            has_preferred,
            running,
        };
        let request = Request {
            vms: members.iter().map(vm).collect(),
        };
        let need = PreferredHosts::prepare(&request, &()).expect("nothing is refused");
        let row = |&member: &i64| Preferred { member };
        let preferred = preferred.iter().map(row).collect();
        PreferredHosts::cost(&need, &Host { preferred })
    }

    #[test]
    fn a_host_that_a_starting_vm_does_not_prefer_costs_much() {
        assert_eq!(cost(&[(true, false)], &[0]), 0.0);
        assert_eq!(cost(&[(true, false)], &[]), 10_000.0);
    }

    #[test]
    fn a_vm_without_preferred_hosts_or_one_that_runs_costs_the_same_everywhere() {
        assert_eq!(cost(&[(false, false)], &[]), 0.0);
        assert_eq!(cost(&[(true, true)], &[]), 0.0);
        assert_eq!(cost(&[(true, true)], &[0]), 0.0);
    }

    #[test]
    fn what_several_vms_prefer_adds_up() {
        let three = [(true, false), (false, false), (true, false)];
        assert_eq!(cost(&three, &[]), 20_000.0);
        assert_eq!(cost(&three, &[2]), 10_000.0);
        assert_eq!(cost(&three, &[0, 2]), 0.0);
    }
}
