mod examples;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use utoipa::openapi::path::ParameterIn;

use super::breaking::{breaking, skeleton};
use super::*;
use placewright_deployment::{NAME_PATTERN, check_name};
use placewright_model::rfc3339_key;

/// Set to 1, it lets the test write the document instead of comparing it.
const UPDATE: &str = "UPDATE_SCHEMAS";

#[test]
fn the_committed_document_is_what_the_routes_make() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/openapi.json");
    let made = format!("{:#}\n", openapi());
    if std::env::var(UPDATE).is_ok_and(|value| value == "1") {
        fs::write(&path, &made).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap_or_default() == made,
        "host/schemas/openapi.json is out of date; run `{UPDATE}=1 cargo test -p placewright openapi`"
    );
}

/// All references in a part of the document.
fn references<'d>(part: &'d Json, found: &mut BTreeSet<&'d str>) {
    match part {
        Json::Object(entries) => {
            found.extend(entries.get("$ref").and_then(Json::as_str));
            entries.values().for_each(|entry| references(entry, found));
        }
        Json::Array(entries) => entries.iter().for_each(|entry| references(entry, found)),
        _ => {}
    }
}

#[test]
fn whatever_is_referred_to_is_in_the_document() {
    let document = openapi();
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    assert!(found.len() > 100, "{found:?}");
    let is_there = |reference: &str| {
        let pointer = reference.strip_prefix('#');
        pointer.is_some_and(|pointer| document.pointer(pointer).is_some())
    };
    found.retain(|reference| !is_there(reference));
    assert!(found.is_empty(), "{found:?}");
}

/// Versions that promise clients of the one that the other works as well: the same major one,
/// and before the first the same minor one.
fn promises(version: &str) -> String {
    let mut parts = version.split('.');
    match (parts.next(), parts.next()) {
        (Some("0"), Some(minor)) => format!("0.{minor}"),
        (major, _) => major.unwrap_or_default().to_owned(),
    }
}

/// Keys of schemas in which earlier documents of this version were wrong. They are compared as the
/// new document has them: correcting a document breaks no client, since the servers do what they
/// did before.
const CORRECTED: &[(&str, &str)] = &[
    // A cluster that is made needs a name. One that is replaced may still lack it.
    ("ClusterDocument", "required"),
    // A VM that stands beside all hosts, and not inside one, was always refused without its host.
    ("ClusterDocument", "properties"),
    // These have keys in kebab case as all others; those with an underscore are sent beside them.
    ("HostFateLeft", "properties"),
    ("HostFateLeft", "required"),
    ("WhyNotDrawn", "properties"),
    ("WhyNotDrawn", "required"),
    // A request that is recorded has the nulls with which a VM is to have something no longer.
    ("RequestedVm", "properties"),
];

/// Parameters in which they were wrong, likewise: method, path and name.
const CORRECTED_PARAMETERS: &[(&str, &str, &str)] = &[
    // Other words, and what is no status, were always refused.
    ("get", "/v1/clusters/{cluster}/hosts", "state"),
    ("get", "/v1/clusters/{cluster}/inventory/follow", "kind"),
    ("post", "/v1/clusters/{cluster}/what-if", "restart"),
    ("get", "/v1/audit", "status"),
];

/// Bodies in which they were wrong, likewise: null was never taken for one that is not sent.
const CORRECTED_BODIES: &[&str] = &[
    "/v1/clusters/{cluster}/plans/{number}/begin",
    "/v1/clusters/{cluster}/reservations/{vm}/renew",
];

/// Limits that servers had before documents named them: the integers that units can be given, as
/// such and in cores, and the lengths of ids and of texts. They are compared without these.
const LIMITS: &[(&str, f64)] = &[
    ("minimum", -9_007_199_254_740_991.0),
    ("maximum", 9_007_199_254_740_991.0),
    ("minimum", -9_007_199_254_740.99),
    ("maximum", 9_007_199_254_740.99),
    ("minLength", 1.0),
    ("maxLength", 253.0),
    ("maxLength", 4096.0),
];

