//! Quotas of tenants: written by admins, read by others, and held to.

use placewright_tests::server::Server;
use serde_json::{Value, json};

use super::deployment::{Answer, Api, cluster};
use super::folder;
use super::roles::token;

const JSON: (&str, &str) = ("content-type", "application/json");

impl Api {
    fn put_quota(&self, name: &str, condition: (&str, &str), quota: &Value) -> Answer {
        let body = quota.to_string();
        let path = format!("/v1/quotas/{name}");
        self.ask("PUT", &path, &[JSON, condition], body.as_bytes())
            .unwrap()
    }

    fn new_quota(&self, name: &str, quota: &Value) -> Answer {
        self.put_quota(name, ("if-none-match", "*"), quota)
    }

    fn place(&self, cluster: &str, id: &str) -> Value {
        let vm = json!({"id": id, "tenant": "acme", "cpu": 1, "memory": "1 GiB"});
        let placed = self.send("POST", &format!("/v1/clusters/{cluster}/place"), &vm);
        assert_eq!(placed.status, 200, "{placed:?}");
        placed.body
    }
}

/// A server with clusters `east` and `west`.
fn start(data: &std::path::Path) -> (Server, Api) {
    let server = Server::start(data, &[]);
    let api = Api::of(&server);
    for name in ["east", "west"] {
        let made = api.send("POST", "/v1/clusters?policy=none", &cluster(name, 2));
        assert_eq!(made.status, 201, "{made:?}");
    }
    (server, api)
}

#[test]
fn a_quota_is_written_held_to_in_all_clusters_changed_and_removed() {
    let data = folder();
    let (server, api) = start(data.path());
    let made = api.new_quota("gold", &json!({"tenant": "acme", "limits": {"vms": 2}}));
    assert_eq!((made.status, made.etag.as_deref()), (201, Some("\"1\"")));
    let at = made.body["at"].as_str().unwrap();
    assert!(at.ends_with('Z') && at.len() == 20, "{at}");
    assert!(api.place("east", "a")["host"].is_string());
    assert!(api.place("west", "b")["host"].is_string());
    let refused = api.place("west", "c");
    assert_eq!(refused["refused-by-quota"]["quota"], "gold");
    assert_eq!(refused["refused-by-quota"]["used"]["vms"], 2);
    let number = &refused["number"];
    let shown = api.get(&format!("/v1/clusters/west/decisions/{number}"));
    assert_eq!(shown.body["decision"], refused);
    let explained = api.get(&format!("/v1/clusters/west/decisions/{number}/explanation"));
    assert_eq!(
        explained.body["refused"],
        refused["refused-by-quota"]["because"]
    );
    let host = &explained.body["stages"][0]["hosts"][0]["host"];
    let path = format!(
        "/v1/clusters/west/decisions/{number}/why?host={}",
        host.as_str().unwrap_or("h0")
    );
    assert_eq!(
        api.get(&path).body["standing"],
        "refused-by-quota",
        "{path}"
    );
    let replayed = api.send(
        "POST",
        &format!("/v1/clusters/west/decisions/{number}/replay"),
        &Value::Null,
    );
    assert_eq!(replayed.body["same"], true, "{replayed:?}");

    // It is there after a restart, with what is held.
    drop(server);
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let listed = api.get("/v1/quotas?tenant=acme&cluster=east").body;
    assert_eq!(listed["items"][0]["used"]["vms"], 2, "{listed}");
    assert_eq!(listed["items"][0]["used"]["cpu"], 2);
    assert_eq!(api.get("/v1/quotas?tenant=other").body["items"], json!([]));
    assert!(api.place("east", "c")["refused-by-quota"].is_object());
    let patch = json!({"limits": {"vms": 3, "memory": "1 TiB"}}).to_string();
    let patched = api
        .ask("PATCH", "/v1/quotas/gold", &[JSON], patch.as_bytes())
        .unwrap();
    assert_eq!(
        patched.body["limits"],
        json!({"vms": 3, "memory": 1_u64 << 40})
    );
    let unchanged = api.ask("PATCH", "/v1/quotas/gold", &[JSON], b"{}").unwrap();
    assert_eq!(unchanged.etag, patched.etag);
    assert!(api.place("east", "c")["host"].is_string());
    assert_eq!(
        api.send("DELETE", "/v1/quotas/gold", &Value::Null).status,
        204
    );
    assert_eq!(api.get("/v1/quotas/gold").status, 404);
    assert!(api.place("east", "d")["host"].is_string());
}

