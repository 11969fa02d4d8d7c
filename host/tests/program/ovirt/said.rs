//! What of policies here oVirt's clients may change, and what they find of units and roles.

use serde_json::{Value, json};

use super::Engine;
use crate::server::roles::token;

const XML: &str = "application/xml";
const OVERLOADED: &str = "98842bc5-4094-4b83-8224-7b50f86a94c9";

impl Engine {
    /// The document of a policy, as our own API shows it.
    fn text(&self, policy: &str) -> String {
        let (status, shown) = self.send("GET", &format!("/v1/policies/{policy}"), &Value::Null);
        assert_eq!(status, 200, "{shown}");
        let shown: Value = serde_json::from_str(&shown).unwrap();
        shown["text"].as_str().unwrap().to_owned()
    }

    /// The path of a policy of that name.
    fn found(&self, policy: &str) -> String {
        let kind = "application/json";
        let path = "/ovirt-engine/api/schedulingpolicies";
        let (_, list) = self.ask("GET", path, kind, b"");
        let list: Value = serde_json::from_str(&list).unwrap();
        let policies = list["scheduling_policy"].as_array().unwrap();
        let found = policies.iter().find(|it| it["name"] == policy).unwrap();
        let href = found["href"].as_str().unwrap();
        href.strip_prefix("/ovirt-engine/api/").unwrap().to_owned()
    }
}

#[test]
fn the_watch_of_overcommitted_hosts_follows_the_property_of_the_policy() {
    let engine = Engine::start();
    let policy = engine.policy("watched");
    let filter = format!("<filter><scheduling_policy_unit id=\"{OVERLOADED}\"/></filter>");
    let added = engine.xml("POST", &format!("{policy}/filters"), &filter);
    assert_eq!(added.0, 200, "{}", added.1);
    assert!(engine.text("watched").contains("at-least = \"75 %\""));
    let body = "<scheduling_policy><properties><property><name>HighUtilization</name><value>66</value></property></properties></scheduling_policy>";
    let changed = engine.xml("PUT", &policy, body);
    assert_eq!(changed.0, 200, "{}", changed.1);
    let text = engine.text("watched");
    assert!(text.contains("at-least = \"66 %\""), "{text}");
    assert!(text.contains("high-utilization = \"66 %\""), "{text}");
    let undone = "<scheduling_policy><properties/></scheduling_policy>";
    assert_eq!(engine.xml("PUT", &policy, undone).0, 200);
    assert!(engine.text("watched").contains("at-least = \"75 %\""));
}

#[test]
fn what_ovirt_has_no_words_for_is_neither_changed_nor_taken_out_by_it() {
    let engine = Engine::start();
    let staged = json!({
        "name": "two stages",
        "stages": [
            {"name": "first", "filters": [{"unit": "memory"}]},
            {"name": "second", "costs": [{"unit": "worst-fit", "factor": 1}]},
        ],
    });
    let agent = ureq::Agent::config_builder().http_status_as_error(false);
    let agent: ureq::Agent = agent.build().into();
    let mut answer = agent
        .put(format!("{}/v1/policies/staged", engine.server.url))
        .header("authorization", format!("Bearer {}", engine.secret))
        .header("content-type", "application/json")
        .header("if-none-match", "*")
        .send(staged.to_string())
        .unwrap();
    let told = answer.body_mut().read_to_string().unwrap();
    assert_eq!(answer.status(), 200, "{told}");
    let before = engine.text("staged");
    let path = engine.found("two stages");
    let (status, shown) = engine.xml("GET", &path, "");
    assert_eq!(status, 200, "{shown}");
    assert!(shown.contains("<locked>true</locked>"), "{shown}");
    let rename = "<scheduling_policy><name>other</name></scheduling_policy>";
    let filter = format!("<filter><scheduling_policy_unit id=\"{OVERLOADED}\"/></filter>");
    for (method, path, body) in [
        ("PUT", path.clone(), rename),
        ("POST", format!("{path}/filters"), &*filter),
        ("DELETE", path.clone(), ""),
    ] {
        let (status, fault) = engine.xml(method, &path, body);
        assert_eq!(status, 400, "{method}: {fault}");
        assert!(fault.contains("is locked"), "{method}: {fault}");
        assert!(fault.contains("stages"), "{method}: {fault}");
    }
    assert_eq!(engine.text("staged"), before);
}