/// The document without limits that servers always had.
fn without_limits(document: &Json) -> Json {
    match document {
        Json::Object(object) => {
            let is_limit = |key: &str, value: &Json| {
                let value = value.as_f64();
                LIMITS
                    .iter()
                    .any(|(limit, at)| *limit == key && value == Some(*at))
            };
            let kept = object.iter().filter(|(key, value)| !is_limit(key, value));
            let kept = kept.map(|(key, value)| (key.clone(), without_limits(value)));
            Json::Object(kept.collect())
        }
        Json::Array(list) => list.iter().map(without_limits).collect(),
        other => other.clone(),
    }
}

/// The document with that corrected. A key of a request was never longer, or of other characters,
/// than its schema says by now.
fn corrected(old: &Json, new: &Json) -> Json {
    let mut corrected = old.clone();
    for path in CORRECTED_BODIES {
        let right = new["paths"][path]["post"].get("requestBody");
        let known = corrected["paths"][path].get_mut("post");
        if let (Some(known), Some(right)) = (known, right) {
            known["requestBody"] = right.clone();
        }
    }
    for (method, path, name) in CORRECTED_PARAMETERS {
        let known = corrected["paths"][path][method].get_mut("parameters");
        let known = known.and_then(Json::as_array_mut).into_iter().flatten();
        let right = new["paths"][path][method]["parameters"].as_array();
        let right = right.into_iter().flatten().find(|it| it["name"] == *name);
        for parameter in known.filter(|it| it["name"] == *name) {
            *parameter = right.cloned().unwrap_or_default();
        }
    }
    let items = corrected["paths"].as_object_mut().into_iter().flatten();
    for (path, item) in items {
        let known = item.get_mut("post").and_then(|it| it.get_mut("parameters"));
        let known = known.and_then(Json::as_array_mut);
        let right = new["paths"][path]["post"]["parameters"].as_array();
        let right = right.into_iter().flatten();
        let right = right.clone().find(|it| it["name"] == "Idempotency-Key");
        let mut known = known.into_iter().flatten();
        let known = known.find(|it| it["name"] == "Idempotency-Key");
        if let (Some(known), Some(right)) = (known, right) {
            *known = right.clone();
        }
    }
    for (schema, key) in CORRECTED {
        let right = new["components"]["schemas"][schema].get(key);
        let known = corrected["components"]["schemas"].get_mut(schema);
        if let (Some(known), Some(right)) = (known, right) {
            known[*key] = right.clone();
        }
    }
    // Corrected schemas may refer to new ones.
    let new = new["components"]["schemas"].as_object();
    let known = corrected["components"]["schemas"].as_object_mut();
    if let (Some(known), Some(new)) = (known, new) {
        for (name, schema) in new {
            known.entry(name).or_insert_with(|| schema.clone());
        }
    }
    corrected
}

#[test]
fn clients_of_the_stored_contract_go_on_working_unless_the_version_says_otherwise() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/contract.json");
    let stored = fs::read_to_string(&path).unwrap_or_default();
    let old: Json = serde_json::from_str(&stored).unwrap_or_default();
    let new = skeleton(&openapi());
    let version =
        |document: &Json| promises(document["info"]["version"].as_str().unwrap_or_default());
    if version(&old) == version(&new) {
        let found = breaking(&corrected(&old, &new), &without_limits(&new));
        assert!(
            found.is_empty(),
            "clients of this version would break; change it back, or raise the version of the workspace:\n{}",
            found.join("\n")
        );
    }
    let made = format!("{new:#}\n");
    if std::env::var(UPDATE).is_ok_and(|value| value == "1") {
        fs::write(&path, &made).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap_or_default() == made,
        "host/schemas/contract.json is out of date, and nothing breaks; run `{UPDATE}=1 cargo test -p placewright-api openapi`"
    );
}

#[test]
fn operations_have_ids_of_their_own() {
    let document = openapi();
    let mut ids = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap();
            assert!(
                ids.insert(id),
                "{method} {path}: another one is called {id}"
            );
            assert!(
                id.contains('_'),
                "{method} {path}: {id} says not what is done with what"
            );
            let is_plain = |it: u8| it == b'_' || it.is_ascii_lowercase();
            assert!(id.bytes().all(is_plain), "{id}");
        }
    }
}

