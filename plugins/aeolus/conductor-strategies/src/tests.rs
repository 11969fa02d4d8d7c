use super::*;

const NOW: i64 = 1_700_000_000;

/// The only host of an account, with the times of failures before now and prices in
/// millionths.
fn host(listed: i64, account: &str, ago: &[i64], prices: &[Option<i64>]) -> Host {
    let failure = |ago: &i64| Failure {
        time: Seconds(NOW - ago),
    };
    let amount = |&amount: &Option<i64>| Amount { amount };
    Host {
        id: format!("h{listed}").into(),
        listed,
        account: Some(account.into()),
        failures: ago.iter().map(failure).collect(),
        costs: prices.iter().map(amount).collect(),
    }
}

/// Accounts a, b, c without failures and costs.
fn three() -> Vec<Host> {
    let accounts = (0..).zip(["a", "b", "c"]);
    accounts
        .map(|(listed, it)| host(listed, it, &[], &[]))
        .collect()
}

fn request(hosts: Vec<Host>) -> Request {
    let standing = |_: &Host| Standing {
        group: 0,
        share: 1.0 / hosts.len() as f64,
    };
    Request {
        request: Now { now: Seconds(NOW) },
        candidates: hosts.iter().map(standing).collect(),
        hosts: hosts.into(),
    }
}

fn strategy(name: &str) -> Strategy {
    Strategy {
        name: name.into(),
        enabled: None,
        penalty_percentage: None,
        time_period_minutes: None,
        failure_count_hard_limit: None,
        impact: None,
    }
}

fn settings(
    strategies: Vec<Strategy>,
    scores: &[(&str, i64)],
    members: &[(i64, &str)],
) -> Settings {
    let score = |&(account, score): &(&str, i64)| AccountScore {
        account: account.into(),
        score,
    };
    let member = |&(score, account): &(i64, &str)| PriorityMember {
        score,
        account: account.into(),
    };
    Settings {
        strategies: strategies.into(),
        account_scores: scores.iter().map(score).collect(),
        priority_groups: members.iter().map(member).collect(),
    }
}

/// Score of each group, and rows with weights.
fn groups(hosts: Vec<Host>, settings: &Settings) -> Vec<(i64, Vec<(usize, f64)>)> {
    let (_, groups) = apply(&request(hosts), settings).expect("the settings are sound");
    let group = |group: groups::Group<'_>| (group.score(), group.weights().collect());
    groups.best_first().map(group).collect()
}

#[test]
fn without_strategies_all_have_the_same_chance() {
    let answer = ConductorStrategies::refine(&request(three()), &settings(vec![], &[], &[]));
    let shares = answer.expect("nothing is refused").0;
    assert_eq!(shares.len(), 1);
    assert!(shares[0].iter().all(|it| it.share == 101.0 / 303.0));
}

#[test]
fn nobody_is_without_chance_whatever_the_scores() {
    let twice = || vec![strategy("weighting"), strategy("weighting")];
    let scores = [("a", 100), ("b", -100)];
    let groups = groups(three(), &settings(twice(), &scores, &[]));
    assert_eq!(groups, [(-100_000, vec![(0, 201.0), (1, 1.0), (2, 101.0)])]);
}

#[test]
fn strict_order_adds_groups_and_leaves_the_default_group_whole() {
    let members = [(5, "b"), (7, "c"), (5, "c"), (9, "z")];
    let strict = settings(vec![strategy("strict_order")], &[], &members);
    let expected = [
        (7, vec![(2, 101.0)]),
        (5, vec![(1, 101.0), (2, 101.0)]),
        (-100_000, vec![(0, 101.0), (1, 101.0), (2, 101.0)]),
    ];
    assert_eq!(groups(three(), &strict), expected);
}

#[test]
fn the_order_of_strategies_matters() {
    let members = [(5, "b")];
    let scores = [("b", 10)];
    let names = ["weighting", "strict_order"];
    let before = settings(names.map(strategy).into(), &scores, &members);
    assert_eq!(groups(three(), &before)[0], (5, vec![(1, 101.0)]));
    let names = ["strict_order", "weighting"];
    let after = settings(names.map(strategy).into(), &scores, &members);
    assert_eq!(groups(three(), &after)[0], (5, vec![(1, 111.0)]));
}