#[test]
fn what_is_wrong_with_a_quota_is_told_and_nothing_is_changed() {
    let data = folder();
    let (_server, api) = start(data.path());
    let right = json!({"tenant": "acme", "cluster": "east", "limits": {"cpu": "500m"}});
    assert_eq!(api.new_quota("q", &right).status, 201);
    let check = |answer: Answer, status, sentence: &str| {
        assert_eq!(answer.status, status, "{answer:?}");
        let text = answer.body.to_string();
        assert!(text.contains(sentence), "{sentence}: {text}");
    };
    let any = ("if-match", "*");
    check(api.new_quota("q", &right), 412, "is 1 by now");
    check(
        api.put_quota("q", ("if-match", "\"7\""), &right),
        412,
        "is 1 by now",
    );
    check(
        api.send("PUT", "/v1/quotas/q", &right),
        428,
        "If-None-Match",
    );
    let with = |key: &str, value: Value| {
        let mut quota = right.clone();
        quota[key] = value;
        api.put_quota("q", any, &quota)
    };
    check(with("limits", json!({"cpu": -1})), 400, "cores from 0 on");
    check(with("limits", json!({"disk": 1})), 400, "disk");
    check(with("limits", json!({})), 422, "at least one of");
    check(with("tenant", json!("")), 422, "1 to 253 bytes");
    check(
        with("cluster", json!("eats")),
        422,
        "did you mean \\\"east\\\"",
    );
    check(
        with("name", json!("other")),
        422,
        "is of quota \\\"other\\\"",
    );
    check(with("uses", json!(1)), 400, "uses");
    assert_eq!(with("name", json!("q")).status, 200);
    check(
        api.new_quota("r", &right),
        409,
        "quota \\\"q\\\" limits tenant",
    );
    check(api.new_quota(".bad", &right), 422, "cannot be a name");
    check(api.get("/v1/quotas?cluster=nowhere"), 404, "nowhere");
    check(api.get("/v1/quotas?tenants=acme"), 400, "tenants");
    let shown = api.get("/v1/quotas/q");
    assert_eq!(shown.body["limits"], json!({"cpu": 0.5}));
    assert_eq!(shown.etag.as_deref(), Some("\"1\""), "it is as it was");
}

