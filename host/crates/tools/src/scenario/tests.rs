use std::sync::LazyLock;

use super::*;
use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_engine::{Engine, Limits};
use placewright_plugins as plugins;

const CLUSTER: &str = r#"
[cluster]
now = 100
hosts = [
    { id = "h1", memory = { total = "16 GiB", free = "8 GiB" } },
    { id = "h2", memory.total = "16 GiB", "memory.free" = "12 GiB", vms = [{ id = "old", memory = "1 GiB" }] },
]
"#;

static MEMORY: LazyLock<Arc<Unit>> = LazyLock::new(|| {
    let engine = Engine::new(Limits::reproducible(), None).unwrap();
    embedded(&engine, "memory")
});

static EVEN: LazyLock<Arc<Unit>> = LazyLock::new(|| embedded(MEMORY.engine(), "even-distribution"));

fn embedded(engine: &Engine, name: &str) -> Arc<Unit> {
    let unit = plugins::UNITS
        .iter()
        .find(|unit| unit.name == name)
        .unwrap();
    Unit::load(engine, unit.bytes, name).unwrap()
}

/// The scenarios of a file with the cluster above.
fn read(cases: &str) -> Result<Scenarios, OpenError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.toml");
    std::fs::write(&path, format!("{cases}\n")).unwrap();
    Scenarios::open(&path)
}

/// A file with the cluster above and one case.
fn case(case: &str) -> String {
    format!("{CLUSTER}[[cases]]\nname = 'c'\n{case}")
}

/// What is wrong with one case, without the file's path and the case's name.
fn wrong(text: &str) -> Vec<String> {
    let problems = match read(&case(text)) {
        Ok(scenarios) => {
            let generation = Generation::new([MEMORY.clone()]).unwrap();
            Test::new(&scenarios, &MEMORY, &generation).unwrap_err()
        }
        Err(OpenError::Problems(problems)) => problems,
        Err(error) => panic!("{error}"),
    };
    let problems = problems.iter();
    problems
        .map(|problem| {
            let suggestion = problem.suggestion.as_ref();
            let suggestion = suggestion.map_or(String::new(), |it| format!(" ({it}?)"));
            // Lines from that of the case's first key.
            let line = i64::from(problem.place.line) - 10;
            let message = problem.message.strip_prefix("case \"c\": ");
            format!(
                "{line}: {}{suggestion}",
                message.unwrap_or(&problem.message)
            )
        })
        .collect()
}

/// What differs in the only case of a file, and what came out.
fn tested(text: &str) -> (Vec<Difference>, Outcome) {
    let scenarios = read(&case(text)).unwrap();
    let generation = Generation::new([MEMORY.clone()]).unwrap();
    let mut tests = Test::new(&scenarios, &MEMORY, &generation).unwrap();
    let tested = tests.remove(0).run();
    (tested.differences, tested.outcome)
}

/// The differences, a line each.
fn differences(text: &str) -> Vec<String> {
    let differences = tested(text).0.into_iter();
    differences
        .map(|it| {
            let host = it.host.map_or(String::new(), |host| format!("{host} "));
            format!("{host}{}: {} / {}", it.what, it.expected, it.got)
        })
        .collect()
}

const NEW: &str = "vm = { id = 'new', memory = '4 GiB' }";

#[test]
fn what_is_expected_and_comes_out_is_no_difference() {
    let text = format!(
        "{NEW}\nexpect.chosen = 'h1'\nexpect.hosts.h1.keep = true\n\
         expect.hosts.h2 = {{ keep = true, reason = 'none' }}"
    );
    // A reason of a host that is kept is none, which no unit says.
    assert_eq!(differences(&text), [""; 0]);
}

