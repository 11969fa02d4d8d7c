//! Affinity groups, with a running count of where their VMs are.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::Group;

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
    pub group: Group,
    /// By host slot; hosts without VMs of the group are not in it.
    pub presence: BTreeMap<u32, Presence>,
    /// The slots of the group's hosts, ascending.
    pub hosts: Vec<u32>,
}

impl GroupEntry {
    /// Count a VM of the group in (`by` = 1) or out (`by` = -1).
    pub(super) fn count(&mut self, slot: u32, unmovable: bool, by: i64) {
        let presence = self.presence.entry(slot).or_default();
        presence.vms += by;
        presence.unmovable += if unmovable { by } else { 0 };
        if presence.vms == 0 {
            self.presence.remove(&slot);
        }
    }
}

/// The groups that a VM is in, by the ids of the VMs.
pub(super) type Memberships = std::collections::HashMap<Arc<str>, Vec<Arc<str>>>;
