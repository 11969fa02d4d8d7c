//! Units that go wrong when they are called: the decision says whose fault it is
//! and what to do, nothing is reserved, and the next decision is made as if nothing
//! had been.

use std::time::Duration;

use placewright_chain::{DecisionError, LeftOutShown, Runner};
use placewright_engine::contract::{Answers, Part};
use placewright_engine::unit::{Cause, Fault};
use placewright_scheduler::{PlaceError, Scheduler};
use placewright_tests::scene::{
    balancing, both, cluster, costing, filtering, limited, policy, request, scheduler, vm,
};
use placewright_tests::units::unit;

/// Long enough for a unit that does something, on a busy machine.
const PATIENT: Duration = Duration::from_secs(300);

/// Short, for units that never end.
const IMPATIENT: Duration = Duration::from_millis(200);

/// What is said when the unit, as the only filter, fails so that nothing can be
/// decided.
fn fails_closed(unit: &str, how: &str, limit: Duration) -> (Fault, String) {
    let mut scheduler = limited(cluster(3), &filtering(unit, how), &both(), limit);
    let before = scheduler.inventory().version();
    let error = scheduler.place(request(vm("v"))).unwrap_err();
    assert_eq!(
        scheduler.inventory().version(),
        before,
        "the inventory is as it was"
    );
    assert!(scheduler.inventory().pending("v").is_none());
    assert_eq!(scheduler.decisions().count(), 0);
    let said = error.to_string();
    assert_one_sentence(&said);
    let PlaceError::Refusal(DecisionError::Failed { entry, fault }) = error else {
        panic!("{said}");
    };
    assert_eq!(&*entry, unit);
    assert!(said.contains(&fault.unit.digest.short()), "{said}");
    assert!(said.contains(&format!("\"{unit}\"")), "{said}");
    (Fault::clone(&fault), said)
}

/// What is said when the unit is the only cost function, and is left out.
fn left_out(unit: &str, how: &str) -> (Cause, String) {
    let mut scheduler = scheduler(cluster(3), &costing(unit, how), &both());
    let decision = scheduler.place(request(vm("v"))).unwrap();
    // As if there were no cost function: the first by id.
    assert_eq!(decision.host.as_deref(), Some("h0"));
    let [left_out] = &decision.decided.left_out[..] else {
        panic!("one entry is left out: {:?}", decision.decided.left_out);
    };
    assert_eq!(&*left_out.entry, unit);
    let said = left_out.fault.to_string();
    assert_one_sentence(&said);
    let explanation = scheduler.explain(decision.number).unwrap();
    let told = LeftOutShown {
        entry: unit.into(),
        fault: said.clone(),
    };
    assert_eq!(explanation.left_out, [told]);
    (Cause::clone(&left_out.fault.cause), said)
}

fn assert_one_sentence(said: &str) {
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(!said.contains('\u{1b}'), "{said}");
}

#[test]
fn a_sound_setting_of_the_units_for_tests_decides() {
    for unit in ["misbehaving", "unsound"] {
        let text = filtering(unit, "keeps-everything") + &costing(unit, "keeps-everything");
        let decision = scheduler(cluster(3), &text, &both())
            .place(request(vm("v")))
            .unwrap();
        assert_eq!(decision.host.as_deref(), Some("h0"), "{unit}");
        assert_eq!(decision.decided.left_out, []);
    }
}

#[test]
fn a_unit_that_never_returns_is_stopped_at_the_deadline_and_named() {
    let (fault, said) = fails_closed("misbehaving", "loops-forever", IMPATIENT);
    assert!(matches!(*fault.cause, Cause::Time(_)), "{said}");
    assert!(said.contains("a loop that does not end"), "{said}");
}

#[test]
fn a_unit_that_never_returns_is_at_fault_each_time_when_answers_are_kept_too() {
    let text = filtering("misbehaving", "loops-forever");
    let mut scheduler = limited(cluster(3), &text, &both(), IMPATIENT);
    for number in 0..4 {
        let error = scheduler.place(request(vm(&format!("v{number}"))));
        let error = error.unwrap_err();
        let PlaceError::Refusal(DecisionError::Failed { fault, .. }) = &error else {
            panic!("{number}: {error}");
        };
        assert!(matches!(*fault.cause, Cause::Time(_)), "{number}: {fault}");
    }
}

