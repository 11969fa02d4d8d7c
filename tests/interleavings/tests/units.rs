//! Units that are handed in while others are, and units that fail.

use placewright_deployment::DeploymentError;
use placewright_library::stage::{Candidate, Outcome, Trials};
use shuttle::sync::atomic::Ordering;
use shuttle::thread;

use super::explore::explore;
use super::world::{
    BEGIN, MANY, POLICY, World, bad_and_good, edit, embedded, generations, variant,
};

/// Hand a variant of a unit in, and say under which generation it came into force.
fn upload(world: &World, name: &str, number: u8) -> u64 {
    let candidate = Candidate {
        bytes: variant(embedded(name), number).into(),
        signature: None,
    };
    let staging = world.deployment.library().upload(&candidate, "me");
    match staging.outcome {
        Outcome::InForce { generation, .. } => generation,
        outcome => panic!("{outcome:?}"),
    }
}

#[test]
fn units_that_are_handed_in_at_once_come_into_force_one_after_the_other() {
    // Each is admitted anew.
    explore(0.1, || {
        let world = World::new();
        let mut threads = Vec::new();
        for (name, number) in [("worst-fit", 1), ("affinity", 2)] {
            let world = world.clone();
            threads.push(thread::spawn(move || upload(&world, name, number)));
        }
        let one = world.clone();
        let edited = thread::spawn(move || {
            one.deployment
                .put_policy(&edit(POLICY, None), "me")
                .unwrap();
        });
        let one = world.clone();
        let placed = thread::spawn(move || {
            let turn = one.cluster().turn(|state| {
                let asked = super::world::request("v");
                state.place(asked, None)
            });
            assert!(turn.wait().unwrap().host.is_some());
        });
        let mut numbers: Vec<u64> = threads.into_iter().map(|it| it.join().unwrap()).collect();
        edited.join().unwrap();
        placed.join().unwrap();
        numbers.sort_unstable();
        let last = world.deployment.generation();
        assert_eq!(numbers, [last.number() - 1, last.number()]);
        assert_eq!(last.number(), world.deployment.library().current().number());
        for (name, number) in [("worst-fit", 1), ("affinity", 2)] {
            let expected = generations()[number].get(name).unwrap().digest();
            assert_eq!(last.get(name).unwrap().digest(), expected, "{name}");
        }
        world.deployment.stop();
    });
}

#[test]
fn what_the_library_says_to_be_in_force_decides() {
    explore(0.2, || {
        let world = World::new();
        let one = world.clone();
        let handed_in = thread::spawn(move || upload(&one, "worst-fit", 1));
        let one = world.clone();
        let asked = thread::spawn(move || {
            for _ in 0..3 {
                let said = one.deployment.library().current();
                let said = said.get("worst-fit").map(|unit| unit.digest());
                let cluster = one.cluster();
                let decides = cluster.turn(|state| {
                    let units = state.scheduler().chain().units();
                    let mut units = units.into_iter();
                    let unit = units.find(|unit| unit.name() == "worst-fit");
                    Ok(unit.map(|unit| unit.digest()))
                });
                let decides = decides.wait().unwrap();
                let new = generations()[1].get("worst-fit").unwrap().digest();
                assert!(
                    said != Some(new) || decides == said,
                    "it does not decide yet"
                );
            }
        });
        handed_in.join().unwrap();
        asked.join().unwrap();
        world.deployment.stop();
    });
}

const FRAGILE: &str = r#"
    [[stages]]
    name = "main"
    [[stages.filters]]
    name = "keeps"
    unit = "misbehaving"
"#;

#[test]
fn a_unit_that_fails_is_paused_and_forgiven_when_a_better_one_comes() {
    explore(0.5, || {
        let [bad, good] = bad_and_good();
        let world = World::with(bad, FRAGILE, MANY);
        let mut threads = Vec::new();
        for client in 0..2 {
            let world = world.clone();
            threads.push(thread::spawn(move || {
                for number in 0..3 {
                    let better = world.acknowledged.load(Ordering::SeqCst) == 1;
                    let asked = super::world::request(&format!("{client}-{number}"));
                    let cluster = world.cluster();
                    match cluster.turn(move |state| state.place(asked, None)).wait() {
                        Ok(placed) => assert!(placed.host.is_some()),
                        Err(DeploymentError::Paused { .. } | DeploymentError::Place(_)) => {
                            assert!(!better, "a good unit is held for a bad one");
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
            }));
        }
        let one = world.clone();
        threads.push(thread::spawn(move || {
            // It is called once more, and fails again.
            one.clock.store(BEGIN + 3, Ordering::SeqCst);
        }));
        let one = world.clone();
        threads.push(thread::spawn(move || {
            one.deployment.adopt(good.clone()).unwrap();
            one.acknowledged.store(1, Ordering::SeqCst);
        }));
        for thread in threads {
            thread.join().unwrap();
        }
        let asked = super::world::request("last");
        let turn = world.cluster();
        let last = turn.turn(move |state| state.place(asked, None)).wait();
        assert!(
            last.unwrap().host.is_some(),
            "nothing is left of its failures"
        );
        world.restart(good).deployment.stop();
    });
}
