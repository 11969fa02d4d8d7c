//! Which VMs run against rules, and in which order they are best moved.
//!
//! Hard rules for hosts come first, then hard ones for VMs, then soft ones for hosts,
//! then soft ones for VMs.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use affinity_groups::{Group, Priority, Rule, Wish, unified};

use crate::Reason;
use crate::cluster::Cluster;

/// A VM that might be moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Row number in `hosts/vms`.
    pub vm: u32,
    pub reason: Reason,
}

/// All VMs against any rule, each once.
pub fn in_order(groups: &[Group], cluster: &Cluster) -> Vec<Candidate> {
    let ranks = [
        (
            against_host_rules(groups, true, cluster),
            Reason::HardRuleForHosts,
        ),
        (
            against(hard_circles(groups), cluster),
            Reason::HardRuleForVms,
        ),
        (
            against_host_rules(groups, false, cluster),
            Reason::SoftRuleForHosts,
        ),
        (
            against(soft_circles(groups), cluster),
            Reason::SoftRuleForVms,
        ),
    ];
    let mut seen = BTreeSet::new();
    let mut candidates = Vec::new();
    for (vms, reason) in ranks {
        let new = vms.into_iter().filter(|vm| seen.insert(*vm));
        candidates.extend(new.map(|vm| Candidate { vm, reason }));
    }
    candidates
}

/// Those that break the fewest rules come first.
fn against_host_rules(groups: &[Group], hard: bool, cluster: &Cluster) -> Vec<u32> {
    let ruled = groups.iter().filter(|group| {
        let rule = group.for_hosts.filter(|rule| rule.hard == hard);
        rule.is_some() && !group.hosts.is_empty()
    });
    let mut broken: BTreeMap<u32, usize> = BTreeMap::new();
    for group in ruled {
        for &vm in &group.vms {
            let running = cluster.vm(vm);
            if running.is_some_and(|running| group.is_broken_on(running.host)) {
                *broken.entry(vm).or_default() += 1;
            }
        }
    }
    let mut vms: Vec<(u32, usize)> = broken.into_iter().collect();
    vms.sort_by_key(|(_, rules)| *rules);
    vms.into_iter().map(|(vm, _)| vm).collect()
}

/// VMs that are to be together, or apart.
struct Circle {
    wish: Wish,
    priority: Priority,
    vms: Vec<u32>,
}

/// Hard rules have no priority. VMs that must be together in any way are one circle.
fn hard_circles(groups: &[Group]) -> Vec<Circle> {
    let circle = |wish, vms| Circle {
        wish,
        priority: Priority::default(),
        vms,
    };
    let positive = with_rule(groups, Wish::Positive, true);
    let together = unified(positive).into_iter();
    let apart = with_rule(groups, Wish::Negative, true);
    let circles = together.map(|vms| circle(Wish::Positive, vms));
    circles
        .chain(apart.map(|group| circle(Wish::Negative, group.vms.clone())))
        .collect()
}

fn soft_circles(groups: &[Group]) -> Vec<Circle> {
    let circles = groups.iter().filter_map(|group| {
        let rule = group.for_vms.filter(|rule| !rule.hard)?;
        Some(Circle {
            wish: rule.wish,
            priority: group.priority,
            vms: group.vms.clone(),
        })
    });
    circles.collect()
}

fn with_rule(groups: &[Group], wish: Wish, hard: bool) -> impl Iterator<Item = &Group> {
    let wanted = Some(Rule { wish, hard });
    groups.iter().filter(move |group| group.for_vms == wanted)
}

/// The VMs of broken circles: those of higher priority first, then the larger, then
/// those of which the lowest id is higher.
fn against(circles: Vec<Circle>, cluster: &Cluster) -> Vec<u32> {
    let mut broken: Vec<_> = circles
        .into_iter()
        .map(|circle| (by_host(&circle, cluster), circle))
        .filter(|(hosts, circle)| is_broken(circle.wish, hosts))
        .collect();
    broken.sort_by_cached_key(|(_, circle)| {
        let ids = circle.vms.iter().filter_map(|vm| cluster.vm(*vm));
        let lowest = ids.map(|vm| vm.id.as_str()).min();
        Reverse((circle.priority, circle.vms.len(), lowest.map(str::to_owned)))
    });
    let vms = broken.into_iter().flat_map(|(hosts, circle)| {
        let hosts = worth_leaving(circle.wish, hosts, cluster);
        hosts.into_iter().flatten()
    });
    vms.collect()
}

/// The VMs of a circle on each host, in the order of the hosts.
fn by_host(circle: &Circle, cluster: &Cluster) -> Vec<Vec<u32>> {
    let mut hosts: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for &vm in &circle.vms {
        if let Some(running) = cluster.vm(vm) {
            hosts.entry(running.host).or_default().push(vm);
        }
    }
    hosts.into_values().collect()
}

fn is_broken(wish: Wish, hosts: &[Vec<u32>]) -> bool {
    match wish {
        Wish::Positive => hosts.len() > 1,
        Wish::Negative => hosts.iter().any(|vms| vms.len() > 1),
    }
}

/// To bring VMs together, the hosts with the fewest of them are left first; to part
/// them, those with the most. A host with one that cannot be moved is where the others
/// of a positive circle must go, and in a negative one it is left for later rounds.
fn worth_leaving(wish: Wish, mut hosts: Vec<Vec<u32>>, cluster: &Cluster) -> Vec<Vec<u32>> {
    let movable = |vm: &u32| cluster.vm(*vm).is_some_and(|vm| vm.movable);
    hosts.retain(|vms| vms.iter().all(movable));
    match wish {
        Wish::Positive => hosts.sort_by_key(Vec::len),
        Wish::Negative => {
            hosts.retain(|vms| vms.len() > 1);
            hosts.sort_by_key(|vms| Reverse(vms.len()));
        }
    }
    hosts
}
