//! Placewright: a host for policy units that place virtual machines.
//!
//! The way of the data, from left to right; a module uses only what stands to the
//! left of it:
//!
//! ```text
//! model ─► contract ─► engine ─► unit ─► library ──► chain ─► scheduler ─► questions ─► simulate ─► bench, cli
//!   └────► document ─► policy ────────────────────────┘ ▲      └─► deployment ─► api ─► cli
//!   └────► inventory ───────────────────────────────────┘ store ─────┤
//!                                                        telemetry ──┘
//! ```
//!
//! - [`model`]: plain data, and the schema of every table and column.
//! - [`contract`]: the WIT's types in Rust, the only place that mirrors `wit/`.
//! - [`engine`]: the Wasmtime engine, its limits, compiled code on disk.
//! - [`mod@unit`]: a loaded component and its calls.
//! - [`library`]: an immutable set of units, how files become the next one while the
//!   program runs, and the probes of `unit check`.
//! - [`document`], [`policy`]: what people write, with a place for every problem.
//! - [`inventory`]: the state of one cluster, in columns, with its past.
//! - [`chain`]: a policy made runnable; pure.
//! - [`scheduler`]: one decision after the other, with reservations.
//! - [`questions`]: why, why not, what if; asked of copies.
//! - `ownership`: whether a folder is this user's own.
//! - `sync`: what threads share, swapped in tests of their interleavings.
//! - [`store`]: what must last of a running deployment, in one file.
//! - [`telemetry`]: the metrics of a server, and its log.
//! - [`audit`]: who changed what, in a file of its own.
//! - [`deployment`]: what decides while a server lives.
//! - [`api`]: the HTTP API.
//! - [`simulate`]: traces of VMs, replayed on a fleet.
//! - [`bench`]: what a unit costs, measured.
//! - [`plugins`]: the units and policies that come with the program.
//! - [`ovirt`]: scheduling policies of oVirt, carried over.
//! - [`scenario`]: small clusters and requests, with what is expected of a unit.

#![forbid(unsafe_code)]

pub use placewright_api as api;
pub use placewright_build as build;
pub use placewright_build::project;
pub use placewright_chain as chain;
pub use placewright_deployment as deployment;
pub use placewright_document as document;
pub use placewright_engine as engine;
pub use placewright_engine::contract;
pub use placewright_engine::generation;
pub use placewright_engine::unit;
pub use placewright_inventory as inventory;
pub use placewright_library as library;
pub use placewright_model as model;
pub use placewright_ownership as ownership;
pub use placewright_plugins as plugins;
pub use placewright_policy as policy;
pub use placewright_records::audit;
pub use placewright_records::telemetry;
pub use placewright_scheduler as scheduler;
pub use placewright_scheduler::questions;
pub use placewright_store as store;
pub use placewright_sync as sync;
pub use placewright_tools::bench;
pub use placewright_tools::ganeti;
pub use placewright_tools::ovirt;
pub use placewright_tools::scenario;
pub use placewright_tools::simulate;
