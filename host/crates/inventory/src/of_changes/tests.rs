use super::super::entry::{EntryKind, EntryOutcome, EntryResult};
use super::super::refused::RefusedEntry;
use super::*;
use crate::{Terms, VmEntry};
use placewright_model::GroupRule;
use placewright_model::schema::Schema;

fn changes(text: &str) -> InventoryChanges {
    InventoryChanges::read(text, "changes.json", &Schema::default()).unwrap()
}

fn cluster() -> Inventory {
    let mut inventory = Inventory::new("c", Arc::new(Schema::default()));
    let text = r#"{"hosts": [{"id": "a", "memory.total": 1024}, {"id": "b"}],
        "vms": [{"id": "v", "host": "a", "memory": 7, "cpu": "500m"}]}"#;
    inventory.change(changes(text)).unwrap();
    inventory
}

#[test]
fn what_is_not_given_of_a_known_vm_stays() {
    let mut inventory = cluster();
    let text = r#"{"vms": [{"id": "v", "memory": 9}]}"#;
    inventory.change(changes(text)).unwrap();
    let entry = inventory.running("v").unwrap();
    assert_eq!(entry.vm.facts.integer("memory"), Some(9));
    assert_eq!(entry.vm.facts.integer("cpu"), Some(500));
    assert_eq!(entry.slot, inventory.slot("a").unwrap());
}

#[test]
fn rows_of_a_stay_are_of_where_a_vm_runs_or_of_its_only_place() {
    let mut inventory = Inventory::new("c", Arc::new(Schema::default()));
    let text = r#"{"hosts": [{"id": "a", "gpus": [{"index": 0}, {"index": 1}]},
            {"id": "b", "gpus": [{"index": 0}, {"index": 1}]}],
        "vms": [{"id": "v", "host": "a", "gpu.count": 1, "gpus": [{"index": 0, "share": 1000}]}]}"#;
    inventory.change(changes(text)).unwrap();
    let reserve = |inventory: &mut Inventory, vm: Vm| {
        let entity = Entity::Placement(vm.id.clone());
        inventory.reserve_vm(Arc::new(vm), "b", None).unwrap();
        let gpu = Facts::new().with("index", 1_i64).with("share", 1000_i64);
        let write = Write::row(entity, "gpus", RowChange::Append(gpu));
        inventory.apply(&[write]).unwrap();
    };
    let moved = (*inventory.running("v").unwrap().vm).clone();
    reserve(&mut inventory, moved);
    reserve(&mut inventory, Vm::new("new").with("gpu.count", 1_i64));
    let gpus = |entry: Option<&VmEntry>| -> Vec<_> {
        let rows = entry.unwrap().placed_rows("gpus").iter();
        rows.map(|row| row.integer("index").unwrap()).collect()
    };
    for (text, index) in [(r#"{"name": "web"}"#, 0), ("{}", 0), ("{}", 1)] {
        let mut vm: serde_json::Value = serde_json::from_str(text).unwrap();
        vm["id"] = "v".into();
        vm["gpus"] = serde_json::json!([{"index": index, "share": 1000}]);
        let document = serde_json::json!({ "vms": [vm] });
        inventory.change(changes(&document.to_string())).unwrap();
        assert_eq!(gpus(inventory.running("v")), [index]);
        assert_eq!(gpus(inventory.pending("v")), [1]);
    }
    // What does not run has but the place that is reserved.
    let text = r#"{"vms": [{"id": "new", "gpus": [{"index": 0, "share": 1000}]}]}"#;
    inventory.change(changes(text)).unwrap();
    assert_eq!(gpus(inventory.pending("new")), [0]);
}

