//! One value of a document, for a place where a value of a certain kind belongs.

use std::sync::Arc;

use super::{Content, Node, Problems};
use placewright_model::{Bounds, GREATEST_INTEGER, Kind, Measure, Value};

/// Texts of documents are shown in sentences up to this many characters.
const SHOWN: usize = 60;

/// The ids of hosts, VMs, groups, tenants and clusters have so many bytes at most: as the
/// names of hosts in the DNS, and of objects in Kubernetes.
pub const LONGEST_ID: usize = 253;

/// Any other text has so many bytes at most.
pub const LONGEST_TEXT: usize = 4096;

/// What a text is not that breaks the lines in which it is shown, for a sentence.
pub(crate) fn one_line(text: &str) -> String {
    let escaped = text.escape_debug().to_string();
    format!(
        "one line without control characters, not \"{}\"",
        shown(&escaped)
    )
}

/// What a value must be.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    /// The column, key or setting that it is the value of.
    pub name: &'a str,
    /// What that is a part of, where its place in the document does not say so:
    /// "unit \"memory\"".
    pub owner: Option<&'a str>,
    /// Its kind.
    pub kind: Kind,
    /// Its unit of measure: with one, amounts may be written as texts.
    pub measure: Option<Measure>,
    /// Its least and greatest value.
    pub bounds: Bounds,
    /// If not empty, the only texts allowed.
    pub choices: &'a [&'a str],
}

impl<'a> Expected<'a> {
    /// Any value of a kind.
    pub fn of_kind(name: &'a str, kind: Kind) -> Self {
        Self {
            name,
            owner: None,
            kind,
            measure: None,
            bounds: Bounds::NONE,
            choices: &[],
        }
    }

    /// The value of `node`, or a problem. Whole numbers are numbers, too, and a
    /// number without a fraction is an integer: JSON's writers often make no
    /// difference.
    pub fn read(&self, node: &Node, problems: &mut Problems) -> Option<Value> {
        match self.convert(node).and_then(|value| self.check(value)) {
            Ok(value) => Some(value),
            Err(Wrong::Choice(text)) => {
                problems.add_misnamed(
                    &node.place,
                    format!(
                        "{} must be {}, not \"{}\"",
                        self.subject(),
                        alternatives(self.choices),
                        shown(&text)
                    ),
                    &text,
                    self.choices.iter().copied(),
                );
                None
            }
            Err(Wrong::Other(sentence)) => {
                problems.add(
                    &node.place,
                    format!("{} must be {sentence}", self.subject()),
                );
                None
            }
        }
    }

    /// What a sentence about it begins with.
    pub fn subject(&self) -> String {
        match self.owner {
            Some(owner) => format!("\"{}\" of {owner}", self.name),
            None => format!("\"{}\"", self.name),
        }
    }

    fn convert(&self, node: &Node) -> Result<Value, Wrong> {
        match (self.kind, &node.content) {
            (Kind::Integer | Kind::Number, Content::Integer(value)) if self.is_scaled() => {
                self.scaled(*value as f64)
            }
            (Kind::Integer | Kind::Number, Content::Number(value)) if self.is_scaled() => {
                self.scaled(*value)
            }
            (Kind::Boolean, Content::Boolean(value)) => Ok(Value::Boolean(*value)),
            (Kind::Text, Content::Text(text)) => Ok(Value::Text(text.clone())),
            (Kind::Integer, Content::Integer(value)) => Ok(Value::Integer(*value)),
            (Kind::Integer, Content::Number(value)) => self.integer(*value),
            (Kind::Number, Content::Integer(value)) => Ok(Value::Number(*value as f64)),
            (Kind::Number, Content::Number(value)) => Ok(Value::Number(*value)),
            (Kind::Integer | Kind::Number, Content::Text(text)) => self.amount(text),
            (_, other) => Err(self.not(other.noun())),
        }
    }

    /// Whether a number counts something else than the program does.
    fn is_scaled(&self) -> bool {
        self.measure.is_some_and(|measure| measure.of_one() != 1.0)
    }

    fn scaled(&self, number: f64) -> Result<Value, Wrong> {
        let measure = self.measure.map(|it| it.of_number(number, self.kind));
        match measure {
            Some(Ok(value)) => Ok(value),
            Some(Err(error)) if error.is_too_great() => Err(self.too_great(&number.to_string())),
            _ => Err(self.not(&number.to_string())),
        }
    }

    fn amount(&self, text: &Arc<str>) -> Result<Value, Wrong> {
        match self.measure {
            Some(measure) => measure.parse(text, self.kind).map_err(|error| {
                let given = format!("\"{}\"", shown(text));
                match error.is_too_great() {
                    true => self.too_great(&given),
                    false => self.not(&given),
                }
            }),
            None => Err(self.not("a text")),
        }
    }

