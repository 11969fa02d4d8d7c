//! A store that fails for a while, and a clock that was ahead.

use super::*;
use crate::cluster::Placed;

/// The same deployment, started anew from what was kept.
fn again(folder: &Path, world: World, generation: &Generation) -> (World, Arc<Cluster>) {
    world.deployment.stop();
    drop(world);
    let world = start(folder, generation);
    let cluster = world.deployment.cluster("c").unwrap();
    (world, cluster)
}

fn with_key(cluster: &Cluster, id: &str) -> Result<Placed, DeploymentError> {
    let key = Key {
        caller: "me".into(),
        word: format!("key of {id}"),
        again: false,
    };
    let request = request(id, 1);
    let placed = cluster.turn(move |state| state.place(request, Some(key)));
    placed.wait()
}

#[test]
fn what_was_decided_while_the_store_failed_is_kept_when_it_works_again() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    with_key(&cluster, "before").unwrap();
    with_key(&cluster, "released").unwrap();
    deployment.store.refuse_writes(true);
    for id in ["one", "two", "one"] {
        let refused = with_key(&cluster, id).unwrap_err();
        assert!(matches!(refused, DeploymentError::NotKept(_)), "{refused}");
    }
    let released = cluster.turn(|state| state.cancel(&["released"])).wait();
    assert!(matches!(released, Err(DeploymentError::NotKept(_))));
    // Whoever only reads is answered, as often as he asks.
    for _ in 0..2 {
        let one = cluster
            .read(|state| state.reservation("one"))
            .wait()
            .unwrap();
        assert_eq!(&*one.vm, "one");
        let none = cluster.read(|state| state.plan(7)).wait().unwrap_err();
        assert!(matches!(none, DeploymentError::Unknown { .. }), "{none}");
    }
    deployment.store.refuse_writes(false);
    // Any turn has it kept.
    let one = with_key(&cluster, "after").unwrap();
    assert!(!one.repeated);
    let answers = ["before", "one", "two", "after"].map(|id| with_key(&cluster, id).unwrap().body);
    assert_eq!(counted(&cluster), (2, 1, 4));
    drop(cluster);

    let (world, cluster) = again(folder.path(), world, &generation);
    assert_eq!(counted(&cluster), (2, 1, 4));
    let kept = ["before", "one", "two", "after"].map(|id| with_key(&cluster, id).unwrap());
    assert!(kept.iter().all(|placed| placed.repeated));
    assert_eq!(kept.map(|placed| placed.body), answers);
    // That it was given back is known, too.
    cluster
        .turn(|state| state.cancel(&["released"]))
        .wait()
        .unwrap();
    let recorded = world.deployment.store.decisions("c", None, 10).unwrap();
    let numbers: Vec<u64> = recorded.iter().map(|it| it.number).collect();
    assert_eq!(numbers, [5, 4, 3, 2, 1]);
    // How the cluster was is known of those that were kept at once, and said of the others.
    world.deployment.kept_past("c", 2).unwrap();
    for number in [3, 4] {
        let unknown = world.deployment.kept_past("c", number).err().unwrap();
        assert!(
            unknown.to_string().contains("the store failed"),
            "{unknown}"
        );
    }
    world.deployment.kept_past("c", 5).unwrap();
}

#[test]
fn a_cluster_that_is_removed_while_the_store_fails_is_gone_and_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    deployment.create_cluster(document(), attach()).unwrap();
    deployment.store.refuse_writes(true);
    let removed = deployment.remove_cluster("c", "me").unwrap_err();
    assert!(matches!(removed, DeploymentError::NotKept(_)), "{removed}");
    assert!(removed.was_carried_out());
    let gone = deployment.cluster("c").map(|_| ()).unwrap_err();
    assert!(matches!(gone, DeploymentError::Unknown { .. }), "{gone}");
    // Its rows are still there, and no other cluster may have them.
    let again = deployment.create_cluster(document(), attach()).unwrap_err();
    assert!(matches!(again, DeploymentError::Ending(_)), "{again}");
    assert!(!again.was_carried_out());
    deployment.mend();
    assert_eq!(deployment.store.load().unwrap().clusters.len(), 1);
    deployment.store.refuse_writes(false);
    deployment.mend();
    assert!(deployment.store.load().unwrap().clusters.is_empty());
    deployment.create_cluster(document(), attach()).unwrap();
    deployment.stop();
}

