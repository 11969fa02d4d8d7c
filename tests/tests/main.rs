//! The repository itself: its crates, its components, and the runner for test vectors.

mod conformance;
mod drift;
mod workspace;
