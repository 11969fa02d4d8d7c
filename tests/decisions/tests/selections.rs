//! Selections put candidates in groups with shares: what they are shown, whom they
//! leave, and how the host is drawn.

use std::sync::Arc;

use placewright_chain::{DecisionError, Explanation};
use placewright_model::Host;
use placewright_scheduler::{PlaceError, Scheduler};
use placewright_tests::parts::{drawn, of, parts, shares};
use placewright_tests::scene::{GIB, cluster, request, vm};

/// Costs 0, 1, 2, ... in the order of the list, and one selection.
fn refining(refine: &str) -> String {
    refining_near(0, refine)
}

/// Costs that grow with the distance from that place of the list, and one selection.
fn refining_near(place: usize, refine: &str) -> String {
    format!(
        "[[costs]]\nunit = 'parts'\nname = 'first'\nsettings.near = {place}\n\
         [[selections]]\nunit = 'parts'\nname = 'last-word'\nsettings.refine = '{refine}'\n"
    )
}

/// Where a VM goes with that draw.
fn host(scheduler: &mut Scheduler, draw: f64) -> Arc<str> {
    let request = placewright_model::Request {
        dry_run: true,
        ..drawn("v", draw)
    };
    scheduler.place(request).unwrap().host.clone().unwrap()
}

/// The ids of the hosts that came to a stage.
fn hosts_of(explanation: &Explanation, stage: usize) -> Vec<&str> {
    let hosts = explanation.stages[stage].hosts.iter();
    hosts.map(|host| &*host.host).collect()
}

fn assert_shares(got: &[Vec<(&str, f64)>], expected: &[&[(&str, f64)]]) {
    assert_eq!(got.len(), expected.len(), "{got:?}");
    for (got, expected) in got.iter().zip(expected) {
        assert_eq!(got.len(), expected.len(), "{got:?}");
        for ((id, share), (expected_id, expected_share)) in got.iter().zip(*expected) {
            assert_eq!(id, expected_id, "{got:?}");
            assert!((share - expected_share).abs() < 1e-12, "{got:?}");
        }
    }
}

#[test]
fn candidates_carry_the_costs_of_this_and_of_earlier_stages_by_name() {
    // The first stage costs 0, 1, 2, 3; the second, without h3, twice 3, 2, 1.
    let policy = |refine: &str| {
        format!(
            "[[stages]]
            [[stages.costs]]
            unit = 'parts'
            name = 'first'
            [[stages]]
            [[stages.filters]]
            unit = 'parts'
            settings.without = 'h3'
            [[stages.costs]]
            unit = 'parts'
            name = 'second'
            settings.near = 3
            factor = 2
            [[stages.selections]]
            unit = 'parts'
            settings.refine = '{refine}'"
        )
    };
    // The share of each grows with 1 + the number that it carries.
    for (refine, weights) in [
        ("weigh-first", [1.0, 2.0, 3.0]),
        ("weigh-second", [4.0, 3.0, 2.0]),
        ("weigh-cost", [7.0, 5.0, 3.0]),
    ] {
        let decision = parts(4, &policy(refine)).place(request(vm("v"))).unwrap();
        let sum: f64 = weights.iter().sum();
        let [h0, h1, h2] = weights.map(|weight| weight / sum);
        assert_shares(&shares(&decision), &[&[("h2", h2), ("h1", h1), ("h0", h0)]]);
    }
}

#[test]
fn a_cost_that_the_policy_does_not_have_is_absent() {
    let said = parts(3, &refining("weigh-second"))
        .place(request(vm("v")))
        .unwrap_err();
    assert!(
        said.to_string().contains("lacks the cost to weigh"),
        "{said}"
    );
}

#[test]
fn candidates_carry_the_groups_and_shares_of_the_selection_before() {
    let policy = "
        [[selections]]
        unit = 'parts'
        name = 'one'
        settings.refine = 'halves'
        [[selections]]
        unit = 'parts'
        name = 'two'
        settings.refine = 'keep'";
    let mut scheduler = parts(5, policy);
    let decision = scheduler.place(request(vm("v"))).unwrap();
    let third = 1.0 / 3.0;
    assert_shares(
        &shares(&decision),
        &[
            &[("h0", third), ("h2", third), ("h4", third)],
            &[("h1", 0.5), ("h3", 0.5)],
        ],
    );
}

