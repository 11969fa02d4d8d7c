//! Which hosts have the most free capacity, where each has several kinds of it.
//!
//! A host is *ahead* of another if it has more of more amounts than it has less of; an
//! amount that a host does not have is 0. That is a vote and no order: with three
//! amounts, each of three hosts can be ahead of one of the others. So hosts are
//! judged by how many are ahead of them.

mod front;

use std::borrow::Borrow;

use named_amounts::{FreeAmount, Name, common_names};
use placewright_sdk::call::ChildTable;
use placewright_sdk::prelude::*;

/// For each host, how many are ahead of it; 0 is best.
///
/// Counted are the hosts of which no other has as much of everything and more of
/// something, and of those alike one: the *front*. It is enough to look at them: who
/// has as much of everything as another host is ahead of whatever that one is ahead
/// of. So all is found in one pass that carries the front along. A host that is not
/// in it is last: it costs as much as there are hosts in the front.
pub fn ahead(lines: &Lines) -> Vec<f64> {
    // Of so few amounts, comparisons are without a loop.
    match lines.names.len() {
        1 => front::costs(&lines.values, 1, lines.hosts),
        2 => front::costs(&lines.values, 2, lines.hosts),
        3 => front::costs(&lines.values, 3, lines.hosts),
        names => front::costs(&lines.values, names, lines.hosts),
    }
}

/// For each host its rank, from the one with the most free capacity to the one with
/// the least: how many others are ahead of it, or level with it and listed before it.
/// Wherever the vote makes an order, this is that order.
///
/// Compares all pairs: for a batch as a whole, not for each of its VMs.
pub fn ranks(lines: &Lines) -> Vec<usize> {
    match lines.names.len() {
        1 => ranks_of(&lines.values, 1, lines.hosts),
        2 => ranks_of(&lines.values, 2, lines.hosts),
        3 => ranks_of(&lines.values, 3, lines.hosts),
        names => ranks_of(&lines.values, names, lines.hosts),
    }
}

/// The ranks of hosts by lines of `width` values.
#[inline(always)]
fn ranks_of(values: &[i64], width: usize, hosts: usize) -> Vec<usize> {
    let line = |host: usize| &values[host * width..][..width];
    let mut ranks = vec![0; hosts];
    for one in 0..hosts {
        let mut before = 0;
        for (other, rank) in ranks.iter_mut().enumerate().skip(one + 1) {
            let is_ahead = lead(line(other), line(one)) > 0;
            before += usize::from(is_ahead);
            *rank += usize::from(!is_ahead);
        }
        ranks[one] += before;
    }
    ranks
}

/// Of how many amounts the one line has more than the other, less those of which it
/// has less.
#[inline(always)]
fn lead(one: &[i64], other: &[i64]) -> i64 {
    let amounts = one.iter().zip(other);
    amounts
        .map(|(one, other)| i64::from(one.cmp(other) as i8))
        .sum()
}

/// The free amounts of hosts: of each a line, with a value for each name that any of
/// them has, in the order in which names were met.
#[derive(Default)]
pub struct Lines {
    names: Vec<Name>,
    hosts: usize,
    /// Line by line.
    values: Vec<i64>,
}

impl Lines {
    /// Of the hosts that these amounts are of, if all of them have the same in one order:
    /// so a column is all lines.
    pub fn of_column(amounts: &ChildTable<'_, FreeAmount>) -> Option<Self> {
        let (names, free) = amounts.columns();
        let names = common_names(amounts, names)?;
        Some(Self {
            names: names.iter().copied().map(Name).collect(),
            hosts: free.len().checked_div(names.len())?,
            values: free.to_vec(),
        })
    }

    /// Of each of these hosts.
    pub fn read(hosts: impl Iterator<Item = impl Borrow<Rows<FreeAmount>>>) -> Self {
        let mut lines = Self::default();
        lines.values.reserve(2 * hosts.size_hint().0);
        // Borrowed from the host: a row's table is cheaper to look at than to move.
        hosts.for_each(|host| lines.add(host.borrow()));
        lines
    }

    #[inline]
    fn add(&mut self, amounts: &Rows<FreeAmount>) {
        let end = self.values.len();
        self.values.resize(end + self.names.len(), 0);
        if !self.add_in_order(amounts, end) {
            self.values.truncate(end);
            self.add_by_name(amounts);
        }
        self.hosts += 1;
    }

    /// Fills in the line of a host that has the amounts of those before, in the same
    /// order, as most have; false if it has not.
    #[inline]
    fn add_in_order(&mut self, amounts: &Rows<FreeAmount>, line: usize) -> bool {
        let names = self.names.as_slice();
        let line = &mut self.values[line..][..names.len()];
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
    fn add_by_name(&mut self, amounts: &Rows<FreeAmount>) {
        let known = self.names.len();
        for amount in amounts {
            if !self.names.contains(&amount.name) {
                self.names.push(amount.name);
            }
        }
        if self.names.len() > known {
            self.widen(known);
        }
        let line = self.values.len();
        self.values.resize(line + self.names.len(), 0);
        for amount in amounts {
            let place = self.names.iter().position(|name| *name == amount.name);
            if let Some(place) = place {
                self.values[line + place] = amount.free;
            }
        }
    }

    /// Gives lines of so many values one for each name: of what was not met before, a
    /// host has 0.
    fn widen(&mut self, known: usize) {
        let before = std::mem::take(&mut self.values);
        for host in 0..self.hosts {
            self.values.extend(&before[host * known..][..known]);
            self.values.resize((host + 1) * self.names.len(), 0);
        }
    }
}

#[cfg(test)]
mod tests;
