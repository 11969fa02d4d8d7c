use super::*;
use crate::{ClusterDocument, InventoryChanges, Surroundings, read_requests};

fn examples(name: &str) -> Vec<Json> {
    let contract = contract();
    let examples = contract[name]["examples"].as_array();
    examples.cloned().unwrap_or_default()
}

#[test]
fn every_example_is_a_good_document() {
    let mut read = 0;
    for cluster in examples("ClusterDocument") {
        let cluster = ClusterDocument::read(&cluster.to_string(), "cluster.json");
        let schema = cluster
            .unwrap_or_else(|problems| panic!("{problems}"))
            .schema;
        for changes in examples("InventoryChanges") {
            InventoryChanges::read(&changes.to_string(), "changes.json", &schema)
                .unwrap_or_else(|problems| panic!("{problems}"));
            read += 1;
        }
        for name in ["VmToPlace", "PlacementRequest", "RequestedVm"] {
            for request in examples(name) {
                let surroundings = Surroundings {
                    schema: &schema,
                    now: 0,
                    hosts: None,
                };
                read_requests(&request.to_string(), "request.json", surroundings)
                    .unwrap_or_else(|problems| panic!("{name}: {problems}"));
                read += 1;
            }
        }
    }
    assert_eq!(read, 4);
}

/// Everything that the schema refers to.
fn references<'j>(schema: &'j Json, found: &mut Vec<&'j str>) {
    match schema {
        Json::Object(object) => {
            found.extend(object.get("$ref").and_then(Json::as_str));
            object.values().for_each(|it| references(it, found));
        }
        Json::Array(list) => list.iter().for_each(|it| references(it, found)),
        _ => {}
    }
}

#[test]
fn schemas_refer_to_schemas_that_there_are() {
    let contract = contract();
    let mut found = Vec::new();
    contract
        .values()
        .for_each(|schema| references(schema, &mut found));
    assert!(found.len() > 50, "{}", found.len());
    for name in found {
        let name = name.strip_prefix("#/components/schemas/").unwrap_or(name);
        assert!(contract.contains_key(name), "{name}");
    }
}

#[test]
fn amounts_are_numbers_where_they_are_shown_and_may_be_texts_where_they_are_given() {
    let contract = contract();
    let shown = &contract["Host"]["properties"]["memory.total"];
    assert_eq!(shown["type"], "integer");
    let given = &contract["HostDocument"]["properties"]["memory.total"];
    assert_eq!(given["type"], json!(["integer", "string"]));
    let changed = &contract["HostChange"]["properties"]["memory.total"];
    assert_eq!(changed["type"], json!(["integer", "string", "null"]));
    assert!(
        contract["HostDocument"]["properties"]
            .get("memory.promised")
            .is_none()
    );
}

#[test]
fn what_is_not_needed_of_a_vm_of_a_request_may_be_null() {
    let contract = contract();
    for name in ["VmToPlace", "RequestedVm"] {
        let properties = &contract[name]["properties"];
        let of = |key: &str| &properties[key]["type"];
        assert_eq!(
            *of("memory"),
            json!(["integer", "string", "null"]),
            "{name}"
        );
        assert_eq!(*of("devices"), json!(["array", "null"]), "{name}");
        assert_eq!(*of("id"), "string", "{name}");
    }
}
