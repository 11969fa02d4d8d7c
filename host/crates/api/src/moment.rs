//! Times that requests give: after RFC 3339, or in seconds since 1970-01-01 UTC.

use std::time::SystemTime;

use serde::de::Deserializer;
use serde_json::Value as Json;
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
use utoipa::openapi::{RefOr, SchemaFormat};

use placewright_deployment::durations::WholeSeconds;
use placewright_http::problem::{Code, Problem};
use placewright_model::{Measure, read_time, rfc3339, rfc3339_key};

const TIME: WholeSeconds = WholeSeconds {
    measure: Measure::Time,
    expected: "a time as \"2030-03-17T17:46:40Z\" or \"2030-03-17T18:46:40+01:00\", or in seconds since 1970-01-01 UTC",
};

/// Read a time; null: none.
///
/// # Errors
/// If it is none.
pub(super) fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    from.deserialize_any(TIME)
}

/// The schema of such a time.
pub(super) fn schema() -> RefOr<Schema> {
    let kinds = SchemaType::from_iter([Type::String, Type::Integer, Type::Null]);
    ObjectBuilder::new()
        .schema_type(kinds)
        .format(Some(SchemaFormat::Custom("date-time".to_owned())))
        .description(Some(
            "When it expires, as `2030-03-17T17:46:40Z`, in whatever zone, or in seconds since \
             1970-01-01 UTC; never if not given. A token that expires issues none that expire later.",
        ))
        .examples(["2030-03-17T17:46:40Z"])
        .into()
}

/// The moment that a parameter of a query says; None: it is not given.
///
/// # Errors
/// If it is none.
pub(super) fn of_query(name: &str, text: Option<&str>) -> Result<Option<SystemTime>, Problem> {
    let Some(text) = text else { return Ok(None) };
    let wrong = || {
        let sentence = format!(
            "\"{name}\" must be a time as 2026-11-26T08:00:00Z or 2026-11-26T09:00:00+01:00, in which + is written %2B"
        );
        Problem::new(Code::InvalidParameter, sentence)
    };
    read_time(text).map(Some).ok_or_else(wrong)
}

/// Put beside the time in seconds under `key`, if there is one, the same after RFC 3339, as an
/// answer of this version of the program has it. What an older one has recorded lacks it.
pub(super) fn complete(body: &mut Json, key: &str) {
    let Some(body) = body.as_object_mut() else {
        return;
    };
    let time = match body.get(key) {
        None => return,
        Some(seconds) => seconds.as_i64().map(rfc3339),
    };
    body.insert(rfc3339_key(key).into_owned(), time.into());
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_recorded_answer_gets_the_time_after_rfc_3339_where_it_has_one_in_seconds() {
        let completed = |mut body: Json| {
            complete(&mut body, "expires");
            body
        };
        let of_old = json!({ "expires": 1_900_000_000 });
        let now = json!({ "expires": 1_900_000_000, "expires-time": "2030-03-17T17:46:40Z" });
        assert_eq!(completed(of_old), now);
        assert_eq!(completed(now.clone()), now);
        let never = json!({ "expires": null, "expires-time": null });
        assert_eq!(completed(json!({ "expires": null })), never);
        assert_eq!(completed(json!({})), json!({}));
    }

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
        assert_eq!(read(json!("2030-03-17T18:46:40.25+01:00")), Ok(then));
        assert_eq!(read(json!("1900000000")), Ok(then));
        assert_eq!(read(json!(1_900_000_000)), Ok(then));
        assert_eq!(read(json!(null)), Ok(None));
        for wrong in [json!("tomorrow"), json!(1.5), json!(true), json!(u64::MAX)] {
            let told = read(wrong.clone()).unwrap_err();
            assert!(told.contains("a time as \"2030"), "{wrong}: {told}");
        }
    }

    #[test]
    fn moments_are_read_in_every_zone_and_nonsense_is_refused() {
        let at = |seconds| Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        for (text, expected) in [
            ("2026-11-26T08:00:00Z", at(1_795_680_000)),
            ("2026-11-26T09:30:00+01:30", at(1_795_680_000)),
            ("1795680000", at(1_795_680_000)),
        ] {
            let found = of_query("since", Some(text));
            assert_eq!(found.ok().flatten(), expected, "{text}");
        }
        assert!(matches!(of_query("since", None), Ok(None)));
        for text in ["", "yesterday", "2026-11-26", "2026-13-26T08:00:00Z", "-1"] {
            let problem = of_query("until", Some(text)).unwrap_err();
            assert_eq!(problem.code(), Code::InvalidParameter, "{text}");
        }
    }
}
