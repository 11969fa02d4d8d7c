//! Rows as documents have them, and what is different of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::cluster::Body;
use placewright_document::{ClusterDocument, PlacedVm, WrittenFacts};
use placewright_inventory::SavedMeasured;
use placewright_model::schema::{Schema, Source};
use placewright_model::{Facts, Group, Host, Vm};
use placewright_store::RecordedChange;

/// A document of the cluster without anything in it.
fn empty(schema: &Schema) -> ClusterDocument {
    ClusterDocument {
        name: "".into(),
        now: None,
        seed: 0,
        schema: schema.clone(),
        facts: Facts::new(),
        tenants: BTreeMap::new(),
        hosts: Vec::new(),
        vms: Vec::new(),
        groups: Vec::new(),
    }
}

/// The only entry of that list of a document.
fn only(document: &ClusterDocument, list: &str) -> Value {
    let mut whole = serde_json::to_value(document).unwrap_or_default();
    whole[list][0].take()
}

/// A host as documents write it.
pub(super) fn host(schema: &Schema, host: Host) -> Value {
    let mut document = empty(schema);
    document.hosts = vec![host];
    only(&document, "hosts")
}

/// A VM as documents write it, with what belongs to its stay on a host, without the host.
pub(super) fn vm(schema: &Schema, vm: Vm, placed: Facts) -> Value {
    let mut document = empty(schema);
    document.vms = vec![PlacedVm {
        vm,
        placed,
        host: "".into(),
        pending: false,
    }];
    let mut written = only(&document, "vms");
    if let Some(keys) = written.as_object_mut() {
        keys.remove("host");
    }
    written
}

/// A group as documents write it.
pub(super) fn group(schema: &Schema, group: Group) -> Value {
    let mut document = empty(schema);
    document.groups = vec![group];
    only(&document, "groups")
}

/// A tenant as documents write it.
pub(super) fn tenant(schema: &Schema, id: &str, facts: &Facts) -> Value {
    let table = "tenant";
    let written = WrittenFacts {
        schema,
        table,
        facts,
    };
    let mut written = serde_json::to_value(written).unwrap_or_default();
    written["id"] = json!(id);
    written
}

/// What is different between both, with the id: null takes away. None if nothing is.
pub(super) fn different(id: &str, before: &Value, after: &Value) -> Option<Value> {
    let none = Map::new();
    let keys = |value: &'_ Value| value.as_object().cloned().unwrap_or_else(|| none.clone());
    let (before, after) = (keys(before), keys(after));
    let mut different = Map::new();
    for (key, value) in &after {
        if before.get(key) != Some(value) {
            different.insert(key.clone(), value.clone());
        }
    }
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        different.insert(key.clone(), Value::Null);
    }
    different.remove("id");
    if different.is_empty() {
        return None;
    }
    different.insert("id".to_owned(), json!(id));
    Some(Value::Object(different))
}

/// A request that was recorded with what was worked out of it, as it can be asked again.
pub(super) fn asked(schema: &Schema, mut written: Value) -> Value {
    let given = |table: &str, keys: &mut Map<String, Value>| {
        keys.retain(|key, _| {
            let column = schema.column(table, key);
            column.is_none_or(|column| column.source != Source::Kept)
        });
    };
    let given_of_vm = |keys: &mut Map<String, Value>| {
        let id = keys.remove("id");
        given("members", keys);
        keys.extend(id.map(|id| ("id".to_owned(), id)));
    };
    if let Some(keys) = written.as_object_mut() {
        // It is that of the event.
        keys.remove("now");
        given("request", keys);
        let vms = keys.get_mut("vms").and_then(Value::as_array_mut);
        vms.into_iter()
            .flatten()
            .filter_map(Value::as_object_mut)
            .for_each(given_of_vm);
    }
    written
}

/// What was measured of a host and was not before: an entry for each time at which something was.
pub(super) fn statistics(
    schema: &Schema,
    id: &str,
    before: Option<&SavedMeasured>,
    after: Option<&SavedMeasured>,
) -> Vec<Value> {
    let (before, after) = (Measured::of(before), Measured::of(after));
    let mut by_time: BTreeMap<i64, Facts> = BTreeMap::new();
    for (name, at) in &after.at {
        let is_same = before.at.get(name) == Some(at)
            && before.facts.get(name) == after.facts.get(name)
            && before.facts.rows(name) == after.facts.rows(name);
        if is_same {
            continue;
        }
        let facts = by_time.entry(*at).or_default();
        if let Some(value) = after.facts.get(name) {
            facts.set(name.clone(), value.clone());
        }
        facts.set_rows(name.clone(), after.facts.rows(name).to_vec());
    }
    let mut entries: Vec<Value> = by_time
        .into_iter()
        .map(|(at, facts)| {
            let written = WrittenFacts {
                schema,
                table: "hosts",
                facts: &facts,
            };
            let mut entry = serde_json::to_value(written).unwrap_or_default();
            entry["id"] = json!(id);
            entry["measured"] = json!(at);
            entry
        })
        .collect();
    let gone = before
        .at
        .keys()
        .filter(|name| !after.at.contains_key(*name));
    let mut taken: Map<String, Value> = gone.map(|name| (name.to_string(), Value::Null)).collect();
    if !taken.is_empty() {
        taken.insert("id".to_owned(), json!(id));
        entries.push(Value::Object(taken));
    }
    entries
}

/// What is kept of what was measured, as it is read here.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Measured {
    facts: Facts,
    at: BTreeMap<Arc<str>, i64>,
}

impl Measured {
    fn of(saved: Option<&SavedMeasured>) -> Self {
        let kept = saved.and_then(|saved| serde_json::to_value(saved).ok());
        kept.and_then(|kept| serde_json::from_value(kept).ok())
            .unwrap_or_default()
    }
}

/// Whether the cluster itself became another one: what a replay of it does not know.
pub(super) fn says_otherwise(change: &RecordedChange) -> bool {
    let read = |body: &Option<String>| -> Option<Body> {
        body.as_deref().and_then(|it| serde_json::from_str(it).ok())
    };
    match (read(&change.before), read(&change.after)) {
        (Some(before), Some(after)) => {
            before.document != after.document
                || before.settings.statistics_max_age != after.settings.statistics_max_age
                || before.settings.unmeasured_max_age != after.settings.unmeasured_max_age
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_asked_again_without_its_time() {
        let schema = Schema::built_in();
        let request = json!({"now": 7, "vms": [{"id": "v", "cpu": 1}], "force": "h"});
        assert_eq!(
            asked(schema, request),
            json!({"vms": [{"id": "v", "cpu": 1}], "force": "h"})
        );
    }
}
