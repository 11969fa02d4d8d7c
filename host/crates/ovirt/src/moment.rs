//! Times and numbers as oVirt's clients read and write them.

use super::fault::Fault;

/// A time in seconds since 1970-01-01 UTC, as in `2026-03-01T12:00:00Z`.
pub(crate) use placewright_model::rfc3339 as written;

/// A number of a query, if it is given.
///
/// # Errors
/// If it is none.
pub(crate) fn number(name: &str, given: Option<&str>) -> Result<Option<u64>, Fault> {
    let given = given.map(str::trim).filter(|given| !given.is_empty());
    let read = |given: &str| {
        let read = given.parse();
        read.map_err(|_| Fault::syntax(format!("\"{name}\" must be a whole number")))
    };
    given.map(read).transpose()
}
