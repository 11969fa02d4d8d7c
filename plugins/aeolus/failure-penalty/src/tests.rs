use super::*;

const NOW: i64 = 1_700_000_000;

struct Case {
    share: f64,
    account: &'static str,
    failures: &'static [i64],
}

fn case(share: f64, account: &'static str, failures: &'static [i64]) -> Case {
    Case {
        share,
        account,
        failures,
    }
}

fn settings() -> Settings {
    Settings::defaults().expect("all have defaults")
}

/// The shares of one group after the penalty.
fn fined(cases: &[Case], settings: &Settings) -> Vec<f64> {
    let host = |(listed, case): (i64, &Case)| Host {
        id: format!("h{listed}").into(),
        listed,
        account: Some(case.account.into()),
        failures: (case.failures.iter())
            .map(|time| Failure {
                time: Seconds(*time),
            })
            .collect(),
    };
    let request = Request {
        request: Now { now: Seconds(NOW) },
        candidates: (cases.iter())
            .map(|case| Standing {
                group: 0,
                share: case.share,
            })
            .collect(),
        hosts: (0..).zip(cases).map(host).collect(),
    };
    let groups = FailurePenalty::refine(&request, settings).expect("nothing is refused");
    assert_eq!(groups.0.len(), 1);
    groups.0[0].iter().map(|share| share.share).collect()
}

#[track_caller]
fn assert_close(shares: &[f64], expected: &[f64]) {
    let near = |(one, other): (&f64, &f64)| {
        (one - other).abs() < 1e-12 && (*one == 0.0) == (*other == 0.0)
    };
    let close = shares.len() == expected.len() && shares.iter().zip(expected).all(near);
    assert!(close, "{shares:?}, not {expected:?}");
}

#[test]
fn each_failure_costs_five_points() {
    let cases = [case(0.5, "a", &[NOW, NOW - 60]), case(0.5, "b", &[])];
    assert_close(&fined(&cases, &settings()), &[0.4 / 0.9, 0.5 / 0.9]);
}

#[test]
fn a_failure_counts_for_six_hours_both_ends_included_and_not_ahead_of_time() {
    let failures = |times: &'static [i64]| {
        let host = Host {
            id: "h".into(),
            listed: 0,
            account: None,
            failures: (times.iter())
                .map(|time| Failure {
                    time: Seconds(*time),
                })
                .collect(),
        };
        Penalty::new(Seconds(NOW), &settings()).failures(&host)
    };
    assert_eq!(failures(&[NOW - 21_600, NOW]), 2);
    assert_eq!(failures(&[NOW - 21_601, NOW + 1]), 0);
}

#[test]
fn the_fine_is_the_accounts_and_its_hosts_bear_it_alike() {
    const ONE: &[i64] = &[NOW];
    let cases = [
        case(0.3, "a", ONE),
        case(0.2, "a", ONE),
        case(0.5, "b", &[]),
    ];
    // 0.5 less 0.05, divided 3 to 2.
    let expected = [0.27 / 0.95, 0.18 / 0.95, 0.5 / 0.95];
    assert_close(&fined(&cases, &settings()), &expected);
}

#[test]
fn a_relative_fine_is_a_part_of_the_own_share_and_does_not_compound() {
    let relative = Settings {
        unit: "relative".into(),
        ..settings()
    };
    let cases = [case(0.5, "a", &[NOW; 4]), case(0.5, "b", &[])];
    assert_close(&fined(&cases, &relative), &[0.4 / 0.9, 0.5 / 0.9]);
}

#[test]
fn an_account_can_be_fined_to_exactly_nothing() {
    // 6 times 0.05 is a little more than 0.3 in floats, 3 times 0.1 as well.
    let cases = [case(0.3, "a", &[NOW; 6]), case(0.7, "b", &[])];
    assert_close(&fined(&cases, &settings()), &[0.0, 1.0]);
    // And 7 fourteenths are 0.35 less what rounding makes of it.
    let cases = [
        case(0.35 / 2.0, "a", &[NOW; 7]),
        case(0.35 / 2.0, "a", &[NOW; 7]),
        case(0.65, "b", &[]),
    ];
    assert_close(&fined(&cases, &settings()), &[0.0, 0.0, 1.0]);
}

#[test]
fn if_all_would_be_fined_to_nothing_none_is() {
    let cases = [case(0.75, "a", &[NOW; 20]), case(0.25, "b", &[NOW; 20])];
    assert_close(&fined(&cases, &settings()), &[0.75, 0.25]);
}

#[test]
fn who_has_no_chance_pays_nothing_and_gets_none() {
    let cases = [case(0.0, "a", &[NOW]), case(1.0, "b", &[NOW])];
    assert_close(&fined(&cases, &settings()), &[0.0, 1.0]);
}

#[test]
fn absurd_settings_still_give_shares() {
    let absurd = Settings {
        percent: f64::MAX,
        period: Seconds(i64::MAX),
        ..settings()
    };
    let cases = [case(0.5, "a", &[NOW, i64::MIN]), case(0.5, "b", &[])];
    assert_close(&fined(&cases, &absurd), &[0.0, 1.0]);
}
