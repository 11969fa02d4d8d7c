//! Places are reserved, confirmed, renewed, given back, and end in time.

use std::thread;
use std::time::Instant;

use super::*;
use crate::cluster::{Condition, Placed, Reservation, ReservationKind};
use placewright_document::EntityKind;
use placewright_model::Rfc3339;

/// A deployment with the cluster, and the cluster.
fn world(folder: &Path) -> (World, Arc<Cluster>) {
    let world = start(folder, &units());
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    (world, cluster)
}

impl World {
    /// The time is so many seconds, and whatever is due by then is done.
    fn is(&self, seconds: i64) {
        self.clock.store(seconds, Ordering::Relaxed);
        self.deployment.end_reservations();
    }
}

fn try_place(cluster: &Cluster, request: Request) -> Result<Placed, String> {
    let placed = cluster.turn(move |state| state.place(request, None)).wait();
    placed.map_err(|error| error.to_string())
}

fn keyed(cluster: &Cluster, id: &'static str) -> serde_json::Value {
    let key = Key {
        caller: "me".into(),
        word: id.to_owned(),
        again: false,
    };
    let placed = cluster.turn(move |state| state.place(request(id, 1), Some(key)));
    serde_json::from_str(&placed.wait().unwrap().body).unwrap()
}

fn confirm(cluster: &Cluster, vm: &'static str, host: Option<&'static str>) -> Result<(), String> {
    let confirmed = cluster.turn(move |state| state.confirm(&[vm], host));
    confirmed.wait().map_err(|error| error.to_string())
}

fn cancel(cluster: &Cluster, vm: &'static str) -> Result<(), String> {
    let cancelled = cluster.turn(move |state| state.cancel(&[vm]));
    cancelled.wait().map_err(|error| error.to_string())
}

fn reservation(cluster: &Cluster, vm: &'static str) -> Result<Reservation, String> {
    let shown = cluster.turn(move |state| state.reservation(vm));
    shown.wait().map_err(|error| error.to_string())
}

