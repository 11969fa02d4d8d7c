//! The JSON Schema of a policy document.

use schemars::Schema;

use super::form::POLICY;
use placewright_document::json_schema::{document, object};

/// The JSON Schema of a policy document. Settings may have any value: what there
/// is to set is said by the units.
pub fn policy_json_schema() -> Schema {
    document(
        "Policy",
        "Which units place the VMs of a cluster with Placewright, and with which settings",
        object(POLICY),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use placewright_testing::committed::assert_committed;

    #[test]
    fn the_json_schema_of_policies_is_committed() {
        assert_committed("policy.json", &policy_json_schema());
    }
}
