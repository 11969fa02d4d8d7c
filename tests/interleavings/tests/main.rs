//! Reloads, edits, decisions and what becomes of reservations, in orders that shuttle
//! draws: deployment, library, store, units and SQLite are the real ones, and only what
//! their threads share is shuttle's.
//!
//! ```text
//! cargo test --workspace --features placewright-interleavings/shuttle --test interleavings
//! ```
//!
//! A failure prints the schedule that led to it; with that text in the variable
//! `SCHEDULE` the test runs this one again. `ITERATIONS` says how many are tried.

mod explore;
mod keys;
mod reservations;
mod rules;
mod units;
mod world;
