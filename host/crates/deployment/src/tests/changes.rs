//! Documents of changes, over restarts.

use super::*;

fn change(cluster: &Cluster, text: &str) -> crate::cluster::Changed {
    let changes = InventoryChanges::read(text, "c.json", &cluster.schema()).unwrap();
    cluster.turn(|state| state.change(changes)).wait().unwrap()
}

fn host(cluster: &Cluster, id: &'static str) -> serde_json::Value {
    let shown = cluster.turn(move |state| Ok(state.host_shown(id))).wait();
    shown.unwrap().unwrap()
}

/// What units see as the free memory of a host.
fn memory_free(cluster: &Cluster, host: &str) -> Option<placewright_model::Value> {
    let host = host.to_owned();
    let value = cluster.turn(move |state| {
        let inventory = state.scheduler().inventory();
        let slot = inventory.slot(&host);
        Ok(slot.and_then(|slot| inventory.host_value(slot, "memory.free")))
    });
    value.wait().unwrap()
}

#[test]
fn an_attribute_of_a_change_is_kept_and_costs_no_explanation() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    place(&cluster, request("new", 4)).unwrap();
    let text = r#"{"attributes": {"hosts": {"rack": "text"}}, "hosts": [{"id": "a", "attribute.rack": "r1"}]}"#;
    change(&cluster, text);
    // From now on it is read without a declaration.
    change(
        &cluster,
        r#"{"hosts": [{"id": "b", "attribute.rack": "r2"}]}"#,
    );
    let past = cluster.turn(|state| Ok(state.scheduler().past(1).is_ok()));
    assert!(past.wait().unwrap(), "the decision can still be explained");
    world.deployment.stop();
    drop((cluster, world));

    let world = start(folder.path(), &generation);
    let cluster = world.deployment.cluster("c").unwrap();
    assert_eq!(host(&cluster, "b")["attribute.rack"], "r2");
    change(
        &cluster,
        r#"{"hosts": [{"id": "b", "attribute.rack": null}]}"#,
    );
    assert!(host(&cluster, "b").get("attribute.rack").is_none());
}

#[test]
fn the_limit_of_statistics_is_a_setting_that_lasts() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    deployment.create_cluster(document(), attach()).unwrap();
    let limited = Attach {
        statistics_max_age: Some(60),
        ..attach()
    };
    deployment.attach("c", limited).unwrap();
    world.deployment.stop();
    drop(world);

    let world = start(folder.path(), &generation);
    let cluster = world.deployment.cluster("c").unwrap();
    let age = cluster.settings().statistics_max_age;
    assert_eq!(age, Some(60));
    change(
        &cluster,
        r#"{"statistics": [{"id": "a", "cpu.usage": 0.5}]}"#,
    );
    let shown = host(&cluster, "a");
    assert_eq!(shown["cpu.usage"], 0.5);
    let about = &shown["statistics"]["cpu.usage"];
    assert_eq!(
        (&about["measured"], &about["outdated"]),
        (&1000.into(), &false.into())
    );
    world.clock.store(1060, Ordering::Relaxed);
    world.deployment.end_reservations();
    assert_eq!(host(&cluster, "a")["cpu.usage"], 0.5);
    // No request has to come for it.
    world.clock.store(1061, Ordering::Relaxed);
    world.deployment.end_reservations();
    assert!(host(&cluster, "a").get("cpu.usage").is_none());
    let results = change(
        &cluster,
        r#"{"missing": "ignore", "gone": {"vms": ["nobody"]}}"#,
    );
    let results = serde_json::to_value(&results).unwrap();
    let result = serde_json::json!([{"kind": "gone-vm", "id": "nobody", "result": "missing"}]);
    assert_eq!(results["results"], result);
    let shown = host(&cluster, "a");
    assert!(shown.get("cpu.usage").is_none(), "{shown}");
    assert_eq!(shown["statistics"]["cpu.usage"]["outdated"], true);
}

#[test]
fn what_came_to_run_counts_as_measured_after_the_time_that_a_setting_gives() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let limited = Attach {
        unmeasured_max_age: Some(60),
        ..attach()
    };
    let cluster = deployment.create_cluster(document(), limited).unwrap();
    change(
        &cluster,
        r#"{"statistics": [{"id": "a", "memory.free": "9 GiB"}, {"id": "b", "memory.free": "9 GiB"}]}"#,
    );
    let chosen = place(&cluster, request("new", 4)).unwrap();
    let confirmed = cluster.turn(move |state| state.confirm(&["new"], None));
    confirmed.wait().unwrap();
    world.deployment.stop();
    drop((cluster, world));

    let world = start(folder.path(), &generation);
    let cluster = world.deployment.cluster("c").unwrap();
    let free = || memory_free(&cluster, &chosen);
    assert_eq!(free(), Some((5_i64 << 30).into()));
    world.clock.store(1060, Ordering::Relaxed);
    world.deployment.end_reservations();
    assert_eq!(free(), Some((5_i64 << 30).into()));
    // No request has to come for it.
    world.clock.store(1061, Ordering::Relaxed);
    world.deployment.end_reservations();
    assert_eq!(free(), Some((9_i64 << 30).into()));
}

#[test]
fn what_came_to_run_before_its_host_was_measured_is_counted_once_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    let chosen = place(&cluster, request("new", 4)).unwrap();
    let confirmed = cluster.turn(move |state| state.confirm(&["new"], None));
    confirmed.wait().unwrap();
    world.clock.store(1010, Ordering::Relaxed);
    change(
        &cluster,
        r#"{"statistics": [{"id": "a", "memory.free": "9 GiB"}, {"id": "b", "memory.free": "9 GiB"}]}"#,
    );
    assert_eq!(memory_free(&cluster, &chosen), Some((9_i64 << 30).into()));
    drop(cluster);
    let (_world, cluster) = super::restart::again(folder.path(), world, &generation);
    assert_eq!(memory_free(&cluster, &chosen), Some((9_i64 << 30).into()));
}

#[test]
fn what_an_operator_gives_is_kept_although_it_was_measured_before() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    change(
        &cluster,
        r#"{"statistics": [{"id": "a", "cpu.usage": 0.5}]}"#,
    );
    change(&cluster, r#"{"hosts": [{"id": "a", "cpu.usage": 0.25}]}"#);
    world.deployment.stop();
    drop((cluster, world));

    let world = start(folder.path(), &generation);
    let cluster = world.deployment.cluster("c").unwrap();
    assert_eq!(host(&cluster, "a")["cpu.usage"], 0.25);
}

#[test]
fn a_need_that_a_change_declares_is_heeded_from_then_on() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    let licensed = |id: &str| {
        let mut request = request(id, 1);
        request.members[0].facts.set("attribute.licence", "l");
        request
    };
    change(&cluster, r#"{"attributes": {"vms": {"licence": "text"}}}"#);
    assert!(place(&cluster, licensed("before")).is_some());
    let need = r#"{"attributes": {"vms": {"licence": {"kind": "text", "need": true}}}}"#;
    change(&cluster, need);
    let after = licensed("after");
    let refused = cluster
        .turn(move |state| state.place(after, None))
        .wait()
        .unwrap_err();
    assert!(
        refused.to_string().contains("attribute.licence"),
        "{refused}"
    );
    assert!(place(&cluster, request("other", 1)).is_some());
}
