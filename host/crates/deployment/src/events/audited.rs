//! Which events the audit log has, and as what.

use super::{Event, EventKind};
use crate::balancing::PERIODIC;
use crate::cluster::{RESTART, SERVER};
use crate::folder::FILE;
use placewright_document::Word;
use placewright_records::audit::{Kind, Origin, Record};

/// The record of an event; None: the records of calls tell of it, or nothing was changed.
pub(super) fn record(event: &Event) -> Option<Record> {
    // As often as VMs come and go, and each of them by a call with a record of its own.
    let by_calls = matches!(
        event.kind,
        EventKind::InventoryChanged | EventKind::HostStateChanged
    );
    if event.kind.is_frequent()
        || by_calls
        || matches!(
            event.kind,
            EventKind::Reset | EventKind::ReservationExpired | EventKind::ReservationLost
        )
    {
        return None;
    }
    Some(Record {
        kind: Kind::Event,
        origin: origin(event),
        what: Some(event.kind.word()),
        event: Some(event.number),
        by: event.by.clone(),
        cluster: event.cluster.clone(),
        unit: event.unit.clone(),
        policy: event.policy.clone(),
        vm: event.vm.clone(),
        host: event.host.clone(),
        decision: event.decision,
        plan: event.plan,
        message: Some(event.message.clone()),
        ..Record::default()
    })
}

/// How it came in.
fn origin(event: &Event) -> Origin {
    match event.by.as_deref() {
        Some(FILE) => Origin::Folder,
        Some(PERIODIC) => Origin::Periodic,
        Some(SERVER | RESTART) => Origin::Server,
        Some(_) => Origin::Api,
        None => match event.kind {
            EventKind::UnitSeen
            | EventKind::UnitRefused
            | EventKind::UnitInForce
            | EventKind::UnitHeld
            | EventKind::UnitRemoved
            | EventKind::UnitKeptAlthoughDeleted
            | EventKind::FileWaits
            | EventKind::FolderTrouble
            | EventKind::PolicyRefused
            | EventKind::PolicyKeptAlthoughDeleted => Origin::Folder,
            _ => Origin::Server,
        },
    }
}
