//! The scenarios of the cookbook's units come out as they say.

use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_tests::{repository, units};
use placewright_tools::scenario::{Scenarios, Test, files};

use super::cookbook::{engine, names};

#[test]
fn every_scenario_of_the_cookbook_comes_out_as_it_says() {
    let load = |name: &str| {
        let file = format!("{name}.wasm");
        Unit::load(engine(), &units::component(name), &file).unwrap()
    };
    let mut problems = Vec::new();
    let mut cases = 0;
    for name in names() {
        let unit = load(&name);
        let folder = repository().join("book/cookbook").join(&name);
        for file in files(&folder.join("scenarios")).unwrap() {
            let scenarios = Scenarios::open(&file).unwrap_or_else(|error| panic!("{error}"));
            // The only unit that a policy of theirs names beside their own.
            let beside = scenarios.name_policies().then(|| load("gpu-fit"));
            let generation = Generation::new([unit.clone()].into_iter().chain(beside)).unwrap();
            let tests = Test::new(&scenarios, &unit, &generation);
            for test in tests.unwrap_or_else(|problems| panic!("{problems}")) {
                let tested = test.run();
                cases += 1;
                if !tested.passed() {
                    let case = &tested.case.name;
                    problems.push(format!("{name}, {case}: {:?}", tested.differences));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(cases > 40, "{cases}");
}