#[test]
fn before_any_selection_all_candidates_stand_in_one_group_with_equal_shares() {
    let decision = parts(4, &refining("keep")).place(request(vm("v"))).unwrap();
    let all = ["h0", "h1", "h2", "h3"].map(|id| (id, 0.25));
    assert_shares(&shares(&decision), &[&all]);
}

#[test]
fn a_selection_in_a_stage_that_is_not_last_lets_the_first_live_group_pass() {
    let policy = |refine: &str| {
        format!(
            "[[stages]]
            [[stages.selections]]
            unit = 'parts'
            settings.refine = '{refine}'
            [[stages]]
            [[stages.costs]]
            unit = 'parts'
            settings.near = 3"
        )
    };
    let mut scheduler = parts(4, &policy("halves"));
    let decision = scheduler.place(request(vm("v"))).unwrap();
    // h3 would cost nothing, but is in the second group.
    assert_eq!(decision.host.as_deref(), Some("h2"));
    assert_eq!(decision.shares, [] as [Vec<_>; 0]);
    let explanation = scheduler.explain(decision.number).unwrap();
    assert_eq!(hosts_of(&explanation, 1), ["h0", "h2"]);
    let passed_over = explanation.stages[0]
        .hosts
        .iter()
        .map(|host| host.passed_over);
    assert_eq!(passed_over.collect::<Vec<_>>(), [false, true, false, true]);
    // The first group has no chance.
    let mut scheduler = parts(4, &policy("dead-first"));
    let decision = scheduler.place(request(vm("v"))).unwrap();
    let explanation = scheduler.explain(decision.number).unwrap();
    assert_eq!(hosts_of(&explanation, 1), ["h1", "h2", "h3"]);
}

#[test]
fn in_the_last_stage_the_host_is_drawn_from_the_shares_in_listed_order() {
    // Shares of 0.1, 0.2, 0.3 and 0.4.
    let mut scheduler = parts(4, &refining("weigh-first"));
    for (draw, expected) in [
        (0.0, "h0"),
        (0.099, "h0"),
        (0.1, "h1"),
        (0.29, "h1"),
        (0.31, "h2"),
        (0.59, "h2"),
        (0.61, "h3"),
        (0.999_999, "h3"),
    ] {
        assert_eq!(&*host(&mut scheduler, draw), expected, "{draw}");
    }
    let decision = scheduler.place(drawn("v", 0.5)).unwrap();
    assert_eq!(decision.decided.chosen.as_ref().unwrap().tied, 4);
}

#[test]
fn the_list_is_the_order_in_which_hosts_were_added_whatever_their_ids() {
    let mut inventory = cluster(3);
    inventory.remove_host("h0").unwrap();
    // Takes the free place of h0, and is the last of the list.
    let late = Host::new("a0").with("memory.total", 64 * GIB);
    inventory.add_host(late).unwrap();
    let mut scheduler = of(inventory, &refining("keep"));
    let hosts = [0.1, 0.5, 0.9].map(|draw| host(&mut scheduler, draw));
    assert_eq!(hosts.each_ref().map(|host| &**host), ["h1", "h2", "a0"]);
}

#[test]
fn groups_without_chance_are_drawn_from_never() {
    let mut scheduler = parts(3, &refining("dead-first"));
    let hosts = [0.0, 0.5, 0.99].map(|draw| host(&mut scheduler, draw));
    assert_eq!(hosts.each_ref().map(|host| &**host), ["h1", "h2", "h2"]);
    let decision = scheduler.place(request(vm("v"))).unwrap();
    assert_shares(
        &shares(&decision),
        &[&[("h0", 0.0)], &[("h1", 0.5), ("h2", 0.5)]],
    );
}

#[test]
fn a_dry_run_gives_the_shares_and_changes_nothing() {
    let mut scheduler = parts(4, &refining("halves"));
    let before = scheduler.inventory().version();
    let mut dry = drawn("v", 0.7);
    dry.dry_run = true;
    let decision = scheduler.place(dry).unwrap();
    assert_eq!(decision.host.as_deref(), Some("h2"));
    assert_shares(
        &shares(&decision),
        &[&[("h0", 0.5), ("h2", 0.5)], &[("h1", 0.5), ("h3", 0.5)]],
    );
    assert_eq!(scheduler.inventory().version(), before);
    assert_eq!(scheduler.inventory().pending_count(), 0);
}

