//! Who did what, and when, is told and kept.

use super::*;
use crate::Event;
use crate::cluster::ReservationKind;
use placewright_library::actor::Actor;
use std::sync::mpsc;

fn events(world: &World) -> Vec<Arc<Event>> {
    world.deployment.events().listen(Some(0)).missed
}

/// The events of a kind.
fn of_kind(world: &World, kind: &str) -> Vec<Arc<Event>> {
    let mut events = events(world);
    events.retain(|event| event.kind.word() == kind);
    events
}

fn world(folder: &Path) -> (World, Arc<Cluster>) {
    let world = start(folder, &units());
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "alice").unwrap();
    let attach = Attach {
        by: Some("alice".into()),
        ..attach()
    };
    let cluster = deployment.create_cluster(document(), attach).unwrap();
    (world, cluster)
}

#[test]
fn nothing_is_done_for_whoever_may_not_any_more_as_its_turn_begins() {
    let folder = tempfile::tempdir().unwrap();
    let (_world, cluster) = world(folder.path());
    let may = Arc::new(AtomicBool::new(true));
    let still = may.clone();
    let actor = Actor::while_it_may("alice".into(), move || still.load(Ordering::Relaxed));
    // While others have the turn, what alice asks for waits.
    let (free, freed) = mpsc::channel::<()>();
    let other = cluster.turn(move |_| {
        freed.recv().unwrap();
        Ok(())
    });
    let waits = cluster.turn_as(actor.clone(), |state| state.place(request("v", 1), None));
    may.store(false, Ordering::Relaxed);
    free.send(()).unwrap();
    other.wait().unwrap();
    let refused = waits.wait();
    assert!(matches!(refused, Err(DeploymentError::TakenAway(_))));
    assert_eq!(counted(&cluster).2, 0, "nothing is reserved");
    may.store(true, Ordering::Relaxed);
    let placed = cluster.turn_as(actor, |state| state.place(request("v", 1), None));
    assert!(placed.wait().is_ok());
}

#[test]
fn candidates_for_units_are_told_with_who_handed_them_in() {
    let folder = tempfile::tempdir().unwrap();
    let (world, _cluster) = world(folder.path());
    let deployment = &world.deployment;
    let by = |kind: &str| {
        let told = of_kind(&world, kind);
        let last = told.last()?;
        last.by.as_deref().map(str::to_owned)
    };
    let other = candidate("worst-fit", "another");
    deployment.begin_shadow(&other, "alice", 1).unwrap();
    assert_eq!(by("shadow-began").as_deref(), Some("alice"));
    deployment.discard_shadow("worst-fit", "bob").unwrap();
    assert_eq!(by("shadow-discarded").as_deref(), Some("bob"));
    deployment.begin_shadow(&other, "alice", 1).unwrap();
    deployment.promote_shadow("worst-fit", "carol").unwrap();
    assert_eq!(by("shadow-promoted").as_deref(), Some("carol"));
}

#[test]
fn places_are_told_with_who_asked_for_them() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = world(folder.path());
    let (alice, bob): (Arc<str>, Arc<str>) = ("alice".into(), "bob".into());
    let placed = cluster.turn_as(&alice, |state| state.place(request("v", 1), None));
    let host = placed.wait().unwrap().host.unwrap();
    let told = of_kind(&world, "vm-placed");
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].by.as_deref(), Some("alice"));
    assert_eq!(told[0].vm.as_deref(), Some("v"));
    assert_eq!(told[0].host, Some(host));
    assert_eq!(told[0].cluster.as_deref(), Some("c"));
    assert_eq!(told[0].decision, Some(1));
    let kept = world.deployment.store().decisions("c", None, 1).unwrap();
    assert!(
        kept[0].body.ends_with(r#","by":"alice"}"#),
        "{}",
        kept[0].body
    );

    let confirmed = cluster.turn_as(&bob, |state| state.confirm_and_tell(&["v"], None));
    confirmed.wait().unwrap();
    let told = of_kind(&world, "vm-confirmed");
    assert_eq!(told[0].by.as_deref(), Some("bob"));
    assert_eq!(told[0].vm.as_deref(), Some("v"));
    assert!(of_kind(&world, "vm-moved").is_empty());

    // Nothing was done.
    let dry = Request {
        dry_run: true,
        ..request("w", 1)
    };
    cluster.turn(|state| state.place(dry, None)).wait().unwrap();
    assert_eq!(of_kind(&world, "vm-placed").len(), 1);

    cluster
        .turn(|state| state.place(request("w", 1), None))
        .wait()
        .unwrap();
    assert_eq!(
        of_kind(&world, "vm-placed")[1].by.as_deref(),
        Some("server")
    );
    let cancelled = cluster.turn_as(&bob, |state| state.cancel_and_tell(&["w"]));
    cancelled.wait().unwrap();
    assert_eq!(of_kind(&world, "vm-cancelled")[0].vm.as_deref(), Some("w"));
}

