//! Headers that a collector asks for, such as a token, in a file of their own.

use ureq::http::{HeaderName, HeaderValue};

/// Why a file has no headers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is no header: write NAME: VALUE")]
pub struct HeadersError {
    /// From 1.
    pub line: usize,
}

/// Read headers: one a line, as `authorization: Bearer SECRET`. Empty lines, and those that
/// begin with `#`, say nothing.
///
/// # Errors
/// If a line is no header. The sentence has nothing of what it says, which may be a secret.
pub fn read_headers(text: &str) -> Result<Vec<(String, String)>, HeadersError> {
    let lines = (1..).zip(text.lines().map(str::trim));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|(number, line)| header(line).ok_or(HeadersError { line: number }))
        .collect()
}

fn header(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once(':')?;
    let name: HeaderName = name.trim().parse().ok()?;
    let value = value.trim();
    HeaderValue::from_str(value).ok()?;
    (!value.is_empty()).then(|| (name.to_string(), value.to_owned()))
}
