use super::*;

/// Hosts of these accounts, listed in this order.
fn request(accounts: &[Option<&str>]) -> Request {
    let host = |(number, account): (usize, &Option<&str>)| Host {
        id: format!("h{number}").into(),
        listed: number as i64,
        account: account.map(Text::from),
    };
    let share = 1.0 / accounts.len() as f64;
    Request {
        candidates: (accounts.iter())
            .map(|_| Standing { group: 0, share })
            .collect(),
        hosts: accounts.iter().enumerate().map(host).collect(),
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
fn shares(accounts: &[Option<&str>], weights: &[(&str, f64)]) -> Vec<f64> {
    let groups = EqualShares::refine(&request(accounts), &settings(weights));
    let groups = groups.expect("the settings are sound").0;
    assert_eq!(groups.len(), 1);
    groups[0].iter().map(|share| share.share).collect()
}

#[test]
fn accounts_have_equal_chances_however_many_hosts_they_have() {
    let accounts = [Some("a"), Some("b"), Some("a")];
    assert_eq!(shares(&accounts, &[]), [0.25, 0.5, 0.25]);
}

#[test]
fn an_account_of_double_weight_has_a_double_chance() {
    let accounts = [Some("a"), Some("b"), Some("c")];
    assert_eq!(shares(&accounts, &[("b", 2.0)]), [0.25, 0.5, 0.25]);
    assert_eq!(shares(&accounts, &[("b", 0.0)]), [0.5, 0.0, 0.5]);
}

#[test]
fn a_host_without_account_is_one_by_itself_under_its_id() {
    assert_eq!(shares(&[None, None], &[("h1", 3.0)]), [0.25, 0.75]);
}

#[test]
fn weights_for_accounts_that_are_not_there_change_nothing() {
    assert_eq!(shares(&[Some("a"), Some("b")], &[("z", 9.0)]), [0.5, 0.5]);
}

#[test]
fn bad_weights_are_refused_whoever_asks() {
    let bad = || settings(&[("a", -1.0)]);
    assert!(EqualShares::check(&bad()).is_err());
    let answer = EqualShares::refine(&request(&[Some("a")]), &bad());
    assert!(matches!(answer, Err(Problem::Refused(_))));
}

#[test]
fn it_begins_a_stack() {
    let part = native_unit().describe().selection;
    assert_eq!(part.map(|part| part.position), Some(Position::First));
}
