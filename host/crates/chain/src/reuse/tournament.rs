//! Who is best of many, kept while few of them change: a tree in which every node
//! knows the best of its sixteen children.

use std::array;
use std::ops::Range;

/// Children of a node. With sixteen the tree is flat, and a node's children lie side
/// by side in memory.
const WIDTH: usize = 16;

/// The best below a node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Best {
    /// Its sum in the first tier.
    pub(crate) sum: f64,
    pub(crate) row: u32,
    /// How many have the same sums in every tier, it included.
    pub(crate) tied: u32,
}

/// How rows compare.
pub(crate) trait Contest {
    /// The sum of a row in the first tier; None: it takes no part.
    fn sum(&self, row: u32) -> Option<f64>;
    /// Whose sums are less in the tiers after the first.
    fn later_tiers(&self, a: u32, b: u32) -> std::cmp::Ordering;
    /// Who is preferred of two with equal sums.
    fn is_preferred(&self, a: u32, b: u32) -> bool;
    /// The sums of these rows in the first tier, infinite where a row takes no part; None
    /// if they are not at hand.
    fn sums(&self, rows: Range<usize>) -> Option<&[f64]>;
}

/// The tree over rows that are numbered from 0.
#[derive(Debug, Default)]
pub(crate) struct Tournament {
    rows: usize,
    /// From the parents of rows to the root; empty without rows.
    levels: Vec<Level>,
}

/// The nodes of one level.
#[derive(Debug)]
struct Level {
    best: Vec<Option<Best>>,
    /// The sums of the best, infinite where there is none: side by side, they are compared
    /// many at a time.
    sums: Vec<f64>,
}

impl Level {
    fn new(nodes: usize) -> Self {
        Self {
            best: vec![None; nodes],
            sums: vec![f64::INFINITY; nodes],
        }
    }

    /// Set the best of a node, and tell who it was.
    fn set(&mut self, node: usize, best: Option<Best>) -> Option<Best> {
        self.sums[node] = best.map_or(f64::INFINITY, |best| best.sum);
        std::mem::replace(&mut self.best[node], best)
    }
}

impl Tournament {
    /// Play among so many rows.
    pub(crate) fn new(rows: usize, contest: &impl Contest) -> Self {
        let mut levels = Vec::new();
        let mut below = rows;
        while below > 0 && (levels.is_empty() || below > 1) {
            below = below.div_ceil(WIDTH);
            levels.push(Level::new(below));
        }
        let mut tree = Self { rows, levels };
        for level in 0..tree.levels.len() {
            for node in 0..tree.levels[level].best.len() {
                let best = tree.play(level, node, contest);
                tree.levels[level].set(node, best);
            }
        }
        tree
    }

    /// Play again where these rows, ascending, take part.
    pub(crate) fn update(&mut self, changed: &[u32], contest: &impl Contest) {
        let mut nodes: Vec<u32> = changed.to_vec();
        for level in 0..self.levels.len() {
            for node in &mut nodes {
                *node /= WIDTH as u32;
            }
            nodes.dedup();
            nodes.retain(|node| {
                let node = *node as usize;
                let best = self.play(level, node, contest);
                let before = self.levels[level].set(node, best);
                // Above, all is as it was if the same row is best and still compares so, or
                // whoever is best here was and stays behind the best there.
                let is_as_before = is_same(before, best)
                    && best.is_none_or(|best| changed.binary_search(&best.row).is_err());
                let above = self.levels.get(level + 1);
                let above = above.and_then(|above| above.best[node / WIDTH]);
                !(is_as_before || is_behind(before, above) && is_behind(best, above))
            });
        }
    }

    /// The sum of the best of the rows among which this one plays first; infinite if none of
    /// them takes part, or they have not played yet.
    pub(crate) fn rival(&self, row: u32) -> f64 {
        let sums = self.levels.first().map(|level| &level.sums);
        let sum = sums.and_then(|sums| sums.get(row as usize / WIDTH));
        sum.copied().unwrap_or(f64::INFINITY)
    }

    /// The best of all; None if nobody takes part.
    pub(crate) fn best(&self) -> Option<Best> {
        self.levels.last()?.best.first().copied().flatten()
    }