#[test]
fn what_a_vm_is_to_grow_to_stays_when_it_is_changed_where_it_runs() {
    let mut inventory = cluster();
    let grown = Vm::new("v").with("memory", 7_i64).with("cpu", 3000_i64);
    let terms = Terms::default();
    inventory.reserve_in_place(Arc::new(grown), terms).unwrap();
    let text = r#"{"vms": [{"id": "v", "cpu": 2, "memory": 8}]}"#;
    inventory.change(changes(text)).unwrap();
    let of = |entry: Option<&VmEntry>| {
        let facts = &entry.unwrap().vm.facts;
        ["cpu", "memory"].map(|column| facts.integer(column).unwrap())
    };
    assert_eq!(of(inventory.running("v")), [2000, 8]);
    assert_eq!(of(inventory.pending("v")), [3000, 8]);
}

#[test]
fn a_host_can_be_emptied_and_taken_out_in_one_document() {
    let mut inventory = cluster();
    let text = r#"{"vms": [{"id": "v", "host": "b"}], "gone": {"hosts": ["a"]}}"#;
    inventory.change(changes(text)).unwrap();
    assert!(inventory.slot("a").is_none());
    assert_eq!(
        inventory.running("v").unwrap().vm.facts.integer("cpu"),
        Some(500)
    );
}

#[test]
fn a_document_that_does_not_fit_changes_nothing() {
    let mut inventory = cluster();
    let before = inventory.version();
    for text in [
        r#"{"hosts": [{"id": "new"}], "gone": {"vms": ["nobody"]}}"#,
        r#"{"hosts": [{"id": "new"}], "gone": {"hosts": ["a"]}}"#,
        r#"{"hosts": [{"id": "new"}], "vms": [{"id": "v", "host": "nowhere"}]}"#,
        r#"{"hosts": [{"id": "new"}], "vms": [{"id": "w"}]}"#,
        r#"{"hosts": [{"id": "new"}], "statistics": [{"id": "nowhere", "cpu.usage": 0.5}]}"#,
    ] {
        assert!(inventory.change(changes(text)).is_err(), "{text}");
        assert_eq!(inventory.version(), before, "{text}");
        assert!(inventory.slot("new").is_none(), "{text}");
    }
}

fn shown(list: &[EntryResult]) -> Vec<(EntryKind, &str, EntryOutcome)> {
    let list = list.iter();
    list.map(|it| (it.kind, &*it.id, it.result)).collect()
}

#[test]
fn of_groups_and_tenants_only_what_is_given_changes() {
    let mut inventory = cluster();
    let text = r#"{"groups": [{"id": "g", "vms": ["v", "w"], "hosts": ["a"], "rule": "negative", "hard": true}],
        "attributes": {"tenants": {"tier": "text"}},
        "tenants": [{"id": "t", "attribute.tier": "gold", "bindings": [{"host": "a", "start": 1}]}]}"#;
    inventory.change(changes(text)).unwrap();
    let text = r#"{"groups": [{"id": "g", "remove-vms": ["w"], "add-vms": ["x"], "add-hosts": ["b"]}],
        "attributes": {"tenants": {"tier": "text"}},
        "tenants": [{"id": "t", "attribute.tier": null}]}"#;
    inventory.change(changes(text)).unwrap();
    let group = &inventory.group("g").unwrap().group;
    let names = |list: &[Arc<str>]| list.iter().map(|it| it.to_string()).collect::<Vec<_>>();
    assert_eq!(names(&group.vms), ["v", "x"]);
    assert_eq!(names(&group.hosts), ["a", "b"]);
    assert_eq!(group.vm_rule, Some(GroupRule::Negative { hard: true }));
    let tenant = inventory.tenant("t").unwrap();
    let tier = tenant.get("attribute.tier");
    assert_eq!((tier, tenant.rows("bindings").len()), (None, 1));
    let text = r#"{"groups": [{"id": "new", "hard": true}]}"#;
    let error = inventory.change(changes(text)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "groups[0] \"new\": group \"new\" has no rule that \"hard\" could be about; give the rule with it"
    );
}

