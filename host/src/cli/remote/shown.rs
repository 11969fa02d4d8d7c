//! Answers of a server for people. Texts come from elsewhere, so that control characters in them
//! are shown as such and do nothing.

use std::fmt::Write;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Map, Value};

use crate::cli::output;
use placewright_model::rfc3339_key;

/// Columns of a table that is made of what there is.
const MOST_COLUMNS: usize = 7;

/// A text without characters that a terminal would obey.
pub(super) fn plain(text: &str) -> String {
    let shown = |character: char| match character.is_control() {
        true => character.escape_default().to_string(),
        false => character.to_string(),
    };
    text.chars().map(shown).collect()
}

/// A value in a cell.
pub(super) fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => match number.as_f64() {
            Some(number) if number.fract() != 0.0 => output::number(number),
            _ => number.to_string(),
        },
        Value::String(text) => plain(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(cell).collect();
            items.join(", ")
        }
        Value::Object(object) => {
            // What names a thing stands for it.
            let name = ["id", "vm", "host", "name", "kind"];
            let name = name.into_iter().find_map(|key| object.get(key));
            match name {
                Some(name) => cell(name),
                None => {
                    let pairs = object.iter();
                    let pairs = pairs.map(|(key, value)| format!("{} {}", plain(key), cell(value)));
                    pairs.collect::<Vec<_>>().join(", ")
                }
            }
        }
    }
}

/// A value under a key that tells its unit of measure: bytes, or seconds since 1970.
fn measured(key: &str, value: &Value) -> String {
    // Of a way to it, the last key.
    let key = key.rsplit('/').next().unwrap_or(key);
    let is_memory = key.starts_with("memory.") || key == "memory";
    let is_amount = !["memory.overcommit", "memory.usage"].contains(&key);
    let is_time = [
        "at",
        "checked",
        "created",
        "expires",
        "measured",
        "next-expiry",
        "now",
        "since",
        "until",
    ]
    .contains(&key);
    match value.as_i64() {
        Some(bytes) if is_memory && is_amount => output::bytes(bytes),
        Some(seconds) if is_time => {
            let since = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
            humantime::format_rfc3339_seconds(UNIX_EPOCH + since).to_string()
        }
        _ => cell(value),
    }
}

/// The value at the end of a way of keys with dots between them; a key may have dots itself.
pub(super) fn at<'v>(value: &'v Value, way: &str) -> &'v Value {
    if let Some(found) = value.get(way) {
        return found;
    }
    match way.split_once('/') {
        Some((first, rest)) => at(&value[first], rest),
        None => &Value::Null,
    }
}

/// One row for each item, with these columns; the way to the value stands after the colon, if it
/// is not the name.
pub(super) fn table<'v>(columns: &[&str], items: impl IntoIterator<Item = &'v Value>) -> String {
    let named: Vec<(&str, &str)> = columns
        .iter()
        .map(|column| {
            column
                .split_once(':')
                .unwrap_or((column, column.trim_start_matches('>')))
        })
        .collect();
    let names: Vec<&str> = named.iter().map(|(name, _)| *name).collect();
    let mut table = output::table(&names);
    for item in items {
        table.add_row(named.iter().map(|(name, way)| {
            let value = at(item, way);
            match name.starts_with('>') && value.is_null() {
                true => "-".to_owned(),
                false => measured(way, value),
            }
        }));
    }
    output::shown(&table)
}

/// An answer of any shape: its values one below the other, and its lists as tables.
pub(super) fn outline(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::Object(object) => outline_object(object, "", &mut text),
        Value::Array(items) if items.is_empty() => text.push_str("There is none."),
        Value::Array(items) => text.push_str(&list(items)),
        value => text.push_str(&cell(value)),
    }
    text.trim_end().to_owned()
}

