//! Behaviour, claim by claim.

mod bad_bytes;
mod bad_calls;
mod bad_documents;
mod bad_parts;
mod balancing;
mod batch_search;
mod batches;
mod conformance;
mod decisions;
mod drift;
mod effects;
mod explain_parts;
mod ganeti;
mod gpus;
mod layering;
mod named_amounts;
mod probing;
mod python;
mod questions;
mod reload;
mod replay;
mod reuse;
mod selections;
mod server;
mod unsound_parts;
