//! JSON to a tree. Comments are allowed.

use std::collections::HashMap;

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::{Content, DEEPEST, Entry, Node, Nulls, Positions, Table};
use crate::document::Problems;

const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub(super) fn parse(
    text: &str,
    positions: &Positions<'_>,
    nulls: Nulls,
) -> Result<Table, Problems> {
    let mut reader = Reader {
        positions,
        nulls,
        problems: Problems::new(),
    };
    let value = match parse_to_ast(text, &CollectOptions::default(), &OPTIONS) {
        Ok(result) => result.value,
        Err(error) => {
            let place = positions.place(error.range().start);
            let message = format!("this is no JSON: {}", error.kind());
            reader.problems.add(&place, message);
            return reader.problems.or(empty(positions));
        }
    };
    let table = match value {
        Some(Value::Object(object)) => reader.table(&object, 0),
        other => {
            let offset = other.map_or(0, |value| value.start());
            reader.problems.add(
                &positions.place(offset),
                "a document is an object: it begins with { and ends with }",
            );
            empty(positions)
        }
    };
    reader.problems.or(table)
}

fn empty(positions: &Positions<'_>) -> Table {
    Table {
        place: positions.place(0),
        entries: Vec::new(),
    }
}

struct Reader<'p, 't> {
    positions: &'p Positions<'t>,
    nulls: Nulls,
    problems: Problems,
}

impl Reader<'_, '_> {
    fn table(&mut self, object: &Object<'_>, depth: usize) -> Table {
        let mut entries: Vec<Entry> = Vec::new();
        let mut known = HashMap::new();
        for property in &object.properties {
            let place = self.positions.place(property.name.start());
            let key = property.name.as_str();
            if let Some(first) = known.insert(key, place.clone()) {
                let message = format!(
                    "the key \"{key}\" stands here for the second time; the first is at {first}"
                );
                self.problems.add(&place, message);
                continue;
            }
            let node = match (&property.value, self.nulls) {
                (Value::NullKeyword(_), Nulls::LeftOut) => continue,
                (Value::NullKeyword(_), Nulls::Kept) => Node {
                    place: self.positions.place(property.value.start()),
                    content: Content::Null,
                },
                (value, _) => self.node(value, depth + 1),
            };
            entries.push(Entry {
                key: key.into(),
                place,
                node,
            });
        }
        Table {
            place: self.positions.place(object.start()),
            entries,
        }
    }

    fn node(&mut self, value: &Value<'_>, depth: usize) -> Node {
        let place = self.positions.place(value.start());
        let content = match value {
            Value::Object(_) | Value::Array(_) if depth > DEEPEST => {
                self.problems.add(
                    &place,
                    format!("nothing may be nested deeper than {DEEPEST} levels"),
                );
                Content::List(Vec::new())
            }
            Value::Object(object) => Content::Table(self.table(object, depth)),
            Value::Array(array) => Content::List(
                array
                    .elements
                    .iter()
                    .map(|value| self.node(value, depth + 1))
                    .collect(),
            ),
            Value::StringLit(text) => Content::Text(text.value.as_ref().into()),
            Value::NumberLit(digits) => number(digits.value),
            Value::BooleanLit(boolean) => Content::Boolean(boolean.value),
            Value::NullKeyword(_) => {
                self.problems
                    .add(&place, "null is no value of a list; leave it out");
                Content::List(Vec::new())
            }
        };
        Node { place, content }
    }
}

fn number(digits: &str) -> Content {
    match digits.parse() {
        Ok(integer) => Content::Integer(integer),
        Err(_) => Content::Number(digits.parse().unwrap_or(f64::NAN)),
    }
}
