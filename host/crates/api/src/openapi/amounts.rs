//! Amounts that are taken as texts, too: their schema says so in what clients send. What the
//! server shows has numbers alone.

use serde_json::{Map, Value as Json, json};

use super::shape::PREFIX;
use placewright_model::{Kind, Measure};

/// Amounts of bodies that clients send: the schema, its key, and such a text.
const TAKEN: &[(&str, &[(&str, &str)])] = &[
    ("AutomaticRestartDocument", &[("settle", "2 min")]),
    (
        "NewSettings",
        &[
            ("statistics-max-age", "10 min"),
            ("unmeasured-max-age", "10 min"),
        ],
    ),
    ("PeriodicBalanceDocument", &[("every", "10 min")]),
    ("PlanBegin", &[("reserve-for", "10 min")]),
    ("PlanRequest", &[("cool-down", "1 h")]),
    (
        "QuotaLimitsDocument",
        &[("cpu", "1500m"), ("memory", "256 GiB")],
    ),
    (
        "QuotaLimitsPatch",
        &[("cpu", "1500m"), ("memory", "256 GiB")],
    ),
    ("ReservationRenewal", &[("reserve-for", "10 min")]),
    ("RestartPatch", &[("settle", "2 min")]),
    (
        "SettingsPatch",
        &[
            ("statistics-max-age", "10 min"),
            ("unmeasured-max-age", "10 min"),
        ],
    ),
];

/// Schemas of answers that bodies of requests refer to as well: the schema of the body, its key,
/// and the schema that it refers to. The body gets a schema of its own, in which amounts may be texts.
const SENT: &[(&str, &str, &str)] = &[
    ("NewSettings", "balance", "PeriodicBalance"),
    ("NewSettings", "restart", "AutomaticRestart"),
    ("QuotaDocument", "limits", "QuotaLimits"),
    ("SettingsPatch", "balance", "PeriodicBalance"),
];

/// Have the amounts that clients send be texts, too.
pub(super) fn take_texts(schemas: &mut Map<String, Json>) {
    for (body, key, shown) in SENT {
        let sent = format!("{shown}Document");
        if let Some(schema) = schemas.get(*shown).cloned() {
            schemas.entry(sent.clone()).or_insert(schema);
        }
        if let Some(property) = property(schemas, body, key) {
            refer(
                property,
                &format!("{PREFIX}{shown}"),
                &format!("{PREFIX}{sent}"),
            );
        }
    }
    for (schema, amounts) in TAKEN {
        for (key, text) in *amounts {
            if let Some(property) = property(schemas, schema, key) {
                take_text(property, text);
                property["pattern"] = measure_of(text).pattern().into();
            }
        }
    }
}

fn property<'s>(
    schemas: &'s mut Map<String, Json>,
    schema: &str,
    key: &str,
) -> Option<&'s mut Json> {
    schemas.get_mut(schema)?.get_mut("properties")?.get_mut(key)
}

/// Let every reference to the one be one to the other.
fn refer(value: &mut Json, from: &str, to: &str) {
    match value {
        Json::String(reference) if reference == from => to.clone_into(reference),
        Json::Array(list) => list.iter_mut().for_each(|it| refer(it, from, to)),
        Json::Object(object) => object.values_mut().for_each(|it| refer(it, from, to)),
        _ => {}
    }
}

/// What a text such as that is an amount of.
fn measure_of(text: &str) -> Measure {
    let measures = [Measure::Millicores, Measure::Seconds, Measure::Bytes];
    let mut measures = measures.into_iter();
    let read = measures.find(|measure| measure.parse(text, Kind::Integer).is_ok());
    read.unwrap_or(Measure::Seconds)
}

fn take_text(property: &mut Json, text: &str) {
    let mut kinds = match property["type"].take() {
        Json::Array(kinds) => kinds,
        kind => vec![kind],
    };
    let after_the_number = kinds.len().min(1);
    kinds.insert(after_the_number, json!("string"));
    property["type"] = kinds.into();
    // That of a number says nothing of texts.
    if property["format"] == "double"
        && let Some(property) = property.as_object_mut()
    {
        property.remove("format");
    }
    let meaning = property["description"].as_str().unwrap_or_default();
    let meaning = meaning.trim_end_matches('.');
    let meaning = format!("{meaning}. A text such as \"{text}\" is taken, too.");
    property["description"] = meaning.into();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_that_clients_send_are_numbers_or_texts_and_those_that_are_shown_are_numbers() {
        let document = crate::openapi::openapi();
        let mut schemas = document["components"]["schemas"]
            .as_object()
            .unwrap()
            .clone();
        for (schema, amounts) in TAKEN {
            for (key, _) in *amounts {
                let property = property(&mut schemas, schema, key);
                let property = property.unwrap_or_else(|| panic!("{schema} has no {key}"));
                let is_text = |kind: &Json| kind["type"] == "string" && kind["pattern"].is_string();
                let either = property["anyOf"].as_array();
                let is_alternative = either.is_some_and(|either| either.iter().any(is_text));
                // A fraction of a number stands beside a text.
                let kinds = property["type"].to_string();
                let is_beside = kinds.contains("string") && property["pattern"].is_string();
                assert!(is_alternative || is_beside, "{schema} {key}: {property}");
            }
        }
        for (body, key, shown) in SENT {
            let property = property(&mut schemas, body, key).unwrap().to_string();
            assert!(property.contains(&format!("{shown}Document")), "{property}");
            let shown = schemas[*shown]["properties"].to_string();
            assert!(!shown.contains("\"string\""), "{shown}");
        }
    }

    #[test]
    fn an_amount_has_the_pattern_of_what_its_example_is_an_amount_of() {
        assert_eq!(measure_of("2 min"), Measure::Seconds);
        assert_eq!(measure_of("1 h"), Measure::Seconds);
        assert_eq!(measure_of("1500m"), Measure::Millicores);
        assert_eq!(measure_of("256 GiB"), Measure::Bytes);
    }
}
