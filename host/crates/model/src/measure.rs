//! Units of measure: how amounts are written by people and read from documents.
//!
//! A number of a document means what the same digits in a text mean: bytes, cores,
//! seconds. Inside the program CPU is in thousandths of a core, so that amounts that add
//! up are integers.

use std::fmt;

use bytesize::ByteSize;

use super::{GREATEST_INTEGER, Kind, Value, read_time, seconds_since_1970};

/// The unit of measure of a column or setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Integer. Written as `8589934592` or `"8 GiB"`.
    Bytes,
    /// Integer, thousandths of a core. Written in cores, as `1.5`, `"1.5 cores"` or
    /// `"1500m"`.
    Millicores,
    /// Integer, a duration. Written as `90`, `"90 s"` or `"2 min"`.
    Seconds,
    /// Integer, seconds since 1970-01-01 UTC.
    Time,
    /// Number, 1 = all of it. Written as `0.8` or `"80 %"`.
    Fraction,
    /// Number or integer, 100 = all of it. Written as `80` or `"80 %"`.
    Percent,
}

/// A text that cannot be read as an amount.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not {}; write for example {}", measure.noun(), measure.example())]
pub struct AmountError {
    text: String,
    measure: Measure,
    is_too_great: bool,
}

impl AmountError {
    /// Whether it is an amount of the measure, and more than a unit can be given.
    pub fn is_too_great(&self) -> bool {
        self.is_too_great
    }
}

