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
    let tried = cluster.turn(move |state| state.place_batch(tried, false, None));
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
