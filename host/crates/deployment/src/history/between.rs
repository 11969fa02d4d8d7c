//! What happened between two decisions, from what differs.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{HistoryEvent, written};
use crate::DeploymentError;
use placewright_inventory::{SavedHost, SavedMeasured, SavedVm};
use placewright_model::schema::Schema;
use placewright_model::{Facts, Group, Vm};
use placewright_store::{RecordedChange, RowKind};

/// What a decision reserved.
pub(super) struct Reserved {
    pub(super) decision: u64,
    pub(super) members: Vec<Vm>,
    pub(super) host: Arc<str>,
}

/// The time between two decisions.
pub(super) struct Between<'a> {
    pub(super) schema: &'a Schema,
    /// What the earlier one reserved.
    pub(super) reserved: Option<&'a Reserved>,
    pub(super) from: i64,
    pub(super) until: i64,
}

/// A row before and after.
struct Row<T> {
    before: Option<T>,
    after: Option<T>,
}

impl<T: DeserializeOwned> Row<T> {
    fn read(change: &RecordedChange) -> Result<Self, DeploymentError> {
        let read = |body: &Option<String>| {
            let body = body.as_deref().map(serde_json::from_str);
            body.transpose().map_err(|error| {
                DeploymentError::Refused(format!(
                    "cannot read from the store what \"{}\" was after decision {}: {error}",
                    change.id, change.decision
                ))
            })
        };
        Ok(Self {
            before: read(&change.before)?,
            after: read(&change.after)?,
        })
    }
}

/// The rows of a VM.
#[derive(Default)]
struct Vms {
    running: Option<Row<SavedVm>>,
    pending: Option<Row<SavedVm>>,
    /// Since when it runs where it does, as far as that is kept.
    since: Option<i64>,
}

/// What is put together of all that differs.
#[derive(Default)]
struct Lists {
    confirmed: BTreeMap<i64, Vec<Arc<str>>>,
    cancelled: Vec<Arc<str>>,
    removed: Vec<Arc<str>>,
    vms: Vec<Value>,
    hosts: Vec<Value>,
    tenants: Vec<Value>,
    groups: Vec<Value>,
    statistics: Vec<Value>,
    gone_hosts: Vec<String>,
    gone_tenants: Vec<String>,
    gone_groups: Vec<String>,
    /// Places that no decision that is told has reserved.
    chosen: Vec<Value>,
}

