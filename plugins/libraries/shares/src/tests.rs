//! The rules that all steps keep, on single cases and on many made-up ones.

use placewright_sdk::prelude::*;

use crate::accounts::{Running, places_by_account, running};
use crate::preference::{Preference, Settings as How};
use crate::{Candidate, Candidates, Standing, Unit, Weight, Weights};

#[derive(Row)]
struct Host {
    listed: i64,
    account: Text,
    value: Option<i64>,
}

fn host(listed: i64, account: &str, value: Option<i64>) -> Host {
    Host {
        listed,
        account: account.into(),
        value,
    }
}

/// Candidates in one group, each with an account and a value of its own.
fn group(rows: &[(f64, Option<i64>)]) -> Candidates<Host> {
    let standing = |&(share, _): &(f64, Option<i64>)| Standing { group: 0, share };
    let hosts = (0..).zip(rows);
    read(
        rows.iter().map(standing).collect(),
        hosts
            .map(|(listed, (_, value))| host(listed, &listed.to_string(), *value))
            .collect(),
    )
}

fn read(standings: Vec<Standing>, hosts: Vec<Host>) -> Candidates<Host> {
    Candidates::read(&standings.into(), &hosts.into(), |host| host.listed)
}

fn shares(candidates: &Candidates<Host>) -> Vec<Vec<f64>> {
    let of_group = |group: &[Candidate<Host>]| group.iter().map(|it| it.share).collect();
    candidates.groups().map(of_group).collect()
}

/// Rows in groups.
fn rows(candidates: &Candidates<Host>) -> Vec<Vec<u32>> {
    let groups = candidates.answer().0.into_iter();
    groups
        .map(|group| group.into_iter().map(|it| it.candidate).collect())
        .collect()
}

fn close(one: &[Vec<f64>], other: &[Vec<f64>]) -> bool {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12 && (*a == 0.0) == (*b == 0.0);
    let same = |(a, b): (&Vec<f64>, &Vec<f64>)| a.len() == b.len() && a.iter().zip(b).all(near);
    one.len() == other.len() && one.iter().zip(other).all(same)
}

#[track_caller]
fn assert_shares(candidates: &Candidates<Host>, expected: &[Vec<f64>]) {
    let shares = shares(candidates);
    assert!(close(&shares, expected), "{shares:?}, not {expected:?}");
}

fn weights(rows: &[(&str, f64)]) -> Result<Weights, String> {
    let row = |&(account, weight): &(&str, f64)| Weight {
        account: account.into(),
        weight,
    };
    Weights::of(&rows.iter().map(row).collect())
}

fn how(mode: &str, percent: Option<f64>, unit: &str) -> How {
    How {
        mode: mode.into(),
        percent,
        unit: unit.into(),
    }
}

fn tilt(percent: f64, unit: &str) -> Preference {
    Preference::of(&how("probabilistic", Some(percent), unit)).expect("it has a percentage")
}

fn value(host: &Host) -> Option<i64> {
    host.value
}

// Groups as data

#[test]
fn candidates_stand_in_listed_order_whatever_the_order_of_rows() {
    let standings = [(1, 0.5), (0, 1.0), (1, 0.5)];
    let standings = standings.map(|(group, share)| Standing { group, share });
    let hosts = vec![host(9, "a", None), host(5, "b", None), host(2, "c", None)];
    let candidates = read(standings.into(), hosts);
    assert_eq!(rows(&candidates), [vec![1], vec![2, 0]]);
}

#[test]
fn without_candidates_there_are_no_groups() {
    let none = || group(&[]);
    assert!(none().answer().0.is_empty());
    assert!(none().weighed(|_| vec![]).answer().0.is_empty());
    assert!(none().split(value).answer().0.is_empty());
}

// Changes

#[test]
fn changed_shares_are_floored_and_rescaled() {
    let changed = group(&[(0.5, None), (0.3, None), (0.2, None)]).changed(|_| vec![0.6, 0.2, -1.0]);
    assert_shares(&changed, &[vec![0.75, 0.25, 0.0]]);
}

#[test]
fn nothing_stays_nothing() {
    let changed = group(&[(1.0, None), (0.0, None)]).changed(|_| vec![0.5, 0.5]);
    assert_shares(&changed, &[vec![1.0, 0.0]]);
}

