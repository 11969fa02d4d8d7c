//! A policy with what is different in one cluster.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::DeploymentError;
use super::cluster::Override;
use placewright_engine::generation::Generation;
use placewright_model::schema::Schema;
use placewright_policy::Policy;

/// Check a policy document against units and a cluster's tables, and put in what is
/// different there. The result is checked as if it had been written so.
///
/// # Errors
/// Everything that is wrong with the document; or a name that no entry has.
pub(crate) fn effective(
    text: &str,
    file: &str,
    overrides: &BTreeMap<String, Override>,
    generation: &Generation,
    schema: &Schema,
) -> Result<Policy, DeploymentError> {
    let policy = Policy::load(text, file, generation, schema)?;
    if overrides.is_empty() {
        return Ok(policy);
    }
    let mut document = serde_json::to_value(&policy).unwrap_or_default();
    let mut entries = entries(&mut document);
    // Walked once: there may be many entries and many overrides.
    let mut named: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, (list, entry)) in entries.iter().enumerate() {
        let name = entry.get("name").and_then(Value::as_str).unwrap_or(list);
        named.entry(name.to_owned()).or_default().push(index);
    }
    for (name, wanted) in overrides {
        let mut found = false;
        for &index in named.get(name).into_iter().flatten() {
            let (list, entry) = &mut entries[index];
            if wanted.factor.is_none() || *list == "costs" {
                found = true;
                put(entry, list, wanted);
            }
        }
        if !found {
            let what = match wanted.factor {
                Some(_) => "cost in the policy that is called",
                None => "entry in the policy that is called",
            };
            let names = named.keys().map(String::as_str);
            return Err(DeploymentError::unknown(what, name, names));
        }
    }
    let text = document.to_string();
    let file = format!("{file} with this cluster's overrides.json");
    Ok(Policy::load(&text, &file, generation, schema)?)
}

/// All entries of a policy, each with the list that it stands in.
fn entries(document: &mut Value) -> Vec<(&'static str, &mut Map<String, Value>)> {
    let mut all = Vec::new();
    let Some(document) = document.as_object_mut() else {
        return all;
    };
    for (key, value) in document.iter_mut() {
        match (key.as_str(), value) {
            ("stages", Value::Array(stages)) => {
                for stage in stages.iter_mut().filter_map(Value::as_object_mut) {
                    for (key, value) in stage.iter_mut() {
                        let list = ["filters", "costs", "selections"];
                        let list = list.into_iter().find(|list| list == key);
                        if let (Some(list), Value::Array(of_list)) = (list, value) {
                            let objects = of_list.iter_mut().filter_map(Value::as_object_mut);
                            all.extend(objects.map(|entry| (list, entry)));
                        }
                    }
                }
            }
            ("effects", Value::Array(effects)) => {
                let objects = effects.iter_mut().filter_map(Value::as_object_mut);
                all.extend(objects.map(|entry| ("effects", entry)));
            }
            ("order", Value::Object(entry)) => all.push(("order", entry)),
            ("balance", Value::Object(entry)) => all.push(("balance", entry)),
            _ => {}
        }
    }
    all
}

fn put(entry: &mut Map<String, Value>, list: &str, wanted: &Override) {
    if let Some(factor) = wanted.factor.filter(|_| list == "costs") {
        entry.insert("factor".to_owned(), json!(factor));
    }
    if let Some(enabled) = wanted.enabled {
        entry.insert("enabled".to_owned(), json!(enabled));
    }
    if !wanted.settings.is_empty() {
        let settings = entry.entry("settings").or_insert_with(|| json!({}));
        if let Some(settings) = settings.as_object_mut() {
            settings.extend(wanted.settings.clone());
        }
    }
}
