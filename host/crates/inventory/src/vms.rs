//! VMs run, have places reserved, and go.

use std::sync::Arc;

use super::growth::{self, Taken};
use super::holdings::Held;
use super::intake::{self, Owner};
use super::journal::Undo;
use super::nested::{GPUS, HUGE_PAGES, PROMISED_FUNCTIONS};
use super::vm::{CPU, Expired, MEMORY, Terms};
use super::{Aspects, Cell, Inventory, InventoryError, Shape, VmEntry};
use placewright_model::{GREATEST_INTEGER, Vm};

impl Inventory {
    /// A VM runs on a host: one that is new here, or one that the operator moved or
    /// started by hand. A place reserved for it on that host is where it runs now;
    /// one on another host is given back.
    ///
    /// # Errors
    /// If there is no such host, or the VM's facts do not fit the schema.
    pub fn run_vm(&mut self, mut vm: Vm, host: &str) -> Result<(), InventoryError> {
        let slot = self.known_slot(host)?;
        self.take_in_member(&mut vm)?;
        self.check_sums(slot, &vm)?;
        let mut stay = None;
        let (mut was_reserved, mut held) = (false, None);
        for pending in [true, false] {
            if let Some(index) = self.places(pending).get(&vm.id).copied() {
                let here = self.take_vm(index).filter(|entry| entry.slot == slot);
                was_reserved |= pending && here.is_some();
                if let Some(entry) = here {
                    if stay.is_none() {
                        stay.clone_from(&entry.stay);
                        if let Some(stay) = &mut stay {
                            growth::follow_need(&mut stay.rows, &entry.vm, &vm);
                        }
                    }
                    held = Some(entry).filter(|entry| !entry.pending);
                }
            }
        }
        let mut entry = VmEntry {
            shape: Shape::of(&vm.facts),
            vm: Arc::new(vm),
            slot,
            pending: false,
            expires: None,
            since: None,
            decision: None,
            unmeasured: None,
            stay,
        };
        entry.unmeasured = match (was_reserved, &held) {
            (true, _) | (false, Some(_)) => self.unmeasured_of(&entry, held.as_ref()),
            // The operator knows of it, and so does who measures.
            (false, None) => None,
        };
        self.start(entry);
        Ok(())
    }

    /// Reserve a place for a VM, until `expires` (seconds) if given.
    ///
    /// # Errors
    /// If there is no such host, the VM has a place reserved already, or its facts
    /// do not fit the schema.
    pub fn reserve_vm(
        &mut self,
        vm: Arc<Vm>,
        host: &str,
        expires: Option<i64>,
    ) -> Result<(), InventoryError> {
        self.known_slot(host)?;
        if self.pending.contains_key(&vm.id) {
            return Err(InventoryError::VmPending(vm.id.clone()));
        }
        self.check_vm(&vm)?;
        let terms = Terms {
            expires,
            decision: None,
        };
        self.reserve_checked(vm, host, terms)
    }

    /// Reserve a place for a VM that [`take_in_member`](Self::take_in_member) was content
    /// with.
    ///
    /// # Errors
    /// If there is no such host, or the VM has a place reserved already.
    pub fn reserve_checked(
        &mut self,
        vm: Arc<Vm>,
        host: &str,
        terms: Terms,
    ) -> Result<(), InventoryError> {
        let slot = self.known_slot(host)?;
        if self.pending.contains_key(&vm.id) {
            return Err(InventoryError::VmPending(vm.id.clone()));
        }
        self.check_sums(slot, &vm)?;
        let mut shape = Shape::of(&vm.facts);
        if self.runs_on(&vm.id).is_none() {
            // What was measured elsewhere says nothing of a VM that starts anew.
            shape.load = None;
        }
        self.put_vm(VmEntry {
            shape,
            vm,
            slot,
            pending: true,
            expires: terms.expires,
            since: Some(self.clock),
            decision: terms.decision,
            unmeasured: None,
            stay: None,
        });
        Ok(())
    }

    /// The place reserved for the VM is kept until `expires` (seconds), or for good.
    ///
    /// # Errors
    /// If it has no place reserved.
    pub fn renew_vm(&mut self, id: &str, expires: Option<i64>) -> Result<(), InventoryError> {
        let index = self.pending.get(id).copied();
        let Some(entry) = index.and_then(|index| self.take_vm(index)) else {
            return Err(InventoryError::UnknownVm(id.into()));
        };
        self.put_vm(VmEntry { expires, ..entry });
        Ok(())
    }

