//! An answer beside the one that is expected, field by field.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::case::Out;

/// How far weights may be apart.
const TOLERANCE: f64 = 1e-9;

/// A field by its path, what is expected there, and what was found.
pub(super) type Difference = (String, String, String);

/// All fields that differ.
pub(super) fn differences(expected: &Out, got: &Out) -> Vec<Difference> {
    let mut found = Vec::new();
    each("out.steps", &expected.steps, &got.steps, &mut found, step);
    each(
        "out.bindings",
        &expected.bindings,
        &got.bindings,
        &mut found,
        same,
    );
    found
}

/// Compare items one by one; if there are not as many, their numbers too.
fn each(
    path: &str,
    expected: &[Value],
    got: &[Value],
    found: &mut Vec<Difference>,
    compare: fn(&str, &Value, &Value, &mut Vec<Difference>),
) {
    if expected.len() != got.len() {
        let count = |items: &[Value]| format!("{} entries", items.len());
        found.push((path.to_owned(), count(expected), count(got)));
    }
    for (number, (expected, got)) in expected.iter().zip(got).enumerate() {
        compare(&format!("{path}[{number}]"), expected, got, found);
    }
}

fn step(path: &str, expected: &Value, got: &Value, found: &mut Vec<Difference>) {
    let (Value::Object(expected), Value::Object(got)) = (expected, got) else {
        return same(path, expected, got, found);
    };
    let names: BTreeSet<&String> = expected.keys().chain(got.keys()).collect();
    for name in names {
        let path = format!("{path}.{name}");
        match (expected.get(name), got.get(name)) {
            (Some(Value::Array(expected)), Some(Value::Array(got))) if name == "filters" => {
                each(&path, expected, got, found, same);
            }
            (Some(Value::Object(expected)), Some(Value::Object(got))) if name == "weights" => {
                weights(&path, expected, got, found);
            }
            (Some(expected), Some(got)) => same(&path, expected, got, found),
            (expected, got) => found.push((path, shown(expected), shown(got))),
        }
    }
}

fn weights(
    path: &str,
    expected: &Map<String, Value>,
    got: &Map<String, Value>,
    found: &mut Vec<Difference>,
) {
    let pods: BTreeSet<&String> = expected.keys().chain(got.keys()).collect();
    for pod in pods {
        let (expected, got) = (expected.get(pod), got.get(pod));
        let weight = |weight: Option<&Value>| weight.and_then(Value::as_f64);
        let are_near = match (weight(expected), weight(got)) {
            (Some(expected), Some(got)) => (expected - got).abs() <= TOLERANCE,
            _ => false,
        };
        if !are_near {
            found.push((format!("{path}.{pod}"), shown(expected), shown(got)));
        }
    }
}

fn same(path: &str, expected: &Value, got: &Value, found: &mut Vec<Difference>) {
    if expected != got {
        found.push((path.to_owned(), expected.to_string(), got.to_string()));
    }
}

/// A value that may not be there.
fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "no such field".to_owned(), Value::to_string)
}
