//! Affinity groups, with a running count of where their VMs are.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::by_id::ById;
use super::weight;
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
    /// The group, with the members that it has of others among its own.
    pub group: Group,
    /// As it was given, if that is something else.
    pub(super) given: Option<Box<Group>>,
    /// With the slots of the hosts, ascending; hosts without VMs of the group are not in it.
    pub presence: Vec<(u32, Presence)>,
    /// The slots of the group's hosts, ascending.
    pub hosts: Vec<u32>,
}

impl GroupEntry {
    /// The group as it was given: without the members that it has of others.
    pub fn given(&self) -> &Group {
        self.given.as_deref().unwrap_or(&self.group)
    }

    pub(super) fn into_given(self) -> Group {
        self.given.map_or(self.group, |given| *given)
    }

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
    of_vms: ById<Vec<u32>>,
    /// By the id of a group, there or not, the ids of those that have its members, too.
    users: BTreeMap<Arc<str>, BTreeSet<Arc<str>>>,
    /// Bytes that all groups take.
    bytes: u64,
}

impl Groups {
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Bytes that all groups take.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
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

    /// The ids of the groups that have the members of this one, too.
    pub(super) fn users(&self, id: &str) -> Vec<Arc<str>> {
        let users = self.users.get(id).into_iter().flatten();
        users.filter(|user| ***user != *id).cloned().collect()
    }

    /// A group with the members that it has of others, and as it was given if that is
    /// something else.
    pub(super) fn flattened(&self, given: Group) -> (Group, Option<Box<Group>>) {
        if given.vms_of.is_empty() && given.hosts_of.is_empty() {
            return (given, None);
        }
        let mut group = given.clone();
        let own = |id: &Arc<str>| self.get(id).map(GroupEntry::given);
        let vms = given.vms_of.iter().filter_map(own);
        let hosts = given.hosts_of.iter().filter_map(own);
        take(&mut group.vms, vms.flat_map(|other| &other.vms));
        take(&mut group.hosts, hosts.flat_map(|other| &other.hosts));
        (group, Some(Box::new(given)))
    }

    /// Add a group, of whose id there is none.
    pub(super) fn insert(&mut self, entry: GroupEntry) {
        let number = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.entries.len() as u32 - 1
        });
        let id = &entry.group.id;
        for other in others(&entry.group) {
            let users = self.users.entry(other.clone()).or_default();
            users.insert(id.clone());
        }
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
        self.bytes += weight::of_group_entry(&entry);
        self.numbers.insert(id.clone(), number);
        self.entries[number as usize] = Some(entry);
    }

    /// Take a group out.
    pub(super) fn remove(&mut self, id: &str) -> Option<GroupEntry> {
        let number = self.numbers.remove(id)?;
        let entry = self.entries[number as usize].take()?;
        self.bytes -= weight::of_group_entry(&entry);
        for other in others(&entry.group) {
            if let Some(users) = self.users.get_mut(other) {
                users.remove(id);
                if users.is_empty() {
                    self.users.remove(other);
                }
            }
        }
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

/// The ids of the groups whose members a group has, too.
fn others(group: &Group) -> impl Iterator<Item = &Arc<str>> {
    group.vms_of.iter().chain(&group.hosts_of)
}

/// Add those that are no members yet.
fn take<'a>(members: &mut Vec<Arc<str>>, others: impl Iterator<Item = &'a Arc<str>>) {
    let mut known: BTreeSet<Arc<str>> = members.iter().cloned().collect();
    for other in others {
        if known.insert(other.clone()) {
            members.push(other.clone());
        }
    }
}
