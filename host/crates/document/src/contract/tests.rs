use super::*;
use crate::changes::{EntityKind, Extent};
use crate::{ClusterDocument, InventoryChanges, Surroundings, read_requests};
use placewright_model::schema::Schema;

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
    for name in ["VmToPlace", "RequestedVm", "VmBody"] {
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

/// Whether the server reads a cluster of one host with this VM, or what is wrong with it.
fn read_of(name: &str, entity: Json) -> Result<(), String> {
    let mut host = json!({ "id": "h1" });
    let mut cluster = json!({ "name": "north" });
    match name {
        "HostDocument" => host = entity,
        "PlacedVmDocument" => cluster["vms"] = json!([entity]),
        "GroupDocument" => cluster["groups"] = json!([entity]),
        "TenantDocument" => cluster["tenants"] = json!([entity]),
        _ => cluster = entity,
    }
    cluster["hosts"] = json!([host]);
    let read = ClusterDocument::read(&cluster.to_string(), "cluster.json");
    read.map(|_| ()).map_err(|problems| problems.to_string())
}

/// Values at the limits that a schema says, and beyond them.
fn at_limits(schema: &Json) -> Vec<(Json, Json)> {
    let mut found = Vec::new();
    for (limit, sign) in [("minimum", -1.0), ("maximum", 1.0)] {
        let bound = &schema[limit];
        match (bound.as_i64(), bound.as_f64()) {
            (Some(whole), _) => found.push((json!(whole), json!(whole + sign as i64))),
            (None, Some(number)) => {
                let beyond = if sign < 0.0 {
                    number.next_down()
                } else {
                    number.next_up()
                };
                found.push((json!(number), json!(beyond)));
            }
            (None, None) => {}
        }
    }
    if let Some(most) = schema["maxLength"].as_u64() {
        let text = |length: u64| json!("a".repeat(length as usize));
        found.push((text(most), text(most + 1)));
    }
    found
}

/// An entity with what it must have.
fn least_of(name: &str, schema: &Json) -> Json {
    let required = schema["required"].as_array().into_iter().flatten();
    let required = required.filter_map(Json::as_str);
    let keys = required.map(|key| {
        let property = &schema["properties"][key];
        let value = match (name, key) {
            (_, "host") => json!("h1"),
            _ => property["examples"][0].clone(),
        };
        let value = match property["type"].as_str() {
            Some("boolean") => json!(true),
            _ if value.is_null() => property["enum"][0].clone(),
            _ => value,
        };
        (key.to_owned(), value)
    });
    keys.collect()
}

#[test]
fn what_stands_at_a_limit_is_taken_and_what_is_beyond_is_refused() {
    let contract = contract();
    let mut tried = 0;
    for name in [
        "HostDocument",
        "PlacedVmDocument",
        "GroupDocument",
        "TenantDocument",
        "ClusterDocument",
    ] {
        let schema = &contract[name];
        let least = match name {
            "ClusterDocument" => json!({}),
            _ => least_of(name, schema),
        };
        for (key, property) in schema["properties"].as_object().unwrap() {
            // Which hosts there are, the rest of the document says; and a cluster's name is narrower
            // where it is made.
            if key == "host" || (name, &**key) == ("ClusterDocument", "name") {
                continue;
            }
            let rows = property["items"]["$ref"]
                .as_str()
                .and_then(|it| it.rsplit('/').next());
            let rows = rows.filter(|rows| !rows.ends_with("VmDocument"));
            let rows = rows.filter(|_| name != "ClusterDocument");
            let tries: Vec<(String, Json, Json)> = match rows {
                Some(rows) => {
                    let row = &contract[rows];
                    let whole = least_of(rows, row);
                    let columns = row["properties"].as_object().unwrap().iter();
                    let columns = columns.filter(|(column, _)| *column != "host");
                    let tries = columns.flat_map(|(column, property)| {
                        let with = |value: Json| {
                            let mut row = whole.clone();
                            row[column] = value;
                            json!([row])
                        };
                        let limits = at_limits(property).into_iter();
                        let tries = limits.map(|(at, beyond)| {
                            (format!("{key}[].{column}"), with(at), with(beyond))
                        });
                        tries.collect::<Vec<_>>()
                    });
                    tries.collect()
                }
                None => at_limits(property)
                    .into_iter()
                    .map(|(at, beyond)| (key.clone(), at, beyond))
                    .collect(),
            };
            for (place, at, beyond) in tries {
                let with = |value: &Json| {
                    let mut entity = least.clone();
                    entity[key] = value.clone();
                    read_of(name, entity)
                };
                assert_eq!(with(&at), Ok(()), "{name}.{place}");
                let told = with(&beyond);
                assert!(told.is_err(), "{name}.{place}: {beyond}");
                tried += 1;
            }
        }
    }
    assert!(tried > 200, "{tried}");
}

#[test]
fn what_may_be_left_out_of_what_is_put_may_be_null_and_is_not_there_then() {
    let contract = contract();
    let schema = Schema::built_in();
    let mut tried = 0;
    for (name, kind) in [
        ("HostBody", EntityKind::Host),
        ("VmBody", EntityKind::Vm),
        ("GroupBody", EntityKind::Group),
        ("TenantBody", EntityKind::Tenant),
    ] {
        for (key, property) in contract[name]["properties"].as_object().unwrap() {
            let says_null = property["type"].to_string().contains("null")
                || property["anyOf"].to_string().contains("\"null\"");
            assert_eq!(says_null, key != "id", "{name}.{key}");
            if !says_null {
                continue;
            }
            let body = json!({ (key): null }).to_string();
            let read =
                InventoryChanges::read_one(&body, "body", schema, (kind, "x"), Extent::Whole);
            let told = read.map(|_| ()).map_err(|problems| problems.to_string());
            assert_eq!(told, Ok(()), "{name}.{key}");
            tried += 1;
        }
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn a_vm_beside_all_hosts_needs_its_host_and_one_within_a_host_does_not() {
    let contract = contract();
    let required = |name: &str| contract[name]["required"].clone();
    assert_eq!(required("PlacedVmDocument"), json!(["id", "host"]));
    assert_eq!(required("VmDocument"), json!(["id"]));
    let vms = &contract["ClusterDocument"]["properties"]["vms"]["items"];
    assert_eq!(*vms, reference("PlacedVmDocument"));
    let told = read_of("PlacedVmDocument", json!({ "id": "web-1" }));
    assert!(told.unwrap_err().contains("needs \"host\""));
}