#[test]
fn an_empty_answer_leaves_nobody_and_counts_by_the_name_of_the_selection() {
    let mut scheduler = parts(4, &refining("nobody"));
    let decision = scheduler.place(request(vm("v"))).unwrap();
    assert_eq!(decision.host, None);
    let [removed] = &decision.decided.removed[..] else {
        panic!("one reason: {:?}", decision.decided.removed);
    };
    assert_eq!((&*removed.filter, removed.hosts), ("last-word", 4));
    assert_eq!(
        &*removed.reason,
        "is not among those that the selection leaves"
    );
    assert_eq!(scheduler.inventory().pending_count(), 0);
    let explanation = scheduler.explain(decision.number).unwrap();
    let removed = explanation.stages[0].hosts[2].removed.as_ref().unwrap();
    assert_eq!((&*removed.filter, &*removed.unit), ("last-word", "parts"));
    assert_eq!(
        explanation.stages[0].selections[0].groups,
        [] as [Vec<_>; 0]
    );
}

#[test]
fn where_a_filter_leaves_nobody_a_selection_has_nobody_to_choose_from() {
    let policy = "[[filters]]\nunit = 'parts'\nsettings.without = 'h0'\n".to_owned()
        + &refining("weigh-cost");
    let mut scheduler = parts(1, &policy);
    let decision = scheduler.place(request(vm("v"))).unwrap();
    assert_eq!(decision.host, None);
    assert_eq!(&*decision.decided.removed[0].filter, "parts");
    assert_eq!(decision.decided.removed.len(), 1);
}

#[test]
fn a_selection_that_fails_leaves_those_of_best_cost_and_is_marked() {
    let mut scheduler = parts(4, &refining_near(1, "fail"));
    let decision = scheduler.place(request(vm("v"))).unwrap();
    assert_eq!(decision.host.as_deref(), Some("h1"));
    assert_shares(&shares(&decision), &[&[("h1", 1.0)]]);
    let [left_out] = &decision.decided.left_out[..] else {
        panic!("one entry is left out");
    };
    assert_eq!(&*left_out.entry, "last-word");
    let said = left_out.fault.to_string();
    assert!(
        said.contains("\"parts\"") && said.contains("selection"),
        "{said}"
    );
    assert!(
        said.ends_with("failed: the part has lost its way"),
        "{said}"
    );
}

#[test]
fn among_candidates_of_equal_cost_that_a_failed_selection_leaves_the_host_is_drawn() {
    let policy = "[[selections]]\nunit = 'parts'\nsettings.refine = 'fail'";
    let mut scheduler = parts(4, policy);
    assert_eq!(&*host(&mut scheduler, 0.6), "h2");
    let decision = scheduler.place(drawn("v", 0.6)).unwrap();
    let all = ["h0", "h1", "h2", "h3"].map(|id| (id, 0.25));
    assert_shares(&shares(&decision), &[&all]);
}

#[test]
fn a_selection_that_the_policy_needs_fails_the_decision() {
    let mut scheduler = parts(4, &(refining("fail") + "on-failure = 'fail'\n"));
    let before = scheduler.inventory().version();
    let error = scheduler.place(request(vm("v"))).unwrap_err();
    let PlaceError::Refusal(DecisionError::Failed { entry, .. }) = &error else {
        panic!("{error}");
    };
    assert_eq!(&**entry, "last-word");
    assert_eq!(scheduler.inventory().version(), before);
    assert_eq!(scheduler.decisions().count(), 0);
}

#[test]
fn a_selection_that_refuses_is_not_blamed_and_the_request_is_told() {
    let error = parts(4, &refining("refuse"))
        .place(request(vm("v")))
        .unwrap_err();
    let PlaceError::Refusal(DecisionError::Refused(said)) = &error else {
        panic!("{error}");
    };
    assert!(said.contains("the VM must name its owner"), "{said}");
}

