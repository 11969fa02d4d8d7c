//! A policy's document in JSON, as TOML: the form changes documents in TOML alone.

use std::borrow::Cow;

use serde_json::{Map, Value as Json};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value};

use super::document::Language;

/// How deep lists of tables are written one table after the other: entries of a policy, and those
/// of its stages.
const DEEP: usize = 2;

/// The document in TOML, with the same content. One that is TOML already, or that TOML cannot say,
/// stays as it is.
pub(crate) fn as_toml(text: &str) -> Cow<'_, str> {
    if Language::of(text) == Language::Toml {
        return text.into();
    }
    let read = serde_json::from_str::<Json>(text).ok();
    let document = read.as_ref().and_then(Json::as_object);
    let document = document.and_then(|it| table(it, DEEP));
    match document {
        Some(table) => DocumentMut::from(table).to_string().into(),
        None => text.into(),
    }
}

/// None: something in it has no counterpart in TOML, such as null.
fn table(object: &Map<String, Json>, deep: usize) -> Option<Table> {
    let mut table = Table::new();
    let is_list = |json: &Json| matches!(json, Json::Array(rows) if !rows.is_empty() && rows.iter().all(Json::is_object));
    // What is written as a header of its own ends the table before.
    let (below, within): (Vec<_>, Vec<_>) = object
        .iter()
        .partition(|(_, json)| deep > 0 && (is_list(json) || (deep == DEEP && json.is_object())));
    for (key, json) in within {
        table.insert(key, Item::Value(value(json)?));
    }
    for (key, json) in below {
        let item = match json {
            Json::Object(object) => Item::Table(self::table(object, 0)?),
            Json::Array(rows) => {
                let mut tables = ArrayOfTables::new();
                for row in rows {
                    tables.push(self::table(row.as_object()?, deep - 1)?);
                }
                Item::ArrayOfTables(tables)
            }
            _ => return None,
        };
        table.insert(key, item);
    }
    Some(table)
}

fn value(json: &Json) -> Option<Value> {
    Some(match json {
        Json::Null => return None,
        Json::Bool(yes) => (*yes).into(),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => whole.into(),
            (None, Some(number)) if !json.is_u64() => number.into(),
            _ => return None,
        },
        Json::String(text) => text.as_str().into(),
        Json::Array(values) => {
            let values: Option<Array> = values.iter().map(value).collect();
            values?.into()
        }
        Json::Object(object) => {
            let mut table = InlineTable::new();
            for (key, json) in object {
                table.insert(key, value(json)?);
            }
            table.into()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::changes::between;
    use super::*;

    #[test]
    fn a_document_in_json_says_the_same_in_toml() {
        let json = r#"{"name": "a", "tie-rule": ["id", "draw"], "settings": {"x": {"y": 1.5}},
            "stages": [{"name": "s", "filters": [{"unit": "cpu", "settings": {"overcommit": 2}}],
                "costs": [{"unit": "memory", "factor": 2.5, "enabled": false}]}],
            "balance": {"unit": "b", "settings": {}}, "effects": []}"#;
        let toml = as_toml(json);
        assert_eq!(Language::of(&toml), Language::Toml);
        assert!(toml.contains("[[stages.costs]]"), "{toml}");
        assert_eq!(between(json, &toml), Some(Vec::new()), "{toml}");
        let read: toml_edit::DocumentMut = toml.parse().unwrap();
        assert_eq!(
            read["stages"][0]["costs"][0]["factor"].as_float(),
            Some(2.5)
        );
        assert_eq!(read["settings"]["x"]["y"].as_float(), Some(1.5));
        // It is not changed twice, and what TOML cannot say stays.
        assert_eq!(as_toml(&toml), toml);
        for same in [
            "{\"a\": null}",
            "{\"a\": 18446744073709551615}",
            "{",
            "x = 1",
        ] {
            assert_eq!(as_toml(same), same);
        }
    }
}
