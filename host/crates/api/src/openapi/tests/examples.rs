//! What the description gives as examples: one for each value that does not speak for itself, and
//! each as its schema says.

use regex::Regex;
use serde_json::{Map, Value as Json};

use super::super::openapi;

/// Values of variants, which their types cannot give an example of.
const WITHOUT: [&str; 1] = ["PolicyOrigin.file"];

fn entries(value: &Json) -> impl Iterator<Item = (&String, &Json)> {
    value.as_object().into_iter().flatten()
}

fn list(value: &Json) -> &[Json] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Each schema of the document with its place, those inside others as well.
fn schemas(document: &Json) -> Vec<(String, &Json)> {
    fn add<'d>(place: String, schema: &'d Json, found: &mut Vec<(String, &'d Json)>) {
        for (name, property) in entries(&schema["properties"]) {
            add(format!("{place}.{name}"), property, found);
        }
        for key in ["items", "additionalProperties"] {
            if schema[key].is_object() {
                add(format!("{place}[]"), &schema[key], found);
            }
        }
        for either in [&schema["oneOf"], &schema["anyOf"]] {
            for one in list(either) {
                add(place.clone(), one, found);
            }
        }
        found.push((place, schema));
    }
    let mut found = Vec::new();
    for (name, schema) in entries(&document["components"]["schemas"]) {
        add(name.clone(), schema, &mut found);
    }
    for (path, item) in entries(&document["paths"]) {
        for (method, operation) in entries(item) {
            for parameter in list(&operation["parameters"]) {
                let place = format!("{method} {path} {}", parameter["name"]);
                add(place, &parameter["schema"], &mut found);
            }
        }
    }
    found
}

fn has_kind(schema: &Json, kind: &str) -> bool {
    match &schema["type"] {
        Json::String(only) => only == kind,
        kinds => list(kinds).iter().any(|it| it == kind),
    }
}

/// Whether values of a schema need no example: they are told by others, are one of a few words, or
/// have a format that all know.
fn speaks_for_itself(schema: &Json) -> bool {
    let is_known = ["date-time", "binary"]
        .iter()
        .any(|it| schema["format"] == **it);
    let is_word = schema.get("enum").is_some() || schema.get("const").is_some();
    let is_told = schema.get("$ref").is_some();
    let is_object = has_kind(schema, "object");
    let is_truth = has_kind(schema, "boolean") && !has_kind(schema, "string");
    let is_nothing = schema["type"] == "null";
    let either = list(&schema["oneOf"]).iter().chain(list(&schema["anyOf"]));
    let either: Vec<&Json> = either.collect();
    let all_do = !either.is_empty() && either.iter().all(|it| speaks_for_itself(it));
    let has_items = has_kind(schema, "array") && speaks_for_itself(&schema["items"]);
    let has_example = !list(&schema["examples"]).is_empty();
    is_known
        || is_word
        || is_told
        || is_object
        || is_truth
        || is_nothing
        || all_do
        || has_items
        || has_example
}

#[test]
fn every_property_says_what_it_means_and_gives_an_example() {
    let document = openapi();
    let (mut seen, mut missing) = (0, Vec::new());
    for (place, schema) in schemas(&document) {
        for (name, property) in entries(&schema["properties"]) {
            seen += 1;
            if !property["description"].is_string() && property.get("$ref").is_none() {
                missing.push(format!("{place}.{name} has no meaning"));
            }
            let path = format!("{place}.{name}");
            if !speaks_for_itself(property) && !WITHOUT.contains(&&*path) {
                missing.push(format!("{place}.{name} has no example"));
            }
        }
    }
    assert_eq!(missing, [""; 0]);
    assert!(seen > 1000, "{seen}");
}

