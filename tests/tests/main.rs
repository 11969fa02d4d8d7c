//! Behaviour, claim by claim.

mod bad_bytes;
mod bad_calls;
mod bad_documents;
mod bad_parts;
mod conformance;
mod decisions;
mod drift;
mod layering;
mod named_amounts;
mod probing;
mod replay;
