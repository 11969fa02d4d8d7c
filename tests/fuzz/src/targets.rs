//! The targets, by what they stand on.

pub(crate) mod answers;
pub(crate) mod component;
pub(crate) mod decisions;
pub(crate) mod description;
pub(crate) mod documents;
pub(crate) mod engine;
pub(crate) mod headers;
pub(crate) mod http;
pub(crate) mod imports;
pub(crate) mod store;

/// The text of an input; what is no text is none of the documents' business, since files and
/// bodies are refused before.
fn text(input: &[u8]) -> Option<&str> {
    std::str::from_utf8(input).ok()
}
