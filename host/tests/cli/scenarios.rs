//! Units tested by scenario files.

use placewright_tests::component::by_default;
use placewright_tests::repository;
use placewright_tests::units::component;

use crate::run::{Folder, INPUT, NO, example, placewright};

const CLUSTER: &str = "[cluster]\n\
    hosts = [{ id = 'h1', memory.total = '16 GiB' }, { id = 'h2', memory.total = '32 GiB' }]\n";

/// A folder with the unit `memory` and a scenario file beside it.
fn project(cases: &str) -> (Folder, String) {
    let folder = Folder::new();
    let bytes = std::fs::read(repository().join("plugins/reference/memory/memory.wasm")).unwrap();
    let unit = folder.write("memory.wasm", bytes);
    folder.write("scenarios/room.toml", format!("{CLUSTER}{cases}"));
    (folder, unit)
}

const PASSES: &str = "[[cases]]\nname = 'the larger host'\nvm = { id = 'v', memory = '1 GiB' }\n\
                      expect.chosen = 'h2'\n";
const FAILS: &str = "[[cases]]\nname = 'too large'\nvm = { id = 'v', memory = '20 GiB' }\n\
                     expect.hosts.h1.keep = true\nexpect.hosts.h2.keep = true\n";

#[test]
fn the_example_passes() {
    let words = [
        "unit",
        "test",
        "memory",
        "--scenarios",
        &example("scenario.toml"),
    ];
    let out = placewright(&words).done();
    assert!(out.contains("3 cases: 3 passed, 0 failed"), "{out}");
}

#[test]
fn a_unit_is_tested_by_the_scenarios_beside_it() {
    let (_folder, unit) = project(PASSES);
    let out = placewright(&["unit", "test", &unit]).done();
    assert!(out.contains("✓ the larger host"), "{out}");
    assert!(out.contains("1 case: 1 passed, 0 failed"), "{out}");
}

/// Set when a file was changed, in seconds from now.
fn changed(path: &str, seconds: u64) {
    let file = std::fs::File::options().append(true).open(path).unwrap();
    let time = std::time::SystemTime::now() + std::time::Duration::from_secs(seconds);
    file.set_modified(time).unwrap();
}

#[test]
fn of_a_project_that_is_built_the_file_that_is_there_is_tested() {
    for (manifest, content) in [
        ("pyproject.toml", "[project]\nname = 'memory'\n"),
        (
            "package.json",
            "{\"name\": \"@me/memory\", \"placewright\": {}}",
        ),
    ] {
        let (folder, unit) = project(PASSES);
        let manifest = folder.write(manifest, content);
        let words = ["unit", "test", &folder.path("")];
        let tools = ["--python", "/no/python", "--node", "/no/node"];
        let words: Vec<&str> = words.into_iter().chain(tools).collect();
        changed(&unit, 60);
        let out = placewright(&words).done();
        assert!(
            out.lines().next().unwrap().ends_with("/memory.wasm"),
            "{out}"
        );
        let report = placewright(&[&words[..], &["--format", "json"]].concat()).json();
        let from = report["unit"]["from"].as_str().unwrap();
        assert!(from.ends_with("/memory.wasm"), "{from}");
        // Scenarios are no source of it.
        changed(&folder.path("scenarios/room.toml"), 120);
        placewright(&words).done();
        changed(&manifest, 120);
        let said = placewright(&words).refused(INPUT);
        assert!(said.contains("/no/"), "{manifest}: {said}");
    }
}

#[test]
fn a_case_that_fails_is_told_with_what_was_expected_and_what_the_host_came_to() {
    let (_folder, unit) = project(&format!("{PASSES}{FAILS}"));
    let run = placewright(&["unit", "test", &unit]);
    assert_eq!(run.code, NO, "{}", run.err);
    for part in [
        "✗ too large (line 7)",
        "host h1",
        "keep",
        "has too little memory left to promise",
        "Chosen: h2",
        "2 cases: 1 passed, 1 failed",
    ] {
        assert!(run.out.contains(part), "{part} in {}", run.out);
    }
    let run = placewright(&["unit", "test", &unit, "--format", "json"]);
    assert_eq!(run.code, NO, "{}", run.err);
    let report: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    let cases = &report["files"][0]["cases"];
    assert_eq!(cases[0]["passed"], true);
    let difference = &cases[1]["differences"][0];
    assert_eq!(
        (&difference["host"], &difference["what"]),
        (&"h1".into(), &"keep".into())
    );
    assert_eq!(
        (&difference["expected"], &difference["got"]),
        (&"true".into(), &"false".into())
    );
    assert_eq!(cases[1]["outcome"]["hosts"]["h1"]["by"], "memory");
    assert!(cases[1]["explanation"]["stages"].is_array());
}

