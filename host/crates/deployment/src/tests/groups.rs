//! Groups that have the members of others, of what is stored and of documents.

use super::*;

const GROUPS: usize = 40;

/// Groups with the VMs of a base and of all groups before them. By their ids they come in another
/// order.
fn groups() -> String {
    let base = r#"{"id": "base", "vms": ["old", "new"]}"#.to_owned();
    let group = |at: usize| {
        let others: Vec<String> = (0..at).map(|it| format!(r#", "m{it}""#)).collect();
        format!(
            r#"{{"id": "m{at}", "vms": ["v{at}"], "vms-of": ["base"{}]}}"#,
            others.concat()
        )
    };
    let nested = (1..GROUPS).map(|at| group(at - 1));
    std::iter::once(base)
        .chain(nested)
        .collect::<Vec<_>>()
        .join(", ")
}

fn worked_out(cluster: &Cluster) -> usize {
    let counted = cluster.turn(|state| Ok(state.inventory().worked_out_groups()));
    counted.wait().unwrap()
}

/// The members of the last group, and where they are.
fn last(cluster: &Cluster) -> String {
    let last = cluster.turn(|state| {
        let entry = state.inventory().group(&format!("m{}", GROUPS - 2));
        Ok(format!("{:?}", entry.map(|it| (&it.group, &it.presence))))
    });
    last.wait().unwrap()
}

#[test]
fn the_members_of_each_group_are_worked_out_once_by_a_start_and_by_a_document() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let text = format!(
        r#"{{"name": "c", "hosts": [{{"id": "a", "vms": [{{"id": "old"}}, {{"id": "v3"}}]}}],
            "groups": [{}]}}"#,
        groups()
    );
    let document = || ClusterDocument::read(&text, "c.json").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    assert_eq!(worked_out(&cluster), GROUPS);
    let before = last(&cluster);
    let new = document();
    cluster.turn(|state| replace(state, new)).wait().unwrap();
    assert_eq!(
        (worked_out(&cluster), last(&cluster)),
        (GROUPS, before.clone())
    );
    drop(cluster);
    world.deployment.stop();
    drop(world);
    let world = start(folder.path(), &generation);
    let cluster = world.deployment.cluster("c").unwrap();
    assert_eq!((worked_out(&cluster), last(&cluster)), (GROUPS, before));
    world.deployment.stop();
}
