//! One host, VM, group or tenant by itself: read, put, changed in part, taken out.

use placewright_tests::server::Server;
use serde_json::{Value, json};

use super::access::token;
use super::deployment::{Answer, Api, cluster, vm};
use super::folder;

const AT: &str = "/v1/clusters/c";

fn start(data: &std::path::Path) -> (Server, Api) {
    let server = Server::start(data, &[]);
    let api = Api::of(&server);
    let mut document = cluster("c", 2);
    document["vms"] = json!([{"id": "v", "host": "h0", "cpu": 1, "memory": "1 GiB", "ha": true, "pinned": ["h0"], "location": [{"host": "h1", "score": 3}]}]);
    document["groups"] = json!([{"id": "g", "vms": ["v"], "hosts": ["h0"], "rule": "negative", "hard": true, "priority": 2}]);
    document["tenants"] = json!([{"id": "t", "bindings": [{"host": "h0", "start": 1}]}]);
    let made = api.send("POST", "/v1/clusters", &document);
    assert_eq!(made.status, 201, "{made:?}");
    (server, api)
}

fn put(api: &Api, path: &str, condition: (&str, &str), body: &Value) -> Answer {
    let headers = [("content-type", "application/json"), condition];
    api.ask("PUT", path, &headers, body.to_string().as_bytes())
        .unwrap()
}

#[test]
fn what_is_read_of_one_can_be_put_again_and_changes_nothing() {
    let data = folder();
    let (_server, api) = start(data.path());
    let measured = json!({"statistics": [{"id": "h0", "cpu.usage": 0.5}]});
    api.send("POST", &format!("{AT}/inventory/changes"), &measured);
    let moving = json!({"id": "m", "cpu": 1, "memory": "1 GiB", "host": "h0"});
    assert_eq!(api.send("PUT", &format!("{AT}/vms/m"), &moving).status, 201);
    let moved = api.send("POST", &format!("{AT}/migrate"), &json!({"id": "m"}));
    assert_eq!(moved.body["host"], json!("h1"), "{moved:?}");
    let before = api.get(&format!("{AT}/inventory"));
    let reserved = api.get(&format!("{AT}/reservations"));
    for path in [
        "hosts/h0",
        "hosts/h1",
        "vms/v",
        "vms/m",
        "groups/g",
        "tenants/t",
    ] {
        let path = format!("{AT}/{path}");
        let read = api.get(&path);
        assert_eq!(read.status, 200, "{path} {read:?}");
        let tag = read.etag.clone().unwrap();
        let written = put(&api, &path, ("if-match", &tag), &read.body);
        assert_eq!(written.status, 200, "{path} {written:?}");
        assert_eq!(
            (&written.body, &written.etag),
            (&read.body, &read.etag),
            "{path}"
        );
    }
    let after = api.get(&format!("{AT}/inventory"));
    assert_eq!(after.body, before.body);
    assert_eq!(api.get(&format!("{AT}/reservations")).body, reserved.body);
}

#[test]
fn one_is_put_only_where_it_is_as_it_was_read_or_is_new() {
    let data = folder();
    let (_server, api) = start(data.path());
    for (path, body) in [
        ("hosts/h0", json!({"cpu.cores": 8})),
        ("vms/v", json!({"memory": "2 GiB"})),
        ("groups/g", json!({"vms": ["w"]})),
        ("tenants/t", json!({"bindings": []})),
    ] {
        let path = format!("{AT}/{path}");
        let tag = api.get(&path).etag.unwrap();
        let new = put(&api, &path, ("if-none-match", "*"), &body);
        assert_eq!(
            (new.status, &new.body["code"]),
            (412, &json!("revision-changed")),
            "{new:?}"
        );
        let first = put(&api, &path, ("if-match", &tag), &body);
        assert_eq!(first.status, 200, "{first:?}");
        let second = put(&api, &path, ("if-match", &tag), &body);
        assert_eq!(second.status, 412, "{second:?}");
        let told = second.body["detail"].as_str().unwrap();
        assert!(told.contains("is not as it was read"), "{told}");
        let late = api
            .ask("DELETE", &path, &[("if-match", &tag)], b"")
            .unwrap();
        assert_eq!(late.status, 412, "{late:?}");
    }
    // Whatever it is like, it must be there.
    let any = put(
        &api,
        &format!("{AT}/hosts/h8"),
        ("if-match", "*"),
        &json!({"cpu.cores": 8}),
    );
    assert_eq!(any.status, 412, "{any:?}");
    // Statistics are no change of what was given.
    let tag = api.get(&format!("{AT}/hosts/h1")).etag;
    let measured = json!({"statistics": [{"id": "h1", "cpu.usage": 0.5}]});
    api.send("POST", &format!("{AT}/inventory/changes"), &measured);
    assert_eq!(api.get(&format!("{AT}/hosts/h1")).etag, tag);
    let new = put(
        &api,
        &format!("{AT}/hosts/h9"),
        ("if-none-match", "*"),
        &json!({"cpu.cores": 8}),
    );
    assert_eq!(new.status, 201, "{new:?}");
    assert_eq!(new.body["cpu.total"], json!(8));
}

