//! Measures what a unit costs: to load, to call, and in a chain that keeps answers from
//! decision to decision; beside the limits in force.
//!
//! Instructions and rows come out the same on every machine; times do not, and are
//! given with their spread. Two versions of a unit are called in turn, so that what
//! else the machine does meanwhile bears on both alike.

mod calls;
mod limits;
mod load;
mod quartiles;
mod report;
mod subject;
mod trace;

pub use calls::{CallCost, Calls, Series, Situation};
pub use limits::LimitShown;
pub use load::{LoadCost, Loaded, MeasureError, load};
pub use quartiles::Quartiles;
pub use report::{Compared, Report, UnitCost};
pub use subject::BenchQuestionError;
pub use trace::{TraceCost, on_trace};
