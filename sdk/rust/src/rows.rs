//! Tables as a part sees them: rows by number, read when they are asked for.

use std::fmt;
use std::rc::Rc;
use std::slice;

use crate::call::Call;
use crate::reads::UseNumber;
use crate::row::Row;

/// Rows of a table: all of them, or those that belong to one row of the parent.
///
/// Holds the call rather than the rows: cloning is cheap, and a row is read from
/// its columns when it is asked for. Tests make their own from rows:
/// `vec![Vm { .. }].into()`.
pub struct Rows<R>(Source<R>);

enum Source<R> {
    /// No rows: of a relation, most hosts have none, so this is made without
    /// touching the call's count of references.
    Empty,
    Call {
        call: Rc<Call>,
        number: UseNumber,
        first: usize,
        count: usize,
    },
    Own(Rc<[R]>),
}

impl<R: Row> Rows<R> {
    #[inline(always)]
    pub(crate) fn of_call(call: &Rc<Call>, number: UseNumber, first: usize, count: usize) -> Self {
        if count == 0 {
            return Self(Source::Empty);
        }
        Self(Source::Call {
            call: Rc::clone(call),
            number,
            first,
            count,
        })
    }

    /// How many rows there are.
    #[inline(always)]
    pub fn len(&self) -> usize {
        match &self.0 {
            Source::Empty => 0,
            Source::Call { count, .. } => *count,
            Source::Own(rows) => rows.len(),
        }
    }

    /// Is there no row?
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The row of this number among these rows, counted from 0.
    pub fn get(&self, row: usize) -> Option<R> {
        match &self.0 {
            Source::Empty => None,
            Source::Call {
                call,
                number,
                first,
                count,
            } => (row < *count).then(|| R::read(&R::columns(call, *number), first + row)),
            Source::Own(rows) => rows.get(row).map(R::duplicate),
        }
    }

    /// The rows, in order.
    #[inline(always)]
    pub fn iter(&self) -> Iter<'_, R> {
        Iter(match &self.0 {
            Source::Empty => Cursor::Own([].iter()),
            Source::Call {
                call,
                number,
                first,
                count,
            } => Cursor::Call {
                columns: R::columns(call, *number),
                next: *first,
                end: first + count,
            },
            Source::Own(rows) => Cursor::Own(rows.iter()),
        })
    }

    /// The columns of these rows in the order of the fields, if they are all rows of the
    /// table in a call: for a rule that looks at all of them column by column.
    #[inline(always)]
    pub fn columns(&self) -> Option<R::Columns<'_>> {
        match &self.0 {
            Source::Call {
                call,
                number,
                count,
                ..
            } if *count == call.rows(*number) => Some(R::columns(call, *number)),
            _ => None,
        }
    }

    /// The rows with their numbers in the whole table of the call, as proposals
    /// need them.
    pub fn numbered(&self) -> impl Iterator<Item = (u32, R)> {
        let first = match &self.0 {
            Source::Call { first, .. } => *first,
            Source::Empty | Source::Own(_) => 0,
        };
        // The contract counts rows in 32 bits.
        (first as u32..).zip(self.iter())
    }
}

impl<R> Clone for Rows<R> {
    #[inline(always)]
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Source::Empty => Source::Empty,
            Source::Call {
                call,
                number,
                first,
                count,
            } => Source::Call {
                call: Rc::clone(call),
                number: *number,
                first: *first,
                count: *count,
            },
            Source::Own(rows) => Source::Own(Rc::clone(rows)),
        })
    }
}

impl<R> Default for Rows<R> {
    fn default() -> Self {
        Self(Source::Empty)
    }
}

impl<R> From<Vec<R>> for Rows<R> {
    fn from(rows: Vec<R>) -> Self {
        Self(Source::Own(rows.into()))
    }
}

impl<R> FromIterator<R> for Rows<R> {
    fn from_iter<I: IntoIterator<Item = R>>(rows: I) -> Self {
        Self(Source::Own(rows.into_iter().collect()))
    }
}

impl<R: Row + PartialEq> PartialEq for Rows<R> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<R: Row + fmt::Debug> fmt::Debug for Rows<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl<'a, R: Row> IntoIterator for &'a Rows<R> {
    type Item = R;
    type IntoIter = Iter<'a, R>;

    fn into_iter(self) -> Iter<'a, R> {
        self.iter()
    }
}

/// The rows of [`Rows`], one after the other.
pub struct Iter<'a, R: Row>(Cursor<'a, R>);

enum Cursor<'a, R: Row> {
    Call {
        columns: R::Columns<'a>,
        next: usize,
        end: usize,
    },
    Own(slice::Iter<'a, R>),
}

impl<R: Row> Iterator for Iter<'_, R> {
    type Item = R;

    #[inline(always)]
    fn next(&mut self) -> Option<R> {
        match &mut self.0 {
            Cursor::Call { columns, next, end } => {
                if *next >= *end {
                    return None;
                }
                let row = R::read(columns, *next);
                *next += 1;
                Some(row)
            }
            Cursor::Own(rows) => rows.next().map(R::duplicate),
        }
    }

    /// Internal iteration matches once, not for every row.
    #[inline(always)]
    fn fold<B, F: FnMut(B, R) -> B>(self, init: B, mut f: F) -> B {
        match self.0 {
            Cursor::Call { columns, next, end } => {
                let mut sum = init;
                for row in next..end {
                    sum = f(sum, R::read(&columns, row));
                }
                sum
            }
            Cursor::Own(rows) => rows.map(R::duplicate).fold(init, f),
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = match &self.0 {
            Cursor::Call { next, end, .. } => end - next,
            Cursor::Own(rows) => rows.len(),
        };
        (count, Some(count))
    }
}

impl<R: Row> ExactSizeIterator for Iter<'_, R> {}
