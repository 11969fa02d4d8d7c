use serde_json::json;

use super::*;

/// A contract with one operation, which takes and gives things of this schema.
fn contract(sent: &Json, answered: &Json) -> Json {
    json!({
        "paths": { "/things": { "post": {
            "operationId": "make_thing",
            "parameters": [
                { "name": "wait", "in": "query", "required": false, "schema": { "type": "integer", "maximum": 10 } }
            ],
            "requestBody": { "content": { "application/json": { "schema": sent } } },
            "responses": { "200": { "content": { "application/json": { "schema": answered } } } }
        } } },
        "components": { "schemas": { "Thing": thing() } }
    })
}

fn thing() -> Json {
    json!({
        "type": "object",
        "required": ["id"],
        "properties": {
            "id": { "type": "string" },
            "size": { "type": ["integer", "string"], "minimum": 0 },
            "state": { "type": "string", "enum": ["up", "down"] },
            "below": { "type": "array", "items": { "$ref": "#/components/schemas/Thing" } }
        }
    })
}

/// The same contract with something changed.
fn changed(pointer: &str, value: Json) -> Vec<String> {
    let of = json!({ "$ref": "#/components/schemas/Thing" });
    let old = contract(&of, &of);
    let mut new = old.clone();
    *new.pointer_mut(pointer)
        .unwrap_or_else(|| panic!("there is no {pointer}")) = value;
    breaking(&old, &new)
}

const OPERATION: &str = "/paths/~1things/post";
const THING: &str = "/components/schemas/Thing";

#[test]
fn what_is_the_same_or_takes_more_breaks_nobody() {
    assert_eq!(
        changed(&format!("{OPERATION}/operationId"), json!("make_thing")),
        [""; 0]
    );
    assert_eq!(
        changed(
            &format!("{OPERATION}/parameters/0/schema/maximum"),
            json!(20)
        ),
        [""; 0]
    );
    let mut properties = thing()["properties"].clone();
    properties["new"] = json!({ "type": "string" });
    assert_eq!(changed(&format!("{THING}/properties"), properties), [""; 0]);
    let words = json!(["up", "down", "error"]);
    assert_eq!(
        changed(&format!("{THING}/properties/state/enum"), words),
        [""; 0]
    );
}

#[test]
fn what_is_gone_or_renamed_breaks_clients() {
    assert_eq!(changed(OPERATION, json!(null)).len(), 4);
    assert_eq!(changed("/paths", json!({})), ["POST /things is gone"]);
    let told = changed(&format!("{OPERATION}/operationId"), json!("create"));
    assert_eq!(
        told,
        ["POST /things is called \"create\" and not \"make_thing\" any more"]
    );
    let told = changed(&format!("{OPERATION}/parameters"), json!([]));
    assert_eq!(told, ["POST /things has no parameter \"wait\" any more"]);
    let told = changed(&format!("{OPERATION}/responses"), json!({}));
    assert_eq!(told, ["POST /things does not answer with 200 any more"]);
    let mut properties = thing()["properties"].clone();
    properties.as_object_mut().map(|it| it.remove("size"));
    let told = changed(&format!("{THING}/properties"), properties);
    assert_eq!(
        told,
        [
            "POST /things : body.size is gone",
            "POST /things : answer 200.size is gone"
        ]
    );
    let told = changed("/components/schemas", json!({}));
    assert!(told[0].starts_with("the schema Thing is gone"), "{told:?}");
}

#[test]
fn what_must_be_sent_besides_breaks_clients() {
    let needed = json!(["id", "state"]);
    let told = changed(&format!("{THING}/required"), needed);
    assert_eq!(told, ["POST /things : body needs state"]);
    let told = changed(&format!("{OPERATION}/parameters/0/required"), json!(true));
    assert_eq!(told, ["POST /things needs the parameter \"wait\""]);
}

#[test]
fn what_may_be_missing_from_an_answer_breaks_clients() {
    let told = changed(&format!("{THING}/required"), json!([]));
    assert_eq!(told, ["POST /things : answer 200.id may be missing"]);
}

#[test]
fn types_that_are_narrower_where_they_are_sent_and_wider_where_they_are_answered_break_clients() {
    let told = changed(&format!("{THING}/properties/size/type"), json!("integer"));
    assert_eq!(
        told,
        ["POST /things : body.size must be integer, and could be integer or string"]
    );
    let told = changed(
        &format!("{THING}/properties/id/type"),
        json!(["string", "null"]),
    );
    assert_eq!(
        told,
        ["POST /things : answer 200.id is null or string, and was string"]
    );
    let told = changed(&format!("{THING}/properties/state/enum"), json!(["up"]));
    assert_eq!(
        told,
        ["POST /things : body.state may not be \"down\" any more"]
    );
    let told = changed(&format!("{THING}/properties/size/minimum"), json!(1));
    assert_eq!(told, ["POST /things : body.size has the minimum 1"]);
}

#[test]
fn alternatives_that_are_gone_where_they_are_sent_or_new_where_they_are_answered_break_clients() {
    let text = json!({ "type": "string" });
    let number = json!({ "type": "number" });
    let one = json!({ "oneOf": [text.clone()] });
    let both = json!({ "oneOf": [text, number] });
    let fewer = breaking(&contract(&both, &one), &contract(&one, &one));
    assert_eq!(
        fewer,
        ["POST /things : body may not be this any more: {\"type\":\"number\"}"]
    );
    let more = breaking(&contract(&one, &one), &contract(&one, &both));
    assert_eq!(
        more,
        ["POST /things : answer 200 may be something new: {\"type\":\"number\"}"]
    );
    assert_eq!(
        breaking(&contract(&one, &both), &contract(&both, &one)),
        [""; 0]
    );
}

#[test]
fn sentences_for_people_are_no_part_of_what_is_compared() {
    let told = json!({ "description": "x", "examples": [1], "properties": { "description": { "type": "string" } } });
    let kept = json!({ "properties": { "description": { "type": "string" } } });
    assert_eq!(skeleton(&told), kept);
}
