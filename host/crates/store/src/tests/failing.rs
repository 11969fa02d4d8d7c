//! A store that cannot write says so, and goes on when it can.

use std::sync::mpsc;

use super::*;

/// Let the file grow no further, as on a full disk.
fn fill(store: &Store) {
    let base = store.0.shared.base();
    let pages: i64 = base
        .pragma_query_value(None, "page_count", |row| row.get(0))
        .unwrap();
    let set = base.query_row(&format!("PRAGMA max_page_count = {pages}"), (), |_| Ok(()));
    set.unwrap();
}

fn make_room(store: &Store) {
    let base = store.0.shared.base();
    let set = base.query_row("PRAGMA max_page_count = 1000000", (), |_| Ok(()));
    set.unwrap();
}

#[test]
fn on_a_full_disk_every_submission_is_answered_and_what_fits_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    store.commit(vec![setting("small", "1")]).unwrap();
    fill(&store);
    let (send, outcomes) = mpsc::channel();
    let held = store.0.shared.base();
    for number in 0..9 {
        let large = "x".repeat(if number % 3 == 1 { 100_000 } else { 3 });
        let send = send.clone();
        store.submit(
            vec![
                setting("small", &number.to_string()),
                setting("large", &large),
            ],
            move |outcome| send.send((number, outcome)).unwrap(),
        );
    }
    drop((held, send));
    let outcomes: Vec<_> = outcomes.iter().collect();
    assert_eq!(outcomes.len(), 9);
    for (number, outcome) in outcomes {
        match outcome {
            Ok(()) => assert_ne!(number % 3, 1),
            Err(error) => {
                assert_eq!(number % 3, 1);
                assert!(matches!(error, StoreError::Full { .. }), "{error}");
            }
        }
    }
    assert_eq!(store.load().unwrap().settings["small"], "8");
}

#[test]
fn a_store_that_failed_says_what_to_do_and_works_again_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    fill(&store);
    let large = setting("large", &"x".repeat(100_000));
    let error = store.commit(vec![large.clone()]).unwrap_err();
    let health = store.health();
    assert_eq!(health, Health::Fails(error.to_string()));
    assert!(
        error.to_string().contains("free room on its disk"),
        "{error}"
    );
    make_room(&store);
    // Nothing is submitted: the store tries by itself.
    while store.health() != Health::Works {
        std::thread::yield_now();
    }
    store.commit(vec![large]).unwrap();
}

#[test]
fn a_commit_without_changes_does_not_show_that_a_failed_store_works() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    store.refuse_writes(true);
    let refused = store.commit(vec![setting("small", "1")]);
    assert!(refused.is_err());
    let _ = store.commit(Vec::new());
    assert!(matches!(store.health(), Health::Fails(_)));
    store.refuse_writes(false);
    store.commit(vec![setting("small", "1")]).unwrap();
    assert_eq!(store.health(), Health::Works);
}
