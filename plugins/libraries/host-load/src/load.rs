//! Loads as exact amounts.
//!
//! A load is measured as a fraction and compared with limits as a percentage that
//! is rounded up. Done with floats, 7 % would become a little more and then 8 %;
//! so a measured share is rounded to whole millionths first, and everything after
//! that is exact.

use std::num::NonZeroU64;

use placewright_sdk::prelude::*;

/// CPU kept busy, in millionths of one CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Load(u64);

/// One CPU.
const CPU: u64 = 1_000_000;

impl Load {
    /// This share of so many CPUs.
    #[inline]
    pub fn share(share: f64, cpus: u64) -> Self {
        // Rounded half up; a negative share becomes 0 in the conversion.
        let of_one = (share * CPU as f64 + 0.5) as u64;
        Self(product(of_one, cpus))
    }

    /// So many thousandths of a CPU.
    #[inline]
    pub fn millicores(amount: Millicores) -> Self {
        Self(product(count(amount.0), CPU / 1000))
    }

    /// Both together.
    #[inline]
    pub fn and(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// This load so many times.
    #[inline]
    pub fn times(self, factor: u64) -> Self {
        Self(product(self.0, factor))
    }

    /// What share of so many CPUs this is, in percent, rounded up.
    #[inline]
    pub fn percent_rounded_up(self, cpus: NonZeroU64) -> u64 {
        self.0.div_ceil(percent(cpus))
    }

    /// What share of so many CPUs this is, in percent, rounded half up.
    #[inline]
    pub fn percent_rounded(self, cpus: NonZeroU64) -> u64 {
        let percent = percent(cpus);
        self.0.saturating_add(percent / 2) / percent
    }
}

/// The product, at most the greatest number. Both factors fit 32 bits wherever a host
/// is real, and then nothing is lost: WebAssembly has no product of 64 bits that
/// tells whether it was too large, and working it out takes longer than all the rest.
#[inline]
fn product(a: u64, b: u64) -> u64 {
    match (a | b) >> 32 {
        0 => a * b,
        _ => a.saturating_mul(b),
    }
}

/// One percent of so many CPUs; at least 1.
#[inline]
fn percent(cpus: NonZeroU64) -> u64 {
    product(cpus.get(), CPU / 100)
}

/// A number of things; what is negative counts as none.
#[inline]
pub fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_those_that_were_measured() {
        for percent in 0..=100_u32 {
            let load = Load::share(f64::from(percent) / 100.0, 3);
            let cpus = NonZeroU64::new(3).expect("not 0");
            assert_eq!(load.percent_rounded_up(cpus), u64::from(percent));
            assert_eq!(load.percent_rounded(cpus), u64::from(percent));
        }
    }

    #[test]
    fn rounding_goes_up_for_limits_and_half_up_for_costs() {
        let cpus = NonZeroU64::new(8).expect("not 0");
        let rounded = |percents| {
            let load = Load::share(percents / 100.0, 1);
            (load.percent_rounded_up(cpus), load.percent_rounded(cpus))
        };
        assert_eq!(rounded(32.0), (4, 4));
        assert_eq!(rounded(33.0), (5, 4));
        assert_eq!(rounded(36.0), (5, 5));
    }

    #[test]
    fn absurd_shares_are_none_or_the_greatest() {
        assert_eq!(Load::share(-1.0, 4), Load::default());
        assert_eq!(Load::share(f64::MAX, 4), Load(u64::MAX));
        assert_eq!(Load::millicores(Millicores(-5)), Load::default());
    }
}