fn outline_object(object: &Map<String, Value>, indent: &str, text: &mut String) {
    let is_simple = |value: &Value| match value {
        Value::Object(_) => false,
        Value::Array(items) => !items.iter().any(Value::is_object),
        _ => true,
    };
    let again = |key: &str| repeats_a_time(key, |other| object.contains_key(other));
    let simple = object
        .iter()
        .filter(|(key, value)| is_simple(value) && !value.is_null() && !again(key));
    let width = simple.clone().map(|(key, _)| key.chars().count()).max();
    for (key, value) in simple {
        let time = object.get(&*rfc3339_key(key)).filter(|_| value.is_i64());
        let shown = time.map_or_else(|| measured(key, value), cell);
        if shown.is_empty() {
            continue;
        }
        let width = width.unwrap_or(0);
        let _ = writeln!(text, "{indent}{:width$}  {shown}", plain(key));
    }
    for (key, value) in object.iter().filter(|(_, value)| !is_simple(value)) {
        match value {
            Value::Object(inner) => {
                let _ = writeln!(text, "{indent}{}:", plain(key));
                outline_object(inner, &format!("{indent}  "), text);
            }
            Value::Array(items) => {
                let _ = writeln!(text, "\n{indent}{}:\n{}\n", plain(key), list(items));
            }
            _ => {}
        }
    }
}

/// Whether a key says after RFC 3339 what another one of the same answer says in seconds, which is
/// shown as a time already.
fn repeats_a_time(key: &str, is_there: impl Fn(&str) -> bool) -> bool {
    let other = match key {
        "time" => "at",
        _ => key.strip_suffix("-time").unwrap_or_default(),
    };
    is_there(other) && rfc3339_key(other) == key
}

/// A list of objects, with the first of the columns that they have.
fn list(items: &[Value]) -> String {
    let mut columns: Vec<&str> = Vec::new();
    for key in items
        .iter()
        .filter_map(Value::as_object)
        .flat_map(Map::keys)
    {
        if !columns.contains(&key.as_str()) {
            columns.push(key);
        }
    }
    let all = columns.clone();
    columns.retain(|key| !repeats_a_time(key, |other| all.contains(&other)));
    // What names a thing stands first.
    let rank = |column: &&str| match *column {
        "id" | "name" | "number" | "step" => 0,
        "vm" | "host" | "filter" | "kind" => 1,
        _ => 2,
    };
    columns.sort_by_key(rank);
    columns.truncate(MOST_COLUMNS);
    match columns.is_empty() {
        true => items.iter().map(cell).collect::<Vec<_>>().join("\n"),
        false => table(&columns, items),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_from_elsewhere_do_nothing_to_the_terminal() {
        let text = outline(&json!({"id": "a\u{1b}[2J\n", "list": [{"name": "b\u{7}"}]}));
        assert!(
            !text.contains('\u{1b}') && !text.contains('\u{7}'),
            "{text:?}"
        );
        assert!(text.contains("a\\u{1b}[2J\\n"), "{text}");
    }

    #[test]
    fn an_answer_of_any_shape_is_shown_whole() {
        let text = outline(&json!({
            "number": 7, "reserved": true, "none": null, "vms": ["a", "b"],
            "counted": {"hosts": 2}, "moves": [{"reason": "r", "vm": "a", "step": 1}],
        }));
        assert_eq!(
            text,
            "number    7\nreserved  yes\nvms       a, b\ncounted:\n  hosts  2\n\nmoves:\nstep   vm   reason\n────────────────────\n1      a    r"
        );
    }

    #[test]
    fn a_time_is_shown_once_and_after_rfc_3339() {
        let plan = json!({
            "now": 0, "now-time": "1970-01-01T00:00:00Z",
            "until": null, "until-time": null, "time": "noon",
            "moves": [{"vm": "a", "at": 60, "time": "1970-01-01T00:01:00Z"}],
        });
        assert_eq!(
            outline(&plan),
            "now   1970-01-01T00:00:00Z\ntime  noon\n\nmoves:\nvm   at\n───────────────────────────\na    1970-01-01T00:01:00Z"
        );
    }

    #[test]
    fn columns_are_found_by_their_way() {
        let items = [json!({
            "id": "h", "memory.total": 1024, "counted": {"vms": 3}, "used": {"memory": 2048},
        })];
        let text = table(
            &[
                "host:id",
                ">memory:memory.total",
                ">VMs:counted/vms",
                ">used:used/memory",
                ">x",
            ],
            &items,
        );
        let row = text.lines().last().unwrap();
        assert_eq!(
            row.split_whitespace().collect::<Vec<_>>(),
            ["h", "1.0", "KiB", "3", "2.0", "KiB", "-"]
        );
    }
}
