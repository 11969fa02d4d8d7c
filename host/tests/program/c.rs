//! Units in C: like any other. Where no compiler for WebAssembly is there, the claims about
//! components are not tried.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use placewright_build::BuildError;
use placewright_build::{self as build, Options};
use placewright_engine::unit::Unit;
use placewright_library::probe;
use placewright_tests::{c, guest, repository, units};
use sha2::{Digest, Sha256};

use crate::{scenarios, twins};

/// The unit of a project, which its command builds in that folder.
fn unit(folder: &Path) -> Arc<Unit> {
    let built = build::build(folder, &Options::default()).unwrap();
    guest::load(guest::engine(), &built.bytes, &built.name)
}

/// A copy of a project of `sdk/c`, with the paths of its commands made absolute.
fn copied(project: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(c::sdk().join(project)).unwrap() {
        let file = entry.unwrap().path();
        if !file.is_file() {
            continue;
        }
        let text = fs::read(&file).unwrap();
        let name = file.file_name().unwrap();
        fs::write(folder.path().join(name), text).unwrap();
    }
    let manifest = folder.path().join("unit.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let sdk = c::sdk().display().to_string();
    fs::write(&manifest, text.replace("../..", &sdk)).unwrap();
    folder
}

#[test]
fn a_unit_in_c_answers_and_decides_as_its_twin_in_rust() {
    if !c::has_compiler() {
        return;
    }
    let twin = unit(copied("examples/cpu-in-c").path());
    let report = probe::probe(&twin, 0);
    assert!(report.passed(), "{report:?}");
    twins::answer_alike(&units::unit("cpu"), &twin);
    scenarios::of_cpu_come_out(&twin);
    twins::decide_alike(units::unit("cpu"), twin);
}

/// The block of the page in that language.
fn block(page: &str, language: &str) -> String {
    let begin = format!("```{language}\n");
    let (_, rest) = page.split_once(&begin).unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_unit_on_the_page_about_c_is_built_and_keeps_to_what_it_says() {
    if !c::has_compiler() {
        return;
    }
    let page = fs::read_to_string(c::sdk().join("README.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let root = repository().display().to_string();
    let manifest = block(&page, "toml").replace("PLACEWRIGHT", &root);
    fs::write(folder.path().join("unit.toml"), manifest).unwrap();
    fs::write(folder.path().join("free-memory.c"), block(&page, "c")).unwrap();
    let made = unit(folder.path());
    assert_eq!(made.name(), "free-memory");
    let report = probe::probe(&made, 0);
    assert!(report.passed(), "{report:?}");
}

#[test]
fn a_unit_in_c_that_prints_is_refused_with_what_it_imports() {
    if !c::has_compiler() {
        return;
    }
    let folder = copied("examples/cpu-in-c");
    let source = folder.path().join("cpu.c");
    let text = fs::read_to_string(&source).unwrap();
    let reads = "pw_reader reader = pw_read(call);";
    let prints = text.replace(reads, &format!("puts(\"asked\");\n  {reads}"));
    fs::write(&source, format!("#include <stdio.h>\n{prints}")).unwrap();
    let said = build::build(folder.path(), &Options::default());
    let said = said.map(|_| ()).unwrap_err();
    assert!(matches!(said, BuildError::Imports { .. }), "{said}");
    assert!(said.to_string().contains("fd_write"), "{said}");
}

#[test]
fn the_bindings_for_c_are_those_of_the_contract() {
    let contract = fs::read(repository().join("wit/policy.wit")).unwrap();
    let known = fs::read_to_string(c::sdk().join("generated/contract.sha256")).unwrap();
    assert_eq!(
        known.split_whitespace().next(),
        Some(hex::encode(Sha256::digest(&contract)).as_str()),
        "the contract has changed: make the bindings again, as sdk/c/README.md says"
    );
}
