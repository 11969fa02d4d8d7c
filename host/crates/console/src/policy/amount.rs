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
pub(super) fn shown(declared: &Value, value: &str) -> String {
    match (declared["measure"].as_str(), value.parse()) {
        // What is below nothing is wrong, and stays as it was written.
        (Some("bytes"), Ok(number)) if number > 0 => bytes(number),
        _ => value.to_owned(),
    }
}

/// The usual value of a setting as people write it, which its field takes as well: with the unit of its
/// measure, and not rounded.
pub(crate) fn usual(declared: &Value, value: &str) -> String {
    let number = value.parse::<f64>().ok().filter(|it| it.is_finite());
    let whole = value.parse::<i64>().ok();
    match (declared["measure"].as_str(), number, whole) {
        (Some("bytes"), ..) => shown(declared, value),
        (Some("millicores"), Some(number), _) => {
            let cores = exact(number / 1000.0);
            let unit = if cores == "1" { "core" } else { "cores" };
            format!("{cores} {unit}")
        }
        (Some("seconds"), _, Some(seconds)) => {
            let units = [(86_400, "d"), (3600, "h"), (60, "min")];
            let fits = |(of, _): &&(i64, &str)| seconds != 0 && seconds % of == 0;
            let (of, unit) = units.iter().find(fits).unwrap_or(&(1, "s"));
            format!("{} {unit}", seconds / of)
        }
        (Some("seconds"), Some(number), None) => format!("{} s", exact(number)),
        (Some("fraction"), Some(number), _) => format!("{} %", exact(number * 100.0)),
        (Some("percent"), Some(number), _) => format!("{} %", exact(number)),
        _ => value.to_owned(),
    }
}

/// A number with all of its digits, but for those that counting in twos has left behind.
fn exact(number: f64) -> String {
    let rounded = format!("{number:.12e}").parse().unwrap_or(number);
    rounded.to_string()
}

/// A bound of a setting.
pub(super) fn bound(declared: &Value, value: f64) -> String {
    match declared["measure"].as_str() {
        Some("bytes") => format::bytes(value),
        Some("millicores") => format::cores(value / 1000.0),
        Some("seconds" | "fraction" | "percent") => usual(declared, &value.to_string()),
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
            ("-5", "-5"),
            ("8 GiB", "8 GiB"),
            ("much", "much"),
        ] {
            assert_eq!(shown(&memory, value), expected);
        }
        assert_eq!(shown(&json!({"measure": null}), "1024"), "1024");
        assert_eq!(bound(&memory, 1_099_511_627_776.0), "1 TiB");
        assert_eq!(bound(&json!({"measure": "fraction"}), 0.5), "50 %");
    }

    #[test]
    fn usual_values_have_the_unit_of_their_measure() {
        for (measure, value, expected) in [
            ("bytes", "8589934592", "8 GiB"),
            ("millicores", "1500", "1.5 cores"),
            ("millicores", "1000", "1 core"),
            ("seconds", "21600", "6 h"),
            ("seconds", "90", "90 s"),
            ("seconds", "120", "2 min"),
            ("seconds", "86400", "1 d"),
            ("seconds", "0", "0 s"),
            ("seconds", "-60", "-1 min"),
            ("fraction", "0.001953125", "0.1953125 %"),
            ("fraction", "0.07", "7 %"),
            ("fraction", "1", "100 %"),
            ("percent", "75", "75 %"),
            ("percent", "80 %", "80 %"),
            ("time", "0", "0"),
            ("seconds", "soon", "soon"),
        ] {
            let declared = json!({"measure": measure});
            assert_eq!(usual(&declared, value), expected, "{measure} {value}");
        }
        assert_eq!(bound(&json!({"measure": "seconds"}), 604_800.0), "7 d");
        assert_eq!(bound(&json!({"measure": "percent"}), 100.0), "100 %");
        assert_eq!(usual(&json!({"measure": null}), "0.5"), "0.5");
        assert_eq!(usual(&json!({}), "best"), "best");
    }
}
