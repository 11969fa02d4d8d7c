use std::sync::Arc;

use super::*;
use placewright_document::InventoryChanges;
use placewright_model::{Group, GroupRule, Host, Vm};

const GIB: i64 = 1 << 30;

fn cluster() -> Inventory {
    let mut inventory = Inventory::new("test", Arc::new(Schema::default()));
    for id in ["h2", "h1", "h3"] {
        inventory
            .add_host(
                Host::new(id)
                    .with("cpu.cores", 8i64)
                    .with("memory.total", 64 * GIB),
            )
            .unwrap();
    }
    inventory
}

fn vm(id: &str, cores: i64) -> Vm {
    Vm::new(id).with("cores", cores).with("memory", cores * GIB)
}

fn integer(inventory: &Inventory, host: &str, column: &str) -> Option<i64> {
    match inventory.host_value(inventory.slot(host).unwrap(), column) {
        Some(Value::Integer(value)) => Some(value),
        _ => None,
    }
}

#[test]
fn sums_follow_every_change_of_a_vm() {
    let mut inventory = cluster();
    inventory
        .reserve_vm(Arc::new(vm("a", 4)), "h1", None)
        .unwrap();
    assert_eq!(integer(&inventory, "h1", "memory.pending"), Some(4 * GIB));
    assert_eq!(integer(&inventory, "h1", "vcpus.unmeasured"), Some(4));
    inventory.confirm_vm("a").unwrap();
    assert_eq!(integer(&inventory, "h1", "memory.pending"), Some(0));
    assert_eq!(integer(&inventory, "h1", "memory.committed"), Some(4 * GIB));
    inventory.run_vm(vm("b", 2), "h1").unwrap();
    assert_eq!(integer(&inventory, "h1", "vms.widest"), Some(4));
    let beside = |id: &str| inventory.widest_beside(inventory.slot("h1").unwrap(), id);
    assert_eq!(["a", "b", "another"].map(beside), [2, 4, 4]);
    inventory.remove_vm("a").unwrap();
    assert_eq!(integer(&inventory, "h1", "vms.widest"), Some(2));
    assert_eq!(integer(&inventory, "h1", "cpu.committed"), Some(2000));
    inventory
        .reserve_vm(Arc::new(vm("b", 2)), "h3", None)
        .unwrap();
    assert_eq!(integer(&inventory, "h1", "vms.migrating"), Some(1));
    assert_eq!(integer(&inventory, "h3", "vms.migrating"), Some(1));
    inventory.confirm_vm("b").unwrap();
    assert_eq!(integer(&inventory, "h1", "vms.count"), Some(0));
    assert_eq!(integer(&inventory, "h3", "vms.migrating"), Some(0));
}

fn promised(inventory: &Inventory, host: &str) -> [Option<i64>; 5] {
    [
        "memory.committed",
        "memory.pending",
        "cpu.committed",
        "cpu.pending",
        "vms.pending",
    ]
    .map(|column| integer(inventory, host, column))
}

/// A VM of 2 cores runs on h1 and has a growth to 6 reserved there.
fn growing() -> Inventory {
    let mut inventory = cluster();
    inventory.run_vm(vm("a", 2), "h1").unwrap();
    inventory
        .reserve_in_place(Arc::new(vm("a", 6)), Terms::default())
        .unwrap();
    let sums = [2 * GIB, 4 * GIB, 2000, 4000, 0].map(Some);
    assert_eq!(promised(&inventory, "h1"), sums);
    inventory
}

fn changed(inventory: &mut Inventory, text: &str) {
    let changes = InventoryChanges::read(text, "c.json", inventory.schema()).unwrap();
    inventory.change(changes).unwrap();
}

#[test]
fn a_change_that_is_taken_back_leaves_a_growth_as_it_was() {
    let mut inventory = growing();
    let before = promised(&inventory, "h1");
    let refused = inventory.all_or_nothing(|inventory| {
        inventory.remove_vm("a")?;
        inventory.remove_vm("nobody")
    });
    refused.unwrap_err();
    assert_eq!(promised(&inventory, "h1"), before);
    inventory.cancel_vm("a").unwrap();
    assert_eq!(
        promised(&inventory, "h1"),
        [2 * GIB, 0, 2000, 0, 0].map(Some)
    );
}