#[test]
fn a_stage_that_keeps_the_best_passes_those_of_least_cost_in_all_tiers() {
    // Without h1, both h0 and h2 are one place away from it.
    let stages = |more: &str| {
        format!(
            "[[stages]]
            keep = 'best'
            [[stages.filters]]
            unit = 'parts'
            settings.without = 'h1'
            [[stages.costs]]
            unit = 'parts'
            settings.near = 1
            tier = 1
            {more}
            [[stages]]
            [[stages.costs]]
            unit = 'parts'
            name = 'last'
            settings.near = 3"
        )
    };
    let second = "
        [[stages.costs]]
        unit = 'parts'
        name = 'second'
        tier = 2";
    for (more, left) in [("", &["h0", "h2"][..]), (second, &["h0"])] {
        let mut scheduler = parts(4, &stages(more));
        let decision = scheduler.place(request(vm("v"))).unwrap();
        let explanation = scheduler.explain(decision.number).unwrap();
        assert_eq!(hosts_of(&explanation, 1), left);
        assert_eq!(decision.host.as_deref(), left.last().copied());
        let removed: usize = decision.decided.removed.iter().map(|it| it.hosts).sum();
        assert_eq!(removed, 1, "passed over is not removed");
    }
}

#[test]
fn a_stage_keeps_the_best_of_those_that_its_selections_leave() {
    let policy = "
        [[stages]]
        keep = 'best'
        [[stages.costs]]
        unit = 'parts'
        settings.near = 3
        [[stages.selections]]
        unit = 'parts'
        settings.refine = 'halves'
        [[stages]]";
    let mut scheduler = parts(4, policy);
    let decision = scheduler.place(request(vm("v"))).unwrap();
    let explanation = scheduler.explain(decision.number).unwrap();
    assert_eq!(hosts_of(&explanation, 1), ["h2"]);
}

#[test]
fn hosts_that_a_request_does_not_prefer_are_not_removed_by_a_selection() {
    let mut scheduler = parts(4, &refining("keep"));
    let mut preferring = drawn("v", 0.9);
    preferring.preferred = vec!["h0".into(), "h1".into()];
    let decision = scheduler.place(preferring).unwrap();
    assert_shares(&shares(&decision), &[&[("h0", 0.5), ("h1", 0.5)]]);
    assert_eq!(decision.host.as_deref(), Some("h1"));
    assert_eq!(decision.decided.removed, []);
}

#[test]
fn an_explanation_shows_groups_and_shares_after_each_selection() {
    let policy = refining("halves").replace("last-word", "one")
        + "[[selections]]\nunit = 'parts'\nname = 'two'\nsettings.refine = 'dead-first'\n";
    let mut scheduler = parts(3, &policy);
    let decision = scheduler.place(request(vm("v"))).unwrap();
    let explanation = scheduler.explain(decision.number).unwrap();
    let shown: Vec<_> = explanation.stages[0]
        .selections
        .iter()
        .map(|selection| {
            let groups: Vec<Vec<(&str, f64)>> = selection
                .groups
                .iter()
                .map(|group| group.iter().map(|it| (&*it.host, it.share)).collect())
                .collect();
            (&*selection.name, &*selection.unit, groups)
        })
        .collect();
    let one = vec![vec![("h0", 0.5), ("h2", 0.5)], vec![("h1", 1.0)]];
    let two = vec![vec![("h0", 0.0)], vec![("h1", 0.5), ("h2", 0.5)]];
    assert_eq!(shown, [("one", "parts", one), ("two", "parts", two)]);
    assert_eq!(explanation.chosen, decision.host);
}

#[test]
fn the_same_seed_draws_the_same_hosts_again() {
    let hosts = |_| -> Vec<_> {
        let mut scheduler = parts(5, &refining("weigh-cost"));
        let place = |number: usize| scheduler.place(request(vm(&format!("v{number}"))));
        let decisions = (0..30).map(place).map(Result::unwrap);
        decisions
            .map(|it| (it.draw.to_bits(), it.host.clone()))
            .collect()
    };
    let [first, second] = [0, 1].map(hosts);
    assert_eq!(first, second);
    let mut used: Vec<_> = first.into_iter().filter_map(|(_, host)| host).collect();
    used.sort_unstable();
    used.dedup();
    assert_eq!(used.len(), 5, "30 draws from shares of 1/15 to 5/15");
}
