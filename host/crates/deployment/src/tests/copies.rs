//! Decisions that were made on copies of a cluster, explained when the copies are gone.

use super::restart::{WATCHING, again, change, told};
use super::*;

/// Place a batch; the numbers of its decisions. A VM that waits for another place gets none.
fn tried(cluster: &Cluster, batch: Batch) -> Vec<u64> {
    let placed = cluster.turn(move |state| state.place_batch(anew(batch), None));
    let turns = placed.wait().unwrap().turns.into_iter();
    let number = |body: &str| {
        let shown: serde_json::Value = serde_json::from_str(body).unwrap();
        shown["number"].as_u64().unwrap()
    };
    turns.flatten().map(|body| number(&body)).collect()
}

fn batch(members: &[(&str, i64)]) -> Batch {
    let vm = |(id, gib): &(&str, i64)| Vm::new(*id).with("memory", *gib << 30);
    Batch {
        members: members.iter().map(vm).collect(),
        now: 1000,
        ..Batch::default()
    }
}

/// Batches that are decided on copies, each for a reason of its own, and one that is not.
fn batches() -> Vec<Batch> {
    vec![
        Batch {
            dry_run: true,
            ..batch(&[("d1", 3), ("waits", 1), ("d2", 5), ("d3", 2)])
        },
        batch(&[("r1", 1), ("waits", 1), ("r2", 2)]),
        Batch {
            from_nothing: true,
            dry_run: true,
            ..batch(&[("f1", 9), ("old", 8), ("waits", 1)])
        },
        Batch {
            all_or_nothing: true,
            ..batch(&[("a1", 1), ("a2", 2)])
        },
        Batch {
            all_or_nothing: true,
            ..batch(&[("n1", 1), ("n2", 200)])
        },
        Batch {
            search: Some(100),
            ..batch(&[("s1", 5), ("s2", 13)])
        },
        Batch {
            from_nothing: true,
            ..batch(&[("old", 8), ("l1", 1)])
        },
    ]
}

#[test]
fn decisions_on_copies_are_explained_after_put_another_policy_and_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(WATCHING), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    change(
        &cluster,
        "[[statistics]]\nid = \"a\"\n\"cpu.usage\" = 0.7\n[[statistics]]\nid = \"b\"\n\"cpu.usage\" = 0.2",
    );
    place(&cluster, request("waits", 1));
    let mut before = Vec::new();
    for batch in batches() {
        let described = format!("{batch:?}");
        for number in tried(&cluster, batch) {
            let past = cluster.turn(move |state| Ok(state.past(number)?)).wait();
            let remembered = told(&past.unwrap());
            assert!(remembered.2, "decision {number} of {described}");
            let kept = deployment.kept_past("c", number).unwrap();
            assert_eq!(told(&kept), remembered, "decision {number} of {described}");
            before.push((number, remembered));
        }
        // What the cluster is like goes on changing.
        change(
            &cluster,
            &format!(
                "[[statistics]]\nid = \"b\"\n\"cpu.usage\" = 0.{}",
                before.len()
            ),
        );
    }
    assert_eq!(before.len(), 16);
    let different: std::collections::BTreeSet<_> = before.iter().map(|(_, told)| &told.0).collect();
    assert_eq!(
        different.len(),
        before.len(),
        "each was made on a state of its own"
    );
    let compare = |deployment: &Deployment, when: &str| {
        for (number, before) in &before {
            let after = deployment.kept_past("c", *number).unwrap();
            assert_eq!(told(&after), *before, "decision {number} {when}");
        }
    };
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    cluster
        .turn(|state| replace(state, document()))
        .wait()
        .unwrap();
    place(&cluster, request("last", 1));
    compare(deployment, "after PUT");
    drop(cluster);
    let (world, cluster) = again(folder.path(), world, &generation);
    place(&cluster, request("later", 1));
    compare(&world.deployment, "after a restart");
}

#[test]
fn a_decision_on_a_copy_of_which_nothing_is_kept_is_not_explained_by_other_rows() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    let numbers = tried(&cluster, batches().remove(0));
    // As an earlier version of the program kept it.
    let decision = deployment
        .store()
        .decision("c", numbers[1])
        .unwrap()
        .unwrap();
    let record = Change::RecordDecision {
        cluster: "c".to_owned(),
        number: decision.number,
        at: decision.at,
        body: decision.body.replace(r#""copy":"kept""#, r#""copy":true"#),
    };
    deployment.store().commit(vec![record]).unwrap();
    let refused = deployment
        .kept_past("c", numbers[1])
        .err()
        .unwrap()
        .to_string();
    assert!(refused.contains("it was made on a copy"), "{refused}");
    assert!(deployment.kept_past("c", numbers[0]).is_ok());
}
