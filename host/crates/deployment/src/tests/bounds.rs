//! What requests leave behind is bounded in bytes, over restarts too.

use super::*;
use placewright_inventory::InventoryError;
use placewright_model::budget::{ClusterBounds, Collection};

/// The collection that is full.
fn full(error: &DeploymentError) -> Option<Collection> {
    match error {
        DeploymentError::Inventory(InventoryError::Full(full)) => Some(full.collection),
        _ => None,
    }
}

fn change(cluster: &Cluster, text: &str) -> Result<crate::cluster::Changed, DeploymentError> {
    let changes = InventoryChanges::read(text, "c.json", &cluster.schema()).unwrap();
    cluster.turn(|state| state.change(changes)).wait()
}

fn bounded(world: &mut DeploymentOptions, inventory: u64, columns: u64) {
    world.bounds = ClusterBounds { inventory, columns };
}

fn bytes(cluster: &Cluster) -> (u64, u64) {
    let read = |state: &mut ClusterState| {
        let inventory = state.inventory();
        Ok((inventory.bytes(), inventory.column_bytes()))
    };
    cluster.turn(read).wait().unwrap()
}

/// Hosts with a note of a thousand letters each.
fn noted(from: usize, to: usize) -> String {
    let note = "x".repeat(1000);
    let hosts = (from..to).map(|it| format!(r#"{{"id": "h{it}", "attribute.note": "{note}"}}"#));
    let hosts: Vec<_> = hosts.collect();
    format!(
        r#"{{"attributes": {{"hosts": {{"note": "text"}}}}, "hosts": [{}]}}"#,
        hosts.join(",")
    )
}

#[test]
fn an_inventory_grows_to_its_bound_by_changes_and_not_beyond() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start_with(folder.path(), &generation, |it| {
        bounded(it, 150_000, u64::MAX);
    });
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    change(&cluster, &noted(0, 50)).unwrap();
    let before = (bytes(&cluster).0, counted(&cluster));
    let refused = change(&cluster, &noted(50, 100)).unwrap_err();
    assert_eq!(full(&refused), Some(Collection::Inventory));
    assert!(refused.to_string().contains("inventory-bytes"), "{refused}");
    assert_eq!((bytes(&cluster).0, counted(&cluster)), before);
    // VMs with places are of the inventory as well, and dry runs are not.
    let mut large = request("large", 1);
    large.members[0].pinning.preferred = vec!["a".into(); 2000];
    let dry = Request {
        dry_run: true,
        ..large.clone()
    };
    let placed = cluster.turn(move |state| state.place(large, None)).wait();
    assert_eq!(full(&placed.unwrap_err()), Some(Collection::Inventory));
    let tried = cluster.turn(move |state| state.place(dry, None)).wait();
    assert_ne!(
        tried.map(|_| ()).map_err(|error| full(&error)),
        Err(Some(Collection::Inventory))
    );
    // Another one in its place is held to the same bound, and says so before anything changes.
    let text = format!(r#"{{"name": "c", {}"#, &noted(0, 100)[1..]);
    let document = ClusterDocument::read(&text, "c.json").unwrap();
    let replaced = Replacement::of_document(document, 1000, deployment.bounds()).unwrap_err();
    assert_eq!(full(&replaced), Some(Collection::Inventory));
    // What goes makes room.
    change(&cluster, r#"{"gone": {"hosts": ["h0", "h1", "h2"]}}"#).unwrap();
    change(&cluster, &noted(50, 53)).unwrap();
    world.deployment.stop();
    drop((cluster, world));

    // With a smaller bound it starts all the same, and may become less.
    let world = start_with(folder.path(), &generation, |it| {
        bounded(it, 50_000, u64::MAX);
    });
    let cluster = world.deployment.cluster("c").unwrap();
    assert!(bytes(&cluster).0 > 50_000);
    let refused = change(&cluster, &noted(60, 61)).unwrap_err();
    assert_eq!(full(&refused), Some(Collection::Inventory));
    change(&cluster, r#"{"gone": {"hosts": ["h3"]}}"#).unwrap();
    let placed = cluster.turn(|state| state.place(request("new", 1), None));
    assert_eq!(
        full(&placed.wait().unwrap_err()),
        Some(Collection::Inventory)
    );
}

#[test]
fn attributes_times_hosts_are_bounded_and_a_cluster_beyond_starts_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    let many = |count: usize| {
        let names = (0..count).map(|it| format!(r#""a{it}": "integer""#));
        let names: Vec<_> = names.collect();
        format!(r#"{{"attributes": {{"hosts": {{{}}}}}}}"#, names.join(","))
    };
    change(&cluster, &many(500)).unwrap();
    let taken = bytes(&cluster).1;
    world.deployment.stop();
    drop((cluster, world));

    let world = start_with(folder.path(), &generation, |it| {
        bounded(it, u64::MAX, taken);
    });
    let cluster = world.deployment.cluster("c").unwrap();
    let refused = change(&cluster, &many(900)).unwrap_err();
    assert_eq!(full(&refused), Some(Collection::Columns));
    assert!(cluster.schema().column("hosts", "attribute.a899").is_none());
    let refused = change(&cluster, r#"{"hosts": [{"id": "c"}]}"#).unwrap_err();
    assert_eq!(full(&refused), Some(Collection::Columns));
    change(&cluster, r#"{"hosts": [{"id": "a", "attribute.a7": 7}]}"#).unwrap();
    assert_eq!(place(&cluster, request("new", 1)).as_deref(), Some("b"));
}

fn key(caller: &str, word: String) -> Option<Key> {
    Some(Key {
        caller: caller.into(),
        word,
        again: false,
    })
}

/// Ask for a place that nobody can have: only the answer is left behind.
fn ask(cluster: &Cluster, caller: &str, number: usize) -> crate::cluster::Placed {
    let (request, key) = (request("huge", 1 << 20), key(caller, number.to_string()));
    let placed = cluster.turn(move |state| state.place(request, key));
    placed.wait().unwrap()
}

#[test]
fn answers_are_bounded_in_bytes_by_caller_and_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start_with(folder.path(), &generation, |it| it.answers = 50_000);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    ask(&cluster, "quiet", 0);
    for number in 0..300 {
        ask(&cluster, "loud", number);
    }
    let stored = |world: &World| {
        let read = world.deployment.store().answers("c", u64::MAX).unwrap();
        let lengths = read.answers.iter().map(|it| it.key.len() + it.body.len());
        (read.answers.len(), lengths.sum::<usize>())
    };
    let (many, taken) = stored(&world);
    assert!(
        taken <= 50_000 && many > 20,
        "{many} answers of {taken} bytes"
    );
    assert!(ask(&cluster, "quiet", 0).repeated);
    assert!(ask(&cluster, "loud", 299).repeated);
    world.clock.store(1001, Ordering::Relaxed);
    assert!(!ask(&cluster, "loud", 0).repeated);
    world.deployment.stop();
    drop((cluster, world));

    // A smaller bound is heeded when they are read, and in the store with the next change.
    let world = start_with(folder.path(), &generation, |it| it.answers = 10_000);
    world.clock.store(1002, Ordering::Relaxed);
    let cluster = world.deployment.cluster("c").unwrap();
    assert!(ask(&cluster, "loud", 0).repeated);
    ask(&cluster, "loud", 1000);
    let (many, taken) = stored(&world);
    assert!(
        taken <= 10_000 && many > 2,
        "{many} answers of {taken} bytes"
    );
}

#[test]
fn a_dry_run_leaves_no_answer_behind() {
    let folder = tempfile::tempdir().unwrap();
    let world = start(folder.path(), &units());
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    let try_out = |id: &'static str| {
        let request = Request {
            dry_run: true,
            ..request(id, 1)
        };
        let members = request.members.clone();
        let alone = cluster.turn(move |state| state.place(request, key("me", "k".to_owned())));
        let batch = Batch {
            members,
            dry_run: true,
            now: 1000,
            ..Batch::default()
        };
        let together =
            cluster.turn(move |state| state.place_batch(batch, key("me", "b".to_owned())));
        (alone.wait().unwrap(), together.wait().unwrap())
    };
    for id in ["new", "other"] {
        let (alone, together) = try_out(id);
        assert!(!alone.repeated && !together.repeated);
    }
    assert_eq!(
        deployment.store().answers("c", u64::MAX).unwrap().answers,
        []
    );
}

#[test]
fn recorded_decisions_are_bounded_by_the_bytes_of_their_requests() {
    let folder = tempfile::tempdir().unwrap();
    let world = start_with(folder.path(), &units(), |it| {
        it.scheduler.recorded_bytes = 200_000;
    });
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    for number in 0..20 {
        let mut large = request(&format!("v{number}"), 1);
        large.dry_run = true;
        large.members[0].pinning.preferred = vec!["a".into(); 1000];
        place(&cluster, large);
        let recorded = cluster.turn(|state| {
            let scheduler = state.scheduler();
            Ok((scheduler.recorded_bytes(), scheduler.decisions().count()))
        });
        let (bytes, count) = recorded.wait().unwrap();
        assert!(bytes <= 200_000 && count > 0, "{count} of {bytes} bytes");
    }
    // What memory does not have is in the store.
    let remembered = cluster.turn(|state| Ok(state.remembered(1).is_some()));
    assert!(!remembered.wait().unwrap());
    deployment.kept_past("c", 1).unwrap().explain().unwrap();
}

#[test]
fn policies_are_bounded_in_bytes_by_owner_and_each_counts() {
    let folder = tempfile::tempdir().unwrap();
    let world = start_with(folder.path(), &units(), |it| it.policy_bytes = 300 << 10);
    let deployment = &world.deployment;
    let put = |name: &str, filler: usize, who: &str| {
        let text = format!("{POLICY}\n# {}", "x".repeat(filler));
        let edit = Edit {
            name: name.to_owned(),
            ..edit(&text)
        };
        deployment.put_policy(&edit, who).map(drop)
    };
    for name in ["a", "b", "c", "d"] {
        put(name, 0, "somebody").unwrap();
    }
    let refused = put("e", 0, "somebody").unwrap_err();
    assert!(matches!(refused, DeploymentError::Full(_)), "{refused}");
    assert!(refused.to_string().contains("policy-bytes"), "{refused}");
    assert!(deployment.policy("e").is_err());
    // The owner pays, whoever writes; others have room of their own.
    let refused = put("a", 200 << 10, "admin").unwrap_err();
    assert!(matches!(refused, DeploymentError::Full(_)), "{refused}");
    put("e", 200 << 10, "other").unwrap();
    put("a", 10, "somebody").unwrap();
    // What is removed makes room, and so does a shorter text.
    deployment
        .remove_policy("b", &Origin::Api, None, "somebody")
        .unwrap();
    put("a", 120 << 10, "somebody").unwrap();
    assert!(put("f", 0, "somebody").is_err());
    put("a", 0, "somebody").unwrap();
    put("f", 0, "somebody").unwrap();
    // The folder is the operator's own.
    let of_file = Edit {
        name: "g".to_owned(),
        origin: Origin::File("g.toml".to_owned()),
        ..edit(POLICY)
    };
    deployment.put_policy(&of_file, "somebody").unwrap();
}
