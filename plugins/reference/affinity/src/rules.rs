//! The rules of the request's groups, sorted out once per call.

use placewright_sdk::prelude::*;

/// What is read of an affinity group.
#[derive(Row)]
pub struct Group {
    pub rule: Option<Text>,
    pub hard: bool,
    pub host_rule: Option<Text>,
    pub host_hard: bool,
    pub priority: f64,
    pub here: i64,
    pub elsewhere: bool,
}

/// What a group wants of its VMs, or of its hosts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wish {
    Positive,
    Negative,
}

/// A rule of a group.
#[derive(Clone, Copy)]
struct Rule {
    wish: Wish,
    hard: bool,
    /// What breaking it adds to the number of broken rules; 0 where that does not
    /// count as a cost.
    weight: i64,
}

impl Rule {
    /// Any other word than the two means that nothing is wanted.
    fn of(wish: Option<&Text>, hard: bool) -> Option<Self> {
        let wish = match wish?.as_str() {
            "positive" => Wish::Positive,
            "negative" => Wish::Negative,
            _ => return None,
        };
        let weight = 0;
        Some(Self { wish, hard, weight })
    }

    fn is_positive(&self) -> bool {
        self.wish == Wish::Positive
    }

    /// Broken by a host where nothing of the group is.
    fn broken_if_absent(&self) -> i64 {
        if self.is_positive() { self.weight } else { 0 }
    }

    /// How the broken ones change if something of the group is there.
    fn change_if_present(&self) -> i64 {
        if self.is_positive() {
            -self.weight
        } else {
            self.weight
        }
    }
}

/// How many hard rules of either wish a host has to do with.
#[derive(Default)]
pub struct Hard {
    pub positive: usize,
    pub negative: usize,
}

/// The rules of all groups, by the group's row number.
#[derive(Default)]
pub struct Rules {
    for_vms: Vec<Option<Rule>>,
    for_hosts: Vec<Option<Rule>>,
    apart_from_each_other: bool,
    must_join_others: bool,
    required_hosts: usize,
    broken_by_an_empty_host: i64,
}

impl Rules {
    /// The rules for VMs, for hosts, or both.
    pub fn of(groups: &Rows<Group>, vms: bool, hosts: bool) -> Self {
        let mut rules = Self::default();
        let mut priorities = Vec::new();
        for group in groups {
            let for_vms = Rule::of(group.rule.as_ref().filter(|_| vms), group.hard);
            let for_hosts = Rule::of(group.host_rule.as_ref().filter(|_| hosts), group.host_hard);
            if let Some(rule) = for_vms.filter(|rule| rule.hard) {
                rules.must_join_others |= rule.is_positive() && group.elsewhere;
                rules.apart_from_each_other |= !rule.is_positive() && group.here > 1;
            }
            let required = for_hosts.is_some_and(|rule| rule.hard && rule.is_positive());
            rules.required_hosts += usize::from(required);
            rules.for_vms.push(for_vms);
            rules.for_hosts.push(for_hosts);
            priorities.push(group.priority);
        }
        rules.weigh(&priorities);
        rules
    }

    /// Gives every rule that can be broken at a cost its weight. Hard rules for
    /// hosts are the filter's alone.
    fn weigh(&mut self, priorities: &[f64]) {
        let for_vms = self.for_vms.iter_mut().zip(priorities);
        let for_vms = for_vms.filter_map(|(rule, priority)| Some((*priority, rule.as_mut()?)));
        let for_hosts = self.for_hosts.iter_mut().zip(priorities);
        let for_hosts = for_hosts.filter_map(|(rule, priority)| Some((*priority, rule.as_mut()?)));
        let for_hosts = for_hosts.filter(|(_, rule)| !rule.hard);
        let mut weighed: Vec<_> = for_vms.chain(for_hosts).collect();
        assign_weights(&mut weighed);
        let rules = weighed.iter().map(|(_, rule)| rule.broken_if_absent());
        self.broken_by_an_empty_host = rules.sum();
    }

    /// Are several of the VMs to be placed in one group that keeps its VMs apart?
    pub fn apart_from_each_other(&self) -> bool {
        self.apart_from_each_other
    }

    /// Is another VM of a group that keeps its VMs together placed somewhere?
    pub fn must_join_others(&self) -> bool {
        self.must_join_others
    }

