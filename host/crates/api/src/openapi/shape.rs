//! The description in a shape that generators of clients make good types of.
//!
//! What is described stays the same. Bodies that flatten others into themselves become plain
//! objects; variants get names, so that a client has a type for each; names of generic types
//! are turned round (`HostPage`); and what nothing refers to is left out.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json, json};

use super::amounts::take_texts;
use super::exclusive::any_where_several_fit;

/// The schemas of a document, by name.
type Schemas = Map<String, Json>;

pub(super) const PREFIX: &str = "#/components/schemas/";

/// Bring the document into shape. `named` are schemas besides those that it has, by name.
pub(super) fn shape(document: &mut Json, named: Schemas) {
    let mut schemas = match document["components"]["schemas"].take() {
        Json::Object(schemas) => schemas,
        _ => Schemas::new(),
    };
    schemas.extend(named);
    name_entries(&mut schemas);
    let flat: Vec<(String, Json)> = (schemas.iter())
        .filter_map(|(name, schema)| Some((name.clone(), flattened(schema, &schemas)?)))
        .collect();
    schemas.extend(flat);
    take_texts(&mut schemas);
    name_variants(&mut schemas);
    document["components"]["schemas"] = schemas.into();
    everywhere(document, &mut plain);
    rename(document);
    optional_parameters(document);
    any_where_several_fit(document);
    drop_unused(document);
    everywhere(
        &mut document["components"]["schemas"],
        &mut whole_numbers_by_themselves,
    );
}

/// Where a whole number or something else may stand, have each be an alternative: of a format that
/// stands beside several types some generators take no notice, and have numbers of 32 bits.
fn whole_numbers_by_themselves(schema: &mut Map<String, Json>) {
    let kinds = match schema.get("type") {
        Some(Json::Array(kinds)) => kinds.clone(),
        _ => return,
    };
    let has = |kind: &str| kinds.iter().any(|it| it == kind);
    if !has("integer") || !has("string") {
        return;
    }
    let format = schema.remove("format");
    let pattern = schema.remove("pattern");
    let bounds = ["minimum", "maximum"].map(|bound| (bound, schema.remove(bound)));
    let of_number = bounds.into_iter();
    let either = kinds.iter().map(|kind| {
        let mut one = Map::from_iter([("type".to_owned(), kind.clone())]);
        let more: Vec<(&str, Option<Json>)> = match kind.as_str() {
            Some("integer") => {
                let whole = format.clone().filter(|format| *format == "int64");
                let bits = whole.unwrap_or_else(|| "int64".into());
                let bounds = of_number.clone();
                bounds.chain([("format", Some(bits))]).collect()
            }
            Some("string") => {
                let of_text = format.clone().filter(|format| *format != "int64");
                vec![("pattern", pattern.clone()), ("format", of_text)]
            }
            _ => Vec::new(),
        };
        one.extend(
            more.into_iter()
                .filter_map(|(key, it)| Some((key.to_owned(), it?))),
        );
        Json::Object(one)
    });
    let either: Vec<Json> = either.collect();
    schema.remove("type");
    schema.insert("anyOf".to_owned(), either.into());
}

/// Call `each` with every object below the value, inner ones first.
fn everywhere(value: &mut Json, each: &mut impl FnMut(&mut Map<String, Json>)) {
    match value {
        Json::Object(object) => {
            object.values_mut().for_each(|it| everywhere(it, each));
            each(object);
        }
        Json::Array(list) => list.iter_mut().for_each(|it| everywhere(it, each)),
        _ => {}
    }
}

fn resolved<'s>(schema: &'s Json, schemas: &'s Schemas) -> &'s Json {
    let name = schema["$ref"]
        .as_str()
        .and_then(|it| it.strip_prefix(PREFIX));
    let named = name.and_then(|name| schemas.get(name));
    named.map_or(schema, |named| resolved(named, schemas))
}

/// A schema that is all of several as one object, or as one of several objects.
fn flattened(schema: &Json, schemas: &Schemas) -> Option<Json> {
    let parts = schema["allOf"].as_array()?;
    let mut whole = json!({ "type": "object", "properties": {}, "required": [] });
    let mut variants = None;
    for part in parts {
        let part = resolved(part, schemas);
        let flat = flattened(part, schemas);
        let part = flat.as_ref().unwrap_or(part);
        match part["oneOf"].as_array() {
            Some(one_of) => variants = Some(one_of.clone()),
            None => add(&mut whole, part),
        }
    }
    let mut whole = match variants {
        None => whole,
        Some(variants) => {
            let variants = variants.iter().map(|variant| {
                let mut all = whole.clone();
                add(&mut all, resolved(variant, schemas));
                described(all, variant)
            });
            json!({ "oneOf": variants.collect::<Vec<_>>() })
        }
    };
    whole = described(whole, schema);
    Some(whole)
}

