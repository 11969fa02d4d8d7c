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
    /// Bytes that it takes.
    pub(super) bytes: u64,
}

impl GroupEntry {
    /// A group of which only what was given is known so far.
    fn unsettled(group: Group) -> Self {
        let given = takes_of_others(&group).then(|| Box::new(group.clone()));
        Self {
            bytes: weight::of_new_group(&group),
            group,
            given,
            presence: Vec::new(),
            hosts: Vec::new(),
        }
    }

    /// The group as it was given: without the members that it has of others.
    pub fn given(&self) -> &Group {
        self.given.as_deref().unwrap_or(&self.group)
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

/// A group that was put in or taken out, or has members of one that was.
#[derive(Debug, Clone)]
pub(super) struct Unsettled {
    /// The VMs that were in it, and are still known to be, once it is not there any more as it was.
    pub(super) vms: Option<Vec<Arc<str>>>,
    /// Bytes that it took before.
    pub(super) bytes: u64,
}

/// The groups of a cluster, and which of them VMs are in.
#[derive(Debug, Clone, Default)]
pub(super) struct Groups {
    /// By number. Numbers of groups that are gone are given again.
    pub(super) entries: Vec<Option<GroupEntry>>,
    pub(super) free: Vec<u32>,
    numbers: BTreeMap<Arc<str>, u32>,
    /// The numbers of the groups of a VM, in the order of the groups' ids.
    pub(super) of_vms: ById<Vec<u32>>,
    /// By the id of a group, there or not, the ids of those that have its members, too.
    users: BTreeMap<Arc<str>, BTreeSet<Arc<str>>>,
    /// Bytes that all groups take.
    pub(super) bytes: u64,
    /// By number, the groups whose members are still to be worked out.
    pub(super) unsettled: BTreeMap<u32, Unsettled>,
    /// How many changes are under way, one within the other, at whose end they are.
    pub(super) held: usize,
    /// How often the members of a group were worked out.
    #[cfg(any(test, feature = "testing"))]
    pub(super) worked_out: usize,
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

    /// The number of the group of that id.
    pub(super) fn number(&self, id: &str) -> Option<u32> {
        self.numbers.get(id).copied()
    }

    /// The group of that id.
    pub(super) fn get(&self, id: &str) -> Option<&GroupEntry> {
        self.entry(self.number(id)?)
    }

    /// The groups of a VM, by id of the group.
    pub(super) fn of_vm(&self, vm: &str) -> impl Iterator<Item = &GroupEntry> {
        let numbers = self.of_vms.get(vm).into_iter().flatten();
        numbers.filter_map(|number| self.entry(*number))
    }

    /// Put a group in the place of the one of that id, or take that out, and give what was there.
    /// Which members it has of others, and others of it, is worked out later, by
    /// [`settle_groups`](super::Inventory::settle_groups).
    pub(super) fn put(&mut self, id: &Arc<str>, group: Option<Group>) -> Option<Group> {
        let number = match (self.number(id), &group) {
            (Some(number), _) => number,
            (None, Some(_)) => self.new_number(id),
            (None, None) => return None,
        };
        let old = self.take(number);
        let is_same = match (&old, &group) {
            (Some(old), Some(new)) => old.vms == new.vms && old.hosts == new.hosts,
            (Some(only), None) | (None, Some(only)) => only.vms.is_empty() && only.hosts.is_empty(),
            (None, None) => true,
        };
        match group {
            Some(group) => self.fill(number, group),
            None => drop(self.numbers.remove(id)),
        }
        if !is_same {
            self.unsettle_users(id);
        }
        old
    }

    fn new_number(&mut self, id: &Arc<str>) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.entries.len() as u32 - 1
        });
        self.numbers.insert(id.clone(), number);
        number
    }

    /// Take out what is there under a number. VMs are still known to be in it.
    fn take(&mut self, number: u32) -> Option<Group> {
        let entry = self.entries[number as usize].take();
        let bytes = entry.as_ref().map_or(0, |entry| entry.bytes);
        self.bytes -= bytes;
        let unsettled = self
            .unsettled
            .entry(number)
            .or_insert(Unsettled { vms: None, bytes });
        let entry = entry?;
        let group = match entry.given {
            Some(given) => {
                unsettled.vms.get_or_insert(entry.group.vms);
                *given
            }
            None => {
                unsettled.vms.get_or_insert_with(|| entry.group.vms.clone());
                entry.group
            }
        };
        for other in others(&group) {
            if let Some(users) = self.users.get_mut(other) {
                users.remove(&group.id);
                if users.is_empty() {
                    self.users.remove(other);
                }
            }
        }
        Some(group)
    }

    fn fill(&mut self, number: u32, group: Group) {
        for other in others(&group) {
            let users = self.users.entry(other.clone()).or_default();
            users.insert(group.id.clone());
        }
        let entry = GroupEntry::unsettled(group);
        self.bytes += entry.bytes;
        self.entries[number as usize] = Some(entry);
    }

    /// The groups that have the members of this one, too, may have others now.
    fn unsettle_users(&mut self, id: &str) {
        let users = self.users.get(id).into_iter().flatten();
        let numbers = users.filter_map(|user| self.number(user));
        let numbers: Vec<u32> = numbers.collect();
        for number in numbers {
            let bytes = self.entry(number).map_or(0, |entry| entry.bytes);
            self.unsettled
                .entry(number)
                .or_insert(Unsettled { vms: None, bytes });
        }
    }

    /// Count a VM in (`by` = 1) or out (`by` = -1) of all its groups.
    pub(super) fn count(&mut self, vm: &str, slot: u32, unmovable: bool, by: i64) {
        for number in self.of_vms.get(vm).into_iter().flatten() {
            if let Some(entry) = &mut self.entries[*number as usize] {
                entry.count(slot, unmovable, by);
            }
        }
    }

    pub(super) fn entry(&self, number: u32) -> Option<&GroupEntry> {
        self.entries[number as usize].as_ref()
    }
}

/// Whether a group has members of others.
pub(super) fn takes_of_others(group: &Group) -> bool {
    others(group).next().is_some()
}

/// The ids of the groups whose members a group has, too.
fn others(group: &Group) -> impl Iterator<Item = &Arc<str>> {
    group.vms_of.iter().chain(&group.hosts_of)
}
