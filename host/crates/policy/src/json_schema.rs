//! The JSON Schema of a policy document.

use schemars::Schema;
use serde_json::{Value as Json, json};

use super::form::POLICY;
use placewright_document::json_schema::{document, object};

/// The JSON Schema of a policy document. Settings may have any value: what there
/// is to set is said by the units.
pub fn policy_json_schema() -> Schema {
    let mut policy = object(POLICY);
    name_entries(&mut policy);
    let watches = &mut policy["properties"]["watches"]["items"];
    watches["properties"]["name"]["pattern"] = "^[a-z0-9._-]+$".into();
    watches["anyOf"] = json!([{ "required": ["at-least"] }, { "required": ["at-most"] }]);
    document(
        "Policy",
        "Which units place the VMs of a cluster with Placewright, and with which settings",
        policy,
    )
}

/// Say that entries, which may be named by their units, have no empty name.
fn name_entries(of: &mut Json) {
    for list in ["filters", "costs", "selections", "effects"] {
        if let Some(entry) = of["properties"].get_mut(list) {
            entry["items"]["properties"]["name"]["minLength"] = 1.into();
        }
    }
    if let Some(stages) = of["properties"].get_mut("stages") {
        name_entries(&mut stages["items"]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use placewright_testing::committed::assert_committed;

    #[test]
    fn the_schema_says_what_names_and_watches_must_have() {
        let policy = policy_json_schema().to_value();
        let watch = &policy["properties"]["watches"]["items"];
        assert_eq!(watch["anyOf"][0]["required"], json!(["at-least"]));
        for list in ["filters", "costs", "selections"] {
            for lists in [&policy, &policy["properties"]["stages"]["items"]] {
                let entry = &lists["properties"][list]["items"];
                assert_eq!(entry["properties"]["name"]["minLength"], 1, "{list}");
            }
        }
    }

    #[test]
    fn the_json_schema_of_policies_is_committed() {
        assert_committed("policy.json", &policy_json_schema());
    }
}
