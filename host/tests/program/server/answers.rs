//! What answers and the log say, in the words of those who read them.

use std::fs;
use std::time::{Duration, Instant};

use placewright_engine::unit::Digest;
use placewright_tests::server::{Server, placewright};
use serde_json::{Value, json};

use super::access::token;
use super::deployment::{Api, cluster, vm};
use super::reload::{replace, variant, wait_for};
use super::{client, folder, get};

#[test]
fn a_cluster_that_was_made_is_told_with_its_path() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let made = client()
        .post(format!("{}/v1/clusters?policy=worst-fit", server.url))
        .header("content-type", "application/json")
        .send(cluster("c", 1).to_string())
        .unwrap();
    assert_eq!(made.status().as_u16(), 201);
    assert_eq!(made.headers()["location"], "/v1/clusters/c");
}

#[test]
fn amounts_that_are_surely_mistakes_are_warnings_of_every_answer() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let mut document = cluster("c", 2);
    document["hosts"][0]["cpu.overcommit"] = 400.into();
    let made = api.send("POST", "/v1/clusters?policy=worst-fit", &document);
    let of_made = made.body["warnings"].to_string();
    assert!(of_made.contains("has cpu.overcommit 400"), "{made:?}");
    let placed = api.send(
        "POST",
        "/v1/clusters/c/place?dry-run=true",
        &json!({"id": "m", "cpu": 1}),
    );
    let of_placed = placed.body["warnings"].to_string();
    assert!(of_placed.contains("says no memory"), "{placed:?}");
    let changes = json!({
        "hosts": [{"id": "h0", "memory.total": 512}],
        "vms": [{"id": "r", "host": "h1", "cpu": 1}],
    });
    let changed = api.send("POST", "/v1/clusters/c/inventory/changes", &changes);
    let of_change = changed.body["warnings"].to_string();
    for part in ["has 512 bytes of memory", "VM \\\"r\\\" says no memory"] {
        assert!(of_change.contains(part), "{part}: {changed:?}");
    }
    // A host that can hold no VM, added or left without.
    let put = api.send("PUT", "/v1/clusters/c/hosts/empty", &json!({"zone": "z"}));
    let of_put = put.body["warnings"].to_string();
    assert!(of_put.contains("says neither memory nor CPU"), "{put:?}");
    let sized = json!({"memory.total": "8 GiB", "cpu.cores": 4});
    let sized = api.send("PATCH", "/v1/clusters/c/hosts/empty", &sized);
    assert!(sized.body.get("warnings").is_none(), "{sized:?}");
    let less = json!({"memory.total": null, "cpu.cores": null, "cpu.total": null});
    let less = api.send("PATCH", "/v1/clusters/c/hosts/empty", &less);
    let of_less = less.body["warnings"].to_string();
    assert!(of_less.contains("says neither memory nor CPU"), "{less:?}");
    // Of what is known nothing is said again.
    let again = json!({"vms": [{"id": "r", "cpu": 2}]});
    let again = api.send("POST", "/v1/clusters/c/inventory/changes", &again);
    assert!(again.body.get("warnings").is_none(), "{again:?}");
}

#[test]
fn no_host_has_a_reason_and_a_host_that_is_not_there_is_named() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let mut document = cluster("c", 2);
    document["hosts"][0]["state"] = "maintenance".into();
    api.send("POST", "/v1/clusters?policy=worst-fit", &document);
    let mut asked = vm("v");
    asked["allowed"] = json!(["h0"]);
    let nowhere = api.send("POST", "/v1/clusters/c/place", &asked);
    assert_eq!(
        (&nowhere.body["host"], &nowhere.body["removed"]),
        (
            &json!(null),
            &json!([{
                "filter": "state",
                "reason": "is not up: its state is maintenance",
                "passing": false,
                "hosts": 1,
                "names": ["h0"],
            }])
        ),
        "{nowhere:?}"
    );
    let full = api.send("POST", "/v1/clusters/c/capacity", &asked);
    assert_eq!(
        full.body["stopped-by"][0]["names"],
        json!(["h0"]),
        "{full:?}"
    );
    for key in ["pinned", "preferred", "allowed", "excluded"] {
        let mut asked = vm("w");
        asked[key] = json!(["h9"]);
        for route in ["place", "capacity", "why?host=h1"] {
            let refused = api.send("POST", &format!("/v1/clusters/c/{route}"), &asked);
            assert_eq!(refused.status, 422, "{key} {route}: {refused:?}");
            let detail = refused.body["detail"].as_str().unwrap_or_default();
            assert!(
                detail.starts_with("there is no host \"h9\" in the cluster"),
                "{refused:?}"
            );
        }
    }
}