#[test]
fn every_difference_is_told_with_its_host() {
    let text = format!(
        "{NEW}\nhosts.h1 = {{ 'memory.free' = '1 GiB' }}\n[cases.expect]\nchosen = 'h1'\n\
         hosts.h1 = {{ keep = true, cost = 3 }}\nhosts.h2 = {{ keep = false, by = 'memory', cost = 1e9 }}"
    );
    let differences = differences(&text);
    assert_eq!(
        differences[..4],
        [
            "chosen: h1 / h2",
            "h1 keep: true / false",
            "h1 cost: 3 / none",
            "h2 keep: false / true",
        ]
    );
    assert_eq!(differences[4], "h2 by: memory / none");
    assert!(differences[5].starts_with("h2 cost: 1000000000 / "));
    assert_eq!(differences.len(), 6);
}

#[test]
fn costs_may_differ_by_rounding_and_no_more() {
    let (_, outcome) = tested(NEW);
    let cost = outcome.hosts["h1"].cost.unwrap();
    assert_ne!(cost, 0.0);
    let expected = |cost: f64| format!("{NEW}\nexpect.hosts.h1.cost = {cost:?}");
    assert_eq!(differences(&expected(cost * (1.0 + 1e-12))), [""; 0]);
    assert_eq!(differences(&expected(cost * (1.0 + 1e-6))).len(), 1);
}

#[test]
fn changes_of_a_case_are_those_of_hosts_and_of_vms_wherever_they_stand() {
    let no_room = "expect.hosts.h2 = { reason = 'has too little free memory' }";
    for change in [
        "hosts.h2 = { memory.free = '1 GiB' }",
        "hosts.h2.'memory.free' = '1 GiB'",
        "settings = { headroom = '10 GiB' }",
    ] {
        assert_eq!(differences(&format!("{NEW}\n{change}\n{no_room}")), [""; 0]);
    }
    let text = format!(
        "{NEW}\nplaced.old = {{ memory = '15 GiB' }}\n\
         expect.hosts.h2 = {{ reason = 'has too little memory left to promise' }}"
    );
    assert_eq!(differences(&text), [""; 0]);
    let unmeasured = "hosts.h2 = { without = ['memory.free'] }\nsettings.require-measured = true";
    let text =
        format!("{NEW}\n{unmeasured}\nexpect.hosts.h2.reason = 'has no measured free memory'");
    assert_eq!(differences(&text), [""; 0]);
}

#[test]
fn the_vms_of_a_case_can_be_several_or_one_of_the_cluster() {
    let together = "vms = [{ id = 'a', memory = '5 GiB' }, { id = 'b', memory = '5 GiB' }]";
    let text = format!("{together}\nexpect.chosen = 'h2'\nexpect.hosts.h1.keep = false");
    assert_eq!(differences(&text), [""; 0]);
    assert_eq!(
        differences("vm = 'old'\nexpect.hosts.h2.keep = true"),
        [""; 0]
    );
    let request = "request = { allowed = ['h1'], vms = [{ id = 'a', memory = '1 GiB' }] }";
    let text = format!("{request}\nexpect.chosen = 'h1'\nexpect.hosts.h2.keep = false");
    assert_eq!(differences(&text), [""; 0]);
}

#[test]
fn an_error_that_is_not_expected_is_a_difference_and_one_that_is_none() {
    let failing = "settings = { overhead-share = 1.5 }";
    assert_eq!(
        wrong(&format!("{NEW}\n{failing}")),
        ["1: \"overhead-share\" of unit \"memory\" must be from 0 to 1, not 1.5"]
    );
    let excluded = "request = { vms = [{ id = 'old', memory = 1 }, { id = 'old', memory = 1 }] }";
    assert!(
        wrong(excluded)[0].contains("second VM"),
        "{:?}",
        wrong(excluded)
    );
    let expected = format!("{NEW}\nexpect.error = 'too much'");
    assert_eq!(
        differences(&expected),
        ["error: one that contains \"too much\" / none"]
    );
}