#[test]
fn quotas_are_written_by_admins_and_read_by_those_whom_they_concern() {
    let data = folder();
    let (admin, admin_lines) = token("admin", None);
    let (operator, operator_lines) = token("operator", Some("east"));
    let configuration = data.path().join("placewright.toml");
    std::fs::write(&configuration, admin_lines + &operator_lines).unwrap();
    let server = Server::start(data.path(), &["--config", configuration.to_str().unwrap()]);
    let (admin, operator) = (Api::with(&server, &admin), Api::with(&server, &operator));
    for name in ["east", "west"] {
        let made = admin.send("POST", "/v1/clusters?policy=none", &cluster(name, 1));
        assert_eq!(made.status, 201);
    }
    for (name, cluster) in [("all", None), ("e", Some("east")), ("w", Some("west"))] {
        let mut quota = json!({"tenant": "acme", "limits": {"vms": 9}});
        if let Some(cluster) = cluster {
            quota["cluster"] = cluster.into();
        }
        assert_eq!(admin.new_quota(name, &quota).status, 201);
        assert_eq!(
            operator.put_quota(name, ("if-match", "*"), &quota).status,
            403
        );
    }
    let listed = operator.get("/v1/quotas").body;
    let names: Vec<_> = listed["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["all", "e"]);
    assert_eq!(operator.get("/v1/quotas/e").status, 200);
    assert_eq!(operator.get("/v1/quotas/w").status, 404);
    assert_eq!(
        operator.send("DELETE", "/v1/quotas/e", &Value::Null).status,
        403
    );
    let events = admin.get("/v1/events/recent?kind=quota-changed").body;
    assert_eq!(events["items"].as_array().unwrap().len(), 3, "{events}");
    let document = admin.get("/v1/openapi.json").body;
    let keys = &document["components"]["schemas"]["EventKind"]["x-keys"]["quota-changed"];
    let keys = keys.as_array().unwrap();
    let of_all = ["number", "at", "time", "kind", "message"];
    for event in events["items"].as_array().unwrap() {
        for key in event.as_object().unwrap().keys() {
            let is_known = of_all.contains(&&**key) || keys.contains(&key.as_str().into());
            assert!(is_known, "{key} of {event}");
        }
        let time = event["time"].as_str().unwrap();
        assert!(time.ends_with('Z') && time.len() == 20, "{time}");
    }
}

#[test]
fn questions_stop_at_quotas_and_say_by_how_much_to_raise_them() {
    let data = folder();
    let (_server, api) = start(data.path());
    let everywhere = json!({"tenant": "acme", "limits": {"vms": 3}});
    assert_eq!(api.new_quota("gold", &everywhere).status, 201);
    let in_east = json!({"tenant": "acme", "cluster": "east", "limits": {"memory": "2 GiB"}});
    assert_eq!(api.new_quota("lead", &in_east).status, 201);
    assert!(api.place("west", "a")["host"].is_string());
    let vm = json!({"id": "new", "tenant": "acme", "cpu": 1, "memory": "1 GiB"});
    let ask = |path: &str, vm: &Value| {
        let answer = api.send("POST", &format!("/v1/clusters/{path}"), vm);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body
    };

    // What is held in the other cluster counts, too; nothing that is asked about is held.
    for _ in 0..2 {
        let room = ask("east/capacity", &vm);
        assert_eq!((&room["fit"], &room["bounded"]), (&json!(2), &json!(false)));
        let refused = &room["refused-by-quota"];
        assert_eq!(refused["quota"], "lead", "{room}");
        assert_eq!(refused["used"]["memory"], 2_i64 << 30);
        assert_eq!(room["stopped-by"], json!([]));
    }
    let room = ask("west/capacity", &vm);
    assert_eq!(
        (&room["fit"], &room["refused-by-quota"]["quota"]),
        (&json!(2), &json!("gold"))
    );
    let mut free = vm.clone();
    free["tenant"] = Value::Null;
    let room = ask("east/capacity?at-most=7", &free);
    assert_eq!((&room["fit"], &room["bounded"]), (&json!(7), &json!(true)));
    assert!(room.get("refused-by-quota").is_none(), "{room}");

    // Both quotas refuse it: a way raises both.
    assert!(api.place("east", "b")["host"].is_string());
    assert!(api.place("east", "c")["host"].is_string());
    let why = ask("east/why?host=h0", &vm);
    assert_eq!(
        (&why["standing"], &why["chosen"]),
        (&json!("refused-by-quota"), &Value::Null)
    );
    let named = why["refused-by-quotas"].as_array().unwrap().iter();
    let named: Vec<_> = named.map(|it| &it["quota"]).collect();
    assert_eq!(named, ["lead", "gold"], "{why}");
    assert_eq!(
        why["ways"][0]["sentence"],
        "quota \"lead\" of tenant \"acme\" allows 3 GiB, 1 GiB more than now, and quota \"gold\" of tenant \"acme\" allows 4 VMs, 1 VMs more than now"
    );
    for (quota, change) in [("lead", 0), ("gold", 1)] {
        let needed = &why["ways"][0]["changes"][change];
        let resource = needed["column"].as_str().unwrap().strip_prefix("limits.");
        let after = needed["after"].as_str().unwrap();
        let after = after.parse::<u64>().map_or(after.into(), Value::from);
        let patch = json!({"limits": {resource.unwrap(): after}}).to_string();
        let path = format!("/v1/quotas/{quota}");
        let patched = api.ask("PATCH", &path, &[JSON], patch.as_bytes());
        assert_eq!(patched.unwrap().status, 200, "{patch}");
    }
    let why = ask("east/why?host=h0", &vm);
    assert!(why.get("refused-by-quotas").is_none(), "{why}");
    assert!(api.place("east", "d")["host"].is_string());

    // Hosts that fail are no matter of quotas.
    let failed = ask("east/what-if?without=h0", &Value::Null);
    assert_eq!(failed["survived"], true, "{failed}");
}

#[test]
fn metrics_tell_what_is_held_under_each_quota_and_how_often_it_refused() {
    let data = folder();
    let (_server, api) = start(data.path());
    let gold = json!({"tenant": "acme", "limits": {"vms": 1, "cpu": "2500m"}});
    assert_eq!(api.new_quota("gold", &gold).status, 201);
    assert!(api.place("west", "a")["host"].is_string());
    for id in ["b", "c"] {
        assert!(api.place("east", id)["refused-by-quota"].is_object());
    }
    let metrics = || api.get("/metrics").body.as_str().unwrap().to_owned();
    let told = metrics();
    let of = r#"{quota="gold",tenant="acme",cluster="""#;
    for line in [
        format!(r#"placewright_quota_cpu_cores{of},amount="used"}} 1.0"#),
        format!(r#"placewright_quota_cpu_cores{of},amount="limit"}} 2.5"#),
        format!(r#"placewright_quota_memory_bytes{of},amount="used"}} 1073741824.0"#),
        format!(r#"placewright_quota_gpus{of},amount="used"}} 0.0"#),
        format!(r#"placewright_quota_vms{of},amount="limit"}} 1.0"#),
        r#"placewright_quota_refusals_total{quota="gold"} 2"#.to_owned(),
        "placewright_quotas 1".to_owned(),
    ] {
        assert!(told.lines().any(|it| it == line), "{line}\n{told}");
    }
    let gone = api.send("DELETE", "/v1/quotas/gold", &Value::Null);
    assert_eq!(gone.status, 204);
    let told = metrics();
    assert!(!told.contains("quota=\"gold\""), "{told}");
    assert!(told.contains("placewright_quotas 0"), "{told}");
}

#[test]
fn what_of_a_quota_has_another_type_is_refused_and_lists_are_no_limits() {
    let data = folder();
    let (_server, api) = start(data.path());
    let right = json!({"tenant": "acme", "limits": {"vms": 2}});
    let read = api.new_quota("gold", &right).body;
    for (key, wrong) in [
        ("limits", json!([])),
        ("limits", json!([1])),
        ("limits", json!({"gpus": "7"})),
        ("limits", json!({"gpus": "1.5 cores"})),
        ("revision", json!({})),
        ("at", json!(true)),
        ("by", json!(7)),
        ("used", json!("x")),
        ("used", json!({"bogus": []})),
    ] {
        let mut quota = right.clone();
        quota[key] = wrong;
        let told = api.put_quota("gold", ("if-match", "*"), &quota);
        assert_eq!(told.status, 400, "{quota}: {told:?}");
    }
    for wrong in [json!([7, "1GiB"]), json!({"gpus": "7"})] {
        let patch = json!({"limits": wrong});
        let body = patch.to_string();
        let headers = [JSON, ("if-match", "*")];
        let told = api.ask("PATCH", "/v1/quotas/gold", &headers, body.as_bytes());
        assert_eq!(told.unwrap().status, 400, "{patch}");
    }
    assert_eq!(api.get("/v1/quotas/gold").body, read);
    // As it was read it is put again.
    let again = api.put_quota("gold", ("if-match", "*"), &read);
    assert_eq!(again.status, 200, "{again:?}");
    let whole = json!({"tenant": "acme", "limits": {"vms": 2.0, "gpus": 1.5}});
    assert_eq!(api.put_quota("gold", ("if-match", "*"), &whole).status, 200);
}
