//! Times that requests give: after RFC 3339, or in seconds since 1970-01-01 UTC.

use std::fmt;

use serde::de::{Deserializer, Error, Unexpected, Visitor};
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
use utoipa::openapi::{RefOr, SchemaFormat};

use placewright_model::{Kind, Measure, Value};

/// A time, or none.
struct Moment;

impl Visitor<'_> for Moment {
    type Value = Option<i64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time as \"2030-03-17T17:46:40Z\", or in seconds since 1970-01-01 UTC")
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

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        match Measure::Time.parse(text, Kind::Integer) {
            Ok(Value::Integer(seconds)) => Ok(Some(seconds)),
            _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
        }
    }
}

/// Read a time; null: none.
///
/// # Errors
/// If it is none.
pub(super) fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    from.deserialize_any(Moment)
}

/// The schema of such a time.
pub(super) fn schema() -> RefOr<Schema> {
    let kinds = SchemaType::from_iter([Type::String, Type::Integer, Type::Null]);
    ObjectBuilder::new()
        .schema_type(kinds)
        .format(Some(SchemaFormat::Custom("date-time".to_owned())))
        .description(Some(
            "When it expires, as `2030-03-17T17:46:40Z` or in seconds since 1970-01-01 UTC; never if \
             not given. A token that expires issues none that expire later.",
        ))
        .examples(["2030-03-17T17:46:40Z"])
        .into()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Deserialize)]
    struct Wanted {
        #[serde(default, deserialize_with = "super::read")]
        expires: Option<i64>,
    }

    #[test]
    fn a_time_is_read_in_either_form_and_nothing_else_is() {
        let read = |expires| {
            let wanted = serde_json::from_value::<Wanted>(json!({ "expires": expires }));
            wanted
                .map(|it| it.expires)
                .map_err(|error| error.to_string())
        };
        let then = Some(1_900_000_000);
        assert_eq!(read(json!("2030-03-17T17:46:40Z")), Ok(then));
        assert_eq!(read(json!(1_900_000_000)), Ok(then));
        assert_eq!(read(json!(null)), Ok(None));
        for wrong in [json!("tomorrow"), json!(1.5), json!(true), json!(u64::MAX)] {
            let told = read(wrong.clone()).unwrap_err();
            assert!(told.contains("a time as \"2030"), "{wrong}: {told}");
        }
    }
}
