//! A process that is killed loses nothing that it was told is kept.

use std::collections::BTreeSet;
use std::env;
use std::io::{BufRead, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use super::*;

/// Tells this test's own binary, started by it, to write until it is killed.
const CHILD: &str = "PLACEWRIGHT_TEST_WRITES_TO";
const ROUNDS: u64 = 25;
const THREADS: u64 = 3;

fn options() -> StoreOptions {
    StoreOptions {
        decisions: usize::MAX,
        ..StoreOptions::default()
    }
}

#[test]
fn what_was_acknowledged_outlives_a_kill() {
    if let Some(folder) = env::var_os(CHILD) {
        return write_until_killed(&PathBuf::from(folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged = BTreeSet::new();
    let mut moment = 12_345_u64;
    for round in 0..ROUNDS {
        let mut child = start(folder.path());
        // A linear congruential sequence: other moments, but the same ones each time.
        moment = moment
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let lines = (moment >> 33) % 1_500;
        read_and_kill(&mut child, lines, &mut acknowledged);
        assert!(acknowledged.len() as u64 > round, "something was written");
        check(folder.path(), &acknowledged);
    }
}

fn start(folder: &Path) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "--nocapture"])
        .arg("tests::kill::what_was_acknowledged_outlives_a_kill")
        .env(CHILD, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Read that many acknowledgements, kill, and read what came until then.
fn read_and_kill(child: &mut Child, lines: u64, acknowledged: &mut BTreeSet<u64>) {
    let out = BufReader::new(child.stdout.take().unwrap());
    let mut seen = 0;
    let mut killed = false;
    for line in out.lines().map_while(Result::ok) {
        if let Some(number) = line.strip_prefix("kept ") {
            // A line may be cut off by the kill; a whole one ends with a dot.
            if let Some(number) = number.strip_suffix('.') {
                acknowledged.insert(number.parse().unwrap());
                seen += 1;
            }
        }
        if seen > lines && !killed {
            child.kill().unwrap();
            killed = true;
        }
    }
    child.wait().unwrap();
    assert!(killed, "the child wrote until it was killed");
}

/// All that was acknowledged is there, and nothing is there by half.
fn check(folder: &Path, acknowledged: &BTreeSet<u64>) {
    let store = Store::open(folder, options()).unwrap();
    let vms: BTreeSet<u64> = store
        .inventory("a")
        .unwrap()
        .vms
        .iter()
        .map(|vm| vm.id.parse().unwrap())
        .collect();
    let decisions: BTreeSet<u64> = store
        .decisions("a", None, usize::MAX)
        .unwrap()
        .iter()
        .map(|decision| decision.number)
        .collect();
    assert_eq!(vms, decisions);
    let lost: Vec<_> = acknowledged.difference(&vms).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
}

fn write_until_killed(folder: &Path) {
    let store = Store::open(folder, options()).unwrap();
    store.commit(vec![put_cluster("a")]).unwrap();
    let newest = store.decisions("a", None, 1).unwrap();
    let first = newest.first().map_or(0, |decision| decision.number) + 1;
    thread::scope(|scope| {
        for number in 0..THREADS {
            let store = &store;
            scope.spawn(move || write(store, first + number));
        }
    });
}

fn write(store: &Store, first: u64) {
    let body = "x".repeat(500);
    // Some are under way at any moment, but not so many that the file grows for long.
    let (start, under_way) = mpsc::sync_channel(100);
    let under_way = Arc::new(Mutex::new(under_way));
    for number in (first..).step_by(THREADS as usize) {
        let changes = vec![put_vm("a", &number.to_string(), &body), record("a", number)];
        start.send(()).unwrap();
        let under_way = Arc::clone(&under_way);
        store.submit(changes, move |outcome| {
            outcome.unwrap();
            under_way.lock().unwrap().recv().unwrap();
            // Past the harness, and at once; on a line of its own.
            let mut out = std::io::stdout().lock();
            let _ = writeln!(out, "\nkept {number}.").and_then(|()| out.flush());
        });
    }
}
