//! Which hosts have the most free capacity, where each has several kinds of it.
//!
//! A host is *ahead* of another if it has more of more amounts than it has less of; an
//! amount that a host does not have is 0. That is a vote and no order: with three
//! amounts, each of three hosts can be ahead of one of the others. So hosts are
//! judged by how many are ahead of them.

use std::cmp::Ordering;

use named_amounts::{FreeAmount, Name};
use placewright_sdk::prelude::*;

/// For each host, how many are ahead of it; 0 is best.
///
/// Counted are the hosts of which no other has as much of everything and more of
/// something, and of those alike one: the *front*. It is enough to look at them: who
/// has as much of everything as another host is ahead of whatever that one is ahead
/// of. So all is found in one pass that carries the front along. A host that is not
/// in it is last: it costs as much as there are hosts in the front.
pub fn ahead(hosts: impl Iterator<Item = Rows<FreeAmount>>) -> Vec<f64> {
    let mut lines = Lines::default();
    let mut front = Front::default();
    let numbers: Vec<u32> = hosts
        .map(|amounts| front.meet(lines.read(&amounts)))
        .collect();
    front.widen(lines.names.len());
    let counts = front.counts();
    let count = |number: u32| counts[number as usize];
    numbers.into_iter().map(count).collect()
}

/// For each host its rank, from the one with the most free capacity to the one with
/// the least: how many others are ahead of it, or level with it and listed before it.
/// Wherever the vote makes an order, this is that order.
///
/// Compares all pairs: for a batch as a whole, not for each of its VMs.
pub fn ranks(hosts: impl Iterator<Item = Rows<FreeAmount>>) -> Vec<usize> {
    let mut lines = Lines::default();
    let mut hosts: Vec<Vec<i64>> = hosts.map(|amounts| lines.read(&amounts).to_vec()).collect();
    for line in &mut hosts {
        line.resize(lines.names.len(), 0);
    }
    let comes_before = |one: usize, other: usize| match lead(&hosts[one], &hosts[other]) {
        0 => one < other,
        lead => lead > 0,
    };
    let rank = |host| {
        let others = (0..hosts.len()).filter(|&other| comes_before(other, host));
        others.count()
    };
    (0..hosts.len()).map(rank).collect()
}

/// Of how many amounts the one line has more than the other, less those of which it
/// has less.
fn lead(one: &[i64], other: &[i64]) -> i64 {
    let amounts = one.iter().zip(other);
    amounts
        .map(|(one, other)| i64::from(one.cmp(other) as i8))
        .sum()
}

/// Makes a line of the free amounts of a host: a value for each name that was met so
/// far, in the order in which they were met.
#[derive(Default)]
struct Lines {
    names: Vec<Name>,
    line: Vec<i64>,
}

impl Lines {
    #[inline]
    fn read(&mut self, amounts: &Rows<FreeAmount>) -> &[i64] {
        if !self.read_in_order(amounts) {
            self.read_by_name(amounts);
        }
        &self.line
    }

    /// Reads the amounts of a host that has those of the hosts before, in the same
    /// order, as most have; false if it has not.
    #[inline]
    fn read_in_order(&mut self, amounts: &Rows<FreeAmount>) -> bool {
        let names = self.names.as_slice();
        let line = &mut self.line[..names.len()];
        let (mut column, mut in_order) = (0, amounts.len() == names.len());
        // By for_each and not by for: nothing else here runs for every host.
        amounts.iter().for_each(|amount| {
            if column < names.len() {
                in_order &= names[column] == amount.name;
                line[column] = amount.free;
            }
            column += 1;
        });
        in_order
    }

    #[cold]
    fn read_by_name(&mut self, amounts: &Rows<FreeAmount>) {
        self.line.fill(0);
        for amount in amounts {
            let known = self.names.iter().position(|name| *name == amount.name);
            let column = known.unwrap_or_else(|| {
                self.names.push(amount.name);
                self.line.push(0);
                self.line.len() - 1
            });
            self.line[column] = amount.free;
        }
    }
}

/// Hosts of which no other has as much of everything and more of something.
#[derive(Default)]
struct Front {
    members: Vec<Member>,
    /// How many have joined, whether or not they have left.
    joined: u32,
}

/// A host of the front.
struct Member {
    number: u32,
    line: Vec<i64>,
}

/// The number of every host that is not in the front; members are numbered from 1.
const LAST: u32 = 0;

impl Front {
    /// Lets a host join, unless it has no place here; those that have none beside it
    /// leave. Returns its number: that of a member that has the same, if there is one.
    fn meet(&mut self, line: &[i64]) -> u32 {
        let mut place = 0;
        while let Some(member) = self.members.get(place) {
            if member.line.len() < line.len() {
                self.widen(line.len());
                continue;
            }
            match compare(line, &member.line) {
                Some(Ordering::Equal) => return member.number,
                Some(Ordering::Less) => {
                    // Who has more than one host has more than others: let them meet
                    // it sooner.
                    self.members.swap(place, place / 2);
                    return LAST;
                }
                Some(Ordering::Greater) => {
                    self.members.swap_remove(place);
                }
                None => place += 1,
            }
        }
        self.joined += 1;
        self.members.push(Member {
            number: self.joined,
            line: line.to_vec(),
        });
        self.joined
    }

    /// Gives every line so many values: of what was not met before, a host has 0.
    fn widen(&mut self, names: usize) {
        for member in &mut self.members {
            member.line.resize(names, 0);
        }
    }

    /// By the number that a host had when it joined: how many are ahead of it.
    fn counts(&self) -> Vec<f64> {
        let mut counts = vec![self.members.len() as f64; self.joined as usize + 1];
        for host in &self.members {
            let is_ahead = |other: &&Member| lead(&other.line, &host.line) > 0;
            let ahead = self.members.iter().filter(is_ahead).count();
            counts[host.number as usize] = ahead as f64;
        }
        counts
    }
}

/// The one line against the other: greater if nothing in it is less and something is
/// greater; None if each is greater somewhere.
#[inline]
fn compare(one: &[i64], other: &[i64]) -> Option<Ordering> {
    let (mut less, mut greater) = (false, false);
    for (one, other) in one.iter().zip(other) {
        less |= one < other;
        greater |= one > other;
    }
    match (less, greater) {
        (false, false) => Some(Ordering::Equal),
        (true, false) => Some(Ordering::Less),
        (false, true) => Some(Ordering::Greater),
        (true, true) => None,
    }
}

#[cfg(test)]
mod tests;