    fn not(&self, given: &str) -> Wrong {
        Wrong::Other(match (self.measure, self.kind) {
            (Some(measure), _) => format!(
                "{}, not {given}; write for example {}",
                measure.noun(),
                measure.example()
            ),
            (None, kind) => format!("{}, not {given}", noun(kind)),
        })
    }

    fn integer(&self, number: f64) -> Result<Value, Wrong> {
        if !number.is_finite() || number.fract() != 0.0 {
            return Err(Wrong::Other(format!("a whole number, not {number}")));
        }
        if number.abs() > GREATEST_INTEGER as f64 {
            return Err(self.out_of_range(number < 0.0, &number.to_string()));
        }
        Ok(Value::Integer(number as i64))
    }

    /// It is further from 0 than any integer that a unit can be given.
    fn out_of_range(&self, is_negative: bool, given: &str) -> Wrong {
        let least = self.bounds.least.filter(|least| *least >= 0.0);
        match (is_negative, least) {
            (true, Some(least)) => Wrong::Other(format!("{least} or more, not {given}")),
            (false, _) if self.measure.is_some() => self.too_great(given),
            (_, least) => {
                let least = least.map_or(format!("-{GREATEST_INTEGER}"), |it| it.to_string());
                Wrong::Other(format!(
                    "from {least} to {GREATEST_INTEGER}, the integers that units can be given, not {given}"
                ))
            }
        }
    }

    /// It is more than the most of its measure.
    fn too_great(&self, given: &str) -> Wrong {
        match self.measure {
            Some(measure) => Wrong::Other(format!(
                "at most {}, the most that units can be given, not {given}",
                measure.greatest()
            )),
            None => self.out_of_range(false, given),
        }
    }

    /// Whether its texts name something, and stand in one line of a list.
    fn is_name(&self) -> bool {
        self.kind == Kind::Text && ["name", "host", "tenant", "zone"].contains(&self.name)
    }

    fn check(&self, value: Value) -> Result<Value, Wrong> {
        match &value {
            Value::Integer(integer) if integer.unsigned_abs() > GREATEST_INTEGER as u64 => {
                return Err(self.out_of_range(*integer < 0, &integer.to_string()));
            }
            Value::Number(number) if !number.is_finite() => {
                return Err(Wrong::Other(format!("a finite number, not {number}")));
            }
            Value::Text(text) if text.len() > LONGEST_TEXT => {
                let bytes = text.len();
                let sentence =
                    format!("a text of at most {LONGEST_TEXT} bytes; this one has {bytes}");
                return Err(Wrong::Other(sentence));
            }
            Value::Text(text) if self.is_name() && text.contains(char::is_control) => {
                return Err(Wrong::Other(one_line(text)));
            }
            Value::Text(text) if !self.choices.is_empty() && !self.choices.contains(&&**text) => {
                return Err(Wrong::Choice(text.clone()));
            }
            _ => {}
        }
        match self.bounds.broken_by(&value, self.measure) {
            Some(sentence) => {
                let written = self.measure.map_or(value.clone(), |it| it.written(&value));
                Err(Wrong::Other(format!("{sentence}, not {written}")))
            }
            // Units are promised never to see a negative zero.
            None if value == Value::Number(0.0) => Ok(Value::Number(0.0)),
            None => Ok(value),
        }
    }
}

enum Wrong {
    Choice(Arc<str>),
    /// Completes the sentence "it must be ...".
    Other(String),
}

/// What a value of a kind is, for a sentence.
fn noun(kind: Kind) -> &'static str {
    match kind {
        Kind::Integer => "a whole number",
        Kind::Number => "a number",
        Kind::Boolean => "true or false",
        Kind::Text => "a text",
    }
}

/// A text of a document, cut to what fits into a sentence.
pub fn shown(text: &str) -> String {
    let mut characters = text.chars();
    let mut shown: String = characters.by_ref().take(SHOWN).collect();
    if characters.next().is_some() {
        shown.push('…');
    }
    shown
}

