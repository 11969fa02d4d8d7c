//! From bytes to a unit in force or a sentence why not, with every step visible.
//!
//! [`Admission`] takes the steps that concern the unit alone: signature, contract,
//! compilation, description, probes. They may run on any thread and change nothing.
//! Those that concern the whole, policies, recorded decisions and the swap, are
//! [`super::live`]'s, which asks whoever runs policies by [`Trials`].

mod admit;
mod report;
mod trials;
mod under_way;

pub use admit::{Admission, Candidate, Examination};
pub use report::{Outcome, Source, Staging, Step, StepOutcome, StepReport};
pub use trials::{Difference, Failure, ReplayReport, Trials};
pub use under_way::UnitStaging;
pub(crate) use under_way::{Shown, UnderWay};
