//! What a unit says of itself is tried out before anyone relies on it.

use placewright_engine::contract::Part;
use placewright_engine::unit::Unit;
use placewright_engine::{Engine, Limits};
use placewright_library::probe::{Outcome, Report, Step, probe};
use placewright_tests::component::by_default;
use placewright_tests::units::component;

/// What is found of the unit when it goes wrong in that way.
fn found(unit: &str, how: &str) -> Report {
    let engine = Engine::new(Limits::reproducible(), None).unwrap();
    let bytes = by_default(&component(unit), how);
    probe(&Unit::load(&engine, &bytes, unit).unwrap(), 1)
}

/// The claims that do not hold.
fn failed(report: &Report) -> Vec<&'static str> {
    report.failed().map(|step| step.claim).collect()
}

#[test]
fn a_sound_unit_passes() {
    for unit in ["misbehaving", "unsound"] {
        let report = found(unit, "keeps-everything");
        assert_eq!(failed(&report), Vec::<&str>::new());
        assert!(report.steps.len() > 5);
    }
}

#[test]
fn the_same_seed_gives_the_same_report() {
    assert_eq!(
        found("unsound", "counts-rows"),
        found("unsound", "counts-rows")
    );
}

#[test]
fn a_row_wise_unit_that_counts_rows_is_found_out() {
    let claims = failed(&found("unsound", "counts-rows"));
    assert!(
        claims.contains(&"answers for each host alone as among others"),
        "{claims:?}"
    );
}

#[test]
fn a_row_wise_unit_that_looks_at_other_rows_is_found_out() {
    let claims = failed(&found("unsound", "compares-rows"));
    assert!(
        claims.contains(&"answers for each host alone as among others"),
        "{claims:?}"
    );
}

#[test]
fn a_unit_that_reads_the_codes_of_texts_is_found_out() {
    let claims = failed(&found("unsound", "reads-codes"));
    assert!(
        claims.contains(&"answers the same whatever the codes of texts are"),
        "{claims:?}"
    );
}

#[test]
fn a_unit_that_remembers_is_found_out() {
    let claims = failed(&found("misbehaving", "remembers"));
    assert!(
        claims.contains(&"answers the same when it is asked again"),
        "{claims:?}"
    );
}

#[test]
fn a_unit_that_gives_no_sound_answer_is_found_out_with_the_fault() {
    for (unit, how, part) in [
        ("unsound", "wrong-length", "costs where"),
        ("unsound", "wrong-until", "entries of until where"),
        ("unsound", "huge-answer", "answer of more than 64.0 MiB"),
        ("unsound", "traps-silently", "trapped"),
        ("misbehaving", "answers-nan", "a cost is a number"),
        ("misbehaving", "panics", "is beyond me"),
        ("misbehaving", "eats-memory", "of memory and was refused"),
        (
            "misbehaving",
            "recurses-forever",
            "a recursion that does not end",
        ),
        ("misbehaving", "loops-forever", "a loop that does not end"),
        ("misbehaving", "fails", "the table of prices is empty"),
    ] {
        let report = found(unit, how);
        let step = report.failed().next();
        let Some(Outcome::Failed { why }) = step.map(|step| &step.outcome) else {
            panic!("{how} passes");
        };
        assert!(why.contains(part), "{how}: {why}");
    }
}

#[test]
fn a_unit_that_refuses_all_that_is_made_up_is_not_blamed() {
    assert_eq!(failed(&found("misbehaving", "refuses")), Vec::<&str>::new());
}

#[test]
fn sound_parts_of_every_kind_pass_and_are_tried() {
    for unit in ["parts", "overhead", "broken-parts"] {
        let engine = Engine::new(Limits::reproducible(), None).unwrap();
        let unit = Unit::load(&engine, &component(unit), unit).unwrap();
        for seed in 0..4 {
            let report = probe(&unit, seed);
            assert_eq!(failed(&report), Vec::<&str>::new(), "{report:#?}");
            for part in Part::ALL.into_iter().filter(|part| unit.has(*part)) {
                let tried = report.steps.iter().filter(|step| step.part == part);
                let not_tried = |step: &&Step| step.outcome != Outcome::Ok;
                assert_eq!(tried.clone().find(not_tried), None);
                assert!(tried.count() > 0, "{part}");
            }
        }
    }
}

#[test]
fn parts_that_break_the_contract_are_found_out_with_the_sentence() {
    for (how, part) in [
        ("sums-to-half", "they must sum to 1"),
        ("candidate-twice", "it names candidate 0 twice"),
        ("offsets-fall", "the offsets \"groups\" do not lead"),
        ("shares-missing", "shares where"),
        ("no-write", "is for write 1, and it declares 1"),
        ("wrong-kind", "a value that it cannot have"),
        ("member-twice", "it names member 0 twice"),
        ("fact-no-row", "of hosts, which has"),
        ("fact-no-table", "a table that it does not read"),
        ("traps", "trapped"),
    ] {
        let report = found("broken-parts", how);
        let step = report.failed().next();
        let Some(Outcome::Failed { why }) = step.map(|step| &step.outcome) else {
            panic!("{how} passes");
        };
        assert!(why.contains(part), "{how}: {why}");
    }
}

#[test]
fn a_selection_that_goes_by_the_order_of_rows_is_found_out() {
    assert_eq!(
        failed(&found("broken-parts", "first-row-only")),
        ["answers the same in whatever order the candidates are"]
    );
}

#[test]
fn a_selection_that_makes_one_group_of_several_with_their_shares_is_found_out() {
    let engine = Engine::new(Limits::reproducible(), None).unwrap();
    let unit = Unit::load(&engine, &component("misleading"), "misleading").unwrap();
    let report = probe(&unit, 0);
    assert_eq!(failed(&report), ["answers for made-up candidates"]);
    let why = format!("{:?}", report.failed().next());
    assert!(why.contains("the shares of group 0 sum to"), "{why}");
}