/// The reservations whose end was published, after waiting for the first: an event follows
/// when the turn that it tells of is stored, and nobody waits for a turn that the alarm asked for.
fn expired(world: &World) -> Vec<(String, String, Option<u64>)> {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let expired = published_ends(world);
        if !expired.is_empty() || Instant::now() > deadline {
            return expired;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn published_ends(world: &World) -> Vec<(String, String, Option<u64>)> {
    let events = world.deployment.events().listen(Some(0)).missed;
    let expired = events
        .iter()
        .filter(|it| it.kind == EventKind::ReservationExpired);
    expired
        .map(|event| {
            let text = |text: &Option<Arc<str>>| text.as_deref().unwrap_or_default().to_owned();
            (text(&event.vm), text(&event.host), event.decision)
        })
        .collect()
}

#[test]
fn a_reservation_ends_when_it_is_due_although_nobody_asks_and_that_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = world(folder.path());
    assert_eq!(place(&cluster, request("new", 4)).as_deref(), Some("b"));
    let short = Request {
        reserve_for: Some(60),
        ..request("short", 1)
    };
    assert_eq!(place(&cluster, short).as_deref(), Some("a"));
    world.is(1060);
    assert_eq!(counted(&cluster), (2, 1, 2));
    world.is(1061);
    assert_eq!(counted(&cluster), (2, 1, 1));
    assert_eq!(
        expired(&world),
        [("short".to_owned(), "a".to_owned(), Some(2))]
    );
    let text = world.deployment.telemetry.text().unwrap();
    let counts = "placewright_reservations_ended_total{cluster=\"c\",how=\"expired\"} 1";
    assert!(text.contains(counts), "{text}");
    world.deployment.stop();
    drop((world, cluster));
    // Its end is kept, and the other one goes on, and ends in its time.
    let world = start(folder.path(), &units());
    let cluster = world.deployment.cluster("c").unwrap();
    assert_eq!(counted(&cluster), (2, 1, 1));
    let held = reservation(&cluster, "new").unwrap();
    assert_eq!(
        (held.since, held.expires, held.decision),
        (Some(1000), Some(1300), Some(1))
    );
    world.is(1301);
    assert_eq!(counted(&cluster), (2, 1, 0));
    assert_eq!(
        expired(&world),
        [("new".to_owned(), "b".to_owned(), Some(1))]
    );
}

#[test]
fn a_reservation_is_shown_renewed_and_released() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = world(folder.path());
    place(&cluster, request("new", 4));
    let move_old = Request {
        members: vec![Vm::new("old")],
        now: 1000,
        ..Request::default()
    };
    let moved = cluster.turn(move |state| state.migrate(move_old, None));
    assert_eq!(moved.wait().unwrap().host, None, "the two go apart");
    assert_eq!(
        reservation(&cluster, "new"),
        Ok(Reservation {
            vm: "new".into(),
            host: "b".into(),
            kind: ReservationKind::Place,
            from: None,
            live: None,
            since: Some(1000),
            since_time: Some(Rfc3339(1000)),
            expires: Some(1300),
            expires_time: Some(Rfc3339(1300)),
            decision: Some(1),
        })
    );
    world.is(1100);
    let renew = |seconds| {
        let renewed = cluster.turn(move |state| state.renew("new", seconds));
        renewed.wait().map(|it| it.expires)
    };
    assert_eq!(renew(None).unwrap(), Some(1400));
    assert_eq!(renew(Some(900)).unwrap(), Some(2000));
    let wrong = renew(Some(0)).unwrap_err().to_string();
    assert_eq!(wrong, "\"reserve-for\" must be from 1 to 86400 s, not 0 s");
    world.is(1500);
    assert_eq!(counted(&cluster), (2, 1, 1));
    cancel(&cluster, "new").unwrap();
    cancel(&cluster, "new").unwrap();
    assert_eq!(
        reservation(&cluster, "new").unwrap_err(),
        "there is no reservation of VM \"new\": the place reserved for it on b was given back: place it again"
    );
    assert_eq!(counted(&cluster), (2, 1, 0));
    let kind = |state: &mut ClusterState| {
        let (all, next) = state.reservations(None, 10);
        assert_eq!(next, None);
        Ok(all
            .into_iter()
            .map(|it| (it.kind, it.from))
            .collect::<Vec<_>>())
    };
    let move_old = Request {
        members: vec![Vm::new("old")],
        now: 1500,
        ..Request::default()
    };
    let moved = cluster.turn(move |state| state.migrate(move_old, None));
    assert_eq!(moved.wait().unwrap().host.as_deref(), Some("b"));
    let all = cluster.turn(kind).wait().unwrap();
    assert_eq!(all, [(ReservationKind::Migrate, Some("a".into()))]);
}

#[test]
fn confirming_and_cancelling_can_be_repeated_and_tell_the_truth() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = world(folder.path());
    place(&cluster, request("new", 4));
    assert_eq!(
        confirm(&cluster, "new", Some("a")).unwrap_err(),
        "VM \"new\" has no place reserved on a: its place is reserved on b"
    );
    confirm(&cluster, "new", Some("b")).unwrap();
    confirm(&cluster, "new", Some("b")).unwrap();
    confirm(&cluster, "new", None).unwrap();
    assert_eq!(
        confirm(&cluster, "new", Some("a")).unwrap_err(),
        "VM \"new\" has no place reserved on a: it already runs on b"
    );
    assert_eq!(
        cancel(&cluster, "new").unwrap_err(),
        "VM \"new\" already runs on b; there is no reservation to cancel"
    );
    assert_eq!(
        confirm(&cluster, "nobody", None).unwrap_err(),
        "VM \"nobody\" does not run and has no place reserved"
    );
    assert!(cancel(&cluster, "nobody").is_err());
    place(&cluster, request("late", 1));
    let host = reservation(&cluster, "late").unwrap().host;
    world.is(1301);
    assert_eq!(
        confirm(&cluster, "late", None).unwrap_err(),
        format!(
            "there is no reservation of VM \"late\": the place reserved for it on {host} has expired: place it again"
        )
    );
    cancel(&cluster, "late").unwrap();
}