#[test]
fn null_takes_a_value_away_and_what_follows_from_it_is_as_if_it_was_never_given() {
    let mut inventory = cluster();
    let text = r#"{"hosts": [{"id": "a", "cpu.cores": 4, "cpu.overcommit": 2, "state": "down",
        "cpu.usage": 0.5, "networks": [{"name": "n"}]}]}"#;
    inventory.change(changes(text)).unwrap();
    let text = r#"{"hosts": [{"id": "a", "memory": null, "cpu": null, "state": null, "networks": null}],
        "vms": [{"id": "v", "memory": null}]}"#;
    inventory.change(changes(text)).unwrap();
    let (a, mut fresh) = (inventory.slot("a").unwrap(), cluster());
    fresh
        .change(changes(r#"{"hosts": [{"id": "fresh"}]}"#))
        .unwrap();
    let other = fresh.slot("fresh").unwrap();
    for column in [
        "memory.total",
        "cpu.cores",
        "cpu.total",
        "cpu.overcommit",
        "cpu.usage",
        "state",
    ] {
        let fresh = fresh.host_value(other, column);
        assert_eq!(inventory.host_value(a, column), fresh, "{column}");
    }
    assert!(inventory.host(a).unwrap().facts.rows("networks").is_empty());
    assert_eq!(inventory.running("v").unwrap().vm.facts.get("memory"), None);
    assert_eq!(inventory.host_value(a, "memory.committed"), Some(0.into()));
}

#[test]
fn rows_of_a_stay_are_replaced_and_taken_away() {
    let mut inventory = cluster();
    let gpus = |list: &str| changes(&format!(r#"{{"vms": [{{"id": "v", "gpus": {list}}}]}}"#));
    let known = |inventory: &Inventory| {
        let entry = inventory.running("v").unwrap();
        let rows = entry.placed_rows("gpus").iter();
        rows.filter_map(|row| row.integer("index"))
            .collect::<Vec<_>>()
    };
    let two = r#"[{"index": 0, "share": 500}, {"index": 1, "share": 500}]"#;
    inventory.change(gpus(two)).unwrap();
    inventory
        .change(gpus(r#"[{"index": 2, "share": 500}]"#))
        .unwrap();
    assert_eq!(known(&inventory), [2]);
    inventory.change(gpus("null")).unwrap();
    assert_eq!(known(&inventory), Vec::<i64>::new());
}

#[test]
fn entries_about_what_is_not_there_can_be_passed_over() {
    let mut inventory = cluster();
    let text = r#"{"missing": "ignore",
        "hosts": [{"id": "b", "memory.total": 7}],
        "vms": [{"id": "v", "memory": 9}, {"id": "nobody", "memory": 9}],
        "statistics": [{"id": "a", "cpu.usage": 0.5}, {"id": "nowhere", "cpu.usage": 0.5}],
        "gone": {"vms": ["nobody"], "hosts": ["nowhere"], "groups": ["none"]}}"#;
    let results = inventory.change(changes(text)).unwrap();
    assert_eq!(
        shown(&results),
        [
            (EntryKind::GoneVm, "nobody", EntryOutcome::Missing),
            (EntryKind::GoneGroup, "none", EntryOutcome::Missing),
            (EntryKind::Host, "b", EntryOutcome::Applied),
            (EntryKind::Vm, "v", EntryOutcome::Applied),
            (EntryKind::Vm, "nobody", EntryOutcome::Missing),
            (EntryKind::GoneHost, "nowhere", EntryOutcome::Missing),
            (EntryKind::Statistics, "a", EntryOutcome::Applied),
            (EntryKind::Statistics, "nowhere", EntryOutcome::Missing),
        ]
    );
    let a = inventory.slot("a").unwrap();
    assert_eq!(inventory.host_value(a, "cpu.usage"), Some(0.5.into()));
    // What is there and does not go together is refused all the same.
    for text in [
        r#"{"missing": "ignore", "gone": {"hosts": ["a"]}}"#,
        r#"{"missing": "ignore", "vms": [{"id": "v", "host": "nowhere"}]}"#,
    ] {
        assert!(inventory.change(changes(text)).is_err(), "{text}");
    }
}

#[test]
fn attributes_are_declared_once_and_not_by_a_change_that_is_refused() {
    let mut inventory = cluster();
    let before = inventory.version();
    let text = r#"{"attributes": {"hosts": {"rack": "text"}, "vms": {"tags": {"table": {"name": "text"}}}},
        "hosts": [{"id": "a", "attribute.rack": "r1"}], "gone": {"vms": ["nobody"]}}"#;
    assert!(inventory.change(changes(text)).is_err());
    assert!(
        inventory
            .schema()
            .column("hosts", "attribute.rack")
            .is_none()
    );
    let text = text.replace(r#", "gone": {"vms": ["nobody"]}"#, "");
    inventory.change(changes(&text)).unwrap();
    let a = inventory.slot("a").unwrap();
    assert_eq!(inventory.host_value(a, "attribute.rack"), Some("r1".into()));
    assert!(inventory.touched_since(before).unwrap().facts);
    let version = inventory.version();
    inventory.change(changes(&text)).unwrap();
    assert_eq!(inventory.version(), version, "nothing is new");
    let other = r#"{"attributes": {"hosts": {"rack": "integer"}}}"#;
    let error = inventory.change(changes(other)).unwrap_err();
    assert!(error.to_string().contains("\"rack\""), "{error}");
    let past = inventory.at_version(before).unwrap();
    assert!(past.schema().column("hosts", "attribute.rack").is_none());
}

#[test]
fn a_change_of_a_vm_that_is_to_move_leaves_the_place_that_is_reserved_for_it() {
    let mut inventory = cluster();
    let vm = inventory.running("v").unwrap().vm.clone();
    inventory.reserve_vm(vm, "b", Some(900)).unwrap();
    for text in [
        r#"{"vms": [{"id": "v", "memory": 9}]}"#,
        r#"{"vms": [{"id": "v", "memory": 9, "host": "a"}]}"#,
    ] {
        inventory.change(changes(text)).unwrap();
        let pending = inventory.pending("v").unwrap();
        assert_eq!(pending.expires, Some(900));
        assert_eq!(pending.vm.facts.integer("memory"), Some(9));
        assert_eq!(pending.slot, inventory.slot("b").unwrap());
        let a = inventory.slot("a").unwrap();
        assert_eq!(inventory.running("v").unwrap().slot, a);
    }
    let moved = r#"{"vms": [{"id": "v", "host": "b"}]}"#;
    inventory.change(changes(moved)).unwrap();
    assert!(inventory.pending("v").is_none());
}

#[test]
fn a_vm_that_has_only_a_place_reserved_is_changed_there() {
    let mut inventory = cluster();
    let vm = Arc::new(Vm::new("w").with("memory", 7));
    inventory.reserve_vm(vm, "b", Some(900)).unwrap();
    let text = r#"{"vms": [{"id": "w", "memory": 9, "pinned": ["b"]}]}"#;
    inventory.change(changes(text)).unwrap();
    let pending = inventory.pending("w").unwrap();
    assert_eq!(
        (pending.expires, pending.vm.facts.integer("memory")),
        (Some(900), Some(9))
    );
    assert!(inventory.running("w").is_none());
    let slot = inventory.slot("b").unwrap();
    let promised = inventory.host_value(slot, "memory.pending");
    assert_eq!(promised, Some(9.into()));
}

#[test]
fn a_tenant_that_is_gone_comes_back_with_what_was_known_when_the_change_is_taken_back() {
    let mut inventory = cluster();
    let text = r#"{"tenants": [{"id": "t", "bindings": [{"host": "a", "start": 1}]}]}"#;
    inventory.change(changes(text)).unwrap();
    let (before, known) = (inventory.version(), inventory.tenant("t").cloned());
    let gone = r#"{"missing": "ignore", "gone": {"tenants": ["t", "nobody"]}}"#;
    let results = inventory.change(changes(gone)).unwrap();
    assert_eq!(
        shown(&results),
        [
            (EntryKind::GoneTenant, "t", EntryOutcome::Applied),
            (EntryKind::GoneTenant, "nobody", EntryOutcome::Missing),
        ]
    );
    assert!(inventory.tenant("t").is_none());
    assert!(inventory.take_back(before));
    assert_eq!(inventory.tenant("t").cloned(), known);
}

#[test]
fn every_entry_of_a_list_that_does_not_fit_is_told_with_its_position_and_id() {
    let mut inventory = cluster();
    let text = r#"{"vms": [{"id": "v", "host": "nowhere"}, {"id": "x", "host": "a"}, {"id": "w"}],
        "groups": [{"id": "g", "hard": true}]}"#;
    let error = inventory.change(changes(text)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "vms[0] \"v\": there is no host \"nowhere\"; \
         vms[2] \"w\": VM \"w\" does not run and has no place reserved"
    );
    let one = error.of_one_entry();
    assert_eq!(one, InventoryError::UnknownHost("nowhere".into()));
    assert!(inventory.running("x").is_none(), "nothing is changed");
}

#[test]
fn of_many_entries_that_do_not_fit_the_first_are_told_and_the_others_counted() {
    let mut inventory = cluster();
    let gone: Vec<String> = (0..250).map(|number| format!("gone-{number}")).collect();
    let text = serde_json::json!({ "gone": { "vms": gone } }).to_string();
    let error = inventory.change(changes(&text)).unwrap_err();
    let sentence = error.to_string();
    assert!(
        sentence.starts_with("gone.vms[0] \"gone-0\": VM \"gone-0\" does not run"),
        "{sentence}"
    );
    assert!(sentence.ends_with("; and 245 more"), "{sentence}");
    let InventoryError::Entries(entries) = error else {
        panic!("{error}");
    };
    assert_eq!((entries.iter().count(), entries.more()), (100, 150));
    assert_eq!(entries.iter().last().unwrap().path(), "gone.vms[99]");
}

#[test]
fn what_an_entry_is_about_is_not_said_twice() {
    let (id, column) = ("a".into(), "cpu.committed".into());
    let told = RefusedEntry {
        kind: EntryKind::Host,
        position: 3,
        id: "a".into(),
        why: Box::new(InventoryError::NotGiven {
            entity: "host",
            id,
            column,
        }),
    };
    assert_eq!(
        told.to_string(),
        "hosts[3] \"a\": cpu.committed is worked out by the runtime and cannot be given"
    );
}

#[test]
fn what_is_given_as_it_is_changes_nothing() {
    let mut inventory = Inventory::new("c", Arc::new(Schema::default()));
    let text = r#"{"hosts": [{"id": "a"}, {"id": "b"}], "tenants": [{"id": "t"}],
        "vms": [{"id": "v", "host": "a", "memory": 7, "pinned": ["a"], "gpu.count": 1,
                 "gpus": [{"index": 0, "share": 1000}]}],
        "groups": [{"id": "g", "vms": ["v"], "rule": "positive"}]}"#;
    inventory.change(changes(text)).unwrap();
    inventory
        .reserve_vm(Arc::new(Vm::new("pending")), "b", None)
        .unwrap();
    let moved = inventory.running("v").unwrap().vm.clone();
    inventory.reserve_vm(moved, "b", None).unwrap();
    let before = inventory.version();
    for same in [
        text,
        r#"{"vms": [{"id": "v"}, {"id": "pending"}], "groups": [{"id": "g"}],
            "tenants": [{"id": "t"}], "hosts": [{"id": "a"}]}"#,
    ] {
        inventory.change(changes(same)).unwrap();
        assert_eq!(inventory.version(), before, "{same}");
    }
    for other in [
        r#"{"tenants": [{"id": "new"}]}"#,
        r#"{"groups": [{"id": "new"}]}"#,
        r#"{"groups": [{"id": "g", "add-vms": ["pending"]}]}"#,
        r#"{"vms": [{"id": "v", "memory": null}]}"#,
        r#"{"vms": [{"id": "v", "pinned": null}]}"#,
        r#"{"vms": [{"id": "v", "gpus": []}]}"#,
        r#"{"vms": [{"id": "v", "host": "b"}]}"#,
    ] {
        let before = inventory.version();
        inventory.change(changes(other)).unwrap();
        assert_ne!(inventory.version(), before, "{other}");
    }
}
