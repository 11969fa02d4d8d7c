//! What is wrong with many entries at once: which ones, by list, position and id.

use placewright_tests::server::Server;
use serde_json::{Value, json};

use super::deployment::{Answer, Api, cluster};
use super::folder;

fn paths(answer: &Answer) -> Vec<&str> {
    let errors = answer.body["errors"].as_array().unwrap();
    let paths = errors.iter().map(|it| it["place"]["path"].as_str());
    paths.map(Option::unwrap).collect()
}

fn detail(answer: &Answer) -> &str {
    answer.body["detail"].as_str().unwrap()
}

#[test]
fn errors_of_bulk_operations_say_which_entries_are_wrong() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let made = api.send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 3));
    assert_eq!(made.status, 201, "{made:?}");
    let vms = |wrong: &dyn Fn(usize) -> Value| -> Value {
        let vms = (0..40).map(|it| match it % 20 {
            17 => wrong(it),
            _ => json!({"id": format!("v{it}"), "host": "h0", "memory": "1 GiB"}),
        });
        vms.collect()
    };
    let before = api.get("/v1/clusters/c/inventory").body;

    // What does not go together with the cluster as it is.
    let changes = "/v1/clusters/c/inventory/changes";
    let unknown = |it| json!({"id": format!("web-{it}"), "host": "h9"});
    let told = api.send("POST", changes, &json!({"vms": vms(&unknown)}));
    assert_eq!(
        (told.status, &told.body["code"]),
        (404, &json!("not-found"))
    );
    assert_eq!(
        detail(&told),
        "vms[17] \"web-17\": there is no host \"h9\"; vms[37] \"web-37\": there is no host \"h9\""
    );
    assert_eq!(paths(&told), ["vms[17]", "vms[37]"]);
    let gone: Vec<String> = (0..300).map(|it| format!("x{it}")).collect();
    let told = api.send("POST", changes, &json!({"gone": {"vms": gone}}));
    assert!(
        detail(&told).starts_with("gone.vms[0] \"x0\": "),
        "{told:?}"
    );
    assert!(detail(&told).contains("and 295 more"), "{told:?}");
    assert_eq!(paths(&told).len(), 100);

    // What is wrong by itself.
    let wrong = |it| json!({"id": format!("web-{it}"), "host": "h0", "memory": true});
    let told = api.send("POST", changes, &json!({"vms": vms(&wrong)}));
    assert_eq!(told.status, 422, "{told:?}");
    assert_eq!(paths(&told), ["vms[17].memory", "vms[37].memory"]);
    let first = told.body["errors"][0]["message"].as_str().unwrap();
    assert!(
        first.starts_with("vms[17] \"web-17\": \"memory\""),
        "{first}"
    );
    let headers = [("content-type", "application/json"), ("if-match", "*")];
    let document = json!({"name": "c", "hosts": before["hosts"], "vms": vms(&wrong)});
    let put = |text: &str| {
        let put = api.ask("PUT", "/v1/clusters/c/inventory", &headers, text.as_bytes());
        put.unwrap()
    };
    assert_eq!(
        paths(&put(&document.to_string())),
        ["vms[17].memory", "vms[37].memory"]
    );
    let batch = json!({"requests": [{"vms": ["a"]}, {"vms": [{"id": "b", "cpu": true}]}]});
    let told = api.send("POST", "/v1/clusters/c/place-batch", &batch);
    assert_eq!(paths(&told), ["requests[1].vms[0].cpu"]);
    assert!(
        detail(&told).contains("requests[1].vms[0] \"b\": "),
        "{told:?}"
    );
    // A batch that differs in what it has one of.
    let batch = json!({"requests": [{"vms": ["a"]}, {"vms": ["b"], "reserve-for": 7}]});
    let told = api.send("POST", "/v1/clusters/c/place-batch", &batch);
    assert!(detail(&told).contains("VM \"b\" (entry 1)"), "{told:?}");

    // Text that breaks off on its way.
    let text = json!({"vms": vms(&wrong)}).to_string();
    let end = text.find("web-17").unwrap() + "web-17\", \"host\": ".len();
    let told = api.ask("POST", changes, &headers, &text.as_bytes()[..end]);
    let told = told.unwrap();
    assert!(detail(&told).contains("vms[17]"), "{told:?}");

    // One thing by itself is in no list.
    let told = api.send(
        "PATCH",
        "/v1/clusters/c/hosts/h0",
        &json!({"memory.total": true}),
    );
    assert!(!detail(&told).contains('['), "{told:?}");
    let told = api.send("PUT", "/v1/clusters/c/vms/v", &json!({"host": "h9"}));
    assert_eq!(detail(&told), "there is no host \"h9\"");
    assert_eq!(api.get("/v1/clusters/c/inventory").body, before);
}

