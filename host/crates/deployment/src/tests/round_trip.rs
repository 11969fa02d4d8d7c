//! An inventory that is read and put again is the same, whatever has happened before.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;

/// What may happen to the cluster.
#[derive(Debug, Clone)]
enum Deed {
    Place(u8, i64),
    Confirm(u8),
    Cancel(u8),
    Migrate(u8),
    Measure(u8, f64),
    Group(Vec<u8>, bool, bool),
    NewHost(u8, i64),
    VmMemory(u8, i64),
    Wait(i64),
}

fn deed() -> impl Strategy<Value = Deed> {
    let vm = 0..6_u8;
    prop_oneof![
        4 => (vm.clone(), 1..6_i64).prop_map(|(vm, gib)| Deed::Place(vm, gib)),
        3 => vm.clone().prop_map(Deed::Confirm),
        1 => vm.clone().prop_map(Deed::Cancel),
        2 => vm.clone().prop_map(Deed::Migrate),
        2 => (0..4_u8, 0.0..1.0_f64).prop_map(|(host, usage)| Deed::Measure(host, usage)),
        2 => (prop::collection::btree_set(vm.clone(), 0..4), any::<bool>(), any::<bool>())
            .prop_map(|(vms, hard, hosts)| Deed::Group(vms.into_iter().collect(), hard, hosts)),
        1 => (0..2_u8, 16..64_i64).prop_map(|(host, gib)| Deed::NewHost(host, gib)),
        1 => (vm, 1..4_i64).prop_map(|(vm, gib)| Deed::VmMemory(vm, gib)),
        1 => (1..200_i64).prop_map(Deed::Wait),
    ]
}

const HOSTS: [&str; 4] = ["a", "b", "n0", "n1"];

/// Do it; what cannot be done is not done.
fn done(cluster: &Cluster, clock: &AtomicI64, deed: &Deed) {
    let id = |vm: u8| format!("v{vm}");
    let changed = |changes: serde_json::Value| {
        let text = changes.to_string();
        let changes = InventoryChanges::read(&text, "c.json", &cluster.schema()).unwrap();
        let _ = cluster
            .turn(move |state| state.change(changes).map(|_| ()))
            .wait();
    };
    match deed.clone() {
        Deed::Place(vm, gib) => {
            let request = request(&id(vm), gib);
            let _ = cluster.turn(move |state| state.place(request, None)).wait();
        }
        Deed::Confirm(vm) => {
            let _ = cluster
                .turn(move |state| state.confirm(&[id(vm)], None))
                .wait();
        }
        Deed::Cancel(vm) => {
            let _ = cluster.turn(move |state| state.cancel(&[id(vm)])).wait();
        }
        Deed::Migrate(vm) => {
            let request = Request {
                members: vec![Vm::new(id(vm))],
                now: 1000,
                ..Request::default()
            };
            let _ = cluster
                .turn(move |state| state.migrate(request, None))
                .wait();
        }
        Deed::Measure(host, usage) => changed(serde_json::json!({
            "missing": "ignore",
            "statistics": [{"id": HOSTS[host as usize], "cpu.usage": usage, "measured": 900}],
        })),
        Deed::Group(vms, hard, hosts) => changed(serde_json::json!({
            "groups": [{
                "id": "g", "vms": vms.into_iter().map(id).collect::<Vec<_>>(),
                "rule": "negative", "hard": hard, "priority": 2.5,
                "hosts": if hosts { vec!["a"] } else { vec![] },
            }],
        })),
        Deed::NewHost(host, gib) => changed(serde_json::json!({
            "hosts": [{"id": format!("n{host}"), "cpu.cores": 8, "memory.total": gib << 30}],
        })),
        Deed::VmMemory(vm, gib) => changed(serde_json::json!({
            "missing": "ignore", "vms": [{"id": id(vm), "memory": gib << 30}],
        })),
        Deed::Wait(seconds) => {
            clock.fetch_add(seconds, Ordering::Relaxed);
        }
    }
}

/// Everything that is known of places, statistics, hosts and groups, and where the next VM
/// would go.
fn known(cluster: &Cluster) -> (Vec<String>, serde_json::Value, Option<String>) {
    let would = Request {
        dry_run: true,
        ..request("next", 2)
    };
    let next = place(cluster, would);
    let known = cluster.turn(|state| {
        let inventory = state.inventory();
        let vms = (0..6).map(|vm| format!("v{vm}")).chain(["old".to_owned()]);
        let places = vms.flat_map(|id| {
            [false, true].map(|pending| format!("{id}: {:?}", inventory.saved_vm(&id, pending)))
        });
        let measured = HOSTS.map(|id| format!("{id}: {:?}", inventory.saved_measured(id)));
        let rows: Vec<String> = places.chain(measured).collect();
        let document = serde_json::to_value(state.document());
        Ok((rows, document.unwrap_or_default()))
    });
    let (rows, document) = known.wait().unwrap();
    (rows, document, next)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn an_inventory_that_is_read_and_put_again_is_the_same_whatever_was_done(
        deeds in prop::collection::vec(deed(), 0..24)
    ) {
        static UNITS: LazyLock<Generation> = LazyLock::new(units);
        let folder = tempfile::tempdir().unwrap();
        let world = start(folder.path(), &UNITS);
        world.deployment.put_policy(&edit(POLICY), "somebody").unwrap();
        let cluster = world.deployment.create_cluster(document(), attach()).unwrap();
        for deed in &deeds {
            done(&cluster, &world.clock, deed);
        }
        let before = known(&cluster);
        let text = before.1.to_string();
        let again = ClusterDocument::read_as(&text, "body.json", "c").unwrap();
        cluster.turn(move |state| replace(state, again)).wait().unwrap();
        let after = known(&cluster);
        prop_assert_eq!(&after.0, &before.0);
        prop_assert_eq!(&after.1, &before.1);
        prop_assert_eq!(&after.2, &before.2);
        drop(cluster);
        world.deployment.stop();
    }
}
