//! Sends every route query parameters, keys and bodies that it does not take.

use placewright_api::RULES;
use placewright_http::permission::{BodySize, Rule};
use placewright_tests::server::Server;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::deployment::{Answer, Api};
use super::folder;

const JSON: (&str, &str) = ("content-type", "application/json");

/// Holds whatever state there is.
const ANY: (&str, &str) = ("if-match", "*");

/// A server of its own.
struct Served {
    api: Api,
    _server: Server,
    _data: TempDir,
}

impl Served {
    /// Send a request, as in "GET /v1/ready", with these headers and this body.
    fn ask(&self, request: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let (method, path) = request.split_once(' ').unwrap();
        self.api
            .ask(method, path, headers, body.as_bytes())
            .unwrap()
    }
}

/// The answer as a problem of that kind; its detail.
#[track_caller]
fn problem(answer: &Answer, status: u16, code: &str) -> String {
    assert_eq!(answer.status, status, "{answer:?}");
    assert_eq!(answer.body["code"], code, "{answer:?}");
    answer.body["detail"].as_str().unwrap().to_owned()
}

#[test]
fn a_header_that_says_one_thing_is_not_sent_twice_and_a_body_is_utf_8() {
    let served = with_a_cluster();
    let place = "POST /v1/clusters/c/place";
    let vm = json!({"id": "x", "cpu": 1, "memory": "1 GiB"}).to_string();
    let key = |word| ("idempotency-key", word);
    let told = served.ask(place, &[JSON, key("a"), key("b")], &vm);
    let detail = problem(&told, 400, "invalid-parameter");
    assert_eq!(detail, "Idempotency-Key is sent twice: send it once");
    let told = served.ask(place, &[JSON, ("content-type", "text/toml")], &vm);
    problem(&told, 400, "invalid-parameter");
    let latin = ("content-type", "application/json; charset=iso-8859-1");
    for request in [place, "PATCH /v1/clusters/c/settings"] {
        let told = served.ask(request, &[latin], &vm);
        let detail = problem(&told, 415, "unsupported-type");
        assert!(detail.contains("send UTF-8"), "{detail}");
    }
    let there = served.ask("GET /v1/clusters/c/reservations/x", &[], "");
    assert_eq!(there.status, 404, "{there:?}");
}

/// A server with a cluster, a policy, a VM that runs, a decision and a plan.
fn with_a_cluster() -> Served {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let served = Served {
        api: Api::of(&server),
        _server: server,
        _data: data,
    };
    let done = |request: &str, head: &[(&str, &str)], body: Value| {
        let told = served.ask(request, head, &body.to_string());
        assert!(matches!(told.status, 200..=204), "{request}: {told:?}");
    };
    let policy = json!({"filters": []});
    done(
        "PUT /v1/policies/p",
        &[JSON, ("if-none-match", "*")],
        policy,
    );
    let host = |id: &str| json!({"id": id, "cpu.cores": 8, "memory.total": "8 GiB"});
    let cluster = json!({
        "name": "c", "hosts": [host("h"), host("i"), host("a,b")],
        "vms": [{"id": "v", "host": "h", "cpu": 1, "memory": "1 GiB"}],
        "groups": [{"id": "g", "vms": ["v"], "rule": "positive"}], "tenants": [{"id": "t"}],
    });
    done("POST /v1/clusters?policy=p", &[JSON], cluster);
    let quota = json!({"tenant": "t", "limits": {"vms": 9}});
    done("PUT /v1/quotas/q", &[JSON, ("if-none-match", "*")], quota);
    let vm = json!({"id": "w", "cpu": 1, "memory": "1 GiB"});
    done("POST /v1/clusters/c/place", &[JSON], vm);
    done(
        "POST /v1/clusters/c/evacuate",
        &[JSON],
        json!({"hosts": ["h"]}),
    );
    served
}

