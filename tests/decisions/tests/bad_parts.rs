//! Selections, effects, orders and explanations that go wrong: the unit is named,
//! nothing is reserved or written, and the next decision is made as if nothing had
//! been.

use std::time::Duration;

use placewright_chain::{DecisionError, LeftOutShown};
use placewright_engine::generation::Generation;
use placewright_engine::unit::{Cause, Fault};
use placewright_model::Request;
use placewright_scheduler::{Batch, PlaceError, Scheduler};
use placewright_tests::scene::{
    cluster, following, limited, ordering, request, scheduler, selecting, vm,
};
use placewright_tests::units::generation;

/// Long enough for a unit that does something, on a busy machine.
const PATIENT: Duration = Duration::from_secs(300);

/// Short, for units that never end.
const IMPATIENT: Duration = Duration::from_millis(200);

/// What goes wrong in every part alike, and a part of what is said of it.
const ANYWHERE: [(&str, &str); 5] = [
    ("loops-forever", "a loop that does not end"),
    ("eats-memory", "of memory"),
    ("recurses-forever", "a recursion that does not end"),
    ("panics", "this is beyond me"),
    ("fails", "failed: the table of prices is empty"),
];

fn misleading() -> Generation {
    generation(&["misleading"])
}

/// Three hosts under a policy, with little patience for what never ends.
fn scene(policy: &str) -> Scheduler {
    let limit = match policy.contains("loops-forever") {
        true => IMPATIENT,
        false => PATIENT,
    };
    limited(cluster(3), policy, &misleading(), limit)
}

/// A request whose host, where several are left, is drawn by this.
fn drawn(id: &str, draw: f64) -> Request {
    Request {
        draw: Some(draw),
        ..request(vm(id))
    }
}