#[test]
fn failures_cost_five_points_for_four_hours() {
    let hosts = vec![
        host(0, "a", &[14_400, 0], &[]),
        host(1, "b", &[14_401], &[]),
    ];
    let fined = settings(vec![strategy("penalty_for_failure")], &[], &[]);
    let expected = [(-100_000, vec![(0, 91.0), (1, 101.0)])];
    assert_eq!(groups(hosts, &fined), expected);
}

#[test]
fn too_many_failures_send_an_account_to_the_last_group() {
    let limited = |limit| {
        let penalty = Strategy {
            failure_count_hard_limit: Some(limit),
            ..strategy("penalty_for_failure")
        };
        settings(vec![penalty], &[], &[])
    };
    let hosts = || vec![host(0, "a", &[1, 2], &[]), host(1, "b", &[1], &[])];
    let last = -10_000_000;
    let one = [(-100_000, vec![(1, 96.0)]), (last, vec![(0, 101.0)])];
    assert_eq!(groups(hosts(), &limited(2)), one);
    let none = [(-100_000, vec![(0, 91.0), (1, 96.0)]), (last, vec![])];
    assert_eq!(groups(hosts(), &limited(3)), none);
    // The best group is empty then, and the last one is drawn from.
    let all = limited(0);
    let answer = ConductorStrategies::refine(&request(hosts()), &all);
    assert_eq!(answer, Ok(Groups::only([0, 1])));
}

#[test]
fn cost_order_rewards_by_the_mean_price_where_it_is_known() {
    let hosts = || {
        vec![
            host(0, "a", &[], &[Some(1_000_000), Some(3_000_000)]),
            host(1, "b", &[], &[Some(1_000_000), None]),
            host(2, "c", &[], &[Some(9_000_000_000)]),
        ]
    };
    let weights = |impact| {
        let order = Strategy {
            impact,
            ..strategy("cost_order")
        };
        let (_, group) = groups(hosts(), &settings(vec![order], &[], &[])).remove(0);
        group.into_iter().map(|(_, it)| it).collect::<Vec<_>>()
    };
    let linear = vec![101.0 + 100.0 - 33.0, 101.0, 101.0];
    assert_eq!(weights(None), linear);
    assert_eq!(weights(Some(1)), linear);
    assert_eq!(weights(Some(2))[0], 201.0 - 10.0 * 99.0_f64.ln());
    assert_eq!(weights(Some(3))[0], 201.0 - 4.125 * 15.0);
}

#[test]
fn strategies_that_are_not_enabled_are_passed_over() {
    let off = Strategy {
        enabled: Some(false),
        ..strategy("weighting")
    };
    let off = settings(vec![off], &[("a", 50)], &[]);
    assert_eq!(groups(three(), &off)[0].1[0], (0, 101.0));
}

#[test]
fn only_candidates_are_drawn_and_without_any_nobody_is() {
    let answer = ConductorStrategies::refine(&request(vec![]), &settings(vec![], &[], &[]));
    assert_eq!(answer, Ok(Groups::default()));
}

#[test]
fn explanations_tell_weights_and_chances_in_every_group() {
    let strict = settings(vec![strategy("strict_order")], &[], &[(5, "b")]);
    let facts = ConductorStrategies::explain(&request(three()), &strict);
    let facts = facts.expect("nothing is refused");
    let expected = [
        Fact::new("candidates in group 5", 1),
        Fact::new("weight in group 5", 101.0).about("hosts", 1),
        Fact::new("chance in group 5", 1.0).about("hosts", 1),
        Fact::new("candidates in group -100000", 3),
    ];
    assert_eq!(facts[..4], expected);
    assert_eq!(facts.len(), 10);
}

#[test]
fn settings_that_make_no_sense_are_refused_with_the_rule() {
    let sentence = |settings: &Settings| ConductorStrategies::check(settings).unwrap_err();
    let unknown = settings(vec![strategy("round_robin")], &[], &[]);
    assert!(sentence(&unknown).contains("\"round_robin\""));
    let impact = Strategy {
        impact: Some(4),
        ..strategy("cost_order")
    };
    assert!(sentence(&settings(vec![impact], &[], &[])).contains("1, 2 or 3"));
    let period = Strategy {
        time_period_minutes: Some(-1),
        ..strategy("penalty_for_failure")
    };
    assert!(sentence(&settings(vec![period], &[], &[])).contains("from 0 up"));
    let score = settings(vec![], &[("a", 101)], &[]);
    assert!(sentence(&score).contains("-100 to 100"));
    let twice = settings(vec![], &[("a", 1), ("a", 1)], &[]);
    assert!(sentence(&twice).contains("has two"));
}
