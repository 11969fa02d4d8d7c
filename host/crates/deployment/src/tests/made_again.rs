//! Recorded decisions are made again with candidates, also after a restart.

use std::time::Instant;

use super::restart::again;
use super::*;
use crate::past::Wanted;
use placewright_policy::Policy;

/// Numbers, with the hosts that were chosen and would be.
type Hosts = Vec<(u64, Option<Arc<str>>, Option<Arc<str>>)>;

const FILLING: &str = r#"
    [[filters]]
    unit = "affinity"
    [[costs]]
    unit = "worst-fit"
    factor = -1
"#;

/// Decisions made again by a policy that takes the fullest host; how many are explained.
fn filled(
    world: &World,
    cluster: &Cluster,
    generation: &Generation,
    most: usize,
) -> (Hosts, usize) {
    let policy = Policy::load(FILLING, "p.toml", generation, &cluster.schema()).unwrap();
    let wanted = Wanted {
        decisions: most,
        examples: 2,
        until: Instant::now() + Duration::from_secs(600),
        patience: Duration::from_secs(60),
        cancel: placewright_scheduler::Cancel::default(),
        reuse: None,
        baseline: None,
    };
    let by = (&Arc::new(policy), generation);
    let again = world
        .deployment
        .made_again(cluster, by, wanted)
        .unwrap()
        .made;
    let explained = again.iter().filter(|made| made.explained.is_some());
    let explained = explained.count();
    let hosts = again
        .into_iter()
        .map(|made| (made.number, made.before, made.host.unwrap()));
    (hosts.collect(), explained)
}

#[test]
fn decisions_are_made_again_after_a_restart_as_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    for (vm, gib) in [("v1", 9), ("v2", 1), ("v3", 4)] {
        place(&cluster, request(vm, gib));
    }
    let tried = Batch {
        members: vec![Vm::new("tried").with("memory", 1_i64 << 30)],
        now: 1000,
        dry_run: true,
        ..Batch::default()
    };
    let tried = cluster.turn(move |state| state.place_batch(tried, None));
    tried.wait().unwrap();
    place(&cluster, request("v5", 2));
    let before = filled(&world, &cluster, &generation, 200);
    let numbers: Vec<u64> = before.0.iter().map(|(number, ..)| *number).collect();
    assert_eq!(numbers, [5, 3, 2, 1], "the one on a copy is passed over");
    assert_eq!(before.1, 2, "{before:?}");
    let changed = ["worst-fit".to_owned()];
    assert!(deployment.replay(&generation, &changed).tried >= 1);
    drop(cluster);

    let (world, cluster) = again(folder.path(), world, &generation);
    assert_eq!(filled(&world, &cluster, &generation, 200), before);
    assert_eq!(filled(&world, &cluster, &generation, 2).0, before.0[..2]);
    let verdict = world.deployment.replay(&generation, &changed);
    assert!(verdict.tried >= 1 && verdict.differing == 0, "{verdict:?}");

    // What is remembered comes first, and then what is kept.
    place(&cluster, request("v6", 1));
    cluster
        .turn(|state| replace(state, document()))
        .wait()
        .unwrap();
    place(&cluster, request("v7", 1));
    place(&cluster, request("v8", 1));
    let (hosts, _) = filled(&world, &cluster, &generation, 200);
    let numbers: Vec<u64> = hosts.iter().map(|(number, ..)| *number).collect();
    assert_eq!(numbers, [8, 7, 6, 5, 3, 2, 1]);
    assert_eq!(hosts[3..], before.0);
}

/// Two hosts of the same size, with 24 GiB free on a and 16 GiB on b.
const TWO_HOSTS: &str = r#"
    name = "c"
    [[hosts]]
    id = "a"
    cpu.cores = 8
    memory.total = "32 GiB"
    [[hosts]]
    id = "b"
    cpu.cores = 8
    memory.total = "32 GiB"
    [[vms]]
    id = "one"
    host = "a"
    memory = "8 GiB"
    [[vms]]
    id = "other"
    host = "b"
    memory = "16 GiB"
"#;

/// The host on which least stays free.
const FULLEST_WITH_ROOM: &str = r#"
    [[filters]]
    unit = "worst-fit"
    [[costs]]
    unit = "worst-fit"
    factor = -1
"#;

/// Numbers, with the hosts that were chosen and would be: each by itself, or one after the other.
fn fullest(world: &World, cluster: &Cluster, generation: &Generation, in_sequence: bool) -> Hosts {
    let schema = cluster.schema();
    let policy = Policy::load(FULLEST_WITH_ROOM, "p.toml", generation, &schema).unwrap();
    let wanted = Wanted {
        decisions: 200,
        examples: 0,
        until: Instant::now() + Duration::from_secs(600),
        patience: Duration::from_secs(60),
        cancel: placewright_scheduler::Cancel::default(),
        reuse: None,
        baseline: None,
    };
    let by = (&Arc::new(policy), generation);
    let again = match in_sequence {
        true => world.deployment.made_in_sequence(cluster, by, wanted),
        false => world.deployment.made_again(cluster, by, wanted),
    };
    let again = again.unwrap();
    assert_eq!(again.of, again.made.len());
    let made = again.made.into_iter();
    made.map(|made| (made.number, made.before, made.host.unwrap()))
        .collect()
}

/// By the number of the decision, the oldest first: the host that was chosen, and that would be.
fn shown(hosts: &Hosts) -> Vec<String> {
    let word = |host: &Option<Arc<str>>| host.as_deref().unwrap_or("-").to_owned();
    let rows = hosts.iter().rev();
    rows.map(|(number, before, after)| format!("{number}:{}{}", word(before), word(after)))
        .collect()
}

