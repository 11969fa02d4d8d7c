//! Numbers that look random and are the same for the same seed.

/// The generator SplitMix64: small, fast, and without a weak seed.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 0 or more and less than 1.
    pub(super) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Whether something of this probability happens.
    pub(super) fn happens(&mut self, probability: f64) -> bool {
        self.share() < probability
    }

    /// 0 or more and less than `bound`; 0 if `bound` is.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.share() * bound as f64) as usize
    }

    /// From `least` to `greatest`, both included.
    pub(super) fn between(&mut self, least: i64, greatest: i64) -> i64 {
        least + (self.share() * (greatest - least + 1) as f64) as i64
    }

    pub(super) fn one_of<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len()))
    }

    /// The numbers below `count` in a random order.
    pub(super) fn permutation(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }
}
