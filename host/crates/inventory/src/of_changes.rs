//! A document of changes is carried out.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::entry::{EntryKind, EntryResult, Results};
use super::statistics::Measured;
use super::unmeasured::{CPU_USAGE, MEMORY_FREE};
use super::{GroupEntry, Inventory, InventoryError};
use placewright_document::{ChangedGroup, ChangedRow, ChangedVm, InventoryChanges};
use placewright_model::{Entity, Facts, FactsChange, Host, RowChange, Value, Vm, Write};

impl Inventory {
    /// Carry out all changes of a document, or none of them. VMs and groups that are
    /// gone go first, hosts that are gone last, so that the document may move the VMs
    /// of a host and take it out. What was measured comes in at the very end. Gives what
    /// became of each entry, where the document lets entries be passed over.
    ///
    /// # Errors
    /// If something in it does not go together with the cluster as it is: all entries of the first
    /// list in which some do not.
    pub fn change(
        &mut self,
        changes: InventoryChanges,
    ) -> Result<Vec<EntryResult>, InventoryError> {
        let mut results = Results::new(changes.missing);
        let mut measured = Measured::default();
        self.all_or_nothing(|inventory| {
            inventory.rank_together(|inventory| {
                inventory.change_all(changes, &mut measured, &mut results)
            })
        })?;
        self.note_measured(measured);
        Ok(results.list)
    }

    fn change_all(
        &mut self,
        changes: InventoryChanges,
        measured: &mut Measured,
        results: &mut Results,
    ) -> Result<(), InventoryError> {
        let gone = changes.gone;
        for (position, vm) in gone.vms.into_iter().enumerate() {
            let removed = self.remove_vm(&vm);
            results.take((EntryKind::GoneVm, position), vm, removed)?;
        }
        results.end_list()?;
        self.group_together(|inventory| {
            for group in gone.groups {
                let known = inventory.group(&group).is_some();
                inventory.remove_group(&group);
                results.note(EntryKind::GoneGroup, group, known);
            }
            Ok::<_, InventoryError>(())
        })?;
        for tenant in gone.tenants {
            let known = self.tenant(&tenant).is_some();
            self.remove_tenant(&tenant);
            results.note(EntryKind::GoneTenant, tenant, known);
        }
        self.declare(&changes.attributes)?;
        for (position, tenant) in changes.tenants.into_iter().enumerate() {
            let known = self.tenant(&tenant.id);
            let mut facts = known.cloned().unwrap_or_default();
            facts.change(&tenant.facts);
            let set = match known == Some(&facts) {
                true => Ok(()),
                false => self.set_tenant(tenant.id.clone(), facts),
            };
            results.take((EntryKind::Tenant, position), tenant.id, set)?;
        }
        results.end_list()?;
        for (position, host) in changes.hosts.into_iter().enumerate() {
            let id = host.id.clone();
            let changed = self.take_host(host, measured);
            results.take((EntryKind::Host, position), id, changed)?;
        }
        results.end_list()?;
        for (position, vm) in changes.vms.into_iter().enumerate() {
            let (id, host) = (vm.id.clone(), vm.host.clone());
            let entry = (EntryKind::Vm, position);
            // That it runs where no host is would be no news of something gone.
            if let Some(Err(unknown)) = host.map(|host| self.known_slot(&host)) {
                results.refuse(entry, id, unknown)?;
                continue;
            }
            let changed = self.change_vm(vm);
            results.take(entry, id, changed)?;
        }
        results.end_list()?;
        self.group_together(|inventory| {
            for (position, group) in changes.groups.into_iter().enumerate() {
                let entry = (EntryKind::Group, position);
                match inventory.change_group(&group) {
                    Ok(()) => results.note(EntryKind::Group, group.id, true),
                    Err(error) => results.refuse(entry, group.id, error)?,
                }
            }
            results.end_list()
        })?;
        for (position, host) in gone.hosts.into_iter().enumerate() {
            let removed = self.remove_host(&host);
            results.take((EntryKind::GoneHost, position), host, removed)?;
        }
        results.end_list()?;
        for (position, statistics) in changes.statistics.into_iter().enumerate() {
            let entry = (EntryKind::Statistics, position);
            match self.report(&statistics, measured) {
                Ok(taken) => results.measured(statistics.host, taken),
                Err(error) => results.take(entry, statistics.host, Err(error))?,
            }
        }
        results.end_list()
    }

