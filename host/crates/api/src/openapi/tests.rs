use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use utoipa::openapi::path::ParameterIn;

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
fn the_document_and_the_table_of_routes_name_the_same_parameters_and_bodies() {
    let mut document = openapi();
    for (path, item) in &mut document.paths.paths {
        for (method, operation) in operations(item) {
            let rule = RULES
                .iter()
                .find(|it| (it.method, it.path) == (method, path));
            let rule = rule.expect("every route has a rule");
            let parameters = operation.parameters.iter().flatten();
            let of_query = parameters.filter(|it| it.parameter_in == ParameterIn::Query);
            let names: Vec<&str> = of_query.map(|it| &*it.name).collect();
            assert_eq!(names, rule.query, "{method} {path}");
            let takes_a_body = rule.body != BodySize::Nothing;
            let has_a_body = operation.request_body.is_some();
            assert_eq!(has_a_body, takes_a_body, "{method} {path}");
        }
    }
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
