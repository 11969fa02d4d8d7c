//! The JSON Schema of a document of changes.

use schemars::Schema as JsonSchema;
use serde_json::{Value as Json, json};

use super::{FORM, HOST, STATISTICS, TENANT, VM};
use crate::cluster::attributes_json_schema;
use crate::json_schema::{closed, document, properties, required, row};
use placewright_model::schema::Schema;

/// The JSON Schema of a document of changes, with the built-in tables and columns.
/// Attributes may have any value: what they are is said in the cluster's document.
pub fn changes_json_schema() -> JsonSchema {
    let mut keys = properties(FORM);
    for (name, table, form) in [
        ("tenants", "tenant", TENANT),
        ("hosts", "hosts", HOST),
        ("statistics", "hosts", STATISTICS),
        ("vms", "hosts/vms", VM),
    ] {
        let mut entity = row(Schema::built_in(), table, properties(form), required(form));
        nullable(&mut entity);
        keys[name]["items"] = entity;
    }
    nullable(&mut keys["groups"]["items"]);
    keys.insert("attributes".to_owned(), attributes_json_schema());
    document(
        "Changes",
        "Changes of a Placewright cluster: of what is known already only what is given changes, and null takes a value away",
        closed(keys, required(FORM)),
    )
}

/// Whatever an object need not have may be null.
fn nullable(object: &mut Json) {
    let needed = object["required"].clone();
    let is_needed = |name: &str| {
        let mut needed = needed.as_array().into_iter().flatten();
        needed.any(|it| it == name)
    };
    let Some(properties) = object["properties"].as_object_mut() else {
        return;
    };
    for (name, schema) in properties {
        if !is_needed(name) {
            let meaning = schema
                .as_object_mut()
                .and_then(|it| it.remove("description"));
            let mut either = json!({ "anyOf": [schema.take(), { "type": "null" }] });
            if let Some(meaning) = meaning {
                either["description"] = meaning;
            }
            *schema = either;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use placewright_testing::committed::assert_committed;

    #[test]
    fn the_json_schema_of_changes_is_committed() {
        assert_committed("changes.json", &changes_json_schema());
    }
}