#[test]
fn a_change_that_would_leave_nothing_is_skipped() {
    let changed = group(&[(0.75, None), (0.25, None)]).changed(|_| vec![0.0, -0.5]);
    assert_shares(&changed, &[vec![0.75, 0.25]]);
}

#[test]
fn what_rounding_leaves_of_nothing_is_nothing() {
    let left: f64 = 0.3 - 0.1 * 3.0;
    assert!(left != 0.0);
    let changed = group(&[(0.3, None), (0.7, None)]).changed(|_| vec![left.abs(), 0.7]);
    assert_shares(&changed, &[vec![0.0, 1.0]]);
}

#[test]
fn a_small_share_is_not_taken_for_rounding() {
    let tiny = 1e-30;
    let changed = group(&[(tiny, None), (1.0, None)]).changed(|_| vec![tiny / 2.0, 1.0]);
    assert!(shares(&changed)[0][0] > 0.0);
}

#[test]
fn absurd_changes_still_give_shares() {
    for absurd in [f64::NAN, f64::INFINITY, f64::MAX] {
        let changed = group(&[(0.5, None), (0.5, None)]).changed(|_| vec![absurd, f64::MAX]);
        let sum: f64 = shares(&changed)[0].iter().sum();
        assert!(
            (sum - 1.0).abs() < 1e-12,
            "{absurd}: {:?}",
            shares(&changed)
        );
    }
}

// Weights

#[test]
fn an_account_divides_its_share_over_its_hosts() {
    let hosts = ["a", "b", "a"].map(|account| host(0, account, None));
    let standings = (0..3).map(|_| Standing {
        group: 0,
        share: 1.0 / 3.0,
    });
    let candidates = read(standings.collect(), hosts.into());
    let weights = weights(&[("b", 3.0)]).expect("they are sound");
    let shared = weights.share_out(candidates, |host| &host.account, |weight, _| weight);
    assert_shares(&shared, &[vec![0.125, 0.75, 0.125]]);
}

#[test]
fn weights_of_nothing_leave_nobody_a_chance() {
    let weights = weights(&[("0", 0.0), ("1", 0.0)]).expect("they are sound");
    let candidates = group(&[(0.5, None), (0.5, None)]);
    let shared = weights.share_out(candidates, |host| &host.account, |weight, _| weight);
    assert_shares(&shared, &[vec![0.0, 0.0]]);
}

#[test]
fn weights_must_be_numbers_from_0_and_given_once() {
    assert!(weights(&[("a", 0.0), ("b", 2.5)]).is_ok());
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let sentence = weights(&[("a", bad)]).unwrap_err();
        assert!(sentence.contains("from 0 up") && sentence.contains("\"a\""));
    }
    let twice = weights(&[("a", 1.0), ("a", 1.0)]).unwrap_err();
    assert!(twice.contains("\"a\" has two"), "{twice}");
}

#[test]
fn hosts_of_an_account_are_found_wherever_they_stand() {
    let accounts: Vec<Text> = ["b", "a", "b"].map(Text::from).into();
    let places = places_by_account(accounts.iter());
    assert_eq!(places, [(&"b".into(), vec![0, 2]), (&"a".into(), vec![1])]);
}

#[test]
fn instances_are_those_of_the_account_once_and_those_of_each_host() {
    let of_host = |elsewhere, here, pending| Running {
        elsewhere,
        here,
        pending,
    };
    let hosts = [of_host(Some(7), 1, 0), of_host(Some(7), 2, 1)];
    assert_eq!(running(hosts.iter().copied()), 11);
    assert_eq!(running([of_host(None, 0, 0)].into_iter()), 0);
    assert_eq!(running([of_host(Some(-3), 0, 0)].into_iter()), 0);
    let absurd = of_host(Some(i64::MAX), i64::MAX, 1);
    assert_eq!(running([absurd, absurd].into_iter()), i64::MAX);
}

// Preferences

#[test]
fn strict_preference_splits_groups_best_first_and_the_unknown_last() {
    let candidates = group(&[(0.2, None), (0.2, Some(5)), (0.4, Some(9)), (0.2, Some(5))]);
    let split = Preference::Strict.apply(candidates, value);
    assert_eq!(rows(&split), [vec![2], vec![1, 3], vec![0]]);
    assert_shares(&split, &[vec![1.0], vec![0.5, 0.5], vec![1.0]]);
}