/// The unit is named, in one line.
fn assert_named(said: &str, part: &str) {
    assert!(said.contains(part), "{part}: {said}");
    assert!(said.contains("\"misleading\""), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(!said.contains('\u{1b}'), "{said}");
}

/// Why a request comes to no decision; nothing has changed by it.
fn no_decision(policy: &str) -> PlaceError {
    let mut scheduler = scene(policy);
    let before = scheduler.inventory().version();
    let error = scheduler.place(request(vm("v"))).unwrap_err();
    assert_eq!(scheduler.inventory().version(), before, "{error}");
    assert!(scheduler.inventory().pending("v").is_none(), "{error}");
    assert_eq!(scheduler.decisions().count(), 0, "{error}");
    error
}

/// The fault that leaves a request without a decision.
fn fault_of(error: PlaceError) -> (Fault, String) {
    let said = error.to_string();
    match error {
        PlaceError::Refusal(DecisionError::Failed { fault, .. }) => (Fault::clone(&fault), said),
        _ => panic!("no unit is blamed: {said}"),
    }
}

#[test]
fn a_sound_setting_of_the_unit_selects_writes_orders_and_explains() {
    let policy = [
        selecting("misleading", "nothing"),
        following("misleading", "nothing"),
        ordering("misleading", "nothing"),
    ]
    .concat();
    let mut scheduler = scene(&policy);
    let batch = Batch {
        members: vec![vm("first"), vm("second")],
        ..Batch::default()
    };
    let plan = scheduler.place_batch(batch).unwrap();
    let turns: Vec<_> = plan.turns.iter().map(|turn| &*turn.members[0]).collect();
    assert_eq!(turns, ["second", "first"]);
    let decision = plan.turns[0].outcome.as_ref().unwrap();
    assert_eq!(decision.decided.left_out, []);
    assert_eq!(decision.followed.len(), 1);
    let explanation = scheduler.explain(decision.number).unwrap();
    assert_eq!(explanation.stages[0].facts.len(), 3);
}

#[test]
fn a_selection_that_goes_wrong_is_left_out_and_one_of_least_cost_is_drawn() {
    let answers = [
        ("shares-a-half", "the shares of group 0 sum to 0.5"),
        ("shares-nan", "a share of group 0 is NaN"),
        ("shares-less-than-nothing", "shares lie between 0 and 1"),
        ("names-one-twice", "it names candidate 0 twice"),
        ("names-a-stranger", "it names candidate 99, and there are 3"),
    ];
    for (how, part) in answers.into_iter().chain(ANYWHERE) {
        if how == "loops-forever" {
            // It may have used up the time of the others.
            continue;
        }
        let mut scheduler = scene(&selecting("misleading", how));
        let decision = scheduler.place(drawn("v", 0.5)).unwrap();
        assert_eq!(decision.host.as_deref(), Some("h1"), "{how}");
        let [left_out] = &decision.decided.left_out[..] else {
            panic!("{how}: {:?}", decision.decided.left_out);
        };
        assert_eq!(&*left_out.entry, "misleading");
        assert_named(&left_out.fault.to_string(), part);
    }
}

#[test]
fn a_selection_that_the_policy_needs_fails_the_decision() {
    for (how, part) in [("shares-a-half", "must sum to 1")]
        .into_iter()
        .chain(ANYWHERE)
    {
        let policy = selecting("misleading", how) + "on-failure = 'fail'\n";
        let (fault, said) = fault_of(no_decision(&policy));
        assert_named(&said, part);
        assert_eq!(
            matches!(*fault.cause, Cause::Time(_)),
            how == "loops-forever"
        );
    }
}

#[test]
fn a_selection_of_nobody_is_an_answer() {
    let mut scheduler = scene(&selecting("misleading", "names-nobody"));
    let decision = scheduler.place(request(vm("v"))).unwrap();
    assert_eq!(
        (decision.host.clone(), decision.decided.left_out.len()),
        (None, 0)
    );
    assert_eq!(decision.decided.removed[0].hosts, 3);
}

#[test]
fn effects_that_go_wrong_fail_the_decision() {
    let answers = [
        ("writes-for-a-stranger", "change 1 is for row 99 of 1"),
        (
            "writes-nan",
            "value of fixed-keys a value that it cannot have",
        ),
        (
            "reserves-for-a-stranger",
            "change 1 reserves for member 99 of 1",
        ),
        (
            "reserves-less-than-nothing",
            "change 1 reserves -1 of \"cpu\"",
        ),
    ];
    for (how, part) in answers.into_iter().chain(ANYWHERE) {
        let (_, said) = fault_of(no_decision(&following("misleading", how)));
        assert_named(&said, part);
    }
}

#[test]
fn effects_on_rows_that_are_not_there_are_not_written_and_what_was_reserved_is_given_back() {
    for how in ["sets-no-row", "removes-no-row"] {
        let error = no_decision(&following("misleading", how));
        assert!(matches!(error, PlaceError::Effects { .. }), "{error}");
        let said = error.to_string();
        assert!(said.contains("fixed-keys has no row 99"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn an_order_that_goes_wrong_places_nobody() {
    let answers = [
        ("names-one-twice", "it names member 0 twice"),
        ("names-a-stranger", "it names member 99, and there are 2"),
    ];
    for (how, part) in answers.into_iter().chain(ANYWHERE) {
        let mut scheduler = scene(&ordering("misleading", how));
        let before = scheduler.inventory().version();
        let batch = Batch {
            members: vec![vm("v"), vm("w")],
            ..Batch::default()
        };
        let (_, said) = fault_of(scheduler.place_batch(batch).unwrap_err());
        assert_named(&said, part);
        assert_eq!(scheduler.inventory().version(), before, "{how}");
        assert_eq!(scheduler.inventory().pending_count(), 0, "{how}");
    }
}

#[test]
fn who_gets_no_turn_is_told() {
    let mut scheduler = scene(&ordering("misleading", "names-nobody"));
    let batch = Batch {
        members: vec![vm("v"), vm("w")],
        ..Batch::default()
    };
    let plan = scheduler.place_batch(batch).unwrap();
    assert!(plan.turns.is_empty());
    let without: Vec<_> = plan.without_turn.iter().map(|id| &**id).collect();
    assert_eq!(without, ["v", "w"]);
}

#[test]
fn facts_about_rows_that_are_not_there_are_not_told_and_all_else_is() {
    for (how, part) in [
        (
            "tells-of-no-row",
            "fact 3 is about row 99 of hosts, which has 3",
        ),
        (
            "tells-of-no-table",
            "`members`, which the part does not read",
        ),
    ] {
        let mut scheduler = scene(&selecting("misleading", how));
        let decision = scheduler.place(request(vm("v"))).unwrap();
        assert_eq!(decision.decided.left_out, [], "{how}");
        let explanation = scheduler.explain(decision.number).unwrap();
        assert_eq!(explanation.stages[0].facts, [], "{how}");
        assert_eq!(explanation.chosen, decision.host);
        let [LeftOutShown { fault: said, .. }] = &explanation.left_out[..] else {
            panic!("{how}: {:?}", explanation.left_out);
        };
        assert_named(said, part);
    }
}

#[test]
fn a_part_that_goes_wrong_only_in_explaining_is_named_and_all_else_is_told() {
    let generation = generation(&["misleading", "parts"]);
    for (how, part) in ANYWHERE {
        if how == "loops-forever" {
            // The others are to have time enough.
            continue;
        }
        let policy = [
            "[[costs]]\nunit = 'parts'\nname = 'before'\n",
            &selecting("misleading", how),
            "settings.which = 'only-explaining'\n",
            "[[selections]]\nunit = 'parts'\nname = 'after'\nsettings.near = 1\n",
        ]
        .concat();
        let mut scheduler = scheduler(cluster(3), &policy, &generation);
        let decision = scheduler.place(request(vm("v"))).unwrap();
        assert_eq!(decision.decided.left_out, [], "{how}");
        let explanation = scheduler.explain(decision.number).unwrap();
        assert_eq!(explanation.chosen, decision.host);
        let [LeftOutShown { entry, fault: said }] = &explanation.left_out[..] else {
            panic!("{how}: {:?}", explanation.left_out);
        };
        assert_eq!(&**entry, "misleading");
        assert_named(said, part);
        let [stage] = &explanation.stages[..] else {
            panic!("{how}: {:?}", explanation.stages);
        };
        assert_eq!((stage.hosts.len(), stage.selections.len()), (3, 2));
        let mut told: Vec<_> = stage.facts.iter().map(|fact| &*fact.entry).collect();
        told.dedup();
        assert_eq!(told, ["before", "after"], "{how}");
    }
}

#[test]
fn effects_have_only_the_time_that_the_chain_leaves_them() {
    // No unit decides, so that the chain itself needs none.
    let policy = following("misleading", "nothing");
    let mut scheduler = limited(cluster(3), &policy, &misleading(), Duration::ZERO);
    let error = scheduler.place(request(vm("v"))).unwrap_err();
    let PlaceError::Refusal(DecisionError::OutOfTime { slowest, .. }) = &error else {
        panic!("{error}");
    };
    assert_eq!(&**slowest, "misleading");
    assert!(scheduler.inventory().pending("v").is_none());
}

#[test]
fn parts_that_refuse_are_not_blamed() {
    for policy in [
        selecting("misleading", "refuses"),
        following("misleading", "refuses"),
    ] {
        let error = no_decision(&policy);
        let PlaceError::Refusal(DecisionError::Refused(said)) = error else {
            panic!("{error}");
        };
        assert!(said.contains("the VM must name its owner"), "{said}");
        assert!(!said.contains("failed"), "{said}");
    }
}

#[test]
fn after_a_failure_the_next_decision_is_made_as_if_nothing_had_been() {
    let generation = misleading();
    let policy = selecting("misleading", "shares-nan");
    let mut scheduler = scheduler(cluster(3), &policy, &generation);
    for (host, draw) in [("h0", 0.0), ("h1", 0.5), ("h2", 0.9)] {
        let decision = scheduler.place(drawn(host, draw)).unwrap();
        assert_eq!(decision.host.as_deref(), Some(host));
    }
    assert_eq!(scheduler.inventory().pending_count(), 3);
}
