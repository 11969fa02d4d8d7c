//! Affinity groups, with a running count of where their VMs are.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use placewright_model::Group;

/// VMs of a group on one host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Presence {
    /// Running and pending VMs.
    pub vms: i64,
    /// Of these, the ones that may not be moved.
    pub unmovable: i64,
}

/// A group and where its VMs are.
#[derive(Debug, Clone)]
pub struct GroupEntry {
    /// The group.
    pub group: Group,
    /// With the slots of the hosts, ascending; hosts without VMs of the group are not in it.
    pub presence: Vec<(u32, Presence)>,
    /// The slots of the group's hosts, ascending.
    pub hosts: Vec<u32>,
}

impl GroupEntry {
    /// Count a VM of the group in (`by` = 1) or out (`by` = -1).
    pub(super) fn count(&mut self, slot: u32, unmovable: bool, by: i64) {
        let place = self.presence.binary_search_by_key(&slot, |(slot, _)| *slot);
        let place = place.unwrap_or_else(|place| {
            self.presence.insert(place, (slot, Presence::default()));
            place
        });
        let (_, presence) = &mut self.presence[place];
        presence.vms += by;
        presence.unmovable += if unmovable { by } else { 0 };
        if presence.vms == 0 {
            self.presence.remove(place);
        }
    }
}

/// The groups of a cluster, and which of them VMs are in.
#[derive(Debug, Clone, Default)]
pub(super) struct Groups {
    /// By number. Numbers of groups that are gone are given again.
    entries: Vec<Option<GroupEntry>>,
    free: Vec<u32>,
    numbers: BTreeMap<Arc<str>, u32>,
    /// The numbers of the groups of a VM, in the order of the groups' ids.
    of_vms: HashMap<Arc<str>, Vec<u32>>,
}

impl Groups {
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// All groups, by id.
    pub(super) fn iter(&self) -> impl Iterator<Item = &GroupEntry> {
        let numbers = self.numbers.values();
        numbers.filter_map(|number| self.entry(*number))
    }

    /// The group of that id.
    pub(super) fn get(&self, id: &str) -> Option<&GroupEntry> {
        self.entry(*self.numbers.get(id)?)
    }

    /// The groups of a VM, by id of the group.
    pub(super) fn of_vm(&self, vm: &str) -> impl Iterator<Item = &GroupEntry> {
        let numbers = self.of_vms.get(vm).into_iter().flatten();
        numbers.filter_map(|number| self.entry(*number))
    }

    /// Add a group, of whose id there is none.
    pub(super) fn insert(&mut self, entry: GroupEntry) {
        let number = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.entries.len() as u32 - 1
        });
        let id = &entry.group.id;
        for vm in &entry.group.vms {
            let of_vm = self.of_vms.entry(vm.clone()).or_default();
            let ids = |number: &u32| {
                let other = self.entries[*number as usize].as_ref();
                other.map(|other| &other.group.id)
            };
            // A VM that is named twice is in the group once.
            if !of_vm.contains(&number) {
                let place = of_vm.partition_point(|other| ids(other) < Some(id));
                of_vm.insert(place, number);
            }
        }
        self.numbers.insert(id.clone(), number);
        self.entries[number as usize] = Some(entry);
    }

    /// Take a group out.
    pub(super) fn remove(&mut self, id: &str) -> Option<GroupEntry> {
        let number = self.numbers.remove(id)?;
        let entry = self.entries[number as usize].take()?;
        for vm in &entry.group.vms {
            if let Some(of_vm) = self.of_vms.get_mut(vm) {
                of_vm.retain(|other| *other != number);
                if of_vm.is_empty() {
                    self.of_vms.remove(vm);
                }
            }
        }
        self.free.push(number);
        Some(entry)
    }

    /// Count a VM in (`by` = 1) or out (`by` = -1) of all its groups.
    pub(super) fn count(&mut self, vm: &str, slot: u32, unmovable: bool, by: i64) {
        for number in self.of_vms.get(vm).into_iter().flatten() {
            if let Some(entry) = &mut self.entries[*number as usize] {
                entry.count(slot, unmovable, by);
            }
        }
    }

    fn entry(&self, number: u32) -> Option<&GroupEntry> {
        self.entries[number as usize].as_ref()
    }
}
