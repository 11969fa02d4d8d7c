//! Histories by chance under every general-purpose policy: nothing is promised twice, no hard rule
//! is broken, nobody is refused for whom there is room, and the sums of hosts are right.
//!
//! A failure prints the shrunk history, request by request. `cargo run --release -p
//! placewright-referee` plays many more.

use std::cell::{Cell, RefCell};

use placewright_referee::{GENERAL, Match, POLICIES, Served, histories};
use proptest::strategy::Strategy as _;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

/// Histories of one policy: some 20,000 of all of them together, which takes two cores less than
/// a minute.
const HISTORIES: u32 = 2860;

/// Requests of a history, at most.
const REQUESTS: usize = 24;

fn play(policy: &str) {
    play_some(policy, HISTORIES);
}

fn play_some(policy: &str, cases: u32) {
    let policy = POLICIES.iter().position(|it| it.name == policy).unwrap();
    let served = RefCell::new(Served::start().unwrap());
    let strategy = histories(REQUESTS).prop_map(move |mut history| {
        history.policy = policy;
        history
    });
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    // The same histories in every run.
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let (number, effects) = (Cell::new(0_u32), Cell::new(0));
    let judged = TestRunner::new_with_rng(config, rng).run(&strategy, |history| {
        number.set(number.get() + 1);
        let cluster = format!("c{}", number.get());
        let done = Match::play(&mut served.borrow_mut(), &cluster, &history);
        let done = done.map_err(TestCaseError::fail)?;
        effects.set(effects.get() + done);
        Ok(())
    });
    if let Err(fault) = judged {
        panic!("{fault}");
    }
    assert!(
        effects.get() > cases as usize,
        "requests had an effect: {}",
        effects.get()
    );
}

#[test]
fn the_general_policy_promises_nothing_twice() {
    play("general");
}

#[test]
fn the_policy_of_even_distribution_promises_nothing_twice() {
    play("even-distribution");
}

#[test]
fn the_policy_that_saves_power_promises_nothing_twice() {
    play("power-saving");
}

#[test]
fn first_fit_promises_nothing_twice() {
    play("first-fit");
}

#[test]
fn best_fit_promises_nothing_twice() {
    play("best-fit");
}

#[test]
fn worst_fit_promises_nothing_twice() {
    play("worst-fit");
}

#[test]
fn packing_by_the_dot_product_promises_nothing_twice() {
    play("dot-product");
}

#[test]
fn hosts_of_unknown_load_are_last_however_load_is_scaled_and_counts() {
    for policy in &POLICIES[GENERAL..] {
        play_some(policy.name, HISTORIES / 10);
    }
}