    fn take_host(
        &mut self,
        host: ChangedRow,
        measured: &mut Measured,
    ) -> Result<(), InventoryError> {
        let ChangedRow { id, facts: change } = host;
        let Some(slot) = self.slot(&id) else {
            let mut facts = Facts::new();
            facts.change(&change);
            return self.add_host(Host { id, facts }).map(|_| ());
        };
        let news = self.news_of_host(slot, change);
        self.change_host(&id, &news)?;
        // What an operator gives is no measurement, and does not become outdated.
        for name in names(&news) {
            measured.forget(slot, name);
        }
        Ok(())
    }

    /// A change of a host without the values and tables that are as they are shown. These say
    /// nothing new: a host that is given back as it was read keeps the times of its measurements,
    /// and shows no VM that no measurement shows yet.
    fn news_of_host(&self, slot: u32, mut change: FactsChange) -> FactsChange {
        let Some(host) = self.host(slot) else {
            return change;
        };
        let is_shown = |column: &str, value: &Value| {
            host.facts.get(column) == Some(value)
                || self.given(host, column) == Some(value)
                // A measured value is shown without what no measurement shows yet.
                || [MEMORY_FREE, CPU_USAGE].contains(&column)
                    && self.host_value(slot, column).as_ref() == Some(value)
        };
        let columns = change.set.values();
        let columns = columns.filter(|(column, value)| is_shown(column, value));
        let tables = change.set.tables();
        let tables = tables.filter(|(table, rows)| host.facts.rows(table) == *rows);
        let columns = columns.map(|(column, _)| column.clone());
        let tables = tables.map(|(table, _)| table.clone());
        let same: BTreeSet<Arc<str>> = columns.chain(tables).collect();
        change.retain(|name| !same.contains(name));
        change
    }

    pub(super) fn change_host(
        &mut self,
        id: &Arc<str>,
        change: &FactsChange,
    ) -> Result<(), InventoryError> {
        for name in &change.unset {
            match self.schema().column("hosts", name).is_some() {
                true => self.set_host_value(id, name, None)?,
                false => self.set_host_rows(id, name, Vec::new())?,
            }
        }
        for (column, value) in change.set.values() {
            self.set_host_value(id, column, Some(value.clone()))?;
        }
        for (table, rows) in change.set.tables() {
            self.set_host_rows(id, table, rows.to_vec())?;
        }
        Ok(())
    }

    fn change_vm(&mut self, changed: ChangedVm) -> Result<(), InventoryError> {
        let ChangedVm {
            id,
            mut facts,
            pinning,
            host,
        } = changed;
        let placed = self.split_placed(&mut facts);
        let runs_on = self.running(&id).and_then(|entry| self.host(entry.slot));
        let runs_on = runs_on.map(|host| host.id.clone());
        let reserved = self.saved_vm(&id, true);
        let known = self.running(&id).or_else(|| self.pending(&id));
        let known = known.map(|entry| (*entry.vm).clone());
        // Where it arrives at its place, it runs with what that was reserved for.
        let arrives = reserved
            .as_ref()
            .filter(|it| host.as_ref() == Some(&it.host) && runs_on.as_ref() != Some(&it.host));
        let arrived = arrives.map(|it| it.vm.clone());
        let mut vm = arrived.or(known).unwrap_or_else(|| Vm::new(id.clone()));
        // What is as it was says nothing of what it is to have where its place is reserved.
        let (mut new, pinned) = (facts.differing_from(&vm.facts), vm.pinning.clone());
        let says_anything_new = names(&new).next().is_some();
        if let (Some(reserved), Some(running)) = (&reserved, self.running(&id)) {
            // Nor is anything new where it is to have something else there than it has.
            let (reserved, running) = (&reserved.vm.facts, &running.vm.facts);
            new.retain(|name| {
                reserved.get(name) == running.get(name) && reserved.rows(name) == running.rows(name)
            });
        }
        vm.facts.change(&facts);
        pinning.clone().apply(&mut vm.pinning);
        let is_pinned_anew = vm.pinning != pinned;
        let is_where_it_was = host.is_none() || host == runs_on;
        if (runs_on.is_some() || reserved.is_some())
            && is_where_it_was
            && !is_pinned_anew
            && !says_anything_new
            && self.has_placed(&id, &placed)
        {
            return Ok(());
        }
        if reserved
            .as_ref()
            .is_some_and(|it| Some(&it.host) == runs_on.as_ref())
        {
            // It is to run on its host with other amounts, and does not yet.
            self.cancel_vm(&id)?;
        }
        // A place that is reserved stays, unless the VM is said to run on another
        // host than before.
        match (host.or(runs_on), &reserved) {
            (Some(host), _) => self.run_vm(vm.clone(), &host)?,
            (None, Some(_)) => self.cancel_vm(&id)?,
            (None, None) => return Err(InventoryError::UnknownVm(id)),
        }
        // The rows of its stay are of where it runs, as they are shown: what is reserved for it
        // elsewhere has rows of its own.
        let runs = self.running(&id).is_some();
        if runs {
            self.write_placed(&id, &placed)?;
        }
        if let Some(mut reserved) = reserved.filter(|_| is_where_it_was) {
            // What it is to have there stays, but for what is changed.
            let before = reserved.vm.clone();
            reserved.vm.facts.change(&new);
            if is_pinned_anew {
                pinning.apply(&mut reserved.vm.pinning);
            }
            reserved.follow_need(&before);
            self.restore_vm(reserved)?;
        }
        match runs {
            true => Ok(()),
            false => self.write_placed(&id, &placed),
        }
    }

