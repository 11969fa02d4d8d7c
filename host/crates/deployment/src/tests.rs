//! A deployment as its faces use it, on a store in a folder.

mod all_or_nothing;
mod artifacts;
mod bounds;
mod changes;
mod copies;
mod done;
mod failing;
mod groups;
mod made_again;
mod measured;
mod numbers;
mod plans;
mod quotas;
mod restart;
mod restarts;
mod returned;
mod revisions;
mod rewritten;
mod rivals;
mod round_trip;
mod trust;
mod waiting;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use super::cluster::{Begin, Counted, Key, Replacement};
use super::folder::PolicyFolder;
use super::*;
use placewright_document::{InventoryChanges, Word};
use placewright_engine::unit::{Digest, Unit};
use placewright_engine::{Engine, Limits};
use placewright_library::live::{LibraryOptions, Surroundings};
use placewright_library::stage::{Candidate, Trials};
use placewright_library::watch;
use placewright_model::{Request, Vm};
use placewright_plugins as plugins;
use placewright_scheduler::Batch;
use placewright_store::{Change, StoreOptions};
use placewright_testing::component::Judging;

mod reservations;

const CLUSTER: &str = r#"
    name = "c"
    [[hosts]]
    id = "a"
    cpu.cores = 8
    memory.total = "32 GiB"
    [[hosts]]
    id = "b"
    cpu.cores = 8
    memory.total = "16 GiB"
    [[vms]]
    id = "old"
    host = "a"
    memory = "8 GiB"
    [[groups]]
    id = "apart"
    vms = ["old", "new"]
    rule = "negative"
    hard = true
"#;

fn units() -> Generation {
    units_named(&["affinity", "even-guest-distribution", "worst-fit"])
}

/// The units of these names that come with the program.
fn units_named(wanted: &[&str]) -> Generation {
    let limits = Limits {
        instances: 16,
        ..Limits::default()
    };
    let engine = Engine::new(limits, None).unwrap();
    let units = plugins::UNITS
        .iter()
        .filter(|unit| wanted.contains(&unit.name));
    let units = units.map(|unit| Unit::load(&engine, unit.bytes, unit.name).unwrap());
    Generation::new(units).unwrap()
}

const POLICY: &str = r#"
    [[stages]]
    name = "main"
    [[stages.filters]]
    name = "room"
    unit = "worst-fit"
    [[stages.filters]]
    name = "affinity"
    unit = "affinity"
    [[stages.costs]]
    name = "spread"
    unit = "worst-fit"
"#;

/// A deployment whose clock is set by hand.
struct World {
    deployment: Arc<Deployment>,
    clock: Arc<AtomicI64>,
}

fn start(folder: &Path, generation: &Generation) -> World {
    start_with(folder, generation, |_| {})
}

fn start_with(
    folder: &Path,
    generation: &Generation,
    set: impl FnOnce(&mut DeploymentOptions),
) -> World {
    let (world, problems) = start_as_it_is(folder, generation, set);
    assert_eq!(problems, Vec::<String>::new());
    world
}

/// With the problems of the start.
fn start_as_it_is(
    folder: &Path,
    generation: &Generation,
    set: impl FnOnce(&mut DeploymentOptions),
) -> (World, Vec<String>) {
    let store = Store::open(folder, StoreOptions::default()).unwrap();
    let clock = Arc::new(AtomicI64::new(1000));
    let time = clock.clone();
    let mut options = DeploymentOptions {
        clock: Arc::new(move || time.load(Ordering::Relaxed)),
        ..DeploymentOptions::default()
    };
    set(&mut options);
    let around = Surroundings {
        artifacts: Arc::new(KeptArtifacts::new(store.clone())),
        events: Arc::new(|_, _| {}),
        clock: Arc::new(SystemTime::now),
    };
    let engine = generation.units().next().unwrap().engine().clone();
    let library = Library::open(engine, generation, LibraryOptions::default(), around).unwrap();
    let started =
        Deployment::start(store, library, Arc::default(), Arc::default(), options).unwrap();
    let deployment = started.deployment;
    (World { deployment, clock }, started.problems)
}