    /// All rows whose sums are those of the best, ascending.
    pub(crate) fn tied(&self, contest: &impl Contest) -> Vec<u32> {
        let mut rows = Vec::new();
        if let Some(best) = self.best() {
            rows.reserve(best.tied as usize);
            self.tied_below(self.levels.len() - 1, 0, best, contest, &mut rows);
        }
        rows
    }

    fn tied_below(
        &self,
        level: usize,
        node: usize,
        best: Best,
        contest: &impl Contest,
        rows: &mut Vec<u32>,
    ) {
        let is_tied = |it: Option<Best>| {
            it.is_some_and(|it| it.sum == best.sum && contest.later_tiers(it.row, best.row).is_eq())
        };
        for child in self.children(level, node) {
            if is_tied(self.child(level, child, contest)) {
                match level.checked_sub(1) {
                    Some(below) => self.tied_below(below, child, best, contest, rows),
                    None => rows.push(child as u32),
                }
            }
        }
    }

    /// The bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        let nodes: usize = self.levels.iter().map(|level| level.best.len()).sum();
        nodes * (size_of::<Option<Best>>() + size_of::<f64>())
    }

    /// The level of the root; without rows there is none.
    pub(super) fn root(&self) -> usize {
        self.levels.len().saturating_sub(1)
    }

    /// The rows below a node.
    pub(super) fn rows_below(&self, level: usize, node: usize) -> Range<usize> {
        let width = WIDTH.pow(level as u32 + 1);
        node * width..((node + 1) * width).min(self.rows)
    }

    /// The nodes of the level below, or rows, that play for a node.
    pub(super) fn children(&self, level: usize, node: usize) -> Range<usize> {
        let below = match level.checked_sub(1) {
            Some(below) => self.levels[below].best.len(),
            None => self.rows,
        };
        node * WIDTH..((node + 1) * WIDTH).min(below)
    }

    /// What plays for a node in that place of the level below.
    pub(super) fn child(&self, level: usize, child: usize, contest: &impl Contest) -> Option<Best> {
        match level.checked_sub(1) {
            Some(below) => self.levels[below].best[child],
            None => {
                let row = child as u32;
                let sum = contest.sum(row)?;
                Some(Best { sum, row, tied: 1 })
            }
        }
    }

    fn play(&self, level: usize, node: usize, contest: &impl Contest) -> Option<Best> {
        let children = self.children(level, node);
        let below = level.checked_sub(1).map(|below| &self.levels[below]);
        let sums = match below {
            Some(below) => Some(&below.sums[children.clone()]),
            None => contest.sums(children.clone()),
        };
        if let Some(sums) = sums
            && let Some(place) = unrivalled(sums)
        {
            let child = children.start + place;
            return match below {
                Some(below) => below.best[child],
                None => Some(Best {
                    sum: sums[place],
                    row: child as u32,
                    tied: 1,
                }),
            };
        }
        let mut best: Option<Best> = None;
        for child in children {
            let Some(other) = self.child(level, child, contest) else {
                continue;
            };
            best = Some(match best {
                Some(best) => better(best, other, contest),
                None => other,
            });
        }
        best
    }
}

/// The place of the one of at most sixteen sums that is finite and less than every other, if
/// there is one. No sum is NaN.
fn unrivalled(sums: &[f64]) -> Option<usize> {
    let mut padded = [f64::INFINITY; WIDTH];
    let sums: &[f64; WIDTH] = match sums.try_into() {
        Ok(sums) => sums,
        Err(_) => {
            padded[..sums.len()].copy_from_slice(sums);
            &padded
        }
    };
    // Halves against each other, so that no comparison waits for more than three before.
    let less = |a: f64, b: f64| if b < a { b } else { a };
    let eight: [f64; 8] = array::from_fn(|i| less(sums[i], sums[i + 8]));
    let four: [f64; 4] = array::from_fn(|i| less(eight[i], eight[i + 4]));
    let two: [f64; 2] = array::from_fn(|i| less(four[i], four[i + 2]));
    let least = less(two[0], two[1]);
    // How many are equal to it, and the place of the last one if it is alone.
    let mut equal: u64 = 0;
    for (place, sum) in sums.iter().enumerate() {
        equal += match *sum == least {
            true => (1 << 32) + place as u64,
            false => 0,
        };
    }
    let is_alone = equal >> 32 == 1 && least < f64::INFINITY;
    is_alone.then_some((equal & 0xff) as usize)
}