#[test]
fn hosts_that_fail_are_named_one_by_one_or_together_and_the_answer_has_a_verdict() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    api.send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 3));
    api.send("POST", "/v1/clusters/c/place", &vm("v"));
    let ask = |query: &str| {
        api.send(
            "POST",
            &format!("/v1/clusters/c/what-if{query}"),
            &json!({}),
        )
    };
    let all = ask("");
    assert_eq!(all.body["survived"], true, "{all:?}");
    assert_eq!(all.body["failures"].as_array().unwrap().len(), 3, "{all:?}");
    let two = ask("?without=h0&without=h1");
    assert_eq!(two.body["survived"], true, "{two:?}");
    assert_eq!(two.body["failures"][0]["hosts"], json!(["h0", "h1"]));
    // A comma is a part of an id.
    let unknown = ask("?without=h0,h1");
    assert_eq!(unknown.status, 404, "{unknown:?}");
    let none = ask("?without=h0&without=h1&without=h2");
    assert_eq!(none.body["survived"], false, "{none:?}");
    assert_eq!(none.body["failures"][0]["survived"], false, "{none:?}");
    let wrong = ask("?wihtout=h0");
    assert_eq!(
        wrong.body["detail"],
        "unknown query parameter \"wihtout\"; this route takes \"without\" and \"restart\""
    );
    assert_eq!(none.body["failures"][0]["restart"], "all");
    let ha = ask("?without=h0&without=h1&without=h2&restart=ha");
    assert_eq!(ha.body["survived"], true, "{ha:?}");
    assert_eq!(ha.body["failures"][0]["not-restarted"], json!(["v"]));
    let wrong = ask("?restart=some");
    assert_eq!(wrong.status, 400, "{wrong:?}");
}

#[test]
fn a_query_that_is_wrong_is_told_by_its_parameters() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let listed = api.get("/v1/policies?state=x");
    assert_eq!(
        listed.body["detail"],
        "unknown query parameter \"state\"; this route takes \"limit\" and \"after\""
    );
    api.send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 1));
    let why = api.send("POST", "/v1/clusters/c/why", &vm("v"));
    assert_eq!(
        why.body["detail"],
        "the query parameter \"host\" is missing; add ?host=VALUE"
    );
    let room = api.send("POST", "/v1/clusters/c/capacity?at-most=7", &vm("v"));
    assert_eq!(room.body["fit"], 7, "{room:?}");
}

#[test]
fn a_unit_goes_back_by_the_first_digits_of_its_digest() {
    let data = folder();
    let units = data.path().join("units");
    fs::create_dir_all(&units).unwrap();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let (first, second) = (variant(1), variant(2));
    replace(&units.join("worst-fit.wasm"), &first);
    wait_for(&api, &first, "the first");
    replace(&units.join("worst-fit.wasm"), &second);
    wait_for(&api, &second, "the second");
    let back = |digest: &str| {
        let body = json!({"digest": digest});
        api.send("POST", "/v1/units/worst-fit/rollback", &body)
    };
    let short = back(&Digest::of(&first).to_string()[..7]);
    assert_eq!(
        (short.status, &short.body["code"]),
        (400, &json!("invalid-parameter"))
    );
    let unknown = back("00000000");
    assert_eq!(unknown.status, 404, "{unknown:?}");
    let done = back(&Digest::of(&first).short());
    assert_eq!(done.status, 200, "{done:?}");
    // Named by nobody it is the one before, by the route and by the command line.
    let done = api.ask("POST", "/v1/units/worst-fit/rollback", &[], b"");
    assert_eq!(done.unwrap().status, 200);
    let in_force = || api.get("/v1/units/worst-fit").body["in-force"].clone();
    assert_eq!(in_force(), Digest::of(&second).to_string());
    let line = ["--server", &*server.url, "unit", "rollback", "worst-fit"];
    assert!(placewright(line).status().unwrap().success());
    assert_eq!(in_force(), Digest::of(&first).to_string());
    wait_for(&api, &first, "the first again");
}