#[test]
fn a_part_without_chance_keeps_its_place() {
    let candidates = group(&[
        (0.0, Some(9)),
        (0.5, Some(1)),
        (0.5, Some(1)),
        (0.0, Some(1)),
    ]);
    let split = Preference::Strict.apply(candidates, value);
    assert_shares(&split, &[vec![0.0], vec![0.5, 0.5, 0.0]]);
}

#[test]
fn strict_preferences_one_after_the_other_refine_groups() {
    let candidates = group(&[
        (0.25, Some(12)),
        (0.25, Some(21)),
        (0.25, Some(22)),
        (0.25, Some(11)),
    ]);
    let tens = Preference::Strict.apply(candidates, |host| host.value.map(|it| it / 10));
    let both = Preference::Strict.apply(tens, |host| host.value.map(|it| -(it % 10)));
    assert_eq!(rows(&both), [vec![1], vec![2], vec![3], vec![0]]);
}

#[test]
fn a_tilt_gives_the_better_what_it_takes_from_the_worse() {
    let candidates = || group(&[(0.5, Some(10)), (0.25, Some(5)), (0.25, None)]);
    // Merits 1, 0, 0: the unknown is as good as the least.
    let points = tilt(30.0, "points").apply(candidates(), value);
    assert_shares(&points, &[vec![0.7, 0.15, 0.15]]);
    let relative = tilt(30.0, "relative").apply(candidates(), value);
    let sum = 0.5 * 1.2 + 0.5 * 0.9;
    assert_shares(&relative, &[vec![0.6 / sum, 0.225 / sum, 0.225 / sum]]);
}

#[test]
fn only_those_with_a_chance_count_in_a_tilt() {
    let candidates = group(&[(0.0, Some(100)), (0.5, Some(2)), (0.5, Some(1))]);
    let tilted = tilt(20.0, "points").apply(candidates, value);
    assert_shares(&tilted, &[vec![0.0, 0.6, 0.4]]);
}

#[test]
fn a_tilt_can_take_all() {
    let candidates = group(&[(0.5, Some(2)), (0.5, Some(1))]);
    let tilted = tilt(100.0, "points").apply(candidates, value);
    assert_shares(&tilted, &[vec![1.0, 0.0]]);
}

#[test]
fn equal_or_unknown_values_change_nothing() {
    for values in [[Some(4), Some(4)], [None, None], [Some(4), None]] {
        let candidates = group(&[(0.75, values[0]), (0.25, values[1])]);
        let tilted = tilt(50.0, "points").apply(candidates, value);
        assert_shares(&tilted, &[vec![0.75, 0.25]]);
    }
}

#[test]
fn the_farthest_values_can_be_compared() {
    let candidates = group(&[(0.5, Some(i64::MIN)), (0.5, Some(i64::MAX))]);
    let tilted = tilt(20.0, "points").apply(candidates, value);
    assert_shares(&tilted, &[vec![0.4, 0.6]]);
}

#[test]
fn a_probabilistic_preference_needs_a_percentage() {
    assert!(Preference::of(&how("probabilistic", None, "points")).is_err());
    // For all units of a policy at once: of no effect here.
    let strict = Preference::of(&how("strict", Some(5.0), "points"));
    assert_eq!(strict, Ok(Preference::Strict));
    let relative = Preference::of(&how("probabilistic", Some(5.0), "relative"));
    let expected = Preference::Probabilistic {
        gain: 0.05,
        unit: Unit::Relative,
    };
    assert_eq!(relative, Ok(expected));
}

// Properties

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = (self.0)
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// One step of a stack.
#[derive(Clone, Copy)]
enum Step {
    Weights([f64; 4]),
    Preference(Preference),
    /// So many points for some accounts.
    Fine(f64, i64),
}

impl Step {
    fn any(numbers: &mut Numbers) -> Self {
        let percent = numbers.below(21) as f64 * 5.0;
        match numbers.below(5) {
            0 => Self::Weights([0; 4].map(|_| numbers.below(5) as f64 / 2.0)),
            1 => Self::Preference(Preference::Strict),
            2 => Self::Preference(tilt(percent, "points")),
            3 => Self::Preference(tilt(percent, "relative")),
            _ => Self::Fine(percent / 100.0, numbers.below(4) as i64),
        }
    }