#[test]
fn a_policy_is_changed_by_whoever_may_on_all_of_its_clusters() {
    let (own, of_own) = token("policy-author", Some("Default"));
    let (other, of_other) = token("policy-author", Some("Other"));
    let (both, of_both) = token("policy-author", None);
    let engine = Engine::start_with(&format!("{of_own}\n{of_other}\n{of_both}"));
    let cluster = json!({"name": "Other", "hosts": [{"id": "o1", "memory.total": "8 GiB"}]});
    let made = engine.send("POST", "/v1/clusters", &cluster);
    assert_eq!(made.0, 201, "{}", made.1);
    let ask = |secret: &str, method: &str, path: &str, body: &str| {
        let shown = format!("Bearer {secret}");
        let path = format!("/ovirt-engine/api/{path}");
        engine.ask_as(&shown, method, &path, (XML, body.as_bytes()))
    };
    // By a role on one cluster a policy is made.
    let body = "<scheduling_policy><name>shared</name></scheduling_policy>";
    let made = ask(&own, "POST", "schedulingpolicies", body);
    assert_eq!(made.0, 201, "{}", made.1);
    let policy = engine.found("shared");
    let attach = |secret: &str, cluster: &str| {
        let (_, list) = engine.xml("GET", &format!("clusters?search=name={cluster}"), "");
        let (_, after) = list.split_once("href=\"/ovirt-engine/api/").unwrap();
        let (href, _) = after.split_once('"').unwrap();
        let body = "<cluster><scheduling_policy><name>shared</name></scheduling_policy></cluster>";
        ask(secret, "PUT", href, body)
    };
    let describe = |secret: &str, description: &str| {
        let body = format!(
            "<scheduling_policy><description>{description}</description></scheduling_policy>"
        );
        ask(secret, "PUT", &policy, &body).0
    };
    let attached = attach(&own, "Default");
    assert_eq!(attached.0, 200, "{}", attached.1);
    assert_eq!(describe(&own, "mine"), 200);
    // Whoever may not in the cluster where it decides may not change it either.
    assert!(matches!(describe(&other, "theirs"), 403 | 404));
    let attached = attach(&both, "Other");
    assert_eq!(attached.0, 200, "{}", attached.1);
    assert_eq!(describe(&own, "mine again"), 403);
    assert_eq!(describe(&other, "theirs"), 403);
    assert_eq!(describe(&both, "ours"), 200);
    assert_eq!(ask(&own, "DELETE", &policy, "").0, 403);
    assert!(engine.text("shared").contains("description = \"ours\""));
}