#[test]
fn what_is_told_of_a_vm_as_it_is_leaves_its_growth_as_it_was() {
    let mut inventory = growing();
    let before = promised(&inventory, "h1");
    let text = r#"{"vms": [{"id": "a", "host": "h1", "cores": 2, "memory": "2 GiB"}]}"#;
    changed(&mut inventory, text);
    assert_eq!(promised(&inventory, "h1"), before);
    // What is new holds for what is reserved, too, but for that in which it is to grow.
    changed(
        &mut inventory,
        r#"{"vms": [{"id": "a", "memory": "3 GiB", "tenant": "acme"}]}"#,
    );
    assert_eq!(
        promised(&inventory, "h1"),
        [3 * GIB, 3 * GIB, 2000, 4000, 0].map(Some)
    );
    let tenant = |entry: Option<&VmEntry>| entry.unwrap().vm.facts.text("tenant").is_some();
    assert!(tenant(inventory.running("a")) && tenant(inventory.pending("a")));
}

#[test]
fn a_vm_that_is_told_to_run_where_its_place_is_has_what_that_was_reserved_for() {
    let mut inventory = cluster();
    inventory.run_vm(vm("a", 2), "h1").unwrap();
    inventory
        .reserve_vm(Arc::new(vm("a", 6)), "h2", None)
        .unwrap();
    changed(&mut inventory, r#"{"vms": [{"id": "a", "host": "h2"}]}"#);
    let sums = [6 * GIB, 0, 6000, 0, 0].map(Some);
    assert_eq!(promised(&inventory, "h2"), sums);
}

#[test]
fn what_a_host_could_not_count_is_refused_and_changes_nothing() {
    let mut inventory = cluster();
    inventory.run_vm(vm("a", 2), "h1").unwrap();
    let before = promised(&inventory, "h1");
    let most = Vm::new("b").with("memory", placewright_model::GREATEST_INTEGER);
    let error = inventory.run_vm(most.clone(), "h1").unwrap_err();
    assert_eq!(
        error.to_string(),
        "VM \"b\" cannot be counted on host \"h1\": its VMs would take more than 2^53 - 1 of memory together"
    );
    inventory
        .reserve_vm(Arc::new(most), "h1", None)
        .unwrap_err();
    let wide = Vm::new("c")
        .with("sockets", 1_i64 << 40)
        .with("cores", 1_i64 << 40);
    inventory.run_vm(wide, "h1").unwrap_err();
    assert_eq!(promised(&inventory, "h1"), before);
}

#[test]
fn hosts_rank_by_the_bytes_of_their_ids() {
    let mut inventory = cluster();
    inventory.add_host(Host::new("h10")).unwrap();
    let mut ids: Vec<_> = inventory
        .hosts()
        .map(|(slot, host)| (inventory.ranks()[slot as usize], &*host.id))
        .collect();
    ids.sort();
    assert_eq!(ids, [(0, "h1"), (1, "h10"), (2, "h2"), (3, "h3")]);
}

#[test]
fn what_is_given_for_a_sum_is_added_to_it() {
    let mut inventory = cluster();
    inventory.run_vm(vm("a", 1), "h1").unwrap();
    inventory
        .set_host_value("h1", "memory.committed", Some(Value::Integer(2 * GIB)))
        .unwrap();
    assert_eq!(integer(&inventory, "h1", "memory.committed"), Some(3 * GIB));
    inventory.remove_vm("a").unwrap();
    assert_eq!(integer(&inventory, "h1", "memory.committed"), Some(2 * GIB));
}

#[test]
fn an_earlier_version_shows_what_was_then() {
    let mut inventory = cluster();
    inventory.set_watches(vec![HostWatch {
        name: "busy".into(),
        column: "cpu.usage".into(),
        at_least: Some(0.8),
        at_most: None,
    }]);
    inventory.run_vm(vm("a", 1), "h1").unwrap();
    inventory.advance(10);
    inventory
        .set_host_value("h1", "cpu.usage", Some(Value::Number(0.9)))
        .unwrap();
    let then = inventory.clone();
    inventory.advance(20);
    inventory
        .set_host_value("h1", "cpu.usage", Some(Value::Number(0.1)))
        .unwrap();
    inventory
        .reserve_vm(Arc::new(vm("b", 2)), "h2", Some(25))
        .unwrap();
    inventory.remove_vm("a").unwrap();
    inventory.add_host(Host::new("h0")).unwrap();
    inventory.advance(30);
    assert!(inventory.pending("b").is_none(), "the reservation expired");
    inventory.remove_host("h2").unwrap();
    inventory
        .set_group(Group {
            vms: vec!["a".into()],
            hosts: vec![],
            vm_rule: Some(GroupRule::Positive { hard: true }),
            host_rule: None,
            priority: 1.0,
            ..Group::new("g")
        })
        .unwrap();

    let past = inventory.at_version(then.version()).unwrap();
    assert_eq!(past.version(), then.version());
    assert_eq!(past.clock(), 10);
    assert_eq!(past.groups().count(), 0);
    for host in ["h1", "h2", "h3"] {
        let slot = then.slot(host).unwrap();
        assert_eq!(past.slot(host), Some(slot));
        assert_eq!(past.ranks()[slot as usize], then.ranks()[slot as usize]);
        for column in &Schema::built_in().table("hosts").unwrap().columns {
            assert_eq!(
                past.host_value(slot, &column.name),
                then.host_value(slot, &column.name),
                "{host} {}",
                column.name
            );
        }
    }
    assert_eq!(integer(&past, "h1", "watch.busy.since"), Some(10));
    assert_eq!(past.running("a").map(|a| a.slot), then.slot("h1"));
    assert!(inventory.at_version(inventory.version() + 1).is_none());
}

#[test]
fn a_refused_change_leaves_everything_as_it_was() {
    let mut inventory = cluster();
    let version = inventory.version();
    let mut far = vm("a", 1);
    far.pinning.location = vec![("h1".into(), i64::MIN)];
    let refusals = [
        inventory.add_host(Host::new("h1")).map(drop),
        inventory
            .add_host(Host::new("h9").with("memory.total", -1i64))
            .map(drop),
        inventory
            .add_host(Host::new("h9").with("memory.totl", 1i64))
            .map(drop),
        inventory
            .add_host(Host::new("h9").with("cpu.usage", f64::NAN))
            .map(drop),
        inventory
            .add_host(Host::new("h9").with("vms.widest", 1i64))
            .map(drop),
        inventory.run_vm(vm("a", 1), "h9"),
        inventory.run_vm(Vm::new("a").with("memory", "4 GiB"), "h1"),
        inventory.confirm_vm("a"),
        inventory.remove_vm("a"),
        inventory.take_in_member(&mut far),
    ];
    let sentences: Vec<String> = refusals
        .into_iter()
        .map(|refusal| refusal.unwrap_err().to_string())
        .collect();
    assert_eq!(
        sentences,
        [
            "host \"h1\" is in the inventory already",
            "host \"h9\": memory.total must be 0 or more",
            "host \"h9\": there is no column \"memory.totl\" in hosts",
            "host \"h9\": cpu.usage must be within ±(2^53 - 1) and not NaN or infinite",
            "host \"h9\": vms.widest is worked out by the runtime and cannot be given",
            "there is no host \"h9\"",
            "VM \"a\": memory is of kind integer, not text",
            "VM \"a\" does not run and has no place reserved",
            "VM \"a\" does not run and has no place reserved",
            "VM \"a\": score in location must be within ±(2^53 - 1) and not NaN or infinite",
        ]
    );
    assert_eq!(inventory.version(), version);
}

#[test]
fn without_an_overcommit_that_of_memory_is_one_and_that_of_cpu_is_for_the_policy_to_say() {
    let mut inventory = cluster();
    let one = Some(Value::Number(1.0));
    for (column, default) in [("cpu.overcommit", None), ("memory.overcommit", one)] {
        let value = |inventory: &Inventory| inventory.host_value(0, column);
        assert_eq!(value(&inventory), default);
        inventory
            .set_host_value("h2", column, Some(Value::Number(4.0)))
            .unwrap();
        assert_eq!(value(&inventory), Some(Value::Number(4.0)));
        inventory.set_host_value("h2", column, None).unwrap();
        assert_eq!(value(&inventory), default);
    }
}

#[test]
fn several_hosts_that_were_added_are_taken_back() {
    let inventory = cluster();
    let past = inventory.at_version(inventory.version() - 2).unwrap();
    let ids: Vec<_> = past.hosts().map(|(_, host)| &*host.id).collect();
    assert_eq!(ids, ["h2"]);
}

#[test]
fn a_vacated_vm_counts_nowhere_and_is_known_to_have_run() {
    let mut inventory = cluster();
    let start = inventory.version();
    let busy = vm("a", 4).with("cpu.usage", 0.5);
    inventory.run_vm(busy, "h1").unwrap();
    inventory
        .reserve_vm(Arc::new(vm("a", 4)), "h2", None)
        .unwrap();
    let (h1, h3) = (inventory.slot("h1"), inventory.slot("h3"));
    let version = inventory.version();
    let known = inventory.vacate("a").unwrap();
    assert_eq!(known.facts.number("cpu.usage"), Some(0.5));
    for host in ["h1", "h2"] {
        assert_eq!(integer(&inventory, host, "memory.committed"), Some(0));
        assert_eq!(integer(&inventory, host, "memory.pending"), Some(0));
        assert_eq!(integer(&inventory, host, "vms.migrating"), Some(0));
    }
    assert!(inventory.running("a").is_none() && inventory.pending("a").is_none());
    assert_eq!(inventory.runs_on("a"), h1);
    assert_eq!(
        inventory.vacate("a").unwrap_err(),
        InventoryError::UnknownVm("a".into())
    );

    // What was measured of it still holds.
    inventory.reserve_vm(known, "h3", None).unwrap();
    assert_eq!(integer(&inventory, "h3", "load.pending"), Some(2000));
    assert_eq!(inventory.runs_on("a"), h1);
    inventory.confirm_vm("a").unwrap();
    assert_eq!(inventory.runs_on("a"), h3);
    inventory.remove_vm("a").unwrap();
    assert_eq!(inventory.runs_on("a"), None);

    assert_eq!(
        inventory.at_version(version + 1).unwrap().runs_on("a"),
        None
    );
    let vacated = inventory.at_version(version + 3).unwrap();
    assert_eq!(vacated.runs_on("a"), h1);
    assert!(inventory.take_back(version));
    assert_eq!(inventory.running("a").map(|entry| entry.slot), h1);
    assert_eq!(integer(&inventory, "h1", "vms.migrating"), Some(1));
    assert!(inventory.take_back(start));
    assert_eq!(inventory.runs_on("a"), None);
}

#[test]
fn a_batch_counts_what_it_has_placed() {
    let mut inventory = cluster();
    let placed = |inventory: &Inventory| {
        ["h1", "h2", "h3"].map(|host| integer(inventory, host, "batch.placed"))
    };
    let (h1, h2) = (inventory.slot("h1").unwrap(), inventory.slot("h2").unwrap());
    let version = inventory.version();
    inventory.count_in_batch(h1, 2);
    inventory.count_in_batch(h2, 1);
    inventory.count_in_batch(h1, 1);
    inventory.count_in_batch(99, 1);
    assert_eq!(placed(&inventory), [Some(3), Some(1), Some(0)]);
    inventory.reset_batch();
    inventory.reset_batch();
    assert_eq!(placed(&inventory), [Some(0); 3]);
    let past = |version| placed(&inventory.at_version(version).unwrap());
    assert_eq!(past(version + 2), [Some(2), Some(1), Some(0)]);
    assert_eq!(past(version), [Some(0); 3]);
}

#[test]
fn groups_count_where_their_vms_are() {
    let mut inventory = cluster();
    inventory.run_vm(vm("a", 1), "h1").unwrap();
    inventory
        .set_group(Group {
            vms: vec!["a".into(), "b".into()],
            hosts: vec!["h3".into()],
            vm_rule: Some(GroupRule::Negative { hard: true }),
            host_rule: None,
            priority: 1.0,
            ..Group::new("g")
        })
        .unwrap();
    inventory
        .run_vm(vm("b", 1).with("migratable", false), "h1")
        .unwrap();
    let slot = inventory.slot("h1").unwrap();
    let group = inventory.groups_of("a").next().unwrap();
    assert_eq!(
        group.presence,
        [(
            slot,
            Presence {
                vms: 2,
                unmovable: 1
            }
        )]
    );
    inventory.remove_vm("b").unwrap();
    inventory.remove_vm("a").unwrap();
    assert!(inventory.groups_of("a").next().unwrap().presence.is_empty());
}

#[test]
fn noise_in_what_is_measured_is_no_change() {
    let mut inventory = Inventory::new("test", Arc::new(Schema::default()));
    inventory.add_host(Host::new("a")).unwrap();
    let mib = 1i64 << 20;
    let report = |inventory: &mut Inventory, usage: f64, free: i64| {
        let usage = Value::Number(usage);
        inventory.report_host("a", "cpu.usage", usage).unwrap();
        let free = Value::Integer(free);
        inventory.report_host("a", "memory.free", free).unwrap();
    };
    report(&mut inventory, 0.25, 100 * mib);
    let (version, seen) = (inventory.version(), inventory.changes().end());
    report(&mut inventory, 0.2505, 100 * mib + 4711);
    assert_eq!(inventory.version(), version);
    assert_eq!(inventory.changes().since(seen).unwrap().count(), 0);
    let usage = Some(Value::Number(0.25));
    assert_eq!(inventory.host_value(0, "cpu.usage"), usage);
    report(&mut inventory, 0.2505, 99 * mib);
    let changed: Vec<_> = inventory.changes().since(seen).unwrap().collect();
    let column = inventory.column_index("memory.free").unwrap();
    assert_eq!(changed, [(0, Aspects::column(column))]);
}

#[test]
fn vms_go_by_the_schemas_own_names_of_their_columns() {
    let mut inventory = cluster();
    let mut names = Vec::new();
    for id in ["a", "b"] {
        inventory.run_vm(vm(id, 1), "h1").unwrap();
        let entry = inventory.running(id).unwrap();
        names.extend(entry.vm.facts.values().map(|(name, _)| name.clone()));
    }
    let (of_a, of_b) = names.split_at(names.len() / 2);
    assert!(!of_a.is_empty());
    assert!(of_a.iter().zip(of_b).all(|(a, b)| Arc::ptr_eq(a, b)));
}

#[test]
fn a_group_has_the_members_of_others_as_they_come_and_go() {
    let mut inventory = Inventory::new("c", Arc::new(Schema::built_in().clone()));
    for host in ["h1", "h2"] {
        inventory.add_host(Host::new(host)).unwrap();
    }
    inventory.run_vm(Vm::new("a"), "h1").unwrap();
    inventory.run_vm(Vm::new("b"), "h2").unwrap();
    let group = |id: &str, vms: &[&str], hosts: &[&str]| Group {
        vms: vms.iter().map(|vm| Arc::from(*vm)).collect(),
        hosts: hosts.iter().map(|host| Arc::from(*host)).collect(),
        ..Group::new(id)
    };
    let using = Group {
        vms_of: vec!["label".into()],
        hosts_of: vec!["label".into()],
        ..group("g", &["a"], &[])
    };
    // The other one may come later.
    inventory.set_group(using.clone()).unwrap();
    let members = |inventory: &Inventory| {
        let entry = inventory.group("g").unwrap();
        assert_eq!(*entry.given(), using);
        let presence: i64 = entry.presence.iter().map(|(_, it)| it.vms).sum();
        (entry.group.vms.len(), entry.hosts.len(), presence)
    };
    assert_eq!(members(&inventory), (1, 0, 1));
    let before = inventory.version();
    inventory
        .set_group(group("label", &["a", "b"], &["h2"]))
        .unwrap();
    assert_eq!(members(&inventory), (2, 1, 2));
    let of_b: Vec<&str> = inventory.groups_of("b").map(|it| &*it.group.id).collect();
    assert_eq!(of_b, ["g", "label"]);
    let past = inventory.at_version(before).unwrap();
    assert_eq!(members(&past), (1, 0, 1));
    inventory.remove_vm("b").unwrap();
    assert_eq!(members(&inventory), (2, 1, 1));
    inventory.remove_group("label");
    assert_eq!(members(&inventory), (1, 0, 1));
    // One that has its own members, too, has them once.
    let own = Group {
        vms_of: vec!["own".into()],
        ..group("own", &["a"], &[])
    };
    inventory.set_group(own).unwrap();
    assert_eq!(inventory.group("own").unwrap().group.vms.len(), 1);
    inventory.remove_group("own");
    assert!(inventory.group("own").is_none());
}
