//! Durations as documents write them: seconds, or a text such as "2 min".

use std::fmt;

use serde::de::{Deserializer, Error, Unexpected, Visitor};

use placewright_model::{Kind, Measure, Value};

struct Seconds;

impl Visitor<'_> for Seconds {
    type Value = Option<i64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("seconds, a whole number, or a text such as \"90 s\" or \"2 min\"")
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
        match Measure::Seconds.of_number(seconds, Kind::Integer) {
            Ok(Value::Integer(seconds)) => Ok(Some(seconds)),
            _ => Err(E::invalid_value(Unexpected::Float(seconds), &self)),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        match Measure::Seconds.parse(text, Kind::Integer) {
            Ok(Value::Integer(seconds)) => Ok(Some(seconds)),
            _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
        }
    }
}

/// Read a duration in seconds; null: none.
///
/// # Errors
/// If it is none.
pub fn seconds_if_any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    from.deserialize_any(Seconds)
}

/// Read a duration in seconds.
///
/// # Errors
/// If it is none.
pub fn seconds<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    let wrong = || D::Error::invalid_type(Unexpected::Unit, &Seconds);
    seconds_if_any(from)?.ok_or_else(wrong)
}

/// Read a duration in seconds of which it matters whether it is null or not given.
///
/// # Errors
/// If it is none.
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
