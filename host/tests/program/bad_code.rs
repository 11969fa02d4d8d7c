//! Units that are hard to compile: another process does it, and is ended at its limits.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use placewright_engine::unit::{LoadError, Unit};
use placewright_engine::{CompileError, CompilerProgram, Engine, Limits};
use placewright_tests::component::{branching, computed_elements};
use placewright_tests::server::program;
use placewright_tests::units::component;

/// Few enough locals and branches to be tried, and some hundred megabytes for the compiler.
fn hard() -> Vec<u8> {
    branching(1500, 10_000)
}

/// More than the process takes for a unit of ordinary size, and far less than that.
const LITTLE: usize = 160 << 20;

fn this_program() -> CompilerProgram {
    CompilerProgram {
        program: program(),
        arguments: vec!["compile-unit".into()],
    }
}

fn shell(script: &str) -> CompilerProgram {
    CompilerProgram {
        program: "sh".into(),
        arguments: vec!["-c".into(), script.into()],
    }
}

fn limits(compile_memory: usize) -> Limits {
    Limits {
        compile_memory,
        instances: 10,
        ..Limits::default()
    }
}

fn engine(limits: Limits, code: &Path, compiler: CompilerProgram) -> Engine {
    Engine::beside_decisions(limits, Some(code), Some(compiler)).unwrap()
}

/// Why the bytes are not compiled.
fn uncompiled(engine: &Engine, bytes: &[u8]) -> CompileError {
    match Unit::load(engine, bytes, "given.wasm").unwrap_err().error {
        LoadError::Compile(error) => error,
        other => panic!("{other}"),
    }
}

#[test]
fn another_process_compiles_and_its_code_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = component("misbehaving");
    let by_another = engine(Limits::default(), folder.path(), this_program());
    let unit = Unit::load(&by_another, &bytes, "given.wasm").unwrap();
    assert_eq!(unit.name(), "misbehaving");
    let without = engine(Limits::default(), folder.path(), shell("exit 1"));
    Unit::load(&without, &bytes, "given.wasm").unwrap();
}

#[test]
fn what_takes_too_much_memory_is_not_tried_again_before_the_limit_is_raised() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = hard();
    let first = engine(limits(LITTLE), folder.path(), this_program());
    let error = uncompiled(&first, &bytes);
    assert!(
        matches!(error, CompileError::TooMuchMemory(LITTLE)),
        "{error}"
    );
    assert!(error.to_string().contains("unit-compile-memory"), "{error}");
    // Another unit is compiled within the same limit.
    Unit::load(&first, &component("misbehaving"), "good.wasm").unwrap();
    // As after a restart: what is started now would fail in another way.
    let later = engine(limits(LITTLE), folder.path(), shell("exit 7"));
    let error = uncompiled(&later, &bytes);
    assert!(matches!(error, CompileError::NotAgain(_)), "{error}");
    assert!(error.to_string().contains("not tried again"), "{error}");
    let raised = engine(limits(2 * LITTLE), folder.path(), shell("exit 7"));
    let error = uncompiled(&raised, &bytes);
    assert!(matches!(error, CompileError::Broken(_)), "{error}");
}

#[test]
fn a_compiler_that_takes_too_long_is_killed_and_tried_three_times() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        compile_time: Duration::from_secs(2),
        ..limits(1 << 30)
    };
    let began = folder.path().join("began");
    let script = format!("echo $$ >> '{}'; exec sleep 3600", began.display());
    let engine = engine(limits, folder.path(), shell(&script));
    for _ in 0..3 {
        let error = uncompiled(&engine, &hard());
        assert!(matches!(error, CompileError::TooSlow(_)), "{error}");
    }
    let error = uncompiled(&engine, &hard());
    assert!(matches!(error, CompileError::NotAgain(_)), "{error}");
    let began = std::fs::read_to_string(began).unwrap();
    for process in began.lines() {
        let alive = Command::new("kill").args(["-0", process]).output().unwrap();
        assert!(!alive.status.success(), "{process} goes on");
    }
}

#[test]
fn an_answer_that_is_not_whole_is_not_taken_for_code() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = component("misbehaving");
    for script in [
        "printf pwdone01",
        "echo nonsense",
        "exit 0",
        "kill -ABRT $$",
    ] {
        let engine = engine(limits(1 << 30), &folder.path().join(script), shell(script));
        for _ in 0..3 {
            let error = uncompiled(&engine, &bytes);
            assert!(
                matches!(error, CompileError::Broken(_)),
                "{script}: {error}"
            );
        }
        let error = uncompiled(&engine, &bytes);
        assert!(
            matches!(error, CompileError::NotAgain(_)),
            "{script}: {error}"
        );
    }
}

#[test]
fn a_program_that_is_not_there_is_told_and_may_be_there_later() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = CompilerProgram {
        program: folder.path().join("nowhere"),
        arguments: Vec::new(),
    };
    let bytes = component("misbehaving");
    let error = uncompiled(&engine(limits(1 << 30), folder.path(), nowhere), &bytes);
    assert!(matches!(error, CompileError::Compiler(_)), "{error}");
    assert!(error.to_string().contains("cannot be started"), "{error}");
    let there = engine(limits(1 << 30), folder.path(), this_program());
    Unit::load(&there, &bytes, "given.wasm").unwrap();
}

#[test]
fn what_would_take_gigabytes_is_refused_without_compiling() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(limits(1 << 30), folder.path(), shell("exit 7"));
    for bytes in [branching(10_000, 10_000), computed_elements(60_000)] {
        let error = Unit::load(&engine, &bytes, "given.wasm").unwrap_err();
        assert!(matches!(error.error, LoadError::TooMuchWork(_)), "{error}");
    }
}
