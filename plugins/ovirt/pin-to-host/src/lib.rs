//! Pin to host: keeps the hosts that the VM is pinned to.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of each VM to be placed.
#[derive(Row)]
struct Vm {
    running: bool,
    /// Whether there are hosts that it is pinned to.
    pinned: bool,
    /// `pinned`: it stays on the host where it was started.
    #[column("attribute.migration-support")]
    support: Option<Text>,
}

/// All VMs that are to be placed together on one host.
#[derive(Request)]
struct Request {
    #[table("members")]
    vms: Rows<Vm>,
}

/// What is read of a host: nothing, for those that no VM of the request is pinned
/// to.
#[derive(Row)]
struct Host {
    #[table("pinned")]
    pinned: Rows<Pinned>,
}

/// A member that is pinned to the host.
#[derive(Row)]
struct Pinned {
    member: i64,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// is not among the hosts that the VM is pinned to
    NotPinnedTo,
    /// cannot take a VM that stays on the host where it was started
    NotMovable,
}

/// The VMs that are bound to hosts.
struct Bound {
    /// Numbers of those with hosts that they are pinned to.
    pinned: Vec<i64>,
    /// Does any VM run that must not be moved, wherever it was started?
    immovable: bool,
}

struct PinToHost;

impl RowWise for PinToHost {
    type Request = Request;
    type Host = Host;
    type Settings = ();
    type Reason = Reason;
    type Need = Bound;

    fn prepare(request: &Request, (): &()) -> Result<Bound, Problem> {
        let pinned = (0..).zip(&request.vms).filter(|(_, vm)| vm.pinned);
        let immovable =
            |vm: Vm| !vm.pinned && vm.running && vm.support.as_deref() == Some("pinned");
        Ok(Bound {
            pinned: pinned.map(|(number, _)| number).collect(),
            immovable: request.vms.iter().any(immovable),
        })
    }
}

impl RowFilter for PinToHost {
    fn keep(bound: &Bound, host: &Host) -> Verdict<Reason> {
        let is_here = |vm: &i64| host.pinned.iter().any(|row| row.member == *vm);
        Verdict::keep_if(!bound.immovable, Reason::NotMovable)
            .and(|| Verdict::keep_if(bound.pinned.iter().all(is_here), Reason::NotPinnedTo))
    }
}

placewright_sdk::export!(
    PinToHost: filter,
    aliases = ["PinToHost", "12262ab6-9690-4bc3-a2b3-35573b172d54"]
);

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: Vm = Vm {
        running: false,
        pinned: false,
        support: None,
    };

    fn keep(vms: Vec<Vm>, pinned_here: &[i64]) -> Verdict<Reason> {
        let request = Request { vms: vms.into() };
        let bound = PinToHost::prepare(&request, &()).expect("nothing is refused");
        let row = |&member: &i64| Pinned { member };
        let pinned = pinned_here.iter().map(row).collect();
        PinToHost::keep(&bound, &Host { pinned })
    }

    const ELSEWHERE: Verdict<Reason> = Verdict::Remove(Reason::NotPinnedTo);

    #[test]
    fn a_pinned_vm_runs_on_its_hosts_only() {
        let pinned = || Vm {
            pinned: true,
            ..FREE
        };
        assert_eq!(keep(vec![pinned()], &[0]), Verdict::Keep);
        assert_eq!(keep(vec![pinned()], &[]), ELSEWHERE);
        assert_eq!(keep(vec![FREE, pinned()], &[1]), Verdict::Keep);
        assert_eq!(keep(vec![pinned(), pinned()], &[1]), ELSEWHERE);
    }

    #[test]
    fn other_vms_run_anywhere() {
        assert_eq!(keep(vec![FREE], &[]), Verdict::Keep);
    }

    #[test]
    fn a_vm_that_stays_where_it_is_started_starts_anywhere_and_is_not_moved() {
        let staying = |running| Vm {
            running,
            support: Some("pinned".into()),
            ..FREE
        };
        assert_eq!(keep(vec![staying(false)], &[]), Verdict::Keep);
        let not_movable = Verdict::Remove(Reason::NotMovable);
        assert_eq!(keep(vec![staying(true)], &[]), not_movable);
        let among_hosts = Vm {
            pinned: true,
            ..staying(true)
        };
        assert_eq!(keep(vec![among_hosts], &[0]), Verdict::Keep);
    }
}
