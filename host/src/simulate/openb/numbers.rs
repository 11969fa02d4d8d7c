//! Numbers by chance that are the same for a seed, always.

/// SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014). Written out, because results that were written down must
/// come out again whatever a library does.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `count`, which is above 0.
    pub fn below(&mut self, count: usize) -> usize {
        let scaled = (u128::from(self.next()) * count as u128) >> 64;
        scaled as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_published_generator() {
        // The first of seed 1234567, as in the reference implementation's tests.
        let mut numbers = Numbers::new(1_234_567);
        assert_eq!(numbers.next(), 6_457_827_717_110_365_317);
        assert_eq!(numbers.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn every_number_below_comes() {
        let mut numbers = Numbers::new(7);
        let mut seen = [0; 5];
        for _ in 0..1000 {
            seen[numbers.below(5)] += 1;
        }
        assert!(
            seen.iter().all(|count| (150..250).contains(count)),
            "{seen:?}"
        );
    }
}
