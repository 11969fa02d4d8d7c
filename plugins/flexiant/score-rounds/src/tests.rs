use placewright_sdk::contract::Value;
use proptest::prelude::*;

use super::*;

fn settings(steps: i64, initial: f64, last: f64) -> Settings {
    Settings {
        steps,
        initial,
        last,
    }
}

fn thresholds(settings: &Settings) -> Vec<f64> {
    rounds::of(settings).map(|round| round.threshold).collect()
}

fn stage(scores: &[f64]) -> Stage {
    let candidate = |score: &f64| Candidate { cost: -score };
    Stage {
        candidates: scores.iter().map(candidate).collect(),
    }
}

/// The rows that are left of hosts with these scores, with the default rounds.
fn left(scores: &[f64]) -> Vec<u32> {
    let settings = Settings::defaults().expect("all have defaults");
    rows(&stage(scores), &settings)
}

fn rows(stage: &Stage, settings: &Settings) -> Vec<u32> {
    let Groups(groups) = ScoreRounds::refine(stage, settings).expect("nothing is refused");
    assert!(groups.len() < 2);
    let shares = groups.iter().flatten();
    shares.map(|share| share.candidate).collect()
}

#[test]
fn thresholds_fall_evenly_from_the_initial_to_the_final_one() {
    let defaults = Settings::defaults().expect("all have defaults");
    assert_eq!(
        thresholds(&defaults),
        [80.0, 70.0, 60.0, 50.0, 40.0, 30.0, 20.0, 10.0, 0.0, -10.0]
    );
    assert_eq!(thresholds(&settings(2, 1.0, 0.0)), [1.0, 0.0]);
    assert_eq!(thresholds(&settings(3, 5.0, 5.0)), [5.0; 3]);
}

#[test]
fn the_only_round_is_the_last() {
    assert_eq!(thresholds(&settings(1, 80.0, -10.0)), [-10.0]);
}

#[test]
fn all_hosts_above_the_first_threshold_that_any_exceeds_are_left() {
    assert_eq!(left(&[55.0, 62.0, 69.5, 60.5]), [1, 2, 3]);
    assert_eq!(left(&[500.0, 80.5, 80.0]), [0, 1]);
}

#[test]
fn a_score_of_just_the_threshold_waits_for_the_next_round() {
    assert_eq!(left(&[80.0, 75.0]), [0, 1]);
    assert_eq!(left(&[0.0, -5.0]), [0, 1]);
}

#[test]
fn nobody_is_left_if_no_score_exceeds_the_final_threshold() {
    assert_eq!(left(&[-10.0, -100.0, f64::NEG_INFINITY]), [] as [u32; 0]);
    assert_eq!(left(&[]), [] as [u32; 0]);
    assert_eq!(left(&[-10.0, -9.75]), [1]);
}

#[test]
fn those_that_are_left_are_equals() {
    let Ok(Groups(groups)) =
        ScoreRounds::refine(&stage(&[90.0, 85.0, 81.0, 0.0]), &settings(10, 80.0, -10.0))
    else {
        panic!("nothing is refused");
    };
    let shares: Vec<f64> = groups.iter().flatten().map(|share| share.share).collect();
    assert_eq!(shares, [1.0 / 3.0; 3]);
}

#[test]
fn thresholds_must_not_rise() {
    assert_eq!(ScoreRounds::check(&settings(10, 5.0, 5.0)), Ok(()));
    assert!(ScoreRounds::check(&settings(10, -10.0, 80.0)).is_err());
}

#[test]
fn it_is_told_which_round_decided() {
    let facts = |score| {
        let facts = ScoreRounds::explain(&stage(&[score]), &settings(3, 20.0, 0.0));
        facts.expect("nothing is refused")
    };
    let all = [
        Fact::new("threshold.0", 20.0),
        Fact::new("threshold.1", 10.0),
        Fact::new("threshold.2", 0.0),
    ];
    assert_eq!(facts(0.0), all);
    let decided = facts(15.0);
    assert_eq!(decided[..3], all);
    assert_eq!(
        decided[3..],
        [
            Fact::new("round", Value::Integer(1)),
            Fact::new("threshold", 10.0),
        ]
    );
}

proptest! {
    #[test]
    fn a_host_is_left_just_if_it_exceeds_the_highest_threshold_that_any_exceeds(
        scores in prop::collection::vec(-30..30_i32, 0..12),
        steps in 1..8_i64,
        initial in 0..20_i32,
        last in -20..0_i32,
    ) {
        let settings = settings(steps, initial.into(), last.into());
        let scores: Vec<f64> = scores.into_iter().map(f64::from).collect();
        let exceeded = |threshold: &f64| scores.iter().any(|score| score > threshold);
        let thresholds = thresholds(&settings).into_iter().filter(exceeded);
        let highest = thresholds.fold(f64::INFINITY, |highest, threshold| {
            if highest.is_infinite() { threshold } else { highest.max(threshold) }
        });
        let expected: Vec<u32> = (0..)
            .zip(&scores)
            .filter(|(_, score)| **score > highest)
            .map(|(row, _)| row)
            .collect();
        prop_assert_eq!(rows(&stage(&scores), &settings), expected);
    }
}
