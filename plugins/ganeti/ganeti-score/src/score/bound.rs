//! What scores of many moves are not less than, found without a look at each of them.
//!
//! Rounding is monotone: what is worked out of smaller values by the same steps is not
//! greater. So these bounds hold for scores as they are worked out, not only for what
//! they would be without rounding.

use super::{Part, RESERVED, Score};
use crate::cluster::Node;

/// Bounds of the parts that a node, or several together, may add to the score.
#[derive(Clone, Copy)]
pub struct Bounds<const N: usize> {
    /// The least that each figure may be.
    least: Part<N>,
    /// The most that the figures may be.
    most: [f64; N],
}

impl<const N: usize> Bounds<N> {
    /// Of one part that is known.
    pub fn of(part: Part<N>) -> Self {
        Self {
            most: part.sums,
            least: part,
        }
    }

    /// Of whichever of these it is; of none of them what is worse than anything.
    pub fn of_any(bounds: impl Iterator<Item = Self>) -> Self {
        let none = Self {
            least: Part {
                sums: [f64::INFINITY; N],
                squares: [f64::INFINITY; N],
                count: f64::INFINITY,
            },
            most: [f64::NEG_INFINITY; N],
        };
        bounds.fold(none, |mut all, one| {
            for figure in 0..N {
                let (least, other) = (&mut all.least, &one.least);
                least.sums[figure] = least.sums[figure].min(other.sums[figure]);
                least.squares[figure] = least.squares[figure].min(other.squares[figure]);
                all.most[figure] = all.most[figure].max(one.most[figure]);
            }
            all.least.count = all.least.count.min(one.least.count);
            all
        })
    }
}

impl<const N: usize> Score<N> {
    /// Bounds of parts if more memory may have to be kept free on a node, up to `most`:
    /// `bounds` hold with `before`.
    pub fn reserving_up_to(
        &self,
        mut bounds: Bounds<N>,
        node: &Node,
        before: i64,
        most: i64,
    ) -> Bounds<N> {
        if before >= most || node.offline {
            return bounds;
        }
        let from = before as f64 * node.per_memory - self.means[RESERVED];
        let to = most as f64 * node.per_memory - self.means[RESERVED];
        // Between both the square is least at the mean, if that is between them.
        let least = match from <= 0.0 && to >= 0.0 {
            true => 0.0,
            false => (from * from).min(to * to),
        };
        bounds.least.squares[RESERVED] += least - from * from;
        bounds.most[RESERVED] += to - from;
        bounds
    }

    /// What [`Score::of_both`] is not less than, whichever parts and change within these
    /// bounds it is about.
    pub fn least_of_both(&self, parts: &Bounds<N>, change: &Bounds<N>) -> f64 {
        let mut score = parts.least.count + change.least.count;
        for figure in 0..N {
            let low = parts.least.sums[figure] + change.least.sums[figure];
            let high = parts.most[figure] + change.most[figure];
            let squares = parts.least.squares[figure] + change.least.squares[figure];
            let variance = self.online * squares - (low * low).max(high * high);
            let variance = if variance < 0.0 { 0.0 } else { variance };
            score += self.weights[figure] * variance.sqrt();
        }
        score
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::UNPLANNED;

    /// Numbers from -1 to 1 that look random, always the same ones.
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> f64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (self.0 >> 33) as f64 / f64::from(1 << 30) - 1.0
        }

        fn parts(&mut self, count: usize) -> Vec<Part<UNPLANNED>> {
            let mut part = || {
                let sums = [(); UNPLANNED].map(|()| self.next());
                Part {
                    squares: sums.map(|sum| sum * sum + self.next() / 8.0),
                    sums,
                    count: self.next(),
                }
            };
            (0..count).map(|_| part()).collect()
        }
    }

    #[test]
    fn no_score_is_less_than_its_bound() {
        let mut random = Random(1);
        for _ in 0..500 {
            let score = Score {
                online: 3.0 + random.next(),
                means: [0.0; UNPLANNED],
                weights: [(); UNPLANNED].map(|()| 1.0 + random.next()),
                parts: Vec::new(),
                total: Part::NOTHING,
            };
            let (parts, changes) = (random.parts(3), random.parts(4));
            let bounds =
                |parts: &[Part<UNPLANNED>]| Bounds::of_any(parts.iter().map(|it| Bounds::of(*it)));
            let least = score.least_of_both(&bounds(&parts), &bounds(&changes));
            for part in &parts {
                assert_eq!(
                    score.least_of_both(&Bounds::of(*part), &Bounds::of(changes[0])),
                    score.of_both(part, &changes[0]),
                    "what is known is its own bound"
                );
                for change in &changes {
                    assert!(least <= score.of_both(part, change));
                }
            }
        }
    }
}
