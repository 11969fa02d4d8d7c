//! Amounts with names of the operator's choice, as hosts offer them.
//!
//! Names are told apart by their codes, never by their characters: a unit looks at
//! some of them for every host.

#![forbid(unsafe_code)]

use placewright_sdk::call::ColumnPlace;
use placewright_sdk::cell::Cell;
use placewright_sdk::contract::{Kind, Value};
use placewright_sdk::prelude::*;

/// The name of an amount: its code in the call. Names of one call are equal if
/// their codes are, in whatever table they stand; beyond it a code means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name(pub i64);

impl Cell for Name {
    const KIND: Kind = Kind::Text;
    type Column<'a> = &'a [i64];

    #[inline(always)]
    fn column(place: ColumnPlace<'_>) -> &[i64] {
        place.integers()
    }

    #[inline(always)]
    fn at(codes: &&[i64], row: usize) -> Self {
        Self(codes[row])
    }

    /// Nothing: a code is no name.
    fn written(self) -> Option<Value> {
        None
    }
}

/// What is free of an amount of a host.
#[derive(Row)]
pub struct FreeAmount {
    /// What it is an amount of.
    pub name: Name,
    /// What nobody has been given; negative where more was given than there is.
    pub free: i64,
}

/// The same, and what would be free but for places that are reserved.
#[derive(Row)]
pub struct HostAmount {
    /// What it is an amount of.
    pub name: Name,
    /// What nobody has been given; negative where more was given than there is.
    pub free: i64,
    /// What the VMs need that have a place reserved there.
    pub pending: i64,
}

impl HostAmount {
    /// What would be free if nothing were pending.
    #[inline]
    pub fn unused(&self) -> i64 {
        self.free.saturating_add(self.pending)
    }
}
