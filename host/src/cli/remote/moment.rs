//! Times on the command line, as servers read them.

use std::time::{Duration, SystemTime};

use placewright_model::{Kind, Measure, Value};

/// A time after RFC 3339 or in seconds since 1970 as it is, a duration as so long ago.
///
/// # Errors
/// If it is neither.
pub(super) fn moment(text: &str) -> Result<String, String> {
    if let Ok(duration) = humantime::parse_duration(text) {
        return ago(duration).ok_or_else(|| "that is before there was time".to_owned());
    }
    let has_date = text.len() > 10 && text.contains(['T', 't']);
    match has_date || text.parse::<u64>().is_ok() {
        true => Ok(text.to_owned()),
        false => Err("write a time as 2026-11-26T08:00:00Z, or a duration as 1h".to_owned()),
    }
}

fn ago(duration: Duration) -> Option<String> {
    let at = SystemTime::now().checked_sub(duration)?;
    at.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(humantime::format_rfc3339_micros(at).to_string())
}

/// A duration in seconds, as documents write it: a number, or a text such as "2 min".
///
/// # Errors
/// If it is none.
pub(super) fn seconds(text: &str) -> Result<i64, String> {
    match Measure::Seconds.parse(text, Kind::Integer) {
        Ok(Value::Integer(seconds)) if seconds >= 0 => Ok(seconds),
        _ => Err("it is no duration; write seconds, or such as \"90 s\" or \"2 min\"".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_times_or_durations() {
        for text in [
            "2026-11-26T08:00:00Z",
            "2026-11-26T09:00:00+01:00",
            "1795176000",
        ] {
            assert_eq!(moment(text).as_deref(), Ok(text));
        }
        let [earlier, later] = ["2h", "1h"].map(|text| moment(text).unwrap());
        assert!(earlier < later && later.ends_with('Z'), "{earlier} {later}");
        for text in ["yesterday", "8000y", ""] {
            moment(text).unwrap_err();
        }
    }

    #[test]
    fn durations_are_seconds_or_texts() {
        let read = ["600", "90 s", "10 min"].map(|text| seconds(text).unwrap());
        assert_eq!(read, [600, 90, 600]);
        assert!(seconds("soon").is_err() && seconds("-1").is_err());
    }
}