    fn apply(self, candidates: Candidates<Host>) -> Candidates<Host> {
        match self {
            Self::Weights(of) => {
                let rows: Vec<_> = ["a", "b", "c", "d"].into_iter().zip(of).collect();
                let weights = weights(&rows).expect("they are sound");
                weights.share_out(candidates, |host| &host.account, |weight, _| weight)
            }
            Self::Preference(preference) => preference.apply(candidates, value),
            Self::Fine(fine, rest) => candidates.changed(|group| {
                let hit = |it: &Candidate<Host>| it.host.listed % 4 == rest;
                let fined = |it: &Candidate<Host>| it.share - if hit(it) { fine } else { 0.0 };
                group.iter().map(fined).collect()
            }),
        }
    }
}

/// Hosts of four accounts, listed from 0.
fn hosts(numbers: &mut Numbers) -> Vec<Host> {
    let count = 1 + numbers.below(9) as i64;
    let any = |listed| {
        let account = ["a", "b", "c", "d"][numbers.below(4) as usize];
        let value = Some(numbers.below(4) as i64).filter(|value| *value > 0);
        host(listed, account, value)
    };
    (0..count).map(any).collect()
}

/// All in one group, with equal shares.
fn start(hosts: &[Host]) -> Candidates<Host> {
    let share = 1.0 / hosts.len() as f64;
    let standings = hosts.iter().map(|_| Standing { group: 0, share });
    let hosts = hosts.iter().map(Row::duplicate).collect();
    read(standings.collect(), hosts)
}

/// By where the hosts are listed: group and share.
fn standings(candidates: &Candidates<Host>) -> Vec<(i64, usize, f64)> {
    let groups = candidates.groups().enumerate();
    let mut standings: Vec<_> = groups
        .flat_map(|(number, group)| {
            group
                .iter()
                .map(move |it| (it.host.listed, number, it.share))
        })
        .collect();
    standings.sort_by_key(|(listed, ..)| *listed);
    standings
}

#[test]
fn in_every_stack_shares_sum_to_1_and_nothing_stays_nothing() {
    let mut numbers = Numbers(3);
    for _ in 0..2_000 {
        let hosts = hosts(&mut numbers);
        let mut candidates = start(&hosts);
        for position in 0..6 {
            let step = Step::any(&mut numbers);
            let before = standings(&candidates);
            candidates = step.apply(candidates);
            let after = standings(&candidates);
            assert_eq!(after.len(), hosts.len(), "nobody is lost or doubled");
            let is_base = matches!(step, Step::Weights(_));
            for ((_, _, before), (_, _, after)) in before.iter().zip(&after) {
                assert!(is_base || *before > 0.0 || *after == 0.0, "{position}");
                assert!((0.0..=1.0 + 1e-12).contains(after));
            }
            for group in shares(&candidates) {
                let sum: f64 = group.iter().sum();
                assert!(!group.is_empty() && (sum == 0.0 || (sum - 1.0).abs() < 1e-12));
            }
        }
    }
}

#[test]
fn a_live_group_stays_live_in_every_stack() {
    let mut numbers = Numbers(5);
    for _ in 0..2_000 {
        let hosts = hosts(&mut numbers);
        let mut candidates = start(&hosts);
        for _ in 0..6 {
            let step = Step::any(&mut numbers);
            if !matches!(step, Step::Weights(_)) {
                candidates = step.apply(candidates);
            }
            let live = |group: &Vec<f64>| group.iter().any(|share| *share > 0.0);
            assert!(shares(&candidates).iter().any(live));
        }
    }
}

#[test]
fn the_order_of_rows_makes_no_difference_in_any_stack() {
    let mut numbers = Numbers(7);
    for _ in 0..1_000 {
        let hosts = hosts(&mut numbers);
        let mut other: Vec<Host> = hosts.iter().map(Row::duplicate).collect();
        for last in (1..other.len()).rev() {
            other.swap(last, numbers.below(last as u64 + 1) as usize);
        }
        let (mut one, mut other) = (start(&hosts), start(&other));
        for _ in 0..6 {
            let step = Step::any(&mut numbers);
            (one, other) = (step.apply(one), step.apply(other));
            // Bit for bit.
            assert_eq!(standings(&one), standings(&other));
        }
    }
}
