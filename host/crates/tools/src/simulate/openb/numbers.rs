//! Numbers by chance that are the same for a seed, always.

use placewright_scheduler::split_mix;

/// The numbers of a seed, one after the other.
pub(super) struct Numbers {
    seed: u64,
    /// How many were taken.
    taken: u64,
}

impl Numbers {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, taken: 0 }
    }

    fn next(&mut self) -> u64 {
        self.taken += 1;
        split_mix(self.seed, self.taken)
    }

    /// A number below `count`, which is above 0.
    pub(super) fn below(&mut self, count: usize) -> usize {
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