/// The inventory of a document, to be put in the place of the cluster's.
fn replacement(
    state: &ClusterState,
    document: ClusterDocument,
) -> Result<Replacement, DeploymentError> {
    Replacement::of_document(
        document,
        state.inventory().clock(),
        ClusterBounds::default(),
    )
}

fn replace(
    state: &mut ClusterState,
    document: ClusterDocument,
) -> Result<Counted, DeploymentError> {
    let replacement = replacement(state, document)?;
    state.replace(replacement)
}

fn document() -> ClusterDocument {
    ClusterDocument::read(CLUSTER, "c.toml").unwrap()
}

fn edit(text: &str) -> Edit {
    Edit {
        name: "mine".to_owned(),
        text: text.to_owned(),
        origin: Origin::Api,
        revision: None,
    }
}

fn attach() -> Attach {
    Attach {
        policy: "mine".to_owned(),
        ..Attach::default()
    }
}

fn request(id: &str, gib: i64) -> Request {
    Request {
        members: vec![Vm::new(id).with("memory", gib << 30)],
        now: 1000,
        ..Request::default()
    }
}

/// The batch, of which those that run are placed anew.
fn anew(batch: Batch) -> Batch {
    let again = batch.members.iter().map(|member| member.id.clone());
    Batch {
        again: again.collect(),
        ..batch
    }
}

fn place(cluster: &Cluster, request: Request) -> Option<String> {
    let placed = cluster.turn(move |state| state.place(request, None)).wait();
    placed.unwrap().host.map(|host| host.to_string())
}

fn counted(cluster: &Cluster) -> (usize, usize, usize) {
    let counted = cluster.turn(|state| Ok(state.counted())).wait().unwrap();
    (counted.hosts, counted.vms, counted.pending)
}

#[test]
fn what_was_acknowledged_is_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    assert_eq!(place(&cluster, request("new", 4)).as_deref(), Some("b"));
    assert_eq!(place(&cluster, request("other", 4)).as_deref(), Some("a"));
    cluster
        .turn(|state| state.confirm(&["other"], None))
        .wait()
        .unwrap();
    let changes = r#"{"hosts": [{"id": "c", "memory.total": "1 GiB"}],
        "statistics": [{"id": "a", "cpu.usage": 0.5}]}"#;
    let changes = InventoryChanges::read(changes, "c.json", &cluster.schema()).unwrap();
    cluster.turn(|state| state.change(changes)).wait().unwrap();
    let before = cluster.turn(|state| Ok(state.document())).wait().unwrap();
    world.deployment.stop();
    drop((cluster, world));

    let world = start(folder.path(), &generation);
    let cluster = world.deployment.cluster("c").unwrap();
    assert_eq!(counted(&cluster), (3, 2, 1));
    let after = cluster.turn(|state| Ok(state.document())).wait().unwrap();
    let before = serde_json::to_value(before).unwrap();
    assert_eq!(before, serde_json::to_value(after).unwrap());
    assert_eq!(world.deployment.policy("mine").unwrap().by, "somebody");
    let number = cluster
        .turn(|state| Ok(state.scheduler().next_number()))
        .wait();
    assert_eq!(number.unwrap(), 3);
    // The reservation goes on, and ends in its time.
    world.clock.store(1301, Ordering::Relaxed);
    cluster
        .turn(|state| state.confirm(&["old"], None).or(Ok(())))
        .wait()
        .unwrap();
    assert_eq!(counted(&cluster), (3, 2, 0));
    world.deployment.stop();
    drop((cluster, world));
    let world = start(folder.path(), &generation);
    assert_eq!(counted(&world.deployment.cluster("c").unwrap()), (3, 2, 0));
}

