use super::*;

/// Rows are (used, total).
fn host(usage: &[(i64, i64)]) -> Host {
    let row = |&(used, total): &(i64, i64)| Usage { used, total };
    Host {
        threshold: None,
        usage: usage.iter().map(row).collect(),
    }
}

fn keep(percent: f64, host: &Host) -> Verdict<Reason> {
    let settings = Settings { threshold: percent };
    let threshold = IdleCapacity::prepare(&(), &settings).expect("nothing is refused");
    IdleCapacity::keep(&threshold, host)
}

fn cost(usage: &[(i64, i64)]) -> f64 {
    IdleCapacity::cost(&Threshold::percent(90.0), &host(usage))
}

fn exhausted(percent: f64, used: i64, total: i64) -> bool {
    keep(percent, &host(&[(used, total)])) == Verdict::Remove(Reason::Exhausted)
}

#[test]
fn a_threshold_that_is_met_exactly_exhausts_and_one_less_does_not() {
    // 90 % of 7 is 6.3, of 64 is 57.6.
    for (total, first) in [(7, 7), (64, 58), (100, 90), (200, 180)] {
        assert!(exhausted(90.0, first, total), "{first} of {total}");
        assert!(!exhausted(90.0, first - 1, total), "{first} - 1 of {total}");
        assert!(exhausted(90.0, first + 1, total), "{first} + 1 of {total}");
    }
}

#[test]
fn at_a_threshold_of_all_only_what_is_full_is_exhausted() {
    assert!(!exhausted(100.0, 99, 100));
    assert!(exhausted(100.0, 100, 100));
    assert!(exhausted(100.0, 120, 100));
}

#[test]
fn one_exhausted_resource_is_enough() {
    let verdict = keep(90.0, &host(&[(0, 100), (90, 100), (10, 100)]));
    assert_eq!(verdict, Verdict::Remove(Reason::Exhausted));
}

#[test]
fn a_resource_of_which_there_is_none_does_not_count() {
    let volumes_unlimited = [(0, 0), (72, 0), (40, 100)];
    assert_eq!(keep(90.0, &host(&volumes_unlimited)), Verdict::Keep);
    assert_eq!(cost(&volumes_unlimited), -0.6);
    assert_eq!(cost(&[(72, 0)]), -1.0);
}

#[test]
fn a_host_of_which_nothing_was_reported_is_idle() {
    assert_eq!(keep(0.0, &host(&[])), Verdict::Keep);
    assert_eq!(cost(&[]), -1.0);
}

#[test]
fn a_threshold_of_the_hosts_own_goes_first() {
    let own = |threshold| Host {
        threshold: Some(threshold),
        ..host(&[(70, 100)])
    };
    let exhausted = Verdict::Remove(Reason::Exhausted);
    assert_eq!(keep(90.0, &own(70.0)), exhausted);
    assert_eq!(keep(60.0, &own(80.0)), Verdict::Keep);
}

#[test]
fn a_fraction_of_a_percent_is_met_as_it_is_written() {
    // As floats, 1.1 is a little more, and 66.6 a little less, than it says.
    assert!(exhausted(1.1, 11, 1_000));
    assert!(!exhausted(1.1, 10_999_999, 1_000_000_000));
    assert!(exhausted(66.6, 666, 1_000));
    assert!(!exhausted(66.6, 665_999_999, 1_000_000_000));
}

#[test]
fn amounts_of_any_size_are_compared_exactly() {
    let most = (1 << 53) - 1;
    assert!(exhausted(100.0, most, most));
    assert!(!exhausted(100.0, most - 1, most));
    assert!(!exhausted(f64::MAX, i64::MAX, i64::MAX));
    assert!(exhausted(0.0, i64::MAX, i64::MAX));
    assert!(cost(&[(i64::MIN, i64::MAX)]).is_finite());
}

#[test]
fn the_scarcest_resource_says_how_idle_a_host_is() {
    assert_eq!(cost(&[(25, 100), (75, 100), (50, 100)]), -0.25);
    assert!(cost(&[(10, 100)]) < cost(&[(20, 100)]));
    assert_eq!(cost(&[(150, 100)]), 0.5);
}

/// For all small amounts: what the threshold says of them, it says of their
/// multiples; more use never makes a host less exhausted or better.
#[test]
fn exhaustion_goes_by_shares_and_grows_with_use() {
    for percent in [0.0, 12.5, 33.0, 50.0, 90.0, 100.0] {
        for total in 1..=24 {
            for used in 0..=total {
                let here = exhausted(percent, used, total);
                let multiple = 1 << 40;
                assert_eq!(here, exhausted(percent, used * multiple, total * multiple));
                assert!(!here || exhausted(percent, used + 1, total));
                assert!(cost(&[(used, total)]) < cost(&[(used + 1, total)]));
            }
        }
    }
}
