//! What is kept of hosts and VMs outside the process, so that they can be had again.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::growth;
use super::host::Reading;
use super::unmeasured::Unmeasured;
use super::vm::Stay;
use super::{Cell, Inventory, InventoryError, Shape, VmEntry};
use placewright_model::{Facts, Host, Vm};

/// A VM with a place, and all that belongs to its stay there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedVm {
    /// The VM as it is known at this place.
    pub vm: Vm,
    /// Id of the host.
    pub host: Arc<str>,
    /// Whether the place is reserved and the VM does not run there yet.
    pub pending: bool,
    /// Second after which a reservation ends by itself; None: it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<i64>,
    /// Second in which the place was reserved; None: it is not reserved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
    /// Number of the decision that reserved the place, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unmeasured: Option<Unmeasured>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stay: Option<Box<Stay>>,
}

impl SavedVm {
    /// The rows that belong to its stay on the host, if there are any.
    pub fn placed(&self) -> Option<&Facts> {
        self.stay.as_ref().map(|stay| &stay.rows)
    }
}

/// A host, and its place in the order in which hosts are listed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedHost {
    /// Unique in its cluster.
    pub id: Arc<str>,
    /// What was given and reported of it.
    pub facts: Facts,
    /// Place in the order in which hosts were added.
    pub listed: i64,
}

/// What is measured of a host, and noted of what is watched there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedMeasured {
    /// What came as statistics, as it was given.
    facts: Facts,
    /// When it was measured, by the names of columns and tables.
    at: BTreeMap<Arc<str>, i64>,
    /// Since when what is watched holds, by the names of the watches.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    since: BTreeMap<Arc<str>, i64>,
    /// How many VMs the batch at hand has placed there.
    #[serde(skip_serializing_if = "is_zero")]
    in_batch: i64,
}

fn is_zero(number: &i64) -> bool {
    *number == 0
}

impl SavedVm {
    /// The VM needs something else than it did `before`: what belongs to its stay follows.
    pub(super) fn follow_need(&mut self, before: &Vm) {
        if let Some(stay) = &mut self.stay {
            growth::follow_need(&mut stay.rows, before, &self.vm);
        }
    }
}

impl Inventory {
    /// What is to be kept of what is measured of a host, and of what is noted there. None
    /// if there is nothing.
    pub fn saved_measured(&self, id: &str) -> Option<SavedMeasured> {
        let slot = self.slot(id)?;
        let host = self.host(slot)?;
        let mut saved = SavedMeasured::default();
        for Reading { name, at, .. } in &host.measured {
            saved.at.insert(name.clone(), *at);
            if let Some(given) = self.given(host, name) {
                saved.facts.set(name.clone(), given.clone());
            }
            let rows = host.facts.rows(name);
            if !rows.is_empty() {
                saved.facts.set_rows(name.clone(), rows.to_vec());
            }
        }
        for watch in &self.watches {
            let column = self.column_index(&watch.since_column());
            let since = column.and_then(|column| self.columns[column].integer(slot as usize));
            saved
                .since
                .extend(since.map(|since| (watch.name.clone(), since)));
        }
        let batch = &self.columns[self.sums.batch_placed];
        saved.in_batch = batch.integer(slot as usize).unwrap_or(0);
        (saved != SavedMeasured::default()).then_some(saved)
    }

    /// Take over from `old` what a document does not tell: of VMs that have the same place
    /// here, when it was reserved, until when and by what, and what goes with it.
    pub fn stays_as_in(&mut self, old: &Inventory) {
        for (_, host) in old.hosts() {
            let Some(slot) = self.slot(&host.id) else {
                continue;
            };
            for known in old.vms_of(host) {
                let index = self.places(known.pending).get(&known.vm.id).copied();
                let here = index.and_then(|index| self.vms[index as usize].as_ref());
                if here.is_none_or(|here| here.slot != slot) {
                    continue;
                }
                let Some(mut entry) = index.and_then(|index| self.take_vm(index)) else {
                    continue;
                };
                entry.expires = known.expires;
                entry.since = known.since;
                entry.decision = known.decision;
                entry.unmeasured.clone_from(&known.unmeasured);
                if let Some(stay) = &known.stay {
                    let here = entry.stay_mut();
                    here.reserved.clone_from(&stay.reserved);
                    here.waiting.clone_from(&stay.waiting);
                }
                self.put_vm(entry);
            }
        }
    }

