//! Nobody waits without bound for somebody else's cluster.

use std::sync::mpsc;
use std::thread;

use super::*;

/// Nothing here takes so long, on the slowest machine.
const LONG: Duration = Duration::from_secs(120);

/// The limit of waiting in tests that reach it: longer than a turn waits for a processor of a busy
/// machine.
const SHORT: Duration = Duration::from_secs(10);

/// The cluster of the tests, and the policy that decides there.
pub(super) fn create(deployment: &Deployment) -> Arc<Cluster> {
    deployment.put_policy(&edit(POLICY), "me").unwrap();
    deployment.create_cluster(document(), attach()).unwrap()
}

/// A turn of a cluster that goes on until it is let go.
fn hold(cluster: &Cluster) -> (mpsc::Sender<()>, Reply<(), DeploymentError>) {
    let (hold, held) = mpsc::channel::<()>();
    let (begun, begins) = mpsc::channel::<()>();
    let reply = cluster.turn(move |_| {
        let _ = begun.send(());
        let _ = held.recv();
        Ok(())
    });
    begins.recv().unwrap();
    (hold, reply)
}

/// What `work` comes to, on a thread of its own, while something else is under way.
fn meanwhile<R: Send + 'static>(
    deployment: &Arc<Deployment>,
    work: impl FnOnce(&Deployment) -> R + Send + 'static,
) -> R {
    let (done, is_done) = mpsc::channel();
    let deployment = deployment.clone();
    thread::spawn(move || {
        let _ = done.send(work(&deployment));
    });
    is_done
        .recv_timeout(LONG)
        .expect("it waits for the busy cluster")
}

fn revision(cluster: &Cluster) -> u64 {
    let revision = cluster.turn(|state| Ok(state.attached().revision));
    revision.wait().unwrap()
}

fn digest(cluster: &Cluster, unit: &'static str) -> placewright_engine::unit::Digest {
    let digest = cluster.turn(move |state| {
        let units = state.scheduler().chain().units();
        let mut units = units.into_iter();
        Ok(units.find(|it| it.name() == unit).map(|it| it.digest()))
    });
    digest.wait().unwrap().unwrap()
}

fn variant(generation: &Generation, name: &str) -> Arc<Generation> {
    let embedded = plugins::UNITS.iter().find(|unit| unit.name == name);
    let bytes = [embedded.unwrap().bytes, &[0, 3, 1, b'v', 1]].concat();
    let engine = generation.units().next().unwrap().engine().clone();
    let unit = Unit::load(&engine, &bytes, name).unwrap();
    Arc::new(generation.with(unit))
}

#[test]
fn units_and_policies_come_into_force_while_a_cluster_is_busy_and_decide_from_its_next_turn_on() {
    let folder = tempfile::tempdir().unwrap();
    let units = units();
    let world = start(folder.path(), &units);
    let deployment = &world.deployment;
    let busy = create(deployment);
    let (let_go, long) = hold(&busy);
    let text = format!("{POLICY}    factor = 2.0\n");
    let put = meanwhile(deployment, move |it| it.put_policy(&edit(&text), "me"));
    assert_eq!(put.unwrap().revision, 2);
    let other = variant(&units, "worst-fit");
    let expected = other.get("worst-fit").unwrap().digest();
    meanwhile(deployment, move |it| it.adopt(other)).unwrap();
    let listed = meanwhile(deployment, |it| it.all_policies().len());
    assert!(listed > 1);
    // What was asked for after that is decided by both.
    let asked = busy.turn(|state| Ok(state.attached().revision));
    let_go.send(()).unwrap();
    long.wait().unwrap();
    assert_eq!(asked.wait().unwrap(), 2);
    assert_eq!(digest(&busy, "worst-fit"), expected);
    deployment.stop();
}

#[test]
fn a_cluster_that_is_busy_takes_over_what_is_in_force_though_nobody_asks_it() {
    let folder = tempfile::tempdir().unwrap();
    let units = units();
    let world = start(folder.path(), &units);
    let deployment = &world.deployment;
    let cluster = create(deployment);
    let (let_go, long) = hold(&cluster);
    for _ in 0..3 {
        deployment.adopt(variant(&units, "affinity")).unwrap();
        deployment.adopt(Arc::new(units.clone())).unwrap();
    }
    // One turn for all of them.
    assert_eq!(cluster.waiting(), 1);
    let number = deployment.in_force().number;
    let_go.send(()).unwrap();
    long.wait().unwrap();
    let begun = Instant::now();
    while cluster.in_force_number() != number {
        assert!(begun.elapsed() < LONG, "it is not taken over");
        thread::yield_now();
    }
    deployment.stop();
}

