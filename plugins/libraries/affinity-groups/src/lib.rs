//! The affinity groups of a cluster that runs.
//!
//! A library for units, no unit itself. A group has a rule for its VMs (together, or
//! apart), a rule for its hosts (on them, or off them), or both; each is hard or soft.
//! VMs and hosts are known by their row numbers.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

use placewright_sdk::prelude::*;

/// What is read of an affinity group: a row of `groups`.
#[derive(Row)]
pub struct GroupRow {
    /// `positive`, `negative`, or nothing.
    pub rule: Option<Text>,
    /// Whether the rule for VMs must be kept.
    pub hard: bool,
    /// `positive`, `negative`, or nothing.
    pub host_rule: Option<Text>,
    /// Whether the rule for hosts must be kept.
    pub host_hard: bool,
    /// The greater, the more the group counts.
    pub priority: f64,
    /// Its VMs that run.
    #[table("vms")]
    pub vms: Rows<VmRow>,
    /// Its hosts.
    #[table("hosts")]
    pub hosts: Rows<HostRow>,
}

/// A VM of a group: a row of `groups/vms`.
#[derive(Row)]
pub struct VmRow {
    /// Row number in `hosts/vms`.
    pub vm: i64,
}

/// A host of a group: a row of `groups/hosts`.
#[derive(Row)]
pub struct HostRow {
    /// Row number in `hosts`.
    pub host: i64,
}

/// What a group wants of its VMs, or of its hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Together; on the hosts.
    Positive,
    /// Apart; off the hosts.
    Negative,
}

/// A rule of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What it wants.
    pub wish: Wish,
    /// Must it be kept?
    pub hard: bool,
}

impl Rule {
    /// Any other word than the two means that nothing is wanted.
    fn named(word: Option<&str>, hard: bool) -> Option<Self> {
        let wish = match word? {
            "positive" => Wish::Positive,
            "negative" => Wish::Negative,
            _ => return None,
        };
        Some(Self { wish, hard })
    }

    /// Does it want VMs together, or on hosts?
    pub fn is_positive(self) -> bool {
        self.wish == Wish::Positive
    }
}

/// An affinity group.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Row number in `groups`.
    pub row: u32,
    /// What it wants of its VMs.
    pub for_vms: Option<Rule>,
    /// What it wants of its hosts.
    pub for_hosts: Option<Rule>,
    /// The greater, the more it counts.
    pub priority: Priority,
    /// Its VMs, ascending.
    pub vms: Vec<u32>,
    /// Its hosts, ascending.
    pub hosts: Vec<u32>,
}

/// How much a group counts, in steps so small that what was written alike is equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Priority(i64);

impl Priority {
    /// A ten-millionth is a step, as in oVirt's engine.
    fn of(priority: f64) -> Self {
        Self((priority * 1e7).round() as i64)
    }
}

impl Group {
    /// All groups, with those of their VMs that count.
    pub fn all(rows: &Rows<GroupRow>, counts: impl Fn(u32) -> bool) -> Vec<Self> {
        let group = |(row, group): (u32, GroupRow)| {
            let vms = group
                .vms
                .iter()
                .filter_map(|row| u32::try_from(row.vm).ok());
            let hosts = group.hosts.iter();
            let hosts = hosts.filter_map(|row| u32::try_from(row.host).ok());
            Self {
                row,
                for_vms: Rule::named(group.rule.as_deref(), group.hard),
                for_hosts: Rule::named(group.host_rule.as_deref(), group.host_hard),
                priority: Priority::of(group.priority),
                vms: ascending(vms.filter(|vm| counts(*vm))),
                hosts: ascending(hosts),
            }
        };
        rows.numbered().map(group).collect()
    }

    /// Is the VM in it?
    pub fn has_vm(&self, vm: u32) -> bool {
        self.vms.binary_search(&vm).is_ok()
    }

    /// Is the host in it?
    pub fn has_host(&self, host: u32) -> bool {
        self.hosts.binary_search(&host).is_ok()
    }

    /// Does a VM of the group that runs on this host break the rule for hosts?
    pub fn is_broken_on(&self, host: u32) -> bool {
        self.for_hosts
            .is_some_and(|rule| self.has_host(host) != rule.is_positive())
    }
}

/// Merges sets that have a VM in common, transitively. Each is ascending, and they come
/// in the order of their first VMs.
pub fn unified<'a>(sets: impl IntoIterator<Item = &'a Group>) -> Vec<Vec<u32>> {
    let mut merged: Vec<Vec<u32>> = Vec::new();
    for set in sets {
        let shares = |other: &Vec<u32>| other.iter().any(|vm| set.has_vm(*vm));
        let (touched, apart) = merged.into_iter().partition(shares);
        merged = apart;
        let vms = touched.into_iter().flatten().chain(set.vms.iter().copied());
        merged.push(ascending(vms));
    }
    merged.retain(|set| !set.is_empty());
    merged.sort();
    merged
}

/// The values that both have, both ascending.
pub fn common(one: &[u32], other: &[u32]) -> Vec<u32> {
    let both = one.iter().filter(|row| other.binary_search(row).is_ok());
    both.copied().collect()
}

/// Each once, in order.
pub fn ascending(rows: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let mut rows: Vec<u32> = rows.into_iter().collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(vms: &[i64]) -> GroupRow {
        GroupRow {
            rule: Some("positive".into()),
            hard: true,
            host_rule: None,
            host_hard: false,
            priority: 1.0,
            vms: vms.iter().map(|&vm| VmRow { vm }).collect(),
            hosts: Rows::default(),
        }
    }

    fn merged(sets: &[&[i64]]) -> Vec<Vec<u32>> {
        let rows = sets.iter().map(|vms| group(vms)).collect();
        unified(&Group::all(&rows, |_| true))
    }

    #[test]
    fn groups_that_share_a_vm_belong_together_transitively() {
        let sets = merged(&[&[0, 1], &[2, 3], &[5, 6], &[1, 4], &[0, 3]]);
        assert_eq!(sets, [vec![0, 1, 2, 3, 4], vec![5, 6]]);
        assert_eq!(merged(&[&[]]), Vec::<Vec<u32>>::new());
    }

    #[test]
    fn vms_that_do_not_count_are_left_out() {
        let rows = vec![group(&[3, 1, 2])].into();
        assert_eq!(Group::all(&rows, |vm| vm != 2)[0].vms, [1, 3]);
    }

    #[test]
    fn a_host_rule_is_broken_off_positive_and_on_negative_hosts() {
        let with = |word: &str| GroupRow {
            host_rule: Some(word.into()),
            hosts: vec![HostRow { host: 4 }].into(),
            ..group(&[0])
        };
        let rows = vec![
            with("positive"),
            with("negative"),
            with("both"),
            group(&[0]),
        ]
        .into();
        let broken = |host| {
            let groups = Group::all(&rows, |_| true);
            let broken = groups.iter().map(|group| group.is_broken_on(host));
            broken.collect::<Vec<_>>()
        };
        assert_eq!(broken(4), [false, true, false, false]);
        assert_eq!(broken(5), [true, false, false, false]);
    }

    #[test]
    fn priorities_that_were_written_alike_are_equal() {
        assert_eq!(Priority::of(0.1 + 0.2), Priority::of(0.3));
        assert!(Priority::of(1.5) > Priority::of(1.0));
    }
}