    /// The VM now runs where its place was reserved, and no longer where it ran
    /// before. What waited for that is written.
    ///
    /// # Errors
    /// If it has no place reserved.
    pub fn confirm_vm(&mut self, id: &str) -> Result<(), InventoryError> {
        let Some(index) = self.pending.get(id).copied() else {
            return Err(InventoryError::UnknownVm(id.into()));
        };
        let running = self.running.get(id).copied();
        let before = running.and_then(|running| self.take_vm(running));
        if let Some(entry) = self.take_vm(index) {
            let held = before.filter(|before| before.slot == entry.slot);
            let entry = VmEntry {
                shape: Shape::of(&entry.vm.facts),
                pending: false,
                expires: None,
                since: None,
                decision: None,
                ..entry
            };
            let unmeasured = self.unmeasured_of(&entry, held.as_ref());
            self.start(VmEntry {
                unmeasured,
                ..entry
            });
        }
        Ok(())
    }

    /// A VM runs: what waited for that is written.
    fn start(&mut self, mut entry: VmEntry) {
        let id = entry.vm.id.clone();
        let stay = entry.stay.as_mut();
        let waiting = stay.map_or_else(Vec::new, |stay| std::mem::take(&mut stay.waiting));
        self.put_vm(entry);
        self.forget_vacated(&id);
        self.carry_out(waiting);
    }

    /// The place reserved for the VM is given back.
    ///
    /// # Errors
    /// If it has no place reserved.
    pub fn cancel_vm(&mut self, id: &str) -> Result<(), InventoryError> {
        match self.pending.get(id).copied() {
            Some(index) => {
                self.take_vm(index);
                Ok(())
            }
            None => Err(InventoryError::UnknownVm(id.into())),
        }
    }

    /// The VM runs no more, and any place reserved for it is given back.
    ///
    /// # Errors
    /// If it neither runs nor has a place reserved.
    pub fn remove_vm(&mut self, id: &str) -> Result<(), InventoryError> {
        let places = [false, true].map(|pending| self.places(pending).get(id).copied());
        if places == [None, None] {
            return Err(InventoryError::UnknownVm(id.into()));
        }
        for index in places.into_iter().flatten() {
            self.take_vm(index);
        }
        Ok(())
    }

    /// Bring the inventory up to `now` (seconds): reservations that have expired
    /// end; which, is given. What was measured too long ago is absent, and what came to run long
    /// ago counts as measured. The clock does not go back, but for [`Inventory::set_clock_back`].
    pub fn advance(&mut self, now: i64) -> Vec<Expired> {
        let mut expired = Vec::new();
        if now <= self.clock {
            return expired;
        }
        let old = std::mem::replace(&mut self.clock, now);
        self.changed(Undo::Clock(old));
        while let Some((expires, id)) = self.expiries.first().cloned() {
            if expires >= now {
                break;
            }
            self.expiries.pop_first();
            let index = self.pending.get(&id).copied();
            let Some(entry) = index.and_then(|index| self.take_vm(index)) else {
                continue;
            };
            if let Some(host) = self.host(entry.slot) {
                expired.push(Expired {
                    vm: id,
                    host: host.id.clone(),
                    expires,
                    decision: entry.decision,
                });
            }
        }
        self.end_unmeasured();
        self.outdate();
        expired
    }

    /// The first second in which a reservation will have ended by itself; None: none
    /// does.
    pub fn next_expiry(&self) -> Option<i64> {
        let (expires, _) = self.expiries.first()?;
        Some(expires.saturating_add(1))
    }

    pub(super) fn check_vm(&self, vm: &Vm) -> Result<(), InventoryError> {
        Self::check_scores(vm)?;
        let owner = owner(&vm.id);
        match self.schema.table("members") {
            Some(table) => intake::check(&self.schema, table, owner, &vm.facts),
            None => Ok(()),
        }
    }

    /// Check the facts of a VM that is to be placed. From then on its columns go by the
    /// schema's own copy of their names.
    ///
    /// # Errors
    /// If they do not fit the schema.
    pub fn take_in_member(&self, vm: &mut Vm) -> Result<(), InventoryError> {
        Self::check_scores(vm)?;
        let owner = owner(&vm.id);
        match self.schema.table("members") {
            Some(table) => intake::take_in(&self.schema, table, owner, &mut vm.facts),
            None => Ok(()),
        }
    }

