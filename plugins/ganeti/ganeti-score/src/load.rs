//! What instances take of a node.

use std::ops::{Add, Sub};

/// What is taken of a node or left on it; the differences that an instance makes
/// are a load, too. What is *planned* counts instances that are down or forthcoming.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Load {
    /// Memory left, in bytes.
    pub free: i64,
    pub free_planned: i64,
    /// Disk left, in bytes.
    pub disk: i64,
    pub disk_planned: i64,
    pub vcpus: i64,
    pub vcpus_planned: i64,
    /// Uses of spindles.
    pub spindles: i64,
    pub spindles_planned: i64,
    /// Spindles left, where they are exclusive.
    pub spindles_free: i64,
    pub spindles_free_planned: i64,
    pub primaries: i64,
    pub secondaries: i64,
}

macro_rules! by_field {
    ($trait:ident, $function:ident, $($field:ident),*) => {
        impl $trait for Load {
            type Output = Self;

            #[inline(always)]
            fn $function(self, other: Self) -> Self {
                Self { $($field: self.$field.$function(other.$field)),* }
            }
        }
    };
    ($trait:ident, $function:ident) => {
        by_field!(
            $trait, $function, free, free_planned, disk, disk_planned, vcpus, vcpus_planned,
            spindles, spindles_planned, spindles_free, spindles_free_planned, primaries,
            secondaries
        );
    };
}

by_field!(Add, add);
by_field!(Sub, sub);
