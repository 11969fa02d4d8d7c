use super::*;

/// A host of an account with a number of instances.
fn host(listed: i64, account: &str, running: Option<i64>) -> Host {
    Host {
        id: format!("h{listed}").into(),
        listed,
        account: Some(account.into()),
        running,
        vms: 0,
        pending: 0,
    }
}

fn settings(weights: &[(&str, f64)]) -> Settings {
    let row = |&(account, weight): &(&str, f64)| Weight {
        account: account.into(),
        weight,
    };
    Settings {
        weights: weights.iter().map(row).collect(),
    }
}

/// The shares of the only group.
fn shares(hosts: Vec<Host>, weights: &[(&str, f64)]) -> Vec<f64> {
    let standing = |_: &Host| Standing {
        group: 0,
        share: 1.0 / hosts.len() as f64,
    };
    let request = Request {
        candidates: hosts.iter().map(standing).collect(),
        hosts: hosts.into(),
    };
    let groups = LeastUsed::refine(&request, &settings(weights));
    let groups = groups.expect("the settings are sound").0;
    assert_eq!(groups.len(), 1);
    groups[0].iter().map(|share| share.share).collect()
}

#[track_caller]
fn assert_close(shares: &[f64], expected: &[f64]) {
    let near = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-12;
    let close = shares.len() == expected.len() && shares.iter().zip(expected).all(near);
    assert!(close, "{shares:?}, not {expected:?}");
}

#[test]
fn an_account_gets_the_less_the_more_of_it_is_used() {
    let hosts = vec![host(0, "a", Some(3)), host(1, "b", Some(0))];
    // 1 / (1 + 3) beside 1.
    assert_close(&shares(hosts, &[]), &[0.2, 0.8]);
}

#[test]
fn idle_and_evenly_used_accounts_share_by_weight() {
    let idle = vec![host(0, "a", None), host(1, "b", None)];
    assert_close(&shares(idle, &[("a", 3.0)]), &[0.75, 0.25]);
    let even = vec![host(0, "a", Some(6)), host(1, "b", Some(2))];
    assert_close(&shares(even, &[("a", 3.0)]), &[0.75, 0.25]);
}

#[test]
fn an_account_without_weight_has_no_chance_used_or_not() {
    let hosts = vec![host(0, "a", Some(0)), host(1, "b", Some(90))];
    assert_close(&shares(hosts, &[("a", 0.0)]), &[0.0, 1.0]);
}

#[test]
fn instances_of_the_inventory_count_on_all_hosts_of_the_account() {
    let hosts = vec![
        Host {
            vms: 1,
            pending: 1,
            ..host(0, "a", Some(1))
        },
        host(1, "a", Some(1)),
        host(2, "b", Some(0)),
    ];
    // 1 / (1 + 3), divided over two hosts, beside 1.
    assert_close(&shares(hosts, &[]), &[0.1, 0.1, 0.8]);
}

#[test]
fn absurd_weights_and_counts_still_give_shares() {
    let hosts = vec![host(0, "a", Some(i64::MAX)), host(1, "b", Some(i64::MAX))];
    let shares = shares(hosts, &[("a", f64::MIN_POSITIVE), ("b", f64::MAX)]);
    assert_close(&shares, &[0.0, 1.0]);
}

#[test]
fn bad_weights_are_refused() {
    let twice = settings(&[("a", 1.0), ("a", 2.0)]);
    assert!(LeastUsed::check(&twice).is_err());
}

#[test]
fn it_begins_a_stack() {
    let part = native_unit().describe().selection;
    assert_eq!(part.map(|part| part.position), Some(Position::First));
}