#[test]
fn a_policy_can_name_the_unit_beside_others_and_the_settings_are_its_own() {
    let engine = MEMORY.engine();
    let generation = Generation::new([MEMORY.clone(), embedded(engine, "cpu")]).unwrap();
    let text = format!(
        "{NEW}\nsettings.headroom = '2 GiB'\n\
         policy = {{ filters = [{{ unit = 'memory', name = 'room', settings = {{ headroom = '7 GiB' }} }}], \
         costs = [{{ unit = 'cpu' }}, {{ unit = 'memory', factor = 2 }}] }}\n\
         expect.hosts.h1.keep = true"
    );
    let scenarios = read(&case(&text)).unwrap();
    assert!(scenarios.name_policies());
    let tests = Test::new(&scenarios, &MEMORY, &generation).unwrap();
    let tested = tests.into_iter().map(Test::run).next().unwrap();
    assert_eq!(tested.differences, []);
    let h1 = &tested.outcome.hosts["h1"];
    assert_eq!(h1.cost, h1.costs.get("memory").copied());
    assert_eq!(h1.costs.len(), 2);
    assert_eq!(h1.sum, [h1.costs["cpu"] + 2.0 * h1.costs["memory"]]);
}

#[test]
fn everything_wrong_with_a_case_is_told_with_its_line() {
    let text = "vm = { id = 'new', memry = 1, memory = '4 parsecs' }\nhost.h1 = {}\n\
                hosts.h3 = {}\nplaced.odl = {}\ndraw = 1\n\
                [cases.expect]\nchosen = 'h9'\nhosts.h1 = { keep = 'yes', rason = '' }\nhosts.hh1 = {}";
    let wrong = wrong(text);
    for part in [
        "0: a VM has no \"memry\" (memory?)",
        "1: a case has no key \"host\" (hosts?)",
        "2: there is no host \"h3\" in the cluster (h1?)",
        "3: there is no VM \"odl\" in the cluster (old?)",
        "4: \"draw\" must be 0 or more and less than 1",
        "6: there is no host \"h9\" in the cluster (h1?)",
        "7: \"keep\" must be true or false, not a text",
        "7: what is expected of a host has no key \"rason\" (reason?)",
        "8: there is no host \"hh1\" in the cluster (h1?)",
    ] {
        assert!(wrong.iter().any(|it| it == part), "{part} in {wrong:#?}");
    }
    assert!(
        wrong
            .iter()
            .any(|it| it.contains("must be an amount of memory"))
    );
    assert_eq!(wrong.len(), 10, "{wrong:#?}");
}

#[test]
fn what_does_not_fit_the_unit_is_told_where_it_stands() {
    assert_eq!(
        wrong(&format!("{NEW}\nsettings = {{ headrom = 1 }}")),
        ["1: unit \"memory\" has no setting \"headrom\" (headroom?)"]
    );
    assert_eq!(
        wrong(&format!("{NEW}\npolicy = {{ filters = [] }}")),
        ["-2: the policy does not name the unit \"memory\""]
    );
}

#[test]
fn a_case_asks_for_one_thing() {
    assert_eq!(
        wrong(""),
        ["-2: a case needs \"vm\", \"vms\" or \"request\": what is to be placed"]
    );
    let two = format!("{NEW}\nvms = []");
    assert_eq!(
        wrong(&two),
        ["-2: a case has one of \"vm\", \"vms\" and \"request\""]
    );
    assert_eq!(
        wrong("vm = 'odl'"),
        ["0: there is no VM \"odl\" in the cluster (old?)"]
    );
    let missing = wrong("vm = 'odl.toml'");
    assert!(missing[0].contains("cannot read"), "{missing:?}");
}

#[test]
fn what_is_wrong_with_the_cluster_is_told_once() {
    let text = "cluster = { hosts = [{ id = 'h', stat = 'up' }] }\n\
                [[cases]]\nname = 'a'\nvm.id = 'v'\n[[cases]]\nname = 'a'\nvm.id = 'v'";
    let Err(OpenError::Problems(problems)) = read(text) else {
        panic!("there is a problem");
    };
    assert_eq!(problems.iter().count(), 1, "{problems}");
}

