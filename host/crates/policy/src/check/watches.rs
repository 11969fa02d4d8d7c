//! The watches of a policy.

use std::collections::HashMap;
use std::sync::Arc;

use crate::Watch;
use placewright_document::form::Fields;
use placewright_document::{Expected, Place, Problems, shown};
use placewright_model::schema::{Column, Schema};
use placewright_model::{Kind, Value};

/// All watches whose columns there are.
pub(super) fn watches(
    drafts: &[Fields<'_>],
    schema: &Schema,
    problems: &mut Problems,
) -> Vec<Watch> {
    let mut names: HashMap<Arc<str>, &Place> = HashMap::new();
    let mut watches = Vec::new();
    for draft in drafts {
        let name = name(draft, problems);
        if let (Some(name), Some(place)) = (&name, draft.place_of("name"))
            && let Some(first) = names.insert(name.clone(), place)
        {
            let message = format!("there is a second watch \"{name}\"; the first is at {first}");
            problems.add(place, message);
        }
        let Some(column) = column(draft, schema, problems) else {
            continue;
        };
        let at_least = bound(draft, "at-least", &column, problems);
        let at_most = bound(draft, "at-most", &column, problems);
        check_bounds(draft, problems);
        if let Some(name) = name {
            watches.push(Watch {
                name,
                measure: column.measure,
                column: column.name,
                at_least,
                at_most,
            });
        }
    }
    watches
}

/// The name of a watch, which becomes a part of a column's name.
fn name(draft: &Fields<'_>, problems: &mut Problems) -> Option<Arc<str>> {
    let (name, place) = (draft.text("name")?, draft.place_of("name")?);
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-._".contains(c);
    if name.is_empty() || !name.chars().all(plain) {
        let message = format!(
            "\"{}\" is no name for a watch: use lower-case letters, digits, hyphens and dots",
            shown(&name)
        );
        problems.add(place, message);
        return None;
    }
    Some(name)
}

fn column(draft: &Fields<'_>, schema: &Schema, problems: &mut Problems) -> Option<Column> {
    let (name, place) = (draft.text("column")?, draft.place_of("column")?);
    let numeric = |column: &Column| matches!(column.kind, Kind::Integer | Kind::Number);
    match schema.column("hosts", &name) {
        Some(column) if numeric(&column) => Some(column.into_owned()),
        Some(column) => {
            let message = format!(
                "\"{name}\" of a host is {}, and only integers and numbers can be watched",
                column.kind
            );
            problems.add(place, message);
            None
        }
        None => {
            let hosts = schema.table("hosts");
            let columns = hosts.iter().flat_map(|table| &table.columns);
            problems.add_misnamed(
                place,
                format!("a host has no \"{}\"", shown(&name)),
                &name,
                columns
                    .filter(|column| numeric(column))
                    .map(|column| &*column.name),
            );
            None
        }
    }
}

/// A bound, in the measure of its column.
fn bound(draft: &Fields<'_>, key: &str, column: &Column, problems: &mut Problems) -> Option<f64> {
    let expected = Expected {
        measure: column.measure,
        ..Expected::of_kind(key, Kind::Number)
    };
    match expected.read(draft.node(key)?, problems)? {
        Value::Number(number) => Some(number),
        _ => None,
    }
}

/// Of two bounds the watch holds between them, or outside if they cross.
fn check_bounds(draft: &Fields<'_>, problems: &mut Problems) {
    if draft.node("at-least").is_none() && draft.node("at-most").is_none() {
        problems.add(
            draft.place,
            "a watch needs \"at-least\" or \"at-most\": the values for which it holds",
        );
    }
}