#[test]
fn a_vm_that_is_named_only_is_one_that_the_cluster_knows() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let made = api.send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 3));
    assert_eq!(made.status, 201, "{made:?}");
    let vm = json!({"id": "web-1", "memory": "1 GiB"});
    let placed = api.send("POST", "/v1/clusters/c/place", &vm);
    assert_eq!(placed.status, 200, "{placed:?}");
    let before = api.get("/v1/clusters/c/inventory").body;
    let typo = json!({"vms": ["wbe-1"]});
    for route in [
        "place",
        "migrate",
        "place-batch",
        "why?host=h0",
        "capacity",
        "host-costs",
    ] {
        let told = api.send("POST", &format!("/v1/clusters/c/{route}"), &typo);
        assert_eq!(
            (told.status, &told.body["code"]),
            (404, &json!("not-found")),
            "{route}: {told:?}"
        );
        let expected =
            "vms[0] \"wbe-1\": there is no such VM in the cluster (did you mean \"web-1\"?)";
        assert!(detail(&told).starts_with(expected), "{route}: {told:?}");
        assert_eq!(paths(&told), ["vms[0]"], "{route}");
        assert_eq!(told.body["errors"][0]["suggestion"], "web-1", "{route}");
    }
    let batch = json!({"requests": [{"vms": [{"id": "new", "cpu": 1}]}, {"vms": ["x", "web-1"]}]});
    let told = api.send("POST", "/v1/clusters/c/place-batch", &batch);
    assert_eq!(
        (told.status, paths(&told)),
        (404, vec!["requests[1].vms[0]"]),
        "{told:?}"
    );
    assert_eq!(api.get("/v1/clusters/c/inventory").body, before);
    // One that is known is asked about by its id.
    let known = json!({"vms": ["web-1"]});
    for route in ["why?host=h0", "capacity", "host-costs"] {
        let answer = api.send("POST", &format!("/v1/clusters/c/{route}"), &known);
        assert_eq!(answer.status, 200, "{route}: {answer:?}");
    }
}

#[test]
fn a_word_that_is_none_of_its_column_is_refused_on_every_route() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let made = api.send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 3));
    assert_eq!(made.status, 201, "{made:?}");
    let put = json!({"host": "h0", "memory": "1 GiB", "state": "powering-up"});
    assert_eq!(api.send("PUT", "/v1/clusters/c/vms/v", &put).status, 201);
    let before = api.get("/v1/clusters/c/inventory").body;
    let wrong = json!({"pinning": "dedicatd"});
    let with = |more: Value| {
        let mut all = wrong.clone();
        all.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        all
    };
    let new = with(json!({"id": "n"}));
    let document = json!({"name": "d", "hosts": [{"id": "h"}], "vms": [with(json!({"id": "n", "host": "h"}))]});
    for (method, route, body) in [
        ("PUT", "/c/vms/w", with(json!({"host": "h0"}))),
        ("PATCH", "/c/vms/v", wrong.clone()),
        (
            "POST",
            "/c/inventory/changes",
            json!({"vms": [with(json!({"id": "v"}))]}),
        ),
        ("POST", "/c/place", new.clone()),
        ("POST", "/c/place-batch", json!({"vms": [new]})),
        ("POST", "/c/migrate", with(json!({"id": "v"}))),
        ("POST", "/c/why?host=h0", with(json!({"id": "v"}))),
        ("POST", "/c/capacity", with(json!({"id": "v"}))),
        ("POST", "", document),
    ] {
        let told = api.send(method, &format!("/v1/clusters{route}"), &body);
        assert_eq!(told.status, 422, "{method} {route}: {told:?}");
        let expected = "\"pinning\" must be \"manual\", \"dedicated\", \"isolate-threads\" or \"resize-and-pin\", not \"dedicatd\"";
        assert!(
            told.body
                .to_string()
                .replace("\\\"", "\"")
                .contains(expected),
            "{method} {route}: {told:?}"
        );
    }
    assert_eq!(api.get("/v1/clusters/c/inventory").body, before);
}

#[test]
fn each_request_of_a_batch_says_for_itself_whether_vms_that_run_are_placed_again() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    api.send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 3));
    let vm = |id: &str| json!({"id": id, "cpu": 1, "memory": "1 GiB"});
    for id in ["one", "two"] {
        api.send("POST", "/v1/clusters/c/place", &vm(id));
        api.send("POST", "/v1/clusters/c/confirm", &json!({"vms": [id]}));
    }
    let batch = |again: bool| {
        let requests = json!([
            {"vms": ["one", vm("three")], "again": true},
            {"vms": ["two"], "again": again},
        ]);
        let requests = json!({ "requests": requests });
        api.send("POST", "/v1/clusters/c/place-batch", &requests)
    };
    let refused = batch(false);
    assert_eq!(refused.body["code"], "vm-runs", "{refused:?}");
    assert!(detail(&refused).contains("\"two\""), "{refused:?}");
    assert!(!detail(&refused).contains("\"one\""), "{refused:?}");
    let placed = batch(true);
    assert_eq!(placed.status, 200, "{placed:?}");
    let decisions = placed.body["decisions"].as_array().unwrap();
    let together = decisions
        .iter()
        .find(|it| it["vms"] == json!(["one", "three"]));
    assert!(together.is_some(), "{placed:?}");
}