#[test]
fn a_vm_that_is_resized_where_it_runs_is_told_as_such_and_one_that_stays_as_it_is_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = world(folder.path());
    let again = |memory: Option<i64>| {
        let mut vm = Vm::new("old");
        if let Some(memory) = memory {
            vm.facts.set("memory", memory);
        }
        let request = Request {
            members: vec![vm],
            again: true,
            now: 1000,
            ..Request::default()
        };
        let placed = cluster.turn(move |state| state.place(request, None));
        let placed = placed.wait().unwrap();
        let body: serde_json::Value = serde_json::from_str(&placed.body).unwrap();
        (body["reserved"].clone(), body.get("expires").is_some())
    };
    assert_eq!(again(None), (false.into(), false));
    assert!(of_kind(&world, "vm-placed").is_empty());
    assert_eq!(again(Some(3 << 20)), (true.into(), true));
    let told = of_kind(&world, "vm-placed");
    assert_eq!(
        told[0].message,
        "a place for old is reserved on a, where it runs, to run on as the request says"
    );
    let shown = cluster
        .turn(|state| state.reservation("old"))
        .wait()
        .unwrap();
    assert_eq!(
        (shown.kind, shown.from.as_deref(), shown.live),
        (ReservationKind::Resize, Some("a"), None)
    );
    let confirmed = cluster.turn(|state| state.confirm_and_tell(&["old"], None));
    confirmed.wait().unwrap();
    assert_eq!(of_kind(&world, "vm-resized")[0].vm.as_deref(), Some("old"));
    assert!(of_kind(&world, "vm-confirmed").is_empty());
}

#[test]
fn a_vm_that_is_confirmed_elsewhere_has_moved() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = world(folder.path());
    cluster
        .turn(|state| state.place(request("v", 1), None))
        .wait()
        .unwrap();
    cluster
        .turn(|state| state.confirm(&["v"], None))
        .wait()
        .unwrap();
    let moved = cluster.turn(|state| state.migrate(request("v", 1), None));
    let to = moved.wait().unwrap().host.unwrap();
    cluster
        .turn(|state| state.confirm_and_tell(&["v"], None))
        .wait()
        .unwrap();
    let told = of_kind(&world, "vm-moved");
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].host.as_ref(), Some(&to));
    assert!(told[0].message.ends_with(&*to), "{}", told[0].message);
}

#[test]
fn changes_of_the_inventory_and_of_hosts_states_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = world(folder.path());
    let schema = cluster.schema();
    let change = |text: &str| {
        let changes = InventoryChanges::read(text, "body.json", &schema).unwrap();
        let changed = cluster.turn_as("carol", |state| state.change_and_tell(changes));
        changed.wait().unwrap();
    };
    change(r#"{"statistics": [{"id": "a", "cpu.usage": 0.5}]}"#);
    assert!(of_kind(&world, "inventory-changed").is_empty());
    change(r#"{"hosts": [{"id": "a", "state": "maintenance"}]}"#);
    let told = of_kind(&world, "inventory-changed");
    assert_eq!(told[0].by.as_deref(), Some("carol"));
    assert_eq!(told[0].message, "changed: 1 host");
    let told = of_kind(&world, "host-state-changed");
    assert_eq!((told.len(), told[0].host.as_deref()), (1, Some("a")));
    assert_eq!(told[0].message, "a is maintenance; it was up");
    assert_eq!(told[0].by.as_deref(), Some("carol"));
    cluster
        .turn_as("dave", |state| {
            let replacement = replacement(state, document())?;
            state.replace_and_tell(replacement)
        })
        .wait()
        .unwrap();
    let told = of_kind(&world, "host-state-changed");
    assert_eq!(told[1].message, "a is up; it was maintenance");
    assert_eq!(told[1].by.as_deref(), Some("dave"));
    assert_eq!(of_kind(&world, "inventory-changed").len(), 2);
}

#[test]
fn who_makes_and_changes_clusters_and_policies_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = world(folder.path());
    let by = |kind: &str| of_kind(&world, kind).last().unwrap().by.clone().unwrap();
    assert_eq!(&*by("policy-changed"), "alice");
    assert_eq!(&*by("cluster-created"), "alice");
    drop(cluster);
    world.deployment.remove_cluster("c", "bob").unwrap();
    assert_eq!(&*by("cluster-removed"), "bob");
    world
        .deployment
        .remove_policy("mine", &Origin::Api, None, "carol")
        .unwrap();
    assert_eq!(&*by("policy-removed"), "carol");
}

#[test]
fn plans_are_told_with_who_made_and_began_them() {
    let folder = tempfile::tempdir().unwrap();
    let world = start(folder.path(), &units());
    let deployment = &world.deployment;
    deployment.put_policy(&edit(EVENING_OUT), "alice").unwrap();
    let cluster = deployment.create_cluster(uneven(), attach()).unwrap();
    let planner = cluster.turn(ClusterState::planner).wait().unwrap();
    let plan = planner.plan(&Default::default()).unwrap();
    let made = cluster.turn_as("alice", move |state| state.remember_plan(plan, None));
    assert_eq!(made.wait().unwrap().by.as_deref(), Some("alice"));
    let begun = cluster.turn_as("bob", |state| state.begin_plan(1, &Default::default()));
    begun.wait().unwrap();
    let cancelled = cluster.turn_as("carol", |state| state.cancel_plan(1));
    cancelled.wait().unwrap();
    for (kind, by) in [
        ("plan-made", "alice"),
        ("plan-begun", "bob"),
        ("plan-cancelled", "carol"),
    ] {
        let told = of_kind(&world, kind);
        assert_eq!(told.len(), 1, "{kind}");
        assert_eq!((told[0].plan, told[0].by.as_deref()), (Some(1), Some(by)));
    }
}
