use std::sync::Arc;

use super::*;
use placewright_document::{ClusterDocument, InventoryChanges};
use placewright_model::schema::Schema;
use placewright_model::{Host, Write};

fn bounded(inventory: u64, columns: u64) -> Inventory {
    let mut cluster = Inventory::new("c", Arc::new(Schema::default()));
    cluster.set_bounds(ClusterBounds { inventory, columns });
    cluster
}

fn change(inventory: &mut Inventory, text: &str) -> Result<(), InventoryError> {
    let changes = InventoryChanges::read(text, "c.json", inventory.schema()).unwrap();
    inventory.change(changes).map(drop)
}

fn collection(error: &InventoryError) -> Option<Collection> {
    match error {
        InventoryError::Full(full) => Some(full.collection),
        _ => None,
    }
}

/// Changes of every kind: what grows, what becomes less, and what goes.
const CHANGES: [&str; 9] = [
    r#"{"hosts": [{"id": "a", "cpu.cores": 8, "zone": "z"}, {"id": "b"}]}"#,
    r#"{"attributes": {"hosts": {"rack": "text"}, "vms": {"team": "text"}}}"#,
    r#"{"hosts": [{"id": "a", "attribute.rack": "a long name of a rack",
        "amounts": [{"name": "licences", "total": 5}, {"name": "ports", "total": 7}]}]}"#,
    r#"{"vms": [{"id": "v", "host": "a", "memory": 5, "attribute.team": "red"},
                {"id": "w", "host": "b", "pinned": ["a", "b"]}],
        "tenants": [{"id": "t", "bindings": [{"host": "b", "start": 1}]}]}"#,
    r#"{"groups": [{"id": "g", "vms": ["v", "w"], "rule": "negative"},
                   {"id": "h", "vms-of": ["g"], "rule": "positive"}]}"#,
    r#"{"hosts": [{"id": "a", "attribute.rack": null,
        "amounts": [{"name": "licences", "total": 5}]}],
        "vms": [{"id": "v", "host": "b", "attribute.team": null}]}"#,
    r#"{"statistics": [{"id": "a", "cpu.usage": 0.5}], "gone": {"vms": ["w"]}}"#,
    r#"{"groups": [{"id": "g", "vms": ["v", "w", "x"]}], "gone": {"tenants": ["t"]}}"#,
    r#"{"hosts": [{"id": "a", "amounts": null}], "gone": {"hosts": ["a"], "groups": ["h"]}}"#,
];

#[test]
fn bytes_are_those_of_what_is_there_after_every_change_and_every_way_back() {
    let mut inventory = bounded(u64::MAX, u64::MAX);
    let mut before = vec![(inventory.version(), inventory.bytes())];
    for text in CHANGES {
        change(&mut inventory, text).unwrap();
        assert_eq!(inventory.bytes, inventory.recounted(), "{text}");
        before.push((inventory.version(), inventory.bytes()));
    }
    let vm = Arc::new(Vm::new("p").with("memory", 3));
    inventory.reserve_vm(vm, "b", Some(900)).unwrap();
    inventory
        .apply(&[Write::reserve("p", "memory", 5)])
        .unwrap();
    inventory.confirm_vm("p").unwrap();
    assert_eq!(inventory.bytes, inventory.recounted());
    for (version, bytes) in before.into_iter().rev() {
        assert!(inventory.take_back(version));
        assert_eq!(inventory.bytes(), bytes, "at version {version}");
        assert_eq!(inventory.bytes, inventory.recounted());
    }
    assert_eq!(inventory.bytes(), 0);
}

#[test]
fn a_document_larger_than_the_inventory_may_be_is_refused() {
    let text = r#"{"name": "c", "hosts": [{"id": "a"}, {"id": "b"}]}"#;
    let document = || ClusterDocument::read(text, "c.json").unwrap();
    let bounds = ClusterBounds {
        inventory: 2 * HOST,
        ..ClusterBounds::default()
    };
    let refused = Inventory::of_document_within(document(), 0, bounds).unwrap_err();
    assert_eq!(collection(&refused), Some(Collection::Inventory));
    Inventory::of_document_within(document(), 0, ClusterBounds::default()).unwrap();
}

