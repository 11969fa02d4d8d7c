//! Policies are edited and attached, clusters come and go, and units are replaced, all
//! at once: everybody sees one order of it all.

use std::sync::Arc;

use placewright_deployment::{Attach, DeploymentError, TurnError};
use shuttle::thread;

use super::explore::explore;
use super::world::{POLICY, World, attach, decides, edit, generations};

/// What the cluster decides by: units, and the revision of the policy.
fn ruling(world: &World, cluster: &str) -> (Vec<usize>, u64) {
    let cluster = world.deployment.cluster(cluster).unwrap();
    let turn = cluster.turn(|state| Ok((decides(state), state.attached().revision)));
    turn.wait().unwrap()
}

#[test]
fn of_two_edits_of_the_same_revision_one_is_done_and_clusters_decide_by_the_last() {
    explore(1.0, || {
        let world = World::new();
        let mut edits = Vec::new();
        for factor in [2, 3] {
            let world = world.clone();
            edits.push(thread::spawn(move || {
                let text = format!("{POLICY}\n    factor = {factor}.0\n");
                let edited = world.deployment.put_policy(&edit(&text, Some(1)), "me");
                match edited {
                    Ok(_) => true,
                    Err(DeploymentError::Revision { current: 2, .. }) => false,
                    Err(error) => panic!("{error}"),
                }
            }));
        }
        let one = world.clone();
        let attached = thread::spawn(move || {
            let other = Attach {
                statistics_max_age: Some(60),
                ..attach()
            };
            one.deployment.attach("c", other).unwrap();
        });
        let one = world.clone();
        let reload = thread::spawn(move || {
            one.reload(1);
            one.reload(2);
        });
        let one = world.clone();
        let more = thread::spawn(move || {
            one.create("d");
            one.place("v").unwrap();
        });
        let one = world.clone();
        let placing = thread::spawn(move || {
            one.place("w").unwrap();
            one.place("x").unwrap();
        });
        let edited: Vec<bool> = edits.into_iter().map(|it| it.join().unwrap()).collect();
        for thread in [attached, reload, more, placing] {
            thread.join().unwrap();
        }
        assert_eq!(edited.iter().filter(|done| **done).count(), 1, "{edited:?}");
        for cluster in ["c", "d"] {
            let (units, revision) = ruling(&world, cluster);
            assert!(units.iter().all(|it| *it == 2), "{cluster}: {units:?}");
            assert_eq!(revision, 2, "{cluster}");
        }
        assert_eq!(world.deployment.policy("mine").unwrap().revision, 2);
        let settings = world.cluster().settings();
        assert_eq!((settings.revision, &*settings.policy), (2, "mine"));
        world.restart(&generations()[2]).deployment.stop();
    });
}

#[test]
fn a_cluster_that_is_taken_out_holds_up_nobody() {
    explore(0.5, || {
        let world = World::new();
        world.create("d");
        let one = world.clone();
        let removed = thread::spawn(move || one.deployment.remove_cluster("d", "test").unwrap());
        let one = world.clone();
        let reload = thread::spawn(move || one.reload(1));
        let one = world.clone();
        let asked = thread::spawn(move || {
            // It may be gone already, or go before the turn comes.
            let Ok(cluster) = one.deployment.cluster("d") else {
                return;
            };
            let asked = super::world::request("v");
            let placed = cluster.turn(move |state| state.place(asked, None));
            match placed.wait().map(drop) {
                Ok(()) | Err(DeploymentError::NoTurn(TurnError::Stopped)) => {}
                Err(error) => panic!("{error}"),
            }
        });
        for thread in [removed, reload, asked] {
            thread.join().unwrap();
        }
        assert!(
            world
                .store
                .load()
                .unwrap()
                .clusters
                .iter()
                .all(|it| it.name == "c")
        );
        let rows = world.store.inventory("d").unwrap();
        assert_eq!((rows.hosts.len(), rows.vms.len()), (0, 0), "it left rows");
        let (units, _) = ruling(&world, "c");
        assert!(units.iter().all(|it| *it == 1), "{units:?}");
        world.deployment.stop();
    });
}

#[test]
fn units_come_into_force_however_many_wait_for_their_turns() {
    explore(1.0, || {
        let world = World::with(&generations()[0], POLICY, 1);
        let mut threads = Vec::new();
        for id in ["v", "w", "x"] {
            let world = world.clone();
            threads.push(thread::spawn(move || match world.place(id) {
                Ok(_) | Err(DeploymentError::NoTurn(TurnError::Crowded(1))) => {}
                Err(error) => panic!("{error}"),
            }));
        }
        let one: Arc<World> = world.clone();
        threads.push(thread::spawn(move || {
            one.reload(1);
            // Settings wait for a turn as requests do.
            match one.deployment.attach("c", attach()) {
                Ok(_) | Err(DeploymentError::NoTurn(TurnError::Crowded(1))) => {}
                Err(error) => panic!("{error}"),
            }
            one.reload(2);
        }));
        for thread in threads {
            thread.join().unwrap();
        }
        // The turn that takes over what is in force may wait still.
        while world.cluster().waiting() > 0 {
            thread::yield_now();
        }
        let (units, _) = ruling(&world, "c");
        assert!(units.iter().all(|it| *it == 2), "{units:?}");
        world.deployment.stop();
    });
}