/// `"a", "b" or "c"`.
pub fn alternatives(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn read(expected: Expected<'_>, value: &str) -> Result<Value, String> {
        let tree = parse(&format!("x = {value}"), "d.toml").map_err(|error| error.to_string())?;
        let mut problems = Problems::new();
        let value = tree
            .get("x")
            .and_then(|node| expected.read(node, &mut problems));
        value.ok_or_else(|| problems.to_string().replace("d.toml:1:5: ", ""))
    }

    fn any(kind: Kind) -> Expected<'static> {
        Expected::of_kind("x", kind)
    }

    fn bytes() -> Expected<'static> {
        Expected {
            measure: Some(Measure::Bytes),
            bounds: Bounds::FROM_ZERO,
            ..any(Kind::Integer)
        }
    }

    #[test]
    fn a_name_is_one_line_without_control_characters() {
        let name = Expected::of_kind("name", Kind::Text);
        assert_eq!(read(name, "'Rack 7, left'"), Ok("Rack 7, left".into()));
        assert_eq!(
            read(name, "\"a\\u001b[2J\""),
            Err(
                "\"name\" must be one line without control characters, not \"a\\u{1b}[2J\""
                    .to_owned()
            )
        );
        assert!(read(any(Kind::Text), "\"two\\nlines\"").is_ok());
    }

    #[test]
    fn values_of_the_right_kind_are_read() {
        assert_eq!(read(any(Kind::Integer), "7"), Ok(7.into()));
        assert_eq!(read(any(Kind::Integer), "7.0"), Ok(7.into()));
        assert_eq!(read(any(Kind::Number), "7"), Ok(7.0.into()));
        assert_eq!(read(any(Kind::Boolean), "true"), Ok(true.into()));
        assert_eq!(read(any(Kind::Text), "'a'"), Ok("a".into()));
        assert_eq!(read(bytes(), "'1 KiB'"), Ok(1024.into()));
        assert_eq!(read(bytes(), "1024"), Ok(1024.into()));
        let time = Expected {
            measure: Some(Measure::Time),
            ..any(Kind::Integer)
        };
        assert_eq!(read(time, "1970-01-02T00:00:00Z"), Ok(86400.into()));
        let Ok(Value::Number(zero)) = read(any(Kind::Number), "-0.0") else {
            panic!("-0.0 is a number");
        };
        assert!(zero.is_sign_positive());
    }

    #[test]
    fn a_number_counts_what_its_text_counts() {
        let cpu = Expected {
            measure: Some(Measure::Millicores),
            bounds: Bounds::FROM_ZERO,
            ..any(Kind::Integer)
        };
        for (text, amount) in [("4", 4000), ("0.5", 500), ("2.0", 2000), ("1.001", 1001)] {
            assert_eq!(read(cpu, text), Ok(amount.into()));
            assert_eq!(read(cpu, &format!("'{text}'")), Ok(amount.into()));
        }
        let too_little = "\"x\" must be an amount of CPU, not 0.0001; write for example \"1.5 cores\" or \"1500m\"";
        assert_eq!(read(cpu, "0.0001"), Err(too_little.into()));
        let negative = "\"x\" must be 0 or more, not -1";
        assert_eq!(read(cpu, "-1"), Err(negative.into()));
        let bound = Expected {
            measure: Some(Measure::Millicores),
            ..any(Kind::Number)
        };
        assert_eq!(read(bound, "1.5"), Ok(1500.0.into()));
    }

    #[test]
    fn what_is_wrong_with_a_value_is_said() {
        for (expected, value, sentence) in [
            (any(Kind::Integer), "'7'", "a whole number, not a text"),
            (any(Kind::Integer), "7.5", "a whole number, not 7.5"),
            (any(Kind::Integer), "nan", "a whole number, not NaN"),
            (any(Kind::Number), "inf", "a finite number, not inf"),
            (any(Kind::Number), "[]", "a number, not a list"),
            (any(Kind::Boolean), "1", "true or false, not a whole number"),
            (any(Kind::Text), "true", "a text, not a boolean"),
            (bytes(), "-1", "0 or more, not -1"),
            (
                bytes(),
                "'lots'",
                "an amount of memory, not \"lots\"; write for example \"8 GiB\"",
            ),
            (
                bytes(),
                "{}",
                "an amount of memory, not a table; write for example \"8 GiB\"",
            ),
            (
                bytes(),
                "'99999999999 TiB'",
                "at most 9007199254740991 bytes, 1 byte less than 8 PiB, the most that units can be given, not \"99999999999 TiB\"",
            ),
            (
                bytes(),
                "1152921504606846976",
                "at most 9007199254740991 bytes, 1 byte less than 8 PiB, the most that units can be given, not 1152921504606846976",
            ),
            (
                Expected {
                    measure: Some(Measure::Millicores),
                    ..bytes()
                },
                "1e18",
                "at most 9007199254740.991 cores, the most that units can be given, not 1000000000000000000",
            ),
            (
                Expected {
                    measure: None,
                    ..bytes()
                },
                "9007199254740992",
                "from 0 to 9007199254740991, the integers that units can be given, not 9007199254740992",
            ),
            (
                bytes(),
                "-9223372036854775808",
                "0 or more, not -9223372036854775808",
            ),
            (
                any(Kind::Integer),
                "9007199254740992",
                "from -9007199254740991 to 9007199254740991, the integers that units can be given, not 9007199254740992",
            ),
            (
                any(Kind::Integer),
                "-9223372036854775808",
                "from -9007199254740991 to 9007199254740991, the integers that units can be given, not -9223372036854775808",
            ),
        ] {
            assert_eq!(
                read(expected, value),
                Err(format!("\"x\" must be {sentence}"))
            );
        }
        let state = Expected {
            choices: &["up", "down", "error"],
            ..any(Kind::Text)
        };
        assert_eq!(
            read(state, "'don'"),
            Err(
                "\"x\" must be \"up\", \"down\" or \"error\", not \"don\" (did you mean \"down\"?)"
                    .into()
            )
        );
    }
}
