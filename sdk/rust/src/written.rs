//! Rows that a part writes, and the tables that they go to.

use crate::contract::{Kind, Moment, Scope, Value, Write};

/// A row of a table that an effects or balance part writes. Written with
/// `#[derive(Written)]`.
///
/// ```
/// # use placewright_sdk::prelude::*;
/// #[derive(Written)]
/// #[written(table = "keys", scope = "vm", moment = "running")]
/// struct Key {
///     name: Text, // `"cache".into()`
///     value: Option<i64>, // `None` = absent
///     #[column("since")]
///     begun: Seconds,
/// }
/// ```
///
/// `scope` says what the row belongs to and how long it lives: `placement` (of
/// the VM on this host, until it leaves), `vm`, `tenant`, `host` or `cluster`.
/// `moment` says when the write takes force: `decided`, together with the
/// decision, or `running`, when the VM is reported to run. Fields are columns as
/// in a [`Row`](crate::row::Row), and one struct can be both.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a row of a written table",
    note = "write #[derive(Written)] and #[written(table = \"...\", scope = \"...\", moment = \"...\")] on it"
)]
pub trait Written: Sized {
    /// Where rows of this type are written.
    const TABLE: WrittenTable;

    /// The values in the order of the columns.
    fn values(self) -> Vec<Option<Value>>;
}

/// A table that is written.
pub struct WrittenTable {
    /// Its name, for example `keys`.
    pub table: &'static str,
    /// Its columns, in the order in which values are given.
    pub columns: &'static [(&'static str, Kind)],
    /// What a row belongs to.
    pub scope: Scope,
    /// When a write takes force.
    pub moment: Moment,
}

impl WrittenTable {
    /// The table as it is described to the runtime.
    pub(crate) fn describe(&self) -> Write {
        let column = |&(name, kind): &(&str, Kind)| (name.to_owned(), kind);
        Write {
            table: self.table.to_owned(),
            columns: self.columns.iter().map(column).collect(),
            scope: self.scope,
            moment: self.moment,
        }
    }

    const fn is(&self, other: &Self) -> bool {
        let (name, other_name) = (self.table.as_bytes(), other.table.as_bytes());
        if name.len() != other_name.len() {
            return false;
        }
        let mut at = 0;
        while at < name.len() {
            if name[at] != other_name[at] {
                return false;
            }
            at += 1;
        }
        self.scope as u8 == other.scope as u8 && self.moment as u8 == other.moment as u8
    }
}

/// All rows that a part may write: a [`Written`] type, a tuple of up to four, or
/// `()` for a balance part that writes nothing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what a part writes",
    note = "write a type with #[derive(Written)], or a tuple of up to four of them"
)]
pub trait Writes {
    /// Where they are written, in the order of their numbers.
    const WRITES: &'static [WrittenTable];
}

impl<W: Written> Writes for W {
    const WRITES: &'static [WrittenTable] = &[W::TABLE];
}

impl Writes for () {
    const WRITES: &'static [WrittenTable] = &[];
}

macro_rules! writes_of_tuple {
    ($($written:ident),*) => {
        impl<$($written: Written),*> Writes for ($($written,)*) {
            const WRITES: &'static [WrittenTable] = &[$($written::TABLE),*];
        }
    };
}

writes_of_tuple!(A);
writes_of_tuple!(A, B);
writes_of_tuple!(A, B, C);
writes_of_tuple!(A, B, C, D);

/// The number of a table among those that a part writes, worked out by the
/// compiler.
pub(crate) const fn number(writes: &[WrittenTable], table: &WrittenTable) -> u32 {
    let mut number = 0;
    while number < writes.len() {
        if writes[number].is(table) {
            return number as u32;
        }
        number += 1;
    }
    panic!("a row of this type is written, and the type is not among the part's `Writes`")
}

/// Is no table among these twice, with the same scope and moment?
pub(crate) const fn distinct(writes: &[WrittenTable]) -> bool {
    let mut number = 0;
    while number < writes.len() {
        let mut earlier = 0;
        while earlier < number {
            if writes[earlier].is(&writes[number]) {
                return false;
            }
            earlier += 1;
        }
        number += 1;
    }
    true
}
