//! Times as answers write them.

use std::time::{Duration, UNIX_EPOCH};

/// The last second of the year 9999, after which times are written in another way.
const LAST: u64 = 253_402_300_799;

/// A time in seconds since 1970-01-01 UTC after RFC 3339, as in `2026-03-01T12:00:00Z`. What is
/// before 1970 or after the year 9999 is written as its nearest second within.
pub fn rfc3339(at: i64) -> String {
    let seconds = u64::try_from(at).unwrap_or(0).min(LAST);
    let moment = UNIX_EPOCH + Duration::from_secs(seconds);
    humantime::format_rfc3339_seconds(moment).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_whatever_the_clock_says() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(-1), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(1_772_366_400), "2026-03-01T12:00:00Z");
        assert_eq!(rfc3339(i64::MAX), "9999-12-31T23:59:59Z");
    }
}