#[test]
fn a_move_that_has_ended_is_not_taken_for_one_that_was_made() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = world(folder.path());
    let move_old = |now| Request {
        members: vec![Vm::new("old")],
        now,
        ..Request::default()
    };
    let moved = cluster.turn(move |state| state.migrate(move_old(1000), None));
    moved.wait().unwrap();
    world.is(1301);
    assert_eq!(
        confirm(&cluster, "old", None).unwrap_err(),
        "there is no reservation of VM \"old\": the place reserved for it on b has expired; it runs on a"
    );
    confirm(&cluster, "old", Some("a")).unwrap();
    let moved = cluster.turn(move |state| state.migrate(move_old(1301), None));
    moved.wait().unwrap();
    confirm(&cluster, "old", None).unwrap();
    confirm(&cluster, "old", None).unwrap();
    assert_eq!(place(&cluster, request("new", 4)).as_deref(), Some("a"));
}

#[test]
fn a_vm_that_runs_is_not_placed_unless_its_host_fails_or_the_request_says_again() {
    let folder = tempfile::tempdir().unwrap();
    let (_world, cluster) = world(folder.path());
    let refused = try_place(&cluster, request("old", 8)).unwrap_err();
    assert_eq!(
        refused,
        "VM \"old\" runs on a; use migrate to move it, or \"again\": true to place it again"
    );
    let batch = || Batch {
        members: vec![Vm::new("fresh"), Vm::new("old")],
        now: 1000,
        ..Batch::default()
    };
    let all = batch();
    let refused = cluster.turn(move |state| state.place_batch(all, None));
    assert!(matches!(refused.wait(), Err(DeploymentError::VmsRun(_))));
    assert_eq!(counted(&cluster), (2, 1, 0), "nothing was done");
    let all = batch();
    let placed = cluster.turn(move |state| state.place_batch(anew(all), None));
    assert!(placed.wait().unwrap().reserved);
    let refused = try_place(&cluster, request("fresh", 8)).unwrap_err();
    assert!(refused.contains("has a place reserved on"), "{refused}");
    assert!(refused.contains("until 1970-01-01T00:21:40Z: confirm or cancel it first"));
    for vm in ["fresh", "old"] {
        // Who stays on its host needs no place there.
        let _ = cancel(&cluster, vm);
    }
    let down = r#"{"hosts": [{"id": "a", "state": "down"}]}"#;
    let down = InventoryChanges::read(down, "d.json", &cluster.schema()).unwrap();
    cluster.turn(|state| state.change(down)).wait().unwrap();
    assert_eq!(place(&cluster, request("old", 8)).as_deref(), Some("b"));
}

#[test]
fn a_growth_that_has_ended_cannot_be_confirmed() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = world(folder.path());
    let grow = || {
        let grow = Request {
            members: vec![Vm::new("old").with("memory", 5_i64 << 30)],
            again: true,
            now: 1000,
            allowed: vec!["a".into()],
            ..Request::default()
        };
        assert_eq!(place(&cluster, grow).as_deref(), Some("a"));
    };
    grow();
    cancel(&cluster, "old").unwrap();
    for host in [None, Some("a")] {
        assert_eq!(
            confirm(&cluster, "old", host).unwrap_err(),
            "there is no reservation of VM \"old\": what was reserved for it to grow on a was given back; it runs there with what it had: place it again"
        );
    }
    grow();
    world.is(10_000);
    let expired = confirm(&cluster, "old", Some("a")).unwrap_err();
    assert!(expired.contains("to grow on a has expired"), "{expired}");
    grow();
    confirm(&cluster, "old", Some("a")).unwrap();
    // Told once more it is what it is.
    confirm(&cluster, "old", Some("a")).unwrap();
}

