//! What a cluster sets otherwise than its policy, as properties.

use std::collections::BTreeMap;

use crate::fault::Fault;
use crate::import::table::PARAMETERS;
use crate::policy::{Said, json_of};
use placewright_deployment::Override;

/// The properties of a policy with what a cluster has of its own.
pub(super) fn shown(said: &Said, overrides: &BTreeMap<String, Override>) -> Vec<(String, String)> {
    let mut properties: BTreeMap<String, String> = said.properties.iter().cloned().collect();
    for entry in &said.settable {
        let Some(own) = overrides.get(&entry.name) else {
            continue;
        };
        for property in &entry.properties {
            if let Some(value) = own.settings.get(property.setting()) {
                properties.insert(property.name().to_owned(), property.text(value));
            }
        }
    }
    properties.into_iter().collect()
}

/// What is different in a cluster when these properties are set too. A value that the policy has
/// is nothing different.
///
/// # Errors
/// If no unit has such a property, or a value is none.
pub(super) fn overrides(
    said: &Said,
    mut known: BTreeMap<String, Override>,
    properties: &[(String, String)],
) -> Result<BTreeMap<String, Override>, Fault> {
    for (name, text) in properties {
        let has = |entry: &&crate::policy::Settable| {
            entry
                .properties
                .iter()
                .any(|property| property.name() == name)
        };
        let mut entries = said.settable.iter().filter(has).peekable();
        // As on an engine, what is of other policies is passed over: clients send back all that
        // they were shown. A name that nobody knows is a slip.
        if entries.peek().is_none()
            && !PARAMETERS.iter().any(|it| it.name == name)
            && !is_of_engine(name)
        {
            return Err(Fault::refused(format!(
                "Cannot edit Cluster. No policy unit of the policy \"{}\" has the property \"{}\"",
                placewright_document::shown(&said.name),
                placewright_document::shown(name)
            )));
        }
        let of_policy = said.properties.iter().find(|(known, _)| known == name);
        for entry in entries {
            let property = entry.properties.iter().find(|it| it.name() == name);
            let Some(property) = property else { continue };
            let value = property.read(text);
            let value =
                value.map_err(|why| Fault::refused(format!("Cannot edit Cluster. {why}")))?;
            let own = known.entry(entry.name.clone()).or_default();
            match of_policy {
                Some((_, of_policy)) if of_policy == text => {
                    own.settings.remove(property.setting());
                }
                _ => {
                    let setting = property.setting().to_owned();
                    own.settings.insert(setting, json_of(&value));
                }
            }
            if *own == Override::default() {
                known.remove(&entry.name);
            }
        }
    }
    Ok(known)
}

/// Whether an engine has a property for which no unit is here.
fn is_of_engine(name: &str) -> bool {
    name == "HeSparesCount"
}