#[test]
fn a_policy_that_cannot_run_any_more_when_a_turn_begins_decides_nothing_until_one_can() {
    let folder = tempfile::tempdir().unwrap();
    let units = units();
    let world = start(folder.path(), &units);
    let deployment = &world.deployment;
    let cluster = create(deployment);
    // As if the cluster's columns had changed after the units were checked.
    let kept = units.units().filter(|it| it.name() != "affinity").cloned();
    let without = Generation::new(kept).unwrap();
    deployment.put_in_force(deployment.in_force().with_units(Arc::new(without)));
    let refused = cluster
        .turn(|state| state.place(request("v", 1), None))
        .wait();
    let Err(DeploymentError::NoPolicy { why, .. }) = refused else {
        panic!("{refused:?}")
    };
    assert!(why.contains("affinity"), "{why}");
    assert!(cluster.policy().is_none());
    deployment.adopt(Arc::new(units)).unwrap();
    assert!(place(&cluster, request("v", 1)).is_some());
    deployment.stop();
}

#[test]
fn settings_are_not_given_to_a_cluster_that_is_busy_for_too_long_and_nobody_else_waits() {
    let folder = tempfile::tempdir().unwrap();
    let world = start_with(folder.path(), &units(), |options| {
        options.wait = SHORT;
    });
    let deployment = &world.deployment;
    let cluster = create(deployment);
    let (let_go, long) = hold(&cluster);
    let other = || Attach {
        statistics_max_age: Some(60),
        ..attach()
    };
    let attached = meanwhile(deployment, move |it| it.attach("c", other()));
    let Err(DeploymentError::NoTurn(TurnError::Waited(_))) = attached else {
        panic!("{attached:?}")
    };
    assert_eq!(cluster.settings().revision, 1);
    // Nor does the policy count as one that is being attached.
    assert!(deployment.attaching_policies().is_empty());
    let_go.send(()).unwrap();
    long.wait().unwrap();
    assert_eq!(deployment.attach("c", other()).unwrap().revision, 2);
    assert_eq!(deployment.attach("c", other()).unwrap().revision, 2);
    assert_eq!(revision(&cluster), 1);
    deployment.stop();
}

#[test]
fn a_policy_that_a_cluster_is_being_given_cannot_be_removed() {
    let folder = tempfile::tempdir().unwrap();
    let world = start(folder.path(), &units());
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "me").unwrap();
    let second = Edit {
        name: "second".to_owned(),
        ..edit(POLICY)
    };
    deployment.put_policy(&second, "me").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    let (let_go, long) = hold(&cluster);
    let attaching = {
        let deployment = deployment.clone();
        thread::spawn(move || {
            let second = Attach {
                policy: "second".to_owned(),
                ..Attach::default()
            };
            deployment.attach("c", second)
        })
    };
    let begun = Instant::now();
    while deployment.attaching_policies().is_empty() {
        assert!(begun.elapsed() < LONG, "it is not attached");
        thread::yield_now();
    }
    let removed = deployment.remove_policy("second", &Origin::Api, None, "me");
    let Err(DeploymentError::InUse { clusters, .. }) = removed else {
        panic!("{removed:?}")
    };
    assert_eq!(clusters, ["c"]);
    let_go.send(()).unwrap();
    long.wait().unwrap();
    assert_eq!(&*attaching.join().unwrap().unwrap().policy, "second");
    deployment.stop();
}

#[test]
fn a_cluster_that_is_busy_is_removed_when_its_turn_ends_and_holds_up_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let world = start_with(folder.path(), &units(), |options| {
        options.wait = SHORT;
        options.turn = Duration::from_millis(20);
    });
    let deployment = &world.deployment;
    let cluster = create(deployment);
    let (let_go, long) = hold(&cluster);
    let waits = cluster.turn(|_| Ok(()));
    let removed = meanwhile(deployment, |it| it.remove_cluster("c", "me"));
    let Err(DeploymentError::Removing(name)) = removed else {
        panic!("{removed:?}")
    };
    assert_eq!(&*name, "c");
    let Err(DeploymentError::NoTurn(TurnError::Stopped)) = waits.wait() else {
        panic!("a turn of a cluster that was removed")
    };
    // Its name is free when nothing of it is kept any more.
    let again = deployment.create_cluster(document(), attach());
    assert!(
        matches!(again, Err(DeploymentError::Ending(_))),
        "{again:?}"
    );
    let_go.send(()).unwrap();
    long.wait().unwrap();
    let begun = Instant::now();
    loop {
        deployment.mend();
        match deployment.create_cluster(document(), attach()) {
            Ok(_) => break,
            Err(DeploymentError::Ending(_)) => assert!(begun.elapsed() < LONG, "it is not removed"),
            Err(error) => panic!("{error}"),
        }
    }
    deployment.stop();
}

