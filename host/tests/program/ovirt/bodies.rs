//! Bodies in XML and JSON, as they should be and as they should not.

use serde_json::{Value, json};

use super::Engine;

const CPU: &str = "6d636bf6-a35c-4f9d-b68d-0731f720cddc";
const EVEN: &str = "7db4ab05-81ab-42e8-868a-aee2df483edb";

fn filter(unit: &str) -> String {
    format!("<filter><scheduling_policy_unit id=\"{unit}\"/></filter>")
}

#[test]
fn a_policy_is_the_same_for_both_interfaces() {
    let engine = Engine::start();
    let text = "# A comment that stays.\nname = \"both\"\n\n[[filters]]\nunit = \"memory\"\nsettings = { require-measured = true } # measured\n";
    let path = "/v1/policies/both";
    let put = engine.ask("PUT", path, "application/toml", text.as_bytes());
    assert_eq!(put.0, 428, "{}", put.1);
    let agent = ureq::Agent::config_builder().http_status_as_error(false);
    let agent: ureq::Agent = agent.build().into();
    let mut answer = agent
        .put(format!("{}{path}", engine.server.url))
        .header("authorization", format!("Bearer {}", engine.secret))
        .header("content-type", "application/toml")
        .header("if-none-match", "*")
        .send(text)
        .unwrap();
    assert_eq!(
        answer.status(),
        200,
        "{:?}",
        answer.body_mut().read_to_string()
    );
    let (_, list) = engine.ask(
        "GET",
        "/ovirt-engine/api/schedulingpolicies",
        "application/json",
        b"",
    );
    let list: Value = serde_json::from_str(&list).unwrap();
    let policies = list["scheduling_policy"].as_array().unwrap();
    let both = policies.iter().find(|it| it["name"] == "both").unwrap();
    assert_eq!(both["locked"], "false", "{both}");
    let base = both["href"].as_str().unwrap();
    let filters = format!("{base}/filters");
    let (_, shown) = engine.ask("GET", &filters, "application/json", b"");
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["filter"].as_array().map(Vec::len), Some(1), "{shown}");
    // A filter in JSON, which the document then has beside what stood there.
    let body = json!({"position": "-1", "scheduling_policy_unit": {"id": CPU}}).to_string();
    let added = engine.ask("POST", &filters, "application/json", body.as_bytes());
    assert_eq!(added.0, 200, "{}", added.1);
    let (_, policy) = engine.send("GET", path, &Value::Null);
    let policy: Value = serde_json::from_str(&policy).unwrap();
    let changed = policy["text"].as_str().unwrap();
    assert!(changed.starts_with(text.trim_end()), "{changed}");
    assert!(changed.contains("position = \"first\""), "{changed}");
    // Taken out again, it is the document that it was.
    let gone = engine.ask(
        "DELETE",
        &format!("{filters}/{CPU}"),
        "application/json",
        b"",
    );
    assert_eq!(gone.0, 200, "{}", gone.1);
    let (_, policy) = engine.send("GET", path, &Value::Null);
    let policy: Value = serde_json::from_str(&policy).unwrap();
    assert_eq!(policy["text"].as_str().unwrap().trim_end(), text.trim_end());
}

#[test]
fn what_ovirt_has_no_words_for_is_shown_and_locked() {
    let engine = Engine::start();
    let (_, list) = engine.ask(
        "GET",
        "/ovirt-engine/api/schedulingpolicies?follow=weights",
        "application/json",
        b"",
    );
    let list: Value = serde_json::from_str(&list).unwrap();
    let policies = list["scheduling_policy"].as_array().unwrap();
    let general = policies.iter().find(|it| it["name"] == "general").unwrap();
    assert_eq!(general["locked"], "true");
    assert_eq!(general["default_policy"], "true");
    let href = general["href"].as_str().unwrap();
    let body = format!("<weight><scheduling_policy_unit id=\"{EVEN}\"/></weight>");
    let refused = engine.ask(
        "POST",
        &format!("{href}/weights"),
        "application/xml",
        body.as_bytes(),
    );
    assert_eq!(refused.0, 400, "{}", refused.1);
    assert!(refused.1.contains("locked"), "{}", refused.1);
}

