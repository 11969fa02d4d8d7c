//! What `unit bench` tells of a unit that comes out the same on every machine.

use placewright_tests::component::by_default;
use placewright_tests::server::placewright;
use placewright_tests::target_folder;
use placewright_tests::units::component;
use serde_json::Value;

/// The exit code, what is printed, and what is said beside it.
pub(crate) fn run(words: &[&str]) -> (Option<i32>, String, String) {
    let cache = target_folder().join("unit-cache");
    let output = placewright(words.iter().copied())
        .arg("--cache")
        .arg(cache)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn json(words: &[&str]) -> Value {
    let (code, printed, said) = run(words);
    assert_eq!(code, Some(0), "{said}");
    serde_json::from_str(&printed).unwrap()
}

/// Little is timed: times are no matter of these tests.
const QUICK: [&str; 6] = ["--time", "1ms", "--arrivals", "500", "--format", "json"];

fn bench(words: &[&str]) -> Value {
    json(&[&["unit", "bench"], words, &QUICK[..]].concat())
}

#[test]
fn instructions_and_hosts_asked_about_come_out_the_same_every_time() {
    let words = ["memory", "--hosts", "10,100"];
    let (one, other) = (bench(&words), bench(&words));
    let figures = |told: &Value| {
        let unit = &told["units"][0];
        let calls: Vec<Value> = unit["calls"].as_array().unwrap().clone();
        let calls: Vec<_> = calls
            .iter()
            .map(|call| {
                (
                    call["part"].clone(),
                    call["hosts"].clone(),
                    call["instructions"].clone(),
                )
            })
            .collect();
        let trace = &unit["trace"];
        let trace = [
            "arrivals",
            "placed",
            "calls",
            "asked",
            "reused",
            "decision-fnv1a64",
        ]
        .map(|name| trace[name].clone());
        (calls, trace)
    };
    assert_eq!(figures(&one), figures(&other));
    let calls = one["units"][0]["calls"].as_array().unwrap();
    let hosts: Vec<_> = calls.iter().map(|call| call["hosts"].as_u64()).collect();
    assert_eq!(hosts, [Some(0), Some(10), Some(100)]);
    let instructions = |call: usize| calls[call]["instructions"].as_u64().unwrap();
    assert!(instructions(0) < instructions(1) && instructions(1) < instructions(2));
    let trace = &one["units"][0]["trace"];
    assert_eq!(trace["arrivals"], 500);
    let asked = trace["asked"].as_u64().unwrap();
    let reused = trace["reused"].as_u64().unwrap();
    assert!(
        asked > 0 && reused > asked,
        "{asked} asked, {reused} reused"
    );
    let limits = one["units"][0]["limits"].as_array().unwrap();
    assert!(limits.len() >= 5 && limits.iter().all(|limit| limit["kept"] == true));
}

#[test]
fn a_unit_compared_with_itself_takes_as_many_instructions() {
    let told = bench(&["cpu", "cpu", "--hosts", "50"]);
    let compared = told["compared"].as_array().unwrap();
    assert_eq!(compared.len(), 2, "without hosts, and with 50");
    for of in compared {
        assert_eq!(of["instructions"], 1.0);
        assert!(of["time"]["median"].is_number());
    }
}

#[test]
fn a_judge_is_measured_on_the_hosts_of_a_cluster() {
    let root = placewright_tests::repository();
    let cluster = root.join("host/examples/cluster.toml");
    let told = bench(&["memory", "--cluster", cluster.to_str().unwrap()]);
    let document = std::fs::read_to_string(cluster).unwrap();
    let count = |text: &str| document.matches(text).count() as u64;
    // A host in maintenance is not asked about.
    let hosts = count("[[hosts]]") - count("state = \"maintenance\"");
    let calls = told["units"][0]["calls"].as_array().unwrap();
    let last = calls.last().unwrap();
    assert_eq!(last["part"], "judge");
    assert_eq!(last["hosts"].as_u64(), Some(hosts));
    assert!(last["instructions"].as_u64() > calls[0]["instructions"].as_u64());
}

#[test]
fn a_limit_that_is_not_kept_to_is_a_no() {
    let file = target_folder().join("unit-bench-loops.wasm");
    std::fs::write(
        &file,
        by_default(&component("misbehaving"), "loops-forever"),
    )
    .unwrap();
    let words = ["unit", "bench", file.to_str().unwrap(), "--hosts", "1"];
    let (code, printed, said) = run(&[&words, &QUICK[..]].concat());
    assert_eq!(code, Some(1), "{said}{printed}");
    let told: Value = serde_json::from_str(&printed).unwrap();
    let failure = told["units"][0]["calls"][0]["failure"].as_str().unwrap();
    assert!(
        failure.contains("instructions") || failure.contains("fuel"),
        "{failure}"
    );
}
