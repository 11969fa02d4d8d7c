//! What tenants hold is counted over all clusters, and not more than their quotas allow.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use std::thread;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use placewright_model::Holding;

static UNITS: LazyLock<Generation> = LazyLock::new(units);

/// Two clusters, `c` and `d`, with room for many VMs.
fn clusters(folder: &Path) -> (World, [Arc<Cluster>; 2]) {
    let world = start(folder, &UNITS);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let created = ["c", "d"].map(|name| {
        let text = CLUSTER.replace("name = \"c\"", &format!("name = \"{name}\""));
        let document = ClusterDocument::read(&text, "c.toml").unwrap();
        deployment.create_cluster(document, attach()).unwrap()
    });
    (world, created)
}

fn quota(cluster: Option<&str>, limits: Value) -> Quota {
    Quota {
        tenant: "t".into(),
        cluster: cluster.map(Into::into),
        limits: serde_json::from_value(limits).unwrap(),
    }
}

impl World {
    fn put(&self, name: &str, cluster: Option<&str>, limits: Value) {
        let quota = quota(cluster, limits);
        self.deployment
            .put_quota(name, quota, None, "root")
            .unwrap();
    }

    fn vms_held(&self, name: &str) -> i128 {
        self.deployment.quota(name).unwrap().1.vms
    }
}

fn of_tenant(tenant: &str, id: &str, gib: i64) -> Request {
    let mut request = request(id, gib);
    request.members[0].facts.set("tenant", tenant);
    request
}

/// The decision as programs read it.
fn decided(cluster: &Cluster, request: Request) -> Value {
    let placed = cluster.turn(move |state| state.place(request, None)).wait();
    serde_json::from_str(&placed.unwrap().body).unwrap()
}

fn changed(cluster: &Cluster, changes: &Value) {
    let changes = InventoryChanges::read(&changes.to_string(), "c.json", &cluster.schema());
    let changes = changes.unwrap();
    cluster.turn(|state| state.change(changes)).wait().unwrap();
}

#[test]
fn a_quota_over_all_clusters_counts_what_is_held_in_each() {
    let folder = tempfile::tempdir().unwrap();
    let (world, [c, d]) = clusters(folder.path());
    world.put("gold", None, json!({"vms": 2}));
    assert!(decided(&c, of_tenant("t", "x", 1))["host"].is_string());
    assert!(decided(&d, of_tenant("t", "y", 1))["host"].is_string());
    let refused = decided(&d, of_tenant("t", "z", 1));
    assert_eq!(refused["host"], Value::Null);
    let refusal = &refused["refused-by-quota"];
    assert_eq!(refusal["quota"], "gold");
    assert_eq!(refusal["exceeded"], json!(["vms"]));
    assert_eq!(refusal["used"]["vms"], 2);
    assert_eq!(refusal["limits"], json!({"vms": 2}));
    let dry = Request {
        dry_run: true,
        ..of_tenant("t", "z", 1)
    };
    assert_eq!(decided(&d, dry)["refused-by-quota"], *refusal);
    // Another tenant, and a VM of none, are not limited.
    assert!(decided(&d, of_tenant("u", "z", 1))["host"].is_string());
    assert!(decided(&d, request("free", 1))["host"].is_string());
    c.turn(|state| state.cancel(&["x"])).wait().unwrap();
    assert_eq!(world.vms_held("gold"), 1);
    assert!(decided(&d, of_tenant("t", "zz", 1))["host"].is_string());
}

#[test]
fn what_is_released_in_any_way_may_be_held_by_others() {
    let folder = tempfile::tempdir().unwrap();
    let (world, [c, d]) = clusters(folder.path());
    world.put("gold", None, json!({"vms": 1}));
    let is_full = |cluster: &Cluster| {
        let dry = Request {
            dry_run: true,
            ..of_tenant("t", "probe", 1)
        };
        decided(cluster, dry)["host"].is_null()
    };
    // No host takes it: nothing is held.
    assert!(decided(&c, of_tenant("t", "huge", 500))["host"].is_null());
    assert!(!is_full(&d));
    // It expires.
    let short = Request {
        reserve_for: Some(60),
        ..of_tenant("t", "short", 1)
    };
    decided(&c, short);
    assert!(is_full(&d));
    world.clock.store(1100, Ordering::Relaxed);
    c.turn(|state| Ok(state.advance())).wait().unwrap();
    assert!(!is_full(&d));
    // It is confirmed, grows, and is removed.
    decided(&c, of_tenant("t", "v", 1));
    c.turn(|state| state.confirm(&["v"], None)).wait().unwrap();
    assert!(is_full(&d));
    changed(&c, &json!({"vms": [{"id": "v", "tenant": "other"}]}));
    assert!(!is_full(&d));
    changed(&c, &json!({"vms": [{"id": "v", "tenant": "t"}]}));
    assert!(is_full(&d));
    changed(&c, &json!({"gone": {"vms": ["v"]}}));
    assert!(!is_full(&d));
    // Its cluster is removed.
    decided(&c, of_tenant("t", "w", 1));
    assert!(is_full(&d));
    drop(c);
    world.deployment.remove_cluster("c", "root").unwrap();
    assert!(!is_full(&d));
}

