//! What goes on after a restart as if there had been none.

use super::*;

/// The same deployment, started anew from what was kept.
pub(super) fn again(folder: &Path, world: World, generation: &Generation) -> (World, Arc<Cluster>) {
    world.deployment.stop();
    drop(world);
    let world = start(folder, generation);
    let cluster = world.deployment.cluster("c").unwrap();
    (world, cluster)
}

#[test]
fn plans_go_on_with_their_numbers_and_how_far_they_were_begun() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment
        .put_policy(&edit(EVENING_OUT), "somebody")
        .unwrap();
    let cluster = deployment.create_cluster(uneven(), attach()).unwrap();
    let plan = |cluster: &Cluster| {
        let planner = cluster.turn(ClusterState::planner).wait().unwrap();
        let plan = planner.plan(&Default::default()).unwrap();
        let kept = cluster.turn(move |state| state.remember_plan(plan, None));
        kept.wait().unwrap()
    };
    let plans = |cluster: &Cluster| cluster.turn(|state| Ok(state.plans())).wait().unwrap();
    let numbers = |cluster: &Cluster| -> Vec<u64> {
        let plans = plans(cluster);
        plans.iter().filter_map(|plan| plan.number).collect()
    };
    for number in 1..=34 {
        assert_eq!(plan(&cluster).number, Some(number));
    }
    let begin = |number| cluster.turn(move |state| state.begin_plan(number, &Begin::default()));
    let begun = begin(34).wait().unwrap();
    assert!(begun.counted.begun > 0, "{begun:?}");
    cluster.turn(|state| state.cancel_plan(33)).wait().unwrap();
    let before = plans(&cluster);
    drop(cluster);

    let (world, cluster) = again(folder.path(), world, &generation);
    assert_eq!(plans(&cluster), before);
    assert_eq!(numbers(&cluster), (3..=34).collect::<Vec<_>>());
    assert_eq!(plan(&cluster).number, Some(35));
    let refused = cluster
        .turn(|state| state.begin_plan(33, &Begin::default()))
        .wait();
    assert!(refused.unwrap_err().to_string().contains("was cancelled"));
    drop(cluster);
    let (_world, cluster) = again(folder.path(), world, &generation);
    assert_eq!(numbers(&cluster), (4..=35).collect::<Vec<_>>());
}

#[test]
fn the_version_of_an_inventory_never_goes_back() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let mut world = start(folder.path(), &generation);
    world
        .deployment
        .put_policy(&edit(POLICY), "somebody")
        .unwrap();
    let mut cluster = world
        .deployment
        .create_cluster(document(), attach())
        .unwrap();
    let version = |cluster: &Cluster| {
        let counted = cluster.turn(|state| Ok(state.counted())).wait().unwrap();
        counted.version
    };
    let mut last = version(&cluster);
    for round in 0..3 {
        place(&cluster, request(&format!("v{round}"), 1));
        assert!(version(&cluster) > last);
        last = version(&cluster);
        // Nothing is kept of a clock that goes on alone, and it counts all the same.
        world.clock.store(2000 + round, Ordering::Relaxed);
        let advanced = cluster.turn(|state| state.planner().map(|_| ())).wait();
        assert!(advanced.is_ok());
        last = last.max(version(&cluster));
        cluster
            .turn(|state| replace(state, document()))
            .wait()
            .unwrap();
        assert!(version(&cluster) > last);
        last = version(&cluster);
        drop(cluster);
        (world, cluster) = again(folder.path(), world, &generation);
        assert!(version(&cluster) >= last, "after a restart");
        last = version(&cluster);
    }
}

/// Changes as a client sends them.
pub(super) fn change(cluster: &Cluster, text: &str) {
    let changes = InventoryChanges::read(text, "changes", &cluster.schema()).unwrap();
    let changed = cluster.turn(move |state| state.change(changes).map(|_| ()));
    changed.wait().unwrap();
}

/// What a decision is explained by.
pub(super) fn told(past: &cluster::Past) -> (String, String, bool) {
    let explanation = past.explain().unwrap();
    let runners_up = past.runners_up(9).unwrap();
    (
        serde_json::to_string(&explanation).unwrap(),
        serde_json::to_string(&runners_up).unwrap(),
        past.replay().unwrap(),
    )
}

pub(super) const WATCHING: &str = r#"
    watches = [{ name = "busy", column = "cpu.usage", at-least = 0.5 }]
    [[filters]]
    unit = "worst-fit"
    [[filters]]
    unit = "affinity"
    [[costs]]
    unit = "even-guest-distribution"
    [[costs]]
    unit = "worst-fit"
"#;

