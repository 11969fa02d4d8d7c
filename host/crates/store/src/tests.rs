//! What is put is there, all or none of it, whatever happens in between.

mod backup;
mod changes;
mod failing;
mod history;
mod kill;
mod model;
mod opening;
mod versions;

use std::path::Path;

use super::*;

/// Small bounds, so that a few changes reach them.
fn small() -> StoreOptions {
    StoreOptions {
        decisions: 32,
        decision_bytes: u64::MAX,
        history_bytes: 4096,
        revisions: 3,
        revision_bytes: u64::MAX,
        unit_events: 16,
        ..StoreOptions::default()
    }
}

fn open(folder: &Path) -> Store {
    Store::open(folder, small()).unwrap()
}

fn put_cluster(name: &str) -> Change {
    Change::PutCluster {
        cluster: name.to_owned(),
        body: format!("{{\"name\":\"{name}\"}}"),
    }
}

fn put_vm(cluster: &str, id: &str, body: &str) -> Change {
    Change::PutVm {
        cluster: cluster.to_owned(),
        id: id.to_owned(),
        pending: true,
        body: body.to_owned(),
    }
}

fn record(cluster: &str, number: u64) -> Change {
    Change::RecordDecision {
        cluster: cluster.to_owned(),
        number,
        at: i64::try_from(number).unwrap_or(0).saturating_add(1_000),
        body: format!("{{\"number\":{number}}}"),
    }
}

fn setting(key: &str, body: &str) -> Change {
    Change::Setting {
        key: key.to_owned(),
        body: body.to_owned(),
    }
}
