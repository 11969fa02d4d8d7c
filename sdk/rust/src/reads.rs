//! What a part reads: the declaration that the runtime gets, and the plan by
//! which values are found again in a call.
//!
//! Row types declare tables and columns in the order of their fields. A table
//! that several of them read is declared once, with the columns of all; each use
//! of a row type remembers which of the columns are its own.

use std::sync::Arc;

use crate::cell::Cell;
use crate::contract::{self, ColumnRead, Kind, Problem, TableRead};
use crate::request::Request;
use crate::row::Row;
use crate::settings::Settings;

/// The number of one use of a row type on a table, within its part.
pub type UseNumber = usize;

/// One use of a row type on a table.
#[derive(Default)]
pub(crate) struct Use {
    /// Which of the declared tables.
    pub table: usize,
    /// Columns of the fields: numbers inside the table, and in a plan among those that
    /// stand in the same list.
    pub columns: Vec<usize>,
    /// Uses of the nested row types.
    pub children: Vec<UseNumber>,
}

/// The tables that a part reads, while they are being declared.
#[derive(Default)]
pub struct Reads {
    tables: Vec<TableRead>,
    uses: Vec<Use>,
}

impl Reads {
    /// Declares that rows of this type are read from the table, its parents
    /// included.
    pub fn table<R: Row>(&mut self, name: &str) -> UseNumber {
        let table = self.table_number(name);
        let number = self.uses.len();
        self.uses.push(Use {
            table,
            ..Use::default()
        });
        R::declare(&mut TableReads {
            reads: self,
            number,
        });
        number
    }

    fn table_number(&mut self, name: &str) -> usize {
        if let Some(number) = self.tables.iter().position(|table| table.table == name) {
            return number;
        }
        if let Some((parent, _)) = name.rsplit_once('/') {
            self.table_number(parent);
        }
        self.tables.push(TableRead {
            table: name.to_owned(),
            columns: Vec::new(),
        });
        self.tables.len() - 1
    }
}

/// The fields that one row type reads from one table, while they are being
/// declared. Fields are numbered in the order of the calls, columns and nested
/// tables each on their own.
pub struct TableReads<'a> {
    reads: &'a mut Reads,
    number: UseNumber,
}

impl TableReads<'_> {
    /// Declares a column. One that is declared already is shared; it is required
    /// or a gate if any declaration says so. (Where the kinds differ, both stay,
    /// and the runtime refuses the one that is not in its schema.)
    pub fn column<C: Cell>(&mut self, name: &str, gate: bool) {
        let of_use = &mut self.reads.uses[self.number];
        let columns = &mut self.reads.tables[of_use.table].columns;
        let known = columns
            .iter()
            .position(|read| read.column == name && read.kind == C::KIND);
        let column = known.unwrap_or_else(|| {
            columns.push(ColumnRead {
                column: name.to_owned(),
                kind: C::KIND,
                required: false,
                gate: false,
            });
            columns.len() - 1
        });
        columns[column].required |= C::REQUIRED;
        columns[column].gate |= gate;
        of_use.columns.push(column);
    }

    /// Declares a table below this one.
    pub fn child<R: Row>(&mut self, name: &str) {
        let parent = self.reads.uses[self.number].table;
        let name = format!("{}/{name}", self.reads.tables[parent].table);
        let child = self.reads.table::<R>(&name);
        self.reads.uses[self.number].children.push(child);
    }
}

/// How one table lies in a call.
pub(crate) struct TablePlan {
    pub parent: Option<usize>,
    /// How many of its columns stand among the integers, and how many among the numbers.
    pub integers: usize,
    pub numbers: usize,
}

/// All that is worked out once about a part: what it reads and where it lies.
pub struct Plan {
    tables: Vec<TableRead>,
    pub(crate) layout: Vec<TablePlan>,
    pub(crate) uses: Vec<Use>,
    pub(crate) request: Vec<UseNumber>,
    pub(crate) members: Option<usize>,
    pub(crate) hosts: Option<UseNumber>,
    pub(crate) settings: Option<UseNumber>,
    /// Table of `request.now`, and which of its columns among the integers it is.
    pub(crate) now: Option<(usize, usize)>,
}

impl Plan {
    /// The plan of a part that reads this request, `hosts` as rows of this type
    /// (`()` = not at all), and these settings; declared in that order.
    pub fn of<Q: Request, H: Row, S: Settings>() -> Arc<Self> {
        let mut reads = Reads::default();
        let request = Q::declare(&mut reads);
        let hosts = H::DECLARED.then(|| reads.table::<H>("hosts"));
        let settings = S::DECLARED.then(|| reads.table::<S>("settings"));
        let Reads { tables, mut uses } = reads;
        for of_use in &mut uses {
            let read = &tables[of_use.table].columns;
            for column in &mut of_use.columns {
                *column = before_in_list(read, *column);
            }
        }
        Arc::new(Self {
            request,
            members: tables.iter().position(|table| table.table == "members"),
            hosts,
            settings,
            now: now(&tables),
            layout: tables.iter().map(|table| lay(table, &tables)).collect(),
            uses,
            tables,
        })
    }

    /// The tables as they are declared to the runtime.
    pub fn tables(&self) -> &[TableRead] {
        &self.tables
    }

    /// The number of a declared table.
    pub fn table_number(&self, name: &str) -> Option<u32> {
        let number = self.tables.iter().position(|table| table.table == name)?;
        u32::try_from(number).ok()
    }

    /// A row of a declared table, as an answer names it.
    pub(crate) fn row_of(&self, table: &str, row: u32) -> Result<contract::Row, Problem> {
        match self.table_number(table) {
            Some(table) => Ok(contract::Row { table, row }),
            None => Err(Problem::failed(format!(
                "the answer names table `{table}`, which the part does not read"
            ))),
        }
    }
}

fn lay(table: &TableRead, tables: &[TableRead]) -> TablePlan {
    let parent = table.table.rsplit_once('/');
    let numbers = table.columns.iter().filter(|read| is_number(read)).count();
    TablePlan {
        parent: parent.and_then(|(name, _)| tables.iter().position(|t| t.table == name)),
        integers: table.columns.len() - numbers,
        numbers,
    }
}

fn is_number(read: &ColumnRead) -> bool {
    read.kind == Kind::Number
}

/// How many columns before this one stand in the same list.
fn before_in_list(columns: &[ColumnRead], column: usize) -> usize {
    let in_list = |read: &&ColumnRead| is_number(read) == is_number(&columns[column]);
    columns[..column].iter().filter(in_list).count()
}

fn now(tables: &[TableRead]) -> Option<(usize, usize)> {
    let table = tables.iter().position(|table| table.table == "request")?;
    let is_now = |read: &ColumnRead| read.column == "now" && read.kind == Kind::Integer;
    let column = tables[table].columns.iter().position(is_now)?;
    Some((table, before_in_list(&tables[table].columns, column)))
}