#[test]
fn a_request_with_a_key_gets_one_place_however_often_it_comes() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    world
        .deployment
        .put_policy(&edit(POLICY), "somebody")
        .unwrap();
    world
        .deployment
        .create_cluster(document(), attach())
        .unwrap();
    let place = |world: &World, gib: i64| {
        let cluster = world.deployment.cluster("c").unwrap();
        let key = Some(Key {
            caller: "me".into(),
            word: "k".to_owned(),
            again: false,
        });
        cluster
            .turn(move |state| state.place(request("new", gib), key))
            .wait()
    };
    let of_another = |world: &World| {
        let cluster = world.deployment.cluster("c").unwrap();
        let key = Key {
            caller: "somebody else".into(),
            word: "k".to_owned(),
            again: false,
        };
        let other = request("other", 1);
        cluster
            .turn(move |state| state.place(other, Some(key)))
            .wait()
    };
    let first = place(&world, 4).unwrap();
    let again = place(&world, 4).unwrap();
    assert!(
        !of_another(&world).unwrap().repeated,
        "keys are the caller's own"
    );
    assert_eq!((&first.body, again.repeated), (&again.body, true));
    assert!(matches!(
        place(&world, 5),
        Err(DeploymentError::OtherRequest(_))
    ));
    world.deployment.stop();
    drop(world);
    let world = start(folder.path(), &generation);
    assert_eq!(place(&world, 4).unwrap().body, first.body);
    assert_eq!(counted(&world.deployment.cluster("c").unwrap()), (2, 1, 2));
}

#[test]
fn a_policy_that_cannot_run_somewhere_is_refused_and_the_old_one_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let world = start(folder.path(), &units());
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    let wrong = POLICY.replace("worst-fit", "worst-fti");
    let refused = deployment.put_policy(&edit(&wrong), "other").unwrap_err();
    assert!(refused.to_string().contains("worst-fit"), "{refused}");
    assert_eq!(deployment.policy("mine").unwrap().revision, 1);
    let stale = Edit {
        revision: Some(7),
        ..edit(POLICY)
    };
    let stale = deployment.put_policy(&stale, "other");
    assert!(matches!(
        stale,
        Err(DeploymentError::Revision { current: 1, .. })
    ));
    let in_use = deployment.remove_policy("mine", &Origin::Api, None, "test");
    assert!(matches!(in_use, Err(DeploymentError::InUse { .. })));
    let locked = Edit {
        name: "none".to_owned(),
        ..edit(POLICY)
    };
    let locked = deployment.put_policy(&locked, "other");
    assert!(matches!(locked, Err(DeploymentError::Locked(_))));
    assert_eq!(place(&cluster, request("x", 1)).as_deref(), Some("a"));
}

#[test]
fn overrides_of_a_cluster_are_heeded_and_can_be_reset() {
    let folder = tempfile::tempdir().unwrap();
    let world = start(folder.path(), &units());
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    let with = |name: &str, given: Override, revision| Attach {
        overrides: BTreeMap::from([(name.to_owned(), given)]),
        revision,
        ..attach()
    };
    let packed = Override {
        factor: Some(-1.0),
        ..Override::default()
    };
    let unknown = deployment.attach("c", with("sprad", packed.clone(), None));
    assert!(unknown.unwrap_err().to_string().contains("\"spread\""));
    let set = deployment
        .attach("c", with("spread", packed.clone(), Some(1)))
        .unwrap();
    assert_eq!(set.revision, 2);
    assert!(
        deployment
            .attach("c", with("spread", packed, Some(1)))
            .is_err()
    );
    assert_eq!(place(&cluster, request("x", 1)).as_deref(), Some("b"));
    deployment.attach("c", attach()).unwrap();
    assert_eq!(place(&cluster, request("y", 1)).as_deref(), Some("a"));
}

/// How often that kind of event was told.
fn told(deployment: &Deployment, kind: &str) -> usize {
    let events = deployment.events().listen(Some(0)).missed;
    events
        .iter()
        .filter(|event| event.kind.word() == kind)
        .count()
}

