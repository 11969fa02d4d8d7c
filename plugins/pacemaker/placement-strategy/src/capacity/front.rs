//! The hosts of which no other has as much of everything and more of something.

use std::cmp::Ordering;

use super::lead;

/// The number of every host that is not in the front; members are numbered from 1.
const LAST: u32 = 0;

/// What hosts cost by their place in the front or outside of it: lines of `width` values,
/// one after the other.
#[inline(always)]
pub(super) fn costs(values: &[i64], width: usize, hosts: usize) -> Vec<f64> {
    let line = |host: usize| &values[host * width..][..width];
    let mut front = Front::default();
    let mut numbers = vec![LAST; hosts];
    if let Some(strong) = strong(values, width, hosts) {
        front.meet(line(strong), width);
        // Without a branch: nobody can foresee which hosts it outdoes.
        let mut others = vec![0; hosts];
        let mut left = 0;
        for host in 0..hosts {
            others[left] = host;
            left += usize::from(compare(line(host), line(strong)) != Some(Ordering::Less));
        }
        for host in &others[..left] {
            numbers[*host] = front.meet(line(*host), width);
        }
    }
    let counts = front.counts(width);
    let count = |number: u32| counts[number as usize];
    numbers.into_iter().map(count).collect()
}

/// One of so many hosts is looked at for one that outdoes many.
const SAMPLE: usize = 8;

/// A host that outdoes many: of some, the one with the greatest sum of shares of the most
/// that any of them has.
#[inline(always)]
fn strong(values: &[i64], width: usize, hosts: usize) -> Option<usize> {
    let sample = || (0..hosts).step_by(SAMPLE);
    let weight = |name: usize| {
        let values = sample().map(|host| values[host * width + name]);
        1.0 / values.fold(1, i64::max) as f64
    };
    let weights: Vec<f64> = (0..width).map(weight).collect();
    let sum = |host: usize| {
        let shares = weights.iter().zip(&values[host * width..][..width]);
        shares.fold(0.0, |sum, (weight, value)| sum + weight * *value as f64)
    };
    let sums = sample().map(|host| (host, sum(host)));
    let strong = sums.reduce(|best, next| if next.1 > best.1 { next } else { best });
    strong.map(|(host, _)| host)
}

/// Hosts that have met so far, but for those outdone by others.
#[derive(Default)]
struct Front {
    numbers: Vec<u32>,
    /// By member, line by line.
    values: Vec<i64>,
    /// How many have joined, whether or not they have left.
    joined: u32,
}

impl Front {
    /// Lets a host join, unless it has no place here; those that have none beside it
    /// leave. Returns its number: that of a member that has the same, if there is one.
    #[inline(always)]
    fn meet(&mut self, line: &[i64], width: usize) -> u32 {
        let mut place = 0;
        while place < self.numbers.len() {
            match compare(line, &self.values[place * width..][..width]) {
                Some(Ordering::Equal) => return self.numbers[place],
                Some(Ordering::Less) => {
                    // Who has more than one host has more than others: let them meet
                    // it sooner.
                    self.swap(place, place / 2, width);
                    return LAST;
                }
                Some(Ordering::Greater) => self.leaves(place, width),
                None => place += 1,
            }
        }
        self.joined += 1;
        self.numbers.push(self.joined);
        self.values.extend_from_slice(line);
        self.joined
    }

    #[inline(always)]
    fn swap(&mut self, one: usize, other: usize, width: usize) {
        if one != other {
            self.numbers.swap(one, other);
            for value in 0..width {
                self.values.swap(one * width + value, other * width + value);
            }
        }
    }

    #[inline(always)]
    fn leaves(&mut self, place: usize, width: usize) {
        let last = self.numbers.len() - 1;
        self.swap(place, last, width);
        self.numbers.truncate(last);
        self.values.truncate(last * width);
    }

    /// By the number that a host had when it joined: how many are ahead of it.
    fn counts(&self, width: usize) -> Vec<f64> {
        let mut counts = vec![self.numbers.len() as f64; self.joined as usize + 1];
        let line = |member: usize| &self.values[member * width..][..width];
        let members = 0..self.numbers.len();
        for (member, number) in self.numbers.iter().enumerate() {
            let is_ahead = |other: &usize| lead(line(*other), line(member)) > 0;
            counts[*number as usize] = members.clone().filter(is_ahead).count() as f64;
        }
        counts
    }
}

/// The one line against the other: greater if nothing in it is less and something is
/// greater; None if each is greater somewhere.
#[inline(always)]
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
