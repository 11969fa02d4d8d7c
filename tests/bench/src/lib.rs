//! The benchmarks of units and chains are in `benches/`: `cargo bench -p placewright-bench`.
//!
//! The native twins that Wasm units are measured against are dev-dependencies of this package
//! alone, so that no test of the host compiles them.