/// The same schema with what the other one says for people.
fn described(mut schema: Json, by: &Json) -> Json {
    for key in ["description", "examples"] {
        if let Some(said) = by.get(key) {
            schema[key] = said.clone();
        }
    }
    schema
}

/// Add the properties of a part to those of the whole.
fn add(whole: &mut Json, part: &Json) {
    if let (Some(all), Some(more)) = (
        whole["properties"].as_object_mut(),
        part["properties"].as_object(),
    ) {
        all.extend(more.clone());
    }
    if let (Some(all), Some(more)) = (
        whole["required"].as_array_mut(),
        part["required"].as_array(),
    ) {
        all.extend(more.iter().cloned());
    }
}

/// Pages refer to what they are pages of.
fn name_entries(schemas: &mut Schemas) {
    let names: Vec<String> = schemas.keys().cloned().collect();
    for name in names {
        let Some(of) = name.strip_prefix("Page_") else {
            continue;
        };
        let reference = json!({ "$ref": format!("{PREFIX}{of}") });
        let items = &mut schemas[&name]["properties"]["items"]["items"];
        let inline = std::mem::replace(items, reference);
        if inline.get("$ref").is_none() {
            schemas.entry(of.to_owned()).or_insert(inline);
        }
    }
}

/// Have a schema of its own for each of several variants that a property tells apart.
fn name_variants(schemas: &mut Schemas) {
    let names: Vec<String> = schemas.keys().cloned().collect();
    for name in names {
        let Some(variants) = schemas[&name]["oneOf"].as_array() else {
            continue;
        };
        let Some(tag) = variants.first().and_then(tag_of) else {
            continue;
        };
        let words: Option<Vec<String>> = variants.iter().map(|it| word_of(it, &tag)).collect();
        let Some(words) = words else {
            continue;
        };
        let variants = variants.clone();
        let (mut references, mut mapping) = (Vec::new(), BTreeMap::new());
        for (word, mut variant) in words.into_iter().zip(variants) {
            variant["properties"][&tag]["description"] = format!("Always {word}").into();
            let of_variant = format!("{name}{}", camel(&word));
            let reference = format!("{PREFIX}{of_variant}");
            references.push(json!({ "$ref": reference }));
            mapping.insert(word, reference);
            schemas.insert(of_variant, variant);
        }
        schemas[&name]["oneOf"] = references.into();
        schemas[&name]["discriminator"] = json!({ "propertyName": tag, "mapping": mapping });
    }
}

/// The property of which a variant has one value alone.
fn tag_of(variant: &Json) -> Option<String> {
    let mut properties = variant["properties"].as_object()?.iter();
    let tag = properties.find(|(name, _)| word_of(variant, name).is_some());
    tag.map(|(name, _)| name.clone())
}

fn word_of(variant: &Json, tag: &str) -> Option<String> {
    let words = variant["properties"][tag]["enum"].as_array()?;
    match words.as_slice() {
        [Json::String(word)] => Some(word.clone()),
        _ => None,
    }
}

fn camel(word: &str) -> String {
    let parts = word.split(['-', '_']);
    parts
        .map(|part| {
            let mut characters = part.chars();
            let first = characters.next().map(|it| it.to_ascii_uppercase());
            first.into_iter().chain(characters).collect::<String>()
        })
        .collect()
}

/// Say the same of one schema in a plainer way.
fn plain(schema: &mut Map<String, Json>) {
    // The only word that there is.
    let only = match schema
        .get("enum")
        .and_then(Json::as_array)
        .map(Vec::as_slice)
    {
        Some([only]) => Some(only.clone()),
        _ => None,
    };
    if let Some(only) = only {
        schema.remove("enum");
        schema.insert("const".to_owned(), only);
    }
    if is_schema(schema)
        && let Some(example) = schema.remove("example")
    {
        schema.insert("examples".to_owned(), json!([example]));
    }
    // Generators take a key with a default for one that is always there.
    if matches!(schema.get("type"), Some(Json::String(_) | Json::Array(_))) {
        schema.remove("default");
    }
    // A reference with a default comes as a choice of one.
    let only = match schema.get("oneOf").and_then(Json::as_array) {
        Some(either) if schema.contains_key("default") => match either.as_slice() {
            [Json::Object(only)] => Some(only.clone()),
            _ => None,
        },
        _ => None,
    };
    if let Some(only) = only {
        schema.remove("default");
        schema.remove("oneOf");
        schema.extend(only);
    }
    words_as_one(schema);
    // What a key means stands beside what it may be.
    if let Some(Json::Array(either)) = schema.get_mut("oneOf")
        && let [null, other] = either.as_mut_slice()
        && null["type"] == "null"
        && let Some(meaning) = other
            .as_object_mut()
            .and_then(|it| it.remove("description"))
    {
        schema.insert("description".to_owned(), meaning);
    }
    if schema.get("required").is_some_and(|it| *it == json!([])) {
        schema.remove("required");
    }
}

