//! The units of the cookbook: each is built, keeps to what it says, and has a chapter.

use std::collections::BTreeSet;
use std::fs;
use std::sync::OnceLock;

use placewright_engine::unit::Unit;
use placewright_engine::{Engine, Limits};
use placewright_library::probe;
use placewright_tests::{repository, units};

use super::page::Page;

/// The names of the units, which are those of their folders.
pub(super) fn names() -> BTreeSet<String> {
    let folder = fs::read_dir(repository().join("book/cookbook")).unwrap();
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    folder.map(|entry| name(entry.unwrap())).collect()
}

/// All of them as files in one folder.
pub(super) fn built() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in names() {
        let file = folder.path().join(format!("{name}.wasm"));
        fs::write(file, units::component(&name)).unwrap();
    }
    folder
}

/// Limited by fuel: other tests run beside these.
pub(super) fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::new(Limits::reproducible(), None).unwrap())
}

#[test]
fn every_unit_of_the_cookbook_keeps_to_what_it_says() {
    assert_eq!(names().len(), 10);
    for name in names() {
        let file = format!("{name}.wasm");
        let unit = Unit::load(engine(), &units::component(&name), &file).unwrap();
        let report = probe::probe(&unit, 0);
        assert!(report.passed(), "{name}: {report:?}");
    }
}

#[test]
fn every_unit_of_the_cookbook_has_a_chapter_with_its_source_and_its_scenarios() {
    let pages = Page::all();
    for name in names() {
        let chapter = format!("cookbook/{name}.md");
        let page = pages.iter().find(|page| page.name() == chapter);
        let page = page.unwrap_or_else(|| panic!("{chapter} is missing"));
        let shown: Vec<&str> = page
            .blocks
            .iter()
            .filter_map(|it| it.value("source"))
            .collect();
        let folder = format!("book/cookbook/{name}");
        let scenarios = fs::read_dir(repository().join(&folder).join("scenarios")).unwrap();
        let scenarios = scenarios.map(|file| {
            let file = file.unwrap().file_name();
            format!("{folder}/scenarios/{}", file.to_string_lossy())
        });
        for file in scenarios.chain([format!("{folder}/src/lib.rs")]) {
            assert!(
                shown.contains(&file.as_str()),
                "{chapter} does not show {file}"
            );
        }
    }
}
