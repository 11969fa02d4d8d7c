//! What happened between two decisions, from what differs.

mod lists;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{HistoryEvent, written};
use crate::DeploymentError;
use lists::Lists;
use placewright_inventory::{SavedHost, SavedMeasured, SavedVm, Shape};
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
    /// What no measurement shows of it.
    unmeasured: Option<Unmeasured>,
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
                    of_vm.unmeasured = Unmeasured::of(change.after.as_deref());
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
        self.date_statistics(&mut lists);
        Ok(lists.events(self.until))
    }

    /// Statistics of hosts that did not change become events of the second of the measurement: VMs
    /// that start there later are not part of it.
    fn date_statistics(&self, lists: &mut Lists) {
        for entry in std::mem::take(&mut lists.statistics) {
            let is_known = entry["id"]
                .as_str()
                .is_some_and(|id| !lists.is_about_host(id));
            match entry["measured"].as_i64().filter(|_| is_known) {
                Some(time) => {
                    let time = time.clamp(self.from, self.until);
                    let last = entry["id"].as_str();
                    let last = last.and_then(|id| lists.last_without_load.get(id));
                    let time = last.map_or(time, |last| time.max(*last));
                    let dated = lists.dated.entry((time, true)).or_default();
                    dated.statistics.push(entry);
                }
                None => lists.statistics.push(entry),
            }
        }
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
            Some(before) => {
                if let Some(different) = written::different(id, &before, &after) {
                    lists.host(id, different);
                }
            }
            None => lists.host(id, after),
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
        let running = rows.running.as_ref();
        let (before, after) = (
            running.and_then(|row| row.before.as_ref()),
            running.and_then(|row| row.after.as_ref()),
        );
        let has_load = match (&rows.unmeasured, after) {
            (Some(unmeasured), Some(vm)) => unmeasured.load || Shape::of(&vm.vm.facts).exclusive,
            _ => true,
        };
        let when = rows.unmeasured.as_ref();
        let when = when.map(|it| it.since.clamp(self.from, self.until));
        // Without a row of its own, a place is as it was.
        let place = rows.pending.as_ref().map(|row| row.after.as_ref());
        let has_another =
            |host: &Arc<str>| place.is_some_and(|it| it.is_none_or(|it| it.host != *host));
        let ended = reserved.as_ref().filter(|(host, ..)| has_another(host));
        let confirmed = match (ended, after) {
            (Some((host, ..)), Some(after)) if after.host == *host => {
                // If a measurement shows the VM by now, the confirmation came before it.
                let time = when.unwrap_or(self.from);
                let came = lists.when_came(time, after, has_load);
                came.confirmed.push(id.clone());
                true
            }
            (Some(_), _) => {
                lists.cancelled.push(id.clone());
                false
            }
            (None, _) => false,
        };
        let came = !confirmed
            && after.is_some_and(|it| before.is_none_or(|before| before.host != it.host));
        // Only a VM that had a reservation counts as unmeasured. A VM that is not migratable can
        // have left its host because that was down for a while, of which there may be no event.
        let may_leave = before.is_none_or(|before| Shape::of(&before.vm.facts).migratable);
        match (after, when.filter(|_| came && may_leave)) {
            (Some(after), Some(time)) => {
                // Changes of the host, and the cancellation of another reservation, come first.
                let waits = lists.is_about_host(&after.host) || ended.is_some();
                let started = (id.clone(), self.forced(after));
                match waits {
                    true => lists.started_last.push(started),
                    false => {
                        let came = lists.when_came(time, after, has_load);
                        came.started.push(started);
                    }
                }
            }
            (Some(after), None) => {
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
                let now = written::vm(self.schema, after.vm.clone(), placed(after));
                let different = match was {
                    Some(was) => written::different(id, &was, &now),
                    None => Some(now),
                };
                if different.is_some() || came {
                    let mut entry = different.unwrap_or_else(|| json!({ "id": **id }));
                    if came {
                        entry["host"] = json!(*after.host);
                    }
                    lists.vms.push(entry);
                }
            }
            (None, _) if before.is_some() => lists.removed.push(id.clone()),
            (None, _) => {}
        }
        if let Some(pending) = rows.pending.as_ref().and_then(|row| row.after.as_ref()) {
            let by_this = self
                .reserved
                .is_some_and(|it| pending.decision == Some(it.decision) && pending.host == it.host);
            let as_before = rows.pending.as_ref().and_then(|row| row.before.as_ref());
            let as_before = as_before.is_some_and(|before| before.host == pending.host);
            if !by_this && !as_before {
                lists.chosen.push(self.forced(pending));
            }
        }
    }

    /// A request for the place that the VM has.
    fn forced(&self, saved: &SavedVm) -> Value {
        let vm = written::vm(self.schema, saved.vm.clone(), Facts::new());
        written::asked(self.schema, json!({ "force": *saved.host, "vms": [vm] }))
    }
}

/// The rows that belong to a VM's stay on its host.
fn placed(saved: &SavedVm) -> Facts {
    saved.placed().cloned().unwrap_or_default()
}

/// What no measurement shows of a VM, as far as it is read here.
#[derive(serde::Deserialize)]
struct Unmeasured {
    /// The second in which it came to run where it does.
    since: i64,
    /// Whether its load is among it: that of the host was measured then.
    #[serde(default)]
    load: bool,
}

impl Unmeasured {
    /// None if all is measured.
    fn of(body: Option<&str>) -> Option<Self> {
        let mut kept: Value = serde_json::from_str(body?).ok()?;
        serde_json::from_value(kept["unmeasured"].take()).ok()
    }
}
