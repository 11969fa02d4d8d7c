//! Rows: structs whose fields are columns and nested tables.

use std::rc::Rc;

use crate::call::{Call, ChildTable};
use crate::contract::SettingColumn;
use crate::reads::{TableReads, UseNumber};
use crate::rows::Rows;

/// What a part reads of one row of a table. Written with `#[derive(Row)]`.
///
/// A field is the column of its name, `_` read as `-`, or the one given by
/// `#[column("memory.free")]`; `#[column("pinning", gate)]` marks a gate. Its
/// type is a [`Cell`](crate::cell::Cell): with `Option` the value may be absent,
/// without it is required. `#[table("vms")] vms: Rows<Vm>` is the table of that
/// name below this one; `Option<Vm>` in place of `Rows<Vm>` is its first row.
///
/// `()` reads nothing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a row of a table",
    note = "write #[derive(Row)] on it"
)]
pub trait Row: Sized {
    /// False only for `()`: the table is not even declared.
    const DECLARED: bool = true;
    /// True if there is no table below.
    const FLAT: bool = true;
    /// True if a row without rows in tables below has to be dropped nevertheless: texts hold
    /// the call.
    const COLUMNS_NEED_DROP: bool = false;
    /// The columns of the fields, borrowed from a call.
    type Columns<'a>;

    /// Declares the fields.
    fn declare(reads: &mut TableReads<'_>);

    /// Finds the columns in a call, by the number that the declaration got.
    fn columns(call: &Rc<Call>, number: UseNumber) -> Self::Columns<'_>;

    /// Reads one row, which is below the number of rows of the table.
    fn read(columns: &Self::Columns<'_>, row: usize) -> Self;

    /// Reads one row where no table below has any.
    #[inline(always)]
    fn read_without_nested(columns: &Self::Columns<'_>, row: usize) -> Self {
        Self::read(columns, row)
    }

    /// The same row once more (rows need not be `Clone`).
    fn duplicate(&self) -> Self;

    /// The columns as they are described to an admin, where the rows are those
    /// of a setting that is a table; a field's doc comment is its meaning.
    fn setting_columns() -> Vec<SettingColumn> {
        Vec::new()
    }
}

impl Row for () {
    const DECLARED: bool = false;
    type Columns<'a> = ();

    fn declare(_: &mut TableReads<'_>) {}

    #[inline]
    fn columns(_: &Rc<Call>, _: UseNumber) {}

    #[inline]
    fn read((): &(), _: usize) {}

    fn duplicate(&self) {}
}

/// What a field with `#[table]` in a row may be: [`Rows`], or `Option` of a row
/// for a table of which only the first row is of interest.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a nested table",
    note = "write Rows<R> or Option<R>, where R has #[derive(Row)]"
)]
pub trait Nested: Sized {
    /// A row of the table.
    type Row: Row;

    /// Declares the table.
    fn declare(reads: &mut TableReads<'_>, name: &str);

    /// The part of the table that belongs to one row of its parent.
    fn at(table: &ChildTable<'_, Self::Row>, row: usize) -> Self;

    /// What belongs to a row of the parent where the table has no rows.
    fn none() -> Self;

    /// The same once more.
    fn duplicate(&self) -> Self;
}

impl<R: Row> Nested for Rows<R> {
    type Row = R;

    fn declare(reads: &mut TableReads<'_>, name: &str) {
        reads.child::<R>(name);
    }

    #[inline(always)]
    fn at(table: &ChildTable<'_, R>, row: usize) -> Self {
        let (call, number, first, count) = table.of_row(row);
        Rows::of_call(call, number, first, count)
    }

    #[inline(always)]
    fn none() -> Self {
        Self::default()
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }
}

impl<R: Row> Nested for Option<R> {
    type Row = R;

    fn declare(reads: &mut TableReads<'_>, name: &str) {
        reads.child::<R>(name);
    }

    fn at(table: &ChildTable<'_, R>, row: usize) -> Self {
        let (call, number, first, count) = table.of_row(row);
        (count > 0 && first < call.rows(number)).then(|| R::read(&R::columns(call, number), first))
    }

    #[inline(always)]
    fn none() -> Self {
        None
    }

    fn duplicate(&self) -> Self {
        self.as_ref().map(R::duplicate)
    }
}
