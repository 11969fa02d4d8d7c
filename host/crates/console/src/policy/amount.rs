//! Amounts of settings as people read and write them.

use serde_json::Value;

use crate::format;
use crate::value::text;

/// A whole number of bytes in the greatest unit of which it is a whole number: `8 GiB`.
pub(super) fn bytes(bytes: i64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let (mut amount, mut unit) = (bytes, 0);
    while amount != 0 && amount % 1024 == 0 && unit + 1 < units.len() {
        amount /= 1024;
        unit += 1;
    }
    format!("{amount} {}", units[unit])
}

/// The value of a setting as its field shows it: one of bytes, that is written as a number, in
/// their greatest unit.
pub(crate) fn shown(declared: &Value, value: &str) -> String {
    match (declared["measure"].as_str(), value.parse()) {
        (Some("bytes"), Ok(number)) if number != 0 => bytes(number),
        _ => value.to_owned(),
    }
}

/// A bound of a setting.
pub(super) fn bound(declared: &Value, value: f64) -> String {
    match declared["measure"].as_str() {
        Some("bytes") => format::bytes(value),
        Some("millicores") => format::cores(value / 1000.0),
        Some("fraction") => format::percent(value),
        _ => format::number(value, 4),
    }
}

/// In what a setting is written, with an example.
pub(super) fn measure(declared: &Value) -> Option<&'static str> {
    Some(match text(declared, "measure") {
        "bytes" => "an amount of memory, such as 8 GiB or 512 MiB",
        "millicores" => "an amount of CPU, such as 1.5 cores",
        "seconds" => "a time, such as 90 s or 2 min",
        "time" => "a moment, in seconds since 1970-01-01",
        "fraction" => "a share, such as 0.8 or 80 %",
        "percent" => "in percent, such as 80 %",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn bytes_are_shown_in_the_greatest_unit_that_keeps_them_whole() {
        let memory = json!({"measure": "bytes"});
        for (value, expected) in [
            ("8589934592", "8 GiB"),
            ("1610612736", "1536 MiB"),
            ("1000", "1000 B"),
            ("0", "0"),
            ("8 GiB", "8 GiB"),
            ("much", "much"),
        ] {
            assert_eq!(shown(&memory, value), expected);
        }
        assert_eq!(shown(&json!({"measure": null}), "1024"), "1024");
        assert_eq!(bound(&memory, 1_099_511_627_776.0), "1 TiB");
        assert_eq!(bound(&json!({"measure": "fraction"}), 0.5), "50 %");
    }
}
