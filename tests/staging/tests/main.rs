//! How a component becomes a unit or is refused: bytes, descriptions, documents, probes, reloads.

mod bad_bytes;
mod bad_descriptions;
mod bad_documents;
mod probing;
mod reload;
