//! Numbers, amounts and times as people read them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

/// A whole number with commas between thousands.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The same for a length.
pub(crate) fn len(number: usize) -> String {
    count(number as u64)
}

/// A number with at most so many digits behind the point, and no zeros at its end.
pub(crate) fn number(number: f64, digits: usize) -> String {
    if !number.is_finite() {
        return if number < 0.0 { "−∞" } else { "∞" }.to_owned();
    }
    let written = format!("{:.digits$}", number.abs());
    let (whole, rest) = written.split_once('.').unwrap_or((&written, ""));
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), count);
    let rest = rest.trim_end_matches('0');
    let point = if rest.is_empty() { "" } else { "." };
    let is_zero = whole == "0" && rest.is_empty();
    let sign = if number < 0.0 && !is_zero { "−" } else { "" };
    format!("{sign}{whole}{point}{rest}")
}

/// A cost: a number of a scale with three digits behind the point; large ones are whole.
pub(crate) fn cost(cost: f64) -> String {
    let sign = if cost < 0.0 { "−" } else { "" };
    match cost.abs() {
        it if it.is_nan() => "∞".to_owned(),
        it if it.is_infinite() => format!("{sign}∞"),
        // More digits than a number has that is so large.
        it if it >= 1e15 => format!("{sign}{it:.3e}"),
        it if it >= 100_000.0 => number(cost, 0),
        it => {
            let written = format!("{it:.3}");
            let (whole, rest) = written.split_once('.').unwrap_or((&written, ""));
            let whole = whole.parse().map_or_else(|_| whole.to_owned(), count);
            format!("{sign}{whole}.{rest}")
        }
    }
}

/// A factor: three digits behind the point, or as many as show that it is not 0.
pub(crate) fn factor(factor: f64) -> String {
    match factor.abs() {
        it if it > 0.0 && it < 1e-9 => format!(
            "{}{:.0e}",
            if factor < 0.0 { "−" } else { "" },
            factor.abs()
        ),
        it if it > 0.0 && it < 0.001 => number(factor, 9),
        _ => number(factor, 3),
    }
}

/// A share of 1 in percent.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        it if it > 0.0 && it < 1.0 => format!("{} %", number(it, 1)),
        it => format!("{} %", number(it.round(), 0)),
    }
}

/// Bytes in the greatest unit of which there is one, with three digits of weight.
pub(crate) fn bytes(bytes: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let (mut amount, mut unit) = (bytes, 0);
    while amount.abs() >= 1024.0 && unit + 1 < units.len() {
        amount /= 1024.0;
        unit += 1;
    }
    let digits = match amount.abs() {
        it if it >= 100.0 => 0,
        it if it >= 10.0 => 1,
        _ => 2,
    };
    format!("{} {}", number(amount, digits), units[unit])
}

/// Cores.
pub(crate) fn cores(cores: f64) -> String {
    let digits = if cores.abs() < 10.0 { 3 } else { 1 };
    let unit = if (cores - 1.0).abs() < f64::EPSILON {
        "core"
    } else {
        "cores"
    };
    format!("{} {unit}", number(cores, digits))
}

/// A thing and how many there are of it: "1 host", "2 hosts".
pub(crate) fn things(number: usize, one: &str, more: &str) -> String {
    format!("{} {}", len(number), if number == 1 { one } else { more })
}

/// A text with a capital letter.
pub(crate) fn sentence_start(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|it| it.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// A text of others, cut where it is long.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A moment, in seconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment(pub i64);

impl Moment {
    /// Now.
    pub(crate) fn now() -> Self {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self(i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
    }

    /// The moment of a column of seconds.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        value.as_i64().map(Self)
    }

    /// As in "2026-11-25T18:10:22Z".
    pub(crate) fn written(self) -> String {
        let since = Duration::from_secs(u64::try_from(self.0).unwrap_or(0));
        match UNIX_EPOCH.checked_add(since) {
            Some(time) if self.0 < 253_402_300_800 => {
                humantime::format_rfc3339_seconds(time).to_string()
            }
            _ => "later".to_owned(),
        }
    }

    /// The time of the day, in UTC.
    pub(crate) fn clock(self) -> String {
        let written = self.written();
        written.get(11..19).unwrap_or(&written).to_owned()
    }

    /// How long ago it is, roughly.
    pub(crate) fn ago(self) -> String {
        let seconds = Self::now().0.saturating_sub(self.0);
        match seconds {
            ..0 => format!("in {}", span(-seconds)),
            0..5 => "now".to_owned(),
            _ => format!("{} ago", span(seconds)),
        }
    }
}

/// So many seconds, roughly.
pub(crate) fn span(seconds: i64) -> String {
    match seconds {
        ..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!(
            "{} days",
            count(u64::try_from(seconds / 86_400).unwrap_or(0))
        ),
    }
}

/// A duration in seconds, written in µs, ms or s.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        it if it >= 1.0 => format!("{} s", number(it, 1)),
        it if it >= 1e-3 => format!("{} ms", number(it * 1e3, 1)),
        it => format!("{} µs", number(it * 1e6, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas_and_no_more_digits_than_weight() {
        assert_eq!(count(0), "0");
        assert_eq!(count(64_176), "64,176");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(number(1234.50, 2), "1,234.5");
        assert_eq!(number(-0.001, 2), "0");
        assert_eq!(number(-2.5, 1), "−2.5");
        assert_eq!(percent(0.675), "68 %");
        assert_eq!(percent(0.004), "0.4 %");
        assert_eq!(bytes(549_755_813_888.0), "512 GiB");
        assert_eq!(bytes(1_181_116_006_400.0), "1.07 TiB");
        assert_eq!(bytes(0.0), "0 B");
        assert_eq!(cores(1.0), "1 core");
        assert_eq!(cores(1.5), "1.5 cores");
        assert_eq!(cores(0.125), "0.125 cores");
        assert_eq!(cost(1.5736), "1.574");
        assert_eq!(cost(-6528.0), "−6,528.000");
        assert_eq!(cost(374_272.2), "374,272");
        assert_eq!(cost(-1.5e16), "−1.500e16");
        assert_eq!(factor(2.0), "2");
        assert_eq!(factor(1e-7), "0.0000001");
        assert_eq!(factor(-1e-12), "−1e-12");
        assert_eq!(cost(f64::INFINITY), "∞");
        assert_eq!(cost(f64::NEG_INFINITY), "−∞");
        assert_eq!(things(1, "host", "hosts"), "1 host");
    }

    #[test]
    fn times_are_those_of_the_day() {
        let moment = Moment(1_795_630_222);
        assert_eq!(moment.written(), "2026-11-25T18:10:22Z");
        assert_eq!(moment.clock(), "18:10:22");
        assert_eq!(Moment(i64::MAX).written(), "later");
        assert_eq!(span(90), "90 s");
        assert_eq!(span(7_300), "2 h");
        assert_eq!(duration(0.000_012_34), "12.3 µs");
        assert_eq!(duration(0.25), "250 ms");
        assert_eq!(duration(75.0), "75 s");
    }

    #[test]
    fn long_texts_are_cut_between_signs() {
        assert_eq!(cut("äöü", 2), "äö…");
        assert_eq!(cut("äöü", 3), "äöü");
    }
}
