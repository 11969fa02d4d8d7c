//! Kept answers change the cost of decisions, and nothing else.

mod hostile;
mod life;
mod policies;
mod unknown;
mod unsound;

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use placewright_chain::{Reuse, ReuseCounts, Runner};
use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_engine::{Engine, Limits};
use placewright_model::schema::Schema;
use placewright_model::{Facts, Group, GroupRule, Request};
use placewright_plugins as plugins;
use placewright_policy::{Policy, Unheeded};
use placewright_scheduler::{Decision, Scheduler, SchedulerOptions};
use placewright_tests::units;
use proptest::prelude::*;

use life::Life;

/// Limits by time are no part of the claim: other tests run beside these.
const PATIENT: Duration = Duration::from_secs(300);

/// Every unit that comes with the program, and those for tests.
fn generation() -> &'static Generation {
    static LOADED: OnceLock<Generation> = OnceLock::new();
    LOADED.get_or_init(|| {
        let embedded = plugins::UNITS.iter().map(|unit| {
            Unit::load(units::engine(), unit.bytes, unit.name).expect("an embedded unit loads")
        });
        let for_tests = [
            "misbehaving",
            "unsound",
            "everlasting",
            "growing",
            "hostile",
        ]
        .map(units::unit);
        Generation::new(embedded.chain(for_tests)).expect("names differ")
    })
}

/// Some of the units, in an engine that limits calls by fuel in place of time.
fn generation_on_fuel() -> &'static Generation {
    static LOADED: OnceLock<Generation> = OnceLock::new();
    LOADED.get_or_init(|| {
        let limits = Limits {
            fuel: Some(3_000_000),
            instances: 200,
            ..Limits::default()
        };
        let engine = Engine::new(limits, None).expect("an engine can be set up");
        let load = |bytes: &[u8], name| Unit::load(&engine, bytes, name).expect("it loads");
        let embedded = plugins::UNITS.iter();
        let embedded = embedded.filter(|unit| policies::ON_FUEL.contains(&unit.name));
        let embedded = embedded.map(|unit| load(unit.bytes, unit.name));
        let misbehaving = load(&units::component("misbehaving"), "misbehaving");
        Generation::new(embedded.chain([misbehaving])).expect("names differ")
    })
}

fn loaded(policy: &str, generation: &Generation) -> Arc<Policy> {
    let policy = Policy::load(policy, "p.toml", generation, Schema::built_in());
    Arc::new(policy.unwrap_or_else(|problems| panic!("{problems}")))
}

/// Schedulers of one cluster under one policy, which differ in whether they keep
/// answers.
struct Twins {
    with: Scheduler,
    without: Scheduler,
}

impl Twins {
    fn new(life: &Life, policy: &str, reuse: Reuse) -> Self {
        Self::of(life, policy, generation(), reuse)
    }

    fn of(life: &Life, policy: &str, generation: &Generation, reuse: Reuse) -> Self {
        let policy = loaded(policy, generation);
        let scheduler = |reuse| {
            let options = SchedulerOptions {
                chain_limit: PATIENT,
                reservation: Some(300),
                recorded: 4,
                reuse,
                unheeded: Unheeded::Ignore,
                ..SchedulerOptions::default()
            };
            Scheduler::new(life.inventory(), policy.clone(), generation, options)
                .expect("the units are there")
        };
        Self {
            with: scheduler(Some(reuse)),
            without: scheduler(None),
        }
    }

