//! Times and numbers as oVirt's clients read and write them.

use std::time::{Duration, UNIX_EPOCH};

use super::fault::Fault;

/// The last second of the year 9999, after which times are written in another way.
const LAST: u64 = 253_402_300_799;

/// A time in seconds since 1970-01-01 UTC, as in `2026-03-01T12:00:00Z`.
pub(crate) fn written(at: i64) -> String {
    let seconds = u64::try_from(at).unwrap_or(0).min(LAST);
    let moment = UNIX_EPOCH + Duration::from_secs(seconds);
    humantime::format_rfc3339_seconds(moment).to_string()
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_whatever_the_clock_says() {
        assert_eq!(written(0), "1970-01-01T00:00:00Z");
        assert_eq!(written(-1), "1970-01-01T00:00:00Z");
        assert_eq!(written(1_772_366_400), "2026-03-01T12:00:00Z");
        assert_eq!(written(i64::MAX), "9999-12-31T23:59:59Z");
    }
}
