//! Selections, effects, orders and explanations that break the contract as no unit of
//! a sound SDK can: each is found with a sentence that names the unit, and nothing is
//! lost.

use placewright_chain::{DecisionError, LeftOutShown};
use placewright_engine::unit::Cause;
use placewright_scheduler::{Batch, PlaceError, Scheduler};
use placewright_tests::scene::{cluster, following, ordering, request, scheduler, selecting, vm};
use placewright_tests::units::generation;

const UNIT: &str = "broken-parts";

fn scene(policy: &str) -> Scheduler {
    scheduler(cluster(3), policy, &generation(&[UNIT]))
}

/// Two VMs.
fn batch() -> Batch {
    Batch {
        members: vec![vm("a"), vm("b")],
        ..Batch::default()
    }
}

/// What is said of the unit when it leaves nothing decided.
fn blamed(error: PlaceError) -> String {
    let said = error.to_string();
    assert_eq!(said.lines().count(), 1, "{said}");
    let PlaceError::Refusal(DecisionError::Failed { fault, .. }) = error else {
        panic!("{said}");
    };
    assert_eq!(fault.unit.name, UNIT);
    assert!(said.contains(&fault.unit.digest.short()), "{said}");
    said
}

/// What is said of the unit when a decision fails, which changes nothing.
fn fails(policy: &str) -> String {
    let mut scheduler = scene(policy);
    let before = scheduler.inventory().version();
    let error = scheduler.place(request(vm("v"))).unwrap_err();
    assert_eq!(scheduler.inventory().version(), before);
    assert_eq!(scheduler.inventory().pending_count(), 0);
    assert_eq!(scheduler.decisions().count(), 0);
    blamed(error)
}

#[test]
fn the_unit_is_sound_if_nothing_else_is_said() {
    let how = "keeps-everything";
    let policy = selecting(UNIT, how) + &following(UNIT, how) + &ordering(UNIT, how);
    let mut scheduler = scene(&policy);
    let decision = scheduler.place(request(vm("v"))).unwrap();
    assert!(decision.host.is_some());
    assert_eq!(decision.decided.left_out, []);
    let explanation = scheduler.explain(decision.number).unwrap();
    assert_eq!(explanation.stages[0].facts.len(), 3);
    let plan = scheduler.place_batch(batch()).unwrap();
    assert_eq!(plan.turns.len(), 1);
    assert!(plan.host("b").is_some());
}

#[test]
fn groups_whose_offsets_do_not_rise_are_left_out_with_the_sentence() {
    let mut scheduler = scene(&selecting(UNIT, "offsets-fall"));
    let decision = scheduler.place(request(vm("v"))).unwrap();
    // As if the selection were not there: all cost the same.
    assert_eq!(decision.shares[0].len(), 3);
    let said = decision.decided.left_out[0].fault.to_string();
    let ends = "breaks the contract: the offsets \"groups\" do not lead from 0 to the 3 rows";
    assert!(said.ends_with(ends), "{said}");
    let explanation = scheduler.explain(decision.number).unwrap();
    let told = LeftOutShown {
        entry: UNIT.into(),
        fault: said,
    };
    assert_eq!(explanation.left_out, [told]);
    // Where the policy needs the selection, nothing is decided.
    let policy = selecting(UNIT, "offsets-fall") + "on-failure = 'fail'\n";
    let said = fails(&policy);
    assert!(said.ends_with(ends), "{said}");
}

#[test]
fn groups_without_a_share_for_each_candidate_are_left_out() {
    let mut scheduler = scene(&selecting(UNIT, "shares-missing"));
    let decision = scheduler.place(request(vm("v"))).unwrap();
    let expected = Cause::Length {
        list: "shares",
        want: 3,
        got: 2,
    };
    assert_eq!(*decision.decided.left_out[0].fault.cause, expected);
}

#[test]
fn a_part_that_traps_without_a_word_is_reported_as_such() {
    let mut scheduler = scene(&selecting(UNIT, "traps"));
    let decision = scheduler.place(request(vm("v"))).unwrap();
    let cause = &*decision.decided.left_out[0].fault.cause;
    assert!(matches!(cause, Cause::Trap(_)), "{cause}");
    assert!(fails(&following(UNIT, "traps")).contains("trapped: "));
}

#[test]
fn changes_that_do_not_fit_the_declared_writes_fail_the_decision() {
    for (how, ends) in [
        ("no-write", "change 0 is for write 1, and it declares 1"),
        (
            "wrong-kind",
            "change 0 gives value of fixed-keys a value that it cannot have",
        ),
        (
            "values-missing",
            "change 0 has 1 values for the 2 columns of fixed-keys",
        ),
    ] {
        let said = fails(&following(UNIT, how));
        assert!(said.ends_with(ends), "{said}");
    }
}

#[test]
fn effects_that_remember_calls_are_found_out_and_write_as_if_asked_once() {
    let mut scheduler = scene(&following(UNIT, "remembers"));
    for id in ["a", "b", "c", "d"] {
        scheduler.place(request(vm(id))).unwrap();
        let pending = scheduler.inventory().pending(id).unwrap();
        let value = pending.placed_rows("fixed-keys")[0].number("value");
        assert_eq!(value, Some(1.0), "{id}");
    }
    let quarantined = scheduler.quarantined();
    assert_eq!(quarantined.len(), 1);
    assert_eq!(&*quarantined[0].unit, UNIT);
}

#[test]
fn effects_that_keep_to_the_contract_are_never_suspected() {
    let mut scheduler = scene(&following(UNIT, "keeps-everything"));
    for number in 0..200 {
        scheduler.place(request(vm(&format!("v{number}")))).unwrap();
    }
    assert_eq!(scheduler.quarantined(), []);
}

#[test]
fn turns_whose_offsets_do_not_reach_the_end_place_nobody() {
    let mut scheduler = scene(&ordering(UNIT, "offsets-fall"));
    let before = scheduler.inventory().version();
    let said = blamed(scheduler.place_batch(batch()).unwrap_err());
    let ends = "the offsets \"turns\" do not lead from 0 to the 2 rows";
    assert!(said.ends_with(ends), "{said}");
    assert_eq!(scheduler.inventory().version(), before);
    // Requests that come alone need no order.
    assert!(scheduler.place(request(vm("a"))).unwrap().host.is_some());
}

#[test]
fn a_fact_about_a_table_that_is_not_declared_is_not_told_and_the_rest_is() {
    let mut scheduler = scene(&selecting(UNIT, "fact-no-table"));
    let decision = scheduler.place(request(vm("v"))).unwrap();
    let explanation = scheduler.explain(decision.number).unwrap();
    assert_eq!(explanation.stages[0].facts, []);
    assert_eq!(explanation.chosen, decision.host);
    let [LeftOutShown { fault: said, .. }] = &explanation.left_out[..] else {
        panic!("{:?}", explanation.left_out);
    };
    let ends = "fact 3 is about row 0 of a table that it does not read, which has 0";
    assert!(said.ends_with(ends), "{said}");
    assert!(said.contains("\"broken-parts\""), "{said}");
}