/// The places of schemas that say nothing of what they describe.
fn untyped(schema: &Json, place: &str, found: &mut Vec<String>) {
    let says = |key: &str| schema.get(key).is_some();
    let is_open = ["$ref", "oneOf", "anyOf", "enum", "const"]
        .into_iter()
        .all(|it| !says(it));
    let kind = schema["type"].as_str();
    let says_nothing = match kind {
        None => !schema["type"].is_array(),
        Some("object") => !says("properties") && !says("additionalProperties"),
        Some("array") => !says("items"),
        Some(_) => false,
    };
    if is_open && says_nothing {
        found.push(place.to_owned());
    }
    for key in ["oneOf", "anyOf"] {
        for (number, either) in schema[key].as_array().into_iter().flatten().enumerate() {
            untyped(either, &format!("{place} {key} {number}"), found);
        }
    }
    if let Some(items) = schema.get("items") {
        untyped(items, &format!("{place}[]"), found);
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        untyped(property, &format!("{place}.{name}"), found);
        if !property["description"].is_string() && property.get("$ref").is_none() {
            found.push(format!("{place}.{name} has no meaning"));
        }
    }
}

#[test]
fn no_type_has_the_name_of_a_schema_that_is_made_of_the_columns() {
    let routes = serde_json::to_value(routes()).unwrap();
    for name in contract::schemas().keys() {
        let of_type = &routes["components"]["schemas"][name];
        let itself = format!("#/components/schemas/{name}");
        assert!(
            of_type.is_null() || of_type["$ref"] == *itself,
            "{name}: {of_type}"
        );
    }
}

#[test]
fn every_body_is_typed_and_every_key_has_a_meaning() {
    let document = openapi();
    let mut found = Vec::new();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        untyped(schema, name, &mut found);
    }
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let answers = operation["responses"].as_object().into_iter().flatten();
            let bodies = answers.map(|(_, answer)| &answer["content"]);
            for content in bodies.chain([&operation["requestBody"]["content"]]) {
                for (kind, content) in content.as_object().into_iter().flatten() {
                    untyped(
                        &content["schema"],
                        &format!("{method} {path} {kind}"),
                        &mut found,
                    );
                }
            }
        }
    }
    assert_eq!(found, [""; 0]);
}

#[test]
fn every_route_has_a_rule_and_every_rule_a_route() {
    let mut document = routes();
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
    let mut document = routes();
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
    let document: serde_json::Value = openapi();
    let metrics = &document["paths"]["/metrics"]["get"];
    assert_eq!(metrics["x-needs"]["role"], "viewer");
    assert_eq!(metrics["security"][0]["token"], serde_json::json!([]));
    let health = &document["paths"]["/v1/health"]["get"];
    assert_eq!(health["security"], serde_json::json!([]));
    let problem = &health["responses"]["default"]["content"]["application/problem+json"];
    assert_eq!(problem["schema"]["$ref"], "#/components/schemas/Problem");
    assert!(document["components"]["schemas"]["Problem"].is_object());
}

/// Whether a key is a time by what is said of it.
fn is_time(property: &Json) -> bool {
    let meaning = property["description"].as_str().unwrap_or_default();
    let says = ["1970", "econd after which", "Seconds since"];
    property["format"] == "date-time" || says.iter().any(|words| meaning.contains(words))
}

#[test]
fn every_time_in_seconds_has_the_same_after_rfc_3339_beside_it() {
    let document = openapi();
    let (mut in_seconds, mut alone) = (0, Vec::new());
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        let properties = &schema["properties"];
        let required = |key: &str| {
            let required = schema["required"].as_array();
            required.is_some_and(|it| it.contains(&key.into()))
        };
        for (key, property) in properties.as_object().into_iter().flatten() {
            let kinds = match property.get("anyOf") {
                Some(either) => either.to_string(),
                None => property["type"].to_string(),
            };
            // What a request gives under one key may be either.
            if !is_time(property) || kinds.contains("string") {
                continue;
            }
            in_seconds += 1;
            let beside = rfc3339_key(key);
            let time = &properties[&*beside];
            let is_nullable = |kinds: &str| kinds.contains("null");
            let is_same = time["format"] == "date-time"
                && time["type"].to_string().contains("string")
                && is_nullable(&time["type"].to_string()) == is_nullable(&kinds)
                && required(&beside) == required(key);
            if !is_same {
                alone.push(format!("{name}.{key} has no {beside} like it: {time}"));
            }
        }
    }
    assert_eq!(alone, [""; 0]);
    assert!(in_seconds > 20, "{in_seconds}");
}

