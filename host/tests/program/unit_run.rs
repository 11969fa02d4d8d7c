//! What `unit run` shows of one call: what a unit saw, and what it said.

use std::path::PathBuf;

use placewright_tests::component::by_default;
use placewright_tests::units::component;
use placewright_tests::{repository, target_folder};
use serde_json::{Value, json};

use crate::unit_bench;

fn example(name: &str) -> String {
    let file = repository().join("host/examples").join(name);
    file.to_str().unwrap().to_owned()
}

/// A document or a unit of these tests.
fn file(name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let file = target_folder().join(name);
    std::fs::write(&file, bytes).unwrap();
    file
}

/// The exit code, what is printed, and what is said beside it, of a unit on the example cluster.
fn run(unit: &str, words: &[&str]) -> (Option<i32>, String, String) {
    let cluster = example("cluster.toml");
    let begin = ["unit", "run", unit, "--cluster", &cluster];
    unit_bench::run(&[&begin[..], words].concat())
}

fn json_of(unit: &str, words: &[&str]) -> (Option<i32>, Value) {
    let (code, printed, said) = run(unit, &[words, &["--format", "json"]].concat());
    let told = serde_json::from_str(&printed);
    (code, told.unwrap_or_else(|error| panic!("{error}: {said}")))
}

fn rows<'v>(told: &'v Value, table: &str) -> &'v [Value] {
    let tables = told["saw"].as_array().unwrap();
    let table = tables.iter().find(|it| it["table"] == table).unwrap();
    table["rows"].as_array().unwrap()
}

/// The line that begins with these words, its words apart by one blank.
fn line(text: &str, begin: &[&str]) -> String {
    let mut lines = text.lines().map(|line| line.split_whitespace().collect());
    let line = lines.find(|words: &Vec<&str>| words.starts_with(begin));
    line.unwrap_or_else(|| panic!("{begin:?} in {text}"))
        .join(" ")
}

#[test]
fn a_filter_and_cost_function_is_shown_host_by_host() {
    let vm = example("vm.toml");
    let (code, told) = json_of("memory", &["--vm", &vm]);
    assert_eq!(code, Some(0));
    assert_eq!(told["unit"], "memory");
    assert_eq!(told["answers"], json!(["filter", "cost function"]));
    let hosts = rows(&told, "hosts");
    assert_eq!(
        (&hosts[0]["id"], &hosts[1]["id"]),
        (&json!("h1"), &json!("h2"))
    );
    // Both VMs of h1, and the one that has a place reserved on h2.
    let gib = |gib: i64| json!(gib << 30);
    assert_eq!(hosts[0]["values"]["memory.committed"], gib(68));
    assert_eq!(hosts[1]["values"]["memory.pending"], gib(4));
    assert_eq!(hosts[1]["values"]["memory.free"], Value::Null);
    assert_eq!(rows(&told, "members")[0]["values"]["memory"], gib(64));
    let said = told["said"]["hosts"].as_array().unwrap();
    assert_eq!(said.len(), 2);
    assert!(said.iter().all(|it| it["keep"] == true));
    assert!(
        said[1]["cost"].as_f64() < said[0]["cost"].as_f64(),
        "h2 is emptier"
    );
    assert_eq!(told["not-asked"][0]["host"], "h3");

    let (code, text, _) = run("memory", &["--vm", &vm]);
    assert_eq!(code, Some(0));
    let first = "memory 0.1.0: filter and cost function, asked about 2 hosts";
    assert_eq!(text.lines().next(), Some(first));
    let members = line(&text, &["members", "database-2:"]);
    assert!(members.contains("memory 64.0 GiB, vcpus 8"), "{members}");
    let h1 = line(&text, &["h1"]);
    assert!(h1.starts_with("h1 512.0 GiB - 4.0 GiB 150.0 %"), "{h1}");
    assert!(text.contains("host h3 is not up: its state is maintenance"));
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
}

#[test]
fn a_reason_stands_beside_what_the_unit_saw_and_an_empty_fleet_is_a_no() {
    let vm = example("vm.toml");
    let room = [
        "--vm",
        &vm,
        "--part",
        "filter",
        "--settings",
        "headroom=720 GiB",
    ];
    let (code, text, said) = run("memory", &room);
    assert_eq!((code, &*said), (Some(1), ""));
    let verdict = "remove: has too little memory left to promise";
    assert_eq!(text.matches(verdict).count(), 2, "{text}");
    assert!(!text.contains("COST"), "no cost was asked: {text}");
    let (code, told) = json_of(
        "memory",
        &["--vm", "web-1", "--part", "cost", "--host", "h2"],
    );
    assert_eq!(code, Some(0));
    let hosts = told["said"]["hosts"].as_array().unwrap();
    assert_eq!((hosts.len(), &hosts[0]["host"]), (1, &json!("h2")));
    assert_eq!(hosts[0].get("keep"), None);
    assert_eq!(told.get("not-asked"), None);
}

