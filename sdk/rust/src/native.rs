//! A unit called as plain Rust, by the same code as in a component.
//!
//! `export!` puts `pub fn native_unit() -> &'static dyn NativeUnit` beside the
//! unit, on every target. Several units can be linked into one program.

use std::sync::Arc;

use crate::contract::{
    Answers, Change, Description, Fact, Judgement, Problem, Proposal, Shares, Tables, Turns,
};

/// The tables of a call, to be evaluated as often as one likes without copying.
#[derive(Clone)]
pub struct Call(Arc<Tables>);

impl Call {
    /// Takes the tables, which are those that the part to be called declared.
    pub fn new(tables: Tables) -> Self {
        Self(Arc::new(tables))
    }

    /// The tables.
    pub fn tables(&self) -> &Arc<Tables> {
        &self.0
    }
}

/// What `export!` makes of an author's type: the exports of a unit.
///
/// Each function answers as the export of the same name does. Parts that the
/// unit does not have fail.
pub trait NativeUnit: Sync {
    /// Says what the unit is.
    fn describe(&self) -> Description;

    /// Filters, prices, or both.
    ///
    /// # Errors
    ///
    /// What the author's functions return; [`Problem::Failed`] if the tables are
    /// not those that the part declared.
    fn judge(&self, want: Answers, call: &Call) -> Result<Judgement, Problem> {
        let _ = (want, call);
        Err(Problem::failed(
            "the unit has no filter and no cost function",
        ))
    }

    /// Refines candidates.
    ///
    /// # Errors
    ///
    /// As [`NativeUnit::judge`].
    fn refine(&self, call: &Call) -> Result<Shares, Problem> {
        let _ = call;
        Err(Problem::failed("the unit has no selection"))
    }

    /// Says what follows from a placement.
    ///
    /// # Errors
    ///
    /// As [`NativeUnit::judge`].
    fn placed(&self, call: &Call) -> Result<Vec<Change>, Problem> {
        let _ = call;
        Err(Problem::failed("the unit has no effects part"))
    }

    /// Proposes.
    ///
    /// # Errors
    ///
    /// As [`NativeUnit::judge`].
    fn balance(&self, call: &Call) -> Result<Vec<Proposal>, Problem> {
        let _ = call;
        Err(Problem::failed("the unit has no balance part"))
    }

    /// Puts a batch in order.
    ///
    /// # Errors
    ///
    /// As [`NativeUnit::judge`].
    fn order(&self, call: &Call) -> Result<Turns, Problem> {
        let _ = call;
        Err(Problem::failed("the unit has no order part"))
    }

    /// Tells the values behind a judgement.
    ///
    /// # Errors
    ///
    /// As [`NativeUnit::judge`].
    fn explain(&self, call: &Call) -> Result<Vec<Fact>, Problem> {
        let _ = call;
        Err(Problem::failed("the unit has no explain part"))
    }

    /// Checks settings against each other.
    ///
    /// # Errors
    ///
    /// A sentence that says what is wrong.
    fn check(&self, settings: &Call) -> Result<(), String> {
        let _ = settings;
        Ok(())
    }
}