#[test]
fn attributes_times_hosts_are_refused_before_any_column_is_made() {
    let built_in = Schema::built_in().table("hosts").unwrap().columns.len();
    let mut inventory = bounded(u64::MAX, of_cells(100, built_in + 10));
    let hosts = |from: usize, to: usize| {
        let hosts: Vec<_> = (from..to)
            .map(|it| format!(r#"{{"id": "h{it}"}}"#))
            .collect();
        format!(r#"{{"hosts": [{}]}}"#, hosts.join(","))
    };
    let attributes = |from: usize, to: usize| {
        let names: Vec<_> = (from..to)
            .map(|it| format!(r#""a{it}": "integer""#))
            .collect();
        format!(r#"{{"attributes": {{"hosts": {{{}}}}}}}"#, names.join(","))
    };
    change(&mut inventory, &hosts(0, 90)).unwrap();
    let schema = inventory.schema().clone();
    let refused = change(&mut inventory, &attributes(0, 40)).unwrap_err();
    assert_eq!(collection(&refused), Some(Collection::Columns));
    assert!(refused.to_string().contains("attribute"), "{refused}");
    assert_eq!(*inventory.schema(), schema);
    assert_eq!(inventory.columns.len(), built_in);
    // So many fit, and then no more than ten hosts.
    change(&mut inventory, &attributes(0, 10)).unwrap();
    change(&mut inventory, &hosts(90, 100)).unwrap();
    let refused = change(&mut inventory, &hosts(100, 101)).unwrap_err();
    assert_eq!(collection(&refused), Some(Collection::Columns));
    assert_eq!(inventory.host_count(), 100);
    change(&mut inventory, r#"{"gone": {"hosts": ["h99"]}}"#).unwrap();
    change(&mut inventory, &hosts(100, 101)).unwrap();
}

#[test]
fn rows_of_tables_that_units_read_are_columns_too() {
    let mut inventory = bounded(u64::MAX, u64::MAX);
    inventory.add_host(Host::new("a")).unwrap();
    inventory.ensure_nested("amounts").unwrap();
    let columns = inventory.column_bytes() + inventory.nested[0].bytes_of(3);
    inventory.set_bounds(ClusterBounds {
        columns,
        ..ClusterBounds::NONE
    });
    let rows = |count: usize| {
        let row = |it: usize| Facts::new().with("name", format!("n{it}").as_str());
        (0..count).map(row).collect::<Vec<_>>()
    };
    let refused = inventory
        .set_host_rows("a", "amounts", rows(4))
        .unwrap_err();
    assert_eq!(collection(&refused), Some(Collection::Columns));
    inventory.set_host_rows("a", "amounts", rows(3)).unwrap();
    inventory.set_host_rows("a", "amounts", rows(1)).unwrap();
}

#[test]
fn a_group_with_the_members_of_others_is_as_large_as_they_are() {
    let mut inventory = bounded(1 << 20, u64::MAX);
    let vms: Vec<_> = (0..1000).map(|it| format!(r#""v{it}""#)).collect();
    let text = format!(
        r#"{{"groups": [{{"id": "all", "vms": [{}], "rule": "negative"}}]}}"#,
        vms.join(",")
    );
    change(&mut inventory, &text).unwrap();
    let short: Vec<_> = (0..100)
        .map(|it| format!(r#"{{"id": "g{it}", "vms-of": ["all"], "rule": "negative"}}"#))
        .collect();
    let text = format!(r#"{{"groups": [{}]}}"#, short.join(","));
    let before = inventory.bytes();
    let refused = change(&mut inventory, &text).unwrap_err();
    assert_eq!(collection(&refused), Some(Collection::Inventory));
    assert_eq!((inventory.bytes(), inventory.group_count()), (before, 1));
    // And if the others are there before.
    let mut inventory = bounded(1 << 20, u64::MAX);
    change(&mut inventory, &text).unwrap();
    let group = format!(
        r#"{{"groups": [{{"id": "all", "vms": [{}], "rule": "negative"}}]}}"#,
        vms.join(",")
    );
    let refused = change(&mut inventory, &group).unwrap_err();
    assert_eq!(collection(&refused), Some(Collection::Inventory));
}

#[test]
fn the_journal_is_bounded_in_bytes() {
    let mut schema = Schema::default();
    let text = placewright_model::Kind::Text;
    schema
        .define_attribute("hosts", "note", text, None, "")
        .unwrap();
    let mut inventory = Inventory::new("c", Arc::new(schema));
    inventory.add_host(Host::new("a")).unwrap();
    let bound = Collection::Journal.bound();
    let long = "x".repeat(1 << 20);
    for round in 0..2 * (bound >> 20) {
        let value = Some(format!("{round}{long}").as_str().into());
        inventory
            .set_host_value("a", "attribute.note", value)
            .unwrap();
        assert!(inventory.journal_bytes() <= bound);
        inventory.drop_unused_texts();
    }
    assert!(inventory.journal_bytes() > bound / 2);
    // What is left leads back as far as it goes.
    assert!(inventory.take_back(inventory.oldest_version()));
    assert_eq!(inventory.journal_bytes(), 0);
}