#[test]
fn a_policy_that_came_before_its_unit_is_taken_over_when_the_unit_is_in_force() {
    let all = units();
    let others = all.units().filter(|unit| unit.name() != "affinity");
    let without = Generation::new(others.cloned()).unwrap();
    let (data, policies) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let world = start(data.path(), &without);
    let deployment = &world.deployment;
    std::fs::write(policies.path().join("mine.toml"), POLICY).unwrap();
    let options = watch::Options {
        // Told of as it is at once.
        settle: Duration::ZERO,
        ..watch::Options::policies(1 << 20)
    };
    let folder = PolicyFolder::watch(deployment, policies.path(), options).unwrap();
    folder.settle();
    assert!(deployment.policy("mine").is_err());
    assert_eq!(told(deployment, "policy-refused"), 1);
    // Other units, and still not the one that it names.
    let same = Generation::new(without.units().cloned()).unwrap();
    deployment.adopt_generation(Arc::new(same)).unwrap();
    folder.settle();
    assert_eq!(told(deployment, "policy-refused"), 1);
    deployment.adopt_generation(Arc::new(all)).unwrap();
    folder.settle();
    assert_eq!(*deployment.policy("mine").unwrap().text, *POLICY);
    assert_eq!(told(deployment, "policy-changed"), 1);
}

#[test]
fn a_batch_is_placed_and_kept_and_a_plan_is_begun_and_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    let batch = Batch {
        members: (0..4)
            .map(|it| Vm::new(format!("v{it}")).with("memory", 10_i64 << 30))
            .collect(),
        now: 1000,
        ..Batch::default()
    };
    let plan = cluster
        .turn(move |state| state.place_batch(batch, None))
        .wait()
        .unwrap();
    let placed = plan
        .turns
        .iter()
        .filter(|turn| turn.as_ref().is_ok_and(|it| !it.contains("\"host\":null")));
    assert_eq!(placed.count(), 3);
    assert_eq!(counted(&cluster), (2, 1, 3));
    let unknown = cluster
        .turn(|state| state.begin_plan(1, &Begin::default()))
        .wait()
        .unwrap_err();
    assert!(
        unknown.to_string().contains("there is no plan"),
        "{unknown}"
    );
    world.deployment.stop();
    drop((cluster, world));
    let world = start(folder.path(), &generation);
    assert_eq!(counted(&world.deployment.cluster("c").unwrap()), (2, 1, 3));
}

#[test]
fn decisions_are_explained_and_made_again_on_the_inventory_of_then() {
    let folder = tempfile::tempdir().unwrap();
    let world = start(folder.path(), &units());
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    place(&cluster, request("new", 4));
    place(&cluster, request("x", 20));
    let past = cluster.turn(|state| Ok(state.past(1)?)).wait().unwrap();
    let explanation = past.explain().unwrap();
    assert_eq!(explanation.chosen.as_deref(), Some("b"));
    assert!(past.replay().unwrap());
    let kept = deployment.store().decisions("c", None, 10).unwrap();
    assert_eq!(kept.iter().map(|it| it.number).collect::<Vec<_>>(), [2, 1]);
}

fn candidate(name: &'static str, reason: &'static str) -> Candidate {
    let judging = Judging {
        name,
        reasons: vec![reason],
        ..Judging::default()
    };
    Candidate {
        bytes: judging.component().into(),
        signature: None,
    }
}

#[test]
fn a_unit_that_a_policy_cannot_do_with_is_refused_and_the_old_one_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    // Pinned to what it is.
    let digest = generation.get("worst-fit").unwrap().digest().to_string();
    let pinned = POLICY.replace("\"worst-fit\"", &format!("\"worst-fit@{}\"", &digest[..12]));
    deployment.put_policy(&edit(&pinned), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    place(&cluster, request("x", 1));
    let staging = deployment
        .library()
        .upload(&candidate("worst-fit", "is no good"), "me");
    let told = format!("{staging:?}");
    assert!(told.contains("cluster"), "{told}");
    assert_eq!(place(&cluster, request("y", 1)).as_deref(), Some("a"));
    assert_eq!(Trials::users(&**deployment, "worst-fit"), ["mine"]);
}

