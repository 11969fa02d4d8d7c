//! JSON Schemas of documents, for editors: made from the same forms and tables
//! that documents are read by.

mod row;

use schemars::Schema as JsonSchema;
use serde_json::{Map, Value as Json, json};

use super::form::{Key, Shape};
use super::value::{LONGEST_ID, LONGEST_TEXT};
use placewright_model::{Bounds, GREATEST_INTEGER, Kind, Measure};

pub use row::row;

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schema of a whole document.
pub fn document(title: &str, description: &str, object: Json) -> JsonSchema {
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), DIALECT.into());
    schema.insert("title".to_owned(), title.into());
    schema.insert("description".to_owned(), description.into());
    if let Json::Object(object) = object {
        schema.extend(object);
    }
    schema.into()
}

/// The schema of a document as a part of another one.
pub fn part(document: JsonSchema) -> Json {
    let mut schema = document.to_value();
    if let Json::Object(schema) = &mut schema {
        for key in ["$schema", "title", "description"] {
            schema.remove(key);
        }
    }
    schema
}

/// An object with the keys of `form` and no others.
pub fn object(form: &[Key]) -> Json {
    closed(properties(form), required(form))
}

/// An object with these properties and no others.
pub fn closed(properties: Map<String, Json>, required: Vec<&str>) -> Json {
    let mut object = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    object
}

/// The properties that stand for the keys of `form`.
pub fn properties(form: &[Key]) -> Map<String, Json> {
    form.iter()
        .map(|key| {
            let property = match (key.name, key.shape) {
                ("id" | "host", Shape::Value(Kind::Text, ..)) => id(),
                ("name", Shape::Value(Kind::Text, ..)) => one_line(shape(key.shape)),
                _ => shape(key.shape),
            };
            let property = described(property, key.meaning);
            (key.name.to_owned(), with_example(property, key))
        })
        .collect()
}

/// The same schema with the example of the key, or one of its unit of measure.
fn with_example(mut schema: Json, key: &Key) -> Json {
    let example = match (key.shape, key.example) {
        (Shape::Value(kind, Some(measure), _), "") => Some(example(measure, kind)),
        (_, "") => None,
        (Shape::Texts, text) => Some(json!([text])),
        (Shape::Value(Kind::Text, ..), text) => Some(text.into()),
        (_, text) => Some(serde_json::from_str(text).unwrap_or_else(|_| text.into())),
    };
    if let Some(example) = example {
        schema["examples"] = json!([example]);
    }
    schema
}

/// A usual value of that unit of measure.
pub(crate) fn example(measure: Measure, kind: Kind) -> Json {
    match (measure, kind) {
        (Measure::Bytes, _) => json!(8_589_934_592_u64),
        (Measure::Millicores, _) => json!(4),
        (Measure::Seconds, _) => json!(90),
        (Measure::Time, _) => json!(1_764_000_000),
        (Measure::Fraction, _) => json!(0.8),
        (Measure::Percent, _) => json!(80),
    }
}

/// The names of the keys of `form` that must be there.
pub fn required(form: &[Key]) -> Vec<&'static str> {
    let keys = form.iter().filter(|key| key.required);
    keys.map(|key| key.name).collect()
}

/// The same schema with a sentence for the reader.
pub fn described(mut schema: Json, meaning: &str) -> Json {
    if !meaning.is_empty() {
        schema["description"] = meaning.into();
    }
    schema
}

fn shape(shape: Shape) -> Json {
    match shape {
        Shape::Value(kind, measure, bounds) => value(kind, measure, bounds, &[]),
        Shape::Any => json!({}),
        Shape::Word(words) => json!({ "enum": words() }),
        Shape::Words(words) => {
            json!({ "type": "array", "items": { "enum": words() }, "uniqueItems": true })
        }
        Shape::Texts => {
            json!({ "type": "array", "items": id(), "uniqueItems": true })
        }
        Shape::Table(form) => object(form),
        Shape::Tables(form) => list(object(form)),
        Shape::Open => json!({ "type": "object" }),
        Shape::OpenTables => list(json!({ "type": "object" })),
    }
}

/// A list of such items.
pub fn list(items: Json) -> Json {
    json!({ "type": "array", "items": items })
}

/// The id of a host, VM, group or tenant. No text of so many bytes has more characters, which are
/// what schemas count.
pub(crate) fn id() -> Json {
    let text = json!({ "type": "string", "minLength": 1, "maxLength": LONGEST_ID });
    one_line(text)
}

/// A text that stands in one line of a list.
pub(crate) fn one_line(mut text: Json) -> Json {
    text["pattern"] = r"^[^\x00-\x1f\x7f-\x9f]*$".into();
    text
}

/// A value of a column, key or setting. With a measure, it may be a text.
pub(crate) fn value(
    kind: Kind,
    measure: Option<Measure>,
    bounds: Bounds,
    choices: &[&str],
) -> Json {
    if !choices.is_empty() {
        return json!({ "enum": choices });
    }
    let of_one = measure.map_or(1.0, Measure::of_one);
    let plain = match kind {
        // Fractions of what a number counts may be whole amounts.
        Kind::Integer if of_one != 1.0 => "number",
        Kind::Integer => "integer",
        Kind::Number => "number",
        Kind::Boolean => "boolean",
        Kind::Text => "string",
    };
    let mut schema = match measure {
        Some(measure) => json!({ "type": [plain, "string"], "pattern": measure.pattern() }),
        None => json!({ "type": plain }),
    };
    if kind == Kind::Text {
        schema["maxLength"] = LONGEST_TEXT.into();
    }
    if plain == "integer" {
        schema["format"] = "int64".into();
    }
    // Bounds hold for numbers; for a text they say nothing. No unit can be given more, or less,
    // than these integers.
    let is_counted = kind == Kind::Integer || of_one != 1.0;
    let most = is_counted.then_some(GREATEST_INTEGER as f64);
    let least = most.map(|most| -most);
    let bounds = [
        ("minimum", bounds.least.or(least)),
        ("maximum", bounds.greatest.or(most)),
    ];
    for (keyword, bound) in bounds {
        if let Some(bound) = bound.map(|bound| bound / of_one) {
            schema[keyword] = if bound.fract() == 0.0 {
                json!(bound as i64)
            } else {
                json!(bound)
            };
        }
    }
    schema
}
