use super::*;

fn sum<const N: usize>(scores: [i64; N]) -> i64 {
    Score::sum(scores).value()
}

#[test]
fn finite_scores_add_up_and_stay_within_infinity() {
    assert_eq!(sum([]), 0);
    assert_eq!(sum([50, -20, 1]), 31);
    assert_eq!(sum([999_999, 999_999]), 1_000_000);
    assert_eq!(sum([-999_999, -2]), -1_000_000);
    assert_eq!(sum([600_000, 600_000, -500_000]), 700_000);
}

#[test]
fn minus_infinity_beats_infinity_and_infinity_beats_every_number() {
    assert_eq!(sum([1_000_000, -1_000_000]), -1_000_000);
    assert_eq!(sum([-1_000_000, 1_000_000, 5]), -1_000_000);
    assert_eq!(sum([1_000_000, -999_999]), 1_000_000);
    assert_eq!(sum([i64::MAX, i64::MAX]), 1_000_000);
    assert_eq!(sum([i64::MAX, i64::MIN]), -1_000_000);
}

#[test]
fn the_order_of_scores_does_not_matter() {
    let scores = [700_000, 700_000, -999_000, 3, 0];
    let mut turned = scores;
    for _ in 0..scores.len() {
        turned.rotate_left(1);
        assert_eq!(sum(turned), sum(scores));
    }
}

fn location(rows: &[(i64, i64)]) -> Rows<Location> {
    let row = |&(member, score): &(i64, i64)| Location { member, score };
    rows.iter().map(row).collect()
}

fn current(rows: &[i64]) -> Rows<Current> {
    rows.iter().map(|&member| Current { member }).collect()
}

#[test]
fn a_score_is_of_one_vm() {
    let (location, current) = (location(&[(0, 5), (1, 70), (0, 1)]), current(&[1]));
    let said = Said {
        location: &location,
        current: &current,
        health: Some(-3),
    };
    assert_eq!(said.score(0, 100).value(), 3);
    assert_eq!(said.score(1, 100).value(), 167);
    assert_eq!(said.score(2, 100).value(), -3);
}

#[test]
fn stickiness_counts_only_where_the_vm_runs_and_only_if_it_is_positive() {
    let (location, current) = (Rows::default(), current(&[0]));
    let said = Said {
        location: &location,
        current: &current,
        health: None,
    };
    assert_eq!(said.score(0, 9).value(), 9);
    assert_eq!(said.score(0, -9), Score::ZERO);
    assert_eq!(said.score(1, 9), Score::ZERO);
}
