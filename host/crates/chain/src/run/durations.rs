//! How long calls took, told by quantiles.

use std::time::Duration;

/// Classes per power of two. With eight of them a quantile exceeds the exact one by an eighth at
/// most.
const PARTS: u32 = 8;

/// The power of two, in nanoseconds, below which all durations are of the first class.
const FINEST: u32 = 7;

/// The power of two from which on all are of the last class: 18 minutes.
const COARSEST: u32 = 40;

/// How many calls took how long, by classes whose bounds grow by the same factor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Durations {
    /// Calls by class; as many as were needed so far.
    counts: Vec<u32>,
    calls: u64,
    longest: Duration,
}

impl Durations {
    /// Count a call.
    pub(super) fn add(&mut self, took: Duration) {
        let class = class(took);
        if self.counts.len() <= class {
            self.counts.resize(class + 1, 0);
        }
        self.counts[class] = self.counts[class].saturating_add(1);
        self.calls += 1;
        self.longest = self.longest.max(took);
    }

    /// Add the calls of another unit, or of another place of the same.
    pub fn merge(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count = count.saturating_add(*more);
        }
        self.calls += other.calls;
        self.longest = self.longest.max(other.longest);
    }

    /// The time within which `share` (fraction 0..1) of the calls ended, too great by an eighth at
    /// most; zero if there was no call.
    pub fn quantile(&self, share: f64) -> Duration {
        let wanted = (share * self.calls as f64).ceil().max(1.0) as u64;
        let mut ended = 0;
        for (class, count) in self.counts.iter().enumerate() {
            ended += u64::from(*count);
            if ended >= wanted {
                return end(class).min(self.longest);
            }
        }
        self.longest
    }

    /// The longest call.
    pub fn longest(&self) -> Duration {
        self.longest
    }
}

fn class(took: Duration) -> usize {
    let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
    let nanoseconds = nanoseconds.clamp(1 << FINEST, (1 << COARSEST) - 1);
    let power = nanoseconds.ilog2();
    // The three digits after the first.
    let part = (nanoseconds >> (power - PARTS.ilog2())) as u32 % PARTS;
    ((power - FINEST) * PARTS + part) as usize
}

/// The end of a class: what all of its durations are shorter than.
fn end(class: usize) -> Duration {
    let (power, part) = (class as u32 / PARTS + FINEST, class as u32 % PARTS);
    let width = 1_u64 << (power - PARTS.ilog2());
    Duration::from_nanos((1 << power) + width * u64::from(part + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(microseconds: impl IntoIterator<Item = u64>) -> Durations {
        let mut durations = Durations::default();
        for it in microseconds {
            durations.add(Duration::from_micros(it));
        }
        durations
    }

    #[test]
    fn half_of_the_calls_are_within_the_median() {
        let durations = of(1..=1000);
        for (share, exact) in [(0.5, 500.0), (0.95, 950.0), (0.99, 990.0)] {
            let told = durations.quantile(share).as_secs_f64() * 1e6;
            assert!(
                (exact..exact * 1.125 + 0.2).contains(&told),
                "{share}: {told}"
            );
        }
        assert_eq!(durations.quantile(1.0), Duration::from_millis(1));
        assert_eq!(durations.longest(), Duration::from_millis(1));
        assert_eq!(of([]).quantile(0.5), Duration::ZERO);
        assert_eq!(of([7]).quantile(0.01), Duration::from_micros(7));
    }

    #[test]
    fn what_is_too_short_or_too_long_is_counted_all_the_same() {
        let durations = of([0, 3_600_000_000]);
        assert!(durations.quantile(0.5) <= Duration::from_nanos(144));
        assert_eq!(durations.longest(), Duration::from_secs(3600));
    }

    proptest! {
        #[test]
        fn a_quantile_is_never_less_and_an_eighth_more_at_most(
            mut nanoseconds in proptest::collection::vec(128_u64..1 << 36, 1..200),
            share in 0.01_f64..1.0,
        ) {
            let mut durations = Durations::default();
            for it in &nanoseconds {
                durations.add(Duration::from_nanos(*it));
            }
            nanoseconds.sort_unstable();
            let place = (share * nanoseconds.len() as f64).ceil().max(1.0) as usize - 1;
            let exact = nanoseconds[place];
            let told = durations.quantile(share).as_nanos() as u64;
            prop_assert!(told >= exact && told <= exact + exact / 8 + 1, "{exact}: {told}");
        }

        #[test]
        fn two_together_are_as_one(one in proptest::collection::vec(1_u64..1 << 30, 0..50), other in proptest::collection::vec(1_u64..1 << 30, 0..50)) {
            let mut merged = of(one.iter().copied());
            merged.merge(&of(other.iter().copied()));
            prop_assert_eq!(merged, of(one.into_iter().chain(other)));
        }
    }
}
