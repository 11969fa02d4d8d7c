//! How clusters were when decisions were made.

use super::*;

fn known(store: &Store, number: u64) -> Vec<(String, String)> {
    match store.past("a", number).unwrap() {
        SavedPast::Known(then) => {
            let vms = then.inventory.vms.into_iter();
            vms.map(|vm| (vm.id, vm.body)).collect()
        }
        other => panic!("{number}: {other:?}"),
    }
}

fn remove_vm(id: &str) -> Change {
    Change::RemoveVm {
        cluster: "a".to_owned(),
        id: id.to_owned(),
        pending: true,
    }
}

#[test]
fn rows_are_shown_as_they_were_when_a_decision_was_made() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let put = |id: &str, body: &str| put_vm("a", id, body);
    store
        .commit(vec![put_cluster("a"), put("v", "0"), put("w", "0")])
        .unwrap();
    store.commit(vec![record("a", 1), put("x", "1")]).unwrap();
    store.commit(vec![put("v", "1"), put("v", "2")]).unwrap();
    store.commit(vec![record("a", 2)]).unwrap();
    store.commit(vec![remove_vm("v"), put("v", "3")]).unwrap();
    store.commit(vec![record("a", 3), remove_vm("v")]).unwrap();
    drop(store);
    let store = open(folder.path());
    let rows = |all: &[(&str, &str)]| -> Vec<(String, String)> {
        let all = all.iter();
        all.map(|(id, body)| (id.to_string(), body.to_string()))
            .collect()
    };
    assert_eq!(known(&store, 1), rows(&[("v", "0"), ("w", "0")]));
    assert_eq!(
        known(&store, 2),
        rows(&[("v", "2"), ("w", "0"), ("x", "1")])
    );
    assert_eq!(
        known(&store, 3),
        rows(&[("v", "3"), ("w", "0"), ("x", "1")])
    );
    let none = SavedPast::NoDecision { oldest: Some(1) };
    assert_eq!(store.past("a", 4).unwrap(), none);
}

#[test]
fn what_is_no_longer_known_says_from_which_decision_on_it_is() {
    let store = Store::in_memory(StoreOptions {
        decisions: 1000,
        ..small()
    })
    .unwrap();
    store.commit(vec![put_cluster("a")]).unwrap();
    let body = "x".repeat(100);
    for number in 1..=100 {
        let put = put_vm("a", "v", &format!("{body}{number}"));
        store.commit(vec![record("a", number), put]).unwrap();
    }
    let SavedPast::Gone { since, why } = store.past("a", 1).unwrap() else {
        panic!("4 KiB do not hold so much");
    };
    assert_eq!(why, Gone::Bytes);
    assert!((60..=80).contains(&since), "{since}");
    for number in since..=100 {
        let row = ("v".to_owned(), format!("{body}{}", number - 1));
        assert_eq!(known(&store, number), [row]);
    }
    assert_eq!(
        store.past("a", since - 1).unwrap(),
        SavedPast::Gone { since, why }
    );
}

#[test]
fn the_history_goes_with_the_decisions() {
    let store = Store::in_memory(small()).unwrap();
    store.commit(vec![put_cluster("a")]).unwrap();
    for number in 1..=100 {
        let put = put_vm("a", "v", &number.to_string());
        store.commit(vec![record("a", number), put]).unwrap();
    }
    let SavedPast::NoDecision { oldest } = store.past("a", 1).unwrap() else {
        panic!("32 are kept");
    };
    let oldest = oldest.unwrap();
    assert!(oldest <= 69, "{oldest}");
    assert_eq!(known(&store, oldest)[0].1, (oldest - 1).to_string());
    let rows: i64 = store
        .read(|base| base.query_row("SELECT count(*) FROM history", (), |row| row.get(0)))
        .unwrap();
    assert!(rows <= 34, "{rows}");
}

#[test]
fn a_row_that_is_put_as_it_is_costs_no_history() {
    let store = Store::in_memory(small()).unwrap();
    let rows = || vec![put_vm("a", "v", "{}"), put_cluster("a")];
    store
        .commit(vec![put_cluster("a"), record("a", 1)])
        .unwrap();
    store.commit(rows()).unwrap();
    store.commit(vec![record("a", 2)]).unwrap();
    store.commit(rows()).unwrap();
    let rows: i64 = store
        .read(|base| base.query_row("SELECT count(*) FROM history", (), |row| row.get(0)))
        .unwrap();
    assert_eq!(rows, 1, "that there was no VM at first");
}
