//! How files become the next set of units while the program runs.
//!
//! What a unit says of itself is tried out by [`probe`].
//!
//! ```text
//! folder ─► watch ─► stage (trust, compile, probe, policies, replay) ─► live: the next generation
//! ```
//!
//! Read [`live::Library`], [`stage::Candidate`] and [`watch`] first.

#![forbid(unsafe_code)]

pub mod actor;
pub mod history;
pub mod live;
pub mod probe;
pub mod signature;
pub mod stage;
pub mod trust;
mod verdicts;
pub mod watch;

pub use placewright_engine::generation::{Generation, LibraryError, load_all};
