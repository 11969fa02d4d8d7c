//! Whole amounts that carry their unit of measure in their type.
//!
//! The contract keeps amounts between -(2^53 - 1) and 2^53 - 1, so the sum of a
//! thousand of them fits; products do not, and belong in `i128`.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

macro_rules! amount {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub i64);

        impl Add for $name {
            type Output = Self;

            #[inline]
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl Sub for $name {
            type Output = Self;

            #[inline]
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl AddAssign for $name {
            #[inline]
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl SubAssign for $name {
            #[inline]
            fn sub_assign(&mut self, other: Self) {
                *self = *self - other;
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
                amounts.fold(Self(0), Add::add)
            }
        }
    };
}

amount! {
    /// An amount of memory or storage, in bytes.
    Bytes
}

amount! {
    /// An amount of CPU, in thousandths of a core.
    Millicores
}

amount! {
    /// A length of time in seconds, or a time as seconds since 1970-01-01 UTC.
    Seconds
}

impl Bytes {
    /// So many MiB (1 MiB = 1,048,576 bytes).
    pub const fn mib(count: i64) -> Self {
        Self(count << 20)
    }

    /// So many GiB (1 GiB = 1,073,741,824 bytes).
    pub const fn gib(count: i64) -> Self {
        Self(count << 30)
    }
}

impl Millicores {
    /// So many whole cores.
    pub const fn cores(count: i64) -> Self {
        Self(count * 1000)
    }
}

impl fmt::Display for Bytes {
    /// Exactly, in the largest unit of which there is a whole number: `1536 MiB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
        let mut count = self.0;
        let mut unit = 0;
        while count != 0 && count % 1024 == 0 && unit + 1 < UNITS.len() {
            count /= 1024;
            unit += 1;
        }
        write!(f, "{count} {}", UNITS[unit])
    }
}

impl fmt::Display for Millicores {
    /// Whole cores as `2 cores`, everything else as `1500m`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1000 => write!(f, "1 core"),
            amount if amount % 1000 == 0 => write!(f, "{} cores", amount / 1000),
            amount => write!(f, "{amount}m"),
        }
    }
}

impl fmt::Display for Seconds {
    /// As `90 s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.0)
    }
}
