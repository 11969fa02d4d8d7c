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

/// A batch on a copy: decisions `first..=last`, each of which was made after `rows` of its
/// own had changed there.
fn copy(turns: &[(u64, Vec<Change>)]) -> Vec<Change> {
    let decided = turns.iter().map(|(number, _)| record("a", *number));
    let mut changes: Vec<Change> = decided.collect();
    changes.push(Change::RecordCopy {
        cluster: "a".to_owned(),
        last: turns.last().unwrap().0,
        turns: turns
            .iter()
            .map(|(decision, rows)| CopyTurn {
                decision: *decision,
                rows: rows.clone(),
            })
            .collect(),
    });
    changes
}

fn running(id: &str) -> Change {
    Change::PutVm {
        cluster: "a".to_owned(),
        id: id.to_owned(),
        pending: false,
        body: "runs".to_owned(),
    }
}

fn gone(id: &str) -> Change {
    Change::RemoveVm {
        cluster: "a".to_owned(),
        id: id.to_owned(),
        pending: false,
    }
}

#[test]
fn decisions_on_a_copy_are_shown_with_what_the_copy_differed_by() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let put = |id: &str, body: &str| put_vm("a", id, body);
    store
        .commit(vec![put_cluster("a"), put("v", "0"), running("r")])
        .unwrap();
    store.commit(vec![record("a", 1), put("v", "1")]).unwrap();
    let turns = [
        (2, vec![gone("r")]),
        (3, vec![put("w", "copy"), remove_vm("v")]),
        (4, vec![put("w", "copy again")]),
    ];
    store.commit(copy(&turns)).unwrap();
    // Then the rows themselves change, and another batch is tried.
    store.commit(vec![put("v", "2")]).unwrap();
    store.commit(copy(&[(5, vec![put("x", "other")])])).unwrap();
    store.commit(vec![record("a", 6), put("v", "3")]).unwrap();
    drop(store);
    let store = open(folder.path());
    let rows = |all: &[(&str, &str)]| -> Vec<(String, String)> {
        let all = all.iter();
        all.map(|(id, body)| (id.to_string(), body.to_string()))
            .collect()
    };
    let r = ("r", "runs");
    assert_eq!(known(&store, 1), rows(&[r, ("v", "0")]));
    assert_eq!(known(&store, 2), rows(&[("v", "1")]));
    assert_eq!(known(&store, 3), rows(&[("w", "copy")]));
    assert_eq!(known(&store, 4), rows(&[("w", "copy again")]));
    assert_eq!(known(&store, 5), rows(&[r, ("v", "2"), ("x", "other")]));
    assert_eq!(known(&store, 6), rows(&[r, ("v", "2")]));
    for (number, vacated) in [(1, 0), (2, 1), (4, 1), (5, 0)] {
        let SavedPast::Known(then) = store.past("a", number).unwrap() else {
            panic!("{number} is known");
        };
        assert_eq!(then.inventory.vacated.len(), vacated, "{number}");
    }
}

#[test]
fn copies_are_kept_within_the_bound_of_the_history_and_as_long_as_their_decisions() {
    let count = |store: &Store| -> i64 {
        let sql = "SELECT count(*) FROM copies";
        let count = |base: &Connection| base.query_row(sql, (), |row| row.get(0));
        store.read(count).unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(
        folder.path(),
        StoreOptions {
            decisions: 1000,
            ..small()
        },
    )
    .unwrap();
    store.commit(vec![put_cluster("a")]).unwrap();
    let body = "x".repeat(100);
    for batch in 0..50 {
        let first = batch * 2 + 1;
        let turn = |number| (number, vec![put_vm("a", "v", &format!("{body}{number}"))]);
        store.commit(copy(&[turn(first), turn(first + 1)])).unwrap();
        if batch == 25 {
            // What there is already counts after a restart too.
            drop(store);
            let options = StoreOptions {
                decisions: 1000,
                ..small()
            };
            store = Store::open(folder.path(), options).unwrap();
        }
    }
    let SavedPast::Gone { since, why } = store.past("a", 1).unwrap() else {
        panic!("4 KiB do not hold so much");
    };
    assert_eq!(why, Gone::Bytes);
    assert!((65..=80).contains(&since), "{since}");
    assert!(count(&store) <= 32, "{}", count(&store));
    for number in since..=100 {
        let row = ("v".to_owned(), format!("{body}{number}"));
        assert_eq!(known(&store, number), [row]);
    }

    let store = Store::in_memory(small()).unwrap();
    store.commit(vec![put_cluster("a")]).unwrap();
    store
        .commit(copy(&[(1, vec![put_vm("a", "v", "1")]), (2, Vec::new())]))
        .unwrap();
    for number in 3..=33 {
        store.commit(vec![record("a", number)]).unwrap();
    }
    assert_eq!(known(&store, 2), [("v".to_owned(), "1".to_owned())]);
    for number in 34..=80 {
        store.commit(vec![record("a", number)]).unwrap();
    }
    assert_eq!(count(&store), 0);
    store
        .commit(copy(&[(81, vec![put_vm("a", "v", "1")])]))
        .unwrap();
    assert_eq!(count(&store), 1);
    let remove = Change::RemoveCluster {
        cluster: "a".to_owned(),
    };
    store.commit(vec![remove]).unwrap();
    assert_eq!(count(&store), 0);
}
