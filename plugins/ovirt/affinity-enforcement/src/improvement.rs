//! Which moves of a VM mend more soft rules than they break.

use std::cmp::Ordering;
use std::collections::HashMap;

use affinity_groups::Group;

use crate::cluster::Cluster;

/// How many VMs of each group run on each host.
pub struct Company(HashMap<(u32, u32), i64>);

/// The groups of a VM, those of the highest priority first.
pub fn groups_of(vm: u32, groups: &[Group]) -> Vec<&Group> {
    let mut own: Vec<_> = groups.iter().filter(|group| group.has_vm(vm)).collect();
    own.sort_by_key(|group| std::cmp::Reverse(group.priority));
    own
}

impl Company {
    pub fn of(groups: &[Group], cluster: &Cluster) -> Self {
        let mut counts = HashMap::new();
        for group in groups {
            let hosts = group
                .vms
                .iter()
                .filter_map(|vm| Some(cluster.vm(*vm)?.host));
            for host in hosts {
                *counts.entry((group.row, host)).or_default() += 1;
            }
        }
        Self(counts)
    }

    fn count(&self, group: &Group, host: u32) -> i64 {
        self.0.get(&(group.row, host)).copied().unwrap_or(0)
    }

    /// Is a VM of these groups better off on the other host, by rules for hosts or by
    /// rules for VMs? Of each kind, the highest priority decides at which it makes a
    /// difference.
    pub fn improves(&self, groups: &[&Group], from: u32, to: u32) -> bool {
        let ranks = || groups.chunk_by(|one, next| one.priority == next.priority);
        let by_hosts = ranks().find_map(|rank| by_rules_for_hosts(rank, from, to));
        let by_vms = ranks().find_map(|rank| self.by_rules_for_vms(rank, from, to));
        [by_hosts, by_vms].contains(&Some(Difference::Better))
    }

    /// Worse if either kind of rule is: having more company where it is wanted does not
    /// make up for having it where it is not.
    fn by_rules_for_vms(&self, rank: &[&Group], from: u32, to: u32) -> Option<Difference> {
        let (mut together, mut apart) = (0, 0);
        for group in rank {
            let Some(rule) = group.for_vms.filter(|rule| !rule.hard) else {
                continue;
            };
            // The VM itself is no company.
            let here = self.count(group, from) - 1;
            let there = self.count(group, to);
            if rule.is_positive() {
                together += there.cmp(&here) as i64;
            } else {
                apart += i64::from(here > 0) - i64::from(there > 0);
            }
        }
        match (together, apart) {
            (0, 0) => None,
            (together, apart) if together >= 0 && apart >= 0 => Some(Difference::Better),
            _ => Some(Difference::Worse),
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Difference {
    Better,
    Worse,
}

/// Better if fewer rules are broken.
fn by_rules_for_hosts(rank: &[&Group], from: u32, to: u32) -> Option<Difference> {
    let is_soft = |group: &&&Group| group.for_hosts.is_some_and(|rule| !rule.hard);
    let broken = |host| {
        let soft = rank.iter().filter(is_soft);
        soft.filter(|group| group.is_broken_on(host)).count()
    };
    match broken(to).cmp(&broken(from)) {
        Ordering::Less => Some(Difference::Better),
        Ordering::Equal => None,
        Ordering::Greater => Some(Difference::Worse),
    }
}
