//! Whole seconds as requests write them: a number, or a text of their measure, such as "2 min".

use std::fmt;

use serde::de::{Deserializer, Error, Unexpected, Visitor};

use placewright_model::{Kind, Measure, Value};

/// Reads seconds of one measure: durations, or times.
#[derive(Debug, Clone, Copy)]
pub struct WholeSeconds {
    /// What they are.
    pub measure: Measure,
    /// What is expected, for errors: "a time as ...".
    pub expected: &'static str,
}

const DURATION: WholeSeconds = WholeSeconds {
    measure: Measure::Seconds,
    expected: "seconds, a whole number, or a text such as \"90 s\" or \"2 min\"",
};

impl Visitor<'_> for WholeSeconds {
    type Value = Option<i64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E: Error>(self, seconds: i64) -> Result<Self::Value, E> {
        Ok(Some(seconds))
    }

    fn visit_u64<E: Error>(self, seconds: u64) -> Result<Self::Value, E> {
        let wrong = |_| E::invalid_value(Unexpected::Unsigned(seconds), &self);
        i64::try_from(seconds).map(Some).map_err(wrong)
    }

    fn visit_f64<E: Error>(self, seconds: f64) -> Result<Self::Value, E> {
        match self.measure.of_number(seconds, Kind::Integer) {
            Ok(Value::Integer(seconds)) => Ok(Some(seconds)),
            _ => Err(E::invalid_value(Unexpected::Float(seconds), &self)),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        match self.measure.parse(text, Kind::Integer) {
            Ok(Value::Integer(seconds)) => Ok(Some(seconds)),
            _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
        }
    }
}

/// Read a duration in seconds; null: none.
///
/// # Errors
/// If it is no duration.
pub fn seconds_if_any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    from.deserialize_any(DURATION)
}

/// Read a duration in seconds.
///
/// # Errors
/// If it is no duration, or null.
pub fn seconds<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    let wrong = || D::Error::invalid_type(Unexpected::Unit, &DURATION);
    seconds_if_any(from)?.ok_or_else(wrong)
}

/// Read a duration in seconds, as Some(None) if it is null. With `#[serde(default)]` a missing one
/// is None.
///
/// # Errors
/// If it is no duration.
pub fn seconds_given<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<i64>>, D::Error> {
    seconds_if_any(from).map(Some)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    #[test]
    fn numbers_and_texts_mean_the_same() {
        for (written, seconds) in [
            (json!(90), Some(90)),
            (json!(90.0), Some(90)),
            (json!("90"), Some(90)),
            (json!("90 s"), Some(90)),
            (json!("2 min"), Some(120)),
            (json!(-1), Some(-1)),
            (Json::Null, None),
        ] {
            assert_eq!(seconds_if_any(&written).unwrap(), seconds, "{written}");
        }
        for wrong in [
            json!("soon"),
            json!(1.5),
            json!(true),
            json!([90]),
            json!("2 GiB"),
        ] {
            let told = seconds_if_any(&wrong).unwrap_err().to_string();
            assert!(told.contains("such as \"90 s\""), "{told}");
        }
        assert!(seconds(&Json::Null).is_err());
    }
}
