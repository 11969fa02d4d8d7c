//! The types that a field of a row may have, and how each reads its column.

use std::rc::Rc;

use crate::amounts::{Bytes, Millicores, Seconds};
use crate::call::{Absent, Call, ColumnPlace};
use crate::contract::{Kind, Value};
use crate::text::Text;

/// A type of which a column can hold values.
///
/// Implemented for `i64`, `f64`, `bool`, [`Bytes`], [`Millicores`], [`Seconds`],
/// [`Text`], and `Option` of these for values that may be absent.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a type that a column can hold",
    note = "columns hold i64, f64, bool, Bytes, Millicores, Seconds, Text, or Option of these; \
            a nested table is written #[table(\"name\")] field: Rows<R>"
)]
pub trait Cell: Clone {
    /// How the values are carried.
    const KIND: Kind;
    /// Is a row without this value kept from the part?
    const REQUIRED: bool = true;
    /// The unit of measure, as the schema names it, if the type has one.
    const MEASURE: Option<&'static str> = None;
    /// The values of a column, borrowed from the call.
    type Column<'a>;

    /// The column at this place.
    fn column(place: ColumnPlace<'_>) -> Self::Column<'_>;

    /// The value in this row, which is below the number of rows of the column.
    fn at(column: &Self::Column<'_>, row: usize) -> Self;

    /// Which rows of the column hold no value.
    #[inline(always)]
    fn absent(place: ColumnPlace<'_>) -> Absent<'_> {
        place.absent_integers()
    }

    /// The value as it is written; none = absent.
    fn written(self) -> Option<Value>;
}

impl Cell for i64 {
    const KIND: Kind = Kind::Integer;
    type Column<'a> = &'a [i64];

    #[inline(always)]
    fn column(place: ColumnPlace<'_>) -> &[i64] {
        place.integers()
    }

    #[inline(always)]
    fn at(column: &&[i64], row: usize) -> Self {
        column[row]
    }

    fn written(self) -> Option<Value> {
        Some(self.into())
    }
}

impl Cell for f64 {
    const KIND: Kind = Kind::Number;
    type Column<'a> = &'a [f64];

    #[inline(always)]
    fn column(place: ColumnPlace<'_>) -> &[f64] {
        place.numbers()
    }

    #[inline(always)]
    fn at(column: &&[f64], row: usize) -> Self {
        column[row]
    }

    #[inline(always)]
    fn absent(place: ColumnPlace<'_>) -> Absent<'_> {
        place.absent_numbers()
    }

    fn written(self) -> Option<Value> {
        Some(self.into())
    }
}

impl Cell for bool {
    const KIND: Kind = Kind::Boolean;
    type Column<'a> = &'a [i64];

    #[inline(always)]
    fn column(place: ColumnPlace<'_>) -> &[i64] {
        place.integers()
    }

    #[inline(always)]
    fn at(column: &&[i64], row: usize) -> Self {
        column[row] != 0
    }

    fn written(self) -> Option<Value> {
        Some(self.into())
    }
}

macro_rules! amount_cell {
    ($($amount:ident: $measure:literal),*) => {$(
        impl Cell for $amount {
            const KIND: Kind = Kind::Integer;
            const MEASURE: Option<&'static str> = Some($measure);
            type Column<'a> = &'a [i64];

            #[inline(always)]
            fn column(place: ColumnPlace<'_>) -> &[i64] {
                place.integers()
            }

            #[inline(always)]
            fn at(column: &&[i64], row: usize) -> Self {
                Self(column[row])
            }

            fn written(self) -> Option<Value> {
                Some(self.into())
            }
        }
    )*};
}

amount_cell!(Bytes: "bytes", Millicores: "millicores", Seconds: "seconds");

impl Cell for Text {
    const KIND: Kind = Kind::Text;
    type Column<'a> = (&'a Rc<Call>, &'a [i64]);

    #[inline(always)]
    fn column(place: ColumnPlace<'_>) -> Self::Column<'_> {
        (place.call(), place.integers())
    }

    #[inline(always)]
    fn at(&(call, codes): &Self::Column<'_>, row: usize) -> Self {
        Self::of_call(call, codes[row])
    }

    fn written(self) -> Option<Value> {
        Some(self.into())
    }
}

impl<C: Cell> Cell for Option<C> {
    const KIND: Kind = C::KIND;
    const REQUIRED: bool = false;
    const MEASURE: Option<&'static str> = C::MEASURE;
    type Column<'a> = (C::Column<'a>, Absent<'a>);

    #[inline(always)]
    fn column(place: ColumnPlace<'_>) -> Self::Column<'_> {
        (C::column(place), C::absent(place))
    }

    #[inline(always)]
    fn at((column, absent): &Self::Column<'_>, row: usize) -> Self {
        if absent.has(row) {
            None
        } else {
            Some(C::at(column, row))
        }
    }

    fn written(self) -> Option<Value> {
        self.and_then(C::written)
    }
}