#[test]
fn an_admin_overrides_a_policy_that_keeps_a_unit_out_and_only_its_clusters_decide_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let old = generation.get("worst-fit").unwrap().digest();
    let pinned = POLICY.replace("\"worst-fit\"", &format!("\"worst-fit@{}\"", old.short()));
    let pinned = Edit {
        name: "pinned".to_owned(),
        ..edit(&pinned)
    };
    deployment.put_policy(&pinned, "another").unwrap();
    let free = deployment.create_cluster(document(), attach()).unwrap();
    let mut other = document();
    other.name = "other".into();
    let to_pinned = Attach {
        policy: "pinned".to_owned(),
        ..Attach::default()
    };
    let held = deployment.create_cluster(other, to_pinned).unwrap();
    // The same with a section that nobody reads.
    let bytes = plugins::UNITS.iter().find(|it| it.name == "worst-fit");
    let mut bytes = bytes.unwrap().bytes.to_vec();
    bytes.extend([0, 5, 4, b'n', b'o', b't', b'e']);
    let new = Candidate {
        bytes: bytes.into(),
        signature: None,
    };
    let refused = deployment.library().upload(&new, "me");
    assert!(refused.is_refused(), "{refused:?}");
    assert_eq!(place(&held, request("w", 1)).as_deref(), Some("a"));
    let staging = deployment.library().upload_overriding_policies(&new, "me");
    let told = staging.to_string();
    assert!(!staging.is_refused(), "{told}");
    assert!(
        told.contains("overridden, though cluster \"other\""),
        "{told}"
    );
    let check = |deployment: &Deployment| {
        let in_force = deployment.library().current();
        let digest = in_force.get("worst-fit").unwrap().digest();
        assert_eq!(digest, Digest::of(&new.bytes));
        let [free, held] = ["c", "other"].map(|it| deployment.cluster(it).unwrap());
        let id = format!("x{}", counted(&free).1 + counted(&free).2);
        assert!(place(&free, request(&id, 1)).is_some());
        let asked = request("y", 1);
        let stopped = held.turn(move |state| state.place(asked, None)).wait();
        let stopped = stopped.unwrap_err().to_string();
        assert!(stopped.contains("whose digest begins"), "{stopped}");
    };
    check(deployment);
    world.deployment.stop();
    drop((free, held, world));
    let (world, problems) = start_as_it_is(folder.path(), &generation, |_| {});
    assert_eq!(problems.len(), 1, "{problems:?}");
    check(&world.deployment);
    // With another policy it decides again.
    let held = world.deployment.cluster("other").unwrap();
    world.deployment.attach("other", attach()).unwrap();
    assert!(place(&held, request("y", 1)).is_some());
}

const FAILING: &str = r#"
    [[filters]]
    unit = "worst-fit"
    [[costs]]
    unit = "worst-fit"
    [[costs]]
    name = "judge"
    unit = "judge"
    on-failure = "ON_FAILURE"
"#;

/// A deployment with a unit that always traps.
fn with_failing(folder: &Path, on_failure: &str) -> (World, Arc<Cluster>) {
    let good = units();
    let engine = good.units().next().unwrap().engine().clone();
    let judging = Judging {
        name: "judge",
        judge: "unreachable",
        ..Judging::default()
    };
    let failing = Unit::load(&engine, &judging.component(), "judge").unwrap();
    let all = good.units().cloned().chain([failing]);
    let world = start(folder, &Generation::new(all).unwrap());
    let policy = FAILING.replace("ON_FAILURE", on_failure);
    world
        .deployment
        .put_policy(&edit(&policy), "somebody")
        .unwrap();
    let cluster = world
        .deployment
        .create_cluster(document(), attach())
        .unwrap();
    (world, cluster)
}

fn kinds(world: &World) -> Vec<&'static str> {
    let events = world.deployment.events().listen(Some(0)).missed;
    events.iter().map(|event| event.kind.word()).collect()
}

