//! What `unit replay` says that a unit would change, on a trace and on a server.

use std::path::PathBuf;

use placewright_tests::component::renamed;
use placewright_tests::server::Server;
use placewright_tests::{repository, target_folder};
use serde_json::{Value, json};

use crate::unit_bench::run;

/// A unit under the name of another that decides in its own way: hosts as they come,
/// where the other takes the emptiest.
fn first_fit_as_worst_fit() -> PathBuf {
    let component =
        std::fs::read(repository().join("plugins/packing/first-fit/first-fit.wasm")).unwrap();
    let file = target_folder().join("first-fit-as-worst-fit.wasm");
    std::fs::write(&file, renamed(&component, "first-fit", "worst-fit")).unwrap();
    file
}

fn on_trace(unit: &str) -> (Option<i32>, Value) {
    let words = ["unit", "replay", unit, "--policy", "worst-fit"];
    let more = ["--arrivals", "300", "--format", "json"];
    let (code, printed, said) = run(&[&words[..], &more[..]].concat());
    let told = serde_json::from_str(&printed);
    (code, told.unwrap_or_else(|error| panic!("{error}: {said}")))
}

#[test]
fn a_unit_in_its_own_place_changes_nothing() {
    let (code, told) = on_trace("worst-fit");
    assert_eq!(
        (code, &told["tried"], &told["differing"]),
        (Some(0), &json!(300), &json!(0))
    );
    assert_eq!(told["agreement"], 1.0);
    assert_eq!(told["before"], told["after"]);
}

#[test]
fn what_another_unit_would_change_on_a_trace_is_told_with_the_costs() {
    let (code, told) = on_trace(first_fit_as_worst_fit().to_str().unwrap());
    assert_eq!(code, Some(1));
    let (tried, differing) = (told["tried"].as_u64(), told["differing"].as_u64());
    assert!(tried == Some(300) && differing > Some(100), "{told}");
    assert_eq!(told["failing"], 0);
    let hosts = |side: &str| told[side]["mean-used-hosts"].as_f64().unwrap();
    assert!(hosts("after") < hosts("before"), "first fit packs");
    let examples = told["examples"].as_array().unwrap();
    assert_eq!(examples.len(), 3);
    for example in examples {
        assert_ne!(example["before"], example["after"]);
        let hosts = example["hosts"].as_array().unwrap();
        assert_eq!(hosts[0]["host"], example["before"]);
        assert_eq!(hosts[1]["host"], example["after"]);
        let costs = hosts[0]["costs"].as_array().unwrap();
        assert!(
            costs.iter().any(|cost| cost["entry"] == "worst-fit"),
            "{example}"
        );
    }
}

#[test]
fn a_policy_that_does_not_call_the_unit_is_a_fault_of_the_input() {
    let words = ["unit", "replay", "cpu", "--policy", "worst-fit"];
    let (code, _, said) = run(&words);
    assert_eq!(code, Some(2));
    assert!(said.contains("calls no unit \"cpu\""), "{said}");
}

#[test]
fn recorded_decisions_of_a_server_are_made_again_and_nothing_comes_into_force() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path(), &[]);
    let hosts =
        ["h1", "h2"].map(|id| json!({"id": id, "cpu.cores": 1000, "memory.total": "1 TiB"}));
    let post = |path: &str, body: &Value| {
        let config = ureq::Agent::config_builder().http_status_as_error(false);
        let agent: ureq::Agent = config.build().into();
        let answer = agent.post(format!("{}{path}", server.url)).send_json(body);
        let mut answer = answer.unwrap();
        let told: Value = answer.body_mut().read_json().unwrap();
        assert!(answer.status().is_success(), "{told}");
        told
    };
    let get = |path: &str| -> Value {
        let answer = ureq::get(format!("{}{path}", server.url)).call();
        answer.unwrap().body_mut().read_json().unwrap()
    };
    post(
        "/v1/clusters?policy=worst-fit",
        &json!({"name": "c", "hosts": hosts}),
    );
    for number in 0..4 {
        let vm = json!({"id": format!("v{number}"), "cpu": "1 cores", "memory": "1 GiB"});
        post("/v1/clusters/c/place", &vm);
    }
    let before = get("/v1/units/worst-fit/inspection");
    assert_eq!(
        before["parts"][0]["answers"],
        json!(["filter", "cost function"])
    );

    // The emptiest host is the other one each time; the first with room always h1.
    let file = first_fit_as_worst_fit();
    let words = [
        "unit",
        "replay",
        file.to_str().unwrap(),
        "--server",
        &server.url,
    ];
    let (code, printed, said) = run(&[&words[..], &["--format", "json"]].concat());
    assert_eq!(code, Some(1), "{said}");
    let told: Value = serde_json::from_str(&printed).unwrap();
    let replayed = &told["clusters"]["c"];
    assert_eq!(
        (&replayed["tried"], &replayed["differing"]),
        (&json!(4), &json!(2))
    );
    assert_eq!(replayed["examples"][0]["after"], "h1");
    let (code, printed, said) = run(&words);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        printed.contains("2 of 4 decisions come out differently"),
        "{printed}"
    );
    let own = ["unit", "replay", "worst-fit", "--server", &server.url];
    assert_eq!(run(&own).0, Some(0));
    assert_eq!(get("/v1/units/worst-fit/inspection"), before);

    let page = "/v1/clusters/c/decisions/1";
    assert!(get(page).get("runners-up").is_none());
    let shown = get(&format!("{page}?runners-up=3"));
    let chosen = shown["decision"]["host"].as_str().unwrap();
    let next = shown["runners-up"].as_array().unwrap();
    assert_eq!(next.len(), 1, "there is but one other host");
    assert_ne!(next[0]["host"], chosen);
    assert_eq!(
        next[0]["costs"], shown["decision"]["costs"],
        "both are empty"
    );

    server.signal("KILL");
    server.ended();
    let server = Server::start(data.path(), &[]);
    let words = [
        "unit",
        "replay",
        file.to_str().unwrap(),
        "--server",
        &server.url,
    ];
    let (code, printed, said) = run(&[&words[..], &["--format", "json"]].concat());
    assert_eq!(code, Some(1), "{said}");
    let again: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(again["clusters"], told["clusters"], "after a restart");
}
