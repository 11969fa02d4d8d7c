//! One call: the values that the runtime sent, and where each column begins.
//!
//! Lengths are checked once, when a call is opened; after that every column is a
//! slice of exactly as many values as its table has rows, so that a loop over
//! rows compiles to loads.

use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use crate::cell::Cell;
use crate::contract::{Kind, Problem, Tables};
use crate::reads::{Plan, TablePlan, UseNumber};
use crate::row::Row;

/// The values of one call, laid out by the plan of the part that is called.
pub struct Call {
    tables: Arc<Tables>,
    plan: Arc<Plan>,
    /// Where the columns of each table begin.
    starts: Vec<Start>,
}

/// Positions in the lists: those columns of a table that stand there follow one another.
struct Start {
    integers: usize,
    numbers: usize,
}

impl Call {
    /// Lays out the values.
    ///
    /// # Errors
    ///
    /// [`Problem::Failed`] if they are not the tables of the plan: other counts
    /// of tables, integers or numbers.
    pub fn open(plan: &Arc<Plan>, tables: Arc<Tables>) -> Result<Rc<Self>, Problem> {
        if tables.rows.len() != plan.layout.len() {
            return Err(misfit("tables", tables.rows.len(), plan.layout.len()));
        }
        let mut integers: usize = 0;
        let mut numbers: usize = 0;
        let start = |(table, &rows): (&TablePlan, &u32)| {
            if let Some(parent) = table.parent {
                let offsets = (tables.rows[parent] as usize).saturating_add(1);
                integers = integers.saturating_add(offsets);
            }
            let start = Start { integers, numbers };
            let rows = rows as usize;
            integers = integers.saturating_add(rows.saturating_mul(table.integers));
            numbers = numbers.saturating_add(rows.saturating_mul(table.numbers));
            start
        };
        let starts = plan.layout.iter().zip(&tables.rows).map(start).collect();
        if integers != tables.integers.len() {
            return Err(misfit("integers", tables.integers.len(), integers));
        }
        if numbers != tables.numbers.len() {
            return Err(misfit("numbers", tables.numbers.len(), numbers));
        }
        Ok(Rc::new(Self {
            tables,
            plan: Arc::clone(plan),
            starts,
        }))
    }

    /// How many rows the table of this use has.
    #[inline(always)]
    pub fn rows(&self, number: UseNumber) -> usize {
        self.tables.rows[self.plan.uses[number].table] as usize
    }

    /// Has any table nested in the table of this use a row?
    pub fn has_nested_rows(&self, number: UseNumber) -> bool {
        let children = &self.plan.uses[number].children;
        children.iter().any(|&child| self.rows(child) > 0)
    }

    /// The column of a field, by its number among the columns of this use.
    #[inline(always)]
    pub fn column<C: Cell>(self: &Rc<Self>, number: UseNumber, field: usize) -> C::Column<'_> {
        let of_use = &self.plan.uses[number];
        let rows = self.tables.rows[of_use.table] as usize;
        let start = &self.starts[of_use.table];
        let first = match C::KIND {
            Kind::Number => start.numbers,
            Kind::Integer | Kind::Boolean | Kind::Text => start.integers,
        };
        C::column(ColumnPlace {
            call: self,
            start: first + of_use.columns[field] * rows,
            rows,
        })
    }

    /// The nested table of a field, by its number among the tables of this use.
    pub fn child<R>(self: &Rc<Self>, number: UseNumber, field: usize) -> ChildTable<'_, R> {
        let child = self.plan.uses[number].children[field];
        // The offsets stand before the columns.
        let end = self.starts[self.plan.uses[child].table].integers;
        let start = end - (self.rows(number) + 1);
        ChildTable {
            call: self,
            number: child,
            rows: self.rows(child),
            offsets: &self.tables.integers[start..end],
            of: PhantomData,
        }
    }

    /// One row of the table of this use.
    ///
    /// # Errors
    ///
    /// [`Problem::Failed`] if there is no such row.
    pub fn row<R: Row>(self: &Rc<Self>, number: UseNumber, row: usize) -> Result<R, Problem> {
        let rows = self.rows(number);
        if row >= rows {
            let table = self.table_name(number);
            return Err(Problem::failed(format!(
                "table `{table}` has {rows} rows, and row {row} was asked for"
            )));
        }
        Ok(R::read(&R::columns(self, number), row))
    }

    /// The name of the table of this use.
    pub fn table_name(&self, number: UseNumber) -> &str {
        &self.plan.tables()[self.plan.uses[number].table].table
    }

    /// The plan by which this call is laid out.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// A text of the call's dictionary; a code that is not in it is empty.
    #[inline(always)]
    pub(crate) fn text(&self, code: i64) -> &str {
        let index = usize::try_from(code).unwrap_or(usize::MAX);
        self.tables.texts.get(index).map_or("", String::as_str)
    }

    /// How many rows `members` has; 0 where it is not declared.
    pub(crate) fn members(&self) -> usize {
        let rows = |table: usize| self.tables.rows[table] as usize;
        self.plan.members.map_or(0, rows)
    }

    /// The time, if the part reads `request.now` and the runtime knows it.
    pub(crate) fn now(&self) -> Option<i64> {
        let (table, column) = self.plan.now?;
        let start = self.starts[table].integers + column * self.tables.rows[table] as usize;
        let absent = u32::try_from(start).is_ok_and(|at| {
            let positions = &self.tables.absent_integers;
            positions.binary_search(&at).is_ok()
        });
        (self.tables.rows[table] > 0 && !absent).then(|| self.tables.integers[start])
    }
}