#[test]
fn two_clusters_that_place_at_once_do_not_exceed_a_quota_over_both() {
    let folder = tempfile::tempdir().unwrap();
    let (world, clusters) = clusters(folder.path());
    world.put("gold", None, json!({"vms": 7}));
    thread::scope(|scope| {
        for cluster in &clusters {
            scope.spawn(move || {
                for number in 0..10 {
                    decided(cluster, of_tenant("t", &format!("v{number}"), 0));
                }
            });
        }
    });
    let pending = clusters.iter().map(|cluster| counted(cluster).2);
    assert_eq!(pending.sum::<usize>(), 7);
    assert_eq!(world.vms_held("gold"), 7);
}

#[test]
fn a_quota_of_one_cluster_leaves_the_other_alone_and_growth_counts_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let (world, [c, d]) = clusters(folder.path());
    world.put("here", Some("c"), json!({"memory": "4 GiB"}));
    assert!(decided(&c, of_tenant("t", "v", 3))["host"].is_string());
    c.turn(|state| state.confirm(&["v"], None)).wait().unwrap();
    let again = |gib| {
        let request = of_tenant("t", "v", gib);
        let placed = c.turn(move |state| {
            let request = Request {
                again: true,
                ..request
            };
            state.place(request, None)
        });
        let body: Value = serde_json::from_str(&placed.wait().unwrap().body).unwrap();
        body
    };
    assert_eq!(
        again(5)["refused-by-quota"]["because"],
        "quota \"here\" of tenant \"t\" in cluster \"c\": 4.0 GiB allowed, 3.0 GiB held, 2.0 GiB more asked for"
    );
    assert!(again(4)["host"].is_string());
    assert_eq!(
        world.deployment.quota("here").unwrap().1.memory,
        4 << 30,
        "what it will have is held"
    );
    assert!(decided(&d, of_tenant("t", "v", 9))["host"].is_string());
    let migrated = c.turn(|state| state.cancel(&["v"])).wait();
    migrated.unwrap();
    world.put("here", Some("c"), json!({"memory": 1}));
    let moved = Request {
        members: vec![Vm::new("v")],
        now: 1000,
        ..Request::default()
    };
    let moved = c.turn(move |state| state.migrate(moved, None)).wait();
    assert!(
        moved.unwrap().host.is_some(),
        "it holds no more than before"
    );
}

#[test]
fn a_reserved_vm_is_given_to_no_tenant_that_may_hold_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let (world, [c, _]) = clusters(folder.path());
    world.put("gold", None, json!({"vms": 2}));
    for id in ["x", "y", "z"] {
        assert!(decided(&c, of_tenant("u", id, 1))["host"].is_string());
    }
    let give = |id: &str, tenant: &str| {
        let changes = json!({"vms": [{"id": id, "tenant": tenant}]}).to_string();
        let changes = InventoryChanges::read(&changes, "c.json", &c.schema()).unwrap();
        c.turn(|state| state.change(changes)).wait()
    };
    give("x", "t").unwrap();
    give("y", "t").unwrap();
    let refused = give("z", "t").unwrap_err().to_string();
    assert!(refused.contains("gold"), "{refused}");
    assert_eq!(world.vms_held("gold"), 2);
    // What stays as it is, and what others may hold, is not asked about.
    give("x", "t").unwrap();
    give("x", "u").unwrap();
    give("z", "t").unwrap();
    assert_eq!(world.vms_held("gold"), 2);
}

