//! The JSON Schema of an event.

use schemars::Schema as JsonSchema;
use serde_json::{Value as Json, json};

use super::line::FORM;
use crate::changes::changes_json_schema;
use crate::json_schema::{closed, described, document, part, properties, required};
use crate::request;

/// The JSON Schema of an event as a line of JSON, with the built-in tables and columns.
/// Attributes may have any value: the cluster's document declares them.
pub fn event_json_schema() -> JsonSchema {
    let mut keys = properties(FORM);
    let changes = part(changes_json_schema());
    let statistics = changes["properties"]["statistics"].clone();
    for (name, schema) in [
        ("place", request::to_place()),
        ("reserve", request::to_place()),
        ("statistics", statistics),
        ("changes", changes),
    ] {
        if let Some(key) = keys.get_mut(name) {
            let meaning = key["description"].as_str().unwrap_or_default().to_owned();
            *key = described(schema, &meaning);
        }
    }
    let mut event = closed(keys, required(FORM));
    event["oneOf"] = one_of_the_others();
    document(
        "Event",
        "Something that happens to a cluster of Placewright: a line of the file that a simulation plays",
        event,
    )
}

/// Besides what every event has, it has exactly one more key.
fn one_of_the_others() -> Json {
    let others = FORM.iter().filter(|key| !key.required);
    let each = others.map(|key| json!({ "required": [key.name] }));
    Json::Array(each.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use placewright_testing::committed::assert_committed;

    #[test]
    fn the_json_schema_of_events_is_committed() {
        assert_committed("event.json", &event_json_schema());
    }

    #[test]
    fn an_event_has_its_time_and_exactly_one_of_the_others() {
        let schema = event_json_schema().to_value();
        assert_eq!(schema["required"], json!(["time"]));
        let each: Vec<&str> = schema["oneOf"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["required"][0].as_str().unwrap())
            .collect();
        let keys = schema["properties"].as_object().unwrap();
        let mut others: Vec<&str> = keys.keys().map(String::as_str).collect();
        others.retain(|key| *key != "time");
        others.sort_unstable();
        let mut sorted = each.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, others);
    }

    #[test]
    fn what_is_to_be_placed_has_the_keys_of_vms_and_of_requests() {
        let schema = event_json_schema().to_value();
        let place = &schema["properties"]["place"]["anyOf"];
        for key in ["id", "memory", "zone", "kind", "reserve-for", "pinned"] {
            assert!(place[0]["properties"].get(key).is_some(), "{key}");
        }
        assert!(place[1]["properties"].get("together").is_some());
        assert!(place[2]["properties"]["requests"]["items"]["properties"]["vms"].is_object());
        let host = &schema["properties"]["statistics"]["items"]["properties"];
        assert!(host.get("cpu.usage").is_some());
    }
}