/// The path of a rule with its parts filled in.
fn path(rule: &Rule) -> String {
    let named = [
        ("{cluster}", "c"),
        ("{policy}", "p"),
        ("{host}", "h"),
        ("{vm}", "v"),
        ("{group}", "g"),
        ("{tenant}", "t"),
        ("{unit}", "u"),
        ("{quota}", "q"),
        ("{token}", "t"),
        ("{number}", "1"),
    ];
    let filled = named
        .iter()
        .fold(rule.path.to_owned(), |path, (name, value)| {
            path.replace(name, value)
        });
    assert!(
        !filled.contains('{'),
        "{filled} has a part that this test does not know"
    );
    filled
}

/// What the cluster, its plans and the policy are now.
fn state(served: &Served) -> Vec<Value> {
    let paths = [
        "clusters/c/inventory",
        "clusters/c/plans",
        "clusters/c/settings",
        "policies",
        "quotas",
    ];
    let told = paths.map(|path| served.api.get(&format!("/v1/{path}")));
    assert!(told.iter().all(|it| it.status == 200), "{told:?}");
    told.into_iter().map(|it| it.body).collect()
}

#[test]
fn every_route_refuses_a_query_parameter_that_it_does_not_know() {
    let served = with_a_cluster();
    let before = state(&served);
    for rule in RULES {
        for name in ["dry-run", "no-such-parameter"] {
            if rule.query.contains(&name) {
                continue;
            }
            // A body that is right where there is one, and conditions that hold.
            let request = format!("{} {}?{name}=true", rule.method, path(rule));
            let told = served.ask(&request, &[JSON, ANY], "");
            let detail = problem(&told, 400, "invalid-parameter");
            let named = format!("unknown query parameter \"{name}\"");
            assert!(detail.contains(&named), "{request}: {detail}");
        }
    }
    assert_eq!(state(&served), before);
}

#[test]
fn every_route_refuses_a_body_or_a_key_that_it_does_not_know() {
    let served = with_a_cluster();
    let before = state(&served);
    let body = json!({"no-such-key": 1}).to_string();
    for rule in RULES {
        let query = match rule.query.first() {
            Some(&"host") => "?host=h",
            _ => "",
        };
        let request = format!("{} {}{query}", rule.method, path(rule));
        let told = served.ask(&request, &[JSON, ANY], &body);
        match rule.body {
            BodySize::Nothing => {
                let detail = problem(&told, 400, "bad-request");
                assert!(detail.contains("takes no body"), "{request}: {detail}");
            }
            _ if rule.path.starts_with("/v1/units") && !rule.path.ends_with("/rollback") => {
                problem(&told, 415, "unsupported-type");
            }
            _ => {
                assert!(matches!(told.status, 400 | 422), "{request}: {told:?}");
                assert!(
                    told.body.to_string().contains("no-such-key"),
                    "{request}: {told:?}"
                );
            }
        }
    }
    assert_eq!(state(&served), before);
}

/// A body that is right for a route that looks at conditions.
fn right_body(rule: &Rule) -> Value {
    let last = rule.path.rsplit('/').next().unwrap_or_default();
    match (rule.method, last) {
        ("PUT", "settings") => json!({"policy": "p"}),
        ("PUT", "inventory") => json!({"name": "c"}),
        ("PUT", "{vm}") => json!({"host": "h"}),
        ("PUT", "{policy}") => json!({"filters": []}),
        ("PUT", "{quota}") => json!({"tenant": "t", "limits": {"vms": 9}}),
        _ => json!({}),
    }
}

