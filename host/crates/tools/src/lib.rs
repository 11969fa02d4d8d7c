//! For authors and studies: scenarios, what units cost, replays of traces, imports.
//!
//! Read [`scenario`], [`mod@bench`] and [`simulate`] first: each is a command of the program.

#![forbid(unsafe_code)]

pub mod bench;
pub mod ganeti;
pub mod scenario;
pub mod simulate;