#[test]
fn a_filter_runs_only_cases_with_that_text_in_their_names() {
    let (_folder, unit) = project(&format!("{PASSES}{FAILS}"));
    let out = placewright(&["unit", "test", &unit, "--filter", "larger"]).done();
    assert!(out.contains("1 case: 1 passed, 0 failed"), "{out}");
    let said = placewright(&["unit", "test", &unit, "--filter", "nobody"]).refused(INPUT);
    assert!(
        said.contains("no case has a name that contains \"nobody\""),
        "{said}"
    );
}

#[test]
fn a_case_that_expects_nothing_does_not_pass() {
    let (_folder, unit) = project("[[cases]]\nname = 'empty'\nvm = { id = 'v' }\n");
    let run = placewright(&["unit", "test", &unit]);
    assert_eq!(run.code, NO, "{}", run.err);
    assert!(run.out.contains("it expects nothing"), "{}", run.out);
}

#[test]
fn the_panic_of_a_unit_is_a_result_that_can_be_expected() {
    let folder = Folder::new();
    let unit = folder.write(
        "panics.wasm",
        by_default(&component("misbehaving"), "panics"),
    );
    let case = "[[cases]]\nname = 'it panics'\nvm = { id = 'v' }\n";
    folder.write(
        "scenarios/a.toml",
        format!("{CLUSTER}{case}expect.chosen = 'h1'\n"),
    );
    let run = placewright(&["unit", "test", &unit]);
    assert_eq!(run.code, NO, "{}", run.err);
    assert!(run.out.contains("panicked at"), "{}", run.out);
    folder.write(
        "scenarios/a.toml",
        format!("{CLUSTER}{case}expect.error = 'panicked at'\n"),
    );
    placewright(&["unit", "test", &unit]).done();
}

#[test]
fn what_is_wrong_with_scenarios_is_told_with_file_and_line() {
    let (folder, unit) = project("[[cases]]\nname = 'c'\nvm = { id = 'v', memory = '1 GB2' }\n");
    folder.write(
        "scenarios/b.toml",
        format!("{CLUSTER}{PASSES}settings = {{ hedroom = 1 }}\n"),
    );
    let said = placewright(&["unit", "test", &unit]).refused(INPUT);
    assert!(
        said.contains("room.toml:5:27: case \"c\": \"memory\" must be"),
        "{said}"
    );
    folder.write("scenarios/room.toml", format!("{CLUSTER}{PASSES}"));
    let said = placewright(&["unit", "test", &unit]).refused(INPUT);
    assert!(
        said.contains("b.toml:7:14: case \"the larger host\""),
        "{said}"
    );
    assert!(said.contains("did you mean \"headroom\"?"), "{said}");
}

#[test]
fn a_unit_without_scenarios_is_told_where_they_belong() {
    let folder = Folder::new();
    let said = placewright(&["unit", "test", &folder.path("")]).refused(INPUT);
    assert!(said.contains("scenarios does not exist"), "{said}");
    folder.write("scenarios/notes.md", "");
    let said = placewright(&["unit", "test", &folder.path("")]).refused(INPUT);
    assert!(said.contains("has no scenario file"), "{said}");
}

#[test]
fn what_came_out_is_written_into_the_file_and_passes_from_then_on() {
    let (folder, unit) = project(&format!("# Kept.\n{PASSES}{FAILS}# Kept, too.\n"));
    let run = placewright(&["unit", "test", &unit, "--update"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("room.toml: 1 case updated"), "{}", run.err);
    let text = std::fs::read_to_string(folder.path("scenarios/room.toml")).unwrap();
    let reason = "expect.hosts.h1.reason = \"has too little memory left to promise\"\n";
    let expected = format!("{CLUSTER}# Kept.\n{PASSES}{FAILS}# Kept, too.\n");
    let expected = expected.replace("h1.keep = true\n", &format!("h1.keep = false\n{reason}"));
    assert_eq!(text, expected);
    placewright(&["unit", "test", &unit]).done();
}