#[test]
fn a_unit_that_is_dropped_in_is_a_policy_unit_with_its_settings_as_properties() {
    let engine = Engine::start();
    let mut units = placewright_plugins::UNITS.iter();
    let known = units.find(|unit| unit.name == "cpu-spreading");
    let known = known.or_else(|| {
        let mut units = placewright_plugins::UNITS.iter();
        units.find(|unit| unit.name == "worst-fit")
    });
    let known = known.unwrap();
    // The same unit by another name of the same length.
    let name = format!("own{}", &known.name[3..]);
    let bytes = renamed(known.bytes, known.name, &name);
    let put = engine.ask("PUT", "/v1/units", "application/wasm", &bytes);
    assert!(matches!(put.0, 200 | 201), "{}", put.1);
    let path = "/ovirt-engine/api/schedulingpolicyunits";
    let (_, list) = engine.ask("GET", path, "application/json", b"");
    let list: Value = serde_json::from_str(&list).unwrap();
    let units = list["scheduling_policy_unit"].as_array().unwrap();
    let unit = units.iter().find(|it| it["name"] == *name).unwrap();
    assert_eq!(unit["internal"], "false", "{unit}");
    assert_eq!(unit["enabled"], "true", "{unit}");
    let (id, kind) = (unit["id"].as_str().unwrap(), unit["type"].as_str().unwrap());
    let policy = engine.policy("with a unit of its own");
    let (list, element) = match kind {
        "filter" => ("filters", "filter"),
        _ => ("weights", "weight"),
    };
    let body = format!("<{element}><scheduling_policy_unit id=\"{id}\"/></{element}>");
    let added = engine.xml("POST", &format!("{policy}/{list}"), &body);
    assert_eq!(added.0, 200, "{}", added.1);
    for property in unit["properties"]["property"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let expression = property["value"].as_str().unwrap();
        assert!(expression.starts_with('^') && expression.ends_with('$'));
    }
    // While a policy has it, it stays.
    let own = format!("schedulingpolicyunits/{id}");
    assert_eq!(engine.xml("DELETE", &own, "").0, 409);
    let entry = format!("{policy}/{list}/{id}");
    assert_eq!(engine.xml("DELETE", &entry, "").0, 200);
    let removed = engine.xml("DELETE", &own, "");
    assert_eq!(removed.0, 200, "{}", removed.1);
    assert_eq!(engine.xml("GET", &own, "").0, 404);
}

/// A component in which a name is another one of the same length.
fn renamed(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = bytes.to_vec();
    let places: Vec<usize> = bytes
        .windows(from.len())
        .enumerate()
        .filter(|(_, part)| *part == from.as_bytes())
        .map(|(place, _)| place)
        .collect();
    assert!(!places.is_empty());
    for place in places {
        bytes[place..place + to.len()].copy_from_slice(to.as_bytes());
    }
    bytes
}

#[test]
fn two_admins_who_change_one_label_and_one_group_lose_nothing() {
    let engine = Engine::start();
    let (_, clusters) = engine.xml("GET", "clusters", "");
    let (_, after) = clusters.split_once("href=\"/ovirt-engine/api/").unwrap();
    let (cluster, _) = after.split_once('"').unwrap();
    let id_of = |made: &str| {
        let (_, after) = made.split_once(" id=\"").unwrap();
        after.split_once('"').unwrap().0.to_owned()
    };
    let label = "<affinity_label><name>shared</name></affinity_label>";
    let (status, label) = engine.xml("POST", "affinitylabels", label);
    assert_eq!(status, 201, "{label}");
    let label = id_of(&label);
    let groups = format!("{cluster}/affinitygroups");
    let group = "<affinity_group><name>g</name><positive>true</positive><enforcing>false</enforcing></affinity_group>";
    let (status, group) = engine.xml("POST", &groups, group);
    assert_eq!(status, 201, "{group}");
    let group = format!("{groups}/{}", id_of(&group));
    std::thread::scope(|scope| {
        for vm in ["web1", "web2", "db"] {
            let (engine, label, group) = (&engine, &label, &group);
            scope.spawn(move || {
                let body = format!("<vm><name>{vm}</name></vm>");
                for list in [
                    format!("affinitylabels/{label}/vms"),
                    format!("{group}/vms"),
                ] {
                    let added = engine.xml("POST", &list, &body);
                    assert_eq!(added.0, 200, "{}", added.1);
                }
            });
        }
    });
    for list in [
        format!("affinitylabels/{label}/vms"),
        format!("{group}/vms"),
    ] {
        let (_, vms) = engine.xml("GET", &list, "");
        assert_eq!(vms.matches("<vm ").count(), 3, "{vms}");
    }
}