#[test]
fn a_unit_that_fails_again_and_again_is_left_out_for_a_while_and_then_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = with_failing(folder.path(), "leave-out");
    for number in 0..4 {
        assert_eq!(
            place(&cluster, request(&format!("v{number}"), 1)).as_deref(),
            Some("a")
        );
    }
    let calls = |cluster: &Cluster| {
        let calls = cluster.turn(|state| {
            let mut times = state.scheduler().times();
            Ok(times.any(|time| &*time.unit == "judge" && time.calls > 0))
        });
        calls.wait().unwrap()
    };
    assert!(!calls(&cluster));
    let kept = world.deployment.store().decisions("c", None, 1).unwrap();
    assert!(kept[0].body.contains("judge"), "{}", kept[0].body);
    assert!(kinds(&world).contains(&"unit-paused"));
    let paused = cluster
        .turn(|state| Ok(state.paused_units()))
        .wait()
        .unwrap();
    assert_eq!(paused.len(), 1, "{paused:?}");
    assert_eq!(
        (paused[0].unit.as_str(), paused[0].skipped),
        ("judge", true)
    );
    assert_eq!((paused[0].failures, paused[0].until), (3, 1002));
    let gauge = "placewright_unit_paused{unit=\"judge\",cluster=\"c\"} 1";
    let metrics = world.deployment.telemetry.text().unwrap();
    assert!(metrics.lines().any(|line| line == gauge), "{metrics}");
    world.clock.store(1010, Ordering::Relaxed);
    place(&cluster, request("later", 1));
    assert!(kinds(&world).contains(&"unit-tried-again"));
    // It has failed again, and is left out for longer.
    assert!(!calls(&cluster));
}

#[test]
fn nobody_waits_for_a_unit_that_fails_and_cannot_be_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = with_failing(folder.path(), "fail");
    let place = |id: &'static str| {
        cluster
            .turn(move |state| state.place(request(id, 1), None))
            .wait()
    };
    for id in ["a", "b", "c"] {
        assert!(matches!(place(id), Err(DeploymentError::Place(_))));
    }
    assert!(matches!(
        place("d"),
        Err(DeploymentError::Paused { seconds: 2, .. })
    ));
    world.clock.store(1003, Ordering::Relaxed);
    assert!(matches!(place("e"), Err(DeploymentError::Place(_))));
    assert!(matches!(
        place("f"),
        Err(DeploymentError::Paused { seconds: 4, .. })
    ));
}

#[test]
fn a_candidate_judges_beside_the_unit_in_force_until_it_is_promoted() {
    let folder = tempfile::tempdir().unwrap();
    let world = start(folder.path(), &units());
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    // It holds all hosts for equal, and so does not agree where costs decide.
    let candidate = candidate("worst-fit", "is no good");
    deployment.begin_shadow(&candidate, "me", 1).unwrap();
    for number in 0..4 {
        assert!(place(&cluster, request(&format!("v{number}"), 5)).is_some());
    }
    let shown = deployment.shadow("worst-fit").unwrap();
    let report = &shown.clusters["c"];
    assert_eq!((report.decisions, report.failures), (4, 0));
    assert!(report.agreeing < 4, "{report:?}");
    assert_eq!(report.examples.len() as u64, 4 - report.agreeing);
    assert!(report.rank_mean.abs() < 1e-9, "it holds none for better");
    deployment.promote_shadow("worst-fit", "me").unwrap();
    let digest = deployment.generation().get("worst-fit").unwrap().digest();
    assert_eq!(digest.to_string(), shown.digest);
    assert!(deployment.shadow("worst-fit").is_err());
    let other = deployment.begin_shadow(&self::candidate("nobody", "x"), "me", 1);
    assert!(other.unwrap_err().to_string().contains("no cluster uses"));
}

#[test]
fn a_new_unit_touches_no_cluster_that_does_not_use_it() {
    let folder = tempfile::tempdir().unwrap();
    let world = start(folder.path(), &units());
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    let chain = |cluster: &Cluster| {
        let chain = cluster.turn(|state| Ok(state.scheduler().chain().clone()));
        chain.wait().unwrap()
    };
    let before = chain(&cluster);
    deployment
        .library()
        .upload(&candidate("nobodys", "x"), "me");
    assert!(deployment.generation().get("nobodys").is_some());
    assert!(
        Arc::ptr_eq(&before, &chain(&cluster)),
        "what it keeps goes on"
    );
    let known = cluster.turn(|state| Ok(state.copy()?.situation().generation.number()));
    assert_eq!(known.wait().unwrap(), deployment.generation().number());
    deployment
        .library()
        .upload(&candidate("worst-fit", "x"), "me");
    assert!(!Arc::ptr_eq(&before, &chain(&cluster)));
}