impl Between<'_> {
    /// What happened, in order.
    pub(super) fn events(
        &self,
        changes: Vec<RecordedChange>,
    ) -> Result<Vec<HistoryEvent>, DeploymentError> {
        let mut lists = Lists::default();
        let mut vms: BTreeMap<String, Vms> = BTreeMap::new();
        for change in &changes {
            let id = change.id.as_str();
            match change.what {
                RowKind::Vm => {
                    let of_vm = vms.entry(change.id.clone()).or_default();
                    of_vm.since = since(change.after.as_deref());
                    of_vm.running = Some(Row::read(change)?);
                }
                RowKind::PendingVm => {
                    vms.entry(change.id.clone()).or_default().pending = Some(Row::read(change)?);
                }
                RowKind::Host => self.host(id, Row::read(change)?, &mut lists),
                RowKind::Tenant => self.tenant(id, &Row::read(change)?, &mut lists),
                RowKind::Group => self.group(id, Row::read(change)?, &mut lists),
                RowKind::Measured => {
                    let row: Row<SavedMeasured> = Row::read(change)?;
                    let (before, after) = (row.before.as_ref(), row.after.as_ref());
                    let measured = written::statistics(self.schema, id, before, after);
                    lists.statistics.extend(measured);
                }
                RowKind::Cluster | RowKind::Chain => {}
            }
        }
        // A place that was reserved and is there still has changed nothing since.
        for (id, rows) in vms {
            self.vm(&Arc::from(id), rows, &mut lists);
        }
        // What was measured of a host that is gone went with it.
        lists
            .statistics
            .retain(|entry| !lists.gone_hosts.iter().any(|gone| entry["id"] == **gone));
        Ok(self.put_together(lists))
    }

    fn host(&self, id: &str, row: Row<SavedHost>, lists: &mut Lists) {
        let written = |saved: SavedHost| {
            let host = placewright_model::Host {
                facts: saved.facts,
                ..placewright_model::Host::new(saved.id)
            };
            written::host(self.schema, host)
        };
        let Some(after) = row.after.map(written) else {
            if row.before.is_some() {
                lists.gone_hosts.push(id.to_owned());
            }
            return;
        };
        match row.before.map(written) {
            Some(before) => lists.hosts.extend(written::different(id, &before, &after)),
            None => lists.hosts.push(after),
        }
    }

    fn tenant(&self, id: &str, row: &Row<Facts>, lists: &mut Lists) {
        let written = |facts: &Facts| written::tenant(self.schema, id, facts);
        let (before, after) = (row.before.as_ref().map(written), row.after.as_ref());
        match (before, after.map(written)) {
            (before, Some(after)) => {
                let before = before.unwrap_or_default();
                lists
                    .tenants
                    .extend(written::different(id, &before, &after));
            }
            (Some(_), None) => lists.gone_tenants.push(id.to_owned()),
            (None, None) => {}
        }
    }

    fn group(&self, id: &str, row: Row<Group>, lists: &mut Lists) {
        let written = |group: Group| written::group(self.schema, group);
        match (row.before.map(written), row.after.map(written)) {
            (before, Some(after)) => {
                let before = before.unwrap_or_default();
                lists.groups.extend(written::different(id, &before, &after));
            }
            (Some(_), None) => lists.gone_groups.push(id.to_owned()),
            (None, None) => {}
        }
    }

    /// What was reserved for the VM at the beginning: its place, and the VM as it is known there.
    fn reserved(&self, id: &Arc<str>, rows: &Vms) -> Option<(Arc<str>, Vm, Option<Facts>)> {
        let before = rows.pending.as_ref().and_then(|row| row.before.as_ref());
        if let Some(saved) = before {
            return Some((saved.host.clone(), saved.vm.clone(), Some(placed(saved))));
        }
        let reserved = self.reserved?;
        let member = reserved.members.iter().find(|member| member.id == *id)?;
        Some((reserved.host.clone(), member.clone(), None))
    }

    fn vm(&self, id: &Arc<str>, rows: Vms, lists: &mut Lists) {
        let reserved = self.reserved(id, &rows);
        let is_pending = rows.pending.as_ref().map(|row| row.after.is_some());
        // Without a row of its own, a place is as it was.
        let was_reserved = rows.pending.is_some() && reserved.is_some();
        let running = rows.running.as_ref();
        let (before, after) = (
            running.and_then(|row| row.before.as_ref()),
            running.and_then(|row| row.after.as_ref()),
        );
        let came_there = |host: &Arc<str>| {
            after.is_some_and(|after| {
                after.host == *host && before.is_none_or(|before| before.host != *host)
            })
        };
        let confirmed = match (&reserved, is_pending) {
            (Some((host, ..)), Some(false)) if was_reserved => {
                let same_place = after.is_some_and(|it| it.host == *host);
                match came_there(host) || same_place {
                    true => {
                        let time = rows.since.unwrap_or(self.until);
                        let time = time.clamp(self.from, self.until);
                        lists.confirmed.entry(time).or_default().push(id.clone());
                        true
                    }
                    false => {
                        lists.cancelled.push(id.clone());
                        false
                    }
                }
            }
            _ => false,
        };
        match (before, after) {
            (Some(_), None) => lists.removed.push(id.clone()),
            (_, Some(after)) => {
                let now = written::vm(self.schema, after.vm.clone(), placed(after));
                let was = match (&reserved, before) {
                    (Some((_, vm, rows)), _) if confirmed => {
                        // What followed from the decision follows from it again.
                        let rows = rows.clone().unwrap_or_else(|| placed(after));
                        Some(written::vm(self.schema, vm.clone(), rows))
                    }
                    (_, Some(before)) => {
                        Some(written::vm(self.schema, before.vm.clone(), placed(before)))
                    }
                    _ => None,
                };
                let moved = !confirmed && before.is_none_or(|it| it.host != after.host);
                let different = match was {
                    Some(was) => written::different(id, &was, &now),
                    None => Some(now),
                };
                if different.is_some() || moved {
                    let mut entry = different.unwrap_or_else(|| json!({ "id": **id }));
                    if moved {
                        entry["host"] = json!(*after.host);
                    }
                    lists.vms.push(entry);
                }
            }
            (None, None) => {}
        }
        if let Some(pending) = rows.pending.as_ref().and_then(|row| row.after.as_ref()) {
            let by_this = self
                .reserved
                .is_some_and(|it| pending.decision == Some(it.decision) && pending.host == it.host);
            let as_before = rows.pending.as_ref().and_then(|row| row.before.as_ref());
            let as_before = as_before.is_some_and(|before| before.host == pending.host);
            if !by_this && !as_before {
                let mut vm = written::vm(self.schema, pending.vm.clone(), Facts::new());
                vm["force"] = json!(*pending.host);
                lists.chosen.push(written::asked(self.schema, vm));
            }
        }
    }

    fn put_together(&self, lists: Lists) -> Vec<HistoryEvent> {
        let mut events = Vec::new();
        for (time, confirm) in lists.confirmed {
            events.push(HistoryEvent {
                confirm,
                ..HistoryEvent::at(time)
            });
        }
        let later = || HistoryEvent::at(self.until);
        if !lists.cancelled.is_empty() {
            events.push(HistoryEvent {
                cancel: lists.cancelled,
                ..later()
            });
        }
        if !lists.removed.is_empty() {
            events.push(HistoryEvent {
                remove: lists.removed,
                ..later()
            });
        }
        let mut changes = Map::new();
        for (key, list) in [
            ("tenants", lists.tenants),
            ("hosts", lists.hosts),
            ("statistics", lists.statistics),
            ("vms", lists.vms),
            ("groups", lists.groups),
        ] {
            if !list.is_empty() {
                changes.insert(key.to_owned(), Value::Array(list));
            }
        }
        let mut gone = Map::new();
        for (key, list) in [
            ("hosts", lists.gone_hosts),
            ("groups", lists.gone_groups),
            ("tenants", lists.gone_tenants),
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
        for request in lists.chosen {
            events.push(HistoryEvent {
                reserve: Some(request),
                ..later()
            });
        }
        events
    }
}

/// The rows that belong to a VM's stay on its host.
fn placed(saved: &SavedVm) -> Facts {
    saved.placed().cloned().unwrap_or_default()
}

/// Since when a VM runs where it does, if what is kept of it tells.
fn since(body: Option<&str>) -> Option<i64> {
    let kept: Value = serde_json::from_str(body?).ok()?;
    kept["unmeasured"]["since"].as_i64()
}
