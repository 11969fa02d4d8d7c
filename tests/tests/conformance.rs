//! The runner for test vectors, as it is called: all vectors of the project pass,
//! and a vector that is wrong is told with file, case and field.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use placewright_tests::repository;

fn conformance(folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_conformance"))
        .arg(folder)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn all_vectors_of_the_project_pass() {
    let output = conformance(&repository().join("tests/vectors"));
    let told = text(&output.stdout);
    assert!(output.status.success(), "{told}\n{}", text(&output.stderr));
    for system in ["aeolus", "flexiant", "ovirt", "pacemaker", "tricircle"] {
        let line = told.lines().find(|line| line.starts_with(system));
        assert!(line.is_some_and(|line| line.contains(" passed, 0 failed")));
    }
}

#[test]
fn a_vector_that_is_wrong_fails_and_is_named() {
    let source = repository().join("tests/vectors/flexiant/thresholds.jsonl");
    let vectors = fs::read_to_string(source).unwrap();
    let case = vectors.lines().next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("broken.jsonl");
    for (broken, sentence) in [
        (
            case.replacen("\"msav_steps\":", "\"msav_stages\":", 1),
            "msav_st",
        ),
        (
            case.replacen("\"thresholds\":[", "\"thresholds\":[123456789,", 1),
            "123456789",
        ),
    ] {
        fs::write(&file, &broken).unwrap();
        let output = conformance(folder.path());
        let told = text(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains("broken.jsonl"), "{told}");
        assert!(told.contains(sentence), "{told}");
    }
}

#[test]
fn a_folder_without_vectors_is_told_apart_from_failures() {
    let folder = tempfile::tempdir().unwrap();
    let output = conformance(folder.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("no vectors in"));
}
