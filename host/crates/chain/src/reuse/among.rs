//! The best of some of those who are in a tournament: the others are skipped over.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::Range;

use fixedbitset::FixedBitSet;

use super::tournament::{Best, Contest, Tournament, better};

/// For each so many rows that count, one node may be looked into; then it is better to
/// look at all of them. A node costs as much as some 32 rows, so that little is lost.
const ROWS_PER_NODE: usize = 128;

/// The rows that count.
#[derive(Debug, Clone, Copy)]
pub(super) struct Among<'a> {
    rows: &'a FixedBitSet,
    /// All that take part in the tournament, these included.
    all: &'a FixedBitSet,
}

impl<'a> Among<'a> {
    pub(super) fn new(rows: &'a FixedBitSet, all: &'a FixedBitSet) -> Self {
        Self { rows, all }
    }

    fn contains(self, row: u32) -> bool {
        self.rows.contains(row as usize)
    }

    fn rows(self) -> impl Iterator<Item = u32> {
        self.rows.ones().map(|row| row as u32)
    }
}

/// A node whose best is skipped over: someone below it may be the best of the others.
struct Open {
    best: Best,
    level: usize,
    node: usize,
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        let sums = self.best.sum.total_cmp(&other.best.sum);
        sums.then(self.best.row.cmp(&other.best.row))
    }
}

impl Tournament {
    /// The best of the rows that count; None if there are none.
    pub(super) fn best_among(&self, among: Among<'_>, contest: &impl Contest) -> Option<Best> {
        let first = self.best()?;
        let enough = among.rows.count_ones(..) / ROWS_PER_NODE;
        let Some(found) = self.first_among(first, among, enough, contest) else {
            return scan(among, contest);
        };
        let best = found?;
        if best.row == first.row && first.tied == 1 {
            return Some(first);
        }
        let mut tied = 0;
        self.walk_tied(self.root(), 0, among, best, contest, &mut |rows| {
            tied += among.rows.count_ones(rows) as u32;
        });
        Some(Best { tied, ..best })
    }

    /// All rows that count and whose sums are those of the best of them, ascending.
    pub(super) fn tied_among(
        &self,
        among: Among<'_>,
        best: Best,
        contest: &impl Contest,
    ) -> Vec<u32> {
        let mut tied = Vec::with_capacity(best.tied as usize);
        self.walk_tied(self.root(), 0, among, best, contest, &mut |rows| {
            tied.extend(
                rows.map(|row| row as u32)
                    .filter(|row| among.contains(*row)),
            );
        });
        tied
    }

    /// The best of the rows that count, with no number of equals. None if more than
    /// `enough` nodes would have to be looked into.
    fn first_among(
        &self,
        first: Best,
        among: Among<'_>,
        mut enough: usize,
        contest: &impl Contest,
    ) -> Option<Option<Best>> {
        if among.contains(first.row) {
            return Some(Some(first));
        }
        let mut found: Option<Best> = None;
        let mut open = BinaryHeap::new();
        open.push(Reverse(Open {
            best: first,
            level: self.root(),
            node: 0,
        }));
        while let Some(Reverse(Open { best, level, node })) = open.pop() {
            if found.is_some_and(|found| best.sum > found.sum) {
                break;
            }
            if found.is_some_and(|found| !comes_before(best, found, contest)) {
                continue;
            }
            enough = enough.checked_sub(1)?;
            for child in self.children(level, node) {
                let Some(best) = self.child(level, child, contest) else {
                    continue;
                };
                if found.is_some_and(|found| !comes_before(best, found, contest)) {
                    continue;
                }
                match level.checked_sub(1) {
                    _ if among.contains(best.row) => found = Some(best),
                    Some(level) => open.push(Reverse(Open {
                        best,
                        level,
                        node: child,
                    })),
                    None => {}
                }
            }
        }
        Some(found)
    }

    /// Find all rows below a node whose sums are those of the best of the rows that
    /// count, in pieces in which no other row takes part. Rows that do not count may be
    /// among them.
    fn walk_tied(
        &self,
        level: usize,
        node: usize,
        among: Among<'_>,
        best: Best,
        contest: &impl Contest,
        found: &mut impl FnMut(Range<usize>),
    ) {
        for child in self.children(level, node) {
            let Some(first) = self.child(level, child, contest) else {
                continue;
            };
            let sums = first.sum.total_cmp(&best.sum);
            let order = sums.then_with(|| contest.later_tiers(first.row, best.row));
            let below = level.checked_sub(1);
            match below {
                _ if order.is_gt() => {}
                None if order.is_eq() => found(child..child + 1),
                None => {}
                Some(_) if order.is_eq() && first.tied == 1 => {
                    found(first.row as usize..first.row as usize + 1);
                }
                Some(below) => {
                    let rows = self.rows_below(below, child);
                    let taking_part = || among.all.count_ones(rows.clone());
                    match order.is_eq() && first.tied as usize == taking_part() {
                        true => found(rows),
                        false => self.walk_tied(below, child, among, best, contest, found),
                    }
                }
            }
        }
    }
}

/// Look at every row that counts.
fn scan(among: Among<'_>, contest: &impl Contest) -> Option<Best> {
    among.rows().fold(None, |best, row| {
        let Some(sum) = contest.sum(row) else {
            return best;
        };
        let other = Best { sum, row, tied: 1 };
        Some(best.map_or(other, |best| better(best, other, contest)))
    })
}

/// Whether `a` is better than `b`, another row.
fn comes_before(a: Best, b: Best, contest: &impl Contest) -> bool {
    let sums = a.sum.total_cmp(&b.sum);
    let order = sums.then_with(|| contest.later_tiers(a.row, b.row));
    match order {
        Ordering::Less => true,
        Ordering::Greater => false,
        Ordering::Equal => contest.is_preferred(a.row, b.row),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tournament::tests::{Rows, row};
    use super::*;

    proptest! {
        #[test]
        fn the_best_of_some_is_found_whoever_is_skipped_over(
            rows in proptest::collection::vec((row(), any::<bool>()), 0..1500),
            skipped_first in 0usize..1500,
            changed in any::<proptest::sample::Index>(),
        ) {
            let (rows, counts): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
            let mut rows = Rows::new(rows);
            let mut tree = Tournament::new(rows.len(), &rows);
            if rows.len() > 0 {
                let changed = changed.index(rows.len());
                rows.set(changed, Some((0.0, 0.0)));
                tree.update(&[changed as u32], &rows);
            }
            let sets = |counts: &dyn Fn(usize) -> bool| {
                let mut set = FixedBitSet::with_capacity(rows.len());
                set.extend((0..rows.len()).filter(|row| rows.get(*row).is_some() && counts(*row)));
                set
            };
            let all = sets(&|_| true);
            let random = sets(&|row| counts[row]);
            // Those that are preferred of equals are the last ones.
            let front = sets(&|row| row + skipped_first < rows.len());
            for some in [&all, &random, &front] {
                let among = Among::new(some, &all);
                let only = (0..rows.len()).map(|row| rows.get(row).filter(|_| some.contains(row)));
                let tied = Rows::new(only.collect()).tied();
                let best = tree.best_among(among, &rows);
                prop_assert_eq!(
                    best.map(|best| (best.row, best.tied as usize)),
                    tied.last().map(|row| (*row, tied.len()))
                );
                if let Some(best) = best {
                    prop_assert_eq!(tree.tied_among(among, best, &rows), tied);
                }
            }
        }
    }
}