#[test]
fn a_batch_ends_with_what_is_decided_when_the_time_of_its_turn_is_up() {
    let folder = tempfile::tempdir().unwrap();
    let world = start_with(folder.path(), &units(), |options| {
        options.turn = Duration::ZERO;
    });
    let deployment = &world.deployment;
    let cluster = create(deployment);
    let batch = |search| Batch {
        members: ["v", "w"]
            .map(|id| Vm::new(id).with("memory", 1 << 30))
            .into(),
        now: 1000,
        search,
        ..Batch::default()
    };
    for search in [None, Some(1000)] {
        let batch = batch(search);
        let placed = cluster.turn(move |state| state.place_batch(batch, None));
        let placed = placed.wait().unwrap();
        let undecided: Vec<&str> = placed.undecided.iter().map(|id| &**id).collect();
        assert_eq!(undecided, ["v", "w"], "{placed:?}");
        assert!(placed.turns.is_empty(), "{placed:?}");
        let why = placed.ended_early.unwrap_or_default();
        assert!(why.contains("within 0 s"), "{why}");
    }
    // One VM is not a batch.
    assert!(place(&cluster, request("v", 1)).is_some());
    deployment.stop();
}

#[test]
fn a_batch_that_nobody_waits_for_any_more_ends() {
    let folder = tempfile::tempdir().unwrap();
    let world = start(folder.path(), &units());
    let deployment = &world.deployment;
    let cluster = create(deployment);
    let gone = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let cancel = placewright_scheduler::Cancel::default().when(&gone);
    let batch = Batch {
        members: vec![Vm::new("v").with("memory", 1 << 30)],
        now: 1000,
        dry_run: true,
        ..Batch::default()
    };
    let placed = cluster.turn(move |state| state.place_batch_unless(cancel, batch, None));
    let placed = placed.wait().unwrap();
    assert_eq!(placed.undecided.len(), 1, "{placed:?}");
    deployment.stop();
}

#[test]
fn a_dry_run_that_gives_way_ends_with_what_is_decided_once_others_wait() {
    let folder = tempfile::tempdir().unwrap();
    let world = start(folder.path(), &units());
    let deployment = &world.deployment;
    let cluster = create(deployment);
    let batch = || Batch {
        members: ["v", "w"]
            .map(|id| Vm::new(id).with("memory", 1 << 30))
            .into(),
        now: 1000,
        dry_run: true,
        ..Batch::default()
    };
    let (let_go, held) = mpsc::channel::<()>();
    let cancel = cluster.giving_way(Default::default(), Duration::ZERO);
    let gives_way = cluster.turn_as("viewer", move |state| {
        let _ = held.recv();
        state.place_batch_unless(cancel, batch(), None)
    });
    let place = cluster.turn_as("operator", |state| state.place(request("x", 1), None));
    let_go.send(()).unwrap();
    let placed = gives_way.wait().unwrap();
    assert_eq!(placed.undecided.len(), 2, "{placed:?}");
    let why = placed.ended_early.unwrap_or_default();
    assert!(why.contains("gave way to others"), "{why}");
    assert!(place.wait().unwrap().host.is_some());
    // Where nobody waits it takes its time.
    let cancel = cluster.giving_way(Default::default(), Duration::ZERO);
    let alone = cluster.turn(move |state| state.place_batch_unless(cancel, batch(), None));
    assert_eq!(alone.wait().unwrap().turns.len(), 2);
    deployment.stop();
}

#[test]
fn a_cluster_that_nobody_has_read_before_can_be_read_during_a_long_batch() {
    let folder = tempfile::tempdir().unwrap();
    let world = start(folder.path(), &units());
    let deployment = &world.deployment;
    let cluster = create(deployment);
    let batch = Batch {
        members: (0..101).map(|vm| Vm::new(format!("v{vm}"))).collect(),
        now: 1000,
        ..Batch::default()
    };
    let (let_go, held) = mpsc::channel::<()>();
    let (begun, begins) = mpsc::channel::<()>();
    let long = cluster.turn(move |state| {
        let placed = state.place_batch(batch, None)?;
        let _ = begun.send(());
        let _ = held.recv();
        Ok(placed.turns.len())
    });
    begins.recv().unwrap();
    let read = meanwhile(deployment, move |_| {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().build().unwrap();
        runtime.block_on(cluster.snapshot()).unwrap()
    });
    assert_eq!(read.inventory().pending_count(), 0);
    let_go.send(()).unwrap();
    assert_eq!(long.wait().unwrap(), 101);
    deployment.stop();
}

