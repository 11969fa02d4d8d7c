//! Amounts with names of the operator's choice, as hosts offer them.
//!
//! Names are told apart by their codes, never by their characters: a unit looks at
//! some of them for every host.

#![forbid(unsafe_code)]

use placewright_sdk::call::{ChildTable, ColumnPlace};
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

/// The names of the amounts that hosts have, if all hosts name theirs in one order and none
/// twice: then of every column each so many values are those of one host.
pub fn common_names<'n, R>(amounts: &ChildTable<'_, R>, names: &'n [i64]) -> Option<&'n [i64]> {
    let width = amounts.width()?;
    let common = names.get(..width)?;
    let mut places = common.iter().enumerate();
    let differ = places.all(|(place, name)| !common[..place].contains(name));
    // Each host has the names of the one before it.
    let (next, before) = (&names[width..], &names[..names.len() - width]);
    (differ && are_equal(next, before)).then_some(common)
}

/// Whether these names are those, as many of them. Eight at a time, without a branch for
/// each: it is asked of all hosts in every call.
#[inline(never)]
fn are_equal(these: &[i64], those: &[i64]) -> bool {
    let (these, last) = these.as_chunks::<8>();
    let (those, last_of_those) = those.as_chunks::<8>();
    let differ = |(these, those): (&[i64; 8], &[i64; 8])| {
        let pairs = these.iter().zip(those);
        pairs.fold(0, |bits, (one, other)| bits | (one ^ other)) != 0
    };
    last == last_of_those && !these.iter().zip(those).any(differ)
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