#[test]
fn a_unit_that_policies_use_is_not_disabled_and_they_are_named() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    api.send(
        "POST",
        "/v1/policies/worst-fit/clone",
        &json!({"name": "mine"}),
    );
    api.send("POST", "/v1/clusters?policy=mine", &cluster("c", 1));
    let refused = api.send("POST", "/v1/units/worst-fit/disable", &json!({}));
    assert_eq!(refused.status, 409, "{refused:?}");
    let detail = refused.body["detail"].as_str().unwrap();
    assert!(
        detail.starts_with("the unit \"worst-fit\" is used by the policy \"mine\": "),
        "{detail}"
    );
}

#[test]
fn a_unit_says_why_its_last_candidate_was_refused() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let in_force = api.get("/v1/units/worst-fit").body;
    assert!(in_force.get("refused").is_none(), "{in_force}");
    // The policy wants these bytes and no others.
    let digest = in_force["in-force"].as_str().unwrap();
    let unit = format!("worst-fit@{}", &digest[..12]);
    let policy = json!({"filters": [], "costs": [{"unit": unit}]}).to_string();
    let headers = [("content-type", "application/json"), ("if-none-match", "*")];
    let put = api.ask("PUT", "/v1/policies/mine", &headers, policy.as_bytes());
    assert_eq!(put.unwrap().status, 200);
    api.send("POST", "/v1/clusters?policy=mine", &cluster("c", 1));
    let kind = [("content-type", "application/wasm")];
    let refused = api.ask("PUT", "/v1/units", &kind, &variant(1)).unwrap();
    assert_eq!(refused.status, 422, "{refused:?}");
    let shown = api.get("/v1/units/worst-fit").body;
    assert_eq!(shown["in-force"], digest, "{shown}");
    let refused = &shown["refused"];
    assert_eq!(
        refused["digest"],
        Digest::of(&variant(1)).to_string(),
        "{shown}"
    );
    assert!(refused["at"].is_u64(), "{shown}");
}

#[test]
fn calls_that_are_refused_are_in_the_log_without_secrets() {
    let data = folder();
    let (viewer, lines) = token(&["--name", "alice", "--role", "viewer"]);
    let config = data.path().join("placewright.toml");
    fs::write(&config, lines).unwrap();
    let server = Server::start(data.path(), &["--config", &config.display().to_string()]);
    assert_eq!(
        get(&format!("{}/v1/clusters", server.url), Some("pw_wrong")).0,
        401
    );
    let api = Api::with(&server, &viewer);
    assert_eq!(
        api.send("POST", "/v1/clusters/c/place", &vm("v")).status,
        403
    );
    server.signal("TERM");
    let (_, log) = server.ended();
    let refused: Vec<_> = log
        .lines()
        .filter(|line| line.contains("\"refused\""))
        .collect();
    assert_eq!(refused.len(), 2, "{log}");
    assert!(refused[0].contains("\"path\":\"/v1/clusters\"") && refused[0].contains("401"));
    assert!(
        refused[1].contains("\"caller\":\"alice\"") && refused[1].contains("403"),
        "{log}"
    );
    assert!(!log.contains("pw_"), "{log}");
}

#[test]
fn a_host_is_forced_by_admins_alone_and_says_nothing_of_capacity() {
    let data = folder();
    let (admin, of_admin) = token(&["--name", "root", "--role", "admin"]);
    let (viewer, of_viewer) = token(&["--name", "alice", "--role", "viewer"]);
    let config = data.path().join("placewright.toml");
    fs::write(&config, format!("{of_admin}{of_viewer}")).unwrap();
    let server = Server::start(data.path(), &["--config", &config.display().to_string()]);
    let (admin, viewer) = (Api::with(&server, &admin), Api::with(&server, &viewer));
    let cluster = json!({"name": "c", "hosts": [
        {"id": "h1", "cpu.cores": 4, "memory.total": "8 GiB"},
        {"id": "h2", "cpu.cores": 4, "memory.total": "8 GiB"},
    ]});
    assert_eq!(admin.send("POST", "/v1/clusters", &cluster).status, 201);
    let mut asked = json!({"id": "v", "cpu": 1, "memory": "1 GiB"});
    let ask = |api: &Api, route: &str, asked: &Value| {
        let path = format!("/v1/clusters/c/{route}");
        api.send("POST", &path, asked).status
    };
    for forced in [false, true] {
        if forced {
            asked["force"] = "h1".into();
        }
        for route in ["why?host=h2", "host-costs"] {
            let status = if forced { 403 } else { 200 };
            assert_eq!(ask(&viewer, route, &asked), status, "{route}");
            assert_eq!(ask(&admin, route, &asked), 200, "{route}");
        }
        let status = if forced { 422 } else { 200 };
        assert_eq!(ask(&admin, "capacity", &asked), status);
    }
}