#[test]
fn an_answer_that_is_given_again_tells_what_has_become_of_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = world(folder.path());
    let first = keyed(&cluster, "one");
    assert_eq!(
        (&first["reserved"], &first["expires"]),
        (&true.into(), &1300.into())
    );
    assert_eq!(keyed(&cluster, "one"), first);
    let renewed = cluster.turn(|state| state.renew("one", Some(900)));
    renewed.wait().unwrap();
    let again = keyed(&cluster, "one");
    assert_eq!(
        (&again["expires"], &again["reservation"]),
        (&1900.into(), &serde_json::Value::Null)
    );
    keyed(&cluster, "two");
    keyed(&cluster, "three");
    confirm(&cluster, "one", None).unwrap();
    cancel(&cluster, "two").unwrap();
    world.is(1301);
    let all = Batch {
        members: vec![Vm::new("four"), Vm::new("five")],
        now: 1301,
        ..Batch::default()
    };
    let batch = |cluster: &Cluster| {
        let key = Key {
            caller: "me".into(),
            word: "batch".to_owned(),
            again: false,
        };
        let all = all.clone();
        let placed = cluster.turn(move |state| state.place_batch(all, Some(key)));
        placed.wait().unwrap()
    };
    let first = batch(&cluster);
    assert_eq!(batch(&cluster).turns, first.turns);
    cancel(&cluster, "four").unwrap();
    world.deployment.stop();
    drop((world, cluster));
    let world = start(folder.path(), &units());
    world.clock.store(1301, Ordering::Relaxed);
    let cluster = world.deployment.cluster("c").unwrap();
    let again = batch(&cluster);
    assert!(again.repeated);
    let given_back = |body: &Arc<str>| body.contains(r#""reservation":"released""#);
    let given_back = again.turns.iter().flatten().map(given_back);
    assert_eq!(given_back.collect::<Vec<_>>(), [true, false]);
    for (vm, became) in [
        ("one", "confirmed"),
        ("two", "released"),
        ("three", "expired"),
    ] {
        assert_eq!(keyed(&cluster, vm)["reservation"], became, "{vm}");
    }
}

#[test]
fn the_record_of_a_batch_says_what_was_asked_and_whether_it_was_reserved() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = world(folder.path());
    let batch = |dry_run, gib: i64| Batch {
        members: ["x", "y"]
            .map(|id| Vm::new(id).with("memory", gib << 30))
            .into(),
        now: 1000,
        dry_run,
        all_or_nothing: true,
        ..Batch::default()
    };
    for (batch, reserved) in [
        (batch(true, 1), false),
        (batch(false, 20), false),
        (batch(false, 1), true),
    ] {
        let dry_run = batch.dry_run;
        let placed = cluster.turn(move |state| state.place_batch(batch, None));
        assert_eq!(placed.wait().unwrap().reserved, reserved);
        let kept = world.deployment.store().decisions("c", None, 2).unwrap();
        for decision in kept {
            let kept: serde_json::Value = serde_json::from_str(&decision.body).unwrap();
            assert_eq!(kept["decision"]["reserved"], reserved);
            assert_eq!(kept["request"]["dry-run"], dry_run);
            assert_eq!(kept["request"]["all-or-nothing"], true);
        }
    }
}

#[test]
fn a_reservation_outlasts_an_inventory_that_is_put_anew_unless_its_host_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let (_world, cluster) = world(folder.path());
    assert_eq!(place(&cluster, request("new", 4)).as_deref(), Some("b"));
    assert_eq!(place(&cluster, request("other", 4)).as_deref(), Some("a"));
    let mut left = document();
    left.hosts.retain(|host| &*host.id == "a");
    cluster.turn(|state| replace(state, left)).wait().unwrap();
    assert_eq!(reservation(&cluster, "other").unwrap().decision, Some(2));
    let lost = confirm(&cluster, "new", None).unwrap_err();
    assert!(lost.contains("on b was given back"), "{lost}");
    cancel(&cluster, "new").unwrap();
}

#[test]
fn a_host_that_is_said_to_be_down_is_shown_without_the_places_that_end_by_that() {
    let folder = tempfile::tempdir().unwrap();
    let (_world, cluster) = world(folder.path());
    assert_eq!(place(&cluster, request("new", 4)).as_deref(), Some("b"));
    let text = r#"{"hosts": [{"id": "b", "state": "down"}]}"#;
    let changes = InventoryChanges::read(text, "changes", &cluster.schema()).unwrap();
    let shown = cluster.turn(move |state| {
        let (kind, condition) = (EntityKind::Host, Condition::Any);
        state.change_entity(kind, "b", changes, condition)?;
        state.entity(kind, "b")
    });
    let shown = shown.wait().unwrap().shown;
    assert_eq!(shown["state"], "down", "{shown}");
    assert_eq!(shown["vms.pending"], 0, "{shown}");
}
