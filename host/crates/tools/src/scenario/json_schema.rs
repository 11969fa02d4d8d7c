//! The JSON Schema of a scenario file.

use schemars::Schema as JsonSchema;
use serde_json::{Map, Value as Json, json};

use super::form::{CASE, EXPECT, FILE, HOST, WITHOUT};
use placewright_document::cluster_json_schema;
use placewright_document::json_schema::{
    closed, described, document, list, part, properties, required, row,
};
use placewright_document::request;
use placewright_model::schema::Schema;
use placewright_policy::policy_json_schema;

/// The JSON Schema of a scenario file. Settings may have any value: what there is to set is
/// said by the unit.
pub fn scenario_json_schema() -> JsonSchema {
    let policy = either_path(part(policy_json_schema()));
    let mut case = properties(CASE);
    put(&mut case, "vm", either_path(request::vm_to_place()));
    put(&mut case, "vms", list(request::member()));
    put(&mut case, "request", request::request());
    put(&mut case, "policy", policy.clone());
    put(&mut case, "hosts", by_id(changes("hosts")));
    put(&mut case, "placed", by_id(changes("hosts/vms")));
    let mut expect = properties(EXPECT);
    put(&mut expect, "hosts", by_id(host()));
    put(&mut case, "expect", closed(expect, Vec::new()));
    let mut file = properties(FILE);
    put(
        &mut file,
        "cluster",
        either_path(part(cluster_json_schema())),
    );
    put(&mut file, "policy", policy);
    put(&mut file, "cases", list(closed(case, required(CASE))));
    document(
        "Scenarios",
        "Small clusters and requests, with what is expected of a policy unit of Placewright",
        closed(file, required(FILE)),
    )
}

/// Say what stands under a key, whose meaning stays.
fn put(keys: &mut Map<String, Json>, key: &str, schema: Json) {
    if let Some(known) = keys.get_mut(key) {
        let meaning = known["description"].as_str().unwrap_or_default().to_owned();
        *known = described(schema, &meaning);
    }
}

fn either_path(schema: Json) -> Json {
    json!({ "anyOf": [{ "type": "string" }, schema] })
}

fn by_id(schema: Json) -> Json {
    json!({ "type": "object", "additionalProperties": schema })
}

/// What can be different of a row in a case.
fn changes(table: &str) -> Json {
    let names = json!({ "type": "array", "items": { "type": "string" }, "uniqueItems": true });
    let without = described(names, "Columns that are taken away");
    let keys = Map::from_iter([(WITHOUT.to_owned(), without)]);
    row(Schema::built_in(), table, keys, Vec::new())
}

/// What can be expected of a host.
fn host() -> Json {
    let number = || json!({ "type": "number" });
    let mut keys = properties(HOST);
    put(&mut keys, "cost", number());
    put(&mut keys, "costs", by_id(number()));
    put(
        &mut keys,
        "sum",
        json!({ "anyOf": [number(), list(number())] }),
    );
    closed(keys, Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use placewright_testing::committed::assert_committed;

    #[test]
    fn the_json_schema_of_scenario_files_is_committed() {
        assert_committed("scenario.json", &scenario_json_schema());
    }

    #[test]
    fn every_key_of_a_case_is_in_it() {
        let schema = scenario_json_schema().to_value();
        let case = &schema["properties"]["cases"]["items"];
        for key in CASE {
            let property = &case["properties"][key.name];
            assert_eq!(property["description"], key.meaning, "{}", key.name);
        }
        let changed = &case["properties"]["hosts"]["additionalProperties"]["properties"];
        assert_eq!(changed["memory.total"]["minimum"], 0);
        assert_eq!(changed["without"]["type"], "array");
    }
}