#[test]
fn a_decision_that_differs_is_explained_by_what_became_of_the_two_hosts() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let small = r#"
    [[hosts]]
    id = "small"
    cpu.cores = 1
    memory.total = "1 GiB"
    [[hosts]]
    id = "smaller"
    cpu.cores = 1
    memory.total = "512 MiB"
    "#;
    let document = format!("{TWO_HOSTS}{small}");
    let document = ClusterDocument::read(&document, "c.toml").unwrap();
    let cluster = deployment.create_cluster(document, attach()).unwrap();
    place(&cluster, request("v1", 9));
    place(&cluster, request("v2", 4));
    let schema = cluster.schema();
    let policy = Policy::load(FULLEST_WITH_ROOM, "p.toml", &generation, &schema).unwrap();
    let wanted = Wanted {
        decisions: 200,
        examples: 5,
        until: Instant::now() + Duration::from_secs(600),
        patience: Duration::from_secs(60),
        cancel: placewright_scheduler::Cancel::default(),
        reuse: None,
        baseline: None,
    };
    let by = (&Arc::new(policy), &generation);
    let again = deployment.made_again(&cluster, by, wanted).unwrap();
    let mut explained = 0;
    for made in again.made {
        let (then, now) = *made.explained.expect("both differ, and few do");
        let whole = deployment.kept_past("c", made.number).unwrap();
        let whole = whole.explain().unwrap();
        assert_eq!(whole.stages[0].hosts.len(), 4);
        let hosts = [made.before.unwrap(), made.host.unwrap().unwrap()];
        for (stage, shown) in whole.stages.iter().zip(&then.stages) {
            let rows = stage.hosts.iter().filter(|row| hosts.contains(&row.host));
            assert!(rows.eq(&shown.hosts), "{shown:?}");
        }
        assert_eq!(then.chosen.as_ref(), Some(&hosts[0]));
        assert_eq!(now.chosen.as_ref(), Some(&hosts[1]));
        assert_eq!(now.stages[0].hosts.len(), 2);
        explained += 1;
    }
    assert_eq!(explained, 2);
}

#[test]
fn what_a_policy_has_changed_is_not_put_down_to_the_units_that_are_tried() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let two = ClusterDocument::read(TWO_HOSTS, "c.toml").unwrap();
    let cluster = deployment.create_cluster(two, attach()).unwrap();
    place(&cluster, request("v1", 1));
    place(&cluster, request("v2", 4));
    let changed = ["worst-fit".to_owned()];
    let verdict = deployment.replay(&generation, &changed);
    assert_eq!((verdict.tried, verdict.differing), (2, 0), "{verdict:?}");
    // Each would go to the other host by the policy as it is now, whatever code the unit has.
    let otherwise = Edit {
        revision: Some(1),
        ..edit(FULLEST_WITH_ROOM)
    };
    deployment.put_policy(&otherwise, "somebody").unwrap();
    let recorded = shown(&fullest(&world, &cluster, &generation, false));
    assert_eq!(recorded, ["1:ab", "2:ab"]);
    let verdict = deployment.replay(&generation, &changed);
    assert_eq!((verdict.tried, verdict.differing), (2, 0), "{verdict:?}");
    drop(cluster);
    // So after a restart, when the store alone knows of them.
    let (world, _cluster) = again(folder.path(), world, &generation);
    let verdict = world.deployment.replay(&generation, &changed);
    assert!(verdict.tried >= 1 && verdict.differing == 0, "{verdict:?}");
}

#[test]
fn in_sequence_a_decision_finds_what_those_before_it_have_come_to() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let document = ClusterDocument::read(TWO_HOSTS, "c.toml").unwrap();
    let cluster = deployment.create_cluster(document, attach()).unwrap();
    let confirm = |id: &'static str| {
        let confirmed = cluster.turn(move |state| state.confirm(&[id], None));
        confirmed.wait().unwrap();
    };
    place(&cluster, request("v1", 9));
    confirm("v1");
    place(&cluster, request("v2", 6));
    let gone = InventoryChanges::read(r#"{"gone": {"vms": ["v1"]}}"#, "c.json", &cluster.schema());
    let gone = gone.unwrap();
    cluster.turn(|state| state.change(gone)).wait().unwrap();
    place(&cluster, request("v3", 4));
    place(&cluster, request("v4", 23));
    place(&cluster, request("v4", 23));
    place(&cluster, request("v5", 2));
    let by_itself = fullest(&world, &cluster, &generation, false);
    let expected = ["1:ab", "2:ba", "3:ab", "4:--", "5:--", "6:ab"];
    assert_eq!(shown(&by_itself), expected);
    // v1 is on b as long as it was on a, so that v2 is not drawn to a. After it has left, v3 has
    // room on b; v4, for which there was none, has room on a where v3 was, and stays there;
    // asked for again, it is there once.
    let expected = ["1:ab", "2:bb", "3:ab", "4:-a", "5:-a", "6:ab"];
    let before = counted(&cluster);
    let sequence = fullest(&world, &cluster, &generation, true);
    assert_eq!(shown(&sequence), expected);
    assert_eq!(counted(&cluster), before);
    drop(cluster);

    // After a restart they are read from the store, and newer ones in memory are made after them.
    let (world, cluster) = again(folder.path(), world, &generation);
    assert_eq!(fullest(&world, &cluster, &generation, true), sequence);
    place(&cluster, request("v6", 6));
    let with_one_more = fullest(&world, &cluster, &generation, true);
    assert_eq!(with_one_more[1..], sequence);
    // There were 10 GiB on b, and are 4 with v3 and v5; a has 1.
    assert_eq!(shown(&with_one_more).last().unwrap(), "7:a-");
}
