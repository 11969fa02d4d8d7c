//! Settings of a cluster, changed in part.

use placewright_tests::server::Server;
use serde_json::{Value, json};

use super::deployment::{Answer, Api, cluster};
use super::folder;

const PATH: &str = "/v1/clusters/c/settings";

fn patch(api: &Api, headers: &[(&str, &str)], patch: &Value) -> Answer {
    let kind = ("content-type", "application/merge-patch+json");
    let headers = [&[kind], headers].concat();
    let told = api.ask("PATCH", PATH, &headers, patch.to_string().as_bytes());
    told.unwrap()
}

#[test]
fn a_merge_patch_changes_what_it_names_and_is_checked_like_what_is_put() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let made = api.send("POST", "/v1/clusters?policy=general", &cluster("c", 3));
    assert_eq!(made.status, 201, "{made:?}");
    let before = api.get(PATH).body;
    let new =
        json!({"balance": {"every": 600}, "restart": {"settle": 90}, "statistics-max-age": 60});
    let told = patch(&api, &[], &new);
    assert_eq!(told.status, 200, "{told:?}");
    let set = api.get(PATH).body;
    assert_eq!(
        (&set["policy"], &set["seed"]),
        (&before["policy"], &before["seed"])
    );
    assert_eq!(set["balance"]["every"], 600);
    assert_eq!(
        (&set["restart"]["settle"], &set["restart"]["max-in-flight"]),
        (&json!(90), &json!(8))
    );
    // Null takes away, what is not named stays.
    let told = patch(
        &api,
        &[],
        &json!({"balance": null, "restart": {"max-in-flight": 3}}),
    );
    assert_eq!(told.status, 200, "{told:?}");
    let set = api.get(PATH).body;
    assert_eq!(set.get("balance"), None);
    assert_eq!(
        (&set["restart"]["settle"], &set["restart"]["max-in-flight"]),
        (&json!(90), &json!(3))
    );
    assert_eq!(set["statistics-max-age"], 60);
    // A document as it was read changes nothing, and neither does an empty one.
    for unchanged in [&set, &json!({})] {
        let told = patch(&api, &[], unchanged);
        assert_eq!(told.status, 200, "{told:?}");
        assert_eq!(api.get(PATH).body, set);
    }

    let set = api.get(PATH).body;
    for (wrong, status, says) in [
        (json!({"policy": null}), 422, "cannot be taken away"),
        (json!({"policy": "nothing"}), 404, "nothing"),
        (json!({"balance": {"every": 1}}), 422, "from 10 to 2592000"),
        (json!({"restart": {"settle": -1}}), 422, "from 0 to 3600"),
        (json!({"statistics-max-age": 0}), 422, "from 1 to 2592000"),
        (
            json!({"overrides": {"no-such-entry": {"enabled": false}}}),
            404,
            "no-such-entry",
        ),
        (json!({"overides": null}), 400, "overides"),
        (json!({"restart": {"setle": null}}), 400, "setle"),
        // A list is no object, whatever stands in it.
        (json!({"restart": []}), 400, "must be an object"),
        (json!({"restart": [0]}), 400, "must be an object"),
        (json!({"balance": [600]}), 400, "must be an object"),
        (
            json!({"overrides": {"memory": [5]}}),
            400,
            "must be an object",
        ),
        (
            json!({"restart": {"max-in-flight": 8.5}}),
            400,
            "a whole number",
        ),
        (json!({"unheeded": [{"need": 5}]}), 400, "unheeded"),
        (json!({"unheeded": [1, "x"]}), 400, "unheeded"),
    ] {
        let told = patch(&api, &[], &wrong);
        assert_eq!(told.status, status, "{wrong}: {told:?}");
        assert!(told.body.to_string().contains(says), "{wrong}: {told:?}");
    }
    // A whole number may have a point.
    let whole = json!({"restart": {"max-in-flight": 3.0}, "revision": 1.0});
    let told = patch(&api, &[], &whole);
    assert_eq!(told.status, 200, "{told:?}");
    assert_eq!(api.get(PATH).body["restart"], set["restart"]);
    let old = patch(
        &api,
        &[("if-match", "\"1\"")],
        &json!({"balance": {"every": 60}}),
    );
    assert_eq!(old.status, 412, "{old:?}");
    assert_eq!(api.get(PATH).body, set);
    let revision = format!("\"{}\"", set["revision"]);
    let told = patch(
        &api,
        &[("if-match", &revision)],
        &json!({"balance": {"every": 60}}),
    );
    assert_eq!(told.status, 200, "{told:?}");
}
