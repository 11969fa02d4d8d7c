//! What has changed since a version, by name: for whoever keeps a copy.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Inventory;
use super::journal::Undo;
use super::rows::FactsOf;

/// What has changed. What is named may have come, gone or become different.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Touched {
    /// Ids of hosts whose given facts changed; sums over VMs are no facts.
    pub hosts: BTreeSet<Arc<str>>,
    /// Ids of VMs; true: where they have a place reserved, false: where they run.
    pub vms: BTreeSet<(Arc<str>, bool)>,
    /// Ids of tenants.
    pub tenants: BTreeSet<Arc<str>>,
    /// Ids of groups.
    pub groups: BTreeSet<Arc<str>>,
    /// Ids of hosts of which something else was noted that lasts: since when what is
    /// watched holds, and what a batch has placed there.
    pub noted: BTreeSet<Arc<str>>,
    /// Ids of running VMs of which measurements show more or less than before. The VMs themselves
    /// are as they were.
    pub measured_vms: BTreeSet<Arc<str>>,
    /// Whether it was what is known of the cluster as a whole, or which attributes it has.
    pub facts: bool,
}

impl Inventory {
    /// What has changed since an earlier version. None if the inventory does not
    /// remember that version: then everything may have.
    pub fn touched_since(&self, version: u64) -> Option<Touched> {
        if !(self.oldest_version()..=self.version).contains(&version) {
            return None;
        }
        let changes = usize::try_from(self.version - version).ok()?;
        let mut touched = Touched::default();
        for undo in self.journal.last(changes) {
            self.touch(undo, &mut touched);
        }
        Some(touched)
    }

    fn touch(&self, undo: &Undo, touched: &mut Touched) {
        match undo {
            Undo::AddHost { slot } | Undo::HostValue { slot, .. } | Undo::HostRows { slot, .. } => {
                self.touch_slot(*slot, touched);
            }
            Undo::RemoveHost { host, .. } => {
                touched.hosts.insert(host.id.clone());
            }
            Undo::AddVm { id, pending } | Undo::Reserve { id, pending, .. } => {
                touched.vms.insert((id.clone(), *pending));
            }
            Undo::RemoveVm(entry) => {
                touched.vms.insert((entry.vm.id.clone(), entry.pending));
            }
            Undo::Unmeasured { id, .. } => {
                touched.measured_vms.insert(id.clone());
            }
            Undo::Wait { id } => {
                touched.vms.insert((id.clone(), true));
            }
            Undo::SetGroup { id, .. } => {
                touched.groups.insert(id.clone());
            }
            Undo::SetTenant { id, .. } => {
                touched.tenants.insert(id.clone());
            }
            Undo::Row { of, .. } => match of {
                FactsOf::Cluster => touched.facts = true,
                FactsOf::Tenant(id) => {
                    touched.tenants.insert(id.clone());
                }
                FactsOf::Host(slot) => self.touch_slot(*slot, touched),
                FactsOf::Vm { id, pending } | FactsOf::Stay { id, pending } => {
                    touched.vms.insert((id.clone(), *pending));
                }
            },
            Undo::Schema(_) => touched.facts = true,
            Undo::Since { slot, .. } => self.note_slot(*slot, touched),
            Undo::Batch(hosts) => {
                for (slot, _) in hosts {
                    self.note_slot(*slot, touched);
                }
            }
            // These are no facts: they are worked out, or belong to a plan.
            Undo::Vacated { .. } | Undo::Clock(_) => {}
        }
    }

    fn note_slot(&self, slot: u32, touched: &mut Touched) {
        if let Some(host) = self.host(slot) {
            touched.noted.insert(host.id.clone());
        }
    }

    /// A host that is gone by now is named by its own removal.
    fn touch_slot(&self, slot: u32, touched: &mut Touched) {
        if let Some(host) = self.host(slot) {
            touched.hosts.insert(host.id.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use placewright_model::schema::Schema;
    use placewright_model::{Host, Vm};

    #[test]
    fn what_came_changed_and_went_is_named_and_nothing_else() {
        let mut inventory = Inventory::new("c", Arc::new(Schema::default()));
        for id in ["a", "b", "c"] {
            inventory.add_host(Host::new(id)).unwrap();
        }
        inventory.run_vm(Vm::new("old"), "a").unwrap();
        let before = inventory.version();
        assert_eq!(inventory.touched_since(before), Some(Touched::default()));
        inventory.advance(100);
        inventory
            .reserve_vm(Arc::new(Vm::new("new")), "b", Some(110))
            .unwrap();
        inventory.remove_vm("old").unwrap();
        inventory.remove_host("a").unwrap();
        inventory
            .set_host_value("c", "cpu.usage", Some(0.5.into()))
            .unwrap();
        inventory.advance(200);
        let touched = inventory.touched_since(before).unwrap();
        let names =
            |set: &BTreeSet<Arc<str>>| set.iter().map(|it| it.to_string()).collect::<Vec<_>>();
        assert_eq!(names(&touched.hosts), ["a", "c"]);
        let vms: Vec<_> = touched.vms.iter().map(|(id, it)| (&**id, *it)).collect();
        assert_eq!(vms, [("new", true), ("old", false)]);
        assert!(inventory.pending("new").is_none());
        assert!(inventory.touched_since(inventory.version() + 1).is_none());
    }
}