impl Measure {
    /// The name used in descriptions and in the schema.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Bytes => "bytes",
            Measure::Millicores => "millicores",
            Measure::Seconds => "seconds",
            Measure::Time => "time",
            Measure::Fraction => "fraction",
            Measure::Percent => "percent",
        }
    }

    /// The measure of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [
            Measure::Bytes,
            Measure::Millicores,
            Measure::Seconds,
            Measure::Time,
            Measure::Fraction,
            Measure::Percent,
        ]
        .into_iter()
        .find(|measure| measure.name() == name)
    }

    /// Read an amount that is written as text, for a column of kind `kind`.
    ///
    /// # Errors
    /// If the text is no amount of this measure, or one beyond 2^53 - 1.
    pub fn parse(self, text: &str, kind: Kind) -> Result<Value, AmountError> {
        let number = self.parse_number(text.trim());
        let is_too_great = number.is_some_and(|number| number > GREATEST_INTEGER as f64);
        let number =
            number.filter(|number| number.is_finite() && number.abs() <= GREATEST_INTEGER as f64);
        let value = match (number, kind) {
            (Some(number), Kind::Integer) if number.fract() == 0.0 => {
                Some(Value::Integer(number as i64))
            }
            (Some(number), Kind::Number) => Some(Value::Number(number)),
            _ => None,
        };
        value.ok_or_else(|| AmountError {
            text: text.to_owned(),
            measure: self,
            is_too_great,
        })
    }

    /// Read an amount that is written as a number, for a column of kind `kind`.
    ///
    /// # Errors
    /// If the number is no amount of this measure, or one beyond 2^53 - 1.
    pub fn of_number(self, number: f64, kind: Kind) -> Result<Value, AmountError> {
        let amount = match self {
            Measure::Millicores => millicores(number),
            _ => number,
        };
        let is_amount = amount.is_finite() && amount.abs() <= GREATEST_INTEGER as f64;
        match kind {
            Kind::Integer if is_amount && amount.fract() == 0.0 => {
                Ok(Value::Integer(amount as i64))
            }
            Kind::Number if is_amount => Ok(Value::Number(amount)),
            _ => Err(AmountError {
                text: number.to_string(),
                measure: self,
                is_too_great: amount > GREATEST_INTEGER as f64,
            }),
        }
    }

    /// An amount of this measure as a document has it, to be read again as the same.
    pub fn written(self, value: &Value) -> Value {
        match (self, value) {
            (Measure::Millicores, Value::Integer(amount)) if amount % 1000 == 0 => {
                Value::Integer(amount / 1000)
            }
            (Measure::Millicores, Value::Integer(amount)) => written_millicores(*amount as f64),
            (Measure::Millicores, Value::Number(amount)) => written_millicores(*amount),
            (_, value) => value.clone(),
        }
    }

    /// What of this measure a number of a document counts, in amounts of the program.
    pub fn of_one(self) -> f64 {
        match self {
            Measure::Millicores => 1000.0,
            _ => 1.0,
        }
    }

    fn parse_number(self, text: &str) -> Option<f64> {
        match self {
            Measure::Bytes => text.parse::<ByteSize>().ok().map(|size| size.0 as f64),
            Measure::Millicores => parse_millicores(text),
            Measure::Seconds => match text.parse::<f64>() {
                Ok(seconds) => Some(seconds),
                Err(_) => humantime::parse_duration(text)
                    .ok()
                    .map(|duration| duration.as_secs_f64()),
            },
            Measure::Time => text.parse::<f64>().ok().or_else(|| {
                let seconds = seconds_since_1970(read_time(text)?);
                (seconds >= 0).then_some(seconds as f64)
            }),
            Measure::Fraction => match text.strip_suffix('%') {
                Some(percent) => percent.trim().parse::<f64>().ok().map(|p| p / 100.0),
                None => text.parse().ok(),
            },
            Measure::Percent => text.strip_suffix('%').unwrap_or(text).trim().parse().ok(),
        }
    }

    /// What a value of this measure is, for a sentence.
    pub fn noun(self) -> &'static str {
        match self {
            Measure::Bytes => "an amount of memory",
            Measure::Millicores => "an amount of CPU",
            Measure::Seconds => "a duration",
            Measure::Time => "a time",
            Measure::Fraction => "a fraction",
            Measure::Percent => "a percentage",
        }
    }

    /// The greatest amount of this measure, for a sentence: 2^53 - 1 of what the program counts.
    pub fn greatest(self) -> &'static str {
        match self {
            Measure::Bytes => "9007199254740991 bytes, 1 byte less than 8 PiB",
            Measure::Millicores => "9007199254740.991 cores",
            Measure::Seconds => "9007199254740991 s",
            Measure::Time => "9007199254740991 seconds since 1970",
            Measure::Fraction | Measure::Percent => "9007199254740991",
        }
    }

    /// How a person may write one.
    pub fn example(self) -> &'static str {
        match self {
            Measure::Bytes => "\"8 GiB\"",
            Measure::Millicores => "\"1.5 cores\" or \"1500m\"",
            Measure::Seconds => "\"90 s\" or \"2 min\"",
            Measure::Time => "\"2026-11-20T12:00:00Z\"",
            Measure::Fraction => "0.8 or \"80 %\"",
            Measure::Percent => "80 or \"80 %\"",
        }
    }

    /// What texts of such amounts look like, as a regular expression that JSON Schema, Python, Go
    /// and Rust know. It lets pass whatever is read; what it lets pass may still be none.
    pub fn pattern(self) -> &'static str {
        match self {
            Measure::Bytes => r"^\s*[0-9.]+\s*([kKmMgGtTpPeE][iI]?)?[bB]?\s*$",
            Measure::Millicores => {
                r"^\s*[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\s*(m|cores?)?\s*$"
            }
            // Several amounts may stand behind each other: "1 h 30 min".
            Measure::Seconds => {
                r"^\s*([+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?|[0-9][0-9.\s]*[a-zA-Zµ][a-zA-Zµ0-9.\s]*)\s*$"
            }
            Measure::Time => {
                r"^\s*([+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?|[0-9]{4}-[0-9]{2}-[0-9]{2}[^0-9][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})?)\s*$"
            }
            Measure::Fraction | Measure::Percent => {
                r"^\s*[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\s*%?\s*$"
            }
        }
    }

    /// An amount of this measure as a person would write it.
    pub fn display(self, value: &Value) -> String {
        match (self, value) {
            (Measure::Bytes, Value::Integer(bytes)) => {
                let size = ByteSize(bytes.unsigned_abs()).display().iec();
                format!("{}{size}", if *bytes < 0 { "-" } else { "" })
            }
            (Measure::Millicores, Value::Integer(millicores)) => {
                format!("{} cores", *millicores as f64 / 1000.0)
            }
            (Measure::Seconds, Value::Integer(seconds)) => format!("{seconds} s"),
            (Measure::Fraction, Value::Number(fraction)) => format!("{:.1} %", fraction * 100.0),
            (Measure::Percent, value) => format!("{value} %"),
            (_, value) => value.to_string(),
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// `1500m`, `1.5 cores`, `1 core`; a bare number in a text counts cores, as in
/// other systems' documents.
fn parse_millicores(text: &str) -> Option<f64> {
    if let Some(millicores) = text.strip_suffix('m') {
        return millicores.trim().parse().ok();
    }
    let cores = text
        .strip_suffix("cores")
        .or_else(|| text.strip_suffix("core"))
        .unwrap_or(text);
    cores.trim().parse().ok().map(millicores)
}

/// Thousandths of so many cores: whole ones, where only the writing as a fraction keeps
/// them from it.
fn millicores(cores: f64) -> f64 {
    let millicores = cores * 1000.0;
    match (millicores - millicores.round()).abs() < 1e-6 {
        true => millicores.round(),
        false => millicores,
    }
}

/// So many thousandths of a core as a fraction of cores, if that is read again as the same: it is
/// not where they are nearly whole, or too many.
fn written_millicores(amount: f64) -> Value {
    match amount / 1000.0 {
        cores if millicores(cores) == amount => Value::Number(cores),
        _ => Value::Text(format!("{amount}m").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_people_write_them() {
        for (measure, text, value) in [
            (Measure::Bytes, "1 GiB", 1 << 30),
            (Measure::Bytes, "512GiB", 512 << 30),
            (Measure::Bytes, "1000", 1000),
            (Measure::Millicores, "1500m", 1500),
            (Measure::Millicores, "0.42", 420),
            (Measure::Millicores, "2 cores", 2000),
            (Measure::Seconds, "90 s", 90),
            (Measure::Seconds, "2min", 120),
            (Measure::Time, "1970-01-02T00:00:00Z", 86400),
            (Measure::Time, "1970-01-02T01:00:00.5+01:00", 86400),
            (Measure::Percent, "80 %", 80),
        ] {
            assert_eq!(
                measure.parse(text, Kind::Integer),
                Ok(Value::Integer(value)),
                "{text}"
            );
        }
        assert_eq!(
            Measure::Fraction.parse("80 %", Kind::Number),
            Ok(Value::Number(0.8))
        );
    }

    #[test]
    fn texts_that_are_read_have_the_pattern_of_their_measure_and_nonsense_has_not() {
        for (measure, read, nonsense) in [
            (
                Measure::Bytes,
                &["8 GiB", "512gib", "1000", " 1.5 k ", "4Ki", "7B", "1mb"][..],
                &["lots", "", "-1", "8 GiBs", "1e3"][..],
            ),
            (
                Measure::Millicores,
                &["1500m", "1.5 cores", "1 core", ".5", "5.", "1e3 m", "+2"],
                &["many", "1 corps", "m"],
            ),
            (
                Measure::Seconds,
                &[
                    "90",
                    "90 s",
                    "2min",
                    "1 h 30 min",
                    "1.5h",
                    "5us",
                    "7 µs 1M",
                    "1e3",
                ],
                &["soon", "", "-1 h"],
            ),
            (
                Measure::Time,
                &[
                    "1795680000",
                    "1970-01-02T00:00:00Z",
                    "1970-01-02 00:00:00",
                    "1970-01-02t01:00:00.5+01:00",
                ],
                &["noon", "1970-01-02"],
            ),
            (Measure::Fraction, &["80 %", "0.8", ".8%"], &["half", "% 5"]),
            (Measure::Percent, &["80 %", "80", "8e1%"], &["half", "% 5"]),
        ] {
            let pattern = regex::Regex::new(measure.pattern()).unwrap();
            for text in read {
                let kind = Kind::Number;
                assert!(measure.parse(text, kind).is_ok(), "{measure} {text}");
                assert!(pattern.is_match(text), "{measure} {text}");
            }
            for text in nonsense {
                assert!(!pattern.is_match(text), "{measure} {text}");
            }
        }
    }

    #[test]
    fn a_number_means_what_its_text_means() {
        for (measure, number, kind) in [
            (Measure::Millicores, "4", Kind::Integer),
            (Measure::Millicores, "0.5", Kind::Integer),
            (Measure::Millicores, "1.001", Kind::Integer),
            (Measure::Millicores, "0.25", Kind::Number),
            (Measure::Bytes, "8192", Kind::Integer),
            (Measure::Seconds, "90", Kind::Integer),
            (Measure::Fraction, "0.8", Kind::Number),
            (Measure::Percent, "80", Kind::Integer),
        ] {
            let value = measure.of_number(number.parse().unwrap(), kind);
            assert_eq!(value, measure.parse(number, kind), "{measure} {number}");
        }
        let half = Measure::Millicores.of_number(0.5, Kind::Integer);
        assert_eq!(half, Ok(Value::Integer(500)));
        let little = Measure::Millicores.of_number(0.0001, Kind::Integer);
        assert!(little.is_err());
    }

    #[test]
    fn what_is_written_is_read_again_as_the_same() {
        let whole = [
            0,
            1,
            7,
            420,
            999,
            1000,
            1001,
            4000,
            123_457,
            548_418_413_200,
            GREATEST_INTEGER,
        ];
        let whole = whole.into_iter().flat_map(|it| [it, -it]);
        // The last is nearly whole.
        let fractions = [0.25, 1234.5, 1e-9, 52.999_999_999_98];
        let amounts = whole
            .map(|it| (Value::Integer(it), Kind::Integer))
            .chain(fractions.map(|it| (Value::Number(it), Kind::Number)));
        for (amount, kind) in amounts {
            let written = Measure::Millicores.written(&amount);
            let read = match &written {
                Value::Integer(number) => Measure::Millicores.of_number(*number as f64, kind),
                Value::Number(number) => Measure::Millicores.of_number(*number, kind),
                Value::Text(text) => Measure::Millicores.parse(text, kind),
                Value::Boolean(_) => panic!("{written}"),
            };
            assert_eq!(read, Ok(amount), "{written}");
        }
        let written = |amount: i64| Measure::Millicores.written(&amount.into());
        assert_eq!(written(4000), Value::Integer(4));
        assert_eq!(written(500), Value::Number(0.5));
        assert_eq!(Measure::Bytes.written(&8192.into()), Value::Integer(8192));
    }

    #[test]
    fn what_is_no_amount_is_refused_with_an_example() {
        let error = Measure::Bytes.parse("lots", Kind::Integer).unwrap_err();
        assert_eq!(
            error.to_string(),
            "\"lots\" is not an amount of memory; write for example \"8 GiB\""
        );
        assert!(Measure::Millicores.parse("0.0001", Kind::Integer).is_err());
        assert!(Measure::Bytes.parse("9 PiB", Kind::Integer).is_err());
    }

    #[test]
    fn amounts_are_shown_as_people_write_them() {
        assert_eq!(Measure::Bytes.display(&Value::Integer(1 << 30)), "1.0 GiB");
        assert_eq!(
            Measure::Millicores.display(&Value::Integer(420)),
            "0.42 cores"
        );
    }
}
