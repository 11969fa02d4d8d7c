//! Submissions: together, in order, within bounds.

use std::sync::mpsc;

use super::*;

#[test]
fn a_submission_with_a_change_at_fault_leaves_nothing() {
    let store = Store::in_memory(small()).unwrap();
    store.commit(vec![put_cluster("a")]).unwrap();
    let error = store
        .commit(vec![
            put_vm("a", "web-1", "{}"),
            put_cluster("b"),
            record("missing", 1),
        ])
        .unwrap_err();
    assert!(error.refuses_change());
    assert_eq!(
        error.to_string(),
        "cluster \"missing\" is not in the store; put it before what belongs to it"
    );
    assert_eq!(store.inventory("a").unwrap().vms, []);
    assert_eq!(store.load().unwrap().clusters.len(), 1);
    // What was undone is not remembered either.
    let error = store.commit(vec![put_vm("b", "web-1", "{}")]).unwrap_err();
    assert!(matches!(error, StoreError::UnknownCluster(_)), "{error}");
    assert_eq!(store.health(), Health::Works);
}

#[test]
fn a_number_that_no_row_can_hold_is_refused() {
    let store = Store::in_memory(small()).unwrap();
    store.commit(vec![put_cluster("a")]).unwrap();
    let error = store.commit(vec![record("a", u64::MAX)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the number of a decision 18446744073709551615 is too large to be stored; the most is 9223372036854775807"
    );
    assert_eq!(store.decision("a", u64::MAX).unwrap(), None);
    let last = u64::try_from(i64::MAX).unwrap();
    let error = store.commit(vec![record("a", last)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the number of the next decision 9223372036854775808 is too large to be stored; the most is 9223372036854775807"
    );
    store.commit(vec![record("a", last - 1)]).unwrap();
}

#[test]
fn the_faults_of_one_submission_are_not_those_of_its_neighbours() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    store.commit(vec![put_cluster("a")]).unwrap();
    let (send, outcomes) = mpsc::channel();
    // While the base is held, all of them come into one transaction.
    let held = store.0.shared.base();
    for number in 0..30_u64 {
        let cluster = if number % 3 == 1 { "missing" } else { "a" };
        let changes = vec![
            put_vm("a", &format!("vm-{number}"), "{}"),
            record(cluster, number),
        ];
        let send = send.clone();
        store.submit(changes, move |outcome| {
            send.send((number, outcome.is_ok())).unwrap();
        });
    }
    drop(held);
    drop(send);
    let outcomes: Vec<(u64, bool)> = outcomes.iter().collect();
    let expected: Vec<(u64, bool)> = (0..30).map(|n| (n, n % 3 != 1)).collect();
    assert_eq!(outcomes, expected);
    assert_eq!(store.inventory("a").unwrap().vms.len(), 20);
    assert_eq!(store.decisions("a", None, 100).unwrap().len(), 20);
}

#[test]
fn what_was_submitted_is_written_when_the_last_handle_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let other = store.clone();
    for number in 0..1_000 {
        other.submit(vec![setting(&format!("{number:04}"), "1")], |_| {});
    }
    drop(store);
    drop(other);
    assert_eq!(open(folder.path()).load().unwrap().settings.len(), 1_000);
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with("-wal"))
        .collect();
    assert_eq!(left, [""; 0], "the log is folded into the file");
}

#[test]
fn later_submissions_win_over_earlier_ones() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for number in 0..500 {
        store.submit(vec![setting("last", &number.to_string())], |_| {});
    }
    store.commit(vec![]).unwrap();
    assert_eq!(store.load().unwrap().settings["last"], "499");
}

#[test]
fn a_callback_may_submit_but_not_wait_and_may_hold_the_last_handle() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let (send, received) = mpsc::channel();
    let inner = store.clone();
    store.submit(vec![setting("outer", "1")], move |_| {
        let waited = inner.commit(vec![setting("waited", "1")]);
        inner.submit(vec![setting("inner", "1")], move |outcome| {
            send.send(outcome.is_ok()).unwrap();
        });
        assert!(matches!(waited, Err(StoreError::WaitsForItself)));
    });
    drop(store);
    assert!(received.recv().unwrap());
}