#[test]
fn hostile_and_mistaken_bodies_are_faults_and_change_nothing() {
    let engine = Engine::start();
    let policy = engine.policy("mine");
    let filters = format!("{policy}/filters");
    let before = engine.xml("GET", &policy, "").1 + &engine.xml("GET", &filters, "").1;
    let bomb = format!(
        "<!DOCTYPE filter [<!ENTITY a \"{CPU}\"><!ENTITY b \"&a;&a;&a;&a;\">]>{}",
        filter("&b;")
    );
    let external = format!(
        "<!DOCTYPE filter [<!ENTITY a SYSTEM \"file:///etc/passwd\">]>{}",
        filter("&a;")
    );
    let deep = "<filter>".repeat(20_000) + &"</filter>".repeat(20_000);
    let twice = format!("{}{}", filter(CPU), filter(CPU));
    for body in [
        "",
        "filter",
        "<filter>",
        "<filter/>",
        "<weight/>",
        "<filter><position>one</position></filter>",
        "<filter><colour>red</colour></filter>",
        &filter("no-such-unit"),
        &filter(EVEN),
        &filter(CPU).replace("<scheduling", "<position>2</position><scheduling"),
        &bomb,
        &external,
        &deep,
        &twice,
    ] {
        let (status, fault) = engine.xml("POST", &filters, body);
        let shown = body.get(..60.min(body.len()));
        assert_eq!(status, 400, "{shown:?}: {fault}");
        assert!(fault.contains("<fault>"), "{shown:?}: {fault}");
        assert!(!fault.contains("root:"), "{fault}");
    }
    for (path, body, status) in [
        (&*policy, "<scheduling_policy id=\"other\"/>", 409),
        (
            &*policy,
            "<scheduling_policy><locked>true</locked></scheduling_policy>",
            409,
        ),
        (
            &*policy,
            "<scheduling_policy><name> </name></scheduling_policy>",
            400,
        ),
        (
            &*policy,
            "<scheduling_policy><name>none</name></scheduling_policy>",
            400,
        ),
        ("schedulingpolicies/none", "<scheduling_policy/>", 404),
    ] {
        let answer = engine.xml("PUT", path, body);
        assert_eq!(answer.0, status, "{body}: {}", answer.1);
    }
    let (status, fault) = engine.xml("GET", "schedulingpolicies?colour=red", "");
    assert_eq!(status, 400, "{fault}");
    assert!(fault.contains("<fault>"), "{fault}");
    let (status, fault) = engine.xml("GET", "disks", "");
    assert_eq!(status, 404, "{fault}");
    assert!(fault.contains("<fault>"), "{fault}");
    let after = engine.xml("GET", &policy, "").1 + &engine.xml("GET", &filters, "").1;
    assert_eq!(before, after);
}

#[test]
fn two_admins_lose_none_of_their_changes() {
    let engine = Engine::start();
    let policy = engine.policy("shared");
    let units = [
        CPU,
        "c9ddbb34-0e1d-4061-a8d7-b0893fa80932",
        "43b9e654-337f-4b0d-a896-cbb22ce5a7fc",
        "98842bc5-4094-4b83-8224-7b50f86a94c9",
    ];
    std::thread::scope(|scope| {
        for unit in units {
            let (engine, policy) = (&engine, &policy);
            scope.spawn(move || {
                let added = engine.xml("POST", &format!("{policy}/filters"), &filter(unit));
                assert_eq!(added.0, 200, "{}", added.1);
            });
        }
    });
    let (_, filters) = engine.xml("GET", &format!("{policy}/filters"), "");
    for unit in units {
        assert!(
            filters.contains(&format!(
                "<filter href=\"/ovirt-engine/api/{policy}/filters/{unit}\""
            )),
            "{filters}"
        );
    }
}