#[test]
fn cases_have_names_of_their_own() {
    let twice = "[[cases]]\nname = 'a'\nvm.id = 'v'\n";
    let Err(OpenError::Problems(problems)) = read(&format!("{CLUSTER}{twice}{twice}")) else {
        panic!("there is a problem");
    };
    assert!(problems.to_string().contains("second case"), "{problems}");
    assert!(read(CLUSTER).is_err());
}

#[test]
fn the_time_of_a_case_is_its_own_or_that_of_the_cluster() {
    for (now, time) in [("", 100), ("now = 7\n", 7)] {
        let scenarios = read(&case(&format!("{now}{NEW}"))).unwrap();
        assert_eq!(scenarios.cases[0].request.as_ref().unwrap().now, time);
    }
}

#[test]
fn the_example_passes_and_is_the_same_each_time() {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scenario.toml");
    let scenarios = Scenarios::open(&path).unwrap();
    let generation = Generation::new([MEMORY.clone()]).unwrap();
    let run = || {
        let tests = Test::new(&scenarios, &MEMORY, &generation).unwrap();
        tests.into_iter().map(Test::run).collect::<Vec<_>>()
    };
    for (one, other) in run().iter().zip(run()) {
        assert_eq!(one.differences, [], "{}", one.case.name);
        assert!(one.passed());
        assert_eq!(one.outcome, other.outcome);
    }
}

#[test]
fn a_folder_has_scenario_files_beside_other_documents() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("b.toml", "cases = []"),
        ("a.json", "{\"cases\": []}"),
        ("cluster.toml", "hosts = []"),
        ("broken.toml", "cases ="),
        ("notes.md", "cases"),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let files = files(folder.path()).unwrap();
    let names = files
        .iter()
        .map(|file| file.file_name().unwrap().to_str().unwrap());
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["a.json", "b.toml", "broken.toml"]
    );
}

/// The text of a file with the cluster above and this case, after its update.
fn updated(text: &str) -> String {
    let text = case(text);
    let scenarios = read(&text).unwrap();
    let generation = Generation::new([MEMORY.clone()]).unwrap();
    let tests = Test::new(&scenarios, &MEMORY, &generation).unwrap();
    let tested: Vec<Tested<'_>> = tests.into_iter().map(Test::run).collect();
    let updated = scenarios.updated(&text, &tested).unwrap();
    updated.strip_prefix(CLUSTER).unwrap().to_owned()
}

#[test]
fn an_update_changes_what_differs_and_keeps_all_else() {
    let text = "vm = { id = 'new', memory = '4 GiB' } # small\n\n[cases.expect] # what comes out\n\
                error = 'none of it'\nchosen = 'h2' # the first\n\
                hosts.h1 = { keep = false, reason = 'is not liked' } # one line\n\n\
                [cases.expect.hosts.h2]\n# No cost is said.\nkeep = true\n";
    let expected = "[[cases]]\nname = 'c'\nvm = { id = 'new', memory = '4 GiB' } # small\n\n\
                [cases.expect] # what comes out\nchosen = \"h1\" # the first\n\
                hosts.h1 = { keep = true } # one line\n\n\
                [cases.expect.hosts.h2]\n# No cost is said.\nkeep = true\n";
    assert_eq!(updated(text), expected);
    let again = expected.split_once("'c'\n").unwrap().1;
    assert_eq!(updated(again), expected);
}

#[test]
fn a_case_that_expects_nothing_is_given_the_choice_and_what_became_of_hosts() {
    let text = updated("vm = { id = 'new', memory = '10 GiB' }\n");
    let given = text.split_once("[cases.expect]\n").unwrap().1;
    assert!(
        given.starts_with(
            "chosen = \"h2\"\n\
             hosts.h1 = { keep = false, reason = \"has too little free memory\" }\n\
             hosts.h2 = { keep = true, cost = "
        ),
        "{text}"
    );
    let case = text.split_once("'c'\n").unwrap().1;
    assert_eq!(differences(case), [""; 0]);
}