    /// That the sums of the host stay exact with the VM: what is counted in must be counted out.
    fn check_sums(&self, slot: u32, vm: &Vm) -> Result<(), InventoryError> {
        let (taken, sums) = (Taken::of(&Shape::of(&vm.facts)), self.sums);
        let there = |column: usize| self.columns[column].integer(slot as usize).unwrap_or(0);
        let exact = |columns: &[usize], taken: i64| {
            let sum: i128 = columns
                .iter()
                .map(|column| i128::from(there(*column)))
                .sum();
            sum + i128::from(taken) <= i128::from(GREATEST_INTEGER)
        };
        let checks = [
            (
                "CPU",
                exact(&[sums.cpu_committed, sums.cpu_pending], taken.cpu),
            ),
            (
                "memory",
                exact(&[sums.memory_committed, sums.memory_pending], taken.memory),
            ),
            (
                "vCPUs",
                exact(&[sums.vcpus, sums.vcpus_pending], taken.vcpus),
            ),
            (
                "exclusive CPUs",
                exact(&[sums.cpu_exclusive], taken.exclusive),
            ),
        ];
        match checks.iter().find(|(_, is_exact)| !is_exact) {
            None => Ok(()),
            Some((what, _)) => Err(InventoryError::SumTooGreat {
                vm: vm.id.clone(),
                host: self
                    .host(slot)
                    .map_or_else(|| "?".into(), |host| host.id.clone()),
                what,
            }),
        }
    }

    fn check_scores(vm: &Vm) -> Result<(), InventoryError> {
        let mut scores = vm.pinning.location.iter().map(|(_, score)| *score);
        if scores.any(|score| score.unsigned_abs() > GREATEST_INTEGER as u64) {
            return Err(InventoryError::OutOfRange {
                entity: owner(&vm.id).entity,
                id: vm.id.clone(),
                column: "score in location".into(),
            });
        }
        Ok(())
    }

    pub(super) fn put_vm(&mut self, entry: VmEntry) {
        let (id, pending) = (entry.vm.id.clone(), entry.pending);
        self.insert_vm(entry);
        self.changed(Undo::AddVm { id, pending });
    }

    pub(super) fn take_vm(&mut self, index: u32) -> Option<VmEntry> {
        let entry = self.extract_vm(index)?;
        self.changed(Undo::RemoveVm(Box::new(entry.clone())));
        Some(entry)
    }

    pub(super) fn insert_vm(&mut self, entry: VmEntry) {
        let id = entry.vm.id.clone();
        let (slot, expires) = (entry.slot, entry.expires);
        let growth = match entry.pending {
            true => None,
            false => self.growth(&id, slot),
        };
        if let Some(growth) = &growth {
            self.count_vm(growth, -1);
        }
        let unmeasured_since = entry.unmeasured_since();
        let unmeasured_memory = entry.unmeasured_memory();
        let waits_for_functions = [Some(&entry), growth.as_ref()].into_iter().flatten();
        let waits_for_functions = waits_for_functions
            .into_iter()
            .any(VmEntry::waits_for_functions);
        let has_gpus = entry.takes_gpus();
        let takes_nodes = entry.takes_of_nodes();
        let other = if entry.pending {
            self.running.get(&id)
        } else {
            self.pending.get(&id)
        };
        let other = other.and_then(|index| self.vms[*index as usize].as_ref());
        let other_slot = other.map(|entry| entry.slot);
        let changes_pages = changes_pending_pages(&entry, other);
        if let Some(held) = Held::by(&entry) {
            let others = [other.and_then(Held::by), self.vacated_held(&id)];
            self.holdings.add(Some(&held), &others);
        }
        self.count_vm(&entry, 1);
        self.count_migration(slot, other_slot, 1);
        let pending = entry.pending;
        let index = match self.free_vms.pop() {
            Some(index) => {
                self.vms[index as usize] = Some(entry);
                index
            }
            None => {
                self.vms.push(Some(entry));
                u32::try_from(self.vms.len() - 1).unwrap_or(u32::MAX)
            }
        };
        if let Some(expires) = expires {
            self.expiries.insert((expires, id.clone()));
        }
        let vms = &self.vms;
        if let Some(host) = self.hosts[slot as usize].as_mut() {
            let place = host.vms.partition_point(|other| {
                vms[*other as usize]
                    .as_ref()
                    .is_some_and(|other| other.vm.id < id)
            });
            let host = Arc::make_mut(host);
            host.vms.insert(place, index);
            host.unmeasured = host.unmeasured.and(unmeasured_memory, 1);
        }
        let places = match pending {
            true => &mut self.pending,
            false => &mut self.running,
        };
        places.insert(id, index);
        // Only now is it known what the VM holds there, which its growth does not take once more.
        if let Some(growth) = &growth {
            self.count_vm(growth, 1);
        }
        self.note(slot, Aspects::VMS);
        if changes_pages {
            self.renest(slot, HUGE_PAGES);
        }
        if waits_for_functions {
            self.renest(slot, PROMISED_FUNCTIONS);
        }
        if has_gpus {
            self.renest(slot, GPUS);
        }
        if takes_nodes {
            self.renest_nodes(slot);
        }
        if let Some(since) = unmeasured_since {
            self.unmeasured.insert((since, index));
            self.count_unmeasured_memory(slot);
        }
        self.watch_host(slot);
    }