    /// Take over from `old` since when what is watched there and here holds.
    pub fn watches_as_in(&mut self, old: &Inventory) {
        let watches = self.watches.iter();
        let watches = watches.filter(|watch| old.watches.contains(watch));
        let columns: Vec<String> = watches.map(|watch| watch.since_column()).collect();
        for column in columns {
            let (Some(there), Some(here)) = (old.column_index(&column), self.column_index(&column))
            else {
                continue;
            };
            for (slot, host) in old.hosts() {
                let since = old.columns[there].get(slot as usize);
                let Some(slot) = self.slot(&host.id) else {
                    continue;
                };
                let holds = self.columns[here].get(slot as usize).is_some();
                if let Some(since) = since.filter(|_| holds) {
                    self.set_cell(here, slot, Some(since));
                }
            }
        }
    }

    /// What is measured of a host is what was kept, and so is what is noted of the watches
    /// there are.
    ///
    /// # Errors
    /// If there is no such host, or a value does not fit the schema.
    pub fn restore_measured(
        &mut self,
        id: &str,
        saved: SavedMeasured,
    ) -> Result<(), InventoryError> {
        let slot = self.known_slot(id)?;
        for (column, value) in saved.facts.values() {
            // No VM is measured by that which was not before.
            let rounded = self.rounded(column, value);
            self.write_host_value(id, column, Some(rounded))?;
        }
        for (table, rows) in saved.facts.tables() {
            self.write_host_rows(id, table, rows.to_vec())?;
        }
        if let Some(host) = self.host_mut(slot) {
            let readings = saved.at.into_iter().map(|(name, at)| {
                let given = saved.facts.get(&name);
                let given = given.filter(|given| host.facts.get(&name) != Some(given));
                Reading {
                    given: given.cloned(),
                    name,
                    at,
                }
            });
            host.measured = readings.collect();
            self.oldest_measured = i64::MIN;
        }
        let names: Vec<_> = self
            .watches
            .iter()
            .map(|watch| (watch.name.clone(), watch.since_column()))
            .collect();
        for (name, column) in names {
            if let Some(column) = self.ensure_column(&column) {
                let since = saved.since.get(&name).copied();
                self.set_cell(column, slot, since.map(Cell::Integer));
            }
        }
        let placed = Some(Cell::Integer(saved.in_batch));
        self.set_cell(self.sums.batch_placed, slot, placed);
        Ok(())
    }

    /// What is to be kept of the VM of that id where it runs, or where it has a place
    /// reserved. None if there is no such place.
    pub fn saved_vm(&self, id: &str, pending: bool) -> Option<SavedVm> {
        let entry = self.placed(id, pending)?;
        Some(SavedVm {
            vm: (*entry.vm).clone(),
            host: self.host(entry.slot)?.id.clone(),
            pending,
            expires: entry.expires,
            since: entry.since,
            decision: entry.decision,
            unmeasured: entry.unmeasured.clone(),
            stay: entry.stay.clone(),
        })
    }

    /// What is to be kept of the host of that id.
    pub fn saved_host(&self, id: &str) -> Option<SavedHost> {
        let entry = self.host(self.slot(id)?)?;
        Some(SavedHost {
            id: entry.id.clone(),
            facts: entry.facts.clone(),
            listed: entry.listed,
        })
    }

    /// Add a host as it was kept, at its place in the list.
    ///
    /// # Errors
    /// If there is one of that id, or its facts do not fit the schema.
    pub fn restore_host(&mut self, saved: SavedHost) -> Result<(), InventoryError> {
        let next = std::mem::replace(&mut self.next_listed, saved.listed);
        let added = self.add_host(Host {
            id: saved.id,
            facts: saved.facts,
        });
        self.next_listed = self.next_listed.max(next);
        added.map(|_| ())
    }