#[test]
fn tables_below_hosts_are_shown_with_the_hosts_that_they_are_of() {
    let vm = example("vm.toml");
    let (code, told) = json_of("network", &["--vm", &vm]);
    assert_eq!(code, Some(0));
    let networks = rows(&told, "hosts/networks").iter();
    let networks: Vec<_> = networks
        .map(|row| {
            (
                row["below"].as_str().unwrap(),
                row["values"]["name"].as_str().unwrap(),
            )
        })
        .collect();
    let both = ["management", "storage"];
    let expected = ["h1", "h2"].map(|host| both.map(|network| (host, network)));
    assert_eq!(networks, expected.concat());
    let nics = rows(&told, "members/nics").iter();
    let nics: Vec<&Value> = nics.map(|row| &row["values"]["network"]).collect();
    assert_eq!(nics, both);

    let (_, text, _) = run("network", &["--vm", &vm]);
    assert_eq!(line(&text, &["h2", "storage"]), "h2 storage - -");
    assert_eq!(line(&text, &["h2", "keep"]), "h2 keep");
}

#[test]
fn a_balance_is_asked_without_a_vm_and_names_what_is_to_be_moved() {
    let cluster = file(
        "unit-run-crowded.toml",
        "now = 1000\n\
         [[hosts]]\nid = 'full'\ncpu.cores = 10\n'cpu.usage' = 0.95\nmemory.total = '64 GiB'\n\
         watch.cpu-over.since = 0\n\
         vms = [{ id = 'one', cpu = '2 cores', memory = '1 GiB', 'cpu.usage' = 0.5 }]\n\
         [[hosts]]\nid = 'idle'\ncpu.cores = 10\n'cpu.usage' = 0.05\nmemory.total = '64 GiB'\n",
    );
    let begin = ["unit", "run", "even-distribution", "--part", "balance"];
    let cluster = ["--cluster", cluster.to_str().unwrap()];
    let (code, text, said) = unit_bench::run(&[&begin[..], &cluster].concat());
    assert_eq!((code, &*said), (Some(0), ""), "{text}");
    assert!(text.contains("move one from full to idle"), "{text}");
}

#[test]
fn a_call_that_panics_shows_what_the_unit_saw_and_its_message() {
    let unit = file(
        "unit-run-panics.wasm",
        by_default(&component("misbehaving"), "panics"),
    );
    let (code, text, said) = run(unit.to_str().unwrap(), &["--vm", "web-1"]);
    assert_eq!(code, Some(3), "{said}");
    assert!(text.contains("settings: "), "{text}");
    assert!(said.contains("is beyond me"), "{said}");
    assert!(!said.contains("entry"), "there is no policy: {said}");
    let (code, told) = json_of(unit.to_str().unwrap(), &["--vm", "web-1"]);
    assert_eq!(code, Some(3));
    assert!(told["failure"].as_str().unwrap().contains("is beyond me"));
    assert_eq!(told.get("said"), None);
}

#[test]
fn what_is_wrong_with_the_command_is_told() {
    let vm = example("vm.toml");
    let readme = repository().join("README.md");
    let readme = readme.to_str().unwrap();
    let cases: [(&str, &[&str], &str); 8] = [
        (
            "memory",
            &["--vm", &vm, "--host", "h9"],
            "there is no host \"h9\"",
        ),
        ("memory", &["--vm", "web-9"], "there is no VM \"web-9\""),
        ("memory", &[], "--vm"),
        (
            "memory",
            &["--vm", &vm, "--part", "balance"],
            "unit \"memory\" has no part balance; it has filter, cost",
        ),
        (readme, &["--vm", &vm], "not a WebAssembly component"),
        ("gpu-fit", &["--vm", &vm, "--part", "effects"], "one host"),
        (
            "memory",
            &["--vm", &vm, "--settings", "headrom=1"],
            "headroom",
        ),
        (
            "memory",
            &["--vm", &vm, "--settings", "headroom"],
            "NAME=VALUE",
        ),
    ];
    for (unit, words, sentence) in cases {
        let (code, printed, said) = run(unit, words);
        assert_eq!((code, &*printed), (Some(2), ""), "{said}");
        assert!(said.contains(sentence), "{sentence} in {said}");
    }
}