/// What of a value is not as a schema says.
fn wrong(document: &Json, schema: &Json, value: &Json) -> Option<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let named = document.pointer(reference.trim_start_matches('#'));
        if let Some(wrong) = wrong(document, named.unwrap_or(&Json::Null), value) {
            return Some(wrong);
        }
    }
    for either in ["oneOf", "anyOf"] {
        let either = list(&schema[either]);
        let fits = |one: &Json| wrong(document, one, value).is_none();
        if !either.is_empty() && !either.iter().any(fits) {
            return Some(format!("{value} is none of {} alternatives", either.len()));
        }
    }
    let kind = match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(number) if number.is_f64() => "number",
        Json::Number(_) => "integer",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    };
    let fits = has_kind(schema, kind) || kind == "integer" && has_kind(schema, "number");
    if schema.get("type").is_some() && !fits {
        return Some(format!("{value} is no {}", schema["type"]));
    }
    let words = list(&schema["enum"]);
    if !words.is_empty() && !words.contains(value) {
        return Some(format!("{value} is none of {words:?}"));
    }
    if schema.get("const").is_some_and(|only| only != value) {
        return Some(format!("{value} is not {}", schema["const"]));
    }
    if let Some(number) = value.as_f64() {
        let is_less = schema["minimum"]
            .as_f64()
            .is_some_and(|least| number < least);
        let is_more = schema["maximum"].as_f64().is_some_and(|most| number > most);
        if is_less || is_more {
            return Some(format!("{value} is out of bounds"));
        }
    }
    if let Some(text) = value.as_str() {
        let characters = text.chars().count() as u64;
        let is_short = schema["minLength"].as_u64() > Some(characters);
        let is_long = schema["maxLength"]
            .as_u64()
            .is_some_and(|most| characters > most);
        let pattern = schema["pattern"].as_str().map(Regex::new);
        let is_other = pattern.is_some_and(|pattern| !pattern.unwrap().is_match(text));
        if is_short || is_long || is_other {
            return Some(format!("{value} is not as long, or not as it must be"));
        }
    }
    let mut items = list(value).iter();
    let in_list = items.find_map(|item| wrong(document, &schema["items"], item));
    in_list.or_else(|| in_object(document, schema, value.as_object()?))
}

fn in_object(document: &Json, schema: &Json, object: &Map<String, Json>) -> Option<String> {
    let needed = list(&schema["required"]).iter().filter_map(Json::as_str);
    if let Some(missing) = { needed }.find(|key| !object.contains_key(*key)) {
        return Some(format!("{missing} is missing"));
    }
    object.iter().find_map(|(key, value)| {
        let others = &schema["additionalProperties"];
        match (schema["properties"].get(key), others) {
            (Some(property), _) => wrong(document, property, value),
            (None, Json::Bool(false)) => Some(format!("there is no {key}")),
            (None, others) => wrong(document, others, value),
        }
        .map(|wrong| format!("{key}: {wrong}"))
    })
}

#[test]
fn every_example_is_as_its_schema_says() {
    let document = openapi();
    let (mut seen, mut found) = (0, Vec::new());
    for (place, schema) in schemas(&document) {
        for example in list(&schema["examples"]) {
            seen += 1;
            let told = wrong(&document, schema, example);
            found.extend(told.map(|wrong| format!("{place}: {wrong}")));
        }
    }
    assert_eq!(found, [""; 0]);
    assert!(seen > 500, "{seen} examples");
}

#[test]
fn an_example_that_is_not_as_its_schema_says_is_found() {
    let document = serde_json::json!({"components": {"schemas": {"Id": {"type": "string"}}}});
    let schema = serde_json::json!({
        "type": "object",
        "properties": {
            "id": {"$ref": "#/components/schemas/Id"},
            "count": {"type": ["integer", "null"], "minimum": 1},
            "words": {"type": "array", "items": {"enum": ["a", "b"]}},
            "name": {"type": "string", "pattern": "^[a-z]+$", "minLength": 2, "maxLength": 3},
        },
        "additionalProperties": false,
        "required": ["id"],
    });
    let told = |value: Json| wrong(&document, &schema, &value);
    let good = serde_json::json!({"id": "x", "count": 1, "words": ["a"]});
    assert_eq!(told(good), None);
    for bad in [
        serde_json::json!({}),
        serde_json::json!({"id": 1}),
        serde_json::json!({"id": "x", "count": 0}),
        serde_json::json!({"id": "x", "count": 1.5}),
        serde_json::json!({"id": "x", "words": ["c"]}),
        serde_json::json!({"id": "x", "more": 1}),
        serde_json::json!({"id": "x", "name": "a"}),
        serde_json::json!({"id": "x", "name": "abcd"}),
        serde_json::json!({"id": "x", "name": "a1"}),
        serde_json::json!([]),
    ] {
        assert!(told(bad.clone()).is_some(), "{bad}");
    }
}