#[test]
fn every_kind_of_event_says_which_keys_it_may_have_and_they_are_those_of_events() {
    let document = openapi();
    let schemas = &document["components"]["schemas"];
    let kinds = schemas["EventKind"]["x-keys"].as_object().unwrap();
    let words = schemas["EventKind"]["enum"].as_array().unwrap();
    assert_eq!(kinds.len(), words.len());
    for (kind, keys) in kinds {
        for key in keys.as_array().unwrap() {
            let key = key.as_str().unwrap();
            assert!(
                schemas["Event"]["properties"][key].is_object(),
                "{kind}: {key}"
            );
        }
    }
}

#[test]
fn a_post_that_changes_something_takes_a_key_and_questions_take_none() {
    let document = openapi();
    for (path, takes) in [
        ("/v1/clusters", true),
        ("/v1/clusters/{cluster}/place", true),
        ("/v1/clusters/{cluster}/evacuate", true),
        ("/v1/clusters/{cluster}/plans/{number}/cancel", true),
        ("/v1/tokens", true),
        ("/v1/clusters/{cluster}/capacity", false),
        ("/v1/backup", false),
    ] {
        let operation = &document["paths"][path]["post"];
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let keys = parameters.filter(|it| it["name"] == "Idempotency-Key");
        assert_eq!(keys.count(), usize::from(takes), "{path}");
    }
}

#[test]
fn every_answer_names_its_request_and_what_is_changed_with_if_match_has_an_etag() {
    let document = openapi();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            for (status, answer) in operation["responses"].as_object().unwrap() {
                let place = format!("{method} {path} {status}");
                assert!(answer["headers"]["X-Request-Id"].is_object(), "{place}");
                if !status.starts_with(['4', '5']) {
                    continue;
                }
                let problem = &answer["content"]["application/problem+json"];
                assert!(problem.is_object(), "{place}");
            }
        }
        let takes_a_condition = |method: &str| {
            let parameters = item[method]["parameters"].as_array();
            parameters.is_some_and(|all| all.iter().any(|it| it["name"] == "If-Match"))
        };
        // A member of a group is changed with the ETag of the group.
        if takes_a_condition("put") && item.get("get").is_some() {
            let etag = &item["get"]["responses"]["200"]["headers"]["ETag"];
            assert!(etag.is_object(), "{path}");
        }
    }
}

#[test]
fn every_route_that_changes_what_has_an_etag_checks_if_match_and_says_so() {
    let document = openapi();
    let mut conditional = 0;
    for rule in RULES.iter().filter(|rule| rule.method != "GET") {
        let item = &document["paths"][rule.path];
        let operation = &item[rule.method.to_lowercase()];
        let parameters = operation["parameters"].as_array();
        let has = |name: &str| {
            let mut parameters = parameters.into_iter().flatten();
            parameters.any(|it| it["in"] == "header" && it["name"] == name)
        };
        let place = format!("{} {}", rule.method, rule.path);
        assert_eq!(has("If-Match"), rule.is_conditional, "{place}");
        assert!(has("If-Match") || !has("If-None-Match"), "{place}");
        let refused = &operation["responses"]["412"];
        assert_eq!(refused.is_object(), rule.is_conditional, "{place}");
        // What is put, changed or taken away where something with an ETag is read.
        let etag = &item["get"]["responses"]["200"]["headers"]["ETag"];
        if etag.is_object() {
            assert!(rule.is_conditional, "{place}");
        }
        conditional += usize::from(rule.is_conditional);
    }
    assert!(conditional > 20, "{conditional}");
}

