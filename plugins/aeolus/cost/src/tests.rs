use super::*;

fn host(listed: i64, amounts: &[Option<i64>]) -> Host {
    let row = |&amount: &Option<i64>| Amount { amount };
    Host {
        listed,
        costs: amounts.iter().map(row).collect(),
    }
}

/// The groups of candidates with equal shares, as rows and shares.
fn refined(hosts: Vec<Host>, settings: &Settings) -> Vec<Vec<(u32, f64)>> {
    let share = 1.0 / hosts.len() as f64;
    let request = Request {
        candidates: hosts.iter().map(|_| Standing { group: 0, share }).collect(),
        hosts: hosts.into(),
    };
    let groups = Cost::refine(&request, settings).expect("the settings are sound");
    let group = |group: &Vec<Share>| group.iter().map(|it| (it.candidate, it.share)).collect();
    groups.0.iter().map(group).collect()
}

fn defaults() -> Settings {
    Settings::defaults().expect("all have defaults")
}

#[test]
fn a_deployment_costs_the_sum_of_its_instances() {
    assert_eq!(host(0, &[Some(1), Some(2)]).total(), Some(3));
    assert_eq!(host(0, &[Some(i64::MAX), Some(1)]).total(), Some(i64::MAX));
}

#[test]
fn the_cost_is_unknown_if_that_of_one_instance_is() {
    assert_eq!(host(0, &[Some(1), None]).total(), None);
    assert_eq!(host(0, &[None, Some(1)]).total(), None);
    assert_eq!(host(0, &[]).total(), None);
}

#[test]
fn cheaper_comes_first_equals_stand_together_and_the_unknown_last() {
    let hosts = vec![
        host(0, &[None, Some(1)]),
        host(1, &[Some(2), Some(2)]),
        host(2, &[Some(3), Some(0)]),
        host(3, &[Some(1), Some(2)]),
    ];
    let groups = refined(hosts, &defaults());
    let expected = [vec![(2, 0.5), (3, 0.5)], vec![(1, 1.0)], vec![(0, 1.0)]];
    assert_eq!(groups, expected);
}

#[test]
fn probabilistic_cost_favours_the_cheap_and_takes_the_unknown_for_the_dearest() {
    let settings = Settings {
        mode: "probabilistic".into(),
        percent: Some(50.0),
        ..defaults()
    };
    let amounts = [Some(0), Some(5), Some(10), None];
    let hosts = (0..)
        .zip(amounts)
        .map(|(listed, amount)| host(listed, &[amount]));
    let groups = refined(hosts.collect(), &settings);
    // Merits 1, 1/2, 0, 0; mean 3/8.
    let expected = [0.5625, 0.3125, 0.0625, 0.0625];
    assert_eq!(groups.len(), 1);
    for ((_, share), expected) in groups[0].iter().zip(expected) {
        assert!((share - expected).abs() < 1e-12, "{groups:?}");
    }
}

#[test]
fn probabilistic_cost_needs_a_percentage() {
    let settings = Settings {
        mode: "probabilistic".into(),
        ..defaults()
    };
    assert!(Cost::check(&settings).is_err());
}