#[test]
fn a_vm_that_runs_counts_for_whom_it_is_told_to_be_of_under_whatever_id() {
    let folder = tempfile::tempdir().unwrap();
    let (world, [c, d]) = clusters(folder.path());
    world.put("gold", None, json!({"vms": 2}));
    for id in ["x", "y", "z"] {
        assert!(decided(&c, of_tenant("u", id, 1))["host"].is_string());
    }
    c.turn(|state| state.confirm(&["x", "y", "z"], None))
        .wait()
        .unwrap();
    // A report of what runs is what is so, also beyond the quota; and then there is nothing more.
    for id in ["x", "y", "z"] {
        changed(&c, &json!({"vms": [{"id": id, "tenant": "t"}]}));
    }
    assert_eq!(world.vms_held("gold"), 3);
    for cluster in [&c, &d] {
        let refused = decided(cluster, of_tenant("t", "more", 1));
        assert_eq!(refused["refused-by-quota"]["quota"], "gold");
    }
    // Another id is another VM of the same tenant, and a VM that goes away makes room.
    let renamed =
        json!({"gone": {"vms": ["x"]}, "vms": [{"id": "x2", "host": "a", "tenant": "t"}]});
    changed(&c, &renamed);
    assert_eq!(world.vms_held("gold"), 3);
    changed(&c, &json!({"gone": {"vms": ["x2", "y"]}}));
    assert_eq!(world.vms_held("gold"), 1);
    assert!(decided(&d, of_tenant("t", "more", 1))["host"].is_string());
    // A place that is reserved is asked about as when it is placed.
    assert!(decided(&c, of_tenant("u", "w", 1))["host"].is_string());
    let given = json!({"vms": [{"id": "w", "tenant": "t"}]}).to_string();
    let given = InventoryChanges::read(&given, "c.json", &c.schema()).unwrap();
    let refused = c.turn(|state| state.change(given)).wait().unwrap_err();
    assert!(refused.to_string().contains("gold"), "{refused}");
    assert_eq!(world.vms_held("gold"), 2);
}

#[test]
fn quotas_and_what_is_held_are_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let (world, [c, d]) = clusters(folder.path());
    world.put("gold", None, json!({"vms": 2}));
    world.put("gone", Some("d"), json!({"vms": 0}));
    world
        .deployment
        .remove_quota("gone", Some(1), "root")
        .unwrap();
    decided(&c, of_tenant("t", "x", 1));
    decided(&d, of_tenant("t", "y", 1));
    world.deployment.stop();
    drop((c, d, world));
    let world = start(folder.path(), &UNITS);
    let d = world.deployment.cluster("d").unwrap();
    assert_eq!(world.vms_held("gold"), 2);
    assert_eq!(world.deployment.quotas().len(), 1);
    let refused = decided(&d, of_tenant("t", "z", 1));
    assert_eq!(refused["refused-by-quota"]["quota"], "gold");
    // A quota of the same name as one that is gone is another revision.
    world.put("gone", Some("c"), json!({"vms": 1}));
    assert_eq!(world.deployment.quota("gone").unwrap().0.revision, 2);
}

#[test]
fn quotas_are_changed_by_revision_and_one_limits_a_tenant_in_each_place() {
    let folder = tempfile::tempdir().unwrap();
    let (world, _clusters) = clusters(folder.path());
    let deployment = &world.deployment;
    let put = |name: &str, quota, revision| {
        let put = deployment.put_quota(name, quota, revision, "root");
        put.map(|(is_new, (record, _))| (is_new, record.revision))
            .map_err(|error| error.to_string())
    };
    let two = || quota(None, json!({"vms": 2}));
    assert_eq!(put("q", two(), Some(0)), Ok((true, 1)));
    assert!(
        put("q", two(), Some(0))
            .unwrap_err()
            .contains("is 1 by now")
    );
    assert_eq!(put("q", two(), Some(1)), Ok((false, 1)), "as it was");
    let three = quota(None, json!({"vms": 3}));
    assert_eq!(put("q", three, Some(1)), Ok((false, 2)));
    assert_eq!(
        put("other", two(), None).unwrap_err(),
        "quota \"q\" limits tenant \"t\" in all clusters together already: change that one"
    );
    let nowhere = quota(Some("cc"), json!({"vms": 2}));
    assert_eq!(
        put("other", nowhere, None).unwrap_err(),
        "there is no cluster \"cc\" (did you mean \"c\"?)"
    );
    let nothing = put("other", quota(None, json!({})), None).unwrap_err();
    assert!(nothing.contains("at least one of \"cpu\""), "{nothing}");
    assert!(put("bad name", two(), None).is_err());
    let unnamed = Quota {
        tenant: "".into(),
        ..two()
    };
    assert!(
        put("other", unnamed, None)
            .unwrap_err()
            .contains("1 to 253 bytes")
    );
    let stale = deployment.remove_quota("q", Some(1), "root").unwrap_err();
    assert!(matches!(
        stale,
        DeploymentError::Revision { current: 2, .. }
    ));
    deployment.remove_quota("q", Some(2), "root").unwrap();
    assert_eq!(put("q", two(), Some(0)), Ok((true, 3)));
    let kinds = deployment.events().listen(Some(0)).missed;
    let kinds = kinds.iter().map(|it| it.kind.word());
    let told: Vec<_> = kinds.filter(|it| it.starts_with("quota")).collect();
    let changed = "quota-changed";
    assert_eq!(told, [changed, changed, "quota-removed", changed]);
}

