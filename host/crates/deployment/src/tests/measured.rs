//! What is measured is read back as it was given, and counts as rounded.

use super::restart::{again, change};
use super::*;
use placewright_inventory::Inventory;
use placewright_model::Value;

const MEASURED: &str = r#"{"statistics": [
    {"id": "a", "cpu.usage": 0.9, "memory.free": 1234567890},
    {"id": "b", "cpu.usage": 0.5}]}"#;

/// What clients read of `cpu.usage` and `memory.free` of a host, and what units do.
fn read(cluster: &Cluster, host: &'static str) -> [serde_json::Value; 6] {
    let read = cluster.turn(move |state| {
        let document = serde_json::to_value(state.document()).unwrap();
        let hosts = document["hosts"].as_array().unwrap();
        let listed = hosts.iter().find(|it| it["id"] == host).unwrap().clone();
        let shown = state.host_shown(host).unwrap();
        let inventory: &Inventory = state.inventory();
        let slot = inventory.slot(host).unwrap();
        let mut all = Vec::new();
        for column in ["cpu.usage", "memory.free"] {
            all.push(listed[column].clone());
            all.push(shown[column].clone());
            all.push(match inventory.host_value(slot, column) {
                Some(Value::Number(number)) => number.into(),
                Some(Value::Integer(number)) => number.into(),
                other => serde_json::Value::String(format!("{other:?}")),
            });
        }
        Ok(all)
    });
    read.wait().unwrap().try_into().unwrap()
}

#[test]
fn what_is_measured_is_read_back_as_it_was_given_and_units_see_it_rounded() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    change(&cluster, MEASURED);
    let before = read(&cluster, "a");
    let [listed, shown, seen, ..] = &before;
    assert!(*listed == 0.9 && *shown == 0.9, "{before:?}");
    assert_eq!(*seen, 0.898_437_5);
    assert_eq!(before[5], 1_234_567_890_i64 / (1 << 20) * (1 << 20));
    assert!(before[3].to_string().contains("1234567890"), "{before:?}");
    assert_eq!(before[4], before[3]);

    // Put again, it is the same, and counts as it did.
    let put = |cluster: &Cluster| {
        let document = cluster.turn(|state| Ok(serde_json::to_string(&state.document()).unwrap()));
        let document = document.wait().unwrap();
        let document = ClusterDocument::read_as(&document, "body.json", "c").unwrap();
        cluster.turn(move |state| replace(state, document)).wait()
    };
    put(&cluster).unwrap();
    assert_eq!(read(&cluster, "a"), before);
    drop(cluster);
    let (world, cluster) = again(folder.path(), world, &generation);
    assert_eq!(read(&cluster, "a"), before, "after a restart");
    put(&cluster).unwrap();
    assert_eq!(read(&cluster, "a"), before, "put after a restart");
    let at = cluster.turn(|state| Ok(state.host_shown("a").unwrap()["statistics"].clone()));
    assert_eq!(at.wait().unwrap()["cpu.usage"]["measured"], 1000);

    // Noise is no change for units, and is read back all the same.
    let version = |cluster: &Cluster| {
        let counted = cluster.turn(|state| Ok(state.counted().version)).wait();
        counted.unwrap()
    };
    let known = version(&cluster);
    change(
        &cluster,
        r#"{"statistics": [{"id": "a", "cpu.usage": 0.8991}]}"#,
    );
    assert_eq!(version(&cluster), known);
    let [listed, _, seen, ..] = read(&cluster, "a");
    assert!(listed == 0.8991 && seen == 0.898_437_5, "{listed} {seen}");

    // What an operator gives counts as it is.
    change(&cluster, r#"{"hosts": [{"id": "a", "cpu.usage": 0.9}]}"#);
    for read in &read(&cluster, "a")[..3] {
        assert_eq!(*read, 0.9);
    }
    drop(world);
}