#[test]
fn a_cluster_that_is_made_while_the_store_fails_is_not_there_and_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    deployment.store.refuse_writes(true);
    for _ in 0..2 {
        let refused = deployment.create_cluster(document(), attach()).unwrap_err();
        assert!(matches!(refused, DeploymentError::Store(_)), "{refused}");
        assert!(!refused.was_carried_out());
        let unknown = deployment.cluster("c").map(|_| ()).unwrap_err();
        assert!(matches!(unknown, DeploymentError::Unknown { .. }));
    }
    deployment.store.refuse_writes(false);
    deployment.mend();
    assert!(deployment.store.load().unwrap().clusters.is_empty());
    deployment.create_cluster(document(), attach()).unwrap();
    let (world, cluster) = again(folder.path(), world, &generation);
    assert_eq!(counted(&cluster), (2, 1, 0));
    world.deployment.stop();
}

const YEAR: i64 = 365 * 24 * 3600;

#[test]
fn after_a_clock_was_ahead_reservations_and_measurements_go_on_by_the_right_time() {
    for restarts in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let generation = units();
        let mut world = start(folder.path(), &generation);
        let deployment = &world.deployment;
        deployment.put_policy(&edit(POLICY), "somebody").unwrap();
        let mut cluster = deployment.create_cluster(document(), attach()).unwrap();
        let change = |cluster: &Cluster, text: &str| {
            let changes = InventoryChanges::read(text, "c.json", &cluster.schema()).unwrap();
            cluster.turn(|state| state.change(changes)).wait().unwrap();
        };
        world.clock.store(1000 + YEAR, Ordering::Relaxed);
        assert!(place(&cluster, request("v", 1)).is_some());
        change(
            &cluster,
            r#"{"statistics": [{"id": "a", "cpu.usage": 0.5}]}"#,
        );
        if restarts {
            (world, cluster) = again(folder.path(), world, &generation);
        }
        world.clock.store(2000, Ordering::Relaxed);
        let v = cluster.turn(|state| state.reservation("v")).wait().unwrap();
        assert_eq!((v.expires, v.since), (Some(2300), Some(2000)));
        // What is measured now is newer.
        world.clock.store(2010, Ordering::Relaxed);
        change(
            &cluster,
            r#"{"statistics": [{"id": "a", "cpu.usage": 0.25}]}"#,
        );
        let usage = cluster.turn(|state| Ok(state.inventory().host_value(0, "cpu.usage")));
        assert_eq!(usage.wait().unwrap(), Some(0.25.into()));
        if restarts {
            (world, cluster) = again(folder.path(), world, &generation);
            world.clock.store(2010, Ordering::Relaxed);
        }
        assert_eq!(counted(&cluster), (2, 1, 1));
        // A few seconds are caught up with.
        world.clock.store(1980, Ordering::Relaxed);
        let clock = |cluster: &Cluster| {
            let clock = cluster.turn(|state| {
                state.advance();
                Ok(state.inventory().clock())
            });
            clock.wait().unwrap()
        };
        assert_eq!(clock(&cluster), 2010);
        world.clock.store(2301, Ordering::Relaxed);
        assert_eq!(clock(&cluster), 2301);
        assert_eq!(counted(&cluster), (2, 1, 0));
        drop(cluster);
        world.deployment.stop();
    }
}

#[test]
fn changes_are_read_by_the_attributes_of_the_document_that_was_put() {
    let folder = tempfile::tempdir().unwrap();
    let world = start(folder.path(), &units());
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    let text = r#"{"hosts": [{"id": "a", "attribute.rack": "r1"}]}"#;
    let read = || InventoryChanges::read(text, "c.json", &cluster.schema());
    assert!(read().is_err());
    let other = format!("{CLUSTER}\n[attributes.hosts]\nrack = \"text\"\n");
    let other = ClusterDocument::read(&other, "c.toml").unwrap();
    cluster.turn(|state| replace(state, other)).wait().unwrap();
    let changes = read().unwrap();
    cluster.turn(|state| state.change(changes)).wait().unwrap();
    cluster
        .turn(|state| replace(state, document()))
        .wait()
        .unwrap();
    assert!(read().is_err());
}