#[test]
fn labels_and_groups_refuse_what_they_cannot_be() {
    let engine = Engine::start();
    let before = engine.xml("GET", "affinitylabels", "").1;
    for body in [
        "",
        "<affinity_label/>",
        "<affinity_label><name></name></affinity_label>",
        "<affinity_label><colour>red</colour><name>a</name></affinity_label>",
        "<affinity_label><name>a</name><vms><vm id=\"nothing\"/></vms></affinity_label>",
        "<affinity_label><name>a</name><hosts><vm id=\"h1\"/></hosts></affinity_label>",
        "<affinity_label><name>a</name><read_only>perhaps</read_only></affinity_label>",
        "<affinity_label><name>a</name><has_implicit_affinity_group>true</has_implicit_affinity_group></affinity_label>",
        "<!DOCTYPE a [<!ENTITY b \"bb\">]><affinity_label><name>&b;</name></affinity_label>",
    ] {
        let (status, fault) = engine.xml("POST", "affinitylabels", body);
        assert!(matches!(status, 400 | 404), "{body}: {fault}");
        assert!(fault.contains("<fault>"), "{body}: {fault}");
    }
    assert_eq!(engine.xml("GET", "affinitylabels", "").1, before);
    for (path, body) in [
        ("events", "<event><description>d</description></event>"),
        (
            "events",
            "<event><description>d</description><severity>loud</severity><origin>o</origin><custom_id>1</custom_id></event>",
        ),
        ("jobs", "<job/>"),
        ("jobs", "<job><description>d</description><colour/></job>"),
    ] {
        let (status, fault) = engine.xml("POST", path, body);
        assert_eq!(status, 400, "{body}: {fault}");
    }
    let wrong = engine.xml("GET", "events?from=yesterday", "");
    assert_eq!(wrong.0, 400, "{}", wrong.1);
}

#[test]
fn descriptions_of_jobs_and_events_are_as_long_as_may_be_and_no_longer() {
    let engine = Engine::start();
    let job = |bytes: usize| {
        let description = "d".repeat(bytes);
        let body = format!("<job><description>{description}</description></job>");
        engine.xml("POST", "jobs", &body)
    };
    assert_eq!(job(1024).0, 201);
    let (status, fault) = job(1025);
    assert_eq!(status, 400, "{fault}");
    assert!(fault.contains("more than 1024 bytes"), "{fault}");
    let event = |number: usize, bytes: usize| {
        // The origin counts, too.
        let description = "d".repeat(bytes - 1);
        let body = format!(
            "<event><description>{description}</description><severity>normal</severity><origin>o</origin><custom_id>{number}</custom_id></event>"
        );
        engine.xml("POST", "events", &body)
    };
    let (status, answer) = event(1, 4094);
    assert_eq!(status, 201, "{answer}");
    let (status, fault) = event(2, 4095);
    assert_eq!(status, 400, "{fault}");
    assert!(fault.contains("more than 4094 bytes"), "{fault}");
}

#[test]
fn a_vm_that_is_to_grow_where_it_runs_is_up_and_one_that_is_to_move_migrates() {
    let engine = Engine::start();
    let db = || {
        let (_, vms) = engine.xml("GET", "vms?search=name%3Ddb", "");
        vms
    };
    let reserve = |request: Value| {
        let (status, placed) = engine.send("POST", "/v1/clusters/Default/place", &request);
        assert_eq!(status, 200, "{placed}");
        assert!(placed.contains("\"reserved\":true"), "{placed}");
    };
    reserve(json!({"id": "db", "again": true, "memory": "4 GiB", "allowed": ["h2"]}));
    assert!(db().contains("<status>up</status>"), "{}", db());
    let given_back = json!({"vms": ["db"]});
    let (status, told) = engine.send("POST", "/v1/clusters/Default/cancel", &given_back);
    assert_eq!(status, 204, "{told}");
    reserve(json!({"id": "db", "again": true, "allowed": ["h1"]}));
    assert!(db().contains("<status>migrating</status>"), "{}", db());
}