    /// Give a VM the place that was kept, with all that belonged to its stay.
    ///
    /// # Errors
    /// If there is no such host, the VM has such a place already, or its facts do not
    /// fit the schema.
    pub fn restore_vm(&mut self, mut saved: SavedVm) -> Result<(), InventoryError> {
        let slot = self.known_slot(&saved.host)?;
        let (id, pending) = (&saved.vm.id, saved.pending);
        if self.placed(id, pending).is_some() {
            return Err(match pending {
                true => InventoryError::VmPending(id.clone()),
                false => InventoryError::VmRuns(id.clone()),
            });
        }
        self.take_in_member(&mut saved.vm)?;
        let mut shape = Shape::of(&saved.vm.facts);
        if pending && self.runs_on(&saved.vm.id).is_none() {
            // What was measured elsewhere says nothing of a VM that starts anew.
            shape.load = None;
        }
        self.put_vm(VmEntry {
            shape,
            vm: Arc::new(saved.vm),
            slot,
            pending,
            expires: saved.expires,
            since: saved.since,
            decision: saved.decision,
            unmeasured: saved.unmeasured,
            stay: saved.stay,
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use placewright_model::schema::Schema;
    use placewright_model::{Entity, RowChange, Write};

    fn cluster() -> Inventory {
        let mut inventory = Inventory::new("c", Arc::new(Schema::default()));
        for id in ["b", "a"] {
            let host = Host::new(id).with("memory.total", 100 << 30);
            inventory.add_host(host).unwrap();
        }
        inventory
    }

    #[test]
    fn a_place_with_what_waits_for_it_is_had_again() {
        let mut before = cluster();
        before.run_vm(Vm::new("v").with("memory", 7), "a").unwrap();
        let vm = Arc::new(Vm::new("v").with("memory", 7));
        before.reserve_vm(vm, "b", Some(900)).unwrap();
        let gpu = Facts::new().with("index", 0).with("share", 500);
        let entity = Entity::Placement("v".into());
        let given = Write::row(entity, "gpus", RowChange::Append(gpu)).once_running("v");
        before.apply(&[given]).unwrap();
        before.apply(&[Write::reserve("v", "memory", 5)]).unwrap();

        let mut after = Inventory::new("c", Arc::new(Schema::default()));
        for id in ["a", "b"] {
            let text = serde_json::to_string(&before.saved_host(id).unwrap()).unwrap();
            after
                .restore_host(serde_json::from_str(&text).unwrap())
                .unwrap();
        }
        for pending in [false, true] {
            let text = serde_json::to_string(&before.saved_vm("v", pending).unwrap()).unwrap();
            after
                .restore_vm(serde_json::from_str(&text).unwrap())
                .unwrap();
        }
        for inventory in [&mut before, &mut after] {
            inventory.confirm_vm("v").unwrap();
        }
        assert_eq!(before.saved_vm("v", false), after.saved_vm("v", false));
        assert_eq!(after.running("v").unwrap().placed_rows("gpus").len(), 1);
        assert!(after.saved_vm("v", true).is_none());
        for (host, column) in ["a", "b"].iter().flat_map(|host| {
            ["memory.committed", "vms.count", "vms.pending", "listed"].map(|it| (host, it))
        }) {
            let value =
                |inventory: &Inventory| inventory.host_value(inventory.slot(host).unwrap(), column);
            assert_eq!(value(&before), value(&after), "{host} {column}");
        }
    }

    #[test]
    fn a_place_that_is_taken_is_not_given_twice() {
        let mut inventory = cluster();
        inventory.run_vm(Vm::new("v"), "a").unwrap();
        let saved = inventory.saved_vm("v", false).unwrap();
        let twice = inventory.restore_vm(saved).unwrap_err();
        assert_eq!(twice, InventoryError::VmRuns("v".into()));
    }
}
