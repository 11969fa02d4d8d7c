//! Where a value may fit several alternatives at once, the description says "any of", not "one
//! of": a client that checks answers would refuse one that fits two.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};

/// Have objects that nothing tells apart be any of several.
pub(super) fn any_where_several_fit(document: &mut Json) {
    let Some(schemas) = document["components"]["schemas"].as_object_mut() else {
        return;
    };
    let overlapping: Vec<String> = schemas
        .iter()
        .filter(|(_, schema)| overlaps(schema, schemas))
        .map(|(name, _)| name.clone())
        .collect();
    for name in overlapping {
        if let Some(schema) = schemas[&name].as_object_mut()
            && let Some(either) = schema.remove("oneOf")
        {
            schema.insert("anyOf".to_owned(), either);
        }
    }
}

/// Whether two of the objects that it is one of may be the same value.
fn overlaps(schema: &Json, schemas: &Map<String, Json>) -> bool {
    let either = schema["oneOf"].as_array().into_iter().flatten();
    let objects: Vec<&Json> = either
        .map(|it| resolved(it, schemas))
        .filter(|it| it["type"] == "object")
        .collect();
    let mut pairs =
        (1..objects.len()).flat_map(|second| (0..second).map(move |first| (first, second)));
    pairs.any(|(first, second)| !are_told_apart(objects[first], objects[second]))
}

fn resolved<'s>(schema: &'s Json, schemas: &'s Map<String, Json>) -> &'s Json {
    let reference = schema["$ref"].as_str();
    let name = reference.and_then(|it| it.rsplit('/').next());
    match name.and_then(|name| schemas.get(name)) {
        Some(named) => resolved(named, schemas),
        None => schema,
    }
}

/// Whether no value is both: a key that both must have has other words, or one must have a key
/// that the other may not have.
fn are_told_apart(one: &Json, other: &Json) -> bool {
    let (of_one, of_other) = (required(one), required(other));
    let has_other_words = of_one.intersection(&of_other).any(|key| {
        let words = [one, other].map(|schema| words(&schema["properties"][key]));
        match words {
            [Some(words), Some(others)] => words.iter().all(|word| !others.contains(word)),
            _ => false,
        }
    });
    let excludes = |schema: &Json, keys: &BTreeSet<&str>| {
        let is_closed = schema["additionalProperties"] == false;
        is_closed
            && keys
                .iter()
                .any(|key| schema["properties"].get(key).is_none())
    };
    has_other_words || excludes(one, &of_other) || excludes(other, &of_one)
}

fn required(schema: &Json) -> BTreeSet<&str> {
    let keys = schema["required"].as_array().into_iter().flatten();
    keys.filter_map(Json::as_str).collect()
}

/// The values that a property may have, where they are listed.
fn words(property: &Json) -> Option<Vec<&Json>> {
    match (property.get("const"), property["enum"].as_array()) {
        (Some(only), _) => Some(vec![only]),
        (None, Some(several)) => Some(several.iter().collect()),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shaped(one: Json, other: Json) -> Json {
        let mut document = json!({"components": {"schemas": {
            "One": one, "Other": other,
            "Either": {"oneOf": [{"$ref": "#/components/schemas/One"}, {"$ref": "#/components/schemas/Other"}]},
            "Maybe": {"oneOf": [{"type": "null"}, {"$ref": "#/components/schemas/One"}]},
        }}});
        any_where_several_fit(&mut document);
        assert!(
            document["components"]["schemas"]["Maybe"]
                .get("oneOf")
                .is_some()
        );
        document["components"]["schemas"]["Either"].take()
    }

    fn object(properties: Json, required: &[&str], closed: bool) -> Json {
        let mut object = json!({"type": "object", "properties": properties, "required": required});
        if closed {
            object["additionalProperties"] = false.into();
        }
        object
    }

    #[test]
    fn what_a_value_may_fit_at_once_is_any_of_several() {
        let named = || object(json!({"name": {"type": "string"}}), &["name"], false);
        let aged = object(json!({"age": {"type": "number"}}), &["age"], false);
        assert!(shaped(named(), aged).get("anyOf").is_some());
        assert!(shaped(named(), named()).get("anyOf").is_some());
    }

    #[test]
    fn what_a_word_or_a_foreign_key_tells_apart_is_one_of_several() {
        let kind = |words: Json| object(json!({"kind": words}), &["kind"], false);
        let (a, b) = (
            kind(json!({"const": "a"})),
            kind(json!({"enum": ["b", "c"]})),
        );
        assert!(shaped(a.clone(), b).get("oneOf").is_some());
        let same = kind(json!({"enum": ["a", "c"]}));
        assert!(shaped(a, same).get("anyOf").is_some());
        let open = object(json!({"name": {"type": "string"}}), &["name"], false);
        let closed = object(json!({"age": {"type": "number"}}), &["age"], true);
        assert!(shaped(open, closed).get("oneOf").is_some());
    }
}