#[test]
fn a_unit_without_bounds_on_its_memory_is_ended_at_the_limit_and_told_so() {
    let (fault, said) = fails_closed("misbehaving", "eats-memory", PATIENT);
    assert!(matches!(*fault.cause, Cause::Memory { .. }), "{said}");
    assert!(said.contains("256.0 MiB"), "{said}");
    assert!(
        said.contains("let it keep less, or raise the limit"),
        "{said}"
    );
}

#[test]
fn a_recursion_without_end_uses_up_the_stack_and_is_named() {
    let (fault, said) = fails_closed("misbehaving", "recurses-forever", PATIENT);
    assert!(matches!(*fault.cause, Cause::Stack(_)), "{said}");
    assert!(said.contains("a recursion that does not end"), "{said}");
}

#[test]
fn a_recursion_that_overflows_the_stack_in_linear_memory_is_a_fault_like_others() {
    let (fault, said) = fails_closed("misbehaving", "recurses-with-large-frames", PATIENT);
    assert!(
        matches!(*fault.cause, Cause::Stack(_) | Cause::Trap(_)),
        "{said}"
    );
}

#[test]
fn a_panic_is_reported_with_its_message_and_place() {
    let (fault, said) = fails_closed("misbehaving", "panics", PATIENT);
    let Cause::Panic(message) = &*fault.cause else {
        panic!("{said}");
    };
    assert!(
        message.contains("the headroom of 1073741824 is beyond me"),
        "{said}"
    );
    assert!(message.contains("lib.rs:"), "{said}");
    assert!(
        !message.contains("/root") && !message.contains("/home/"),
        "{said}"
    );
}

#[test]
fn a_trap_without_a_word_is_reported_as_such() {
    let (fault, said) = fails_closed("unsound", "traps-silently", PATIENT);
    assert!(matches!(*fault.cause, Cause::Trap(_)), "{said}");
    assert!(said.contains("trapped: "), "{said}");
}

#[test]
fn a_unit_that_says_it_failed_is_blamed_in_its_own_words() {
    let (fault, said) = fails_closed("misbehaving", "fails", PATIENT);
    assert_eq!(
        *fault.cause,
        Cause::Failed("the table of prices is empty".into())
    );
    assert!(
        said.contains("failed: the table of prices is empty"),
        "{said}"
    );
}

#[test]
fn a_verdict_with_a_reason_that_is_not_declared_fails_the_decision() {
    let (fault, _) = fails_closed("unsound", "reason-out-of-range", PATIENT);
    let expected = Cause::Reason {
        place: 2,
        reason: 2,
        known: 1,
    };
    assert_eq!(*fault.cause, expected);
}

#[test]
fn an_until_of_the_wrong_length_fails_the_decision() {
    let (fault, said) = fails_closed("unsound", "wrong-until", PATIENT);
    assert!(
        matches!(
            *fault.cause,
            Cause::Length {
                want: 3,
                got: 4,
                ..
            }
        ),
        "{said}"
    );
}

#[test]
fn costs_that_nobody_asked_for_fail_the_decision() {
    let (fault, said) = fails_closed("unsound", "unasked-answer", PATIENT);
    assert!(
        matches!(
            *fault.cause,
            Cause::Length {
                want: 0,
                got: 3,
                ..
            }
        ),
        "{said}"
    );
}

#[test]
fn an_answer_of_the_wrong_length_is_left_out_as_a_cost_and_said() {
    let (cause, said) = left_out("unsound", "wrong-length");
    assert!(
        matches!(
            cause,
            Cause::Length {
                want: 3,
                got: 4,
                ..
            }
        ),
        "{said}"
    );
    assert!(said.contains("gave 4 costs where 3 were wanted"), "{said}");
}

#[test]
fn a_cost_that_is_not_a_number_is_left_out_and_said() {
    let (cause, said) = left_out("misbehaving", "answers-nan");
    assert!(matches!(cause, Cause::NoCost { row: 0, .. }), "{said}");
    assert!(said.contains("a cost is a number or +infinity"), "{said}");
}

#[test]
fn a_cost_of_minus_infinity_is_left_out_and_said() {
    let (cause, said) = left_out("misbehaving", "answers-minus-infinity");
    assert!(matches!(cause, Cause::NoCost { row: 0, .. }), "{said}");
    assert!(said.contains("-inf"), "{said}");
}

