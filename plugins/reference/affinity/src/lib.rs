//! Affinity: filters by the hard rules of affinity groups, and counts as cost the
//! rules that a host would break.
//!
//! A group has a rule for its VMs (together, or apart), a rule for its hosts (on
//! them, or off them), or both. The request's groups are weighed in `rules` once;
//! of a host only the rows are read that say what it has to do with them, so that
//! all hosts without such rows have one answer.

#![forbid(unsafe_code)]

mod rules;

use placewright_sdk::prelude::*;

use rules::{Group, Rules};

/// The affinity groups of the VMs to be placed.
#[derive(Request)]
struct Request {
    groups: Rows<Group>,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[table("group-members")]
    members: Rows<Members>,
    #[table("group-hosts")]
    groups: Rows<Membership>,
}

/// Other VMs of a group that run on the host or are to start there.
#[derive(Row)]
struct Members {
    group: i64,
    vms: i64,
    unmovable: i64,
}

/// A group that the host itself is in.
#[derive(Row)]
struct Membership {
    group: i64,
}

#[derive(Settings)]
struct Settings {
    /// Whether the groups' rules for VMs are looked at.
    #[setting(default = true)]
    vms: bool,
    /// Whether the groups' rules for hosts are looked at.
    #[setting(default = true)]
    hosts: bool,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// cannot take several VMs at once that must be kept apart
    ApartFromEachOther,
    /// does not run the VMs that these must be together with
    WithoutTheOthers,
    /// runs VMs that these must be kept apart from
    BesideOthers,
    /// is not among the hosts that these VMs must run on
    NotAmongHosts,
    /// is among the hosts that these VMs must be kept off
    AmongHosts,
}

struct Affinity;

impl RowWise for Affinity {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    type Need = Rules;

    fn prepare(request: &Request, settings: &Settings) -> Result<Rules, Problem> {
        Ok(Rules::of(&request.groups, settings.vms, settings.hosts))
    }
}

impl RowFilter for Affinity {
    fn keep(rules: &Rules, host: &Host) -> Verdict<Reason> {
        use crate::Reason::*;
        let members = host.members.iter().map(|row| row.group);
        let beside = rules.hard_for_vms(members);
        let memberships = host.groups.iter().map(|row| row.group);
        let among = rules.hard_for_hosts(memberships);
        Verdict::keep_if(!rules.apart_from_each_other(), ApartFromEachOther)
            .and(|| {
                let anywhere = !rules.must_join_others();
                Verdict::keep_if(anywhere || beside.positive > 0, WithoutTheOthers)
            })
            .and(|| Verdict::keep_if(beside.negative == 0, BesideOthers))
            .and(|| Verdict::keep_if(among.positive >= rules.required_hosts(), NotAmongHosts))
            .and(|| Verdict::keep_if(among.negative == 0, AmongHosts))
    }
}

impl RowCost for Affinity {
    /// The broken rules as a number of which the digits are counts, one for each
    /// priority, the highest first; then, against it, VMs of positive groups.
    fn cost(rules: &Rules, host: &Host) -> f64 {
        let mut broken = rules.broken_by_an_empty_host();
        let mut company = rules::Company::default();
        for row in &host.members {
            broken += rules.change_by_members(row.group);
            if rules.joins(row.group) {
                company.add(row.vms, row.unmovable);
            }
        }
        for row in &host.groups {
            broken += rules.change_by_membership(row.group);
        }
        (broken * rules::Company::VALUES - company.value()) as f64
    }
}

placewright_sdk::export!(
    Affinity: filter, cost_function,
    aliases = [
        "84e6ddee-ab0d-42dd-82f0-c297779db566",
        "84e6ddee-ab0d-42dd-82f0-c297779db567",
        "e69808a9-8a41-40f1-94ba-dd5d385d82d8",
        "427aed70-dae3-48ba-8fe9-a902a9d563c8",
    ]
);

#[cfg(test)]
mod tests;