#[test]
fn durations_are_taken_as_texts_wherever_there_are_some() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let cluster = json!({"name": "c",
        "hosts": [{"id": "h1", "cpu.cores": 4, "memory.total": "8 GiB"}]});
    assert_eq!(api.send("POST", "/v1/clusters", &cluster).status, 201);
    for (method, route, body) in [
        (
            "POST",
            "place",
            json!({"id": "v", "cpu": 1, "reserve-for": "10 min"}),
        ),
        (
            "POST",
            "reservations/v/renew",
            json!({"reserve-for": "20 min"}),
        ),
        ("POST", "plans", json!({"cool-down": "5 min"})),
        ("POST", "plans/1/begin", json!({"reserve-for": "90"})),
        ("PATCH", "settings", json!({"balance": {"every": "10 min"}})),
        (
            "PATCH",
            "settings",
            json!({"statistics-max-age": "5 min", "restart": {"settle": "90 s"}}),
        ),
    ] {
        let answer = api.send(method, &format!("/v1/clusters/c/{route}"), &body);
        assert!(answer.status < 300, "{route}: {:?}", answer.body);
    }
    let settings = api.get("/v1/clusters/c/settings").body;
    assert_eq!(settings["balance"]["every"], 600);
    assert_eq!(settings["statistics-max-age"], 300);
    assert_eq!(settings["restart"]["settle"], 90);
    let wrong = api.send(
        "PATCH",
        "/v1/clusters/c/settings",
        &json!({"statistics-max-age": "soon"}),
    );
    assert_eq!(wrong.status, 400, "{:?}", wrong.body);
}

#[test]
fn a_server_is_ready_when_what_its_folders_hold_was_taken_over() {
    let data = folder();
    let (units, policies) = (data.path().join("units"), data.path().join("policies"));
    fs::create_dir_all(&units).unwrap();
    fs::create_dir_all(&policies).unwrap();
    fs::write(units.join("worst-fit.wasm"), variant(1)).unwrap();
    fs::write(units.join("bad.wasm"), "no component").unwrap();
    fs::write(
        policies.join("mine.toml"),
        "filters = []\n[[costs]]\nunit = \"worst-fit\"\n",
    )
    .unwrap();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let begin = Instant::now();
    while api.get("/v1/ready").status != 200 {
        assert!(begin.elapsed() < Duration::from_secs(300));
    }
    // Without waiting any further.
    let unit = api.get("/v1/units/worst-fit").body;
    assert_eq!(unit["in-force"], Digest::of(&variant(1)).to_string());
    let files = api.get("/v1/unit-files").body;
    let bad = &files["items"][0];
    assert!(bad["trouble"].is_string(), "{files}");
    assert_eq!(api.get("/v1/policies/mine").status, 200);
}