/// A file in which a host has had too high a load for long, and one case.
fn crowded(case: &str) -> String {
    let cluster = r#"
[cluster]
now = 1000
hosts = [
    { id = "full", cpu = { cores = 10, usage = 0.95 }, memory.total = "64 GiB", watch.cpu-over.since = 0, vms = [{ id = "one", cpu = "2 cores", memory = "1 GiB", "cpu.usage" = 0.5 }] },
    { id = "idle", cpu = { cores = 10, usage = 0.05 }, memory.total = "64 GiB" },
]
"#;
    format!("{cluster}[[cases]]\nname = 'c'\n{case}")
}

/// What differs in a case about the unit `even-distribution`, a line each, and the file after
/// its update.
fn balanced(case: &str) -> (Vec<String>, String) {
    let (unit, text) = (&EVEN, crowded(case));
    let scenarios = read(&text).unwrap();
    let generation = Generation::new([Arc::clone(unit)]).unwrap();
    let tests = Test::new(&scenarios, unit, &generation).unwrap();
    let tested: Vec<Tested<'_>> = tests.into_iter().map(Test::run).collect();
    let differences = tested.iter().flat_map(|it| &it.differences);
    let differences = differences.map(|it| format!("{}: {} / {}", it.what, it.expected, it.got));
    let updated = scenarios.updated(&text, &tested).unwrap();
    let (_, updated) = updated.split_once("name = 'c'\n").unwrap();
    (differences.collect(), updated.to_owned())
}

#[test]
fn what_a_balance_proposes_to_move_is_compared_as_far_as_it_is_said() {
    for right in [
        "expect.moves = [{ vm = 'one' }]",
        "expect.moves = [{ vm = 'one', from = 'full' }]",
        "expect.moves = [{ vm = 'one', from = 'full', to = ['idle', 'full'] }]",
        "hosts.full.without = ['watch.cpu-over.since']\nexpect.moves = []",
        "vm = { id = 'v' }\nexpect.moves = [{ vm = 'one' }]\nexpect.chosen = 'idle'",
    ] {
        assert_eq!(balanced(right).0, [""; 0], "{right}");
    }
    let got = "one from full to full or idle";
    for (wrong, expected) in [
        ("[]", "none"),
        ("[{ vm = 'one', from = 'idle' }]", "one from idle"),
        ("[{ vm = 'one', to = ['idle'] }]", "one to idle"),
        ("[{ vm = 'one', to = [] }]", "one to any host"),
        ("[{ vm = 'one' }, { vm = 'one' }]", "one\none"),
    ] {
        let (differences, updated) = balanced(&format!("expect.moves = {wrong}\n"));
        assert_eq!(differences, [format!("moves: {expected} / {got}")]);
        let given =
            "expect.moves = [{ vm = \"one\", from = \"full\", to = [\"full\", \"idle\"] }]\n";
        assert_eq!(updated, given);
        assert_eq!(balanced(&updated).0, [""; 0]);
    }
}

#[test]
fn moves_that_no_case_can_expect_are_told_where_they_stand() {
    assert_eq!(
        wrong("expect.moves = []"),
        ["-2: no unit balances, so that no moves can be expected"]
    );
    assert_eq!(
        wrong("expect.moves = [{ vm = 'odl', from = 'h3', to = ['h9'] }]"),
        [
            "0: there is no VM \"odl\" in the cluster (old?)",
            "0: there is no host \"h3\" in the cluster (h1?)",
            "0: there is no host \"h9\" in the cluster (h1?)",
        ]
    );
    assert_eq!(
        wrong("expect.moves = []\nexpect.chosen = 'h1'"),
        ["-2: a case needs \"vm\", \"vms\" or \"request\": what is to be placed"]
    );
}
