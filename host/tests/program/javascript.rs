//! Units in JavaScript and TypeScript: like any other, and slower than in Rust. Where Node.js
//! or what builds their components is missing and cannot be installed, the claims about
//! components are not tried.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use placewright_build::project::{Evaluation, Language};
use placewright_build::{self as build, BuildError};
use placewright_engine::contract::{Answers, Call, Part};
use placewright_engine::unit::{Cause, Fault, Unit};
use placewright_library::probe;
use placewright_tests::scene::GIB;
use placewright_tests::{guest, javascript, units};

use crate::{begun, scenarios, twins};

const TWIN: &str = "examples/cpu-in-javascript";
const MISBEHAVING: &str = "tests/misbehaving";

/// Runs it in the folder of the SDK; fails with what it said.
fn passes(command: &mut Command) {
    let done = command
        .current_dir(javascript::sdk())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = [done.stdout, done.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
    assert!(done.status.success(), "{}", said.join("\n"));
}

#[test]
fn the_sdk_for_javascript_passes_its_own_tests() {
    if !javascript::has_node() {
        eprintln!("the SDK for JavaScript is not tried: there is no Node.js");
        return;
    }
    passes(Command::new("node").args(["--test", "tests/"]));
}

#[test]
fn units_are_typed_as_the_sdk_says() {
    let Some(modules) = javascript::node_modules() else {
        return;
    };
    passes(
        Command::new("node")
            .arg(modules.join("typescript/bin/tsc"))
            .args(["--project", "tests/types"]),
    );
}

#[test]
fn a_unit_in_javascript_keeps_to_what_it_says_under_the_default_limits() {
    let Some(unit) = javascript::unit(guest::engine_by_fuel(), TWIN) else {
        return;
    };
    let report = probe::probe(&unit, 0);
    assert!(report.passed(), "{report:?}");
}

#[test]
fn a_unit_in_javascript_answers_and_decides_as_its_twin_in_rust() {
    let Some(javascript) = javascript::unit(guest::engine(), TWIN) else {
        return;
    };
    twins::answer_alike(&units::unit("cpu"), &javascript);
    scenarios::of_cpu_come_out(&javascript);
    twins::decide_alike(units::unit("cpu"), javascript);
}

#[test]
fn new_units_in_javascript_and_typescript_are_built_and_keep_to_what_they_say() {
    let Some(modules) = javascript::node_modules() else {
        return;
    };
    let options = build::Options {
        node_modules: Some(modules.to_owned()),
        ..build::Options::default()
    };
    begun::is_sound(Language::JavaScript, Evaluation::WholeTable, &options);
    begun::is_sound(Language::TypeScript, Evaluation::RowWise, &options);
}

#[test]
fn new_units_in_javascript_and_typescript_pass_their_scenarios_without_a_network() {
    let Some(modules) = javascript::node_modules() else {
        return;
    };
    for words in [
        &["--lang", "javascript"][..],
        &["--lang", "typescript", "--evaluation", "whole-table"],
    ] {
        begun::is_tested_offline(words, &[("PLACEWRIGHT_NODE_MODULES", modules)]);
    }
}

#[test]
fn editors_find_the_types_of_the_sdk_in_new_units() {
    let Some(modules) = javascript::node_modules() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for (language, configuration) in [
        (Language::JavaScript, "jsconfig.json"),
        (Language::TypeScript, "tsconfig.json"),
    ] {
        for evaluation in [Evaluation::RowWise, Evaluation::WholeTable] {
            let project = folder.path().join(format!("{language:?}-{evaluation:?}"));
            begun::begin(language, evaluation, &project);
            let compiler = modules.join("typescript/bin/tsc");
            passes(
                Command::new("node")
                    .arg(compiler)
                    .arg("--project")
                    .arg(project.join(configuration)),
            );
        }
    }
}

/// What becomes of a call about one host to the unit that is set so.
fn set_to(unit: &Unit, how: &str) -> Result<Vec<u8>, Cause> {
    let answer = called(unit, how, Duration::from_secs(300));
    answer.map_err(|fault| *fault.cause)
}

/// The same, with that time for it.
fn called(unit: &Unit, how: &str, time: Duration) -> Result<Vec<u8>, Fault> {
    let call = Call {
        rows: vec![1, 1],
        integers: vec![GIB, 0],
        texts: vec![how.into()],
        ..Call::default()
    };
    let verdicts = Answers {
        verdicts: true,
        costs: false,
    };
    let mut instance = unit.instantiate(Part::Judge).unwrap();
    let judgement = instance.judge(verdicts, &call, 1, time)?;
    Ok(judgement.verdicts)
}

#[test]
fn a_unit_in_javascript_that_does_not_end_is_stopped_and_not_told_of_names() {
    let Some(unit) = javascript::unit(guest::engine(), MISBEHAVING) else {
        return;
    };
    let fault = called(&unit, "hangs", Duration::from_secs(1)).unwrap_err();
    assert!(matches!(*fault.cause, Cause::Time(_)), "{fault}");
    // Its functions are the interpreter's, and no option would name the author's.
    let said = fault.to_string();
    assert!(
        !said.contains("--names") && !said.contains("(in "),
        "{said}"
    );
}

#[test]
fn what_goes_wrong_in_javascript_is_told_and_never_looks_like_an_answer() {
    let Some(unit) = javascript::unit(guest::engine(), MISBEHAVING) else {
        return;
    };
    for how in ["well", "prints"] {
        assert_eq!(set_to(&unit, how), Ok(vec![0]), "{how}");
    }
    assert_eq!(
        set_to(&unit, "refuses"),
        Err(Cause::Refused("is not in the mood".to_owned()))
    );
    assert_eq!(
        set_to(&unit, "fails"),
        Err(Cause::Failed("cannot go on".to_owned()))
    );
    for (how, told) in [
        ("throws", "TypeError: cannot read property"),
        (
            "throws",
            "at misbehaving.ts line 68 in divide: return one / other!.total;",
        ),
        (
            "throws",
            "called from misbehaving.ts line 22 in keep: return divide(host.total, null) > 1 || \"small\"",
        ),
        ("throws a text", "threw \"in a temper\", which is no Error"),
        ("forgets to answer", "keep returned undefined"),
        ("answers false", "fits || \"small\""),
        ("misspells a reason", "neither true nor one of its reasons"),
        ("misspells a field", "there is no field totl"),
        ("promises", "a unit cannot wait"),
        ("changes a row", "TypeError"),
        ("remembers", "TypeError"),
        ("asks the clock", "a unit has no clock"),
        ("asks for today", "a unit has no clock"),
        ("draws", "a unit has no chance"),
        ("waits", "TypeError"),
        ("takes memory", "out of memory"),
    ] {
        match set_to(&unit, how) {
            Err(Cause::Failed(sentence)) => assert!(sentence.contains(told), "{how}: {sentence}"),
            other => panic!("{how}: {other:?}"),
        }
    }
    // The interpreter does not notice it in time, and the runtime does.
    let endless = set_to(&unit, "recurses").unwrap_err();
    assert!(!matches!(endless, Cause::Refused(_)), "{endless:?}");
}

/// What is said of a project with these files.
fn refused(files: &[(&str, &str)], modules: Option<&Path>) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let options = build::Options {
        node_modules: modules.map(Path::to_owned),
        ..build::Options::default()
    };
    match build::build(folder.path(), &options) {
        Err(error @ BuildError::JavaScript(_)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

const MANIFEST: &str =
    r#"{"name": "u", "version": "0.1.0", "description": "A unit.", "placewright": {}}"#;

#[test]
fn what_builds_units_in_javascript_and_is_missing_is_told_with_how_to_get_it() {
    if !javascript::has_node() {
        eprintln!("builds of units in JavaScript are not tried: there is no Node.js");
        return;
    }
    let said = refused(&[("package.json", MANIFEST), ("u.js", "")], None);
    assert!(said.contains("componentize-qjs 0.4.3 is missing"), "{said}");
    assert!(said.contains("npm install --prefix"), "{said}");
}

#[test]
fn a_mistake_in_a_unit_in_javascript_is_told_when_it_is_built() {
    let Some(modules) = javascript::node_modules() else {
        return;
    };
    let said = |code: &str| refused(&[("package.json", MANIFEST), ("u.ts", code)], Some(modules));
    for (code, told) in [
        (
            "import { rowWise } from \"placewright\";\nexport default rowWise({ host: {}, cost() { return 1 +; } });",
            "u.ts:2:55: Unexpected \";\"",
        ),
        (
            "import { rowise } from \"placewright\";\nexport default rowise({});",
            "No matching export in \"placewright\" for import \"rowise\"",
        ),
        (
            "import { rowWise } from \"placewright\";\nexport default rowWise({ host: {} });",
            "there is neither keep nor cost",
        ),
        (
            "export const unit = 1;",
            "u.ts: the module of a unit ends with: export default",
        ),
        (
            "import { rowWise } from \"placewright\";\nDate.now();\nexport default rowWise({});",
            "a unit has no clock: read `now` of the table `request`; at u.ts line 2: Date.now()",
        ),
        (
            "import fs from \"node:fs\";\nexport default fs.readFileSync(\"x\");",
            "node:fs",
        ),
    ] {
        let said = said(code);
        assert!(said.contains(told), "{code}: {said}");
    }
}

/// The block of the page in that language.
fn block(page: &str, language: &str) -> String {
    let begin = format!("```{language}\n");
    let (_, rest) = page.split_once(&begin).unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_unit_on_the_page_about_javascript_is_built_and_keeps_to_what_it_says() {
    let Some(modules) = javascript::node_modules() else {
        return;
    };
    let page = std::fs::read_to_string(javascript::sdk().join("README.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let manifest = block(&page, "json");
    std::fs::write(folder.path().join("package.json"), manifest).unwrap();
    std::fs::write(folder.path().join("free-memory.js"), block(&page, "js")).unwrap();
    let options = build::Options {
        node_modules: Some(modules.to_owned()),
        ..build::Options::default()
    };
    let built = build::build(folder.path(), &options).unwrap();
    let unit = guest::load(guest::engine_by_fuel(), &built.bytes, &built.name);
    let report = probe::probe(&unit, 0);
    assert!(report.passed(), "{report:?}");
}