#[test]
fn decisions_are_explained_after_a_restart_as_they_were_before() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    let mut before = Vec::new();
    let mut note = |number: u64| {
        let past = cluster.turn(move |state| Ok(state.past(number)?)).wait();
        let remembered = told(&past.unwrap());
        assert!(remembered.2, "decision {number}");
        let kept = deployment.kept_past("c", number).unwrap();
        assert_eq!(told(&kept), remembered, "decision {number}");
        before.push((number, remembered));
    };
    place(&cluster, request("new", 4));
    place(&cluster, request("x", 20));
    change(
        &cluster,
        "[[statistics]]\nid = \"a\"\n\"cpu.usage\" = \"73.1 %\"\n[[vms]]\nid = \"old\"\nmemory = \"9 GiB\"",
    );
    place(&cluster, request("y", 2));
    world.clock.store(1100, Ordering::Relaxed);
    cluster
        .turn(|state| state.confirm(&["new", "y"], None))
        .wait()
        .unwrap();
    change(
        &cluster,
        "[[hosts]]\nid = \"c\"\nmemory.total = \"64 GiB\"\ncpu.cores = 4",
    );
    let batch = Batch {
        members: (0..3)
            .map(|it| Vm::new(format!("v{it}")).with("memory", 3_i64 << 30))
            .collect(),
        now: 1100,
        ..Batch::default()
    };
    let placed = cluster
        .turn(move |state| state.place_batch(batch, None))
        .wait();
    assert_eq!(placed.unwrap().turns.len(), 3);
    change(
        &cluster,
        "gone.vms = [\"old\"]\n[[statistics]]\nid = \"a\"\n\"cpu.usage\" = \"20 %\"",
    );
    (1..=6).for_each(&mut note);

    deployment.put_policy(&edit(WATCHING), "somebody").unwrap();
    world.clock.store(1200, Ordering::Relaxed);
    change(
        &cluster,
        "[[statistics]]\nid = \"b\"\n\"cpu.usage\" = \"60 %\"",
    );
    place(&cluster, request("z", 1));
    note(7);
    cluster
        .turn(|state| replace(state, document()))
        .wait()
        .unwrap();
    place(&cluster, request("last", 1));
    let past = cluster.turn(|state| Ok(state.past(8)?)).wait().unwrap();
    before.push((8, told(&past)));
    for (number, before) in &before {
        let after = deployment.kept_past("c", *number).unwrap();
        assert_eq!(told(&after), *before, "decision {number} after PUT");
    }
    drop(cluster);

    let (world, cluster) = again(folder.path(), world, &generation);
    change(&cluster, "gone.vms = [\"last\"]");
    for (number, before) in &before {
        let after = world.deployment.kept_past("c", *number).unwrap();
        assert_eq!(told(&after), *before, "decision {number} after a restart");
    }
    let unknown = world.deployment.kept_past("c", 9);
    assert!(unknown.is_err());
}

#[test]
fn an_inventory_that_is_read_and_put_again_is_the_same_and_decides_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(WATCHING), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    change(
        &cluster,
        "[[hosts]]\nid = \"c\"\nmemory.total = \"64 GiB\"\ncpu.cores = 4\n[[statistics]]\nid = \"a\"\n\"cpu.usage\" = 0.75\nmeasured = 990",
    );
    place(&cluster, request("new", 4));
    change(
        &cluster,
        "[[vms]]\nid = \"runs\"\nhost = \"a\"\nmemory = \"1 GiB\"",
    );
    let moved = cluster.turn(|state| state.migrate(request("runs", 1), None));
    assert!(moved.wait().unwrap().host.is_some());
    world.clock.store(1100, Ordering::Relaxed);
    let kept = |cluster: &Cluster| {
        cluster.turn(|state| {
            let inventory = state.inventory().clone();
            let places: Vec<_> = ["new", "runs", "old"]
                .iter()
                .flat_map(|id| [inventory.saved_vm(id, false), inventory.saved_vm(id, true)])
                .collect();
            let measured: Vec<_> = ["a", "b", "c"]
                .iter()
                .map(|id| inventory.saved_measured(id))
                .collect();
            let document = serde_json::to_string(&state.document()).unwrap();
            Ok((places, measured, document, state.revision()))
        })
    };
    let before = kept(&cluster).wait().unwrap();
    assert!(before.0[1].as_ref().unwrap().expires.is_some());
    assert!(before.0[3].is_some(), "it is on the move");
    let text = before.2.clone();
    let again = ClusterDocument::read_as(&text, "body.json", "c").unwrap();
    let stale = cluster.turn(|state| state.check_revision(Some(1))).wait();
    assert!(stale.unwrap_err().to_string().contains("the revision of "));
    let revision = before.3;
    cluster
        .turn(move |state| {
            state.check_revision(Some(revision))?;
            replace(state, again)
        })
        .wait()
        .unwrap();
    let after = kept(&cluster).wait().unwrap();
    assert_eq!(after.0, before.0);
    assert_eq!(after.1, before.1);
    assert_eq!(after.2, before.2);
    let other =
        ClusterDocument::read_as(&text.replace("\"c\"", "\"d\""), "body.json", "c").unwrap();
    let refused = cluster.turn(|state| replace(state, other)).wait();
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("is of cluster \"d\", not of \"c\""),
        "{refused}"
    );
}

#[test]
fn hosts_that_were_listed_against_the_order_of_their_ids_are_ranked_once() {
    const HOSTS: usize = 500;
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let hosts = (0..HOSTS).rev();
    let document = ClusterDocument {
        hosts: hosts
            .map(|number| placewright_model::Host::new(format!("h{number:03}")))
            .collect(),
        vms: Vec::new(),
        groups: Vec::new(),
        ..document()
    };
    let cluster = deployment.create_cluster(document, attach()).unwrap();
    let looked_at = |cluster: &Cluster| {
        let looked_at = cluster.turn(|state| Ok(state.inventory().looked_at_for_ranks()));
        looked_at.wait().unwrap()
    };
    assert!(looked_at(&cluster) <= 2 * HOSTS);
    drop(cluster);
    let (_world, cluster) = again(folder.path(), world, &generation);
    assert!(looked_at(&cluster) <= 2 * HOSTS);
}
