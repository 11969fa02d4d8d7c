//! Whatever a document holds, reading it ends in values or in problems.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::{Policy, UnitDescriptions, UnitName};
use placewright_document::{ClusterDocument, Surroundings, read_requests};
use placewright_engine::contract::Description;
use placewright_model::schema::Schema;

struct NoUnits;

impl UnitDescriptions for NoUnits {
    fn find(&self, _: &UnitName) -> Option<&Description> {
        None
    }

    fn digest(&self, _: &str) -> Option<String> {
        None
    }

    fn names(&self) -> Vec<&str> {
        vec!["memory"]
    }
}

/// Names that documents know, so that junk gets past the first check.
fn key() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "hosts",
        "vms",
        "groups",
        "tenants",
        "attributes",
        "id",
        "host",
        "pending",
        "pinned",
        "memory",
        "memory.total",
        "total",
        "cpu",
        "usage",
        "networks",
        "name",
        "numa-nodes",
        "host-nodes",
        "index",
        "watch",
        "since",
        "attribute",
        "attribute.x",
        "x",
        "kind",
        "table",
        "measure",
        "rule",
        "hard",
        "seed",
        "now",
        "requests",
        "draw",
        "together",
        "stages",
        "filters",
        "costs",
        "selections",
        "unit",
        "settings",
        "balance",
        "watches",
        "column",
        "at-least",
        "tier",
        "factor",
        "tie-rule",
        "position",
        "vcpus",
        "current",
        "",
    ]);
    prop_oneof![10 => known.prop_map(str::to_owned), 1 => "\\PC{0,4}"]
}

fn scalar() -> impl Strategy<Value = Json> {
    let texts = prop::sample::select(vec![
        "h1",
        "integer",
        "text",
        "bytes",
        "positive",
        "1 GiB",
        "-1",
        "80 %",
        "id",
        "memory",
        "memory@9f2c",
        "@",
        "cpu.usage",
        "first",
        "2026-11-20T12:00:00Z",
        "",
    ]);
    prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        (-3..3_i64).prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        texts.prop_map(Json::from),
        "\\PC{0,4}".prop_map(Json::from),
    ]
}

fn tree() -> impl Strategy<Value = Json> {
    scalar().prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::btree_map(key(), inner, 0..6).prop_map(object),
        ]
    })
}

fn object(entries: BTreeMap<String, Json>) -> Json {
    Json::Object(entries.into_iter().collect())
}

fn read(text: &str, file: &str) {
    let schema = match ClusterDocument::read(text, file) {
        Ok(cluster) => cluster.schema,
        Err(problems) => {
            assert!(!problems.to_string().is_empty());
            Schema::default()
        }
    };
    let surroundings = Surroundings {
        schema: &schema,
        now: 0,
        hosts: None,
    };
    let _ = read_requests(text, file, surroundings);
    let _ = Policy::load(text, file, &NoUnits, &schema);
}

proptest! {
    #[test]
    fn no_tree_makes_reading_panic(entries in prop::collection::btree_map(key(), tree(), 0..8)) {
        let tree = object(entries);
        read(&tree.to_string(), "d.json");
        // TOML knows no null: trees that have one are left to JSON.
        if let Ok(toml) = toml::to_string(&tree) {
            read(&toml, "d.toml");
        }
        read(&json!({ "hosts": [tree.clone()], "vms": [tree.clone()], "stages": [tree] }).to_string(), "-");
    }
}