#[test]
fn a_cost_outside_the_declared_range_is_left_out_and_said() {
    let (cause, said) = left_out("unsound", "cost-out-of-range");
    assert!(matches!(cause, Cause::OutOfRange { row: 0, .. }), "{said}");
    assert!(said.contains("outside the range 0 to 1000"), "{said}");
}

#[test]
fn a_huge_answer_is_not_read() {
    let (cause, said) = left_out("unsound", "huge-answer");
    assert!(matches!(cause, Cause::AnswerTooLarge(_)), "{said}");
}

#[test]
fn a_panic_of_a_cost_function_is_left_out_with_its_message() {
    let (cause, said) = left_out("misbehaving", "panics");
    assert!(matches!(cause, Cause::Panic(_)), "{said}");
}

#[test]
fn costs_of_plus_infinity_are_answers_like_others() {
    let text = costing("misbehaving", "answers-infinity");
    let decision = scheduler(cluster(3), &text, &both())
        .place(request(vm("v")))
        .unwrap();
    assert_eq!(decision.decided.left_out, []);
    assert_eq!(decision.decided.chosen.as_ref().unwrap().tied, 3);
}

#[test]
fn a_cost_function_that_the_policy_needs_fails_the_decision() {
    let text = costing("misbehaving", "panics") + "on-failure = 'fail'\n";
    let error = scheduler(cluster(3), &text, &both())
        .place(request(vm("v")))
        .unwrap_err();
    assert!(
        matches!(error, PlaceError::Refusal(DecisionError::Failed { .. })),
        "{error}"
    );
}

#[test]
fn a_filter_that_the_policy_does_without_is_left_out_and_marked() {
    let text = filtering("misbehaving", "panics") + "on-failure = 'leave-out'\n";
    let decision = scheduler(cluster(3), &text, &both())
        .place(request(vm("v")))
        .unwrap();
    assert_eq!(decision.host.as_deref(), Some("h0"));
    assert_eq!(&*decision.decided.left_out[0].entry, "misbehaving");
}

#[test]
fn a_cost_function_that_hangs_does_not_take_the_others_time_without_being_named() {
    let text = costing("misbehaving", "loops-forever") + &costing("unsound", "keeps-everything");
    let mut scheduler = limited(cluster(3), &text, &both(), IMPATIENT);
    for number in 0..3 {
        let outcome = scheduler.place(request(vm(&format!("v{number}"))));
        let fault = match outcome {
            Ok(decision) => decision.decided.left_out[0].fault.clone(),
            Err(error) => {
                assert!(error.to_string().contains("misbehaving"), "{error}");
                let PlaceError::Refusal(DecisionError::OutOfTime { stopped, .. }) = error else {
                    panic!("{error}");
                };
                stopped.expect("a call was stopped")
            }
        };
        assert_eq!(fault.unit.name, "misbehaving");
        assert!(matches!(*fault.cause, Cause::Time(_)), "{fault}");
    }
}

#[test]
fn a_unit_that_refuses_is_not_blamed_and_the_request_is_told() {
    for text in [
        filtering("misbehaving", "refuses"),
        costing("misbehaving", "refuses"),
    ] {
        let mut scheduler = scheduler(cluster(3), &text, &both());
        let before = scheduler.inventory().version();
        let error = scheduler.place(request(vm("v"))).unwrap_err();
        assert_eq!(scheduler.inventory().version(), before);
        let PlaceError::Refusal(DecisionError::Refused(said)) = error else {
            panic!("{error}");
        };
        assert!(said.contains("the VM must name its owner"), "{said}");
        assert!(!said.contains("failed"), "{said}");
    }
}

#[test]
fn a_trap_in_a_warm_instance_is_retried_once_in_a_fresh_one() {
    let text = filtering("misbehaving", "panics-when-used-again");
    let mut scheduler = scheduler(cluster(3), &text, &both());
    for number in 0..4 {
        let decision = scheduler.place(request(vm(&format!("v{number}")))).unwrap();
        assert!(decision.host.is_some());
        assert_eq!(decision.decided.left_out, []);
    }
}

#[test]
fn a_unit_that_hangs_in_a_warm_instance_is_named_too() {
    let text = filtering("misbehaving", "loops-when-used-again");
    let mut scheduler = limited(cluster(3), &text, &both(), IMPATIENT);
    let mut outcomes = (0..3).map(|number| scheduler.place(request(vm(&format!("v{number}")))));
    let error = outcomes.find_map(Result::err);
    let said = error.map(|error| error.to_string()).unwrap_or_default();
    assert!(said.is_empty() || said.contains("misbehaving"), "{said}");
}