#[test]
fn there_are_not_more_quotas_than_their_bound() {
    let folder = tempfile::tempdir().unwrap();
    let bound = Collection::Quotas.most();
    {
        // As an earlier run would have stored them; each in a transaction would take long.
        let store = Store::open(folder.path(), StoreOptions::default()).unwrap();
        let stored = (0..bound).map(|number| Change::Setting {
            key: format!("quota q{number}"),
            body: json!({
                "name": format!("q{number}"), "revision": 1, "at": 0, "by": "root",
                "tenant": format!("t{number}"), "limits": {"vms": 1},
            })
            .to_string(),
        });
        store.commit(stored.collect()).unwrap();
    }
    let world = start(folder.path(), &UNITS);
    let deployment = &world.deployment;
    assert_eq!(deployment.quotas().len(), bound);
    let one_more = || deployment.put_quota("more", quota(None, json!({"vms": 1})), None, "root");
    let full = one_more();
    assert!(matches!(full, Err(DeploymentError::Full(_))), "{full:?}");
    deployment.remove_quota("q7", None, "root").unwrap();
    assert!(one_more().is_ok());
}

/// What may happen to a cluster.
#[derive(Debug, Clone)]
enum Deed {
    Place(u8, i64),
    Batch(Vec<u8>, bool, bool),
    Again(u8, i64),
    Confirm(u8),
    Cancel(u8),
    Migrate(u8),
    Patch(u8, i64),
    Remove(u8),
    Wait(i64),
    PutWhole,
    Restart,
}

fn deed() -> impl Strategy<Value = Deed> {
    let vm = 0..5_u8;
    prop_oneof![
        4 => (vm.clone(), 1..6_i64).prop_map(|(vm, gib)| Deed::Place(vm, gib)),
        2 => (prop::collection::btree_set(vm.clone(), 1..4), any::<bool>(), any::<bool>())
            .prop_map(|(vms, all, anew)| Deed::Batch(vms.into_iter().collect(), all, anew)),
        2 => (vm.clone(), 1..6_i64).prop_map(|(vm, gib)| Deed::Again(vm, gib)),
        3 => vm.clone().prop_map(Deed::Confirm),
        1 => vm.clone().prop_map(Deed::Cancel),
        1 => vm.clone().prop_map(Deed::Migrate),
        1 => (vm.clone(), 1..4_i64).prop_map(|(vm, gib)| Deed::Patch(vm, gib)),
        1 => vm.prop_map(Deed::Remove),
        1 => (1..200_i64).prop_map(Deed::Wait),
        1 => Just(Deed::PutWhole),
        1 => Just(Deed::Restart),
    ]
}

fn tenant_of(vm: u8) -> &'static str {
    ["t", "u", "t", "", "t"][usize::from(vm)]
}

fn member(vm: u8, gib: i64) -> Vm {
    let member = Vm::new(format!("v{vm}")).with("memory", gib << 30);
    match tenant_of(vm) {
        "" => member,
        tenant => member.with("tenant", tenant),
    }
}

/// Do it; what cannot be done is not done.
fn done(cluster: &Cluster, clock: &AtomicI64, deed: &Deed) {
    let id = |vm: u8| format!("v{vm}");
    let change = |changes: Value| {
        let changes = InventoryChanges::read(&changes.to_string(), "c.json", &cluster.schema());
        let changes = changes.unwrap();
        let _ = cluster.turn(move |state| state.change(changes)).wait();
    };
    let now = clock.load(Ordering::Relaxed);
    let asks = |members, again| Request {
        members,
        now,
        again,
        ..Request::default()
    };
    match deed.clone() {
        Deed::Place(vm, gib) => {
            let request = asks(vec![member(vm, gib)], false);
            let _ = cluster.turn(move |state| state.place(request, None)).wait();
        }
        Deed::Again(vm, gib) => {
            let request = asks(vec![member(vm, gib)], true);
            let _ = cluster.turn(move |state| state.place(request, None)).wait();
        }
        Deed::Batch(vms, all_or_nothing, from_nothing) => {
            let batch = Batch {
                members: vms.into_iter().map(|vm| member(vm, 3)).collect(),
                now,
                all_or_nothing,
                from_nothing,
                ..Batch::default()
            };
            let _ = cluster
                .turn(move |state| state.place_batch(anew(batch), None))
                .wait();
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
            let request = asks(vec![Vm::new(id(vm))], false);
            let _ = cluster
                .turn(move |state| state.migrate(request, None))
                .wait();
        }
        Deed::Patch(vm, gib) => change(json!({
            "missing": "ignore", "vms": [{"id": id(vm), "memory": gib << 30, "tenant": "u"}],
        })),
        Deed::Remove(vm) => change(json!({"missing": "ignore", "gone": {"vms": [id(vm)]}})),
        Deed::Wait(seconds) => {
            clock.fetch_add(seconds, Ordering::Relaxed);
            cluster.turn(|state| Ok(state.advance())).wait().unwrap();
        }
        Deed::PutWhole => {
            let document = cluster.turn(|state| Ok(state.document())).wait().unwrap();
            let text = serde_json::to_string(&document).unwrap();
            let name = cluster.name().to_string();
            let again = ClusterDocument::read_as(&text, "body.json", &name).unwrap();
            cluster
                .turn(move |state| replace(state, again))
                .wait()
                .unwrap();
        }
        Deed::Restart => {}
    }
}