    pub(super) fn extract_vm(&mut self, index: u32) -> Option<VmEntry> {
        let listed = self.place_on_host(index);
        let growth = match self.vms[index as usize].as_ref()? {
            entry if entry.pending => None,
            entry => self.growth(&entry.vm.id, entry.slot),
        };
        if let Some(growth) = &growth {
            self.count_vm(growth, -1);
        }
        let entry = self.vms[index as usize].take()?;
        self.free_vms.push(index);
        let id = &entry.vm.id;
        if entry.pending {
            self.pending.remove(id);
        } else {
            self.running.remove(id);
        }
        if let Some(expires) = entry.expires {
            self.expiries.remove(&(expires, id.clone()));
        }
        if let Some(host) = self.host_mut(entry.slot) {
            listed.map(|place| host.vms.remove(place));
            host.unmeasured = host.unmeasured.and(entry.unmeasured_memory(), -1);
        }
        self.note(entry.slot, Aspects::VMS);
        let other = if entry.pending {
            self.running(id)
        } else {
            self.pending(id)
        };
        let other_slot = other.map(|entry| entry.slot);
        let changes_pages = changes_pending_pages(&entry, other);
        if let Some(held) = Held::by(&entry) {
            let others = [other.and_then(Held::by), self.vacated_held(id)];
            self.holdings.remove(Some(&held), &others);
        }
        self.count_vm(&entry, -1);
        self.count_migration(entry.slot, other_slot, -1);
        if let Some(growth) = &growth {
            self.count_vm(growth, 1);
        }
        let places = || [Some(&entry), growth.as_ref()].into_iter().flatten();
        if changes_pages {
            self.renest(entry.slot, HUGE_PAGES);
        }
        if places().any(VmEntry::waits_for_functions) {
            self.renest(entry.slot, PROMISED_FUNCTIONS);
        }
        if entry.takes_gpus() {
            self.renest(entry.slot, GPUS);
        }
        if entry.takes_of_nodes() {
            self.renest_nodes(entry.slot);
        }
        if let Some(since) = entry.unmeasured_since() {
            self.unmeasured.remove(&(since, index));
            self.count_unmeasured_memory(entry.slot);
        }
        self.watch_host(entry.slot);
        Some(entry)
    }

    /// Where a VM stands among those of its host: they are in the order of their ids, and
    /// one that moves there from there stands twice.
    fn place_on_host(&self, index: u32) -> Option<usize> {
        let entry = self.vms[index as usize].as_ref()?;
        let vms = &self.host(entry.slot)?.vms;
        let first = vms.partition_point(|other| {
            let other = self.vms[*other as usize].as_ref();
            other.is_some_and(|other| other.vm.id < entry.vm.id)
        });
        let here = vms.get(first..)?.iter();
        let after = here.take_while(|other| {
            let other = self.vms[**other as usize].as_ref();
            other.is_some_and(|other| other.vm.id == entry.vm.id)
        });
        let mut after = after.enumerate().filter(|(_, other)| **other == index);
        after.next().map(|(place, _)| first + place)
    }

    /// A VM with a place on two hosts is on the move: count it at both.
    pub(super) fn count_migration(&mut self, slot: u32, other: Option<u32>, by: i64) {
        if let Some(other) = other.filter(|other| *other != slot) {
            self.add_cell(self.sums.vms_migrating, slot, by);
            self.add_cell(self.sums.vms_migrating, other, by);
        }
    }

