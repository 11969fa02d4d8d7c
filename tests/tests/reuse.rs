//! Kept answers change the cost of decisions, and nothing else.

mod life;
mod policies;
mod unsound;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use placewright::chain::{Reuse, ReuseCounts, Runner};
use placewright::library::Generation;
use placewright::model::schema::Schema;
use placewright::plugins;
use placewright::policy::Policy;
use placewright::scheduler::{Decision, Scheduler, SchedulerOptions};
use placewright::unit::Unit;
use placewright_tests::units;
use proptest::prelude::*;

use life::Life;

/// Limits by time are no part of the claim: other tests run beside these.
const PATIENT: Duration = Duration::from_secs(60);

/// Every unit that comes with the program, and those for tests.
fn generation() -> &'static Generation {
    static LOADED: OnceLock<Generation> = OnceLock::new();
    LOADED.get_or_init(|| {
        let embedded = plugins::UNITS.iter().map(|unit| {
            Unit::load(units::engine(), unit.bytes, unit.name).expect("an embedded unit loads")
        });
        let for_tests = ["misbehaving", "unsound", "everlasting"].map(units::unit);
        Generation::new(embedded.chain(for_tests)).expect("names differ")
    })
}

/// Schedulers of one cluster under one policy, which differ in whether they keep
/// answers.
struct Twins {
    with: Scheduler,
    without: Scheduler,
}

impl Twins {
    fn new(life: &Life, policy: &str, reuse: Reuse) -> Self {
        let policy = Policy::load(policy, "p.toml", generation(), Schema::built_in());
        let policy = Arc::new(policy.unwrap_or_else(|problems| panic!("{problems}")));
        let scheduler = |reuse| {
            let options = SchedulerOptions {
                chain_limit: PATIENT,
                reservation: Some(300),
                recorded: 4,
                reuse,
                ..SchedulerOptions::default()
            };
            Scheduler::new(life.inventory(), policy.clone(), generation(), options)
                .expect("the units are there")
        };
        Self {
            with: scheduler(Some(reuse)),
            without: scheduler(None),
        }
    }

    /// Live through so many changes and decisions, and compare each decision.
    fn live(&mut self, life: &mut Life, decisions: usize) {
        for number in 0..decisions {
            let changes = life.changes();
            for scheduler in [&mut self.with, &mut self.without] {
                for change in &changes {
                    change.make(scheduler.inventory_mut());
                }
            }
            let request = life.request();
            let (with, without) = (
                self.with.place(request.clone()),
                self.without.place(request.clone()),
            );
            match (&with, &without) {
                (Ok(with), Ok(without)) => {
                    assert_eq!(
                        with.decided, without.decided,
                        "decision {number}: {request:?}"
                    );
                    assert_eq!(with.followed, without.followed, "decision {number}");
                    if number % 16 == 1 {
                        self.is_the_same_in_fresh_instances(with);
                        let with = self.with.explain(with.number).map_err(|it| it.to_string());
                        let without = self.without.explain(without.number);
                        assert_eq!(with, without.map_err(|it| it.to_string()));
                    }
                }
                _ => assert_eq!(
                    with.map(drop).map_err(|it| it.to_string()),
                    without.map(drop).map_err(|it| it.to_string()),
                    "decision {number}: {request:?}"
                ),
            }
        }
    }

    fn is_the_same_in_fresh_instances(&self, decision: &Decision) {
        let inventory = self.with.inventory();
        let past = inventory.at_version(decision.inventory_version);
        let past = past.expect("the last changes are remembered");
        let mut runner = Runner::new(decision.chain.clone(), PATIENT);
        let fresh = runner.decide(&past, &decision.request, decision.draw);
        assert_eq!(fresh.as_ref(), Ok(&decision.decided));
    }

    fn counts(&self) -> ReuseCounts {
        self.with.reuse_counts()
    }

    /// Hosts that units were asked about, and that they were not asked about again.
    fn rows(&self) -> (u64, u64) {
        let units = self.with.unit_reuse();
        units.iter().fold((0, 0), |(asked, reused), unit| {
            (asked + unit.asked, reused + unit.reused)
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn decisions_with_kept_answers_are_those_without_under_any_policy(seed in any::<u64>()) {
        let mut life = Life::new(seed);
        let policy = policies::any(&mut life);
        let mut twins = Twins::new(&life, &policy, Reuse::default());
        twins.live(&mut life, 120);
    }

    #[test]
    fn room_for_few_answers_changes_no_decision(seed in any::<u64>()) {
        let mut life = Life::new(seed);
        let policy = policies::any(&mut life);
        let mut twins = Twins::new(&life, &policy, Reuse { bytes: 3000 });
        for _ in 0..8 {
            twins.live(&mut life, 10);
            prop_assert!(twins.counts().bytes <= 3000, "{:?}", twins.counts());
        }
    }
}

#[test]
fn decisions_with_kept_answers_are_those_without_under_every_policy_of_the_program() {
    for (seed, policy) in (0u64..).zip(plugins::POLICIES) {
        let mut life = Life::new(seed);
        let mut twins = Twins::new(&life, policy.text, Reuse::default());
        twins.live(&mut life, 150);
    }
}

#[test]
fn a_unit_that_fails_is_told_of_even_where_no_host_is_up() {
    let mut life = Life::new(8_339_089_194_101_710_647);
    let policy = policies::any(&mut life);
    let mut twins = Twins::new(&life, &policy, Reuse::default());
    twins.live(&mut life, 120);
}

#[test]
fn few_hosts_are_asked_about_where_requests_are_alike() {
    let mut life = Life::new(3).of_few_shapes();
    let mut twins = Twins::new(&life, policies::ONE_BY_ONE, Reuse::default());
    twins.live(&mut life, 400);
    let counts = twins.counts();
    assert!(counts.from_sums > 300, "{counts:?}");
    let (asked, reused) = twins.rows();
    assert!(reused > 3 * asked, "asked {asked}, reused {reused}");
}

#[test]
fn answers_that_never_serve_again_are_no_longer_kept() {
    let mut life = Life::new(4).of_many_shapes();
    let mut twins = Twins::new(&life, policies::BY_MEMORY, Reuse::default());
    twins.live(&mut life, 700);
    assert_eq!(twins.counts().pauses, 1);
}
