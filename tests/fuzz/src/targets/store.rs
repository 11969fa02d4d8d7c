//! Rows of the store, as a server finds them when it starts: from an older version, damaged, or
//! written by hand.
//!
//! An input has a row on each line: its kind, its key, its number and its body, with tabs between.

use placewright_store::{Change, Counters, Store, StoreOptions};

use super::http::deployment;
use super::text;

/// The greatest number of rows; a few show what there is to see.
const ROWS: usize = 64;

/// The cluster that rows belong to.
const CLUSTER: &str = "c";

/// A row, as a change that writes it.
fn change(line: &str) -> Option<Change> {
    let mut fields = line.splitn(4, '\t');
    let (kind, key, number) = (fields.next()?, fields.next()?, fields.next()?);
    let body = fields.next()?.to_owned();
    let number: i64 = number.parse().ok()?;
    let (cluster, id) = (CLUSTER.to_owned(), key.to_owned());
    let count = number.unsigned_abs();
    Some(match kind {
        "cluster" => Change::PutCluster { cluster, body },
        "host" => Change::PutHost {
            cluster,
            id,
            position: number,
            body,
        },
        "vm" => Change::PutVm {
            cluster,
            id,
            pending: number != 0,
            body,
        },
        "tenant" => Change::PutTenant { cluster, id, body },
        "group" => Change::PutGroup {
            cluster,
            id,
            position: number,
            body,
        },
        "measured" => Change::PutMeasured { cluster, id, body },
        "chain" => Change::PutChain { cluster, body },
        "plan" => Change::PutPlan {
            cluster,
            number: count,
            body,
        },
        "decision" => Change::RecordDecision {
            cluster,
            number: count,
            at: 1000,
            body,
        },
        "counters" => Change::Counter {
            cluster,
            counters: Counters {
                next_decision: count,
                clock: number,
                next_plan: count,
                version: count,
                revision: count,
            },
        },
        "policy" => Change::PutPolicy {
            name: id,
            revision: count,
            at: number,
            by: "somebody".to_owned(),
            body,
        },
        "artifact" => Change::PutArtifact {
            digest: id,
            name: "worst-fit".to_owned(),
            bytes: body.into_bytes(),
            signature: None,
        },
        "unit" => Change::PutUnit {
            name: id,
            digest: None,
            enabled: number != 0,
            body,
        },
        "ended" => Change::PutEndedReservation {
            cluster,
            vm: id,
            body,
        },
        "answer" => Change::Idempotency {
            cluster,
            key: id,
            at: number,
            body,
        },
        "setting" => Change::Setting { key: id, body },
        _ => return None,
    })
}

/// The server starts, with or without the cluster, or says what it cannot read.
pub(crate) fn store(input: &[u8]) {
    let Some(text) = text(input) else { return };
    let changes: Vec<Change> = text.lines().filter_map(change).take(ROWS).collect();
    let store = Store::in_memory(StoreOptions::default()).expect("memory for a store");
    for change in changes {
        // Rows of a cluster that is not there are refused one by one.
        drop(store.commit(vec![change]));
    }
    match deployment(store) {
        Ok(deployment) => {
            for cluster in deployment.clusters() {
                let document = cluster.turn(|state| Ok(state.document())).wait();
                if let Ok(document) = document {
                    assert!(serde_json::to_string(&document).is_ok());
                }
            }
            deployment.stop();
        }
        Err(error) => assert!(!error.is_empty()),
    }
}