#[test]
fn a_callback_that_panics_takes_nobody_with_it() {
    let store = Store::in_memory(small()).unwrap();
    store.submit(vec![setting("one", "1")], |_| panic!("as this test wants"));
    store.commit(vec![setting("two", "2")]).unwrap();
    assert_eq!(store.load().unwrap().settings.len(), 2);
}

#[test]
fn the_oldest_decisions_go_when_there_are_too_many() {
    let store = Store::in_memory(small()).unwrap();
    store
        .commit(vec![put_cluster("a"), put_cluster("b"), record("b", 1)])
        .unwrap();
    for number in 0..1_000 {
        store.commit(vec![record("a", number)]).unwrap();
        let kept = store.decisions("a", None, 1_000).unwrap();
        assert!(kept.len() <= 32 + 32 / 16, "{} are kept", kept.len());
        assert_eq!(kept[0].number, number);
        let least = kept.len().min(32);
        assert!(kept.len() == usize::try_from(number).unwrap() + 1 || least == 32);
    }
    assert_eq!(store.decisions("b", None, 10).unwrap().len(), 1);
    let page = store.decisions("a", Some(990), 3).unwrap();
    let numbers: Vec<u64> = page.iter().map(|decision| decision.number).collect();
    assert_eq!(numbers, [989, 988, 987]);
}

#[test]
fn a_smaller_bound_holds_after_the_next_decision() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut changes = vec![put_cluster("a")];
    changes.extend((0..32).map(|number| record("a", number)));
    store.commit(changes).unwrap();
    drop(store);
    let options = StoreOptions {
        decisions: 5,
        ..small()
    };
    let store = Store::open(folder.path(), options).unwrap();
    store.commit(vec![record("a", 32)]).unwrap();
    assert_eq!(store.decisions("a", None, 100).unwrap().len(), 5);
}

#[test]
fn records_of_decisions_are_bounded_in_bytes_and_the_last_one_stays() {
    let folder = tempfile::tempdir().unwrap();
    let options = || StoreOptions {
        decision_bytes: 10_000,
        ..small()
    };
    let store = Store::open(folder.path(), options()).unwrap();
    let large = |number: u64, length: usize| Change::RecordDecision {
        cluster: "a".to_owned(),
        number,
        at: 0,
        body: "x".repeat(length),
    };
    let kept = |store: &Store| {
        let kept = store.decisions("a", None, usize::MAX).unwrap();
        let numbers: Vec<u64> = kept.iter().map(|it| it.number).collect();
        (numbers, kept.iter().map(|it| it.body.len()).sum::<usize>())
    };
    store.commit(vec![put_cluster("a")]).unwrap();
    for number in 1..30 {
        store.commit(vec![large(number, 1000)]).unwrap();
        assert!(kept(&store).1 <= 10_000);
    }
    assert_eq!(kept(&store).0[..8], [29, 28, 27, 26, 25, 24, 23, 22]);
    drop(store);
    // What was there before counts.
    let store = Store::open(folder.path(), options()).unwrap();
    store.commit(vec![large(30, 5000)]).unwrap();
    assert!(kept(&store).1 <= 10_000);
    store.commit(vec![large(31, 50_000)]).unwrap();
    assert_eq!(kept(&store), (vec![31], 50_000));
}

#[test]
fn earlier_revisions_of_a_policy_are_bounded_in_bytes() {
    let store = Store::in_memory(StoreOptions {
        revisions: 100,
        revision_bytes: 10_000,
        ..small()
    });
    let store = store.unwrap();
    let put = |revision: u64, length: usize| Change::PutPolicy {
        name: "p".to_owned(),
        revision,
        at: 0,
        by: "somebody".to_owned(),
        body: "x".repeat(length),
    };
    for revision in 1..30 {
        store.commit(vec![put(revision, 3000)]).unwrap();
    }
    let kept = |store: &Store| {
        let kept = store.policy_history("p", None, (100, usize::MAX)).unwrap();
        kept.iter().map(|it| it.revision).collect::<Vec<_>>()
    };
    assert_eq!(kept(&store), [29, 28, 27, 26]);
    // The one in force stays, however large it is.
    store.commit(vec![put(30, 100_000)]).unwrap();
    assert_eq!(kept(&store), [30, 29, 28, 27]);
    store.commit(vec![put(31, 1)]).unwrap();
    assert_eq!(kept(&store), [31]);
}

