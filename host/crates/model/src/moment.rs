//! Times as answers write them, and as requests give them.

use std::borrow::Cow;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Serialize, Serializer};
use time::OffsetDateTime;

/// The last second of the year 9999, after which times are written in another way.
const LAST: u64 = 253_402_300_799;

/// A time in seconds since 1970-01-01 UTC after RFC 3339, as in `2026-03-01T12:00:00Z`. What is
/// before 1970 or after the year 9999 is written as its nearest second within.
pub fn rfc3339(at: i64) -> String {
    let seconds = u64::try_from(at).unwrap_or(0).min(LAST);
    let moment = UNIX_EPOCH + Duration::from_secs(seconds);
    humantime::format_rfc3339_seconds(moment).to_string()
}

/// A time in seconds since 1970-01-01 UTC, which is written after RFC 3339.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rfc3339(pub i64);

impl Serialize for Rfc3339 {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&rfc3339(self.0))
    }
}

/// The key that says after RFC 3339 what `key` says in seconds since 1970-01-01 UTC: its name and
/// `-time`, and `time` for `at`.
///
/// The first answers gave times in seconds, and clients count on that. So each of them has this
/// key beside it, by the same rule for all. A time that is new is written after RFC 3339 only.
pub fn rfc3339_key(key: &str) -> Cow<'static, str> {
    match key {
        "at" => Cow::Borrowed("time"),
        _ => Cow::Owned(format!("{key}-time")),
    }
}

/// Whether a text is a time after RFC 3339, with its zone.
pub fn is_rfc3339(text: &str) -> bool {
    OffsetDateTime::parse(text, &time::format_description::well_known::Rfc3339).is_ok()
}

/// The moment that a text says: after RFC 3339 in whatever zone, as in
/// `2026-03-01T13:00:00+01:00`, or in whole seconds since 1970-01-01 UTC. A space may stand
/// between day and time, and without a zone it is in UTC.
pub fn read_time(text: &str) -> Option<SystemTime> {
    if let Ok(seconds) = text.parse::<u64>() {
        // As many as a clock may have.
        let seconds = i64::try_from(seconds).ok()?.unsigned_abs();
        return UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
    }
    let format = &time::format_description::well_known::Rfc3339;
    match OffsetDateTime::parse(text, format) {
        Ok(moment) => Some(moment.into()),
        Err(_) => humantime::parse_rfc3339_weak(text).ok(),
    }
}

/// Whole seconds of a moment since 1970-01-01 UTC; those before have less than none.
pub fn seconds_since_1970(moment: SystemTime) -> i64 {
    match moment.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
        Err(before) => {
            let before = before.duration();
            let seconds = before.as_secs() + u64::from(before.subsec_nanos() > 0);
            i64::try_from(seconds).map_or(i64::MIN, |seconds| -seconds)
        }
    }
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

    #[test]
    fn a_time_after_rfc_3339_has_day_time_and_zone() {
        for text in ["2026-11-26T08:00:00Z", "2026-11-26T09:30:00.75+01:30"] {
            assert!(is_rfc3339(text), "{text}");
        }
        for text in ["", "7", "1795680000", "2026-11-26", "2026-11-26T08:00:00"] {
            assert!(!is_rfc3339(text), "{text}");
        }
    }

    #[test]
    fn times_are_read_in_every_zone_to_the_second_and_nonsense_is_not() {
        let read = |text| read_time(text).map(seconds_since_1970);
        for (text, seconds) in [
            ("2026-11-26T08:00:00Z", 1_795_680_000),
            ("2026-11-26T09:30:00+01:30", 1_795_680_000),
            ("2026-11-26T09:30:00.75+01:30", 1_795_680_000),
            ("2026-11-25T23:00:00-09:00", 1_795_680_000),
            ("2026-11-26 08:00:00", 1_795_680_000),
            ("1795680000", 1_795_680_000),
            ("1970-01-01T00:30:00+01:00", -1800),
            ("1969-12-31T23:59:59.5Z", -1),
        ] {
            assert_eq!(read(text), Some(seconds), "{text}");
        }
        for text in [
            "",
            "yesterday",
            "2026-13-26T08:00:00Z",
            "-1",
            "18446744073709551615",
            "2026-11-26T08:00:00+25:00",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn every_key_in_seconds_has_another_name_after_rfc_3339() {
        assert_eq!(rfc3339_key("at"), "time");
        assert_eq!(rfc3339_key("expires"), "expires-time");
        assert_eq!(rfc3339_key("next-expiry"), "next-expiry-time");
    }
}
