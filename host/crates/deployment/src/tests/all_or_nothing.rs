//! What is refused changes nothing, however much of it came before what is wrong.

use super::*;
use placewright_document::{ChangedVm, Gone, PlacedVm};
use placewright_model::{FactsChange, Host};

/// More than an inventory remembers of its past.
const MANY: usize = 70_000;

fn vm_id(number: usize) -> Arc<str> {
    format!("v{number:06}").into()
}

/// Hosts enough that none has too many VMs.
fn wide() -> ClusterDocument {
    let mut document = document();
    document.hosts = (0..100)
        .map(|number| Host::new(format!("h{number:02}")))
        .collect();
    document.vms = Vec::new();
    document.groups = Vec::new();
    document
}

fn host_id(number: usize) -> Arc<str> {
    format!("h{:02}", number % 100).into()
}

fn runs(number: usize) -> ChangedVm {
    ChangedVm {
        id: vm_id(number),
        facts: FactsChange::default(),
        pinning: Default::default(),
        host: Some(host_id(number)),
    }
}

/// The same deployment, started anew from what was kept.
fn again(folder: &Path, world: World, generation: &Generation) -> (World, Arc<Cluster>) {
    world.deployment.stop();
    drop(world);
    let world = start(folder, generation);
    let cluster = world.deployment.cluster("c").unwrap();
    (world, cluster)
}

#[test]
fn of_many_changes_of_which_one_is_wrong_nothing_stays() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(wide(), attach()).unwrap();
    let revision = |cluster: &Cluster| cluster.turn(|state| Ok(state.revision())).wait().unwrap();
    let before = revision(&cluster);
    let mut changes = InventoryChanges {
        vms: (0..MANY).map(runs).collect(),
        ..InventoryChanges::default()
    };
    changes.vms.push(ChangedVm {
        host: Some("nope".into()),
        ..runs(MANY)
    });
    let all = changes.clone();
    let refused = cluster.turn(move |state| state.change(all)).wait();
    assert!(refused.unwrap_err().to_string().contains("\"nope\""));
    assert_eq!(
        (counted(&cluster), revision(&cluster)),
        ((100, 0, 0), before)
    );
    drop(cluster);

    let (world, cluster) = again(folder.path(), world, &generation);
    assert_eq!(counted(&cluster), (100, 0, 0));
    // Without what is wrong all of it stays, over a restart too.
    changes.vms.pop();
    cluster.turn(|state| state.change(changes)).wait().unwrap();
    assert_eq!(counted(&cluster), (100, MANY, 0));
    drop(cluster);
    let (_world, cluster) = again(folder.path(), world, &generation);
    assert_eq!(counted(&cluster), (100, MANY, 0));
}

#[test]
fn statistics_that_are_wrong_take_the_changes_before_them_along() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    let change = |text: &str| {
        let changes = InventoryChanges::read(text, "c.json", &cluster.schema()).unwrap();
        cluster.turn(|state| state.change(changes)).wait()
    };
    change(r#"{"statistics": [{"id": "a", "cpu.usage": 0.5}]}"#).unwrap();
    let known = || {
        let known = cluster.turn(|state| {
            let schema = state.inventory().schema().clone();
            let needs: Vec<_> = schema.needs().map(|need| need.name.to_string()).collect();
            let measured = state.inventory().saved_measured("a");
            Ok((state.revision(), needs, format!("{measured:?}")))
        });
        known.wait().unwrap()
    };
    let before = known();
    let text = r#"{
        "attributes": {"vms": {"licence": {"kind": "text", "need": true}}},
        "hosts": [{"id": "a", "cpu.usage": 0.25}, {"id": "new"}],
        "statistics": [{"id": "nope", "cpu.usage": 0.5}]
    }"#;
    assert!(change(text).is_err());
    assert_eq!(known(), before);
    assert_eq!(counted(&cluster), (2, 1, 0));
    // The chain knows of no need that the cluster does not have.
    assert!(place(&cluster, request("v", 1)).is_some());
}

#[test]
fn many_vms_are_confirmed_cancelled_and_gone_in_one_step() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let mut document = wide();
    document.vms = (0..MANY)
        .map(|number| PlacedVm {
            vm: Vm::new(vm_id(number)),
            placed: Default::default(),
            host: host_id(number),
            pending: true,
        })
        .collect();
    let cluster = deployment.create_cluster(document, attach()).unwrap();
    let mut ids: Vec<Arc<str>> = (0..MANY).map(vm_id).collect();
    ids.push("unknown".into());
    let all = ids.clone();
    let refused = cluster.turn(move |state| state.confirm(&all, None)).wait();
    assert!(refused.is_err());
    let all = ids.clone();
    let refused = cluster.turn(move |state| state.cancel(&all)).wait();
    assert!(refused.is_err());
    assert_eq!(counted(&cluster), (100, 0, MANY));
    ids.pop();
    let all = ids.clone();
    cluster
        .turn(move |state| state.confirm(&all, None))
        .wait()
        .unwrap();
    assert_eq!(counted(&cluster), (100, MANY, 0));
    let changes = InventoryChanges {
        gone: Gone {
            vms: ids,
            hosts: vec!["nope".into()],
            ..Gone::default()
        },
        ..InventoryChanges::default()
    };
    let refused = cluster.turn(|state| state.change(changes)).wait();
    assert!(refused.is_err());
    assert_eq!(counted(&cluster), (100, MANY, 0));
    drop(cluster);
    let (_world, cluster) = again(folder.path(), world, &generation);
    assert_eq!(counted(&cluster), (100, MANY, 0));
}

#[test]
fn a_cluster_of_which_half_a_change_stayed_decides_no_more_until_it_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    let torn = cluster.turn(|state| {
        state.tear();
        Ok(())
    });
    let stopped = |error| matches!(error, DeploymentError::NoTurn(TurnError::Stopped));
    assert!(stopped(torn.wait().unwrap_err()));
    let next = cluster.turn(|state| Ok(state.counted())).wait();
    assert!(stopped(next.unwrap_err()));
    drop(cluster);
    let (_world, cluster) = again(folder.path(), world, &generation);
    assert_eq!(counted(&cluster), (2, 1, 0));
}