#[test]
fn of_answers_the_newest_are_read_that_have_so_many_bytes() {
    let store = Store::in_memory(small()).unwrap();
    let answer = |at: i64| Change::Idempotency {
        cluster: "a".to_owned(),
        key: format!("k{at}"),
        at,
        body: "x".repeat(98),
    };
    let mut changes = vec![put_cluster("a")];
    changes.extend([5, 1, 3, 2, 4].map(answer));
    store.commit(changes).unwrap();
    let read = store.answers("a", 250).unwrap();
    let keys: Vec<_> = read.answers.iter().map(|it| &*it.key).collect();
    assert_eq!(keys, ["k4", "k5"]);
    assert_eq!(read.left_out, ["k3", "k2", "k1"]);
    let forget = read.left_out.into_iter().map(|key| Change::ForgetAnswer {
        cluster: "a".to_owned(),
        key,
    });
    store.commit(forget.collect()).unwrap();
    let read = store.answers("a", u64::MAX).unwrap();
    assert_eq!((read.answers.len(), read.left_out.len()), (2, 0));
}

#[test]
fn a_removed_cluster_leaves_nothing_to_one_of_its_name() {
    let store = Store::in_memory(small()).unwrap();
    store
        .commit(vec![
            put_cluster("a"),
            put_cluster("b"),
            put_vm("a", "web-1", "{}"),
            put_vm("b", "web-1", "{}"),
            record("a", 7),
            Change::PutEndedReservation {
                cluster: "a".to_owned(),
                vm: "v".to_owned(),
                body: "{}".to_owned(),
            },
            Change::Idempotency {
                cluster: "a".to_owned(),
                key: "k".to_owned(),
                at: 1,
                body: "{}".to_owned(),
            },
            Change::Counter {
                cluster: "a".to_owned(),
                counters: Counters {
                    next_decision: 8,
                    clock: 9,
                    ..Counters::default()
                },
            },
            Change::PutPlan {
                cluster: "a".to_owned(),
                number: 1,
                body: "{}".to_owned(),
            },
            Change::RemoveCluster {
                cluster: "a".to_owned(),
            },
            put_cluster("a"),
        ])
        .unwrap();
    assert_eq!(store.inventory("a").unwrap(), SavedInventory::default());
    assert_eq!(store.inventory("b").unwrap().vms.len(), 1);
    assert_eq!(store.decisions("a", None, 10).unwrap(), []);
    assert_eq!(store.ended_reservations("a").unwrap(), []);
    let answers = store.answers("a", u64::MAX).unwrap();
    assert_eq!(answers, SavedAnswers::default());
    assert_eq!(store.plans("a").unwrap(), []);
    let counters = store.load().unwrap().clusters[0].counters;
    assert_eq!(counters, Counters::default());
}

#[test]
fn the_file_gives_the_room_of_removed_artifacts_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let artifact = |number: u8| Change::PutArtifact {
        digest: number.to_string(),
        name: String::new(),
        bytes: vec![number; 2 << 20],
        signature: None,
    };
    for number in 0..10 {
        store.commit(vec![artifact(number)]).unwrap();
    }
    let removals = (1..10).map(|number: u8| Change::RemoveArtifact {
        digest: number.to_string(),
    });
    store.commit(removals.collect()).unwrap();
    for round in 0..20 {
        store
            .commit(vec![setting("a", &round.to_string())])
            .unwrap();
    }
    assert_eq!(store.artifacts().unwrap(), ["0"]);
    drop(store);
    let length = std::fs::metadata(folder.path().join("placewright.db"))
        .unwrap()
        .len();
    assert!(length < 6 << 20, "{length} bytes for an artifact of 2 MiB");
}
