//! Scenarios of units, in whatever language the units are written.

use std::path::Path;
use std::sync::Arc;

use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_tests::{repository, units};
use placewright_tools::scenario::{Scenarios, Test, files};

/// Every case in the files of that folder comes out as it says for this unit alone.
pub(crate) fn come_out(unit: &Arc<Unit>, folder: &Path) {
    let generation = Generation::new([unit.clone()]).unwrap();
    let (mut cases, mut problems) = (0, Vec::new());
    for file in files(folder).unwrap() {
        let scenarios = Scenarios::open(&file).unwrap_or_else(|error| panic!("{error}"));
        let tests = Test::new(&scenarios, unit, &generation);
        for test in tests.unwrap_or_else(|problems| panic!("{problems}")) {
            let tested = test.run();
            cases += 1;
            if !tested.passed() {
                problems.push(format!("{}: {:?}", tested.case.name, tested.differences));
            }
        }
    }
    assert!(cases > 0, "{} holds no cases", folder.display());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Those of the unit `cpu` come out for this unit, which is that one or its twin.
pub(crate) fn of_cpu_come_out(unit: &Arc<Unit>) {
    come_out(unit, &repository().join("plugins/reference/cpu/scenarios"));
}

#[test]
fn the_unit_cpu_passes_its_scenarios() {
    of_cpu_come_out(&units::unit("cpu"));
}
