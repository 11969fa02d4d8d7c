//! Units in Python: like any other, and slower. Where Python or what builds its components
//! is missing and cannot be installed, the claims about components are not tried.

use std::process::{Command, Stdio};
use std::time::Duration;

use placewright_build::project::{Evaluation, Language};
use placewright_build::{self as build, BuildError};
use placewright_engine::contract::{Answers, Call, Part};
use placewright_engine::unit::Cause;
use placewright_library::probe;
use placewright_tests::scene::GIB;
use placewright_tests::{guest, python, units};

use crate::{begun, scenarios, twins};

const TWIN: &str = "examples/cpu-in-python";
const MISBEHAVING: &str = "tests/misbehaving";

#[test]
fn the_sdk_for_python_passes_its_own_tests() {
    let Some(interpreter) = python::interpreter() else {
        eprintln!("the SDK for Python is not tried: there is no Python 3.11");
        return;
    };
    let mut tests = Command::new(interpreter);
    tests
        .args(["-m", "unittest", "discover", "--start-directory", "tests"])
        .current_dir(python::sdk())
        .env("PYTHONPATH", python::sdk().join("src"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::null());
    let done = tests.output().unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

#[test]
fn a_unit_in_python_keeps_to_what_it_says_under_the_default_limits() {
    let Some(unit) = python::unit(guest::engine_by_fuel(), TWIN) else {
        return;
    };
    let report = probe::probe(&unit, 0);
    assert!(report.passed(), "{report:?}");
}

#[test]
fn there_may_be_as_many_instances_in_python_as_the_limits_say() {
    // Other tests have instances of the shared one meanwhile.
    let engine = guest::engine_of_its_own();
    let Some(unit) = python::unit(&engine, TWIN) else {
        return;
    };
    let limit = engine.limits().instances;
    let start = || unit.instantiate(Part::Judge);
    let all: Vec<_> = (0..limit).map(|_| start().unwrap()).collect();
    let refused = start().map(drop).unwrap_err();
    assert_eq!(*refused.cause, Cause::NoInstance(limit));
    drop(all);
    assert!(start().is_ok());
}

#[test]
fn a_unit_in_python_answers_and_decides_as_its_twin_in_rust() {
    let Some(python) = python::unit(guest::engine(), TWIN) else {
        return;
    };
    twins::answer_alike(&units::unit("cpu"), &python);
    scenarios::of_cpu_come_out(&python);
    twins::decide_alike(units::unit("cpu"), python);
}

#[test]
fn a_new_unit_in_python_is_built_and_keeps_to_what_it_says() {
    let Some(python) = python::builder() else {
        return;
    };
    let options = build::Options {
        python: Some(python.to_owned()),
        ..build::Options::default()
    };
    begun::is_sound(Language::Python, Evaluation::RowWise, &options);
}

#[test]
fn a_new_unit_in_python_passes_its_scenarios_without_a_network() {
    let Some(python) = python::builder() else {
        return;
    };
    let words = ["--lang", "python", "--kind", "filter"];
    begun::is_tested_offline(&words, &[("PLACEWRIGHT_PYTHON", python)]);
}

#[test]
fn a_unit_in_python_that_does_not_end_is_stopped_and_not_told_of_names() {
    let Some(unit) = python::unit(guest::engine(), MISBEHAVING) else {
        return;
    };
    let call = Call {
        rows: vec![1, 1],
        integers: vec![GIB, 0],
        texts: vec!["hangs".into()],
        ..Call::default()
    };
    let mut instance = unit.instantiate(Part::Judge).unwrap();
    let verdicts = Answers {
        verdicts: true,
        costs: false,
    };
    let fault = instance.judge(verdicts, &call, 1, Duration::from_secs(1));
    let fault = fault.unwrap_err();
    assert!(matches!(*fault.cause, Cause::Time(_)), "{fault}");
    // Its functions are the interpreter's, and no option would name the author's.
    let said = fault.to_string();
    assert!(
        !said.contains("--names") && !said.contains("(in "),
        "{said}"
    );
}

#[test]
fn what_builds_units_in_python_and_is_missing_is_told_before_they_are_built() {
    let Some(python) = python::interpreter() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("made");
    begun::begin(Language::Python, Evaluation::RowWise, &project);
    // An environment without packages.
    let bare = folder.path().join("bare");
    let mut make = Command::new(python);
    make.args(["-m", "venv", "--without-pip"]).arg(&bare);
    if !make.status().is_ok_and(|it| it.success()) {
        eprintln!("what is said where componentize-py is missing is not tried: there is no venv");
        return;
    }
    let options = build::Options {
        python: Some(bare.join("bin/python")),
        ..build::Options::default()
    };
    match build::is_ready(&project, &options) {
        Err(BuildError::Python(said)) => {
            assert!(said.contains("is not installed"), "{said}");
            assert!(said.contains("pip install componentize-py=="), "{said}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_goes_wrong_in_python_is_told_and_never_looks_like_an_answer() {
    let Some(unit) = python::unit(guest::engine(), MISBEHAVING) else {
        return;
    };
    let verdicts = Answers {
        verdicts: true,
        costs: false,
    };
    let cause = |how: &str| {
        let call = Call {
            rows: vec![1, 1],
            integers: vec![GIB, 0],
            texts: vec![how.into()],
            ..Call::default()
        };
        let mut instance = unit.instantiate(Part::Judge).unwrap();
        let answer = instance.judge(verdicts, &call, 1, Duration::from_secs(300));
        answer.map_err(|fault| *fault.cause)
    };
    assert_eq!(cause("well").unwrap().verdicts, [0]);
    assert_eq!(cause("prints").unwrap().verdicts, [0]);
    assert_eq!(
        cause("refuses"),
        Err(Cause::Refused("is not in the mood".to_owned()))
    );
    assert_eq!(
        cause("fails"),
        Err(Cause::Failed("cannot go on".to_owned()))
    );
    for (how, told) in [
        ("raises", "ZeroDivisionError"),
        ("raises", "in divide: return one / other"),
        ("raises", "in keep: return divide(host.total, 0) > 1"),
        ("forgets to answer", "keep returned None"),
        ("asks the clock", "a unit has no clock"),
        ("draws", "a unit has no chance"),
        ("reads a file", "a unit has no files"),
        ("exits", "SystemExit"),
        ("recurses", "RecursionError"),
        ("takes memory", "MemoryError"),
    ] {
        match cause(how) {
            Err(Cause::Failed(sentence)) => assert!(sentence.contains(told), "{how}: {sentence}"),
            other => panic!("{how}: {other:?}"),
        }
    }
}