    /// Count a VM in (`by` = 1) or out (`by` = -1) of its host's sums.
    pub(super) fn count_vm(&mut self, entry: &VmEntry, by: i64) {
        let VmEntry {
            shape,
            slot,
            pending,
            ..
        } = entry;
        let sums = self.sums;
        let held = self.held_by(entry).map(|held| held.shape);
        let taken = match &held {
            None => Taken::of(shape),
            Some(held) => Taken::of(shape).beyond(&Taken::of(held)),
        };
        let cpu = taken.cpu.saturating_add(entry.reserved_of(CPU));
        let memory = taken.memory.saturating_add(entry.reserved_of(MEMORY));
        let mut add = |column: usize, amount: i64| self.add_cell(column, *slot, by * amount);
        if *pending {
            add(sums.cpu_pending, cpu);
            add(sums.memory_pending, memory);
            add(sums.vms_pending, i64::from(held.is_none()));
        } else {
            add(sums.cpu_committed, cpu);
            add(sums.memory_committed, memory);
            add(sums.vms_count, 1);
        }
        if shape.ha && held.is_none_or(|held| !held.ha) {
            add(sums.vms_ha, 1);
        }
        if shape.exclusive {
            add(sums.cpu_exclusive, taken.exclusive);
        } else {
            let vcpus = match *pending {
                true => sums.vcpus_pending,
                false => sums.vcpus,
            };
            add(vcpus, taken.vcpus);
            let load = match *pending {
                true => Some(taken),
                false => entry.unmeasured_load(),
            };
            if let Some(load) = load {
                self.count_unmeasured_load(*slot, &load, by);
            }
        }
        self.count_amounts(entry, by);
        self.count_widest(*slot, shape, by);
        self.groups
            .count(&entry.vm.id, *slot, !shape.migratable, by);
    }

    /// Count what a VM takes of named amounts in (`by` = 1) or out (`by` = -1).
    pub(super) fn count_amounts(&mut self, entry: &VmEntry, by: i64) {
        // Few VMs take any.
        let mut amounts = entry.amounts().peekable();
        if amounts.peek().is_none() {
            return;
        }
        if let Some(held) = self.held_by(entry) {
            let held = held
                .needed_amounts()
                .map(|(name, need)| (name.to_owned(), need));
            let asked = amounts.map(|(name, need)| (name.to_owned(), need));
            let taken = growth::beyond(asked, held.collect::<Vec<_>>().into_iter());
            if let Some(host) = self.host_mut(entry.slot) {
                for (name, taken) in taken {
                    host.count_amount(&name, taken.saturating_mul(by), entry.pending);
                }
            }
            self.renest(entry.slot, "amounts");
            return;
        }
        let Some(host) = self.host_mut(entry.slot) else {
            return;
        };
        for (name, taken) in amounts {
            host.count_amount(name, taken.saturating_mul(by), entry.pending);
        }
        self.renest(entry.slot, "amounts");
    }

    /// Cores of the widest VM without exclusive CPUs that runs on a host or has a place reserved
    /// there, beside the VM of this id; 0 if there is none.
    #[must_use]
    pub fn widest_beside(&self, slot: u32, id: &str) -> i64 {
        let own = [self.running(id), self.pending(id)].into_iter().flatten();
        let own = own.filter(|entry| entry.slot == slot && !entry.shape.exclusive);
        let own: Vec<i64> = own.map(|entry| entry.shape.width()).collect();
        self.host(slot).map_or(0, |host| host.widest_beside(&own))
    }

    pub(super) fn count_widest(&mut self, slot: u32, shape: &Shape, by: i64) {
        if shape.exclusive {
            return;
        }
        let Some(host) = self.host_mut(slot) else {
            return;
        };
        let widest = host.count_width(shape.width(), by);
        self.set_cell(self.sums.vms_widest, slot, Some(Cell::Integer(widest)));
    }
}

/// A VM whose facts are checked.
fn owner(id: &Arc<str>) -> Owner<'_> {
    Owner { entity: "VM", id }
}

/// Whether the pending sums of its host's huge pages change as the entry comes or goes. `other` is the
/// same VM where it runs, if the entry is a reserved place, and its reserved place otherwise.
fn changes_pending_pages(entry: &VmEntry, other: Option<&VmEntry>) -> bool {
    let has_pages = |it: &VmEntry| it.huge_pages().next().is_some();
    let beside = other.filter(|other| other.slot == entry.slot);
    entry.waits_for_pages() || beside.is_some_and(|other| has_pages(other) || has_pages(entry))
}
