//! The states of hosts, to tell of those that change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::ClusterState;
use crate::events::{EventKind, News};
use placewright_inventory::Inventory;
use placewright_model::{HostState, Value};
use placewright_sync::atomic::Ordering;

/// The state of each host, as it was told last.
#[derive(Debug, Default)]
pub(super) struct HostStates(BTreeMap<Arc<str>, Arc<str>>);

/// The state of a host.
fn state(inventory: &Inventory, id: &str) -> Option<Arc<str>> {
    let slot = inventory.slot(id)?;
    match inventory.host_value(slot, "state") {
        Some(Value::Text(state)) => Some(state),
        // Where nothing is said a host is up.
        _ => Some("up".into()),
    }
}

impl HostStates {
    /// Those of all hosts.
    pub(super) fn of(inventory: &Inventory) -> Self {
        let hosts = inventory.hosts().map(|(_, host)| &host.id);
        let states = hosts.filter_map(|id| Some((id.clone(), state(inventory, id)?)));
        Self(states.collect())
    }

    /// Take note of the state of a host; gives that before and after, if it is another one.
    fn note(&mut self, id: &Arc<str>, now: Option<Arc<str>>) -> Option<(Arc<str>, Arc<str>)> {
        if self.0.get(id) == now.as_ref() {
            return None;
        }
        let before = match &now {
            Some(now) => self.0.insert(id.clone(), now.clone()),
            None => self.0.remove(id),
        };
        // Hosts that are new or gone are changes of the inventory.
        Some((before?, now?))
    }
}

impl ClusterState {
    /// Tell of hosts whose state is another one since this was last called. Places that are
    /// reserved on hosts that are lost end.
    pub(super) fn tell_host_states(&mut self) {
        let hosts: BTreeSet<Arc<str>> = match self.everything.load(Ordering::Acquire) {
            true => {
                let there = self.inventory().hosts().map(|(_, host)| host.id.clone());
                there.chain(self.host_states.0.keys().cloned()).collect()
            }
            false => self.touched.hosts.iter().cloned().collect(),
        };
        self.follow_lost(&hosts);
        for id in hosts {
            let now = state(self.inventory(), &id);
            if let Some((before, now)) = self.host_states.note(&id, now) {
                self.look_at_plans_again();
                self.end_places_on(&id, &now);
                self.tell_when_kept(News {
                    kind: EventKind::HostStateChanged,
                    message: format!("{id} is {now}; it was {before}"),
                    host: Some(id),
                    ..News::default()
                });
            }
        }
        self.note();
    }

    /// The places that are reserved on a host end, if it is in a state in which it runs nothing.
    fn end_places_on(&mut self, host: &Arc<str>, state: &str) {
        if !HostState::of(Some(state)).is_lost() {
            return;
        }
        let inventory = self.inventory();
        let Some(entry) = inventory.slot(host).and_then(|slot| inventory.host(slot)) else {
            return;
        };
        let pending = inventory.vms_of(entry).filter(|vm| vm.pending);
        let vms: Vec<Arc<str>> = pending.map(|entry| entry.vm.id.clone()).collect();
        for vm in vms {
            self.lose_place(&vm, state);
        }
    }
}
