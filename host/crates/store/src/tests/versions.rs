//! A file of every version that was released opens, with all that it holds.

use rusqlite::Connection;

use super::super::schema::{MIGRATIONS, migrate};
use super::*;

/// Rows as each version held them, in order. All of them say the same, as far as the
/// version could.
const ROWS: &[&str] = &[
    include_str!("../schema/1.rows.sql"),
    include_str!("../schema/2.rows.sql"),
    include_str!("../schema/3.rows.sql"),
    include_str!("../schema/4.rows.sql"),
];

#[test]
fn a_file_of_every_version_opens_with_all_that_it_holds() {
    assert_eq!(ROWS.len(), MIGRATIONS.len(), "each version has its rows");
    for (version, rows) in (1..).zip(ROWS) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("placewright.db");
        let mut base = Connection::open(&file).unwrap();
        migrate(&mut base, &file, &MIGRATIONS[..version]).unwrap();
        base.execute_batch(rows).unwrap();
        drop(base);
        check(&open(folder.path()), version);
    }
}

fn check(store: &Store, version: usize) {
    let saved = store.load().unwrap();
    let cluster = |name: &str, body: &str, counters| SavedCluster {
        name: name.to_owned(),
        body: body.to_owned(),
        counters,
    };
    let counters = Counters {
        next_decision: 42,
        clock: 1_700_000_000,
        ..Counters::default()
    };
    let counters = match version {
        1 => counters,
        _ => Counters {
            next_plan: 3,
            version: 4096,
            revision: 7,
            ..counters
        },
    };
    assert_eq!(
        saved.clusters,
        [
            cluster("empty", "{}", Counters::default()),
            cluster("old", "{\"policy\":\"spread\"}", counters),
        ]
    );
    let history = store.policy_history("spread", None, (100, usize::MAX));
    let history = history.unwrap();
    assert_eq!(saved.policies, history[..1]);
    assert_eq!(saved.policies[0].by, "bob");
    assert_eq!(history[1].by, "ada");
    assert_eq!(saved.artifacts[0].length, 4);
    let bytes = store.artifact("sha256:00").unwrap().unwrap();
    assert_eq!(bytes, b"\0asm");
    let signature = store.signature("sha256:00").unwrap();
    let signed = SavedSignature {
        bytes: vec![1],
        signer: Some("ada".to_owned()),
    };
    assert_eq!(signature, (version >= 4).then_some(signed));
    assert_eq!(saved.units[0].digest, None);
    assert_eq!(saved.units[1].digest.as_deref(), Some("sha256:00"));
    assert_eq!(saved.settings["tokens"], "[]");
    let inventory = store.inventory("old").unwrap();
    let bodies = inventory.hosts.iter().map(|row| &row.body);
    let bodies = bodies.chain(inventory.vms.iter().map(|row| &row.body));
    let bodies = bodies.chain(inventory.tenants.iter().map(|row| &row.body));
    let bodies = bodies.chain(inventory.groups.iter().map(|row| &row.body));
    assert_eq!(
        bodies.collect::<Vec<_>>(),
        [
            "{\"h\":2}",
            "{\"h\":1}",
            "{\"v\":1}",
            "{\"v\":2}",
            "{\"t\":1}",
            "{\"g\":1}"
        ]
    );
    let decisions = store.decisions("old", None, 9).unwrap();
    assert_eq!((decisions[0].number, decisions[1].number), (41, 40));
    let plans = store.plans("old").unwrap();
    let plans: Vec<_> = plans.iter().map(|plan| plan.number).collect();
    assert_eq!(plans, if version == 1 { vec![] } else { vec![2] });
    let ended = store.ended_reservations("old").unwrap();
    let ended: Vec<_> = ended.iter().map(|ended| &*ended.vm).collect();
    assert_eq!(ended, if version == 1 { vec![] } else { vec!["v-2"] });
    check_history(store, version);
    assert_eq!(
        store.answers("old", u64::MAX).unwrap().answers[0].key,
        "k-1"
    );
    let events = store.unit_history(None, 9).unwrap();
    assert_eq!((&*events[0].name, &*events[1].name), ("gone", "memory"));
    assert_eq!(store.unit_history(Some("memory"), 9).unwrap(), events[1..]);
}

fn check_history(store: &Store, version: usize) {
    let gone = |number| match store.past("old", number).unwrap() {
        SavedPast::Gone { since, why } => Some((since, why)),
        _ => None,
    };
    if version < 3 {
        assert_eq!(gone(41), Some((42, Gone::Version)));
        return;
    }
    assert_eq!(gone(40), Some((41, Gone::Bytes)));
    let SavedPast::Known(then) = store.past("old", 41).unwrap() else {
        panic!("it is known");
    };
    assert_eq!(then.chain.as_deref(), Some("{\"c\":1}"));
    assert_eq!(then.inventory.hosts[1].body, "{\"h\":0}");
    let vms = then.inventory.vms.iter().map(|vm| &*vm.id);
    let copied: &[&str] = if version > 3 { &["v-3"] } else { &[] };
    assert_eq!(vms.collect::<Vec<_>>(), [&["v-1"], copied].concat());
    assert_eq!(then.inventory.measured[0].body, "{\"m\":1}");
}