#[test]
fn every_route_checks_the_conditions_of_a_request_or_refuses_them() {
    let served = with_a_cluster();
    let before = state(&served);
    let mut checked = 0;
    // A copy of the store is no text.
    let told_in_text = |rule: &&Rule| rule.method != "GET" && rule.path != "/v1/backup";
    for rule in RULES.iter().filter(told_in_text) {
        let body = match rule.body {
            BodySize::Nothing => String::new(),
            _ => right_body(rule).to_string(),
        };
        let request = format!("{} {}", rule.method, path(rule));
        for (name, value) in [("if-match", "\"123\""), ("if-none-match", "\"123\"")] {
            let told = served.ask(&request, &[JSON, (name, value)], &body);
            match (rule.is_conditional, name) {
                (true, "if-match") => {
                    problem(&told, 412, "revision-changed");
                    checked += 1;
                }
                (true, _) => {
                    let detail = problem(&told, 400, "invalid-parameter");
                    let sentences = ["with * alone", "nothing new is made here"];
                    let is_told = sentences.iter().any(|it| detail.contains(it));
                    assert!(is_told, "{request}: {detail}");
                }
                // Those that only read pass it over.
                (false, _) if rule.only_reads() => {
                    assert_ne!(told.status, 412, "{request}: {told:?}");
                    let sentence = "is not checked by this route";
                    assert!(
                        !told.body.to_string().contains(sentence),
                        "{request}: {told:?}"
                    );
                }
                (false, _) => {
                    let detail = problem(&told, 400, "invalid-parameter");
                    let sentence = "is not checked by this route";
                    assert!(detail.contains(sentence), "{request}: {detail}");
                }
            }
        }
    }
    assert!(checked > 20, "{checked}");
    assert_eq!(state(&served), before);
}

#[test]
fn a_dry_run_changes_nothing_wherever_there_is_one() {
    let served = with_a_cluster();
    let before = state(&served);
    let mut tried = 0;
    for rule in RULES.iter().filter(|rule| rule.query.contains(&"dry-run")) {
        let body = match rule.path.rsplit('/').next() {
            Some("place") => json!({"id": "x", "cpu": 1, "memory": "1 GiB"}),
            Some("migrate") => json!({"vms": ["v"]}),
            Some("place-batch") => json!({"vms": [{"id": "x", "cpu": 1, "memory": "1 GiB"}]}),
            Some("evacuate") => json!({"hosts": ["h"]}),
            _ => json!({}),
        };
        let request = format!("{} {}?dry-run=true", rule.method, path(rule));
        let told = served.ask(&request, &[JSON], &body.to_string());
        assert_eq!(told.status, 200, "{request}: {told:?}");
        tried += 1;
    }
    assert!(tried >= 5, "{tried}");
    assert_eq!(state(&served), before);
}

#[test]
fn an_id_with_a_comma_is_one_id_and_vms_are_named_in_one_form() {
    let served = with_a_cluster();
    let ask = |path: &str, body: &Value| {
        let request = format!("POST /v1/clusters/c/{path}");
        served.ask(&request, &[JSON], &body.to_string())
    };
    let told = ask("what-if?without=a%2Cb", &json!({}));
    assert_eq!(
        told.body["failures"][0]["hosts"],
        json!(["a,b"]),
        "{told:?}"
    );
    let told = ask("what-if?without=h,i", &json!({}));
    assert_eq!(told.status, 404, "{told:?}");
    for vms in [json!(["v"]), json!([{"id": "v"}])] {
        let body = json!({ "vms": vms });
        for path in [
            "migrate?dry-run=true",
            "why?host=i",
            "capacity?at-most=3",
            "host-costs?policy=general",
            "place-batch?from-nothing=true&dry-run=true",
        ] {
            let told = ask(path, &body);
            assert_eq!(told.status, 200, "{path} {vms}: {told:?}");
        }
    }
    for vms in [json!(["w"]), json!([{"id": "w"}])] {
        let body = json!({ "vms": vms });
        for path in ["confirm", "confirm"] {
            assert_eq!(ask(path, &body).status, 204, "{vms}");
        }
        let detail = problem(&ask("cancel", &body), 409, "vm-runs");
        assert!(detail.contains("\"w\""), "{detail}");
    }
    let unknown = served.api.get("/v1/clusters/c/hosts?state=broken");
    let detail = problem(&unknown, 400, "invalid-parameter");
    assert!(detail.contains("\"maintenance\""), "{detail}");
}
