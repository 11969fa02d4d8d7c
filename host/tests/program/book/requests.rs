//! Every key of a request, in a page of the book: written from the OpenAPI document, with examples
//! that a request takes together.

use std::fmt::Write;
use std::fs;

use placewright_document::{Surroundings, read_requests};
use placewright_model::schema::Schema;
use placewright_tests::repository;
use serde_json::{Map, Value, json};

use super::check_tables;

/// Examples of texts, by their keys.
const TEXTS: [(&str, &str); 21] = [
    ("class", "operator"),
    ("flag", "avx512f"),
    ("force", "h1"),
    ("host", "h1"),
    ("id", "web-1"),
    ("key", "capability"),
    ("kind", "place"),
    ("machine", "pc-q35-9.0"),
    ("mode", "strict"),
    ("model", "A100"),
    ("name", "licence"),
    ("network", "storage"),
    ("now", "2026-11-25T10:00:00Z"),
    ("pinning", "manual"),
    ("reserve-for", "10 min"),
    ("size", "2 MiB"),
    ("state", "up"),
    ("tenant", "acme"),
    ("type", "high-performance"),
    ("value", "fast"),
    ("zone", "z1"),
];

/// Keys that say otherwise where a request takes no other value beside them.
const OTHERWISE: [&str; 1] = ["force"];

struct Contract(Value);

impl Contract {
    fn read() -> Self {
        let text = fs::read_to_string(repository().join("host/schemas/openapi.json")).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        Self(document["components"]["schemas"].clone())
    }

    fn keys(&self, schema: &str) -> &Map<String, Value> {
        self.0[schema]["properties"].as_object().unwrap()
    }

    /// The schema that a reference leads to.
    fn row<'v>(&self, schema: &'v Value) -> Option<&'v str> {
        let reference = schema["items"]["$ref"].as_str()?;
        reference.rsplit('/').next()
    }

    fn example(&self, key: &str, schema: &Value) -> Value {
        if let Some((_, text)) = TEXTS.iter().find(|(known, _)| *known == key)
            && kinds(schema).contains(&"string")
        {
            return (*text).into();
        }
        if let Some(example) = schema["examples"].get(0) {
            return example.clone();
        }
        match (kinds(schema)[0], self.row(schema)) {
            ("array", Some(row)) => {
                let keys = self.keys(row).iter();
                let row = keys.map(|(key, schema)| (key.clone(), self.example(key, schema)));
                json!([row.collect::<Map<_, _>>()])
            }
            ("array", None) => json!(["h1"]),
            ("boolean", _) => true.into(),
            ("integer", _) => 1.into(),
            ("number", _) => 0.5.into(),
            (kind, _) => panic!("{key}: no example of {kind}; add one to TEXTS"),
        }
    }

    /// A table of keys, but those that stand elsewhere.
    fn table(&self, schema: &str, elsewhere: Option<&str>) -> String {
        let mut table = "| key | value | meaning | example |\n|---|---|---|---|\n".to_owned();
        for (key, schema) in self.keys(schema) {
            let is_elsewhere = elsewhere.is_some_and(|other| self.keys(other).contains_key(key));
            if is_elsewhere || key == "vms" {
                continue;
            }
            let value = match (kinds(schema)[0], self.row(schema)) {
                ("array", Some(row)) => {
                    let keys: Vec<String> = self
                        .keys(row)
                        .iter()
                        .map(|(key, schema)| format!("`{key}`: {}", meaning(schema)))
                        .collect();
                    format!("rows of {}", keys.join("; "))
                }
                ("array", None) => "list of ids".to_owned(),
                _ => kinds(schema).join(" or ").replace("string", "text"),
            };
            let example = self.example(key, schema);
            let _ = writeln!(
                table,
                "| `{key}` | {value} | {} | `{example}` |",
                meaning(schema)
            );
        }
        table
    }

    /// A request with the examples of all keys that go together.
    fn request(&self) -> Value {
        let examples = |schema: &str| -> Map<String, Value> {
            let keys = self.keys(schema).iter();
            let keys = keys.filter(|(key, _)| *key != "vms" && !OTHERWISE.contains(&&***key));
            keys.map(|(key, schema)| (key.clone(), self.example(key, schema)))
                .collect()
        };
        let mut request = examples("PlacementRequest");
        // The tenant and zone of a VM are those of its request.
        let mut vm = examples("RequestedVm");
        vm.retain(|key, _| !request.contains_key(key));
        request.insert("vms".to_owned(), json!([vm]));
        request.into()
    }
}

/// The types of a value. A whole number or something else stand as alternatives.
fn kinds(schema: &Value) -> Vec<&str> {
    let either = schema["anyOf"].as_array().into_iter().flatten();
    let either: Vec<&str> = either.filter_map(|one| one["type"].as_str()).collect();
    match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ if either.contains(&"integer") => either,
        kind => vec![kind.as_str().unwrap_or("string")],
    }
}

fn meaning(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    text.replace('\n', " ").replace('|', "\\|")
}

#[test]
fn the_examples_of_all_keys_make_a_request() {
    let schema = Schema::default();
    let surroundings = Surroundings {
        schema: &schema,
        now: 0,
        hosts: None,
    };
    let text = Contract::read().request().to_string();
    let requests = read_requests(&text, "r.json", surroundings);
    assert_eq!(
        requests.unwrap_or_else(|it| panic!("{it}: {text}")).len(),
        1
    );
}

#[test]
fn the_reference_of_requests_is_current() {
    let contract = Contract::read();
    let vm = contract.table("RequestedVm", Some("PlacementRequest"));
    let tables = [
        ("request", contract.table("PlacementRequest", None)),
        ("vm", vm),
    ];
    check_tables("requests.md", &tables);
}