#[test]
fn after_a_failure_the_next_decision_is_made_as_if_nothing_had_been() {
    let generation = both();
    let mut scheduler = scheduler(cluster(3), &costing("misbehaving", "panics"), &generation);
    let hosts: Vec<_> = (0..3)
        .map(|number| scheduler.place(request(vm(&format!("v{number}")))).unwrap())
        .map(|decision| decision.host.clone().unwrap())
        .collect();
    // The fewest VMs decide where no cost function does.
    assert_eq!(
        hosts.iter().map(|id| &**id).collect::<Vec<_>>(),
        ["h0", "h1", "h2"]
    );
    assert_eq!(scheduler.inventory().pending_count(), 3);
}

#[test]
fn a_chatty_unit_says_a_bounded_number_of_clean_sentences() {
    let text = filtering("misbehaving", "chatters");
    let scheduler = scheduler(cluster(3), &text, &both());
    let mut runner = Runner::new(scheduler.chain().clone(), PATIENT);
    let request = request(vm("v"));
    runner.decide(scheduler.inventory(), &request, 0.5).unwrap();
    // The same call once more, in an instance whose log can be looked at.
    let (unit, call) = runner.calls().next().unwrap();
    let mut instance = unit.instantiate(Part::Judge).unwrap();
    instance.judge(Answers::BOTH, call, 3, PATIENT).unwrap();
    let (logged, limits) = (instance.logged(), unit.engine().limits());
    assert_eq!(logged.len(), limits.log_messages);
    for said in logged {
        assert!(said.message.len() <= limits.sentence);
        assert_one_sentence(&said.message);
    }
}

fn balance_fails(unit: &str, how: &str, limit: Duration) -> String {
    let mut scheduler: Scheduler = limited(cluster(3), &balancing(unit, how), &both(), limit);
    let before = scheduler.inventory().version();
    let refusal = scheduler.balance(0).unwrap_err();
    assert_eq!(scheduler.inventory().version(), before);
    let said = refusal.to_string();
    assert_one_sentence(&said);
    said
}

#[test]
fn a_balance_part_that_goes_wrong_proposes_nothing_and_is_named() {
    for (how, part) in [
        ("panics", "is beyond me"),
        ("fails", "the table of prices is empty"),
        ("eats-memory", "of memory"),
        ("recurses-forever", "recursion"),
    ] {
        let said = balance_fails("misbehaving", how, PATIENT);
        assert!(
            said.contains(part) && said.contains("\"misbehaving\""),
            "{said}"
        );
    }
    let said = balance_fails("misbehaving", "loops-forever", IMPATIENT);
    assert!(said.contains("a loop that does not end"), "{said}");
    let said = balance_fails("misbehaving", "refuses", PATIENT);
    assert!(said.contains("the VM must name its owner"), "{said}");
}

#[test]
fn a_proposal_about_a_row_that_is_not_there_is_refused() {
    let said = balance_fails("unsound", "proposal-out-of-range", PATIENT);
    assert!(
        said.contains("proposal 0 names row 7 of hosts/vms, which has 0"),
        "{said}"
    );
}

#[test]
fn a_balance_part_that_is_sound_proposes() {
    let text = balancing("misbehaving", "keeps-everything");
    let proposed = scheduler(cluster(3), &text, &both()).balance(0).unwrap();
    assert_eq!(proposed.len(), 3);
}

#[test]
fn a_units_own_rule_between_settings_refuses_with_its_sentence() {
    let text = "[[filters]]\nunit = 'misbehaving'\nsettings.headroom = 13";
    let generation = both();
    let checked = policy(text, &generation).unwrap();
    assert_eq!(
        checked.stages[0].filters[0].settings.value("headroom"),
        Some(&13.into())
    );
    let call = placewright_engine::contract::Call {
        rows: vec![1],
        integers: vec![0, 13],
        texts: vec!["keeps-everything".into()],
        ..placewright_engine::contract::Call::default()
    };
    let mut instance = unit("misbehaving").instantiate(Part::Settings).unwrap();
    let fault = instance.check_settings(&call, PATIENT).unwrap_err();
    assert!(fault.is_refusal());
    assert!(
        fault
            .to_string()
            .contains("a headroom of 13 bytes brings bad luck")
    );
}