    /// Decide by another policy from now on.
    fn set_policy(&mut self, policy: &str) {
        let policy = loaded(policy, generation());
        for scheduler in [&mut self.with, &mut self.without] {
            let set = scheduler.set_policy(policy.clone(), generation());
            set.expect("the units are there");
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
    fn filters_that_are_no_part_of_sums_change_no_decision(seed in any::<u64>()) {
        let mut life = Life::new(seed);
        let policy = policies::skipping(&mut life, 1);
        let mut twins = Twins::new(&life, &policy, Reuse::default());
        twins.live(&mut life, 150);
        prop_assert!(twins.counts().from_sums > 0, "{:?}", twins.counts());
    }

    #[test]
    fn filters_of_several_stages_change_no_decision(seed in any::<u64>()) {
        let mut life = Life::new(seed);
        let policy = policies::skipping(&mut life, 2);
        let mut twins = Twins::new(&life, &policy, Reuse::default());
        twins.live(&mut life, 60);
    }

    #[test]
    fn decisions_on_fuel_are_the_same_with_kept_answers(seed in any::<u64>()) {
        let mut life = Life::new(seed);
        let stages = 1 + life.below(4) as usize / 3;
        let mut policy = policies::skipping(&mut life, stages);
        if life.once_in(3) {
            policy.push_str(policies::ENDLESS);
        }
        let mut twins = Twins::of(&life, &policy, generation_on_fuel(), Reuse::default());
        twins.live(&mut life, 40);
    }

    #[test]
    fn policies_that_take_turns_find_what_was_kept_and_decide_the_same(seed in any::<u64>()) {
        let mut life = Life::new(seed);
        let policies = [0, 1, 2].map(|kind| match kind {
            0 => policies::ONE_BY_ONE.to_owned(),
            _ => policies::any(&mut life),
        });
        let mut twins = Twins::new(&life, &policies[0], Reuse::default());
        for _ in 0..8 {
            twins.live(&mut life, 15);
            let next = life.below(3) as usize;
            twins.set_policy(&policies[next]);
        }
    }

    #[test]
    fn decisions_that_are_made_again_come_out_the_same_with_kept_answers(seed in any::<u64>()) {
        let mut life = Life::new(seed);
        let options = SchedulerOptions {
            chain_limit: PATIENT,
            reservation: Some(300),
            recorded: 200,
            unheeded: Unheeded::Ignore,
            ..SchedulerOptions::default()
        };
        let policy = loaded(&policies::any(&mut life), generation());
        let mut scheduler = Scheduler::new(life.inventory(), policy, generation(), options)
            .expect("the units are there");
        for _ in 0..80 {
            for change in &life.changes() {
                change.make(scheduler.inventory_mut());
            }
            // Whatever becomes of it.
            let _ = scheduler.place(life.request());
        }
        let other = loaded(&policies::any(&mut life), generation());
        let again = |reuse| {
            let trial = scheduler.trial(200).reusing(reuse);
            let made = trial.run(other.clone(), generation(), Instant::now() + PATIENT, 3);
            let made = made.expect("the units are there").into_iter().map(|made| {
                let host = made.host.map_err(|it| it.to_string());
                (made.number, host, made.explained)
            });
            made.collect::<Vec<_>>()
        };
        prop_assert_eq!(again(Some(Reuse::default())), again(None));
    }

    #[test]
    fn room_for_few_answers_changes_no_decision(seed in any::<u64>()) {
        let mut life = Life::new(seed);
        let policy = policies::any(&mut life);
        let room = Reuse { bytes: 3000, ..Reuse::default() };
        let mut twins = Twins::new(&life, &policy, room);
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
fn units_that_go_on_under_another_policy_are_not_asked_again() {
    let mut life = Life::new(3).of_few_shapes();
    let mut twins = Twins::new(&life, policies::ONE_BY_ONE, Reuse::default());
    twins.live(&mut life, 100);
    let (before, counts) = (twins.with.unit_reuse(), twins.counts());
    let other = policies::ONE_BY_ONE.replace("overcommit = 2.0", "overcommit = 3.0");
    assert_ne!(other, policies::ONE_BY_ONE);
    twins.set_policy(&other);
    twins.live(&mut life, 4);
    assert_eq!(twins.counts().decisions, counts.decisions + 4);
    let hosts = twins.with.inventory().host_count() as u64;
    for (before, after) in before.iter().zip(twins.with.unit_reuse()) {
        match &*after.unit {
            // It has other settings, and is counted anew.
            "cpu" => assert!(after.asked >= hosts, "of {hosts}: {after:?}"),
            // Some hosts changed, and some are asked about to see whether all is well.
            _ => assert!(
                after.asked < before.asked + hosts / 2,
                "of {hosts}: {before:?}, {after:?}"
            ),
        }
    }
}

#[test]
fn hosts_that_stand_to_requests_as_others_did_are_not_asked_about_again() {
    const VMS: usize = 24;
    let mut life = Life::new(7).of_few_shapes();
    let mut twins = Twins::new(&life, policies::ONE_BY_ONE, Reuse::default());
    let apart = Some(GroupRule::Negative { hard: false });
    for (id, priority) in [("g1", 1.0), ("g2", 2.0)] {
        for scheduler in [&mut twins.with, &mut twins.without] {
            let group = Group {
                vms: (0..VMS)
                    .map(|number| format!("{id}-{number}").as_str().into())
                    .collect(),
                hosts: Vec::new(),
                vm_rule: apart,
                host_rule: None,
                priority,
                ..Group::new(id)
            };
            scheduler
                .inventory_mut()
                .set_group(group)
                .expect("no host is named");
        }
    }
    let asked = |twins: &Twins| {
        let units = twins.with.unit_reuse();
        let affinity = units.into_iter().find(|unit| &*unit.unit == "affinity");
        affinity.expect("it is asked").asked
    };
    let (mut related, mut asked_at_first) = (0, 0);
    for number in 0..VMS {
        if number == 4 {
            // Until now requests were of a kind that was new.
            (related, asked_at_first) = (0, asked(&twins));
        }
        for group in ["g1", "g2"] {
            let mut request = life.request();
            request.members.truncate(1);
            request.members[0].id = format!("{group}-{number}").as_str().into();
            request.dry_run = false;
            let without = twins.without.place(request.clone()).expect("it is good");
            let with = twins.with.place(request).expect("it is good");
            assert_eq!(with.decided, without.decided, "{group}, decision {number}");
            let group = twins.with.inventory().group(group).expect("it is there");
            related += group.presence.len() as u64;
        }
    }
    assert!(
        twins.counts().from_sums > VMS as u64,
        "{:?}",
        twins.counts()
    );
    let asked = asked(&twins) - asked_at_first;
    assert!(asked * 4 < related, "{asked} of {related}");
}

#[test]
fn requests_that_are_told_the_same_share_sums() {
    let mut life = Life::new(7).of_few_shapes();
    let mut twins = Twins::new(&life, policies::ONE_BY_ONE, Reuse::default());
    let first = life.request().members.remove(0);
    let ids: Vec<Arc<str>> = (0..6)
        .map(|number| format!("a{number}").as_str().into())
        .collect();
    for (number, vm) in ids.iter().take(3).enumerate() {
        let group = Group {
            vms: vec![vm.clone()],
            hosts: Vec::new(),
            vm_rule: Some(GroupRule::Negative { hard: true }),
            host_rule: None,
            priority: number as f64,
            ..Group::new(format!("g{number}").as_str())
        };
        twins
            .with
            .inventory_mut()
            .set_group(group)
            .expect("no host is named");
    }
    for _ in 0..3 {
        for id in &ids {
            let mut vm = first.clone();
            vm.id = id.clone();
            let request = Request {
                members: vec![vm],
                dry_run: true,
                ..Request::default()
            };
            twins.with.place(request).expect("it is good");
        }
    }
    assert_eq!(twins.counts().classes, 1, "{:?}", twins.counts());
}

#[test]
fn requests_that_differ_in_what_filters_read_share_sums() {
    const NETWORKS: u64 = 100;
    let mut life = Life::new(5).of_few_shapes();
    let mut twins = Twins::new(&life, policies::BY_NETWORK, Reuse::default());
    for inventory in [&mut twins.with, &mut twins.without].map(Scheduler::inventory_mut) {
        let hosts: Vec<_> = inventory.hosts().map(|(_, host)| host.id.clone()).collect();
        for (number, host) in (0..).zip(hosts) {
            // Each host is on most networks, and every one is missing somewhere.
            let missing = number % NETWORKS;
            let networks = (0..NETWORKS).filter(|network| network % 7 != missing % 7);
            let row = |network: u64| Facts::new().with("name", format!("n{network}").as_str());
            let rows = networks.map(row).collect();
            let rows = inventory.set_host_rows(&host, "networks", rows);
            rows.expect("the host is there");
        }
    }
    for number in 0..6 * NETWORKS {
        if number % 50 == 0 {
            // A host loses all of its networks.
            for scheduler in [&mut twins.with, &mut twins.without] {
                let host = format!("h{:03}", number / 50);
                let lost = scheduler.inventory_mut();
                let lost = lost.set_host_rows(&host, "networks", Vec::new());
                lost.expect("the host is there");
            }
        }
        let mut request = life.request();
        let nic = Facts::new().with("plugged", true);
        let nic = nic.with("network", format!("n{}", number % NETWORKS).as_str());
        request.members[0].facts.push_row("nics", nic);
        request.dry_run = true;
        let without = twins.without.place(request.clone()).expect("it is good");
        let with = twins.with.place(request).expect("it is good");
        assert_eq!(with.decided, without.decided, "decision {number}");
        assert!(!with.decided.removed.is_empty());
    }
    let counts = twins.counts();
    assert_eq!(counts.classes, 1, "{counts:?}");
    assert_eq!(counts.skip_sets, NETWORKS as usize, "{counts:?}");
    assert!(counts.from_sums > 4 * NETWORKS, "{counts:?}");
    let units = twins.with.unit_reuse();
    let network = units.iter().find(|unit| &*unit.unit == "network");
    assert!(network.is_some_and(|unit| unit.checked > 0), "{units:?}");
}

#[test]
fn answers_that_never_serve_again_are_no_longer_kept() {
    let mut life = Life::new(4).of_many_shapes();
    let mut twins = Twins::new(&life, policies::BY_MEMORY, Reuse::default());
    twins.live(&mut life, 700);
    assert_eq!(twins.counts().pauses, 1);
}