/// Whether an object is a schema, and not a parameter, or properties of which one is called `type`.
fn is_schema(object: &Map<String, Json>) -> bool {
    let says = |key: &str| object.get(key).is_some_and(|it| !it.is_object());
    let is_parameter = says("in") && says("name");
    let keys = ["type", "oneOf", "anyOf", "$ref", "enum", "const"];
    !is_parameter && keys.into_iter().any(says)
}

/// Where one of several words or something else may stand, have the words be one alternative:
/// generators that pass over `const` take each of several for any text.
fn words_as_one(schema: &mut Map<String, Json>) {
    let Some(either) = schema.get_mut("oneOf").and_then(Json::as_array_mut) else {
        return;
    };
    let is_word = |it: &Json| it["type"] == "string" && it["const"].is_string();
    let (words, others): (Vec<Json>, Vec<Json>) = either.drain(..).partition(is_word);
    if words.len() < 2 {
        either.extend(words);
        either.extend(others);
        return;
    }
    let meanings = words.iter().filter_map(|it| {
        let (word, meaning) = (it["const"].as_str()?, it["description"].as_str()?);
        Some(format!("- `{word}`: {meaning}"))
    });
    let meanings: Vec<String> = meanings.collect();
    let named: Vec<&Json> = words.iter().map(|it| &it["const"]).collect();
    let mut one = json!({ "type": "string", "enum": named });
    if !meanings.is_empty() {
        one["description"] = meanings.join("\n").into();
    }
    either.push(one);
    either.extend(others);
}

/// Names that read well in a client: `HostPage` for `Page_Host`.
fn rename(document: &mut Json) {
    let names: Vec<String> = match &document["components"]["schemas"] {
        Json::Object(schemas) => schemas.keys().cloned().collect(),
        _ => return,
    };
    let renamed: BTreeMap<String, String> = names
        .into_iter()
        .map(|name| {
            let new = match name.split_once('_') {
                Some((generic, of)) => format!("{}{generic}", of.replace('_', "")),
                None => name.clone(),
            };
            (name, new)
        })
        .collect();
    everywhere(document, &mut |object| {
        if let Some(Json::String(reference)) = object.get_mut("$ref")
            && let Some(new) = reference
                .strip_prefix(PREFIX)
                .and_then(|it| renamed.get(it))
        {
            *reference = format!("{PREFIX}{new}");
        }
    });
    if let Json::Object(schemas) = document["components"]["schemas"].take() {
        let schemas = schemas.into_iter();
        let schemas = schemas.map(|(name, schema)| (renamed[&name].clone(), schema));
        document["components"]["schemas"] = schemas.collect::<Schemas>().into();
    }
}

/// A parameter that is left out is not null.
fn optional_parameters(document: &mut Json) {
    let Some(paths) = document["paths"].as_object_mut() else {
        return;
    };
    let items = paths.values_mut().filter_map(Json::as_object_mut);
    for operation in items.flat_map(Map::values_mut) {
        let parameters = operation["parameters"].as_array_mut();
        for parameter in parameters.into_iter().flatten() {
            let kinds = parameter["schema"]["type"].as_array_mut();
            if let Some(kinds) = kinds {
                kinds.retain(|it| it != "null");
                if let [one] = kinds.as_slice() {
                    parameter["schema"]["type"] = one.clone();
                }
            }
        }
        if operation.get("parameters").is_some_and(Json::is_null) {
            operation.as_object_mut().map(|it| it.remove("parameters"));
        }
    }
}

/// Leave out the schemas that nothing refers to.
fn drop_unused(document: &mut Json) {
    let mut used = BTreeSet::new();
    let mut ahead = Vec::new();
    references(&document["paths"], &mut ahead);
    while let Some(name) = ahead.pop() {
        if used.insert(name.clone()) {
            references(&document["components"]["schemas"][&name], &mut ahead);
        }
    }
    if let Some(schemas) = document["components"]["schemas"].as_object_mut() {
        schemas.retain(|name, _| used.contains(name));
    }
}

fn references(value: &Json, found: &mut Vec<String>) {
    match value {
        Json::Object(object) => {
            let name = object.get("$ref").and_then(Json::as_str);
            let name = name.and_then(|it| it.strip_prefix(PREFIX));
            found.extend(name.map(str::to_owned));
            object.values().for_each(|it| references(it, found));
        }
        Json::Array(list) => list.iter().for_each(|it| references(it, found)),
        _ => {}
    }
}
