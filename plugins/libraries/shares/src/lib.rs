//! Chances of hosts, step by step: what `equal-shares`, `least-used`, `priority`,
//! `failure-penalty` and `cost` have in common. They differ in one formula each.
//!
//! Candidates stand in groups, best group first; inside a group each has a share of
//! chance. A step sees whole groups and makes new groups or new shares, by these
//! rules:
//!
//! - a share is not less than nothing, and those of a group are rescaled to 1;
//! - nothing stays nothing: who has no chance does not come back;
//! - a change that would leave a whole group without chance is skipped there.
//!
//! [`candidates`] has the steps, [`accounts`] says which hosts are of one account,
//! [`weights`] what an account is to get, and [`preference`] how a step prefers
//! candidates by a number of theirs.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod accounts;
pub mod candidates;
pub mod preference;
pub mod unit;
pub mod weights;

pub use candidates::{Candidate, Candidates, Standing};
pub use unit::Unit;
pub use weights::{Weight, Weights};

#[cfg(test)]
mod tests;
