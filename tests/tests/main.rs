//! The repository itself: its crates, its components, and the runner for test vectors.

mod collections;
mod conformance;
mod drift;
mod workspace;