#[test]
fn filters_that_take_a_few_words_name_them() {
    let document = openapi();
    for (method, path, name, word) in [
        (
            "get",
            "/v1/clusters/{cluster}/hosts",
            "state",
            "maintenance",
        ),
        (
            "get",
            "/v1/clusters/{cluster}/inventory/follow",
            "kind",
            "groups",
        ),
        ("post", "/v1/clusters/{cluster}/what-if", "restart", "ha"),
        ("get", "/v1/audit", "kind", "refusal"),
        ("get", "/v1/audit", "result", "failed"),
    ] {
        let parameters = document["paths"][path][method]["parameters"].as_array();
        let mut parameters = parameters.into_iter().flatten();
        let parameter = parameters.find(|it| it["name"] == name).unwrap();
        assert_ne!(parameter["required"], true, "{path} {name}");
        let mut schema = parameter["schema"].clone();
        if let Some(items) = schema.get("items") {
            schema = items.clone();
        }
        if let Some(reference) = schema["$ref"].as_str() {
            schema = document.pointer(&reference[1..]).unwrap().clone();
        }
        // No other text stands beside them: the server refuses it.
        let words = schema["enum"].as_array().unwrap();
        assert!(words.contains(&word.into()), "{schema}");
    }
}

#[test]
fn parameters_that_are_read_say_what_they_may_be() {
    let document = openapi();
    let schema = |path: &str, name: &str| {
        let parameters = document["paths"][path]["get"]["parameters"].as_array();
        let mut parameters = parameters.into_iter().flatten();
        let parameter = parameters.find(|it| it["name"] == name);
        parameter.map(|it| it["schema"].clone()).unwrap_or_default()
    };
    for path in [
        "/v1/audit",
        "/v1/clusters/{cluster}/decisions",
        "/v1/events/recent",
        "/v1/clusters/{cluster}/plans",
        "/v1/policies/{policy}/history",
        "/v1/unit-stagings",
        "/v1/units/{unit}/history",
    ] {
        assert_eq!(schema(path, "after")["pattern"], "^[0-9]+$", "{path}");
    }
    let status = schema("/v1/audit", "status");
    assert_eq!(
        (&status["minimum"], &status["maximum"]),
        (&100.into(), &599.into())
    );
    for (path, name) in [
        ("/v1/audit", "since"),
        ("/v1/audit", "until"),
        ("/v1/clusters/{cluster}/history", "since"),
    ] {
        assert!(schema(path, name)["pattern"].is_string(), "{path} {name}");
    }
}

#[test]
fn one_of_several_words_or_an_object_has_its_words_in_one_alternative() {
    let document = openapi();
    let origin = &document["components"]["schemas"]["PolicyOrigin"]["oneOf"];
    assert_eq!(origin[0]["enum"], serde_json::json!(["program", "api"]));
    assert_eq!(origin[1]["type"], "object");
    let record = &document["components"]["schemas"]["AuditRecord"]["properties"];
    assert!(record["result"].is_object(), "{record}");
}

#[test]
fn what_is_put_at_a_path_of_its_own_needs_no_id() {
    let document = openapi();
    let schemas = &document["components"]["schemas"];
    for (path, schema) in [
        ("hosts/{host}", "HostBody"),
        ("vms/{vm}", "VmBody"),
        ("groups/{group}", "GroupBody"),
        ("tenants/{tenant}", "TenantBody"),
    ] {
        let put = &document["paths"][format!("/v1/clusters/{{cluster}}/{path}")]["put"];
        let body = &put["requestBody"]["content"]["application/json"]["schema"];
        assert_eq!(body["$ref"], format!("#/components/schemas/{schema}"));
        let schema = &schemas[schema];
        let required = schema["required"].as_array();
        assert!(
            required.is_none_or(|it| !it.contains(&"id".into())),
            "{schema}"
        );
        assert!(schema["properties"]["id"].is_object());
    }
}

/// The schema that a property refers to, or the property itself.
fn property<'d>(document: &'d Json, schema: &str, key: &str) -> &'d Json {
    let property = &document["components"]["schemas"][schema]["properties"][key];
    assert!(property.is_object(), "{schema} has no {key}");
    property
}