#[test]
fn the_end_of_everything_is_waited_for_no_longer_than_said() {
    let folder = tempfile::tempdir().unwrap();
    let world = start(folder.path(), &units());
    let deployment = &world.deployment;
    let cluster = create(deployment);
    let (let_go, long) = hold(&cluster);
    let until = Instant::now() + Duration::from_millis(50);
    assert!(!meanwhile(deployment, move |it| it.stop_by(Some(until))));
    let_go.send(()).unwrap();
    long.wait().unwrap();
}

#[test]
fn a_cluster_that_panics_is_started_again_as_it_was_kept_and_the_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let world = start(folder.path(), &units());
    let deployment = &world.deployment;
    let cluster = create(deployment);
    let other = ClusterDocument {
        name: "d".into(),
        ..document()
    };
    let other = deployment.create_cluster(other, attach()).unwrap();
    assert!(place(&cluster, request("v", 1)).is_some());
    let before = cluster.turn(|state| Ok(state.document())).wait().unwrap();
    let panics = cluster.turn(|_| -> Result<(), DeploymentError> { panic!("on purpose") });
    let panics = panics.wait();
    assert!(matches!(
        panics,
        Err(DeploymentError::NoTurn(TurnError::Stopped))
    ));
    let begun = Instant::now();
    while !cluster.has_panicked() {
        assert!(begun.elapsed() < LONG, "its end is not noticed");
        thread::yield_now();
    }
    let broken = deployment.broken_clusters();
    assert_eq!((broken.len(), &*broken[0].name), (1, "c"));
    assert!(place(&other, request("w", 1)).is_some());
    deployment.mend();
    assert_eq!(deployment.broken_clusters(), []);
    let again = deployment.cluster("c").unwrap();
    let after = again.turn(|state| Ok(state.document())).wait().unwrap();
    assert_eq!(before, after);
    assert!(place(&again, request("x", 1)).is_some());
    assert_eq!(told(deployment, "cluster-restarted"), 1);
    deployment.stop();
}

#[test]
fn a_cluster_that_cannot_be_read_holds_up_no_other_and_can_be_removed() {
    let folder = tempfile::tempdir().unwrap();
    let world = start(folder.path(), &units());
    world.deployment.put_policy(&edit(POLICY), "me").unwrap();
    world
        .deployment
        .create_cluster(document(), attach())
        .unwrap();
    let good = ClusterDocument {
        name: "good".into(),
        ..document()
    };
    world.deployment.create_cluster(good, attach()).unwrap();
    let spoil = Change::PutCluster {
        cluster: "c".to_owned(),
        body: "no JSON".to_owned(),
    };
    world.deployment.store().commit(vec![spoil]).unwrap();
    world.deployment.stop();
    drop(world);
    let (world, problems) = start_as_it_is(folder.path(), &units(), |_| {});
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].contains("\"c\" is out of service"),
        "{problems:?}"
    );
    let deployment = &world.deployment;
    let good = deployment.cluster("good").unwrap();
    assert!(place(&good, request("v", 1)).is_some());
    let broken = deployment.broken_clusters();
    assert_eq!((broken.len(), &*broken[0].name), (1, "c"));
    // Its name is not free.
    for refused in [
        deployment.cluster("c").map(drop),
        deployment.create_cluster(document(), attach()).map(drop),
    ] {
        assert!(
            matches!(refused, Err(DeploymentError::Unread { .. })),
            "{refused:?}"
        );
    }
    deployment.remove_cluster("c", "me").unwrap();
    assert_eq!(deployment.broken_clusters(), []);
    deployment.create_cluster(document(), attach()).unwrap();
    deployment.stop();
}

#[test]
fn a_trial_of_units_says_of_which_busy_clusters_no_decision_was_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let units = units();
    let world = start(folder.path(), &units);
    let deployment = &world.deployment;
    let busy = create(deployment);
    place(&busy, request("v1", 1));
    let changed = ["worst-fit".to_owned()];
    let report = deployment.replay(&units, &changed);
    assert_eq!((report.tried, report.untried.len()), (1, 0));
    let (let_go, long) = hold(&busy);
    let report = meanwhile(deployment, move |it| it.replay(&units, &changed));
    let_go.send(()).unwrap();
    long.wait().unwrap();
    assert_eq!(report.tried, 0);
    let why = &report.untried[&**busy.name()];
    assert!(why.contains("does not answer"), "{why}");
    deployment.stop();
}
