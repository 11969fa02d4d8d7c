//! Units as `placewright unit new` begins them, in languages other than Rust: what is made is
//! built and checked as it is.

use std::path::Path;
use std::process::{Command, Stdio};

use placewright_build as build;
use placewright_build::project::{self, Evaluation, Kind, Language, Project};
use placewright_library::probe;
use placewright_tests::server::placewright;
use placewright_tests::{guest, units};

use crate::scenarios;

/// Begin a unit that is a filter and a cost function, in a folder that is not there yet.
pub(crate) fn begin(language: Language, evaluation: Evaluation, folder: &Path) {
    let project = Project {
        name: "quiet-racks".to_owned(),
        language,
        kinds: [Kind::Filter, Kind::Cost].into(),
        evaluation,
        description: None,
    };
    project::create(&project, folder).unwrap();
}

/// A new unit can be built on this machine, keeps to what it says under the default limits, and
/// passes the scenarios that it was begun with.
pub(crate) fn is_sound(language: Language, evaluation: Evaluation, options: &build::Options) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("made");
    begin(language, evaluation, &folder);
    build::is_ready(&folder, options).unwrap();
    let built = build::build(&folder, options).unwrap();
    assert_eq!(built.name, "quiet-racks");
    let unit = guest::load(guest::engine_by_fuel(), &built.bytes, &built.name);
    let report = probe::probe(&unit, 0);
    assert!(report.passed(), "{report:?}");
    scenarios::come_out(&unit, &folder.join("scenarios"));
}

/// What an author does first works, without a network: begin a unit with these words, and test
/// it. `tools` are the variables that say where what builds it is.
pub(crate) fn is_tested_offline(words: &[&str], tools: &[(&str, &Path)]) {
    let folder = tempfile::tempdir().unwrap();
    let run = |command: &mut Command| {
        let command = command.current_dir(folder.path()).stdin(Stdio::null());
        // Whoever looks for a network finds none.
        for proxy in ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"] {
            command.env(proxy, "http://127.0.0.1:9");
        }
        for (variable, path) in tools {
            command.env(variable, path);
        }
        command.env("PLACEWRIGHT_CACHE", units::build_folder().join("code"));
        let done = command.output().unwrap();
        let [out, err] = [&done.stdout, &done.stderr].map(|it| String::from_utf8_lossy(it));
        assert!(done.status.success(), "{words:?}: {out}{err}");
        out.into_owned()
    };
    let begin = ["unit", "new", "quiet-racks"].iter().chain(words);
    let said = run(&mut placewright(begin));
    assert!(!said.contains("cannot be built"), "{said}");
    let said = run(&mut placewright(["unit", "test", "quiet-racks"]));
    assert!(said.contains(" passed, 0 failed"), "{said}");
    assert!(!said.contains("0 cases"), "{said}");
}