/// All VMs run on one of two hosts.
fn uneven() -> ClusterDocument {
    let host = |id: &str| {
        format!(
            "[[hosts]]\nid = \"{id}\"\ncpu = {{ sockets = 1, cores = 8, threads = 8, usage = \"10 %\" }}\nmemory.total = \"64 GiB\"\n"
        )
    };
    let vm = |number: u32| {
        format!(
            "[[vms]]\nid = \"v{number}\"\nhost = \"a\"\ncpu = \"1 cores\"\nmemory = \"1 GiB\"\n\"cpu.usage\" = \"5 %\"\n"
        )
    };
    let vms: String = (0..6).map(vm).collect();
    let text = format!("name = \"c\"\n{}{}{vms}", host("a"), host("b"));
    ClusterDocument::read(&text, "c.toml").unwrap()
}

const EVENING_OUT: &str = r#"
    settings = { high-vm-count = 2, migration-threshold = 2 }
    [[filters]]
    unit = "worst-fit"
    [[costs]]
    unit = "even-guest-distribution"
    [balance]
    unit = "even-guest-distribution"
"#;

#[test]
fn a_plan_of_moves_is_made_whenever_its_interval_has_passed_and_begins_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let world = start(folder.path(), &units());
    let deployment = &world.deployment;
    deployment
        .put_policy(&edit(EVENING_OUT), "somebody")
        .unwrap();
    let cluster = deployment.create_cluster(uneven(), attach()).unwrap();
    let plans = || cluster.turn(|state| Ok(state.plans())).wait().unwrap();
    deployment.balance_due();
    world.clock.store(2000, Ordering::Relaxed);
    deployment.balance_due();
    assert_eq!(plans(), [], "nobody wants any");

    let balancing = Attach {
        balance: Some(PeriodicBalance { every: 60 }),
        ..attach()
    };
    deployment.attach("c", balancing).unwrap();
    let at = |seconds| {
        world.clock.store(seconds, Ordering::Relaxed);
        deployment.balance_due();
        plans().len()
    };
    assert_eq!([at(2000), at(2059), at(2060), at(2061)], [0, 0, 1, 1]);
    // The same plan is not kept again.
    assert_eq!([at(2119), at(2120)], [1, 1]);
    let plan = plans().remove(0);
    assert!(
        !plan.moves.is_empty() && plan.counted.begun == 0,
        "{plan:?}"
    );
    assert_eq!((plan.told.now, plan.checked), (2060, 2120));
    let on_a = cluster.turn(|state| Ok(state.inventory().pending_count()));
    assert_eq!(on_a.wait().unwrap(), 0, "nothing is begun");
    let planned = kinds(&world);
    let planned = planned.iter().filter(|kind| **kind == "plan-made");
    assert_eq!(planned.count(), 1);

    let gone = format!(r#"{{"gone": {{"vms": ["{}"]}}}}"#, plan.moves[0].planned.vm);
    let gone = InventoryChanges::read(&gone, "c.json", &cluster.schema()).unwrap();
    cluster.turn(|state| state.change(gone)).wait().unwrap();
    assert_eq!(at(5000), 2, "another plan is");
    deployment.attach("c", attach()).unwrap();
    assert_eq!(at(9000), 2, "they are off again");
}

#[test]
fn how_often_plans_are_made_is_kept_and_asks_for_no_unit_that_balances() {
    let folder = tempfile::tempdir().unwrap();
    let balancing = Attach {
        balance: Some(PeriodicBalance { every: 60 }),
        ..attach()
    };
    {
        let world = start(folder.path(), &units());
        let deployment = &world.deployment;
        deployment.put_policy(&edit(POLICY), "somebody").unwrap();
        deployment.create_cluster(document(), attach()).unwrap();
        deployment.attach("c", balancing).unwrap();
        deployment.stop();
    }
    let world = start(folder.path(), &units());
    let settings = world.deployment.cluster("c").unwrap().settings();
    assert_eq!(settings.balance, Some(PeriodicBalance { every: 60 }));
}