    /// In how many groups a host must be.
    pub fn required_hosts(&self) -> usize {
        self.required_hosts
    }

    /// The hard rules for VMs of these groups.
    pub fn hard_for_vms(&self, groups: impl Iterator<Item = i64>) -> Hard {
        hard(&self.for_vms, groups)
    }

    /// The hard rules for hosts of these groups.
    pub fn hard_for_hosts(&self, groups: impl Iterator<Item = i64>) -> Hard {
        hard(&self.for_hosts, groups)
    }

    /// What a host breaks that has nothing to do with any group.
    pub fn broken_by_an_empty_host(&self) -> i64 {
        self.broken_by_an_empty_host
    }

    /// The difference that other VMs of the group make to what a host breaks.
    pub fn change_by_members(&self, group: i64) -> i64 {
        rule(&self.for_vms, group).map_or(0, Rule::change_if_present)
    }

    /// The difference that it makes if the host is in the group.
    pub fn change_by_membership(&self, group: i64) -> i64 {
        rule(&self.for_hosts, group).map_or(0, Rule::change_if_present)
    }

    /// Does the group keep its VMs together?
    pub fn joins(&self, group: i64) -> bool {
        rule(&self.for_vms, group).is_some_and(Rule::is_positive)
    }
}

fn rule(rules: &[Option<Rule>], group: i64) -> Option<&Rule> {
    rules.get(usize::try_from(group).ok()?)?.as_ref()
}

fn hard(rules: &[Option<Rule>], groups: impl Iterator<Item = i64>) -> Hard {
    let hard = groups.filter_map(|group| rule(rules, group).filter(|rule| rule.hard));
    hard.fold(Hard::default(), |mut count, rule| {
        match rule.wish {
            Wish::Positive => count.positive += 1,
            Wish::Negative => count.negative += 1,
        }
        count
    })
}

/// Costs are exact up to 2^53, of which [`Company`] takes 2^24.
const GREATEST_BROKEN: i64 = (1 << 29) - 1;

/// Gives rules of one priority the value of a digit that can count them all, the
/// highest priority the highest digit. Rules for which no digit is left weigh
/// nothing: with a priority of their own each, that is those beyond the 29th.
fn assign_weights(rules: &mut [(f64, &mut Rule)]) {
    rules.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let counts: Vec<i64> = (rules.chunk_by(|(one, _), (other, _)| one == other))
        .map(|equal| equal.len() as i64)
        .collect();
    let weights = digit_values(&counts);
    let equal = rules.chunk_by_mut(|(one, _), (other, _)| one == other);
    for (equal, weight) in equal.zip(weights) {
        for (_, rule) in equal {
            rule.weight = weight;
        }
    }
}

/// The values of digits that count up to these numbers, the first the highest. As
/// many of the first digits as fit.
fn digit_values(counts: &[i64]) -> Vec<i64> {
    let mut product = 1_i64;
    let fitting = counts.iter().take_while(|count| {
        product = product.saturating_mul(*count + 1);
        product - 1 <= GREATEST_BROKEN
    });
    let fitting = fitting.count();
    let mut values = vec![0; counts.len()];
    let mut value = 1;
    for (digit, count) in values.iter_mut().zip(counts).take(fitting).rev() {
        *digit = value;
        value *= count + 1;
    }
    values
}

/// Other VMs of positive groups on a host: the more of them cannot be moved, the
/// better; among equals, the more VMs.
#[derive(Default)]
pub struct Company {
    vms: i64,
    unmovable: i64,
}

impl Company {
    /// Counts beyond this one are equal.
    const GREATEST: i64 = (1 << 12) - 1;
    /// How many values there are.
    pub const VALUES: i64 = (Self::GREATEST + 1) * (Self::GREATEST + 1);

    /// Counts the VMs of one group.
    pub fn add(&mut self, vms: i64, unmovable: i64) {
        self.vms = self.vms.saturating_add(vms);
        self.unmovable = self.unmovable.saturating_add(unmovable);
    }

    /// The greater, the better; at least 0 and less than [`Company::VALUES`].
    pub fn value(&self) -> i64 {
        let digit = |count: i64| count.clamp(0, Self::GREATEST);
        digit(self.unmovable) * (Self::GREATEST + 1) + digit(self.vms)
    }
}
