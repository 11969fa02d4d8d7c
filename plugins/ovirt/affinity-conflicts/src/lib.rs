//! Affinity conflicts: tells of affinity groups whose rules cannot all be kept, wherever
//! VMs run.
//!
//! Only the VMs of a group that run are known here. Each kind of conflict is one
//! finding about all groups, hosts and VMs that have a part in it; the graver kinds come
//! first.

#![forbid(unsafe_code)]

mod conflict;

use affinity_groups::{Group, GroupRow};
use placewright_sdk::prelude::*;

use conflict::Conflict;

/// The groups, and the tables that findings are about.
#[derive(Request)]
struct Request {
    // Before the groups, whose rows name VMs by their numbers here.
    hosts: Rows<Host>,
    groups: Rows<GroupRow>,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[table("vms")]
    vms: Rows<Vm>,
}

/// What is read of a VM.
#[derive(Row)]
struct Vm {
    pending: bool,
}

#[derive(Reason, Clone, Copy, Debug, PartialEq)]
enum Reason {
    /// must be used for VMs, and must not
    HostsRequiredAndForbidden,
    /// is wanted for VMs, and not wanted for them
    HostsWantedAndUnwanted,
    /// is wanted for one and not wanted for another of VMs that are wanted together
    HostsDivideVmsWantedTogether,
    /// is wanted for several VMs that are wanted apart
    HostsJoinVmsWantedApart,
    /// is wanted for VMs by some groups and not by others
    HostsNotWantedByAll,
    /// has VMs that are wanted together, and apart
    VmsWantedTogetherAndApart,
}

struct AffinityConflicts;

impl Balance for AffinityConflicts {
    type Request = Request;
    type Settings = ();
    type Reason = Reason;
    type Writes = ();

    fn balance(request: &Request, (): &()) -> Result<Vec<Proposal<Reason>>, Problem> {
        // A VM on the move has a place reserved beside the one where it runs: it counts
        // once.
        let vms = request.hosts.iter().flat_map(|host| {
            let runs: Vec<bool> = host.vms.iter().map(|vm| !vm.pending).collect();
            runs
        });
        let runs: Vec<bool> = vms.collect();
        let groups = Group::all(&request.groups, |vm| runs.get(vm as usize) == Some(&true));
        Ok(find(&groups).into_iter().map(finding).collect())
    }
}

fn find(groups: &[Group]) -> Vec<(Reason, Conflict)> {
    use crate::Reason::*;
    let hard = || {
        groups
            .iter()
            .filter(|group| group.for_hosts.is_some_and(|rule| rule.hard))
    };
    let mut conflicts = vec![
        (HostsRequiredAndForbidden, conflict::both_ways(hard())),
        (HostsWantedAndUnwanted, conflict::both_ways(groups)),
        (HostsDivideVmsWantedTogether, conflict::divided(groups)),
        (HostsJoinVmsWantedApart, conflict::joined(groups)),
        (HostsNotWantedByAll, conflict::different_hosts(groups)),
    ];
    let together = conflict::together_and_apart(groups).into_iter();
    conflicts.extend(together.map(|conflict| (VmsWantedTogetherAndApart, conflict)));
    conflicts.retain(|(_, conflict)| !conflict.is_empty());
    conflicts
}

fn finding((reason, conflict): (Reason, Conflict)) -> Proposal<Reason> {
    let groups = conflict.groups.into_iter().map(|row| ("groups", row));
    let hosts = conflict.hosts.into_iter().map(|row| ("hosts", row));
    let vms = conflict.vms.into_iter().map(|row| ("hosts/vms", row));
    Proposal::Finding {
        reason,
        rows: groups.chain(hosts).chain(vms).collect(),
    }
}

placewright_sdk::export!(AffinityConflicts: balance);

#[cfg(test)]
mod tests;
