//! What a part reads besides the hosts it is asked about and the settings.

use std::rc::Rc;

use crate::call::Call;
use crate::contract::Problem;
use crate::reads::{Reads, UseNumber};
use crate::row::Row;
use crate::rows::Rows;

/// What a part reads of the request, its tenant, the cluster and so on.
///
/// A type with `#[derive(Row)]` is a row of `members`: one VM to be placed. If
/// several are placed together, the part is asked once for each; a host is kept
/// if it is kept for all (the first reason counts), and costs are added.
///
/// A struct with `#[derive(Request)]` reads several tables, one per field:
///
/// ```
/// # use placewright_sdk::prelude::*;
/// # #[derive(Row)] struct Vm { memory: Bytes }
/// # #[derive(Row)] struct Now { now: Seconds }
/// # #[derive(Row)] struct Tenant { name: Text }
/// #[derive(Request)]
/// struct Reads {
///     #[table("members")]
///     vms: Rows<Vm>, // all at once; `vm: Vm` = asked once for each
///     #[table("request")]
///     request: Now, // the only row
///     #[table("tenant")]
///     tenant: Option<Tenant>, // the only row, if there is one
/// }
/// ```
///
/// `()` reads nothing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what a part reads",
    note = "write #[derive(Row)] for a row of `members`, or #[derive(Request)] for several tables"
)]
pub trait Request: Sized {
    /// Is the part asked once for each row of `members`?
    const PER_VM: bool;

    /// Declares the tables; returns the number of each field's use.
    fn declare(reads: &mut Reads) -> Vec<UseNumber>;

    /// Reads the tables; `vm` is the row of `members` that is asked for.
    ///
    /// # Errors
    ///
    /// [`Problem::Refused`] if a table that must have a row has none.
    fn read(call: &Rc<Call>, numbers: &[UseNumber], vm: usize) -> Result<Self, Problem>;
}

impl Request for () {
    const PER_VM: bool = false;

    fn declare(_: &mut Reads) -> Vec<UseNumber> {
        Vec::new()
    }

    fn read(_: &Rc<Call>, _: &[UseNumber], _: usize) -> Result<(), Problem> {
        Ok(())
    }
}

/// What a field of a request may be: a row, `Option` of a row, or [`Rows`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a table",
    note = "write R, Option<R> or Rows<R>, where R has #[derive(Row)]"
)]
pub trait TableField: Sized {
    /// Is it a row that must be there?
    const ONE_ROW: bool = false;

    /// Declares the table.
    fn declare(reads: &mut Reads, name: &str) -> UseNumber;

    /// Reads the table, or the given row of it.
    ///
    /// # Errors
    ///
    /// [`Problem::Refused`] if there is no row where there must be one;
    /// [`Problem::Failed`] if there are several where one may be.
    fn read(call: &Rc<Call>, number: UseNumber, row: Option<usize>) -> Result<Self, Problem>;
}

impl<R: Row> TableField for R {
    const ONE_ROW: bool = true;

    fn declare(reads: &mut Reads, name: &str) -> UseNumber {
        reads.table::<R>(name)
    }

    fn read(call: &Rc<Call>, number: UseNumber, row: Option<usize>) -> Result<Self, Problem> {
        match row {
            Some(row) => call.row(number, row),
            None => only_row(call, number)?.ok_or_else(|| {
                let table = call.table_name(number);
                Problem::refused(format!("needs a row of `{table}`, and there is none"))
            }),
        }
    }
}

impl<R: Row> TableField for Option<R> {
    fn declare(reads: &mut Reads, name: &str) -> UseNumber {
        reads.table::<R>(name)
    }

    fn read(call: &Rc<Call>, number: UseNumber, _: Option<usize>) -> Result<Self, Problem> {
        only_row(call, number)
    }
}

impl<R: Row> TableField for Rows<R> {
    fn declare(reads: &mut Reads, name: &str) -> UseNumber {
        reads.table::<R>(name)
    }

    fn read(call: &Rc<Call>, number: UseNumber, _: Option<usize>) -> Result<Self, Problem> {
        Ok(Rows::of_call(call, number, 0, call.rows(number)))
    }
}

fn only_row<R: Row>(call: &Rc<Call>, number: UseNumber) -> Result<Option<R>, Problem> {
    match call.rows(number) {
        0 => Ok(None),
        1 => call.row(number, 0).map(Some),
        rows => Err(Problem::failed(format!(
            "reads one row of `{}`, and there are {rows}",
            call.table_name(number)
        ))),
    }
}
