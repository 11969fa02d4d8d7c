//! For authors and studies: scenarios, what units cost, replays of traces, imports.

#![forbid(unsafe_code)]

pub mod bench;
pub mod ganeti;
pub mod scenario;
pub mod simulate;
