//! What units cost, and what is being staged.

use std::fs;
use std::thread;

use serde_json::{Value, json};

use placewright_tests::component::renamed;
use placewright_tests::server::{Server, placewright};
use placewright_tests::units;

use super::deployment::Api;
use super::folder;
use super::roles::token;

fn cluster(name: &str) -> Value {
    let hosts: Vec<Value> = (0..20)
        .map(|number| json!({"id": format!("h{number}"), "cpu.cores": 32, "memory.total": format!("{} GiB", 64 + number)}))
        .collect();
    json!({"name": name, "hosts": hosts})
}

/// All of these is a list of numbers, none less than the one before.
fn ascends(cost: &Value, keys: &[&str]) {
    let numbers: Vec<f64> = keys.iter().map(|key| cost[key].as_f64().unwrap()).collect();
    assert!(numbers.is_sorted(), "{keys:?}: {cost}");
}

#[test]
fn the_costs_of_units_are_told_by_cluster_and_by_unit_to_whoever_sees_the_cluster() {
    let data = folder();
    let (admin, of_admin) = token("admin", None);
    let (viewer, of_viewer) = token("viewer", Some("east"));
    let configuration = data.path().join("placewright.toml");
    fs::write(&configuration, of_admin + "\n" + &of_viewer).unwrap();
    let server = Server::start(data.path(), &["--config", configuration.to_str().unwrap()]);
    let (admin_token, admin, viewer) = (
        admin.clone(),
        Api::with(&server, &admin),
        Api::with(&server, &viewer),
    );
    for name in ["east", "west"] {
        let made = admin.send("POST", "/v1/clusters", &cluster(name));
        assert_eq!(made.status, 201, "{made:?}");
    }
    let costs = |path: &str| admin.get(path).body["items"].as_array().unwrap().clone();
    let of_east = "/v1/clusters/east/unit-costs";
    let calls = |costs: &[Value]| {
        costs
            .iter()
            .map(|it| it["calls"].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!(calls(&costs(of_east)), 0);
    for number in 0..30 {
        let vm = json!({"id": format!("v{number}"), "cpu": 1, "memory": format!("{} MiB", 256 + number)});
        let placed = admin.send("POST", "/v1/clusters/east/place", &vm);
        assert_eq!(placed.status, 200, "{placed:?}");
    }
    let east = costs(of_east);
    assert!(calls(&east) >= 30, "{east:?}");
    let names: Vec<&str> = east.iter().map(|it| it["unit"].as_str().unwrap()).collect();
    assert!(names.is_sorted() && names.contains(&"memory"), "{names:?}");
    let shares: f64 = east.iter().map(|it| it["share"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    for cost in east.iter().filter(|cost| cost["calls"] != 0) {
        assert_eq!(cost["cluster"], "east");
        ascends(
            cost,
            &["median-us", "p95-us", "p99-us", "longest-us", "limit-us"],
        );
        ascends(cost, &["memory", "memory-limit"]);
        assert!(cost["median-us"].as_f64() > Some(0.0), "{cost}");
        assert!(cost["memory"].as_u64() >= Some(1 << 16), "{cost}");
        // No call takes less than none, nor all of them less than the longest.
        let seconds = cost["seconds"].as_f64().unwrap();
        assert!(
            seconds * 1e6 >= cost["longest-us"].as_f64().unwrap() * 0.999,
            "{cost}"
        );
    }
    let of_memory = costs("/v1/units/memory/costs");
    let clusters: Vec<&str> = of_memory
        .iter()
        .map(|it| it["cluster"].as_str().unwrap())
        .collect();
    assert_eq!(clusters, ["east", "west"]);
    let seen = viewer.get("/v1/units/memory/costs").body;
    assert_eq!(seen["items"].as_array().unwrap().len(), 1, "{seen}");
    assert_eq!(seen["items"][0]["cluster"], "east");
    assert_eq!(viewer.get("/v1/clusters/west/unit-costs").status, 403);
    assert_eq!(admin.get("/v1/units/no-such-unit/costs").status, 404);
    assert_eq!(viewer.get("/v1/unit-stagings").status, 403);
    // The command line shows the same.
    let ask = |words: &[&str]| {
        let output = placewright(["--server", &server.url])
            .args(words)
            .env("PLACEWRIGHT_TOKEN", &admin_token)
            .env("PLACEWRIGHT_CONTEXTS", data.path().join("none.toml"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let listed = ask(&["get", "unit-costs", "--cluster", "east"]);
    assert!(
        listed.contains("memory") && listed.contains("MiB"),
        "{listed}"
    );
    assert!(ask(&["unit", "costs", "memory"]).contains("west"));
    assert!(ask(&["get", "unit-stagings"]).contains("There is none"));
}

#[test]
fn a_candidate_is_seen_while_it_is_staged_with_the_step_that_is_being_taken() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let component = units::component("worst-fit");
    let seen = thread::scope(|scope| {
        let uploads = scope.spawn(|| {
            // Each has bytes of its own, so that each is compiled and probed.
            for number in 0..50 {
                let name = format!("staged-{number:02}");
                let bytes = renamed(&component, "worst-fit", &name);
                let answer = api.ask(
                    "POST",
                    "/v1/units/check",
                    &[("content-type", "application/wasm")],
                    &bytes,
                );
                assert_eq!(answer.unwrap().status, 200);
            }
        });
        let watch = Api::of(&server);
        let mut seen = None;
        while seen.is_none() && !uploads.is_finished() {
            let items = watch.get("/v1/unit-stagings").body["items"].clone();
            let items = items.as_array().unwrap();
            assert!(items.len() <= 1, "{items:?}");
            seen = items.iter().find(|it| it["step"].is_string()).cloned();
        }
        seen
    });
    let seen = seen.expect("fifty candidates were staged, and none was seen");
    assert_eq!(seen["source"]["kind"], "upload", "{seen}");
    let order = [
        "signature",
        "contract",
        "compile",
        "describe",
        "probes",
        "policies",
        "trial",
        "in-force",
    ];
    let place = |step: &Value| order.iter().position(|it| step == it).unwrap();
    let steps = seen["steps"].as_array().unwrap();
    assert_eq!(steps.len(), place(&seen["step"]), "{seen}");
    assert_eq!(seen["name"].is_string(), steps.len() > 3, "{seen}");
    // None is left over.
    assert_eq!(api.get("/v1/unit-stagings").body["items"], json!([]));
}