#[test]
fn a_put_replaces_all_and_a_patch_changes_what_it_gives() {
    let data = folder();
    let (_server, api) = start(data.path());
    let patch = |path: &str, body: Value| api.send("PATCH", &format!("{AT}/{path}"), &body);
    let changed = patch("vms/v", json!({"memory": "2 GiB", "pinned": null}));
    assert_eq!(changed.status, 200, "{changed:?}");
    assert_eq!(changed.body["memory"], json!(2_147_483_648_u64));
    assert_eq!(
        (&changed.body["ha"], changed.body.get("pinned")),
        (&json!(true), None)
    );
    let whole = api.send(
        "PUT",
        &format!("{AT}/vms/v"),
        &json!({"cpu": 2, "memory": "1 GiB"}),
    );
    assert_eq!(
        (&whole.body["host"], whole.body.get("ha")),
        (&json!("h0"), None),
        "{whole:?}"
    );
    assert_eq!(whole.body.get("location"), None);

    let changed = patch("groups/g", json!({"add-vms": ["w"], "priority": 3}));
    assert_eq!(changed.body["vms"], json!(["v", "w"]), "{changed:?}");
    assert_eq!(changed.body["hard"], json!(true));
    let whole = api.send(
        "PUT",
        &format!("{AT}/groups/g"),
        &json!({"vms": ["x"], "host-rule": "positive"}),
    );
    let expected = json!({"id": "g", "vms": ["x"], "hosts": [], "host-rule": "positive", "host-hard": false, "priority": 1.0});
    assert_eq!(whole.body, expected);

    let changed = patch("hosts/h1", json!({"state": "maintenance"}));
    assert_eq!(
        (&changed.body["state"], &changed.body["cpu.cores"]),
        (&json!("maintenance"), &json!(1000))
    );
    assert_eq!(
        patch("tenants/t", json!({"bindings": null})).body,
        json!({"id": "t"})
    );
    let events = api.get("/v1/clusters/c").body["counted"]["version"].clone();
    assert!(events.is_u64());
    for path in ["hosts/h9", "vms/w", "groups/x", "tenants/x"] {
        let unknown = patch(path, json!({"id": path.split_once('/').unwrap().1}));
        assert_eq!(
            (unknown.status, &unknown.body["code"]),
            (404, &json!("not-found")),
            "{path}"
        );
    }
}

#[test]
fn one_is_taken_out_and_what_cannot_be_is_told() {
    let data = folder();
    let (_server, api) = start(data.path());
    let delete = |path: &str| {
        api.ask("DELETE", &format!("{AT}/{path}"), &[], b"")
            .unwrap()
    };
    assert_eq!(delete("hosts/h0").status, 409);
    for path in ["vms/v", "groups/g", "tenants/t", "hosts/h0"] {
        assert_eq!(delete(path).status, 204, "{path}");
        let again = delete(path);
        assert_eq!(
            (again.status, &again.body["code"]),
            (404, &json!("not-found")),
            "{path}"
        );
        assert_eq!(api.get(&format!("{AT}/{path}")).status, 404);
    }
    let nowhere = api.send("PUT", &format!("{AT}/vms/w"), &vm("w"));
    assert_eq!(nowhere.status, 422, "{nowhere:?}");
    assert!(
        nowhere.body["detail"]
            .as_str()
            .unwrap()
            .contains("\"host\""),
        "{nowhere:?}"
    );
    let other = api.send("PUT", &format!("{AT}/vms/w"), &vm("x"));
    assert_eq!(other.status, 422, "{other:?}");
    assert!(
        other.body.to_string().contains("the path names"),
        "{other:?}"
    );
    // A VM with a place is changed where it is, and goes on having it.
    let placed = api.send("POST", &format!("{AT}/place"), &vm("p"));
    assert_eq!(placed.status, 200, "{placed:?}");
    let changed = api.send("PATCH", &format!("{AT}/vms/p"), &json!({"priority": 5}));
    assert_eq!(changed.body["priority"], json!(5), "{changed:?}");
    assert_eq!(changed.body["reserved"]["host"], placed.body["host"]);
}

#[test]
fn to_change_one_needs_the_role_and_the_cluster() {
    let data = folder();
    let tokens = [
        token(&["--name", "admin", "--role", "admin"]),
        token(&["--name", "viewer", "--role", "viewer"]),
        token(&["--name", "here", "--role", "operator", "--cluster", "c"]),
        token(&["--name", "there", "--role", "operator", "--cluster", "d"]),
    ];
    let lines: Vec<&str> = tokens.iter().map(|(_, lines)| lines.as_str()).collect();
    let config = data.path().join("placewright.toml");
    std::fs::write(&config, lines.join("\n")).unwrap();
    let server = Server::start(data.path(), &["--config", &config.display().to_string()]);
    let [admin, viewer, here, there] = tokens
        .each_ref()
        .map(|(secret, _)| Api::with(&server, secret));
    let made = admin.send("POST", "/v1/clusters", &cluster("c", 1));
    assert_eq!(made.status, 201, "{made:?}");
    for (path, body) in [
        ("hosts/new", json!({"cpu.cores": 8})),
        ("vms/new", json!({"host": "h0", "memory": "1 GiB"})),
        ("groups/new", json!({"vms": ["new"]})),
        ("tenants/new", json!({"id": "new"})),
    ] {
        let path = format!("{AT}/{path}");
        for method in ["PUT", "PATCH", "DELETE"] {
            for api in [&viewer, &there] {
                let refused = api.send(method, &path, &body);
                assert_eq!(refused.status, 403, "{method} {path} {refused:?}");
            }
            let (expected, body) = match method {
                "PUT" => (201, &body),
                "PATCH" => (200, &body),
                _ => (204, &Value::Null),
            };
            let done = here.send(method, &path, body);
            assert_eq!(done.status, expected, "{method} {path} {done:?}");
        }
        assert_eq!(there.get(&path).status, 403);
        assert_eq!(viewer.get(&path).status, 404);
    }
}