/// What each tenant holds in a cluster, counted anew over all VMs.
fn recounted(cluster: &Cluster) -> BTreeMap<Arc<str>, Holding> {
    let counted = cluster.turn(|state| {
        let inventory = state.inventory();
        let mut memory: BTreeMap<(Arc<str>, Arc<str>), (i64, i64)> = BTreeMap::new();
        for entry in inventory
            .hosts()
            .flat_map(|(_, host)| inventory.vms_of(host))
        {
            if let Some(tenant) = entry.vm.facts.text("tenant") {
                let key = (tenant.into(), entry.vm.id.clone());
                let known = memory.entry(key).or_default();
                *known = (
                    known.0.max(entry.shape.cpu),
                    known.1.max(entry.shape.memory),
                );
            }
        }
        let mut sums: BTreeMap<Arc<str>, Holding> = BTreeMap::new();
        for ((tenant, _), (cpu, memory)) in memory {
            let sum = sums.entry(tenant).or_default();
            *sum = sum.plus(Holding {
                cpu: cpu.into(),
                memory: memory.into(),
                gpus: 0,
                vms: 1,
            });
        }
        Ok(sums)
    });
    counted.wait().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_ledger_says_what_a_count_of_all_vms_says_and_no_decision_exceeds_a_quota(
        deeds in prop::collection::vec((deed(), 0..2_usize), 1..30)
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (mut world, mut both) = clusters(folder.path());
        world.put("t", None, json!({"memory": "12 GiB"}));
        let mut more = BTreeSet::new();
        for name in ["c", "d"] {
            let of_u = Quota { tenant: "u".into(), ..quota(Some(name), json!({"vms": 1000})) };
            let of_t = quota(Some(name), json!({"vms": 1000}));
            for (tenant, quota) in [("u", of_u), ("t", of_t)] {
                let record = format!("{tenant}-{name}");
                world.deployment.put_quota(&record, quota, None, "root").unwrap();
                more.insert((record, tenant, name));
            }
        }
        for (deed, at) in &deeds {
            let before = world.deployment.quota("t").unwrap().1.memory;
            match deed {
                Deed::Restart => {
                    world.deployment.stop();
                    let time = world.clock.load(Ordering::Relaxed);
                    drop((both, world));
                    world = start(folder.path(), &UNITS);
                    world.clock.store(time, Ordering::Relaxed);
                    both = ["c", "d"].map(|name| world.deployment.cluster(name).unwrap());
                    // Time goes on with the next turn.
                    for cluster in &both {
                        cluster.turn(|state| Ok(state.advance())).wait().unwrap();
                    }
                }
                deed => done(&both[*at], &world.clock, deed),
            }
            let held = both.each_ref().map(|cluster| recounted(cluster));
            for (record, tenant, name) in &more {
                let place = usize::from(*name == "d");
                let counted = held[place].get(*tenant).copied().unwrap_or_default();
                prop_assert_eq!(world.deployment.quota(record).unwrap().1, counted);
            }
            let all = held.iter().filter_map(|held| held.get("t"));
            let all = all.fold(Holding::NONE, |sum, held| sum.plus(*held));
            let ledger = world.deployment.quota("t").unwrap().1;
            prop_assert_eq!(ledger, all);
            // Somebody else says that a VM has another tenant; decisions do not exceed it.
            prop_assert!(ledger.memory <= before.max(12 << 30), "{} {:?}", ledger.memory, deed);
        }
        drop(both);
        world.deployment.stop();
    }
}
