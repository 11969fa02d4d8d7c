//! What a client has read is not taken for another thing of the same name.

use super::restart::{again, change};
use super::waiting::create;
use super::*;
use crate::cluster::Snapshot;

fn revision(cluster: &Cluster) -> u64 {
    let revision = cluster.turn(|state| Ok(state.revision())).wait();
    revision.unwrap()
}

fn snapshot(cluster: &Cluster) -> Arc<Snapshot> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(cluster.snapshot()).unwrap()
}

fn matches(cluster: &Cluster, revision: u64) -> bool {
    let checked = cluster.turn(move |state| state.check_revision(Some(revision)));
    checked.wait().is_ok()
}

#[test]
fn what_is_made_anew_under_the_name_of_something_gone_has_other_revisions() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let mut world = start(folder.path(), &generation);
    let put = |deployment: &Deployment| deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    put(&world.deployment);
    let mut seen = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..3 {
        let deployment = &world.deployment;
        let cluster = deployment.create_cluster(document(), attach()).unwrap();
        if round == 0 {
            change(&cluster, "[[hosts]]\nid = \"a\"\nmemory.total = \"64 GiB\"");
            let settings = Attach {
                statistics_max_age: Some(60),
                ..attach()
            };
            deployment.attach("c", settings).unwrap();
        }
        let now = revision(&cluster);
        assert!(seen.0.iter().all(|before| !matches(&cluster, *before)));
        assert!(matches(&cluster, now));
        seen.0.push(now);
        seen.1.push(cluster.settings().revision);
        drop(cluster);
        deployment.remove_cluster("c", "somebody").unwrap();
        deployment
            .remove_policy("mine", &Origin::Api, None, "somebody")
            .unwrap();
        if round == 1 {
            world.deployment.stop();
            drop(world);
            world = start(folder.path(), &generation);
        }
        seen.2.push(put(&world.deployment).revision);
    }
    for revisions in [seen.0, seen.1, seen.2] {
        assert!(revisions.is_sorted_by(|a, b| a < b), "{revisions:?}");
    }
}

#[test]
fn a_restart_leaves_the_revision_and_then_leaves_out_some_that_may_have_been_told() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    world
        .deployment
        .put_policy(&edit(POLICY), "somebody")
        .unwrap();
    let cluster = world
        .deployment
        .create_cluster(document(), attach())
        .unwrap();
    place(&cluster, request("new", 1));
    let before = revision(&cluster);
    drop(cluster);
    let (_world, cluster) = again(folder.path(), world, &generation);
    assert!(matches(&cluster, before), "nothing has changed");
    place(&cluster, request("other", 1));
    let after = revision(&cluster);
    assert!(after > before + 1000, "{before} {after}");
    place(&cluster, request("another", 1));
    assert_eq!(revision(&cluster), after + 1);
}

#[test]
fn a_value_that_is_measured_again_and_is_the_same_makes_another_revision_of_what_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let world = start(folder.path(), &units());
    let cluster = create(&world.deployment);
    let read = || snapshot(&cluster).revision();
    let measured = "[[statistics]]\nid = \"a\"\nmemory.free = \"4 GiB\"";
    for _ in 0..2 {
        change(&cluster, measured);
        assert!(matches(&cluster, read()), "what was read is the present");
    }
}

#[test]
fn a_document_that_is_there_already_makes_no_revision() {
    let folder = tempfile::tempdir().unwrap();
    let world = start(folder.path(), &units());
    let deployment = &world.deployment;
    let may = |_: &PolicyUse| Ok::<_, DeploymentError>(());
    let put = |text: &str, who: &str| {
        let (record, has_changed) = deployment.put_policy_if(&edit(text), who, may).unwrap();
        (record.revision, record.by.clone(), has_changed)
    };
    assert_eq!(put(POLICY, "first"), (1, "first".to_owned(), true));
    assert_eq!(put(POLICY, "second"), (1, "first".to_owned(), false));
    let other = format!("{POLICY}\n# another one\n");
    assert_eq!(put(&other, "second"), (2, "second".to_owned(), true));
    let stale = Edit {
        revision: Some(1),
        ..edit(&other)
    };
    assert!(deployment.put_policy(&stale, "second").is_err());
}

#[test]
fn an_inventory_that_was_replaced_is_held_by_no_copy() {
    let folder = tempfile::tempdir().unwrap();
    let world = start(folder.path(), &units());
    let cluster = create(&world.deployment);
    let before = Arc::downgrade(&snapshot(&cluster));
    assert!(before.upgrade().is_some(), "it serves whoever reads next");
    let replaced = cluster.turn(|state| replace(state, document()));
    replaced.wait().unwrap();
    assert!(before.upgrade().is_none());
    assert_eq!(snapshot(&cluster).revision(), revision(&cluster));
}
