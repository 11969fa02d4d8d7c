//! Affinity enforcement: of a cluster that runs, proposes to move VMs that run against
//! the rules of their affinity groups.
//!
//! `candidates` says which VMs, and in which order; `improvement`, which moves of those
//! that only break soft rules are worth it. Whether a host can take a VM is the chain's
//! to say.

#![forbid(unsafe_code)]

mod candidates;
mod cluster;
mod improvement;

use affinity_groups::{Group, GroupRow};
use placewright_sdk::prelude::*;

use candidates::Candidate;
use cluster::{Cluster, Host, Running};
use improvement::Company;

/// The cluster as it runs.
#[derive(Request)]
struct Request {
    // Before the groups, whose rows name VMs by their numbers here.
    hosts: Rows<Host>,
    groups: Rows<GroupRow>,
}

#[derive(Reason, Clone, Copy, Debug, PartialEq)]
enum Reason {
    /// runs a VM against a hard rule for its hosts
    HardRuleForHosts,
    /// runs a VM against a hard rule for the VMs of its group
    HardRuleForVms,
    /// runs a VM against a soft rule for its hosts
    SoftRuleForHosts,
    /// runs a VM against a soft rule for the VMs of its group
    SoftRuleForVms,
}

struct AffinityEnforcement;

impl Balance for AffinityEnforcement {
    type Request = Request;
    type Settings = ();
    type Reason = Reason;
    type Writes = ();

    fn balance(request: &Request, (): &()) -> Result<Vec<Proposal<Reason>>, Problem> {
        let Some(cluster) = Cluster::at_rest(&request.hosts) else {
            return Ok(Vec::new());
        };
        let groups = Group::all(&request.groups, |vm| cluster.vm(vm).is_some());
        let company = Company::of(&groups, &cluster);
        let candidates = candidates::in_order(&groups, &cluster);
        let moves = candidates.into_iter().filter_map(|candidate| {
            let vm = cluster.vm(candidate.vm).filter(|vm| vm.movable)?;
            propose(candidate, vm, &groups, &company, &cluster)
        });
        Ok(moves.collect())
    }
}

/// A VM against a hard rule goes to any other host. One against a soft rule goes where
/// the chain would put it, if that is another host and better.
fn propose(
    candidate: Candidate,
    vm: &Running,
    groups: &[Group],
    company: &Company,
    cluster: &Cluster,
) -> Option<Proposal<Reason>> {
    let others = cluster.up().filter(|host| *host != vm.host);
    let (among, accept) = match candidate.reason {
        Reason::HardRuleForHosts | Reason::HardRuleForVms => (others.collect(), Vec::new()),
        Reason::SoftRuleForHosts | Reason::SoftRuleForVms => {
            let own: Vec<&Group> = improvement::groups_of(candidate.vm, groups);
            let better = others.filter(|to| company.improves(&own, vm.host, *to));
            (Vec::new(), better.collect::<Vec<u32>>())
        }
    };
    // Both empty would mean that any host will do.
    if among.is_empty() && accept.is_empty() {
        return None;
    }
    Some(Proposal::Move {
        vm: candidate.vm,
        among,
        accept,
        changes: Changes::new(),
        reason: candidate.reason,
    })
}

placewright_sdk::export!(AffinityEnforcement: balance, aliases = ["AffinityRulesEnforcement"]);

#[cfg(test)]
mod tests;
