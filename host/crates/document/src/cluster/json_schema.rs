//! The JSON Schema of a cluster's document.

use schemars::Schema as JsonSchema;
use serde_json::{Map, Value as Json, json};

use super::{FORM, TENANT, attributes, hosts};
use crate::form::Key;
use crate::json_schema::{described, document, list, object, properties, required, row};
use placewright_model::schema::Schema;

/// The JSON Schema of a cluster's document, with the built-in tables and columns.
/// Attributes may have any value: what they are is said in the document itself.
pub fn cluster_json_schema() -> JsonSchema {
    let vm = entity("hosts/vms", hosts::VM);
    let mut host = entity("hosts", hosts::HOST);
    // A table under "vms" holds the columns `vms.*`, a list the VMs.
    let mut nested_columns = row(Schema::built_in(), "hosts", Map::new(), Vec::new());
    let nested_columns = nested_columns["properties"]["vms"].take();
    host["properties"]["vms"] = described(
        json!({ "anyOf": [list(vm.clone()), nested_columns] }),
        "The VMs on the host",
    );

    let mut keys = properties(FORM);
    for (name, rows) in [
        ("hosts", host),
        ("vms", vm),
        ("tenants", entity("tenant", TENANT)),
    ] {
        if let Some(key) = keys.get_mut(name) {
            key["items"] = rows;
        }
    }
    keys.insert("attributes".to_owned(), attributes_json_schema());
    document(
        "Cluster",
        "A cluster of hosts for Placewright, with the VMs on them",
        row(Schema::built_in(), "cluster", keys, required(FORM)),
    )
}

fn entity(table: &str, form: &[Key]) -> Json {
    row(Schema::built_in(), table, properties(form), required(form))
}

pub(crate) fn attributes_json_schema() -> Json {
    let mut entities = object(attributes::FORM);
    let kinds = json!({ "enum": crate::words::<placewright_model::Kind>() });
    let attribute = json!({ "anyOf": [kinds, object(attributes::ATTRIBUTE)] });
    for entity in attributes::FORM {
        entities["properties"][entity.name]["additionalProperties"] = attribute.clone();
    }
    described(entities, "Columns and tables that this deployment adds")
}

#[cfg(test)]
mod tests {
    use super::*;
    use placewright_testing::committed::assert_committed;

    #[test]
    fn the_json_schema_of_clusters_is_committed() {
        assert_committed("cluster.json", &cluster_json_schema());
    }

    #[test]
    fn every_column_that_can_be_given_is_in_it() {
        let json = cluster_json_schema().to_value();
        let host = &json["properties"]["hosts"]["items"]["properties"];
        assert_eq!(host["memory.total"]["minimum"], 0);
        assert_eq!(host["memory"]["properties"]["total"]["minimum"], 0);
        assert_eq!(host["networks"]["items"]["required"], json!(["name"]));
        assert!(host.get("listed").is_none());
    }
}
