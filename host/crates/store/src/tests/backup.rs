//! Copies of a store that is written to.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::*;
use crate::{check, restore};

/// A cluster, and decisions as fast as they are stored; the copy is made among them.
#[test]
fn a_copy_is_of_one_moment_while_the_store_is_written_to() {
    let home = tempfile::tempdir().unwrap();
    let options = StoreOptions {
        decisions: 1_000_000,
        ..StoreOptions::default()
    };
    let store = Store::open(&home.path().join("data"), options).unwrap();
    store.commit(vec![put_cluster("c")]).unwrap();
    let (ends, written) = (AtomicBool::new(false), AtomicU64::new(0));
    let decision = |number: u64| Change::RecordDecision {
        cluster: "c".to_owned(),
        number,
        at: 7,
        body: format!(r#"{{"decision": {number}}}"#),
    };
    let (before, copied) = std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 1.. {
                store.commit(vec![decision(number)]).unwrap();
                written.store(number, Ordering::Release);
                if ends.load(Ordering::Acquire) {
                    return;
                }
            }
        });
        while written.load(Ordering::Acquire) < 200 {
            std::thread::yield_now();
        }
        let before = written.load(Ordering::Acquire);
        let backup = store.backup().unwrap();
        let copied = home.path().join("copy.db");
        let mut from = backup.into_file();
        std::io::copy(&mut from, &mut fs::File::create(&copied).unwrap()).unwrap();
        while written.load(Ordering::Acquire) < before + 100 {
            std::thread::yield_now();
        }
        ends.store(true, Ordering::Release);
        (before, copied)
    });
    let checked = check(&copied).unwrap();
    assert_eq!(checked.problems, [""; 0]);
    let other = home.path().join("other");
    assert_eq!(restore(&copied, &other, false).unwrap(), None);
    let restored = Store::open(&other, StoreOptions::default()).unwrap();
    let numbers: Vec<u64> = restored
        .decisions("c", None, 1_000_000)
        .unwrap()
        .iter()
        .map(|it| it.number)
        .collect();
    let newest = numbers[0];
    assert!(newest >= before, "what was committed before is in it");
    let all: Vec<u64> = (1..=newest).rev().collect();
    assert_eq!(numbers, all, "each of them, and none after");
    let left = fs::read_dir(home.path().join("data")).unwrap();
    let names = left.map(|it| it.unwrap().file_name().to_string_lossy().into_owned());
    assert!(
        !names
            .into_iter()
            .any(|it| it.starts_with("placewright-backup")),
        "nothing stays beside the store"
    );
}

#[test]
fn a_store_in_memory_can_be_copied_too() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::in_memory(StoreOptions::default()).unwrap();
    store.commit(vec![put_cluster("c")]).unwrap();
    let copied = home.path().join("copy.db");
    let mut from = store.backup().unwrap().into_file();
    std::io::copy(&mut from, &mut fs::File::create(&copied).unwrap()).unwrap();
    let checked = check(&copied).unwrap();
    let clusters = checked.rows.iter().find(|(table, _)| table == "clusters");
    assert_eq!(clusters.map(|(_, rows)| *rows), Some(1), "{checked:?}");
}

#[test]
fn a_store_is_replaced_only_if_that_is_wanted_and_is_kept_beside() {
    let home = tempfile::tempdir().unwrap();
    let (one, two) = (home.path().join("one"), home.path().join("two"));
    for (folder, cluster) in [(&one, "first"), (&two, "second")] {
        let store = Store::open(folder, StoreOptions::default()).unwrap();
        store.commit(vec![put_cluster(cluster)]).unwrap();
    }
    let names = |folder: &std::path::Path| {
        let store = Store::open(folder, StoreOptions::default()).unwrap();
        let clusters = store.load().unwrap().clusters;
        clusters.into_iter().map(|it| it.name).collect::<Vec<_>>()
    };
    let refused = restore(&one, &two, false).unwrap_err().to_string();
    assert!(refused.contains("there is a store already"), "{refused}");
    assert_eq!(names(&two), ["second"]);
    let kept = restore(&one, &two, true).unwrap().unwrap();
    assert_eq!(names(&two), ["first"]);
    let checked = check(&kept).unwrap();
    assert_eq!(checked.problems, [""; 0]);
    // And back.
    restore(&kept, &two, true).unwrap();
    assert_eq!(names(&two), ["second"]);
}

#[test]
fn a_folder_in_use_and_a_damaged_copy_are_refused_and_all_stays() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("data");
    let store = Store::open(&folder, StoreOptions::default()).unwrap();
    store.commit(vec![put_cluster("c")]).unwrap();
    let mut copied = Vec::new();
    let mut from = store.backup().unwrap().into_file();
    std::io::Read::read_to_end(&mut from, &mut copied).unwrap();
    let copy = home.path().join("copy.db");
    fs::write(&copy, &copied).unwrap();
    let refused = restore(&copy, &folder, true).unwrap_err();
    assert!(matches!(refused, StoreError::InUse { .. }), "{refused}");
    drop(store);
    // Cut off, overwritten in the middle, and no database at all.
    fs::write(&copy, &copied[..copied.len() / 2]).unwrap();
    assert!(restore(&copy, &folder, true).is_err());
    let mut torn = copied.clone();
    let middle = torn.len() / 2;
    torn[middle..middle + 4096].fill(0xa5);
    fs::write(&copy, &torn).unwrap();
    assert!(restore(&copy, &folder, true).is_err());
    fs::write(&copy, "hello").unwrap();
    assert!(restore(&copy, &folder, true).is_err());
    assert!(restore(&home.path().join("nothing.db"), &folder, true).is_err());
    let store = Store::open(&folder, StoreOptions::default()).unwrap();
    assert_eq!(store.load().unwrap().clusters.len(), 1);
}

#[test]
fn copies_that_a_killed_process_left_are_removed_with_the_next_start() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("placewright-backup-x.db"), "half").unwrap();
    let _store = Store::open(home.path(), StoreOptions::default()).unwrap();
    assert!(!home.path().join("placewright-backup-x.db").exists());
}
