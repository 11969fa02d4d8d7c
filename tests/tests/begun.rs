//! Units as `placewright unit new` begins them, in languages other than Rust: what is made is
//! built and checked as it is.

use std::path::Path;

use placewright::library::probe;
use placewright::unit::build;
use placewright::unit::project::{self, Evaluation, Kind, Language, Project};
use placewright_tests::guest;

/// Begin a unit that is a filter and a cost function, in a folder that is not there yet.
pub fn begin(language: Language, evaluation: Evaluation, folder: &Path) {
    let project = Project {
        name: "quiet-racks".to_owned(),
        language,
        kinds: [Kind::Filter, Kind::Cost].into(),
        evaluation,
        description: None,
    };
    project::create(&project, folder).unwrap();
}

/// A new unit can be built on this machine, and keeps to what it says under the default limits.
pub fn is_sound(language: Language, evaluation: Evaluation, options: &build::Options) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("made");
    begin(language, evaluation, &folder);
    build::is_ready(&folder, options).unwrap();
    let built = build::build(&folder, options).unwrap();
    assert_eq!(built.name, "quiet-racks");
    let unit = guest::load(guest::engine_by_fuel(), &built.bytes, &built.name);
    let report = probe::probe(&unit, 0);
    assert!(report.passed(), "{report:?}");
}
