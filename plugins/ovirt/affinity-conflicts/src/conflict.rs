//! The kinds of conflict, one function each. Soft rules count as hard ones do: what
//! cannot be had is told of even if it is only a wish.

use std::collections::BTreeSet;

use affinity_groups::{Group, Wish, common, unified};

/// All that has a part in a conflict, by row numbers.
#[derive(Debug, Default, PartialEq)]
pub struct Conflict {
    pub groups: BTreeSet<u32>,
    pub hosts: BTreeSet<u32>,
    pub vms: BTreeSet<u32>,
}

impl Conflict {
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    fn add<'g>(&mut self, groups: impl IntoIterator<Item = &'g Group>, hosts: &[u32], vms: &[u32]) {
        self.groups
            .extend(groups.into_iter().map(|group| group.row));
        self.hosts.extend(hosts);
        self.vms.extend(vms);
    }
}

fn with_host_rule<'g>(groups: impl IntoIterator<Item = &'g Group>, wish: Wish) -> Vec<&'g Group> {
    let groups = groups.into_iter().filter(|group| {
        let rule = group.for_hosts.filter(|rule| rule.wish == wish);
        rule.is_some() && !group.hosts.is_empty()
    });
    groups.collect()
}

fn with_vm_rule(groups: &[Group], wish: Wish) -> impl Iterator<Item = &Group> {
    let has_rule = move |group: &&Group| group.for_vms.is_some_and(|rule| rule.wish == wish);
    groups.iter().filter(has_rule)
}

/// A VM and a host stand together in a positive and in a negative host rule.
pub fn both_ways<'g>(groups: impl IntoIterator<Item = &'g Group> + Clone) -> Conflict {
    let mut conflict = Conflict::default();
    let negative = with_host_rule(groups.clone(), Wish::Negative);
    let positive = with_host_rule(groups, Wish::Positive);
    for off in negative {
        for on in &positive {
            let vms = common(&off.vms, &on.vms);
            let hosts = common(&off.hosts, &on.hosts);
            if !vms.is_empty() && !hosts.is_empty() {
                conflict.add([off, *on], &hosts, &vms);
            }
        }
    }
    conflict
}

/// Of VMs that belong together, one is wanted on a host and another one off it.
pub fn divided(groups: &[Group]) -> Conflict {
    let mut conflict = Conflict::default();
    let positive = with_host_rule(groups, Wish::Positive);
    let negative = with_host_rule(groups, Wish::Negative);
    for together in unified(with_vm_rule(groups, Wish::Positive)) {
        for on in &positive {
            for off in &negative {
                let hosts = common(&on.hosts, &off.hosts);
                let (here, elsewhere) = (common(&on.vms, &together), common(&off.vms, &together));
                // One VM alone that is in both is another kind of conflict.
                let vms: BTreeSet<u32> = here.iter().chain(&elsewhere).copied().collect();
                let divides = !here.is_empty() && !elsewhere.is_empty() && vms.len() > 1;
                if divides && !hosts.is_empty() {
                    let vms: Vec<u32> = vms.into_iter().collect();
                    conflict.add([*on, *off], &hosts, &vms);
                }
            }
        }
    }
    conflict
}

/// Two VMs that are to be apart are wanted on a common host, by groups of their own. One
/// group that wants both on its hosts may well have a host for each.
pub fn joined(groups: &[Group]) -> Conflict {
    let mut conflict = Conflict::default();
    let positive = with_host_rule(groups, Wish::Positive);
    for apart in with_vm_rule(groups, Wish::Negative) {
        for on in &positive {
            for too in &positive {
                let hosts = common(&on.hosts, &too.hosts);
                let mut some = common(&apart.vms, &on.vms);
                some.retain(|vm| !too.has_vm(*vm));
                let others = common(&apart.vms, &too.vms);
                if !hosts.is_empty() && !some.is_empty() && !others.is_empty() {
                    conflict.add([apart, *on, *too], &hosts, &[some, others].concat());
                }
            }
        }
    }
    conflict
}

/// A VM is wanted on different hosts: those that not all of its groups name are no
/// choice, and may be all there are.
pub fn different_hosts(groups: &[Group]) -> Conflict {
    let mut conflict = Conflict::default();
    let positive = with_host_rule(groups, Wish::Positive);
    for one in &positive {
        for other in &positive {
            let vms = common(&one.vms, &other.vms);
            let only_one = one.hosts.iter().filter(|host| !other.has_host(**host));
            let only_one: Vec<u32> = only_one.copied().collect();
            if !vms.is_empty() && !only_one.is_empty() {
                conflict.add([*one, *other], &only_one, &vms);
            }
        }
    }
    conflict
}

/// Of VMs that are to be apart, several belong together: a conflict for each such
/// circle, with all of its VMs.
pub fn together_and_apart(groups: &[Group]) -> Vec<Conflict> {
    let circles = unified(with_vm_rule(groups, Wish::Positive));
    let mut conflicts = Vec::new();
    for apart in with_vm_rule(groups, Wish::Negative) {
        for circle in &circles {
            if common(&apart.vms, circle).len() > 1 {
                let mut conflict = Conflict::default();
                conflict.add([apart], &[], circle);
                conflicts.push(conflict);
            }
        }
    }
    conflicts
}
