//! The events between two decisions, in order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::super::HistoryEvent;
use placewright_inventory::SavedVm;

/// Everything that differs between two decisions, by kind.
#[derive(Default)]
pub(super) struct Lists {
    pub(super) cancelled: Vec<Arc<str>>,
    pub(super) removed: Vec<Arc<str>>,
    pub(super) vms: Vec<Value>,
    hosts: Vec<Value>,
    different_hosts: BTreeSet<Box<str>>,
    pub(super) tenants: Vec<Value>,
    pub(super) groups: Vec<Value>,
    pub(super) statistics: Vec<Value>,
    pub(super) gone_hosts: Vec<String>,
    pub(super) gone_tenants: Vec<String>,
    pub(super) gone_groups: Vec<String>,
    /// Requests for reservations that come from no exported decision.
    pub(super) chosen: Vec<Value>,
    /// Events of which the second is known. The flag is false for VMs that came to a host before
    /// its load was measured: they precede the statistics of the same second.
    pub(super) dated: BTreeMap<(i64, bool), Dated>,
    /// The last second in which a VM came to a host whose load was not measured.
    pub(super) last_without_load: BTreeMap<Arc<str>, i64>,
    /// VMs that start after all other changes: their reservations come from no exported decision,
    /// and their hosts changed as well.
    pub(super) started_last: Vec<Started>,
}

/// Events of one second, in order.
#[derive(Default)]
pub(super) struct Dated {
    pub(super) statistics: Vec<Value>,
    pub(super) confirmed: Vec<Arc<str>>,
    /// VMs whose reservations come from no exported decision.
    pub(super) started: Vec<Started>,
}

/// A VM that started, and the request for the place where it did.
pub(super) type Started = (Arc<str>, Value);

impl Lists {
    /// The events of the second in which a VM came to run on its host.
    pub(super) fn when_came(&mut self, time: i64, vm: &SavedVm, has_load: bool) -> &mut Dated {
        if !has_load {
            let last = self.last_without_load.entry(vm.host.clone());
            let last = last.or_insert(time);
            *last = time.max(*last);
        }
        self.dated.entry((time, has_load)).or_default()
    }

    /// Record that a host is new or changed.
    pub(super) fn host(&mut self, id: &str, told: Value) {
        self.different_hosts.insert(id.into());
        self.hosts.push(told);
    }

    /// Whether a host is new or changed.
    pub(super) fn is_about_host(&self, id: &str) -> bool {
        self.different_hosts.contains(id)
    }

    /// The events, in order. Those of which the second is not known get the time `until`.
    pub(super) fn events(self, until: i64) -> Vec<HistoryEvent> {
        let mut events = Vec::new();
        let start = |events: &mut Vec<HistoryEvent>, time: i64, started: Vec<Started>| {
            for (vm, request) in started {
                events.push(HistoryEvent {
                    reserve: Some(request),
                    ..HistoryEvent::at(time)
                });
                events.push(HistoryEvent {
                    confirm: vec![vm],
                    ..HistoryEvent::at(time)
                });
            }
        };
        for ((time, _), dated) in self.dated {
            if !dated.statistics.is_empty() {
                events.push(HistoryEvent {
                    changes: Some(json!({ "statistics": dated.statistics })),
                    ..HistoryEvent::at(time)
                });
            }
            if !dated.confirmed.is_empty() {
                events.push(HistoryEvent {
                    confirm: dated.confirmed,
                    ..HistoryEvent::at(time)
                });
            }
            start(&mut events, time, dated.started);
        }
        let later = || HistoryEvent::at(until);
        if !self.cancelled.is_empty() {
            events.push(HistoryEvent {
                cancel: self.cancelled,
                ..later()
            });
        }
        if !self.removed.is_empty() {
            events.push(HistoryEvent {
                remove: self.removed,
                ..later()
            });
        }
        let mut changes = Map::new();
        for (key, list) in [
            ("tenants", self.tenants),
            ("hosts", self.hosts),
            ("statistics", self.statistics),
            ("vms", self.vms),
            ("groups", self.groups),
        ] {
            if !list.is_empty() {
                changes.insert(key.to_owned(), Value::Array(list));
            }
        }
        let mut gone = Map::new();
        for (key, list) in [
            ("hosts", self.gone_hosts),
            ("groups", self.gone_groups),
            ("tenants", self.gone_tenants),
        ] {
            if !list.is_empty() {
                gone.insert(key.to_owned(), json!(list));
            }
        }
        if !gone.is_empty() {
            changes.insert("gone".to_owned(), Value::Object(gone));
        }
        if !changes.is_empty() {
            events.push(HistoryEvent {
                changes: Some(Value::Object(changes)),
                ..later()
            });
        }
        start(&mut events, until, self.started_last);
        for request in self.chosen {
            events.push(HistoryEvent {
                reserve: Some(request),
                ..later()
            });
        }
        events
    }
}