#[test]
fn hosts_and_vms_are_listed_by_what_they_are_and_taken_out_one_by_one() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let mut document = cluster("c", 2);
    document["hosts"][1]["state"] = "maintenance".into();
    document["tenants"] = json!([{"id": "acme"}]);
    document["groups"] = json!([{"id": "apart", "vms": ["v", "w"], "rule": "negative"}]);
    let made = api.send("POST", "/v1/clusters?policy=worst-fit", &document);
    assert_eq!(made.status, 201, "{made:?}");
    let mut of_acme = vm("v");
    of_acme["tenant"] = "acme".into();
    for body in [&of_acme, &vm("w")] {
        let placed = api.send("POST", "/v1/clusters/c/place", body);
        assert_eq!(placed.body["host"], "h0", "{placed:?}");
    }
    let dry = api.send("POST", "/v1/clusters/c/place?dry-run=true", &vm("x"));
    assert_eq!(dry.body["host"], "h0", "{dry:?}");
    api.send("POST", "/v1/clusters/c/confirm", &json!({"vms": ["w"]}));
    let ids = |path: &str| {
        let page = api.get(&format!("/v1/clusters/c/{path}")).body;
        let items = page["items"].as_array().unwrap_or_else(|| panic!("{page}"));
        let ids = items
            .iter()
            .map(|item| item["id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(ids("hosts"), "h0 h1");
    assert_eq!(ids("hosts?state=maintenance"), "h1");
    assert_eq!(ids("hosts?state=up&limit=1"), "h0");
    assert_eq!(ids("vms"), "v w", "nothing was reserved for x");
    assert_eq!(ids("vms?tenant=acme"), "v");
    assert_eq!(ids("vms?pending=true"), "v");
    assert_eq!(ids("vms?pending=false&host=h0"), "w");
    assert_eq!(ids("vms?host=h1"), "");
    assert_eq!(ids("groups"), "apart");
    assert_eq!(ids("tenants"), "acme");
    for path in ["vms/w", "groups/apart", "hosts/h1"] {
        let path = format!("/v1/clusters/c/{path}");
        let gone = api.send("DELETE", &path, &json!({}));
        assert_eq!(gone.status, 204, "{path}: {gone:?}");
        let again = api.send("DELETE", &path, &json!({}));
        assert_eq!(again.status, 404, "{path}: {again:?}");
    }
    assert_eq!(
        (ids("hosts"), ids("vms"), ids("groups")),
        ("h0".into(), "v".into(), String::new())
    );
}

#[test]
fn a_body_that_is_a_list_is_told_what_belongs_there() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    api.send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 1));
    let refused = api.send("POST", "/v1/clusters/c/confirm", &json!(["web-c"]));
    assert_eq!(
        refused.body["detail"],
        "the body must be an object such as {\"vms\": ...}"
    );
}

#[test]
fn who_disables_a_unit_is_in_the_log() {
    let data = folder();
    let (alice, lines) = token(&["--name", "alice", "--role", "admin"]);
    let config = data.path().join("placewright.toml");
    fs::write(&config, lines).unwrap();
    let server = Server::start(data.path(), &["--config", &config.display().to_string()]);
    let api = Api::with(&server, &alice);
    let cloned = api.send(
        "POST",
        "/v1/policies/worst-fit/clone",
        &json!({"name": "mine"}),
    );
    let text = cloned.body["text"].as_str().unwrap();
    assert!(text.contains("name = \"mine\""), "{text}");
    let disabled = api.send("POST", "/v1/units/vm-count/disable", &json!({}));
    let made = api.send("POST", "/v1/clusters?policy=mine", &cluster("c", 1));
    assert_eq!((disabled.status, made.status), (204, 201), "{disabled:?}");
    api.send("POST", "/v1/clusters/c/place", &vm("v"));
    let decision = api.get("/v1/clusters/c/decisions/1").body;
    assert_eq!(decision["by"], "alice", "{decision}");
    server.signal("TERM");
    let (_, log) = server.ended();
    let line = |kind: &str| {
        let kind = format!("\"kind\":\"{kind}\"");
        let line = log.lines().find(|line| line.contains(&kind));
        line.unwrap_or_else(|| panic!("{kind} is not in {log}"))
            .to_owned()
    };
    for kind in ["unit-disabled", "cluster-created", "policy-changed"] {
        assert!(line(kind).contains("\"by\":\"alice\""), "{}", line(kind));
    }
}

#[test]
fn hosts_that_units_refuse_are_counted_by_unit_and_reason() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    api.send("POST", "/v1/clusters", &cluster("c", 3));
    let mut wanting = vm("v");
    wanting["gpu.count"] = json!(1);
    for _ in 0..2 {
        let placed = api.send("POST", "/v1/clusters/c/place", &wanting);
        assert_eq!(placed.body["host"], json!(null), "{placed:?}");
    }
    // Of what is placed nothing is counted.
    api.send("POST", "/v1/clusters/c/place", &vm("w"));
    let metrics = api.get("/metrics").body;
    let metrics = metrics.as_str().unwrap();
    for line in [
        "placewright_unit_hosts_refused_total{unit=\"gpus\",reason=\"has no GPUs\"} 6",
        "placewright_unit_decisions_refused_total{unit=\"gpus\"} 2",
    ] {
        assert!(
            metrics.lines().any(|told| told == line),
            "{line}\n{metrics}"
        );
    }
}