#[cold]
fn misfit(what: &str, sent: usize, declared: usize) -> Problem {
    Problem::failed(format!(
        "the call holds {sent} {what} where the part declared {declared}"
    ))
}

/// Where one column lies.
#[derive(Clone, Copy)]
pub struct ColumnPlace<'a> {
    call: &'a Rc<Call>,
    start: usize,
    rows: usize,
}

impl<'a> ColumnPlace<'a> {
    /// The call that the column belongs to.
    #[inline(always)]
    pub fn call(&self) -> &'a Rc<Call> {
        self.call
    }

    /// The values of a column of kind integer, boolean or text.
    #[inline(always)]
    pub fn integers(&self) -> &'a [i64] {
        &self.call.tables.integers[self.start..self.start + self.rows]
    }

    /// The values of a column of kind number.
    #[inline(always)]
    pub fn numbers(&self) -> &'a [f64] {
        &self.call.tables.numbers[self.start..self.start + self.rows]
    }

    /// Which rows have no value, for a column of kind integer, boolean or text.
    #[inline(always)]
    pub fn absent_integers(&self) -> Absent<'a> {
        self.absent(&self.call.tables.absent_integers)
    }

    /// Which rows have no value, for a column of kind number.
    #[inline(always)]
    pub fn absent_numbers(&self) -> Absent<'a> {
        self.absent(&self.call.tables.absent_numbers)
    }

    #[inline(always)]
    fn absent(&self, positions: &'a [u32]) -> Absent<'a> {
        let mut within = positions;
        if !positions.is_empty() {
            let first = positions.partition_point(|&at| (at as usize) < self.start);
            let end = positions.partition_point(|&at| (at as usize) < self.start + self.rows);
            within = &positions[first..end.max(first)];
        }
        Absent {
            positions: within,
            start: self.start,
            all: within.len() == self.rows,
        }
    }
}

/// The rows of one column that hold no value.
#[derive(Clone, Copy)]
pub struct Absent<'a> {
    positions: &'a [u32],
    start: usize,
    all: bool,
}

impl Absent<'_> {
    /// Does this row hold no value? One comparison where every row holds one, or
    /// none does; otherwise a binary search.
    #[inline(always)]
    pub fn has(&self, row: usize) -> bool {
        if self.positions.is_empty() {
            return false;
        }
        self.all || self.search(row)
    }

    #[inline(never)]
    fn search(&self, row: usize) -> bool {
        let position = self.start + row;
        (self.positions)
            .binary_search_by(|&at| (at as usize).cmp(&position))
            .is_ok()
    }
}

/// A nested table of rows `R`, seen from its parent: which of its rows belong to which.
pub struct ChildTable<'a, R> {
    call: &'a Rc<Call>,
    number: UseNumber,
    rows: usize,
    offsets: &'a [i64],
    of: PhantomData<R>,
}

impl<'a, R> ChildTable<'a, R> {
    /// The call, the use of the nested row type, and the numbers of the rows that
    /// belong to this row of the parent: the first and how many.
    #[inline(always)]
    pub fn of_row(&self, row: usize) -> (&'a Rc<Call>, UseNumber, usize, usize) {
        let [first, end] = [self.offsets[row], self.offsets[row + 1]];
        let (first, end) = (first as usize, (end as usize).min(self.rows));
        (self.call, self.number, first, end.saturating_sub(first))
    }

    /// How many rows belong to each row of the parent, if that is one number for all.
    pub fn width(&self) -> Option<usize> {
        let (first, rest) = self.offsets.split_first()?;
        let width = rest.first()? - first;
        let mut expected = 0;
        let is_regular = self.offsets.iter().all(|offset| {
            let is_expected = *offset == expected;
            expected += width;
            is_expected
        });
        let is_whole = self.offsets.last() == Some(&(self.rows as i64));
        (is_regular && is_whole).then_some(width as usize)
    }

    /// Its columns, of all rows of the parent.
    #[inline(always)]
    pub fn columns(&self) -> R::Columns<'a>
    where
        R: Row,
    {
        R::columns(self.call, self.number)
    }
}