#[test]
fn bodies_name_the_limits_that_the_server_keeps() {
    let document = openapi();
    let of = |schema: &str, key: &str| property(&document, schema, key);
    let most = 9_007_199_254_740_991_i64;
    for (schema, key) in [
        ("QuotaLimits", "vms"),
        ("QuotaLimitsPatch", "vms"),
        ("VmBody", "cores"),
        ("VmBody", "priority"),
        ("ClusterDocument", "seed"),
    ] {
        let counted = of(schema, key);
        assert_eq!(counted["maximum"], most, "{schema} {key}");
        assert_eq!(counted["format"], "int64", "{schema} {key}");
    }
    for (schema, key) in [
        ("QuotaLimitsDocument", "memory"),
        ("VmBody", "memory"),
        ("HostDocument", "memory.total"),
        ("HostPatch", "memory.total"),
        ("VmToPlace", "now"),
    ] {
        let alternatives = &of(schema, key)["anyOf"];
        assert_eq!(alternatives[0]["maximum"], most, "{schema} {key}");
        assert_eq!(alternatives[0]["format"], "int64", "{schema} {key}");
        assert!(alternatives[1]["pattern"].is_string(), "{schema} {key}");
    }
    for (schema, key) in [
        ("QuotaLimits", "cpu"),
        ("QuotaLimits", "gpus"),
        ("VmBody", "cpu"),
    ] {
        let cores = &of(schema, key)["maximum"];
        assert_eq!(*cores, 9_007_199_254_740.99, "{schema} {key}");
    }
    // What the server adds up may be more than any value that is given.
    assert!(of("Host", "vms.count").get("maximum").is_none());
    let id = of("HostDocument", "id");
    assert_eq!(
        (&id["minLength"], &id["maxLength"]),
        (&1.into(), &253.into())
    );
    assert_eq!(of("VmBody", "zone")["maxLength"], 4096);
}

#[test]
fn names_have_the_pattern_by_which_they_are_checked() {
    let document = openapi();
    for (schema, key) in [("ClusterDocument", "name"), ("PolicyClone", "name")] {
        let name = property(&document, schema, key);
        assert_eq!(name["pattern"], NAME_PATTERN, "{schema}");
    }
    let pattern = regex::Regex::new(NAME_PATTERN).unwrap();
    let longest = "a".repeat(64);
    for name in ["mine", "a.b-_9", "-", &longest] {
        assert!(pattern.is_match(name) && check_name(name).is_ok(), "{name}");
    }
    let too_long = "a".repeat(65);
    for name in ["", ".a", "a b", "é", "a/b", &too_long] {
        assert!(
            !pattern.is_match(name) && check_name(name).is_err(),
            "{name}"
        );
    }
}

#[test]
fn no_whole_number_shares_its_format_with_other_types() {
    fn find(value: &Json, place: &str, found: &mut Vec<String>) {
        let kinds = value["type"].as_array().into_iter().flatten();
        let kinds: Vec<&str> = kinds.filter_map(Json::as_str).collect();
        if kinds.contains(&"integer") && kinds.contains(&"string") {
            found.push(place.to_owned());
        }
        match value {
            Json::Object(entries) => entries
                .iter()
                .for_each(|(key, it)| find(it, &format!("{place}.{key}"), found)),
            Json::Array(list) => list.iter().for_each(|it| find(it, place, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    find(&openapi()["components"], "components", &mut found);
    assert_eq!(found, [""; 0]);
}

#[test]
fn keys_of_bodies_and_answers_are_in_kebab_case() {
    let document = openapi();
    let mut with_underscores = Vec::new();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        let keys = schema["properties"].as_object().into_iter().flatten();
        let found = keys.filter(|(key, _)| key.contains('_'));
        with_underscores.extend(found.map(|(key, _)| format!("{name}.{key}")));
    }
    assert_eq!(with_underscores, [""; 0]);
    assert!(property(&document, "WhyNotDrawn", "drawn-from").is_object());
    assert!(property(&document, "HostFateLeft", "passed-over").is_object());
}