    /// Take out of a change what belongs to the VM's stay on its host: the tables that
    /// only a VM with a place has.
    fn split_placed(&self, change: &mut FactsChange) -> FactsChange {
        let of_stay = |name: &str| {
            self.schema().column("members", name).is_none()
                && self.schema().table(&format!("members/{name}")).is_none()
        };
        let mut placed = FactsChange::default();
        let tables = change.set.tables().map(|(name, _)| name.clone());
        for name in tables.filter(|name| of_stay(name)).collect::<Vec<_>>() {
            let rows = change.set.take_rows(&name);
            placed.set.set_rows(name, rows);
        }
        let unset = std::mem::take(&mut change.unset);
        (placed.unset, change.unset) = unset.into_iter().partition(|name| of_stay(name));
        placed
    }

    /// Whether the tables of a VM's only stay are as the change has them.
    fn has_placed(&self, id: &Arc<str>, placed: &FactsChange) -> bool {
        let stay = self.running(id).or_else(|| self.pending(id));
        let rows = |table: &str| stay.map_or(&[][..], |it| it.placed_rows(table));
        let mut tables = placed.set.tables();
        tables.all(|(table, to)| rows(table) == to)
            && placed.unset.iter().all(|table| rows(table).is_empty())
    }

    /// Bring the tables of a VM's only stay to what they are from now on.
    fn write_placed(&mut self, id: &Arc<str>, placed: &FactsChange) -> Result<(), InventoryError> {
        let write = |table: &Arc<str>, change| {
            Write::row(Entity::Placement(id.clone()), table.clone(), change)
        };
        let stay = self.running(id).or_else(|| self.pending(id));
        let mut writes = Vec::new();
        for table in names(placed) {
            let old = stay.map_or(0, |it| it.placed_rows(table).len());
            writes.extend((0..old).map(|row| write(table, RowChange::Remove(row))));
        }
        for (table, rows) in placed.set.tables() {
            let new = rows.iter();
            writes.extend(new.map(|row| write(table, RowChange::Append(row.clone()))));
        }
        self.apply(&writes)
    }

    fn change_group(&mut self, changed: &ChangedGroup) -> Result<(), InventoryError> {
        let old = self.group(&changed.id).map(GroupEntry::given);
        let group = changed.apply(old).map_err(|key| InventoryError::NoRule {
            group: changed.id.clone(),
            key,
        })?;
        match old == Some(&group) {
            true => Ok(()),
            false => self.set_group(group),
        }
    }
}

/// All columns and tables that a change names.
pub(super) fn names(change: &FactsChange) -> impl Iterator<Item = &Arc<str>> {
    let values = change.set.values().map(|(column, _)| column);
    let tables = change.set.tables().map(|(table, _)| table);
    values.chain(tables).chain(&change.unset)
}

#[cfg(test)]
mod tests;
