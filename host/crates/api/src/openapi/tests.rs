use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::*;

/// Set to 1, it lets the test write the document instead of comparing it.
const UPDATE: &str = "UPDATE_SCHEMAS";

#[test]
fn the_committed_document_is_what_the_routes_make() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/openapi.json");
    let made = openapi().to_pretty_json().unwrap() + "\n";
    if std::env::var(UPDATE).is_ok_and(|value| value == "1") {
        fs::write(&path, &made).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap_or_default() == made,
        "host/schemas/openapi.json is out of date; run `{UPDATE}=1 cargo test -p placewright openapi`"
    );
}

#[test]
fn every_route_has_a_rule_and_every_rule_a_route() {
    let mut document = openapi();
    let mut routes = BTreeSet::new();
    for (path, item) in &mut document.paths.paths {
        routes.extend(operations(item).map(|(method, _)| (method, path.clone())));
    }
    let rules: BTreeSet<_> = RULES
        .iter()
        .map(|rule| (rule.method, rule.path.to_owned()))
        .collect();
    assert_eq!(rules.len(), RULES.len(), "no route has two rules");
    assert_eq!(routes, rules);
}

#[test]
fn every_answer_of_a_route_that_needs_a_token_says_so() {
    let document: serde_json::Value = serde_json::from_str(text()).unwrap();
    let metrics = &document["paths"]["/metrics"]["get"];
    assert_eq!(metrics["x-needs"]["role"], "viewer");
    assert_eq!(metrics["security"][0]["token"], serde_json::json!([]));
    let health = &document["paths"]["/v1/health"]["get"];
    assert_eq!(health["security"], serde_json::json!([]));
    let problem = &health["responses"]["default"]["content"]["application/problem+json"];
    assert_eq!(problem["schema"]["$ref"], "#/components/schemas/Problem");
    assert!(document["components"]["schemas"]["Problem"].is_object());
}
