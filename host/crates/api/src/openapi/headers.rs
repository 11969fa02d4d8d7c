//! Headers that many routes have alike, in the description.

use serde_json::{Map, Value as Json, json};

use super::RULES;
use placewright_http::permission::Rule;

/// The key of a request that is carried out once.
const KEY: &str = "Idempotency-Key";

/// Headers that make a change conditional, and the pattern of their values.
const CONDITIONS: [(&str, &str); 2] = [
    ("If-Match", r#"^(\*|(W/)?"[0-9]+")$"#),
    ("If-None-Match", r"^\*$"),
];

/// Describe the headers that the layers before the routes take and add: each answer's
/// `X-Request-Id`, and the `Idempotency-Key` of each POST that changes something.
pub(super) fn describe(document: &mut Json) {
    document["components"]["headers"] = json!({
        "RequestId": header("Names the request in the server's log: as the client sent it, 1 to 64 \
            letters, digits, \"-\", \"_\" and \".\", or chosen by the server"),
        "IdempotencyReplayed": header("`true` if the answer is that of an earlier request with the \
            same Idempotency-Key; absent otherwise"),
    });
    for rule in RULES {
        let method = rule.method.to_lowercase();
        if let Some(operation) = document["paths"][rule.path].get_mut(&method) {
            operation_of(rule, operation);
        }
    }
}

fn operation_of(rule: &Rule, operation: &mut Json) {
    let parameters = operation.get_mut("parameters").and_then(Json::as_array_mut);
    for parameter in parameters.into_iter().flatten() {
        let pattern = CONDITIONS
            .iter()
            .find(|(name, _)| parameter["name"] == *name);
        if let Some((_, pattern)) = pattern {
            parameter["schema"]["pattern"] = (*pattern).into();
        }
    }
    let is_carried_out_once = is_carried_out_once(rule);
    if is_carried_out_once {
        add_key(operation);
    }
    let answers = operation["responses"].as_object_mut();
    for (status, answer) in answers.into_iter().flatten() {
        refer(answer, "X-Request-Id", "RequestId");
        if is_carried_out_once && status.starts_with('2') {
            refer(answer, "Idempotency-Replayed", "IdempotencyReplayed");
        }
    }
}

/// Whether a request with a key is carried out once: questions, which change nothing, are asked
/// again, and all methods but POST do the same when they are repeated.
fn is_carried_out_once(rule: &Rule) -> bool {
    rule.method == "POST" && rule.needs.is_some() && !rule.only_reads()
}

fn add_key(operation: &mut Json) {
    let Some(operation) = operation.as_object_mut() else {
        return;
    };
    let parameters = operation.entry("parameters");
    if let Some(parameters) = parameters.or_insert_with(|| json!([])).as_array_mut() {
        parameters.push(json!({
            "name": KEY,
            "in": "header",
            "required": false,
            "description": "A key of 1 to 255 visible characters, new for each request: one that \
                is sent again with its key, since no answer came, is carried out once and answered \
                alike",
            "schema": { "type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$" },
        }));
    }
}

fn refer(answer: &mut Json, name: &str, header: &str) {
    let Some(answer) = answer.as_object_mut() else {
        return;
    };
    let headers = answer.entry("headers");
    let headers = headers.or_insert_with(|| Map::new().into());
    headers[name] = json!({ "$ref": format!("#/components/headers/{header}") });
}

fn header(meaning: &str) -> Json {
    json!({ "description": meaning, "schema": { "type": "string" } })
}