fn is_same(a: Option<Best>, b: Option<Best>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.row == b.row && a.tied == b.tied && a.sum == b.sum,
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// Whether somebody takes no part, or has a greater sum than another one.
fn is_behind(a: Option<Best>, b: Option<Best>) -> bool {
    a.is_none_or(|a| b.is_some_and(|b| a.sum > b.sum))
}

/// The better of two, which are tied if their sums are equal.
pub(crate) fn better(a: Best, b: Best, contest: &impl Contest) -> Best {
    let order = a.sum.total_cmp(&b.sum);
    match order.then_with(|| contest.later_tiers(a.row, b.row)) {
        std::cmp::Ordering::Less => a,
        std::cmp::Ordering::Greater => b,
        std::cmp::Ordering::Equal => {
            let preferred = match contest.is_preferred(a.row, b.row) {
                true => a,
                false => b,
            };
            Best {
                tied: a.tied + b.tied,
                ..preferred
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::cmp::Ordering;

    use proptest::prelude::*;

    use super::*;

    /// Sums of two tiers; of equals the greatest number is preferred.
    pub(in crate::reuse) struct Rows {
        rows: Vec<Option<(f64, f64)>>,
        sums: Vec<f64>,
    }

    impl Contest for Rows {
        fn sum(&self, row: u32) -> Option<f64> {
            self.rows[row as usize].map(|(first, _)| first)
        }

        fn later_tiers(&self, a: u32, b: u32) -> Ordering {
            let second = |row: u32| self.rows[row as usize].map_or(0.0, |(_, second)| second);
            second(a).total_cmp(&second(b))
        }

        fn is_preferred(&self, a: u32, b: u32) -> bool {
            a > b
        }

        fn sums(&self, rows: Range<usize>) -> Option<&[f64]> {
            self.sums.get(rows)
        }
    }

    impl Rows {
        pub(in crate::reuse) fn new(rows: Vec<Option<(f64, f64)>>) -> Self {
            let sum = |row: &Option<(f64, f64)>| row.map_or(f64::INFINITY, |(first, _)| first);
            let sums = rows.iter().map(sum).collect();
            Self { rows, sums }
        }

        pub(in crate::reuse) fn len(&self) -> usize {
            self.rows.len()
        }

        pub(in crate::reuse) fn get(&self, row: usize) -> Option<(f64, f64)> {
            self.rows[row]
        }

        pub(in crate::reuse) fn set(&mut self, row: usize, to: Option<(f64, f64)>) {
            self.rows[row] = to;
            self.sums[row] = to.map_or(f64::INFINITY, |(first, _)| first);
        }

        /// What the tree is to say, found by looking at all.
        pub(in crate::reuse) fn tied(&self) -> Vec<u32> {
            let mut rows = (0u32..)
                .zip(&self.rows)
                .filter_map(|(row, it)| Some((row, (*it)?)));
            let least = rows
                .clone()
                .map(|(_, it)| it)
                .reduce(|a, b| if b < a { b } else { a });
            rows.by_ref()
                .filter(|(_, it)| Some(*it) == least)
                .map(|(row, _)| row)
                .collect()
        }
    }

    pub(in crate::reuse) fn row() -> impl Strategy<Value = Option<(f64, f64)>> {
        let sum = || prop_oneof![Just(0.0), Just(1.0), Just(f64::INFINITY)];
        proptest::option::of((sum(), sum()))
    }

    proptest! {
        #[test]
        fn the_tree_knows_the_best_and_all_their_equals_after_every_change(
            first in proptest::collection::vec(row(), 0..600),
            changes in proptest::collection::vec(
                proptest::collection::vec((any::<proptest::sample::Index>(), row()), 0..9), 0..9),
        ) {
            let mut rows = Rows::new(first);
            let mut tree = Tournament::new(rows.len(), &rows);
            for change in changes {
                let mut changed = Vec::new();
                if rows.len() > 0 {
                    for (at, to) in change {
                        let at = at.index(rows.len());
                        rows.set(at, to);
                        changed.push(at as u32);
                    }
                }
                changed.sort_unstable();
                changed.dedup();
                tree.update(&changed, &rows);
                let tied = rows.tied();
                prop_assert_eq!(tree.tied(&rows), tied.clone());
                let best = tree.best().map(|best| (best.row, best.tied as usize));
                prop_assert_eq!(best, tied.last().map(|row| (*row, tied.len())));
            }
        }
    }
}
